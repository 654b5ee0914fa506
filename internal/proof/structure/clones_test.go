package main

import "testing"

func TestClones(t *testing.T) {
	copies := read(t, "copies")
	tokens := len(texts(copies)["first.go"])
	if tokens < 50 {
		t.Fatalf("first.go has %d tokens, want more than 50", tokens)
	}
	// A function from its first to its last token, and not the variable before it.
	same(t, "as many as the function has", copies.clones(tokens), []clone{{tokens, 13, "second.go:11", "first.go:10"}})
	same(t, "one more than the function has", copies.clones(tokens+1), nil)

	// In mixed, most stands for itself and for the sum: what is the same before and behind that is two clones.
	same(t, "a third as many", copies.clones(tokens/3), []clone{
		{tokens, 13, "second.go:11", "first.go:10"},
		{47, 6, "third.go:9", "first.go:10"},
		{32, 7, "third.go:15", "first.go:16"},
	})
}

// texts returns the tokens of the module's files.
func texts(t *tree) map[string][]word {
	all := map[string][]word{}
	for _, p := range t.packages {
		for _, f := range p.files {
			all[f.path] = f.text().words
		}
	}
	return all
}

func TestAlike(t *testing.T) {
	for _, c := range []struct {
		name, a, b string
		want       int
	}{
		{"the same", "a = b + 1", "a = b + 1", 5},
		{"other names", "a = b + a", "x = y + x", 5},
		{"one name for two", "a = b + a", "x = x + x", 2},
		{"two names for one", "a = a + a", "x = y + x", 2},
		{"another operator", "a = b + a", "x = y - x", 3},
		{"a literal for a name", "a = b", "x = 1", 2},
		{"other literals", `a = "b" + "c"`, `a = "c" + "d"`, 5},
		{"one literal for two", "a = 1 + 2", "a = 1 + 1", 4},
		{"the first ends", "a = b", "a = b + c", 3},
		{"nothing", "", "a", 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := alike(scan([]byte(c.a), 0), scan([]byte(c.b), 0)); got != c.want {
				t.Errorf("got %d, want %d", got, c.want)
			}
			if got := alike(scan([]byte(c.b), 0), scan([]byte(c.a), 0)); got != c.want {
				t.Errorf("the other way round: got %d, want %d", got, c.want)
			}
		})
	}
}
