package shape

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

func TestOf(t *testing.T) {
	for key, want := range map[string]string{
		"THREAT#brand-abc#2026-06":        "THREAT#{id}#{month}",
		"THREAT#brand-abc-123":            "THREAT#{id}",
		"OPS_LOG":                         "OPS_LOG",
		"OPS_LOG#2026-06-22":              "OPS_LOG#{day}",
		"BRAND_INDEX":                     "BRAND_INDEX",
		"STATUS#ACTIVE":                   "STATUS#ACTIVE",
		"STATUS#ACTIVE#SHARD#7":           "STATUS#ACTIVE#SHARD#{n}",
		"PAGE_VIEWS#SHARD_7":              "PAGE_VIEWS#SHARD_{n}",
		"user-12345":                      "user-{n}",
		"user_8f3a91":                     "user_{id}",
		"user123":                         "user{n}",
		"user-12345#2024-01-15#3":         "user-{n}#{day}#{n}",
		"HOUR#2024-12-02T15#SHARD#4":      "HOUR#{hour}#SHARD#{n}",
		"2014-07-09.200":                  "{day}.{n}",
		"POST#viral":                      "POST#{id}",
		"COUNTER#GLOBAL":                  "COUNTER#GLOBAL",
		"REGION#us-east-1":                "REGION#{id}",
		"us-east-1":                       "us-east-1",
		"INV-2026-000123":                 "INV-{n}-{n}",
		"ITEM#01ARZ3NDEKTSV4RRFFQ69G5FAV": "ITEM#{id}",
		"DOC#V1StGXR8_Z5jdHi6B-myT":       "DOC#{id}",
		"LINK#kXdJqRbTzQw":                "LINK#{id}",
		"USER#7c9e6679-7425-40de-944b-e07fc1f90ae7": "USER#{uuid}",
		"MAIL#jo.doe+x@example.com":                 "MAIL#{email}",
		"LOG#2024-12-02T15:04:05.123Z#a1b2":         "LOG#{time}#{id}",
		"LOG#2024-12-02T15:04:05+02:00":             "LOG#{time}",
		"WEEK#2024-W49":                             "WEEK#{week}",
		"SHA#9f86d081884c7d659a2feaa0":              "SHA#{hex}",
		"tenant/42/orders":                          "tenant/{n}/{id}",
		"9999-99":                                   "{n}-{n}",
		"#":                                         "#",
		"KÖLN":                                      "KÖLN",
		"":                                          "",
		"RATE_LIMIT#key:2024-12-02-15":              "RATE_LIMIT#{id}:{hour}",
		"leaderboard#game-1#0":                      "leaderboard#game-{n}#{n}",
		"arn:aws:s3:::bucket":                       "arn:{id}:{id}:::{id}",
		"x" + string(make([]byte, 100)):             "{id}",
		"{a}#1":                                     "(a)#{n}",
		"ORDER#2024-12-02#7c9e6679-7425-40de-944b-e0": "ORDER#{day}#{id}",
		"a#b#c#d#e#f#g#h#i#j#k#l":                     "a#{id}#{id}#{id}#{id}#{id}#{id}#{id}#{id}#{id}#{id}",
	} {
		if got := Of([]byte(key)); got != want {
			t.Errorf("%q has shape %q, want %q", key, got, want)
		}
	}
}

// learnt returns the shapes of keys, each seen so often.
func learnt(times float64, keys ...string) []string {
	weights := make(map[int32]float64)
	tree := NewTree(func(into, from int32) { weights[into] += weights[from] })
	for _, key := range keys {
		weights[tree.Learn([]byte(key))] += times
	}
	var all []string
	for _, s := range tree.Shapes(func(leaf int32) float64 { return weights[leaf] }, 100) {
		all = append(all, s.Text)
	}
	return all
}

// made returns keys from a format and a generator.
func made(n int, format string, parts ...func(r *rand.Rand) any) []string {
	r := rand.New(rand.NewPCG(7, 11))
	var all []string
	for range n {
		var args []any
		for _, part := range parts {
			args = append(args, part(r))
		}
		all = append(all, fmt.Sprintf(format, args...))
	}
	return all
}

