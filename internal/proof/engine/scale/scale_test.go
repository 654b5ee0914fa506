package scale

import (
	"cmp"
	"flag"
	"testing"
)

var items = flag.Int("items", 0, "how many items the large directory has, such as 10000000; zero: a few, and nothing is judged")

// TestFigures measures everything. Without -items it only sees that all figures come.
func TestFigures(t *testing.T) {
	o := Options{Dir: t.TempDir(), Items: cmp.Or(*items, 2000)}
	if *items == 0 {
		o.Few, o.Held, o.Rounds = 500, 2000, 1
	}
	figures, err := Measure(t.Context(), o)
	for _, f := range figures {
		t.Logf("%s: %s %s", f.What, f.After, f.Want)
		if *items > 0 && !f.Holds {
			t.Errorf("%s: got %s, want %s", f.What, f.After, f.Want)
		}
	}
	if err != nil {
		t.Fatal(err)
	}
	if len(figures) != 10 {
		t.Errorf("got %d figures, want 10", len(figures))
	}
}
