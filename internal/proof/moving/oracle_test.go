package main

import "testing"

// The oracle accepts what one item may answer, and counts everything else.
func TestOracle(t *testing.T) {
	a, b := name{"k", "a"}, name{"k", "b"}
	for title, test := range map[string]struct {
		do   func(o *oracle, a, b *cell)
		want faults
	}{
		"a read of what is there":              {func(o *oracle, a, b *cell) { o.saw(o.read(a), 1) }, faults{}},
		"a read that misses it":                {func(o *oracle, a, b *cell) { o.saw(o.read(a), 0) }, faults{Lost: 1}},
		"a read of something else":             {func(o *oracle, a, b *cell) { o.saw(o.read(a), 7) }, faults{Stale: 1}},
		"a read of what is not there":          {func(o *oracle, a, b *cell) { o.saw(o.read(b), 7) }, faults{Stale: 1}},
		"either side of a write":               {func(o *oracle, a, b *cell) { r, s := o.read(a), o.read(a); o.begin(a, 2); o.saw(r, 1); o.saw(s, 2) }, faults{}},
		"a read behind a write shows what was": {func(o *oracle, a, b *cell) { o.begin(a, 2); o.end(a, done); o.saw(o.read(a), 1) }, faults{Stale: 1}},
		"a write that was refused":             {func(o *oracle, a, b *cell) { o.begin(a, 2); o.end(a, refused); o.saw(o.read(a), 2) }, faults{Stale: 1}},
		"a delete that is undone":              {func(o *oracle, a, b *cell) { o.begin(a, 0); o.end(a, done); o.saw(o.read(a), 1) }, faults{Stale: 1}},
		"a lost answer": {func(o *oracle, a, b *cell) {
			o.begin(a, 2)
			o.end(a, unknown)
			o.saw(o.read(a), 1)
			o.saw(o.read(a), 2)
		}, faults{}},
		"a lost answer that its writer has seen": {func(o *oracle, a, b *cell) {
			o.begin(a, 2)
			o.end(a, unknown)
			o.saw(o.read(a), 2)
			o.settle(a, 2)
			o.saw(o.read(a), 1)
		}, faults{Stale: 1}},
		"a list of everything":     {func(o *oracle, a, b *cell) { o.whole("k", []shown{{"a", 1}}) }, faults{}},
		"a list with an id twice":  {func(o *oracle, a, b *cell) { o.whole("k", []shown{{"a", 1}, {"a", 1}}) }, faults{Doubled: 1}},
		"a list that misses an id": {func(o *oracle, a, b *cell) { o.whole("k", nil) }, faults{Lost: 1}},
		"a list with one too many": {func(o *oracle, a, b *cell) { o.whole("k", []shown{{"a", 1}, {"b", 1}}) }, faults{Stale: 1}},
		"a list during a write": {func(o *oracle, a, b *cell) {
			s := o.survey("k")
			o.begin(b, 3)
			o.end(b, done)
			o.listed(s, []shown{{"a", 1}})
		}, faults{}},
		"a list behind a write": {func(o *oracle, a, b *cell) { o.begin(b, 3); o.end(b, done); o.listed(o.survey("k"), []shown{{"a", 1}}) }, faults{Lost: 1}},
		"an id that is appended while the list is read": {func(o *oracle, a, b *cell) {
			s := o.survey("k")
			o.add(name{"k", "c"}, 1)
			o.listed(s, []shown{{"a", 1}})
		}, faults{}},
		"an id that was appended before": {func(o *oracle, a, b *cell) { o.add(name{"k", "c"}, 1); o.listed(o.survey("k"), []shown{{"a", 1}}) }, faults{Lost: 1}},
	} {
		o := newOracle()
		test.do(o, o.add(a, 1), o.add(b, 0))
		got := o.faults
		if got.First = ""; got != test.want {
			t.Errorf("%s: got %+v, want %+v: %s", title, got, test.want, o.faults.First)
		}
	}
	for title, test := range map[string]struct {
		first, second []shown
		want          faults
	}{
		"both have it":         {[]shown{{"a", 2}}, []shown{{"a", 2}}, faults{}},
		"it is missing once":   {nil, []shown{{"a", 2}}, faults{}},
		"it is missing twice":  {nil, nil, faults{Lost: 1}},
		"it is there twice":    {[]shown{{"a", 2}, {"a", 2}}, []shown{{"a", 2}}, faults{Doubled: 1}},
		"one that is unwanted": {[]shown{{"a", 2}, {"b", 3}}, []shown{{"a", 2}}, faults{Stale: 1}},
	} {
		o := newOracle()
		o.add(a, 2)
		o.add(b, 3)
		even := func(v int) bool { return v%2 == 0 }
		missing := o.listedIf(o.survey("k"), test.first, even, nil)
		o.listedIf(o.survey("k"), test.second, even, missing)
		got := o.faults
		if got.First = ""; got != test.want {
			t.Errorf("%s: got %+v, want %+v: %s", title, got, test.want, o.faults.First)
		}
	}
	o := newOracle()
	if c := o.add(a, 1); !o.claim(c) || o.claim(c) {
		t.Error("an id has no writer, or two")
	}
	if n := o.whole("k", []shown{{"a", 1}, {"x", 1}}); n != 1 {
		t.Errorf("%d strangers, want 1", n)
	}
}