func letters(n int) func(*rand.Rand) any {
	return func(r *rand.Rand) any {
		text := make([]byte, n)
		for i := range text {
			text[i] = byte('a' + r.IntN(26))
		}
		return string(text)
	}
}

func number(most int) func(*rand.Rand) any { return func(r *rand.Rand) any { return r.IntN(most) } }

func hexText(n int) func(*rand.Rand) any {
	return func(r *rand.Rand) any {
		text := make([]byte, n)
		for i := range text {
			text[i] = "0123456789abcdef"[r.IntN(16)]
		}
		return string(text)
	}
}

func oneOf(words ...string) func(*rand.Rand) any {
	return func(r *rand.Rand) any { return words[r.IntN(len(words))] }
}

// Ids as people write them are one shape, whatever they look like and however few they are.
func TestTreeLearnsIDs(t *testing.T) {
	for _, test := range []struct {
		keys []string
		want string
	}{
		{made(3, "THREAT#brand-%s-%d", letters(3), number(900)), "THREAT#{id}"},
		{made(13, "THREAT#brand-%s-%d", letters(3), number(900)), "THREAT#{id}"},
		{made(41, "THREAT#brand-%s-%d", letters(3), number(900)), "THREAT#{id}"},
		{made(13, "THREAT#brand-%s-%d#2026-06", letters(3), number(900)), "THREAT#{id}#{month}"},
		{made(200, "user_%s", hexText(8)), "user_{id}"},
		{append(made(200, "user_%s", hexText(8)), "user_12345678", "user_12345679", "user_12345670", "user_facefeed"), "user_{id}"},
		{made(300, "USER#%s", hexText(8)), "USER#{id}"},
		{made(300, "USER#%s", hexText(4)), "USER#{id}"},
		{made(50, "TX#%s", hexText(32)), "TX#{hex}"},
		{made(50, "INVOICE#%d-%d", number(100), number(1000)), "INVOICE#{n}-{n}"},
		{made(50, "INV-%d-%06d", number(100), number(1000)), "INV-{n}-{n}"},
		{made(40, "%s#ORDERS", letters(6)), "{id}#ORDERS"},
		{made(6, "%s#ORDERS", letters(6)), "{id}#ORDERS"},
		{made(9, "ORG#%s#USER#%d", letters(6), number(1000)), "ORG#{id}#USER#{n}"},
		{made(40, "%s", letters(7)), "{id}"},
		{made(300, "CUSTOMER#%s", oneOf("ACME", "GLOBEX", "INITECH", "UMBRELLA", "HOOLI", "STARK", "WAYNE", "WONKA", "TYRELL",
			"CYBERDYNE", "OSCORP", "SOYLENT", "DUFF", "VEHEMENT", "MASSIVE", "GEKKO", "BLUTH", "VANDELAY", "DUNDER")), "CUSTOMER#{id}"},
	} {
		if got := learnt(5, test.keys...); len(got) != 1 || got[0] != test.want {
			t.Errorf("%q…: got %q, want %q", test.keys[0], got, test.want)
		}
	}
}

