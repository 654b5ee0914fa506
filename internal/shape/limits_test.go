package shape

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// each returns keys of a format with n different words, in capitals unless the format lowers them.
func each(n int, format string, ends ...string) []string {
	if len(ends) == 0 {
		ends = []string{""}
	}
	var keys []string
	for i := range n {
		word := string(rune('A'+i/26)) + "X" + string(rune('A'+i%26))
		if strings.Contains(format, "%[2]s") {
			word = strings.ToLower(word)
		}
		for _, end := range ends {
			keys = append(keys, fmt.Sprintf(strings.ReplaceAll(format, "%[2]s", "%[1]s"), word)+end)
		}
	}
	return keys
}

const lowered = "%[2]s"

// Where a few words become many, and a word that was seen a few times one that was seen often: both sides of each limit.
func TestTreeAtItsLimits(t *testing.T) {
	for _, test := range []struct {
		name  string
		times float64
		keys  []string
		want  string
	}{
		{"16 values", 100, each(16, "STATUS#%s"), "STATUS#{value}"},
		{"17 values", 100, each(17, "STATUS#%s"), "STATUS#{id}"},
		{"8 values in lower case", 100, each(8, "status#"+lowered), "status#{value}"},
		{"9 values in lower case", 100, each(9, "status#"+lowered), "status#{id}"},
		{"values that were seen often", 30, each(3, "status#"+lowered), "status#{value}"},
		{"values that were not", 29, each(3, "status#"+lowered), "status#{id}"},
		{"a word that was seen often", 30, []string{"log#errors"}, "log#errors"},
		{"a word that was not", 29, []string{"log#errors"}, "log#{id}"},
		{"a name that is a constant", 100, []string{"LOG#errors"}, "LOG#errors"},
		{"a name that is none", 99, []string{"LOG#errors"}, "LOG#{id}"},
		{"two names", 100, []string{"LOG#errors", "LOG#warnings"}, "LOG#{value}"},
		{"two names with a hyphen", 100, []string{"LOG#jade-garden", "LOG#blue-house"}, "LOG#{id}"},
		{"two names, one with a hyphen", 100, []string{"LOG#jade-garden", "LOG#house"}, "LOG#{value}"},
		{"names that begin alike", 100, []string{"log#shop-abc", "log#shop-xyz"}, "log#{id}"},
		{"names that begin alike, with underscores", 100, []string{"log#shop_abc", "log#shop_xyz"}, "log#{id}"},
		{"names that do not begin alike", 100, []string{"log#shop-abc", "log#bar-xyz"}, "log#{value}"},

		{"24 labels", 1, each(24, "%s#", "1", "2"), strings.Join(shapesOf(24, "%s#{n}"), " ")},
		{"25 labels", 1, each(25, "%s#", "1", "2"), "{id}#{n}"},
		{"12 labels in lower case", 1, each(12, lowered+"#", "1", "2"), strings.ToLower(strings.Join(shapesOf(12, "%s#{n}"), " "))},
		{"13 labels in lower case", 1, each(13, lowered+"#", "1", "2"), "{id}#{n}"},
		{"labels with one thing behind each", 1, each(3, lowered+"#", "1"), "{id}#{n}"},
		{"two labels with one thing behind each", 1, each(2, lowered+"#", "1"), "axa#{n} axb#{n}"},
		{"two values before a word", 1, []string{"acme#USER", "globex#USER"}, "acme#USER globex#USER"},
		{"three values before a word", 1, []string{"acme#USER", "globex#USER", "initech#USER"}, "{id}#USER"},

		{"eight ids and a word", 100, append(numbered(8), "POST#viral"), "POST#{id}"},
		{"seven ids and a word", 100, append(numbered(7), "POST#viral"), "POST#viral POST#{n}"},
		{"three numbers behind a prefix", 1, []string{"X#ab-1", "X#ab-2", "X#ab-3", "X#cd-1"}, "X#ab-{n} X#cd-{n}"},
		{"two prefixes with a number each", 1, []string{"X#ab-1", "X#cd-1"}, "X#ab-{n} X#cd-{n}"},
		{"three prefixes with a number each", 1, []string{"X#ab-1", "X#cd-1", "X#ef-1"}, "X#{id}"},
		{"a prefix with a number beside ids", 1, []string{"X#ab-1", "X#1a2b3c"}, "X#{id}"},
		{"an id that may be digits", 1, []string{"X#123456", "X#1a2b3c"}, "X#{id}"},
		{"numbers beside UUIDs", 1, []string{"X#123456", "X#7c9e6679-7425-40de-944b-e07fc1f90ae7"}, "X#{n} X#{uuid}"},
		{"numbers beside hexadecimal ones", 1, []string{"X#123456", "X#9f86d081884c"}, "X#{id}"},
		{"a constant beside random ids", 1, []string{"Zd3Upvn", "x9KqLm2", "CONFIG"}, "CONFIG {id}"},
		{"random letters beside random ids", 1, []string{"Zd3Upvn", "x9KqLm2", "abCdef"}, "{id}"},
		{"a day beside a number", 1, []string{"X#20260622", "X#123"}, "X#{n}"},

		{"labels behind a label", 1, each(3, "ORG#%s#", "1", "2", "3"), "ORG#AXA#{n} ORG#AXB#{n} ORG#AXC#{n}"},
		{"17 labels behind a label", 1, each(17, "ORG#%s#", "1", "2", "3"), "ORG#{id}#{n}"},
		{"16 labels behind a label", 1, each(16, "ORG#%s#", "1", "2", "3"), strings.Join(shapesOf(16, "ORG#%s#{n}"), " ")},
		{"four labels with one thing behind each", 1, each(4, "ORG#%s#", "1"), "ORG#{id}#{n}"},
		{"three labels with one thing behind each", 1, each(3, "ORG#%s#", "1"), "ORG#AXA#{n} ORG#AXB#{n} ORG#AXC#{n}"},
		{"five labels in lower case", 100, each(5, "org#"+lowered+"#", "1", "2"), "org#{id}#{n}"},
		{"four labels in lower case", 100, each(4, "org#"+lowered+"#", "1", "2"), "org#axa#{n} org#axb#{n} org#axc#{n} org#axd#{n}"},
		{"names before a number", 1, each(2, "ORG#"+lowered+"#", "1", "2"), "ORG#{id}#{n}"},
		{"names before a number that were seen often", 100, each(2, "ORG#"+lowered+"#", "1", "2"), "ORG#axa#{n} ORG#axb#{n}"},
		{"four values before a word", 1, each(4, "ORG#%s#", "USER"), "ORG#{id}#USER"},
		{"three values before a word", 1, each(3, "ORG#%s#", "USER"), "ORG#AXA#USER ORG#AXB#USER ORG#AXC#USER"},
		{"two values in lower case before a word", 1, each(2, "org#"+lowered+"#", "USER"), "org#{id}#USER"},
		{"words that vary behind an id", 100, append(numbered(9, "#aa"), numbered(9, "#bb")...), "POST#{n}#aa POST#{n}#bb"},
		{"four of them", 100, slices.Concat(numbered(9, "#aa"), numbered(9, "#bb"), numbered(9, "#cc"), numbered(9, "#dd")), "POST#{n}#{id}"},
	} {
		if got := strings.Join(learnt(test.times, test.keys...), " "); got != test.want {
			t.Errorf("%s: got %q, want %q", test.name, got, test.want)
		}
	}
}

