package expr

import "testing"

func TestProjectionApply(t *testing.T) {
	it := item(obj{
		"pk": "k", "n": 5, "s": "text", "ss": set{"a", "b"},
		"l": list{1, 2, 3}, "m": obj{"a": 1, "b": obj{"x": "y", "z": 0}}, "e": obj{}, "m.a": "dotted",
		"ll": list{list{1, 2}, obj{"p": 1, "q": 2}, obj{"p": 3}},
	})
	for src, want := range map[string]obj{
		"n":                        {"n": 5},
		"s, n":                     {"n": 5, "s": "text"},
		"#n,ss":                    {"n": 5, "ss": set{"a", "b"}},
		"nope":                     {},
		"nope, n":                  {"n": 5},
		"m":                        {"m": obj{"a": 1, "b": obj{"x": "y", "z": 0}}},
		"m.a":                      {"m": obj{"a": 1}},
		"#m.#a":                    {"m": obj{"a": 1}},
		"#dot":                     {"m.a": "dotted"},
		"m.b.x, m.a":               {"m": obj{"a": 1, "b": obj{"x": "y"}}},
		"m.nope":                   {}, // no empty map either
		"m.b.nope, n":              {"n": 5},
		"m.a.b":                    {},
		"m[0]":                     {},
		"e":                        {"e": obj{}},
		"l[0]":                     {"l": list{1}},
		"l[2], l[0]":               {"l": list{1, 3}}, // in the list's order
		"l[1], l[7]":               {"l": list{2}},
		"l[7]":                     {},
		"l.a":                      {},
		"n[0]":                     {},
		"n.a":                      {},
		"ll[1].q, ll[0][1]":        {"ll": list{list{2}, obj{"q": 2}}},
		"ll[1].q, ll[1].p":         {"ll": list{obj{"p": 1, "q": 2}}}, // one element, not two
		"ll[2].q, ll[2].nope, s":   {"s": "text"},
		"ll[1].q, n, ll[2].p, m.a": {"ll": list{obj{"q": 2}, obj{"p": 3}}, "m": obj{"a": 1}, "n": 5},
	} {
		p, err := ParseProjection(src, scope())
		if err != nil {
			t.Errorf("%s: %v", src, err)
			continue
		}
		before := show(it)
		if got := p.Apply(it); !got.Equal(item(want)) {
			t.Errorf("%s\n got  %s\n want %s", src, show(got), show(item(want)))
		}
		if after := show(it); after != before {
			t.Errorf("%s changed the item to %s", src, after)
		}
		if got := p.Apply(nil); len(got) != 0 {
			t.Errorf("%s of nothing is %s", src, show(got))
		}
	}
}

func TestProjectionFaults(t *testing.T) {
	const overlap = "Two document paths overlap with each other; must remove or rewrite one of these paths; "
	const conflict = "Two document paths conflict with each other; must remove or rewrite one of these paths; "
	for src, want := range map[string]string{
		"":                   "The expression can not be empty;",
		"!!! INVALID !!!":    `Syntax error; token: "!", near: "!!"`,
		"n,":                 `Syntax error; token: "<EOF>", near: ","`,
		"a,,b":               `Syntax error; token: ",", near: ",,b"`,
		"a b":                `Syntax error; token: "b", near: "a b"`,
		"(a)":                `Syntax error; token: "(", near: "(a"`,
		":a":                 `Syntax error; token: ":a", near: ":a"`,
		"a[b]":               `Syntax error; token: "b", near: "[b]"`,
		"whatever(stuff)":    `Syntax error; token: "(", near: "whatever(stuff"`,
		"a-b":                `Syntax error; token: "-", near: "a-b"`,
		"#a AND":             `Syntax error; token: "AND", near: "#a AND"`,
		"a.abORt":            "Attribute name is a reserved keyword; reserved keyword: abORt",
		"#nope,ABSoLUTE":     "Attribute name is a reserved keyword; reserved keyword: ABSoLUTE",
		"l[4294967295]":      "List index is not within the allowable range; index: [4294967295]",
		"a,b,a,#nope":        "An expression attribute name used in the document path is not defined; attribute name: #nope",
		"n, n":               overlap + "path one: [n], path two: [n]",
		"#a, a":              overlap + "path one: [a], path two: [a]",
		"m.inr, m.inr.x":     overlap + "path one: [m, inr], path two: [m, inr, x]",
		"b[1], b.a, #a.b,a":  overlap + "path one: [a, b], path two: [a]",
		"a, #a[1]":           overlap + "path one: [a], path two: [a, [1]]",
		"l[0], l.x":          conflict + "path one: [l, [0]], path two: [l, x]",
		"a.b, #a[1], n":      conflict + "path one: [a, b], path two: [a, [1]]",
		"a[3].b, a.#index.b": conflict + "path one: [a, [3], b], path two: [a, [3], b]",
	} {
		_, err := ParseProjection(src, scope())
		checkFault(t, src, err, "Invalid ProjectionExpression: "+want)
	}
}

func TestProjectionAttributes(t *testing.T) {
	p, err := ParseProjection("s, m.b, #n, l[1], m.a", scope())
	if err != nil {
		t.Fatal(err)
	}
	checkAttributes(t, "s, m.b, #n, l[1], m.a", p.TopLevelAttributes(), "l* m* m* n s")
}
