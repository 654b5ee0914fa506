package expr

import (
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/heatsink-go/heatsink/internal/attr"
)

// asExpression is each operator as an expression, with @ for the attribute and :0
// and :1 for the values.
var asExpression = map[string]string{
	"EQ": "@ = :0", "NE": "@ <> :0", "LT": "@ < :0", "LE": "@ <= :0", "GT": "@ > :0", "GE": "@ >= :0",
	"BETWEEN": "@ BETWEEN :0 AND :1", "IN": "@ IN (:0, :1)",
	"NULL": "attribute_not_exists(@)", "NOT_NULL": "attribute_exists(@)",
	"BEGINS_WITH": "begins_with(@, :0)", "CONTAINS": "contains(@, :0)",
	"NOT_CONTAINS": "attribute_exists(@) AND NOT contains(@, :0)",
}

// A comparison holds of the items of which the expression holds that says the same.
func TestComparisonsAreExpressions(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		operators := rapid.SliceOfN(rapid.SampledFrom(Operators), 1, 5).Draw(t, "operators")
		any := rapid.Bool().Draw(t, "any")
		join := " AND "
		if any {
			join = " OR "
		}
		var comparisons []Comparison
		var parts []string
		var given []attr.Field
		for i, operator := range operators {
			c := Comparison{Name: someNames.Draw(t, "name"), Operator: operator}
			src := strings.ReplaceAll(asExpression[operator], "@", "#"+c.Name)
			for _, placeholder := range []string{":0", ":1"} {
				if strings.Contains(src, placeholder) {
					v := randomValue(1).Draw(t, "value")
					c.Values = append(c.Values, v)
					name := ":v" + string(rune('a'+i)) + placeholder[1:]
					src = strings.ReplaceAll(src, placeholder, name)
					given = append(given, attr.Field{Name: name, Value: v})
				}
			}
			if c.Check() != nil {
				t.Skip("not a comparison")
			}
			comparisons = append(comparisons, c)
			parts = append(parts, "("+src+")")
		}
		names := map[string]string{"#a": "a", "#b": "b", "#c": "c", "#d": "d"}
		src := strings.Join(parts, join)
		if len(parts) == 1 {
			src = strings.TrimSuffix(strings.TrimPrefix(src, "("), ")")
		}
		want, err := ParseCondition(FilterExpression, src, NewScope(names, attr.NewItem(given...)))
		if err != nil {
			t.Fatalf("%s: %v", src, err)
		}
		it := randomItem(2).Draw(t, "item")
		if got := Compare(comparisons, any); got.Eval(it) != want.Eval(it) {
			t.Fatalf("%v of %s: got %v, but %s is %v", comparisons, show(it), got.Eval(it), src, want.Eval(it))
		}
	})
}

// Thousands of comparisons make no deep tree.
func TestManyComparisons(t *testing.T) {
	many := make([]Comparison, 200_000)
	for i := range many {
		many[i] = Comparison{Name: "a", Operator: "NULL"}
	}
	many[len(many)-1].Operator = "NOT_NULL"
	if Compare(many, false).Eval(nil) || !Compare(many, true).Eval(nil) {
		t.Error("the last of them does not count")
	}
	depth := func(n *node) (d int) {
		for ; n != nil; n = n.first {
			d++
		}
		return d
	}
	if d := depth(Compare(many, false).root); d > 30 {
		t.Errorf("%d comparisons are %d deep", len(many), d)
	}
}

func TestComparisonFaults(t *testing.T) {
	const number = "One or more parameter values were invalid: Invalid number of argument(s) for the "
	one, text, truth := value(1), value("a"), value(true)
	for _, c := range []struct {
		operator string
		values   []attr.Value
		want     string
	}{
		{"EQ", nil, number + "EQ ComparisonOperator"},
		{"EQ", []attr.Value{one, one}, number + "EQ ComparisonOperator"},
		{"EQ", []attr.Value{truth}, ""},
		{"NE", []attr.Value{value(list{})}, ""},
		{"NULL", []attr.Value{one}, number + "NULL ComparisonOperator"},
		{"NOT_NULL", nil, ""},
		{"IN", nil, number + "IN ComparisonOperator"},
		{"IN", []attr.Value{one, one, one}, ""},
		{"IN", []attr.Value{one, text}, string(errSameTypes)},
		{"IN", []attr.Value{truth}, "One or more parameter values were invalid: ComparisonOperator IN is not valid for BOOL AttributeValue type"},
		{"BETWEEN", []attr.Value{one}, number + "BETWEEN ComparisonOperator"},
		{"BETWEEN", []attr.Value{text, text}, ""},
		{"BETWEEN", []attr.Value{value(2), one}, string(errBounds)},
		{"BETWEEN", []attr.Value{truth, truth}, "One or more parameter values were invalid: ComparisonOperator BETWEEN is not valid for BOOL AttributeValue type"},
		{"BEGINS_WITH", []attr.Value{one}, "One or more parameter values were invalid: ComparisonOperator BEGINS_WITH is not valid for N AttributeValue type"},
		{"CONTAINS", []attr.Value{value(set{"a"})}, "One or more parameter values were invalid: ComparisonOperator CONTAINS is not valid for SS AttributeValue type"},
		{"GT", []attr.Value{value(nil)}, "One or more parameter values were invalid: ComparisonOperator GT is not valid for NULL AttributeValue type"},
	} {
		comparison := Comparison{Name: "a", Operator: c.operator, Values: c.values}
		checkFault(t, c.operator, comparison.Check(), c.want)
	}
}

// Key conditions are the same terms, whichever way they are given.
func TestCompareKeys(t *testing.T) {
	hash, ranges := []KeyPart{{"p", attr.S}}, []KeyPart{{"s", attr.N}}
	p := Comparison{Name: "p", Operator: "EQ", Values: []attr.Value{value("a")}}
	for operator, src := range map[string]string{
		"EQ": "s = :one", "LT": "s < :one", "LE": "s <= :one", "GT": "s > :one", "GE": "s >= :one", "BETWEEN": "s BETWEEN :one AND :two",
		"NE": "", "IN": "", "NULL": "", "NOT_NULL": "", "CONTAINS": "", "NOT_CONTAINS": "",
	} {
		s := Comparison{Name: "s", Operator: operator, Values: []attr.Value{value(1), value(2)}}
		_, most := s.arity()
		s.Values = s.Values[:min(most, 2)]
		terms, err := CompareKeys([]Comparison{s, p}).Terms()
		if err != nil {
			t.Fatal(err)
		}
		_, got, err := terms.Match(hash, ranges)
		if src == "" {
			checkFault(t, operator, err, "Attempted conditional constraint is not an indexable operation")
			continue
		}
		if err != nil {
			t.Fatalf("%s: %v", operator, err)
		}
		parsed, err := ParseKeyCondition("p = :a AND "+src, NewScope(nil, item(obj{":a": "a", ":one": 1, ":two": 2})))
		if err != nil {
			t.Fatal(err)
		}
		wanted, err := parsed.Terms()
		if err != nil {
			t.Fatal(err)
		}
		if want := wanted[1]; got[0].Op != want.Op || !got[0].Value.Equal(want.Value) || !got[0].Upper.Equal(want.Upper) {
			t.Errorf("%s: got %v, want %v", operator, got[0], want)
		}
	}
	if _, _, err := (KeyTerms{}).Match(hash, ranges); err == nil {
		t.Error("no conditions are no error")
	}
}
