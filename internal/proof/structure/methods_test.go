package main

import (
	"go/ast"
	"go/parser"
	"go/token"
	"testing"
)

func TestTypeSizes(t *testing.T) {
	small := read(t, "small")
	root := []typeSize{{".", "Store", 5, 3}, {".", "List", 5, 1}, {".", "pair", 1, 1}} // of two with as many methods, the more spread first
	types := small.pkg(".").typeSizes()
	same(t, "root", types, root)
	same(t, "module", small.typeSizes(), append(root, typeSize{"plan", "Advice", 1, 1}))
	if got, want := mostSpread(types), (typeSize{".", "Store", 5, 3}); got != want {
		t.Errorf("most spread: got %v, want %v", got, want)
	}
	if got := mostSpread(nil); got != (typeSize{}) {
		t.Errorf("most spread of nothing: got %v, want nothing", got)
	}
}

// The type with most methods need not be the one in most files.
func TestMostSpread(t *testing.T) {
	wide := typeSize{".", "wide", 2, 2}
	if got := mostSpread([]typeSize{{".", "large", 9, 1}, wide, {".", "small", 1, 1}}); got != wide {
		t.Errorf("got %v, want %v", got, wide)
	}
}

func TestReceiver(t *testing.T) {
	for _, text := range []string{"T", "*T", "t T", "t *T", "t *(T)", "t T[A]", "t *T[A]", "t T[A, B]", "t *T[_, B]"} {
		f, err := parser.ParseFile(token.NewFileSet(), "", "package p; func ("+text+") m() {}", parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		if got := receiver(f.Decls[0].(*ast.FuncDecl)); got != "T" {
			t.Errorf("%s: got %s, want T", text, got)
		}
	}
}
