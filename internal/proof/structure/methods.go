package main

import (
	"cmp"
	"go/ast"
	"slices"
	"strings"
)

// typeSize is how many methods a type has, and in how many files they are. A method that each platform has its own of
// counts once.
type typeSize struct {
	Package string `json:"package"`
	Type    string `json:"type"`
	Methods int    `json:"methods"`
	Files   int    `json:"files"`
}

// name returns the type with its package, as in plan.Options.
func (s typeSize) name() string {
	if s.Package == "." {
		return s.Type
	}
	return s.Package + "." + s.Type
}

// typeSizes returns the types of the package that have methods, those with most methods first.
func (p *pkg) typeSizes() []typeSize {
	methods, files := map[string]map[string]bool{}, map[string]map[string]bool{}
	for _, f := range p.files {
		for _, d := range f.syntax.Decls {
			fn, ok := d.(*ast.FuncDecl)
			if !ok || fn.Recv == nil {
				continue
			}
			name := receiver(fn)
			if methods[name] == nil {
				methods[name], files[name] = map[string]bool{}, map[string]bool{}
			}
			methods[name][fn.Name.Name], files[name][f.path] = true, true
		}
	}
	var sizes []typeSize
	for name := range methods {
		sizes = append(sizes, typeSize{p.dir, name, len(methods[name]), len(files[name])})
	}
	sortTypes(sizes)
	return sizes
}

// typeSizes returns the module's types that have methods, those with most methods first.
func (t *tree) typeSizes() []typeSize {
	var sizes []typeSize
	for _, p := range t.packages {
		sizes = append(sizes, p.typeSizes()...)
	}
	sortTypes(sizes)
	return sizes
}

func sortTypes(sizes []typeSize) {
	slices.SortFunc(sizes, func(a, b typeSize) int {
		return cmp.Or(cmp.Compare(b.Methods, a.Methods), cmp.Compare(b.Files, a.Files), strings.Compare(a.Package, b.Package), strings.Compare(a.Type, b.Type))
	})
}

// mostSpread returns the type whose methods are in most files.
func mostSpread(sizes []typeSize) typeSize {
	if len(sizes) == 0 {
		return typeSize{}
	}
	return slices.MaxFunc(sizes, func(a, b typeSize) int { return cmp.Compare(a.Files, b.Files) })
}

// receiver returns the name of the type that a method belongs to: T of func (t *T[A, B]) Name().
func receiver(fn *ast.FuncDecl) string {
	for x := fn.Recv.List[0].Type; ; {
		switch t := x.(type) {
		case *ast.StarExpr:
			x = t.X
		case *ast.ParenExpr:
			x = t.X
		case *ast.IndexExpr:
			x = t.X
		case *ast.IndexListExpr:
			x = t.X
		case *ast.Ident:
			return t.Name
		default:
			return "?" // no Go program has such a receiver
		}
	}
}
