package expr

import (
	"slices"
	"strconv"
	"testing"

	"pgregory.net/rapid"

	"github.com/heatsink-go/heatsink/internal/attr"
)

// The item that updates are tried on.
func updated() obj {
	return obj{
		"pk": "k", "n": 5, "s": "text", "ss": set{"a", "b"}, "ns": set{1, 2},
		"l": list{1, 2, 3}, "m": obj{"a": 1, "b": obj{"x": "y"}, "ss": set{"a"}, "l": list{"p", "q"}},
	}
}

// with is the item with some attributes changed; gone stands for none.
func with(changes obj) attr.Item {
	it := updated()
	for name, v := range changes {
		if v == gone {
			delete(it, name)
		} else {
			it[name] = v
		}
	}
	return item(it)
}

var gone any = num("gone")

func TestUpdateApply(t *testing.T) {
	m := func(changes obj) obj {
		fields := updated()["m"].(obj)
		for name, v := range changes {
			if v == gone {
				delete(fields, name)
			} else {
				fields[name] = v
			}
		}
		return fields
	}
	for _, group := range []struct {
		about string
		cases map[string]obj
	}{
		{"SET", map[string]obj{
			"SET n = :one":                 {"n": 1},
			"SET new1 = :map":              {"new1": obj{"x": 1}},
			"SET n = s, s = n":             {"n": "text", "s": 5}, // both from the item as it was
			"SET a = :a, b = :b, zz = :he": {"a": "a", "b": "b", "zz": "hé"},
			"SET #dot = :one":              {"m.a": 1},
			"SET a = (n)":                  {"a": 5},
			"REMOVE n SET a = n":           {"a": 5, "n": gone},
			"SET a = m.b.x, c = l[2]":      {"a": "y", "c": 3},
		}},
		{"arithmetic", map[string]obj{
			"SET n = n + :one":                        {"n": 6},
			"SET n = n - :nine":                       {"n": -4},
			"SET n = (n + :one)":                      {"n": 6},
			"SET n = (n)+(:one)":                      {"n": 6},
			"SET n = ((n) - (m.a))":                   {"n": 4},
			"SET a = l[0] + l[1]":                     {"a": 3},
			"SET a = if_not_exists(a, :five) + :one":  {"a": 6},
			"SET a = :one - if_not_exists(n, :nine)":  {"a": -4},
			"SET m.a = m.a + m.a":                     {"m": m(obj{"a": 2})},
			"SET n = n + n, a = n + n, c = n - n":     {"n": 10, "a": 10, "c": 0},
			"SET l[0] = l[1] + l[2], l[1] = l[0] + n": {"l": list{5, 6, 3}},
		}},
		{"if_not_exists and list_append", map[string]obj{
			"SET n = if_not_exists(n, :one)":                         {},
			"SET a = if_not_exists(a, :one)":                         {"a": 1},
			"SET a = if_not_exists(n, :one)":                         {"a": 5},
			"SET a = if_not_exists(b, if_not_exists(c, s))":          {"a": "text"},
			"SET a = if_not_exists(m.nope, m.a)":                     {"a": 1},
			"SET l = list_append(l, :list)":                          {"l": list{1, 2, 3, 1}},
			"SET l = list_append(:list, l)":                          {"l": list{1, 1, 2, 3}},
			"SET l = list_append(l, l)":                              {"l": list{1, 2, 3, 1, 2, 3}},
			"SET a = (list_append(:none, :none))":                    {"a": list{}},
			"SET a = list_append(if_not_exists(a, :none), (:list))":  {"a": list{1}},
			"SET m.l = list_append(m.l, if_not_exists(l[7], :list))": {"m": m(obj{"l": list{"p", "q", 1}})},
		}},
		{"paths", map[string]obj{
			"SET m.a = :two": {"m": m(obj{"a": 2})},
			"SET m.c = :two": {"m": m(obj{"c": 2})},
			"SET m.b.x = :one, m.b.y = :two, m.a = :a": {"m": m(obj{"a": "a", "b": obj{"x": 1, "y": 2}})},
			"SET m.b = m":   {"m": m(obj{"b": m(nil)})},
			"REMOVE m.a":    {"m": m(obj{"a": gone})},
			"REMOVE m.nope": {},
			"REMOVE m.b.x":  {"m": m(obj{"b": obj{}})}, // an empty map stays
			"SET m.l[1] = :a REMOVE m.l[0], m.b ADD n :one": {"m": m(obj{"l": list{"a"}, "b": gone}), "n": 6},
		}},
		{"lists", map[string]obj{
			"SET l[1] = :a":  {"l": list{1, "a", 3}},
			"SET l[10] = :a": {"l": list{1, 2, 3, "a"}},
			"SET l[3] = :a":  {"l": list{1, 2, 3, "a"}},
			"SET l[84] = :a, l[37] = :b, l[5] = :one": {"l": list{1, 2, 3, 1, "b", "a"}}, // in the order of indexes
			"REMOVE l[0]":                                   {"l": list{2, 3}},
			"REMOVE l[0], l[2]":                             {"l": list{2}}, // as they were before
			"REMOVE l[2], l[1], l[0]":                       {"l": list{}},
			"REMOVE l[5]":                                   {},
			"SET l[0] = :b REMOVE l[1]":                     {"l": list{"b", 3}},
			"REMOVE l[0] SET l[2] = :b, l[9] = :a":          {"l": list{2, "b", "a"}},
			"SET l[1] = :map, l[0] = l[2]":                  {"l": list{3, obj{"x": 1}, 3}},
			"ADD l[8] :ss, l[0] :one, l[6] :one":            {"l": list{2, 2, 3, 1, set{"a"}}},
			"SET l[4] = n - l[0] ADD l[3] :two REMOVE l[1]": {"l": list{1, 3, 2, 4}},
		}},
		{"ADD and DELETE", map[string]obj{
			"ADD n :two":                       {"n": 7},
			"ADD a :two":                       {"a": 2},
			"ADD ss :ba":                       {},
			"ADD a :ss":                        {"a": set{"a"}},
			"ADD ns :ns, m.a :one, m.new1 :ns": {"m": m(obj{"a": 2, "new1": set{1}})},
			"DELETE ss :ss":                    {"ss": set{"b"}},
			"DELETE ss :ba":                    {"ss": gone}, // there are no empty sets
			"DELETE m.ss :ss":                  {"m": m(obj{"ss": gone})},
			"DELETE nope :ss":                  {},
			"DELETE m.nope :ss":                {},
			"DELETE l[7] :ss":                  {},
		}},
	} {
		t.Run(group.about, func(t *testing.T) {
			for _, src := range sorted(group.cases) {
				it, want := item(updated()), with(group.cases[src])
				u, err := ParseUpdate(src, scope())
				if err != nil {
					t.Errorf("%s: %v", src, err)
					continue
				}
				got, err := u.Apply(it)
				if err != nil || !got.Equal(want) {
					t.Errorf("%s\n got  %s, %v\n want %s", src, show(got), err, show(want))
				}
				if !it.Equal(item(updated())) {
					t.Errorf("%s changed its item to %s", src, show(it))
				}
			}
		})
	}
}

