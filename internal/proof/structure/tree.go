package main

import (
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// tree is the source of a module, without its tests.
type tree struct {
	dir      string // where it is, absolute
	module   string // its path, as go.mod has it
	goLine   string // the language version that go.mod asks for
	fset     *token.FileSet
	packages []*pkg // by directory
}

// pkg is one directory with Go files.
type pkg struct {
	dir   string // in the module, with slashes; "." is the root
	name  string
	files []*file // by name
}

// file is one Go file that is no test. Files for other platforms count as well: somebody has to read them.
type file struct {
	path   string // in the module, with slashes
	source []byte
	syntax *ast.File
}

// readTree reads the module in dir. As for the go command, directories named testdata or vendor, those that begin with a
// dot or an underscore, and other modules are no part of it.
func readTree(dir string) (*tree, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return nil, err
	}
	t := &tree{dir: dir, fset: token.NewFileSet()}
	if err := t.readModule(); err != nil {
		return nil, err
	}
	found := map[string]*pkg{}
	err = filepath.WalkDir(dir, func(name string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if entry.IsDir() {
			return t.enter(name)
		}
		if !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go") {
			return nil
		}
		f, err := t.readFile(name)
		if err != nil {
			return err
		}
		at := path.Dir(f.path)
		if found[at] == nil {
			found[at] = &pkg{dir: at, name: f.syntax.Name.Name}
			t.packages = append(t.packages, found[at])
		}
		found[at].files = append(found[at].files, f)
		return nil
	})
	if err != nil {
		return nil, err
	}
	slices.SortFunc(t.packages, func(a, b *pkg) int { return strings.Compare(a.dir, b.dir) })
	if t.pkg(".") == nil {
		return nil, fmt.Errorf("read %s: its root has no Go file; name the root of a checkout of heatsink", dir)
	}
	return t, nil
}

// enter returns fs.SkipDir for a directory that is no part of the module.
func (t *tree) enter(dir string) error {
	if dir == t.dir {
		return nil
	}
	base := filepath.Base(dir)
	if base == "testdata" || base == "vendor" || base[0] == '.' || base[0] == '_' {
		return fs.SkipDir
	}
	switch _, err := os.Stat(filepath.Join(dir, "go.mod")); {
	case err == nil:
		return fs.SkipDir
	case !errors.Is(err, fs.ErrNotExist):
		return err
	}
	return nil
}

func (t *tree) readFile(name string) (*file, error) {
	source, err := os.ReadFile(name)
	if err != nil {
		return nil, err
	}
	rel, err := filepath.Rel(t.dir, name)
	if err != nil {
		return nil, err
	}
	f := &file{path: filepath.ToSlash(rel), source: source}
	f.syntax, err = parser.ParseFile(t.fset, f.path, source, parser.ParseComments|parser.SkipObjectResolution)
	return f, err
}

// readModule takes the module's path and language version from go.mod.
func (t *tree) readModule() error {
	name := filepath.Join(t.dir, "go.mod")
	text, err := os.ReadFile(name)
	if err != nil {
		return fmt.Errorf("%w; name the root of a checkout of heatsink", err)
	}
	for line := range strings.Lines(string(text)) {
		switch words := strings.Fields(line); {
		case len(words) < 2:
		case words[0] == "module":
			t.module = words[1]
		case words[0] == "go":
			t.goLine = words[1]
		}
	}
	if t.module == "" || t.goLine == "" {
		return fmt.Errorf("read %s: it has no line with module or none with go", name)
	}
	return nil
}

// pkg returns the package in a directory of the module, nil if there is none.
func (t *tree) pkg(dir string) *pkg {
	i, found := slices.BinarySearchFunc(t.packages, dir, func(p *pkg, dir string) int { return strings.Compare(p.dir, dir) })
	if !found {
		return nil
	}
	return t.packages[i]
}

// public reports whether programs of others can import the package.
func (p *pkg) public() bool {
	return p.name != "main" && !slices.Contains(strings.Split(p.dir, "/"), "internal")
}

// lines returns how many lines of text the file has.
func (f *file) lines() int {
	n := strings.Count(string(f.source), "\n")
	if len(f.source) > 0 && f.source[len(f.source)-1] != '\n' {
		n++
	}
	return n
}

// links returns the directories of the module's packages that a program with the package in dir contains, without dir
// itself.
func (t *tree) links(dir string) []string {
	reached := map[string]bool{dir: true}
	for queue := []string{dir}; len(queue) > 0; queue = queue[1:] {
		p := t.pkg(queue[0])
		if p == nil {
			continue // imported and not there: the compiler says so
		}
		for _, f := range p.files {
			for _, spec := range f.syntax.Imports {
				at, ours := t.directory(spec)
				if ours && !reached[at] {
					reached[at] = true
					queue = append(queue, at)
				}
			}
		}
	}
	delete(reached, dir)
	return sortedKeys(reached)
}

// directory returns where in the module an imported package is, and false if it is somebody else's.
func (t *tree) directory(spec *ast.ImportSpec) (dir string, ours bool) {
	name, err := strconv.Unquote(spec.Path.Value)
	if err != nil {
		return "", false // the parser has refused it
	}
	if name == t.module {
		return ".", true
	}
	return strings.CutPrefix(name, t.module+"/")
}

// sortedKeys returns the members of a set in order. It is never nil, so that JSON has a list.
func sortedKeys(set map[string]bool) []string {
	keys := slices.AppendSeq([]string{}, maps.Keys(set))
	slices.Sort(keys)
	return keys
}