// shapesOf returns shapes with the words of each.
func shapesOf(n int, format string) []string {
	all := each(n, format)
	slices.Sort(all)
	return all
}

// numbered returns n posts, each with an end.
func numbered(n int, end ...string) []string {
	var keys []string
	for i := range n {
		keys = append(keys, fmt.Sprint("POST#", 100+i)+strings.Join(end, ""))
	}
	return keys
}

// What a part of a key is, by its looks.
func TestPartsByTheirLooks(t *testing.T) {
	for part, want := range map[string]string{
		"20260622": "{day}", "20261231": "{day}", "20260101": "{day}", "20260100": "{n}", "20260132": "{n}", "20261301": "{n}", "20260001": "{n}",
		"19990622": "{n}", "21000622": "{n}", "2026062": "{n}", "202606221": "{n}",
		"9f86d081884c": "{hex}", "9f86d081884": "{id}", "abcdefabcdef": "abcdefabcdef", "9f86d081884g": "{id}",
		"7c9e6679-7425-40de-944b-e07fc1f90ae7": "{uuid}", "7C9E6679-7425-40DE-944B-E07FC1F90AE7": "{uuid}",
		"7c9e6679-7425-40de-944b-e07fc1f90ag7": "{id}", "7c9e667-97425-40de-944b-e07fc1f90ae7": "{id}",
		"a@b": "{email}", "@b": "@b", "a.b+c@d.e": "{email}", "a.b": "a.{id}", "a+b": "a+{id}",
		"v1": "v1", "EU2": "EU2", "ABCD1": "ABCD{n}", "ABC1": "ABC1", "1a": "{id}", "7": "{n}", "a12": "{id}", "abc12": "abc{n}", "abc12d": "{id}", "ab12": "{id}",
		"us-east-1": "us-east-1", "us-east-12": "us-east-{n}", "us-1": "us-{n}", "us-east-1-2": "us-east-{n}-{n}", "us-east-x1y2": "us-east-{id}",
		"userProfile": "userProfile", "aBcDe": "{id}", "aBc": "aBc", "someUserProfile": "someUserProfile", "abCdEf": "{id}",
		strings.Repeat("a", 40): strings.Repeat("a", 40), strings.Repeat("a", 41): "{id}",
		"{x}": "(x)", "ü1": "ü1",
		"2026-06-22": "{day}", "2026-06": "{month}", "2026-W26": "{week}", "2026-06-22T10": "{hour}", "2026-06-22-10": "{hour}",
		"2026-06-22T10:11": "{time}", "2026-06-22 10:11:12": "{time}", "2026-06-22T10:11:12.5": "{time}", "2026-06-22T10:11:12.5+02:00": "{time}",
		"2026-06-22T10:11:12-02:00": "{time}", "2026-06-22T10:11Z": "{time}", "3026-06-22": "{n}-{n}-{n}", "1026-06-22": "{day}", "2026-06-22x": "{id}",
		"2026-06-22T10:11:12+0200": "{time}+{n}",
	} {
		if got := Of([]byte(part)); got != want {
			t.Errorf("%q: got %q, want %q", part, got, want)
		}
	}
}

