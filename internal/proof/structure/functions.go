package main

import (
	"cmp"
	"fmt"
	"go/ast"
	"slices"
)

// function is a function or method and its lines, from its signature to its last brace.
type function struct {
	Name  string `json:"name"` // Type.Method for a method, var x for a function that a variable is set to
	At    string `json:"at"`   // file:line
	Lines int    `json:"lines"`
}

func (f function) String() string { return fmt.Sprintf("%d (%s, %s)", f.Lines, f.Name, f.At) }

// functions returns the module's functions, the longest first. A function inside another one is a part of that.
func (t *tree) functions() []function {
	var all []function
	for _, p := range t.packages {
		for _, f := range p.files {
			for _, d := range f.syntax.Decls {
				switch d := d.(type) {
				case *ast.FuncDecl:
					name := d.Name.Name
					if d.Recv != nil {
						name = receiver(d) + "." + name
					}
					all = append(all, t.function(name, d))
				case *ast.GenDecl:
					all = append(all, t.literals(d)...)
				}
			}
		}
	}
	slices.SortStableFunc(all, func(a, b function) int { return cmp.Compare(b.Lines, a.Lines) })
	return all
}

// literals returns the functions in the values of a package's variables.
func (t *tree) literals(d *ast.GenDecl) []function {
	var all []function
	for _, spec := range d.Specs {
		v, ok := spec.(*ast.ValueSpec)
		if !ok {
			continue
		}
		for i, value := range v.Values {
			ast.Inspect(value, func(n ast.Node) bool {
				if lit, ok := n.(*ast.FuncLit); ok {
					all = append(all, t.function("var "+v.Names[i].Name, lit))
					return false
				}
				return true
			})
		}
	}
	return all
}

func (t *tree) function(name string, n ast.Node) function {
	start, end := t.fset.Position(n.Pos()), t.fset.Position(n.End())
	return function{name, fmt.Sprintf("%s:%d", start.Filename, start.Line), end.Line - start.Line + 1}
}