func TestUpdateApplyToNothing(t *testing.T) {
	u, err := ParseUpdate("SET a = :a ADD n :one, ns :ns DELETE ss :ss REMOVE x", scope())
	if err != nil {
		t.Fatal(err)
	}
	got, err := u.Apply(nil)
	if want := item(obj{"a": "a", "n": 1, "ns": set{1}}); err != nil || !got.Equal(want) {
		t.Errorf("got %s, %v, want %s", show(got), err, show(want))
	}
}

func TestUpdateApplyFaults(t *testing.T) {
	const (
		badPath = "The document path provided in the update expression is invalid for update"
		badType = "An operand in the update expression has an incorrect data type"
		missing = "The provided expression refers to an attribute that does not exist in the item"
	)
	for src, want := range map[string]string{
		"SET nope.a = :one":              badPath,
		"SET nope[0] = :one":             badPath,
		"SET n.a = :one":                 badPath,
		"SET s[0] = :one":                badPath,
		"SET m[0] = :one":                badPath,
		"SET l.a = :one":                 badPath,
		"SET m.nope.a = :one":            badPath,
		"SET l[7].a = :one":              badPath,
		"REMOVE nope.a":                  badPath,
		"REMOVE s[1]":                    badPath,
		"REMOVE m[1] SET a = :one":       badPath,
		"ADD nope.a :one":                badPath,
		"DELETE l.a :ss":                 badPath,
		"SET a = nope":                   missing,
		"SET a = m.nope":                 missing,
		"SET a = nope + :one":            missing,
		"SET a = list_append(nope, l)":   missing,
		"SET a = if_not_exists(b, nope)": missing,
		"SET a = s + :one":               badType,
		"SET a = :one - m":               badType,
		"SET a = list_append(l, n)":      badType,
		"SET a = if_not_exists(s, n)-n":  badType,
		"ADD s :one":                     badType,
		"ADD ss :ns":                     badType,
		"ADD n :ns":                      badType,
		"ADD ns :one":                    badType,
		"DELETE n :ns":                   badType,
		"DELETE ss :ns":                  badType,

		// Of several faults: values of SET in their order, then what the actions meet in theirs.
		"SET a = nope, b = s + :one":                 missing,
		"SET b = s + :one, a = nope":                 badType,
		"SET a = nope REMOVE nope.a":                 missing,
		"REMOVE nope.a SET a = nope":                 missing,
		"SET a = nope, nope.a = :one":                missing,
		"SET l.a = s + :one":                         badType,
		"SET nope.a = s + :one":                      badType,
		"SET nope.a = :one DELETE n :ns":             badPath,
		"DELETE n :ns SET nope.a = :one":             badType,
		"SET a = n + n, n = s + :one REMOVE nope.b":  badType,
		"SET m.a = :one, s = s + n, n = nope + nope": badType,
	} {
		u, err := ParseUpdate(src, scope())
		if err != nil {
			t.Errorf("%s: %v", src, err)
			continue
		}
		_, err = u.Apply(item(updated()))
		checkFault(t, src, err, want)
	}
}