// Words in lower case behind the first part vary, unless they are a label of what follows.
func TestOfLaterParts(t *testing.T) {
	for key, want := range map[string]string{
		"A#user-7": "A#user-{n}", "A#user-x-7": "A#{id}", "A#user_x_7": "A#{id}", "A#USER-X-77": "A#USER-X-{n}", "A#USER-X-7": "A#USER-X-7", "a#b": "a#{id}", "A#B": "A#B", "A#aB": "A#aB",
		"A#aaB": "A#{id}", "A#20260622": "A#{day}", "A##B": "A##B", "A#": "A#", "#A": "#A", "A|b:C": "A|{id}:C",
		"1#2#3#4#5#6#7#8#9#10":         "{n}#{n}#{n}#{n}#{n}#{n}#{n}#{n}#{n}#{n}",
		"1#2#3#4#5#6#7#8#9#10#11#12#x": "{n}#{n}#{n}#{n}#{n}#{n}#{n}#{n}#{n}#{n}#{id}",
	} {
		if got := Of([]byte(key)); got != want {
			t.Errorf("%q: got %q, want %q", key, got, want)
		}
	}
}

// A placeholder stands for one part at least, and for what its name says.
func TestMatchesByPlace(t *testing.T) {
	for _, test := range []struct {
		shape, key string
		want       bool
	}{
		{"{n}", "1", true},
		{"{n}", "", false},
		{"{n}", "1a", false},
		{"{n}x", "1x", true},
		{"{n}x", "x", false},
		{"{id}x", "axx", false},
		{"{id}-x", "ab-x", true},
		{"{id}-{id}", "a-b", true},
		{"{id}-{id}", "ab", false},
		{"A#{time}#B", "A#2026-06-22T10:11:12Z#B", true},
		{"A#{time}", "A#10|11", false},
		{"A#{time}", "A#10/11", false},
		{"A#{time}", "A#10 11.5+02:00", true},
		{"{email}", "a.b+c@d.e", true},
		{"{email}", "a b", false},
		{"{id}", "a.b", false},
		{"{id}", "a+b", false},
		{"A{id}", "A", false},
		{"{id}B", "AB", true},
		{"{id}#{value}", "a#b", true},
		{"A}", "A}", true},
		{"A{", "A", false},
		{"A#{other}", "A#b", false},
		{"A#{hidden}", "A#b", false},
		{"A#{day}", "A#2026-06-22", true},
		{"A", "B", false},
	} {
		if got := Matches(test.shape, test.key); got != test.want {
			t.Errorf("%q and %q: got %v", test.shape, test.key, got)
		}
	}
}