// A few words in one place are a small set, one word is a constant, and words before something that varies are labels.
func TestTreeLearnsWords(t *testing.T) {
	for _, test := range []struct {
		name  string
		times float64
		keys  []string
		want  string
	}{
		{"a set", 1, []string{"STATUS#ACTIVE", "STATUS#BANNED", "STATUS#NEW"}, "STATUS#{value}"},
		{"a set in lower case", 100, []string{"status#active", "status#banned", "status#new"}, "status#{value}"},
		{"seen too little to tell", 1, []string{"status#active", "status#banned", "status#new"}, "status#{id}"},
		{"regions", 100, []string{"REGION#us-east-1", "REGION#eu-west-1", "REGION#ap-south-1"}, "REGION#{value}"},
		{"nothing but a status", 100, []string{"ACTIVE", "BANNED", "NEW"}, "{value}"},
		{"a set before a time", 100, []string{"LOG#ERROR#2026-06-22", "LOG#INFO#2026-06-22", "LOG#INFO#2026-06-23"}, "LOG#{value}#{day}"},
		{
			"constants beside others", 100,
			append(made(13, "THREAT#brand-%s-%d", letters(3), number(900)), "OPS_LOG", "BRAND_INDEX"),
			"BRAND_INDEX OPS_LOG THREAT#{id}",
		},
		{
			"labels", 1, slices.Concat(made(20, "USER#%d", number(1000)), made(20, "ORDER#%d", number(1000)), made(20, "ORG#%s#USER#%d", letters(5), number(90)),
				made(20, "ORG#%s#PROJECT#%d", letters(5), number(90))),
			"ORDER#{n} ORG#{id}#PROJECT#{n} ORG#{id}#USER#{n} USER#{n}",
		},
		{"labels with a joint", 1, slices.Concat(made(20, "user_profile_%d", number(1000)), made(20, "blog-post-%d", number(1000))), "blog-post-{n} user_profile_{n}"},
		{
			"labels in labels", 1, slices.Concat(made(20, "user_%d", number(900)), made(20, "user_profile_%d", number(900)), []string{"user_profile_old_77", "user_index"}),
			"user_index user_profile_{id} user_{n}",
		},
		{"a name among ids", 1, append(made(40, "POST#%d", number(1000)), "POST#viral"), "POST#{id}"},
		{"a word among ids", 1, append(made(40, "POST#%d", number(1000)), "POST#LATEST"), "POST#LATEST POST#{n}"},
		{"a constant in lower case", 100, []string{"LOG#errors"}, "LOG#errors"},
		{"days without hyphens", 1, []string{"EVT#20260621", "EVT#20260622"}, "EVT#{day}"},
		{"a number that looks like a day", 1, append(made(40, "EVT#%08d", number(1000)), "EVT#20260622"), "EVT#{n}"},
		{"a constant among many names", 1, append(made(90, "LOCK#%s", letters(7)), "LOCK#LEADER"), "LOCK#LEADER LOCK#{id}"},
		{"few names of two words", 100, made(5, "%s %s", letters(5), letters(6)), "{id} {id}"},
		{"few places", 100, made(5, "HOTEL#%s-%s#2026-06-22", letters(5), letters(6)), "HOTEL#{id}#{day}"},
		{"random letters", 1, []string{"BrIscYl", "gHegwmV", "Zd3Upvn", "zdEUpvn"}, "{id}"},
		{"one name", 1, []string{"POST#viral"}, "POST#{id}"},
		{"shards", 1, []string{"VIEWS#SHARD_0", "VIEWS#SHARD_1", "VIEWS#SHARD_2"}, "VIEWS#SHARD_{n}"},
		{"one shard", 1, []string{"VIEWS#SHARD_3"}, "VIEWS#SHARD_{n}"},
		{"separators alone", 1, []string{"#", "##"}, "# ##"},
	} {
		if got := strings.Join(learnt(test.times, test.keys...), " "); got != test.want {
			t.Errorf("%s: got %q, want %q", test.name, got, test.want)
		}
	}
}

// The values of a set have a leaf each.
func TestTreeTellsValues(t *testing.T) {
	tree := NewTree(func(int32, int32) {})
	leaves := map[string]int32{}
	for _, word := range []string{"NEW", "ACTIVE"} {
		leaves[word] = tree.Learn([]byte("STATUS#" + word))
	}
	shapes := tree.Shapes(func(int32) float64 { return 1 }, 0)
	want := []Value{{"ACTIVE", leaves["ACTIVE"]}, {"NEW", leaves["NEW"]}}
	if len(shapes) != 1 || !slices.Equal(shapes[0].Values, want) {
		t.Errorf("got %+v, want %+v", shapes, want)
	}
}

