package partiql

import (
	"fmt"
	"strings"
	"testing"

	"github.com/heatsink-go/heatsink/internal/attr"
	"github.com/heatsink-go/heatsink/internal/expr"
)

var (
	hashKey = expr.KeyPart{Name: "pk", Kind: attr.S}
	sortKey = expr.KeyPart{Name: "sk", Kind: attr.S}
)

// useAll turns a statement into all that it can be.
func useAll(s *Statement) {
	_, _ = s.Where()
	_, _ = s.Projection()
	_, _ = s.Plan(Schema{Hash: hashKey, Sort: &sortKey})
	_, _ = s.Plan(Schema{Hash: hashKey})
	if s.item != nil {
		_, _ = s.Item()
	}
	_, _ = s.Update()
	for _, first := range []bool{true, false} {
		if _, rest, err := s.Target([]expr.KeyPart{hashKey, sortKey}, first); err == nil {
			_, _ = rest.OfExisting("pk")
			_, _ = rest.UnlessMissing("pk")
			_, _ = rest.Alone()
		}
	}
}

// show writes the reads of a plan.
func show(reads []Read) string {
	if len(reads) == 0 {
		return "scan"
	}
	var out []string
	for _, r := range reads {
		text := r.Hash.Value.Str
		if r.Sort != nil {
			text += fmt.Sprintf(" %d%s", r.Sort.Op, r.Sort.Value.Str)
			if r.Sort.Op == expr.Between {
				text += "-" + r.Sort.Upper.Str
			}
		}
		if r.Filter != nil {
			text += " filtered"
		}
		if r.Whole {
			text += " whole"
		}
		out = append(out, text)
	}
	return strings.Join(out, ", ")
}

// The reads that a WHERE clause comes to. Numbers are comparisons of package expr.
func TestPlan(t *testing.T) {
	in := func(n int) string {
		var list []string
		for i := range n {
			list = append(list, fmt.Sprintf("'v%d'", i))
		}
		return "[" + strings.Join(list, ",") + "]"
	}
	for where, want := range map[string]string{
		`a = 1`:                               "scan",
		`pk = 'a'`:                            "a",
		`'a' = pk`:                            "a",
		`pk > 'a'`:                            "scan",
		`pk = 'a' AND sk = 'b'`:               "a 0b",
		`pk = 'a' AND 'b' < sk`:               "a 3b",
		`pk = 'a' AND sk BETWEEN 'b' AND 'c'`: "a 5b-c",
		`pk = 'a' AND begins_with(sk, 'b')`:   "a 6b",
		`pk = 'a' AND x = 1`:                  "a filtered",
		`pk = 'a' AND (x = 1 OR y = 2)`:       "a filtered",
		`pk = 'a' AND (sk = 'b' AND x = 1)`:   "a 0b filtered",
		`pk = 'a' AND sk > 'b' AND sk = 'c'`:  "a 0c filtered",
		`pk = 'a' AND pk = 'a'`:               "a",
		`pk = 'a' AND sk > 'b' AND sk > 'b'`:  "a 3b",
		`pk = 'a' AND sk > 'b' AND sk > 'c'`:  "a 3b filtered",
		`pk = 'a' AND sk > 'b' AND sk >= 'b'`: "a 3b filtered",
		`pk = 'a' AND sk BETWEEN 'b' AND 'c' AND sk BETWEEN 'b' AND 'd'`: "a 5b-c filtered",
		`pk = 'a' AND sk > 'b' AND sk < 'd' OR pk = 'a' AND sk = 'e'`:    "a 3b filtered, a 0e",
		`pk.x = 'a'`:                                            "scan",
		`pk[0] = 'a'`:                                           "scan",
		`pk = 'a' AND sk.x = 'b'`:                               "a filtered",
		`pk = 'a' AND pk = 'b'`:                                 "scan",
		`pk IN ['a', 'b']`:                                      "a, b",
		`pk IN ('a')`:                                           "a",
		`pk IN ['a', 'b'] AND sk IN ['c', 'd']`:                 "a 0c, a 0d, b 0c, b 0d",
		`pk = 'a' OR pk = 'b'`:                                  "a, b",
		`pk = 'a' AND (sk = 'b' OR x = 1)`:                      "a 0b, a filtered",
		`pk = 'a' OR sk = 'b'`:                                  "scan",
		`pk = 'a' OR x = 1`:                                     "scan",
		`pk = 'a' AND (pk = 'b' OR x = 1)`:                      "scan",
		`NOT pk = 'a'`:                                          "scan",
		`pk = 'a' AND NOT sk = 'b'`:                             "a filtered",
		`pk = 'a' AND sk <> 'b'`:                                "a filtered",
		`pk = 'a' AND NOT sk = '1' OR pk = 'a' AND sk = '2'`:    "a filtered whole",
		`pk = 'a' OR pk = 'a' AND NOT sk = '1'`:                 "a filtered whole",
		`pk IN ` + in(51) + ` OR x = 1`:                         "scan",
		`pk IN ` + in(60) + ` OR pk IN ` + in(60) + ` OR x = 1`: "scan",
		`pk = x`:                       "scan",
		`pk = size(x)`:                 "scan",
		`pk IN ` + in(51):              "Too many decomposed read operations for a given query.",
		`pk = 'a' AND sk IN ` + in(51): "Too many decomposed read operations for a given query.",
		`pk IN ` + in(26) + ` AND sk IN ['1','2']`: "Too many decomposed read operations for a given query.",
		`pk = 1`:                            "Key attribute's data type should match its data type in table's schema: Key pk",
		`pk = 1 OR pk = 'a'`:                "Key attribute's data type should match its data type in table's schema: Key pk",
		`pk = 'a' AND sk BETWEEN '1' AND 2`: "Key attribute's data type should match its data type in table's schema: Key sk",
		`pk = 'a' AND sk IN ['1', 2]`:       "Key attribute's data type should match its data type in table's schema: Key sk",
	} {
		s, err := Parse("SELECT * FROM t WHERE " + where)
		if err != nil {
			t.Errorf("%s: %v", where, err)
			continue
		}
		reads, err := s.Plan(Schema{Hash: hashKey, Sort: &sortKey})
		got := show(reads)
		if err != nil {
			got = err.Error()
		}
		if got != want {
			t.Errorf("%s: got %s, want %s", where, got, want)
		}
	}
}

// Alternatives multiply. No more of them are made than it takes to see that there are too many.
func TestAlternativesAreBounded(t *testing.T) {
	for _, where := range []string{
		"pk = 'a'" + strings.Repeat(" AND (sk = '1' OR sk = '2')", 12),
		"pk = 'a' AND (sk = '1'" + strings.Repeat(" OR sk = '2'", 500) + ")",
		"pk IN ['a'" + strings.Repeat(", 'b'", 60) + "] AND sk IN ['a'" + strings.Repeat(", 'b'", 60) + "]",
	} {
		s, err := Parse("SELECT * FROM t WHERE " + where)
		if err != nil {
			t.Fatal(err)
		}
		p := planner{schema: Schema{Hash: hashKey, Sort: &sortKey}}
		if n := len(p.expand(s.where)); n != 2*maxReads {
			t.Errorf("%.50s…: %d alternatives, want %d", where, n, 2*maxReads)
		}
		if _, err := s.Plan(p.schema); err == nil || err.Error() != "Too many decomposed read operations for a given query." {
			t.Errorf("%.50s…: got %v", where, err)
		}
	}
}
