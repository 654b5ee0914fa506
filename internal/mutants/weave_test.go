package main

import (
	"slices"
	"testing"
)

// Wherever a break is, the tests that reach it run with it.
func TestEverySiteIsBroken(t *testing.T) {
	var r packageReport
	_, _, progress := runJSON(t, &r, "-pkg", "./testdata/sites", "-n", "100")
	if r.Breaks != 13 || r.Caught != r.Breaks {
		t.Errorf("got %+v, want 13 breaks, all of them caught\n%s", r, progress)
	}
}

// Broken copies come before the body, in one line with its brace. The lines of the body keep their numbers.
func TestWeaveFile(t *testing.T) {
	for _, c := range []struct{ name, source, want string }{
		{
			"function", "package p\n\nfunc f() {\n\tg()\n}\n",
			"package p\n\nfunc f() { if mutantIs(1) { func()  /*line mutant-1.go:1:1*/{\n\t\n}(); return };/*line p.go:3:11*/\n\tg()\n}\n",
		},
		{
			"results", "package p\n\nfunc f() (err error) { return g }\n",
			"package p\n\nfunc f() (err error) { if mutantIs(1) { return func() (err error) /*line mutant-1.go:1:1*/{ return nil }() };/*line p.go:3:23*/ return g }\n",
		},
		{
			"variable", "package p\n\nvar a, b = 0, c\n",
			"package p\n\nvar a, b = 0, c\n\nfunc init() { if mutantIs(1) { a = /*line mutant-1.go:1:1*/1 } }\n",
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			changes, err := changesOf("p.go", []byte(c.source))
			if err != nil || len(changes) != 1 {
				t.Fatalf("got %v, %v, want one change", changes, err)
			}
			if got := weaveFile("p.go", []byte(c.source), changes, []int{0}); got != c.want {
				t.Errorf("got  %q\nwant %q", got, c.want)
			}
		})
	}
}

// Constants, types and signatures are the same whatever is chosen at run time.
func TestUnwoven(t *testing.T) {
	for _, source := range []string{"const a = 0", "type a [0]int", "func f(a [0]int)", "func f() [0]int { return g() }", "var _ = 0"} {
		changes, err := changesOf("p.go", []byte("package p\n"+source))
		if err != nil || len(changes) == 0 || changes[0].isWoven() {
			t.Errorf("%s: got %+v, %v, want a change without a site", source, changes, err)
		}
	}
}

func TestFaulty(t *testing.T) {
	const out = "# p\n./p.go:1:2: no\n./mutant-12.go:3:4: declared and not used: a\n\tmutant-12.go:5:1: other\n./mutant-3.go:1:1: missing return\n"
	if got, want := faulty(out), []int{11, 2}; !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}
