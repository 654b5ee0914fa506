package expr

import (
	"testing"

	"github.com/heatsink-go/heatsink/internal/attr"
)

var parseCases = []struct{ name, src string }{
	{"exists", "attribute_not_exists(pk)"},
	{"equal", "#s = :a"},
	{"typical", "attribute_exists(pk) AND #s = :a AND m.a BETWEEN :one AND :nine"},
}

func BenchmarkParseCondition(b *testing.B) {
	names := map[string]string{"#s": "status"}
	values := item(obj{":a": "a", ":one": 1, ":nine": 9})
	for _, c := range parseCases {
		b.Run(c.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, err := ParseCondition(ConditionExpression, c.src, NewScope(names, values)); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkParseKeyCondition(b *testing.B) {
	values := item(obj{":pk": "a", ":low": 1, ":high": 9})
	b.ReportAllocs()
	for b.Loop() {
		k, err := ParseKeyCondition("pk = :pk AND sk BETWEEN :low AND :high", NewScope(nil, values))
		if err != nil {
			b.Fatal(err)
		}
		if _, err := k.Terms(); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkParseProjection(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		if _, err := ParseProjection("pk, n, m.a, l[0]", NewScope(nil, nil)); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkParseUpdate(b *testing.B) {
	names := map[string]string{"#s": "status"}
	values := item(obj{":a": "a", ":one": 1})
	b.ReportAllocs()
	for b.Loop() {
		if _, err := ParseUpdate("SET #s = :a, m.a = :a ADD n :one", NewScope(names, values)); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkEval(b *testing.B) {
	for _, src := range []string{
		"n = :five", "attribute_not_exists(pk)", "n BETWEEN :one AND :nine AND m.a = :one", "begins_with(s, :he)", "size(s) > :one",
	} {
		b.Run(src, func(b *testing.B) {
			c, err := ParseCondition(FilterExpression, src, scope())
			if err != nil {
				b.Fatal(err)
			}
			b.ReportAllocs()
			for b.Loop() {
				c.Eval(sample)
			}
		})
	}
}

func BenchmarkApply(b *testing.B) {
	for _, src := range []string{"SET n = :five", "ADD n :one", "SET m.a = :a, l[1] = :one REMOVE s"} {
		b.Run(src, func(b *testing.B) {
			u, err := ParseUpdate(src, scope())
			if err != nil {
				b.Fatal(err)
			}
			b.ReportAllocs()
			for b.Loop() {
				if _, err := u.Apply(sample); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// Conditions are tried on every item that a Query or Scan reads.
func TestEvalDoesNotAllocate(t *testing.T) {
	for _, src := range []string{
		"n = :five", "n <> same", "s < :hello", "m.a BETWEEN :one AND :nine", "n IN (:one, :two, :five)", "ss = :ba", "l <> :list",
		"attribute_exists(m.inner_.x) AND NOT attribute_not_exists(l[2])", "begins_with(s, :he) OR contains(ss, :b)",
		"contains(l, :nine) OR contains(s, :b) OR attribute_type(n, :N)",
	} {
		c, err := ParseCondition(FilterExpression, src, scope())
		if err != nil {
			t.Fatal(err)
		}
		if n := testing.AllocsPerRun(100, func() { c.Eval(sample) }); n != 0 {
			t.Errorf("%s: %v allocations", src, n)
		}
	}
}

// Expressions are parsed with every request.
func TestParseAllocatesLittle(t *testing.T) {
	values := attr.NewItem(attr.Field{Name: ":v", Value: attr.String("x")})
	for src, want := range map[string]float64{
		"attribute_not_exists(pk)":         1,
		"a = :v AND b.c = :v":              2, // more than six nodes
		"contains(a, :v) OR NOT (b < c.d)": 3, // and more than four names
	} {
		s := NewScope(nil, values)
		if n := testing.AllocsPerRun(100, func() {
			if _, err := ParseCondition(FilterExpression, src, s); err != nil {
				t.Fatal(err)
			}
		}); n > want {
			t.Errorf("%s: %v allocations, want at most %v", src, n, want)
		}
	}
}
