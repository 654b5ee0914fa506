package expr

import (
	"strconv"
	"strings"
	"testing"

	"github.com/heatsink-go/heatsink/internal/attr"
)

func TestScopeValidate(t *testing.T) {
	long := strings.Repeat("x", maxPlaceholder)
	for _, c := range []struct {
		about  string
		names  map[string]string
		values attr.Item
		want   string
	}{
		{"neither", nil, nil, ""},
		{"both", map[string]string{"#a": "a", "#1": "b", "#_": "c", "#a_B9": "status"}, item(obj{":a": 1, ":0": 2, ":_": 3}), ""},
		{"empty names", map[string]string{}, attr.Item{}, "ExpressionAttributeNames must not be empty"},
		{"empty values", nil, attr.Item{}, "ExpressionAttributeValues must not be empty"},
		{"a name without #", map[string]string{"a": "a"}, attr.Item{}, `ExpressionAttributeNames contains invalid key: Syntax error; key: "a"`},
		{"a # alone", map[string]string{"#": "a"}, nil, `ExpressionAttributeNames contains invalid key: Syntax error; key: "#"`},
		{"a dash", map[string]string{"#a-b": "a"}, nil, `ExpressionAttributeNames contains invalid key: Syntax error; key: "#a-b"`},
		{"a value without colon", nil, item(obj{"a": 1}), `ExpressionAttributeValues contains invalid key: Syntax error; key: "a"`},
		{"a value with #", nil, item(obj{"#a": 1}), `ExpressionAttributeValues contains invalid key: Syntax error; key: "#a"`},
		{
			"a long name",
			map[string]string{"#" + long: "a"},
			nil,
			"ExpressionAttributeNames contains invalid key: The expression attribute map contains a key that is too long; size of key: 256",
		},
		{
			"a long value", nil, item(obj{":" + long: 1}),
			"ExpressionAttributeValues contains invalid key: The expression attribute map contains a key that is too long;",
		},
		{"as long as can be", map[string]string{"#" + long[1:]: "a"}, item(obj{":" + long[1:]: 1}), ""},
		{
			"a name for nothing",
			map[string]string{"#n": ""},
			nil,
			"ExpressionAttributeNames contains invalid value: Empty attribute name for key #n",
		},
	} {
		t.Run(c.about, func(t *testing.T) {
			checkFault(t, c.about, NewScope(c.names, c.values).Validate(), c.want)
		})
	}
}

func TestScopeUnused(t *testing.T) {
	many := obj{}
	for name := range strings.FieldsSeq(":v0 :v1 :v2 :v3 :v4 :v5 :v6 :v7 :v8 :v9 :v10 :v11 :v12 :v13 :v14") {
		many[name] = 1
	}
	const names = "Value provided in ExpressionAttributeNames unused in expressions: keys: "
	const values = "Value provided in ExpressionAttributeValues unused in expressions: keys: "
	for _, c := range []struct {
		about  string
		src    string
		names  map[string]string
		values attr.Item
		want   string
	}{
		{"all used", "#a = :a OR #a = :b", map[string]string{"#a": "x"}, item(obj{":a": 1, ":b": 2}), ""},
		{"nothing to use", "a = b", nil, nil, ""},
		{"a name", "a = :a", map[string]string{"#u": "x"}, item(obj{":a": 1}), names + "{#u}"},
		{"names before values", "a = b", map[string]string{"#u": "x"}, item(obj{":a": 1}), names + "{#u}"},
		{"a value", "#a = :a", map[string]string{"#a": "x"}, item(obj{":a": 1, ":u": 1}), values + "{:u}"},
		{"no value used", "a = b", nil, item(obj{":u": 1}), values + "{:u}"},
		// The order of a Java HashSet.
		{"some names", "a = :a", map[string]string{"#a": "x", "#b": "y", "#c": "z"}, item(obj{":a": 1}), names + "{#c, #a, #b}"},
		{"some values", "a = :a", nil, item(obj{":a": 1, ":b": 1, ":c": 1, ":aa": 1}), values + "{:b, :c, :aa}"},
		{
			"many values", "a = :v0", nil, item(many),
			values + "{:v11, :v12, :v13, :v14, :v10, :v1, :v2, :v3, :v4, :v5, :v6, :v7, :v8, :v9}",
		},
	} {
		t.Run(c.about, func(t *testing.T) {
			s := NewScope(c.names, c.values)
			if _, err := ParseCondition(FilterExpression, c.src, s); err != nil {
				t.Fatal(err)
			}
			checkFault(t, c.src, s.Unused(), c.want)
		})
	}
}

// BenchmarkScopeUnused must not depend on how many names were used.
func BenchmarkScopeUnused(b *testing.B) {
	names := map[string]string{}
	for i := range 100_000 {
		names["#"+strconv.FormatInt(int64(i+36*36*36), 36)] = "x"
	}
	var list []string
	for _, key := range sorted(names)[:600] {
		list = append(list, key)
		names[key] = key
	}
	for name, src := range map[string]string{"used=1": list[0], "used=600": strings.Join(list, ",")} {
		b.Run(name, func(b *testing.B) {
			s := NewScope(names, nil)
			if _, err := ParseProjection(src, s); err != nil {
				b.Fatal(err)
			}
			for b.Loop() {
				if s.Unused() == nil {
					b.Fatal("all were used")
				}
			}
		})
	}
}

func TestScopeIsSharedByExpressions(t *testing.T) {
	s := NewScope(map[string]string{"#a": "a", "#b": "b"}, item(obj{":a": 1, ":b": 1}))
	if _, err := ParseUpdate("SET #a = :a", s); err != nil {
		t.Fatal(err)
	}
	checkFault(t, "after the first", s.Unused(), "Value provided in ExpressionAttributeNames unused in expressions: keys: {#b}")
	if _, err := ParseCondition(ConditionExpression, "#b = :b AND #a = :a", s); err != nil {
		t.Fatal(err)
	}
	checkFault(t, "after both", s.Unused(), "")
}

func TestReservedWords(t *testing.T) {
	if got, want := len(reserved), 565; got != want {
		t.Errorf("got %d reserved words, want %d", got, want)
	}
	longest := 0
	for word := range reserved {
		longest = max(longest, len(word))
		if !isReserved(word) || !isReserved(strings.ToLower(word)) {
			t.Errorf("%s is not reserved", word)
		}
	}
	if longest != longestReserved {
		t.Errorf("the longest reserved word has %d letters, not %d", longest, longestReserved)
	}
	for _, name := range []string{"", "id", "pk", "sk", "price", "sized", "email", "statuss", strings.Repeat("a", 99)} {
		if isReserved(name) {
			t.Errorf("%q is reserved", name)
		}
	}
}