// Sets are what maps make of them, however their elements lie.
func TestUpdateSets(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		draw := func(name string) (set, map[string]bool) {
			elems := rapid.SliceOfNDistinct(rapid.StringMatching("[a-e]{0,2}"), 1, 8, rapid.ID).Draw(t, name)
			s, m := set{}, map[string]bool{}
			for _, e := range elems {
				s, m[e] = append(s, e), true
			}
			return s, m
		}
		old, before := draw("old")
		v, given := draw("v")
		for src, keep := range map[string]func(string) bool{
			"ADD s :v":    func(e string) bool { return before[e] || given[e] },
			"DELETE s :v": func(e string) bool { return before[e] && !given[e] },
		} {
			want := set{}
			for _, e := range slices.Concat(old, v) {
				if keep(e.(string)) {
					want = append(want, e)
				}
			}
			u, err := ParseUpdate(src, NewScope(nil, item(obj{":v": v})))
			if err != nil {
				t.Fatal(err)
			}
			got, err := u.Apply(item(obj{"s": old}))
			if err != nil || got.Get("s").Kind == attr.Invalid != (len(want) == 0) ||
				len(want) > 0 && !got.Get("s").Equal(value(want)) {
				t.Fatalf("%s of %v and %v: got %s, %v", src, old, v, show(got), err)
			}
		}
	})
}

// Large sets take as long as they are large.
func TestUpdateLargeSets(t *testing.T) {
	var even, odd set
	for i := range 60_000 {
		even, odd = append(even, strconv.Itoa(2*i)), append(odd, strconv.Itoa(2*i+1))
	}
	it, s := item(obj{"s": even}), NewScope(nil, item(obj{":odd": odd}))
	for src, want := range map[string]int{"DELETE s :odd": 60_000, "ADD s :odd": 120_000} {
		u, err := ParseUpdate(src, s)
		if err != nil {
			t.Fatal(err)
		}
		got, err := u.Apply(it)
		if n := len(got.Get("s").List); err != nil || n != want {
			t.Errorf("%s: got %d elements, %v, want %d", src, n, err, want)
		}
	}
}

