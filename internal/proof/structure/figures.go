package main

import (
	"context"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

// longFunction is the most lines that a function has without being listed.
const longFunction = 80

// figures are what is measured of a checkout.
type figures struct {
	Commit   string `json:"commit"`   // the checkout's, empty if that is not known
	Modified bool   `json:"modified"` // the checkout has changes that are in no commit

	RootFiles int `json:"root_files"`
	RootLines int `json:"root_lines"`

	RootTypes  []typeSize `json:"root_types"`  // the five with most methods
	RootSpread typeSize   `json:"root_spread"` // the one whose methods are in most files
	Types      []typeSize `json:"types"`       // of the whole module, the five with most methods

	Ways  ways    `json:"ways"`
	Names []names `json:"names"`

	Longest       function   `json:"longest_function"`
	LongFunctions []function `json:"long_functions"` // with more than 80 lines

	Clones  int      `json:"clones"`  // of at least 100 tokens
	Largest []clone  `json:"largest"` // five of them
	Links   []string `json:"links"`   // the module's packages that the library links
}

// measure measures a checkout.
func measure(ctx context.Context, dir string) (figures, error) {
	t, err := readTree(dir)
	if err != nil {
		return figures{}, err
	}
	f := t.static()
	f.Commit, f.Modified = commit(ctx, t.dir)
	if f.Ways, err = t.ways(ctx, wayProgram); err != nil {
		f.Ways.Error = err.Error()
	}
	return f, ctx.Err()
}

// static measures what the source alone says.
func (t *tree) static() figures {
	var f figures
	root := t.pkg(".")
	for _, file := range root.files {
		f.RootFiles++
		f.RootLines += file.lines()
	}
	types := root.typeSizes()
	f.RootTypes, f.RootSpread = first(5, types), mostSpread(types)
	f.Types = first(5, t.typeSizes())
	f.Names = t.names()
	functions := t.functions()
	if len(functions) > 0 {
		f.Longest = functions[0]
	}
	f.LongFunctions = slices.DeleteFunc(functions, func(f function) bool { return f.Lines <= longFunction })
	clones := t.clones(cloneTokens)
	f.Clones, f.Largest = len(clones), first(5, clones)
	f.Links = t.links(".")
	return f
}

// first returns the first n elements, or all if there are fewer.
func first[T any](n int, all []T) []T { return all[:min(n, len(all))] }

// commit returns the commit that is checked out in dir, and whether files differ from it. It is empty if dir is not the root
// of a checkout: git would answer for a repository around it.
func commit(ctx context.Context, dir string) (name string, modified bool) {
	git := func(args ...string) (string, bool) {
		out, err := exec.CommandContext(ctx, "git", append([]string{"-C", dir}, args...)...).Output()
		return strings.TrimSpace(string(out)), err == nil
	}
	top, ok := git("rev-parse", "--show-toplevel")
	if !ok {
		return "", false
	}
	if dir, err := filepath.EvalSymlinks(dir); err != nil || filepath.FromSlash(top) != dir {
		return "", false
	}
	if name, ok = git("rev-parse", "HEAD"); !ok {
		return "", false
	}
	changes, ok := git("status", "--porcelain")
	return name, !ok || changes != ""
}
