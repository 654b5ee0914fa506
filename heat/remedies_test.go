package heat_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// names are the exported names of a package: each type with its fields and methods, anything else with nothing.
type names map[string]map[string]bool

func namesOf(t *testing.T, directory string) names {
	t.Helper()
	all := make(names)
	add := func(of, member string) {
		if all[of] == nil {
			all[of] = make(map[string]bool)
		}
		all[of][member] = true
	}
	for _, file := range sources(t, directory) {
		for _, declared := range file.Decls {
			switch d := declared.(type) {
			case *ast.FuncDecl:
				if d.Recv == nil {
					add(d.Name.Name, "")
				} else {
					add(receiver(d.Recv.List[0].Type), d.Name.Name)
				}
			case *ast.GenDecl:
				for _, spec := range d.Specs {
					switch s := spec.(type) {
					case *ast.ValueSpec:
						for _, name := range s.Names {
							add(name.Name, "")
						}
					case *ast.TypeSpec:
						add(s.Name.Name, "")
						if fields, ok := s.Type.(*ast.StructType); ok {
							for _, field := range fields.Fields.List {
								for _, name := range field.Names {
									add(s.Name.Name, name.Name)
								}
							}
						}
					}
				}
			}
		}
	}
	return all
}

func receiver(of ast.Expr) string {
	for {
		switch e := of.(type) {
		case *ast.StarExpr:
			of = e.X
		case *ast.IndexExpr:
			of = e.X
		case *ast.Ident:
			return e.Name
		default:
			return ""
		}
	}
}

func sources(t *testing.T, directory string) (files []*ast.File) {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join(directory, "*.go"))
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range paths {
		if strings.HasSuffix(path, "_test.go") {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, file)
	}
	return files
}

var (
	goName  = regexp.MustCompile(`\b([A-Za-z]+)\.([A-Z]\w*)(?:\.([A-Z]\w*))?`)
	literal = regexp.MustCompile(`\b([a-z]+)\.([A-Z]\w*)(?:\{([^{}]*)\}| with ([A-Z]\w*))`)
	field   = regexp.MustCompile(`([A-Z]\w*):`)
	aPart   = regexp.MustCompile(`package ([a-z]+)`)
)

// misnamed returns the names in a text that do not exist. A type without its package is one of the packages that users of
// findings meet first.
func misnamed(text string, packages map[string]names) (wrong []string) {
	has := func(of, member string) bool {
		for _, in := range []string{"heatsink", "heat", "layout"} {
			if packages[in][of][member] {
				return true
			}
		}
		return false
	}
	for _, m := range goName.FindAllStringSubmatch(text, -1) {
		in, known := packages[m[1]]
		switch {
		case known && in[m[2]] != nil && in[m[2]][m[3]]:
		case !known && m[1] != strings.ToLower(m[1]) && has(m[1], m[2]):
		default:
			wrong = append(wrong, m[0])
		}
	}
	for _, m := range literal.FindAllStringSubmatch(text, -1) {
		members := field.FindAllStringSubmatch(m[3], -1)
		if m[4] != "" {
			members = append(members, []string{"", m[4]})
		}
		for _, member := range members {
			if !packages[m[1]][m[2]][member[1]] {
				wrong = append(wrong, m[0])
			}
		}
	}
	for _, m := range aPart.FindAllStringSubmatch(text, -1) {
		if packages[m[1]] == nil {
			wrong = append(wrong, m[0])
		}
	}
	return wrong
}

// Every name of the library in a text of this package exists, with the fields that the text gives it.
func TestTextsNameWhatExists(t *testing.T) {
	packages := map[string]names{"heatsink": namesOf(t, "..")}
	if err := filepath.WalkDir("..", func(path string, entry fs.DirEntry, err error) error {
		if err != nil || !entry.IsDir() || path == ".." {
			return err
		}
		if strings.HasPrefix(entry.Name(), ".") || entry.Name() == "internal" || entry.Name() == "cmd" || entry.Name() == "testdata" {
			return filepath.SkipDir
		}
		if all := namesOf(t, path); len(all) > 0 {
			packages[entry.Name()] = all
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	for text, want := range map[string]int{
		"layout.Layout with Widths": 1, "heatsink.Options.Widths with a layout.WidthTable": 0, "layout.Layout{Shards: …, Size: …}": 1,
		"Options.Older": 0, "Options.Oldest": 1, "package counter": 0, "package tally": 1, "Layout.Evenness": 0,
	} {
		if wrong := misnamed(text, packages); len(wrong) != want {
			t.Errorf("%s: got %q, want %d names that do not exist", text, wrong, want)
		}
	}
	texts := 0
	for _, file := range sources(t, ".") {
		ast.Inspect(file, func(n ast.Node) bool {
			if tag, ok := n.(*ast.Field); ok && tag.Tag != nil {
				return false
			}
			if l, ok := n.(*ast.BasicLit); ok && l.Kind == token.STRING {
				text, err := strconv.Unquote(l.Value)
				if err != nil {
					t.Fatal(err)
				}
				texts++
				for _, name := range misnamed(text, packages) {
					t.Errorf("%q names %s, which does not exist", text, name)
				}
			}
			return true
		})
	}
	if texts < 500 {
		t.Errorf("%d texts are too few", texts)
	}
}
