package main

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"slices"
	"strconv"
	"strings"
)

// swaps are the operators that are exchanged for another.
var swaps = map[token.Token]struct {
	to       token.Token
	operator string
}{
	token.LSS: {token.LEQ, "compare"}, token.LEQ: {token.LSS, "compare"},
	token.GTR: {token.GEQ, "compare"}, token.GEQ: {token.GTR, "compare"},
	token.EQL: {token.NEQ, "compare"}, token.NEQ: {token.EQL, "compare"},
	token.LAND: {token.LOR, "logic"}, token.LOR: {token.LAND, "logic"},
	token.ADD: {token.SUB, "arithmetic"}, token.SUB: {token.ADD, "arithmetic"},
	token.MUL: {token.QUO, "arithmetic"}, token.QUO: {token.MUL, "arithmetic"}, token.REM: {token.MUL, "arithmetic"},
	token.ADD_ASSIGN: {token.SUB_ASSIGN, "arithmetic"}, token.SUB_ASSIGN: {token.ADD_ASSIGN, "arithmetic"},
	token.INC: {token.DEC, "arithmetic"}, token.DEC: {token.INC, "arithmetic"},
}

// names are the predeclared names that are exchanged for another.
var names = map[string]struct{ to, operator string }{
	"true": {"false", "bool"}, "false": {"true", "bool"},
	"min": {"max", "extreme"}, "max": {"min", "extreme"},
}

// A finder collects the changes of one file.
type finder struct {
	file    string
	src     []byte
	fset    *token.FileSet
	results []*ast.FieldList // of the functions around the node, innermost last
	sites   []site
	changes []change
}

// changesOf returns every way to break one line of a file, in the order of the syntax tree. Not all of them compile.
func changesOf(file string, src []byte) ([]change, error) {
	fset := token.NewFileSet()
	tree, err := parser.ParseFile(fset, file, src, parser.SkipObjectResolution)
	if err != nil {
		return nil, err
	}
	f := &finder{file: file, src: src, fset: fset}
	for _, decl := range tree.Decls {
		f.declared(decl)
	}
	var stack []ast.Node
	ast.Inspect(tree, func(n ast.Node) bool {
		if n == nil {
			f.leave(stack[len(stack)-1])
			stack = stack[:len(stack)-1]
			return true
		}
		if !f.enter(n) {
			return false
		}
		stack = append(stack, n)
		return true
	})
	return f.changes, nil
}

// enter adds the changes of a node. It reports false for nodes whose children are not to be changed.
func (f *finder) enter(n ast.Node) bool {
	switch n := n.(type) {
	case *ast.ImportSpec:
		return false
	case *ast.Field:
		if n.Tag != nil { // the type may hold a function or an array; the tag is no string of the program
			ast.Inspect(n.Type, func(n ast.Node) bool { return n == nil || f.enter(n) })
			return false
		}
	case *ast.FuncDecl:
		f.results = append(f.results, n.Type.Results)
	case *ast.FuncLit:
		f.results = append(f.results, n.Type.Results)
	case *ast.IfStmt:
		f.condition(n.Cond)
	case *ast.ForStmt:
		f.condition(n.Cond)
	case *ast.BinaryExpr:
		f.swap(n.OpPos, n.Op)
	case *ast.UnaryExpr:
		if n.Op == token.NOT {
			f.replace(n.OpPos, n.OpPos+1, "", "not")
		}
	case *ast.IncDecStmt:
		f.swap(n.TokPos, n.Tok)
	case *ast.AssignStmt:
		f.swap(n.TokPos, n.Tok)
	case *ast.BasicLit:
		f.literal(n)
	case *ast.Ident:
		if other, ok := names[n.Name]; ok {
			f.replace(n.Pos(), n.End(), other.to, other.operator)
		}
	case *ast.ReturnStmt:
		f.returned(n)
	case *ast.BlockStmt:
		f.statements(n.List)
	case *ast.CaseClause:
		f.statements(n.Body)
	case *ast.CommClause:
		f.statements(n.Body)
	}
	return true
}

func (f *finder) leave(n ast.Node) {
	switch n.(type) {
	case *ast.FuncDecl, *ast.FuncLit:
		f.results = f.results[:len(f.results)-1]
	}
}

// declared adds the sites of a declaration.
func (f *finder) declared(decl ast.Decl) {
	switch d := decl.(type) {
	case *ast.FuncDecl:
		if d.Body == nil {
			return
		}
		s := f.span(d.Body)
		s.generic = isGeneric(d)
		if d.Type.Results != nil {
			s.results = f.source(d.Type.Results)
		}
		f.sites = append(f.sites, s)
	case *ast.GenDecl:
		for _, spec := range d.Specs {
			v, ok := spec.(*ast.ValueSpec)
			if !ok || d.Tok != token.VAR || len(v.Names) != len(v.Values) {
				continue
			}
			for i, value := range v.Values {
				if s := f.span(value); v.Names[i].Name != "_" {
					s.variable = v.Names[i].Name
					f.sites = append(f.sites, s)
				}
			}
		}
	}
}

func (f *finder) span(n ast.Node) site {
	return site{from: f.fset.Position(n.Pos()).Offset, to: f.fset.Position(n.End()).Offset}
}

