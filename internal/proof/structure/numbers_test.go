package main

import (
	"strings"
	"testing"
)

// met returns figures that are exactly at their goals.
func met() figures {
	files := func(n int) []string { return make([]string, n) }
	return figures{
		RootFiles:  28,
		RootTypes:  []typeSize{{".", "core", 25, 1}, {".", "row", 1, 1}},
		RootSpread: typeSize{".", "shard", 3, 3},
		Types:      []typeSize{{"internal/engine", "Engine", 100, 20}},
		Ways:       ways{Put: way{Root: files(8), Others: files(50)}, Query: way{Root: files(10), Others: files(50)}},
		Names:      []names{{".", 50, 50}, {"plan", 20, 5}},
		Links:      []string{"internal/attr"},
	}
}

func TestGoals(t *testing.T) {
	same(t, "at the goals", missed(numbers(figures{}, met())), nil)
	for _, c := range []struct {
		name   string
		change func(*figures)
		want   []string
	}{
		{"root files", func(f *figures) { f.RootFiles++ }, []string{"files of the root package: got 29, want about 25, at most 28"}},
		{"methods", func(f *figures) { f.RootTypes[0].Methods++ }, []string{"most methods of a type of the root: got 26 (core), want at most 25"}},
		{"spread", func(f *figures) { f.RootSpread.Files++ }, []string{"most files that a root type's methods are in: got 4 (shard), want at most 3"}},
		{"put", func(f *figures) { f.Ways.Put.Root = append(f.Ways.Put.Root, "x") }, []string{"root files on the way of a Put: got 9, want at most 8"}},
		{"query", func(f *figures) { f.Ways.Query.Root = append(f.Ways.Query.Root, "x") }, []string{"root files on the way of a Query: got 11, want at most 10"}},
		{"no ways", func(f *figures) { f.Ways = ways{Error: "no compiler"} }, []string{
			"root files on the way of a Put: got not measured, want at most 8",
			"root files on the way of a Query: got not measured, want at most 10",
		}},
		{"plan's types", func(f *figures) { f.Names[1].Types++ }, []string{"types and functions that plan exports: got 26, want at most 25"}},
		{"plan's functions", func(f *figures) { f.Names[1].Functions++ }, []string{"types and functions that plan exports: got 26, want at most 25"}},
		{"no plan", func(f *figures) { f.Names = f.Names[:1] }, []string{"types and functions that plan exports: got no such package, want at most 25"}},
		{"jsonpull", func(f *figures) { f.Links = append(f.Links, "internal/jsonpull") }, []string{"the library links internal/jsonpull: got yes, want no"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			f := met()
			c.change(&f)
			same(t, "missed", missed(numbers(met(), f)), c.want)
			same(t, "missed by what was before", missed(numbers(f, met())), nil)
		})
	}
}

// The figures of the source alone reach the table under their names.
func TestStatic(t *testing.T) {
	rows := map[string]string{}
	for _, n := range numbers(figures{}, read(t, "small").static()) {
		rows[n.What] = n.Now
	}
	for what, want := range map[string]string{
		"files of the root package":                     "4",
		"lines of the root package":                     "42",
		"most methods of a type of the root":            "5 (Store)",
		"most files that a root type's methods are in":  "3 (Store)",
		"most methods of a type of the module":          "5 (Store)",
		"types and functions that plan exports":         "6",
		"types and functions that the root exports":     "3",
		"functions longer than 80 lines":                "0",
		"clones of 100 tokens or more":                  "0",
		"largest clone":                                 "none",
		"packages of the module that the library links": "3",
		"the library links internal/jsonpull":           "yes",
	} {
		if rows[what] != want {
			t.Errorf("%s: got %q, want %q", what, rows[what], want)
		}
	}
}

// What was before is a whole measurement of the commit that the program's comment names.
func TestBeforeIsRecorded(t *testing.T) {
	before, err := recordedBefore(recorded)
	if err != nil {
		t.Fatal(err)
	}
	if !strings.HasPrefix(before.Commit, "f1b77ff") || before.Modified {
		t.Errorf("got %s, want f1b77ff without changes", before.name())
	}
	for _, n := range numbers(*before, *before) {
		if n.Before == "0" || strings.HasPrefix(n.Before, "no") {
			t.Errorf("%s: got %s, want a figure", n.What, n.Before)
		}
	}
}
