package scenario

import (
	"strings"
	"testing"
)

// The last line is what counts: a table of the survivors is before it.
func TestBroken(t *testing.T) {
	const out = "plan.go:7  drop  - x++\n                + \n" +
		`{"package":"p","breaks":8,"caught":7,"survivors":[{"file":"plan.go","line":7,"before":"x++","after":"x--"}]}` + "\n"
	var b Broken
	if err := b.read(out); err != nil {
		t.Fatal(err)
	}
	if b.Share() != 87.5 {
		t.Errorf("got %v %%, want 87.5", b.Share())
	}
	var list strings.Builder
	b.List(&list)
	if got, want := list.String(), "survived: p plan.go:7: x++ → x--\n"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if err := b.read("it does not compile\n"); err == nil {
		t.Error("got no error of an output that ends otherwise")
	}
	if (&Broken{}).Share() != 0 {
		t.Error("no breaks have no share")
	}
}