// isGeneric reports whether a function or its receiver has type parameters.
func isGeneric(n *ast.FuncDecl) bool {
	if n.Type.TypeParams != nil {
		return true
	}
	if n.Recv == nil || len(n.Recv.List) == 0 {
		return false
	}
	receiver := n.Recv.List[0].Type
	if pointer, ok := receiver.(*ast.StarExpr); ok {
		receiver = pointer.X
	}
	switch receiver.(type) {
	case *ast.IndexExpr, *ast.IndexListExpr:
		return true
	}
	return false
}

func (f *finder) replace(from, to token.Pos, text, operator string) {
	start, end := f.fset.Position(from).Offset, f.fset.Position(to).Offset
	if c, ok := newChange(f.file, f.src, start, end, text, operator); ok {
		if i := slices.IndexFunc(f.sites, func(s site) bool { return s.from <= start && end <= s.to }); i >= 0 {
			c.site = f.sites[i]
		}
		f.changes = append(f.changes, c)
	}
}

func (f *finder) source(n ast.Node) string {
	s := f.span(n)
	return string(f.src[s.from:s.to])
}

func (f *finder) swap(at token.Pos, op token.Token) {
	if other, ok := swaps[op]; ok {
		f.replace(at, at+token.Pos(len(op.String())), other.to.String(), other.operator)
	}
}

// condition turns a condition into its opposite and into one that is never met. An equality and a negation have their
// opposites elsewhere.
func (f *finder) condition(cond ast.Expr) {
	if cond == nil {
		return
	}
	text := f.source(cond)
	f.replace(cond.Pos(), cond.End(), "false && ("+text+")", "never")
	switch cond := cond.(type) {
	case *ast.BinaryExpr:
		if cond.Op == token.EQL || cond.Op == token.NEQ {
			return
		}
	case *ast.UnaryExpr:
		if cond.Op == token.NOT {
			return
		}
	}
	f.replace(cond.Pos(), cond.End(), "!("+text+")", "negate")
}

// literal moves numbers by one and empties strings.
func (f *finder) literal(lit *ast.BasicLit) {
	switch lit.Kind {
	case token.INT:
		n, err := strconv.ParseInt(lit.Value, 0, 64)
		if err != nil {
			return
		}
		f.replace(lit.Pos(), lit.End(), strconv.FormatInt(n+1, 10), "constant")
		if n > 0 {
			f.replace(lit.Pos(), lit.End(), strconv.FormatInt(n-1, 10), "constant")
		}
	case token.FLOAT:
		f.replace(lit.Pos(), lit.End(), "("+lit.Value+" + 1)", "constant")
	case token.STRING:
		if text, err := strconv.Unquote(lit.Value); err == nil && text != "" {
			f.replace(lit.Pos(), lit.End(), `""`, "string")
		}
	}
}

// returned hides an error and returns zeros.
func (f *finder) returned(n *ast.ReturnStmt) {
	if len(f.results) == 0 || f.results[len(f.results)-1] == nil {
		return
	}
	var types []ast.Expr
	for _, field := range f.results[len(f.results)-1].List {
		for range max(1, len(field.Names)) {
			types = append(types, field.Type)
		}
	}
	if len(n.Results) != len(types) {
		return // a bare return, or a call that returns several values
	}
	last := len(types) - 1
	if hidden := n.Results[last]; f.source(types[last]) == "error" && f.source(hidden) != "nil" {
		f.replace(hidden.Pos(), hidden.End(), "nil", "error")
		if last == 0 {
			return
		}
	}
	zeros := make([]string, len(types))
	same := true
	for i, t := range types {
		typ, got := f.source(t), f.source(n.Results[i])
		zeros[i] = zeroOf(typ)
		same = same && (isZero(got, zeros[i]) || got == typ+"{}")
	}
	if !same {
		f.replace(n.Results[0].Pos(), n.Results[last].End(), strings.Join(zeros, ", "), "zero")
	}
}

func zeroOf(typ string) string {
	switch {
	case typ == "error" || typ == "any" || strings.HasPrefix(typ, "*") || strings.HasPrefix(typ, "[]") || strings.HasPrefix(typ, "map["):
		return "nil"
	case typ == "bool":
		return "false"
	case typ == "string":
		return `""`
	case typ == "int" || typ == "int64" || typ == "float64":
		return "0"
	}
	return fmt.Sprintf("*new(%s)", typ)
}

func isZero(expr, zero string) bool {
	return expr == zero || expr == "nil" || expr == "0"
}

// statements drops those that are neither declarations nor blocks of their own.
func (f *finder) statements(list []ast.Stmt) {
	for _, s := range list {
		switch s := s.(type) {
		case *ast.ExprStmt, *ast.IncDecStmt, *ast.SendStmt, *ast.DeferStmt:
			f.replace(s.Pos(), s.End(), "", "drop")
		case *ast.AssignStmt:
			if s.Tok != token.DEFINE {
				f.replace(s.Pos(), s.End(), "", "drop")
			}
		case *ast.BranchStmt:
			if s.Tok == token.BREAK || s.Tok == token.CONTINUE {
				f.replace(s.Pos(), s.End(), "", "drop")
			}
		}
	}
}