// A date begins a part, and may be anywhere in a key.
func TestFindDayInTheMiddle(t *testing.T) {
	for text, want := range map[string]string{
		"2026-06-22": "2026-06-22", "A#2026-06-22#2026-06-23": "2026-06-22", "A#3026-06-22 1999-01-02": "1999-01-02", "A-2026-06-22": "", "A#2026-06-2": "", "A#2026-06-22x": "2026-06-22",
	} {
		if got := string(FindDay([]byte(text))); got != want {
			t.Errorf("%q: got %q, want %q", text, got, want)
		}
	}
}

// Leaves follow those that they have become part of, and what they have counted goes with them.
func TestTreeMergesLeaves(t *testing.T) {
	weights := make(map[int32]float64)
	tree := NewTree(func(into, from int32) { weights[into] += weights[from]; delete(weights, from) })
	var leaves []int32
	for _, key := range each(mostWords+1, "%s") {
		leaf := tree.Learn([]byte(key))
		weights[leaf]++
		leaves = append(leaves, leaf)
	}
	for i, leaf := range leaves {
		if got := tree.Leaf(leaf); got != tree.Leaf(leaves[0]) {
			t.Errorf("key %d has leaf %d, the first %d", i, got, tree.Leaf(leaves[0]))
		}
	}
	if got := weights[tree.Leaf(leaves[0])]; got != mostWords+1 || len(weights) != 1 {
		t.Errorf("got %v in %d leaves, want all %d in one", got, len(weights), mostWords+1)
	}
	lower := tree.Learn([]byte("constant"))
	if tree.Leaf(lower) == tree.Leaf(leaves[0]) {
		t.Error("a word in lower case is one of those in capitals")
	}
	if got := learnt(1, each(mostWords, "%s#", "1")...); len(got) != 1 || got[0] != "{id}#{n}" {
		t.Errorf("%d words before a number: got %q", mostWords, got)
	}
}

// Keys that must not be looked at have one leaf, and are a shape of their own.
func TestTreeHidesKeys(t *testing.T) {
	tree := NewTree(func(int32, int32) {})
	hidden := tree.Hidden()
	seen := tree.Learn([]byte("A#1"))
	if tree.Hidden() != hidden || hidden == seen {
		t.Errorf("hidden keys have leaves %d and %d, another %d", hidden, tree.Hidden(), seen)
	}
	got := tree.Shapes(func(int32) float64 { return 1 }, 0)
	if len(got) != 2 || got[0].Text != "A#{n}" || got[1].Text != "{hidden}" || !slices.Equal(got[1].Leaves, []int32{hidden}) || !slices.Equal(got[0].Leaves, []int32{seen}) {
		t.Errorf("got %+v", got)
	}
}

// A tree that is full makes room: words of the widest places become ids, and no key is one of the others.
func TestTreeMakesRoom(t *testing.T) {
	var keys []string
	for _, label := range each(20, "%s#") {
		keys = append(keys, each(25, label+"%s#", "1")...)
	}
	got := learnt(1, append(keys, "LAST#1")...)
	if slices.Contains(got, "{other}") || !slices.Contains(got, "LAST#{n}") || len(got) > 30 {
		t.Errorf("got %q", got)
	}
	const separators = "#|:/.=,;&~+!$%^*?()[]<>"
	var apart []string // by separators alone: there are no words to put together
	for _, a := range separators {
		for _, b := range separators {
			apart = append(apart, string(a)+string(b)+"1")
		}
	}
	deep := learnt(1, apart...)
	if !slices.Contains(deep, "{other}") {
		t.Errorf("%d shapes, and none of the others", len(deep))
	}
}
