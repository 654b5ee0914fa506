package docs

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"path/filepath"
	"strings"
	"testing"
)

// exported is what a package of this module exports: its names, and of structs their fields.
type exported struct {
	names  map[string]bool
	fields map[string]map[string]bool
}

// exports reads the packages that documentation speaks of, by their names.
func exports(t *testing.T) map[string]*exported {
	t.Helper()
	all := map[string]*exported{}
	files := token.NewFileSet()
	err := filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.IsDir() && (entry.Name() == "internal" || entry.Name() == "cmd" || entry.Name() == "testdata" || path != root && strings.HasPrefix(entry.Name(), ".")):
			return filepath.SkipDir
		case filepath.Ext(path) != ".go" || strings.HasSuffix(path, "_test.go"):
			return nil
		}
		file, err := parser.ParseFile(files, path, nil, parser.SkipObjectResolution)
		if err != nil || file.Name.Name == "main" {
			return err
		}
		if all[file.Name.Name] == nil {
			all[file.Name.Name] = &exported{map[string]bool{}, map[string]map[string]bool{}}
		}
		all[file.Name.Name].add(file)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

func (e *exported) add(file *ast.File) {
	for _, declaration := range file.Decls {
		switch d := declaration.(type) {
		case *ast.FuncDecl:
			if d.Recv == nil {
				e.names[d.Name.Name] = true
			}
		case *ast.GenDecl:
			for _, spec := range d.Specs {
				e.addSpec(spec)
			}
		}
	}
}

func (e *exported) addSpec(spec ast.Spec) {
	switch s := spec.(type) {
	case *ast.ValueSpec:
		for _, name := range s.Names {
			e.names[name.Name] = true
		}
	case *ast.TypeSpec:
		e.names[s.Name.Name] = true
		structure, ok := s.Type.(*ast.StructType)
		if !ok {
			return
		}
		fields := map[string]bool{}
		for _, field := range structure.Fields.List {
			if len(field.Names) == 0 { // embedded
				switch x := field.Type.(type) {
				case *ast.Ident:
					fields[x.Name] = true
				case *ast.SelectorExpr:
					fields[x.Sel.Name] = true
				}
			}
			for _, name := range field.Names {
				fields[name.Name] = true
			}
		}
		e.fields[s.Name.Name] = fields
	}
}

// Pieces of programs are Go, and what they use of this module is there.
func TestFragments(t *testing.T) {
	known := exports(t)
	used := 0
	for _, p := range pages(t) {
		for _, b := range p.blocks {
			if b.lang != "go" {
				continue
			}
			files := fragments(b.text)
			if files == nil {
				t.Errorf("%s: this is no Go, whatever is put around it:\n%s", b, b.text)
			}
			for _, file := range files {
				for _, fault := range undeclared(file, known, &used) {
					t.Errorf("%s: %s", b, fault)
				}
			}
		}
	}
	if used < 100 {
		t.Errorf("%d uses of the module were found: are they still recognized?", used)
	}
}

// fragments reads a block as one piece of a program, or as several with "…" between them.
func fragments(text string) []*ast.File {
	if file := fragment(text); file != nil {
		return []*ast.File{file}
	}
	var files []*ast.File
	for part := range strings.SplitSeq(text, "\n…\n") {
		file := fragment(part)
		if file == nil {
			return nil
		}
		files = append(files, file)
	}
	return files
}

// fragment reads a piece of a program: declarations, statements, or the fields of a struct. "…" is what was left out, and so may be the end.
func fragment(text string) *ast.File {
	text = strings.ReplaceAll(text, "…", "_x")
	for _, around := range [][2]string{
		{"", ""}, {"package p\n", ""}, {"package p\nfunc _() {\n", "\n}"}, {"package p\nvar _ = T{\n", "\n}"}, {"package p\nfunc _() {\nx(T{\n", "\n})}"},
	} {
		for _, end := range []string{"", "}", "})", "}}", "})}"} {
			if file, err := parser.ParseFile(token.NewFileSet(), "", around[0]+text+end+around[1], parser.SkipObjectResolution); err == nil {
				return file
			}
		}
	}
	return nil
}

// undeclared returns what a piece of a program uses of this module and is not there.
func undeclared(file *ast.File, known map[string]*exported, used *int) []string {
	var faults []string
	variables := map[string]bool{}
	for node := range ast.Preorder(file) {
		if assigned, ok := node.(*ast.AssignStmt); ok && assigned.Tok == token.DEFINE {
			for _, left := range assigned.Lhs {
				if name, ok := left.(*ast.Ident); ok {
					variables[name.Name] = true
				}
			}
		}
	}
	for node := range ast.Preorder(file) {
		switch n := node.(type) {
		case *ast.SelectorExpr:
			if name, ok := n.X.(*ast.Ident); ok && known[name.Name] != nil && !variables[name.Name] {
				*used++
				if !known[name.Name].names[n.Sel.Name] {
					faults = append(faults, "package "+name.Name+" has no "+n.Sel.Name)
				}
			}
		case *ast.CompositeLit:
			selector, ok := n.Type.(*ast.SelectorExpr)
			if !ok {
				continue
			}
			name, ok := selector.X.(*ast.Ident)
			if !ok || known[name.Name] == nil {
				continue
			}
			fields := known[name.Name].fields[selector.Sel.Name]
			for _, element := range n.Elts {
				pair, ok := element.(*ast.KeyValueExpr)
				if !ok || fields == nil {
					continue
				}
				if key, ok := pair.Key.(*ast.Ident); ok && !fields[key.Name] {
					faults = append(faults, name.Name+"."+selector.Sel.Name+" has no field "+key.Name)
				}
			}
		}
	}
	return faults
}

func TestUndeclared(t *testing.T) {
	known := exports(t)
	for text, want := range map[string]string{
		"x := layout.Layout{Shards: 4}\n":                                  "",
		"x := layout.Layout{Shard: 4}\n":                                   "layout.Layout has no field Shard",
		"for v := range heatsink.Nothing() {\n":                            "package heatsink has no Nothing",
		"\tTable: \"t\", …, Layout: layout.Nothing,\n":                     "package layout has no Nothing",
		"func TestX(t *testing.T) {\n\tdb := local.Begin(t)\n\t…\n":        "package local has no Begin",
		"heat := newHeat()\nheat.Whatever()\n":                             "",
		"a, err := heatsink.Open[T](c, heatsink.Options{Older: nil, …})\n": "",
	} {
		file, used := fragment(text), 0
		if file == nil {
			t.Errorf("%q is no Go", text)
			continue
		}
		if got := strings.Join(undeclared(file, known, &used), "; "); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
	if len(known) < 15 || known["layout"] == nil {
		t.Errorf("packages %v", maps.Keys(known))
	}
}
