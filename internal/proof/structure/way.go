package main

import (
	"bytes"
	"context"
	_ "embed"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// way is the files that execute something while an operation runs. A file that only declares types or constants is not
// among them.
type way struct {
	Root []string `json:"root"`

	// Others are files of packages that the library links and the engine does not. What both link cannot be told apart
	// here, as both are in the same process.
	Others []string `json:"others"`
}

// ways are the files on the way of the two operations that everybody uses.
type ways struct {
	Put   way    `json:"put"`
	Query way    `json:"query"`
	Error string `json:"error,omitempty"` // why they could not be measured
}

//go:embed way/main.go
var wayProgram []byte

// ways builds the program, which package way documents, with counters in the library, and runs it. It writes nothing into
// the tree: the program is a module of its own, in a workspace together with the tree's.
func (t *tree) ways(ctx context.Context, program []byte) (w ways, err error) {
	dir, err := os.MkdirTemp("", "heatsink-way-")
	if err != nil {
		return w, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	if dir, err = filepath.EvalSymlinks(dir); err != nil {
		return w, err
	}
	for name, text := range map[string]string{
		"go.work":     fmt.Sprintf("go %s\n\nuse %q\nuse ./way\n", t.goLine, filepath.ToSlash(t.dir)),
		"way/go.mod":  fmt.Sprintf("module way\n\ngo %s\n", t.goLine),
		"way/main.go": string(program),
	} {
		name = filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			return w, err
		}
		if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
			return w, err
		}
	}
	// The program itself is counted as well: without counters in main there are none at all.
	counted := append(t.libraryOnly(), "way")
	binary := filepath.Join(dir, "way.exe")
	work := "GOWORK=" + filepath.Join(dir, "go.work")
	if err := command(ctx, filepath.Join(dir, "way"), work, "go", "build", "-cover", "-covermode=atomic", "-coverpkg="+strings.Join(counted, ","), "-o", binary, "."); err != nil {
		return w, err
	}
	if err := command(ctx, dir, "GOCOVERDIR="+dir, binary, dir); err != nil { // what it counts until it exits is not read
		return w, err
	}
	if w.Put, err = t.executed(ctx, filepath.Join(dir, "put")); err != nil {
		return w, err
	}
	w.Query, err = t.executed(ctx, filepath.Join(dir, "query"))
	return w, err
}

// libraryOnly returns the import paths of the packages that the library links and the engine does not, the library first.
func (t *tree) libraryOnly() []string {
	engine := t.links("local")
	only := []string{t.module}
	for _, dir := range t.links(".") {
		if !slices.Contains(engine, dir) {
			only = append(only, t.module+"/"+dir)
		}
	}
	return only
}

// executed reads counters, and returns the module's files of which something was executed, in the order of their names.
func (t *tree) executed(ctx context.Context, counters string) (way, error) {
	profile := counters + ".txt"
	if err := command(ctx, t.dir, "", "go", "tool", "covdata", "textfmt", "-i="+counters, "-o="+profile); err != nil {
		return way{}, err
	}
	text, err := os.ReadFile(profile)
	if err != nil {
		return way{}, err
	}
	root, others := map[string]bool{}, map[string]bool{}
	for line := range strings.Lines(string(text)) {
		// A line is file:from,to statements count; the first one says how was counted.
		line = strings.TrimSuffix(line, "\n")
		name, ours := strings.CutPrefix(line, t.module+"/")
		if !ours || strings.HasSuffix(line, " 0") {
			continue
		}
		name, _, ok := strings.Cut(name, ":")
		switch {
		case !ok:
			return way{}, fmt.Errorf("go tool covdata textfmt: the line %q names no place in a file", line)
		case strings.Contains(name, "/"):
			others[name] = true
		default:
			root[name] = true
		}
	}
	if len(root) == 0 {
		return way{}, fmt.Errorf("%s executes nothing of the library", filepath.Base(counters))
	}
	return way{sortedKeys(root), sortedKeys(others)}, nil
}

// command runs a command in dir with one more environment variable, and returns what it says if it fails.
func command(ctx context.Context, dir, env, name string, args ...string) error {
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Dir, cmd.WaitDelay = dir, 10*time.Second
	if env != "" {
		cmd.Env = append(os.Environ(), env)
	}
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("%s: %w\n%s", strings.Join(cmd.Args, " "), err, bytes.TrimSpace(out))
	}
	return nil
}