// Whatever the keys are, the tree is bounded, no key is lost, and every leaf is in one shape.
func TestTreeIsBounded(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 5))
	for name, key := range map[string]func(i int) string{
		"words":      func(int) string { return letters(6)(r).(string) },
		"pairs":      func(int) string { return fmt.Sprint(letters(2)(r), "#", letters(2)(r)) },
		"deep":       func(int) string { return strings.Repeat(fmt.Sprint(letters(1)(r), "/"), 1+r.IntN(12)) },
		"prefixes":   func(i int) string { return fmt.Sprint(letters(4)(r), "-", i) },
		"separators": func(i int) string { return strings.Repeat("#", 1+i%300) + "x" },
		"bytes":      func(int) string { return string([]byte{byte(r.Uint32()), byte(r.Uint32()), byte(r.Uint32())}) },
	} {
		counts := make(map[int32]int)
		tree := NewTree(func(into, from int32) { counts[into] += counts[from]; delete(counts, from) })
		const keys = 20_000
		for i := range keys {
			counts[tree.Learn([]byte(key(i)))]++
		}
		if tree.nodes > mostNodes || len(tree.forward) > mostLeaves {
			t.Errorf("%s: %d nodes and %d leaves", name, tree.nodes, len(tree.forward))
		}
		sum, found := 0, make(map[int32]bool)
		for _, s := range tree.Shapes(func(leaf int32) float64 { return float64(counts[leaf]) }, 0) {
			for _, leaf := range s.Leaves {
				if found[leaf] || tree.Leaf(leaf) != leaf {
					t.Errorf("%s: leaf %d is in two shapes, or is no more", name, leaf)
				}
				found[leaf] = true
				sum += counts[leaf]
			}
		}
		if sum != keys {
			t.Errorf("%s: %d keys in shapes, want %d", name, sum, keys)
		}
	}
}

func TestMatches(t *testing.T) {
	for _, test := range []struct {
		shape, key string
		want       bool
	}{
		{"TENANT#{id}", "TENANT#ACME", true},
		{"TENANT#{id}", "TENANT#", false},
		{"TENANT#{id}", "TENANT#a#b", false},
		{"TENANT#{id}", "USER#a", false},
		{"USER#{n}", "USER#12", true},
		{"USER#{n}", "USER#x", false},
		{"LOG#{time}", "LOG#2024-12-02T15:04:05Z", true},
		{"LOG#{day}#{n}", "LOG#2024-12-02#7", true},
		{"user_{id}", "user_8f3a", true},
		{"MAIL#{email}", "MAIL#jo.doe@example.com", true},
		{"{other}", "x", false},
		{"{hidden}", "x", false},
		{"a{b", "a{b", true},
		{"", "", true},
	} {
		if got := Matches(test.shape, test.key); got != test.want {
			t.Errorf("%q and %q: got %v", test.shape, test.key, got)
		}
	}
}

func TestFindDay(t *testing.T) {
	for text, want := range map[string]string{"ALERT#2026-06-22T01:00:00Z": "2026-06-22", "x2026-06-22": "", "2026-06": "", "": ""} {
		if got := string(FindDay([]byte(text))); got != want {
			t.Errorf("%q: got %q, want %q", text, got, want)
		}
	}
}

func FuzzTree(f *testing.F) {
	f.Add([]byte("THREAT#brand-abc-123"), []byte("2024-12-02T15:04:05.Z"))
	f.Add([]byte("a#{b}"), []byte("a#c"))
	f.Fuzz(func(t *testing.T, a, b []byte) {
		if len(a) > 0 != (Of(a) != "") {
			t.Errorf("%q has shape %q", a, Of(a))
		}
		tree := NewTree(func(int32, int32) {})
		for _, key := range [][]byte{a, b, a} {
			tree.Learn(key)
		}
		if first, again := tree.Learn(a), tree.Learn(a); first != again {
			t.Errorf("%q has two leaves", a)
		}
		Matches(string(a), string(b))
		if len(tree.Shapes(func(int32) float64 { return 1 }, 0)) == 0 {
			t.Errorf("no shapes of %q and %q", a, b)
		}
	})
}