func TestUpdateNumbers(t *testing.T) {
	values := item(obj{
		":big": num("5E125"), ":digits": num("12345678901234567890123456789012345678"), ":tenth": num("0.1"),
		":huge": num("1E50"), ":minus": num("-1E50"), ":tiny": num("2E-130"), ":tinier": num("1.5E-130"),
	})
	for src, want := range map[string]string{
		"SET a = :big + :big":              attr.ErrNumberOverflow.Error(),
		"ADD big :big":                     attr.ErrNumberOverflow.Error(),
		"SET a = :tiny - :tinier":          attr.ErrNumberUnderflow.Error(),
		"SET a = :digits + :tenth":         attr.ErrNumberDigits.Error(),
		"SET a = :huge - :tenth":           attr.ErrNumberOverflow.Error(), // as DynamoDB calls it
		"SET a = :tenth + :minus":          attr.ErrNumberOverflow.Error(),
		"ADD big :tenth":                   attr.ErrNumberOverflow.Error(),
		"SET a = :tenth - :tenth":          "",
		"SET a = :big + :big, b = a":       "The provided expression refers to an attribute that does not exist in the item",
		"SET a = :big + :big, b = big.a+a": "The provided expression refers to an attribute that does not exist in the item",
	} {
		u, err := ParseUpdate(src, NewScope(nil, values))
		if err != nil {
			t.Fatal(err)
		}
		_, err = u.Apply(item(obj{"big": num("9.9E125")}))
		checkFault(t, src, err, want)
	}
}

// UPDATED_OLD and UPDATED_NEW, as recorded from DynamoDB.
func TestUpdateTouched(t *testing.T) {
	it := obj{"p": "k", "a": obj{"b": "dog", "c": list{1, 2, 3}}, "d": "cat"}
	for _, c := range []struct {
		src      string
		old, new obj
	}{
		{"SET d = :a", obj{"d": "cat"}, obj{"d": "a"}},
		{"SET d = d", obj{"d": "cat"}, obj{"d": "cat"}},
		{"SET d = :a, x1 = :b", obj{"d": "cat"}, obj{"d": "a", "x1": "b"}},
		{"SET x1 = :a", obj{}, obj{"x1": "a"}},
		{"REMOVE d", obj{"d": "cat"}, obj{}},
		{"REMOVE d SET e = :a", obj{"d": "cat"}, obj{"e": "a"}},
		{"SET a.b = :a", obj{"a": obj{"b": "dog"}}, obj{"a": obj{"b": "a"}}},
		{"SET a.c[1] = :nine", obj{"a": obj{"c": list{2}}}, obj{"a": obj{"c": list{9}}}},
		{"SET a.c[1] = :nine, a.b = :a", obj{"a": obj{"b": "dog", "c": list{2}}}, obj{"a": obj{"b": "a", "c": list{9}}}},
		{"REMOVE a.c[1], a.c[3]", obj{"a": obj{"c": list{2}}}, obj{"a": obj{"c": list{3}}}},
		{"SET a.x1 = :one", obj{}, obj{"a": obj{"x1": 1}}},
		{"SET a.c[100] = :one", obj{}, obj{}},
		{"REMOVE a.c[2]", obj{"a": obj{"c": list{3}}}, obj{}},
		{"DELETE d2 :ss", obj{}, obj{}},
		{
			"SET a.c[2] = :one, a.c[4] = :two, a.c[9] = :nine ADD a.c[7] :ss",
			obj{"a": obj{"c": list{3}}},
			obj{"a": obj{"c": list{1, set{"a"}}}},
		},
	} {
		u, err := ParseUpdate(c.src, scope())
		if err != nil {
			t.Fatal(err)
		}
		before := item(it)
		after, err := u.Apply(before)
		if err != nil {
			t.Errorf("%s: %v", c.src, err)
			continue
		}
		if got := u.Touched(before); !got.Equal(item(c.old)) {
			t.Errorf("%s: UPDATED_OLD\n got  %s\n want %s", c.src, show(got), show(item(c.old)))
		}
		if got := u.Touched(after); !got.Equal(item(c.new)) {
			t.Errorf("%s: UPDATED_NEW\n got  %s\n want %s", c.src, show(got), show(item(c.new)))
		}
	}
}
