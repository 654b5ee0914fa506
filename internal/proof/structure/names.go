package main

import (
	"go/ast"
	"go/token"
)

// names is how many types and functions a package exports. Types include aliases; methods, constants and variables do not
// count.
type names struct {
	Package   string `json:"package"`
	Types     int    `json:"types"`
	Functions int    `json:"functions"`
}

// names counts what the package exports.
func (p *pkg) names() names {
	types, functions := map[string]bool{}, map[string]bool{}
	for _, f := range p.files {
		for _, d := range f.syntax.Decls {
			switch d := d.(type) {
			case *ast.FuncDecl:
				if d.Recv == nil && d.Name.IsExported() {
					functions[d.Name.Name] = true
				}
			case *ast.GenDecl:
				if d.Tok != token.TYPE {
					continue
				}
				for _, spec := range d.Specs {
					if name := spec.(*ast.TypeSpec).Name; name.IsExported() {
						types[name.Name] = true
					}
				}
			}
		}
	}
	return names{p.dir, len(types), len(functions)}
}

// names counts what each public package exports, in the order of directories.
func (t *tree) names() []names {
	var all []names
	for _, p := range t.packages {
		if p.public() {
			all = append(all, p.names())
		}
	}
	return all
}
