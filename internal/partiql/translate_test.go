package partiql

import (
	"fmt"
	"strings"
	"testing"

	"github.com/heatsink-go/heatsink/internal/attr"
	"github.com/heatsink-go/heatsink/internal/expr"
)

// parsed reads a statement that has nothing wrong with it.
func parsed(t *testing.T, statement string, params ...attr.Value) *Statement {
	t.Helper()
	s, err := Parse(statement)
	if err == nil {
		err = s.Check()
	}
	if err == nil {
		err = s.Bind(params)
	}
	if err != nil {
		t.Fatalf("%s: %v", statement, err)
	}
	return s
}

// inserted is the item of an INSERT.
func inserted(t *testing.T, tuple string, params ...attr.Value) attr.Item {
	t.Helper()
	it, err := parsed(t, "INSERT INTO t VALUE "+tuple, params...).Item()
	if err != nil {
		t.Fatalf("%s: %v", tuple, err)
	}
	return it
}

func num(text string) attr.Value {
	n, err := attr.ParseNumber(text)
	if err != nil {
		panic(err)
	}
	return attr.Num(n)
}

func field(name string, v attr.Value) attr.Field { return attr.Field{Name: name, Value: v} }

// Literals are values of every kind that a statement can write.
func TestLiterals(t *testing.T) {
	got := inserted(t, `{'s': 'it''s', 'e': '', 'n': -1.50e1, 'z': -0, 'd': .5, 'y': TRUE, 'x': null, 'l': [1, 'a', []], 'm': {'k': {}}, `+
		`'ss': <<'b', 'a'>>, 'ns': <<2, 1.0>>, 'p': ?, 'u': 'é世'}`, attr.Binary("\x01"))
	want := attr.NewItem(field("s", attr.String("it's")), field("e", attr.String("")), field("n", num("-15")), field("z", num("0")),
		field("d", num("0.5")), field("y", attr.Boolean(true)), field("x", attr.Value{Kind: attr.Null}),
		field("l", attr.List(num("1"), attr.String("a"), attr.List())), field("m", attr.Map(attr.NewItem(field("k", attr.Map(nil))))),
		field("ss", attr.Set(attr.SS, []attr.Value{attr.String("a"), attr.String("b")})),
		field("ns", attr.Set(attr.NS, []attr.Value{num("1"), num("2")})), field("p", attr.Binary("\x01")), field("u", attr.String("é世")))
	if !got.Equal(want) {
		t.Errorf("got  %v\nwant %v", got, want)
	}
	if _, err := parsed(t, "INSERT INTO t VALUE {'a': [?]}", num("1")).Item(); err == nil || err.Error() != "Unsupported data type: Parameter under key root[0] at 1:28:1" {
		t.Errorf("a parameter in a list: got %v", err)
	}
	inserted(t, "{'a': "+strings.Repeat("[", 31)+"1"+strings.Repeat("]", 31)+"}")
}

// Items that no INSERT can have.
func TestRefusedLiterals(t *testing.T) {
	for tuple, want := range map[string]string{
		"{'a': " + strings.Repeat("[", 32) + "1" + strings.Repeat("]", 32) + "}": "Nesting Levels have exceeded supported limits under root" + strings.Repeat("[0]", 32),
		"{'a': {'b': [1, 1e126]}}": "Number overflow. Attempting to store a number with magnitude larger than supported range under root.b[1]",
		"{'a': <<1, 1.0>>}":        "One or more parameter values were invalid: Input collection [1, 1.0] contains duplicates! under root",
		"{'a': <<'x', 'x'>>}":      "One or more parameter values were invalid: Input collection [x, x] contains duplicates.",
		"{'a': <<true>>}":          "Unsupported data type in Bag. DynamoDB only supports either numbers or strings in bags",
		"{'a': <<1, 'x'>>}":        "Unsupported data type in Bag. DynamoDB only supports either numbers or strings in bags",
		"{'a': [<<1e126>>]}":       "Number overflow. Attempting to store a number with magnitude larger than supported range under root[0]",
		"{'a': <<>>}":              "Empty bags are not supported",
		"{'a': {'b': 1, 'b': 2}}":  "Duplicate keys in tuple. Key: b under root",
		"{'a': {b: 1}}":            "Tuple keys must be of type String. Actual type: VariableReference under root",
		"{'a': {3: 1}}":            "Tuple keys must be of type String. Actual type: Literal under root",
		"{'': 1}":                  "Empty attribute name",
		"{'a': b}":                 "Unsupported data type: VariableReference under key root at 1:27:1",
		"{'a': [b.c]}":             "Unsupported data type: Path under key root[0] at 1:28:1",
		"{'a': MISSING}":           "Unsupported data type: LiteralMissing under key root at 1:27:7",
		"{'a': upper('x')}":        "Unsupported data type: upper under key root at 1:27:5",
		"{'a': 1 + 2}":             "Unsupported data type: NAry under key root at 1:29:1",
		"{'a': `1`}":               "Ion Literals are not supported: 1 under key root",
		"{'a': (SELECT * FROM t)}": "Unsupported data type: Select under key root at 1:28:6",
		"{'a': x IS NULL}":         "Unsupported data type: IsType under key root at 1:29:2",
		"{'a': {'é': \n 1e-131}}":  "Number underflow. Attempting to store a number with magnitude smaller than supported range under root.é",
	} {
		if it, err := parsed(t, "INSERT INTO t VALUE "+tuple).Item(); err == nil || err.Error() != want {
			t.Errorf("%s:\n got %v %v\nwant %s", tuple, it, err, want)
		}
	}
}

// Conditions hold of an item or do not.
func TestConditions(t *testing.T) {
	it := inserted(t, `{'s': 'str', 'n': 5, 'm': {'k': ['c', 2], 'q q': 1}, 'tags': <<'a', 'b'>>, 'yes': true, 'nul': null, 'quote"d': 1, 'l': [1, 2]}`)
	for where, want := range map[string]bool{
		`s = 'str' AND n = 5`:                    true,
		`s = 'str' AND n = 6`:                    false,
		`s = 'x' OR n = 5`:                       true,
		`s = 'x' OR n = 6`:                       false,
		`s = 'x' AND n = 6 OR n = 5`:             true,
		`n = 5 OR s = 'x' AND n = 6`:             true,
		`NOT n = 5 OR n = 5`:                     true,
		`NOT (n = 5 OR n = 5)`:                   false,
		`NOT NOT n = 5`:                          true,
		`n = - -5 AND n = +5 AND n > - + - -5`:   true,
		`n <> 6 AND n != 6 AND missing_one <> 1`: true,
		`n < 6 AND n <= 5 AND n > 4 AND n >= 5`:  true,
		`n < 5`:                                  false,
		`n > 5`:                                  false,
		`6 > n`:                                  true,
		`n BETWEEN 5 AND 6`:                      true,
		`n NOT BETWEEN 5 AND 6`:                  false,
		`n IN [4, 5]`:                            true,
		`n IN (4, 5)`:                            true,
		`n IN (5)`:                               true,
		`n NOT IN <<4, 5>>`:                      false,
		`n IN [?, 1]`:                            true,
		`n = ?`:                                  true,
		`begins_with(s, 'st') AND contains(s, 'r')`:                 true,
		`contains(tags, 'b') AND NOT contains(tags, 'c')`:           true,
		`size(s) = 3 AND 3 = size(s)`:                               true,
		`attribute_type(m, 'M')`:                                    true,
		`attribute_exists(m.k[1]) AND attribute_not_exists(m.k[2])`: true,
		`m.k[0] = 'c' AND m['k'][1] = 2 AND m."q q" = 1`:            true,
		`"quote""d" = 1`:                                true,
		`m = {'q q': 1, 'k': ['c', 2]}`:                 true,
		`l = [1, 2] AND tags = <<'b', 'a'>>`:            true,
		`l = [2, 1]`:                                    false,
		`yes = true AND yes IS BOOL AND yes IS BOOLEAN`: true,
		`s IS STRING AND n IS NUMERIC AND m IS STRUCT AND m IS TUPLE AND l IS LIST`: true,
		`s IS BLOB`: false,
		`nul IS NULL AND s IS NOT NULL AND gone IS NOT NULL`: true,
		`gone IS MISSING AND s IS NOT MISSING`:               true,
		`gone IS NULL`:                                       false,
		`nul = null`:                                         true,
		`attribute_exists(s) = true`:                         true,
		`attribute_exists(s) <> true`:                        false,
		`(n = 6) = false`:                                    true,
		`(n = 6) <> false`:                                   false,
		`attribute_exists(s) = 1`:                            false,
		`attribute_exists(s) <> 1`:                           true,
		`attribute_exists(s) = yes`:                          true,
		`attribute_exists(gone) = yes`:                       false,
		`attribute_exists(gone) <> yes`:                      true,
		`attribute_exists(gone) = gone`:                      false,
		`(n = 5) = (s = 'str')`:                              true,
		`(n = 5) = (s = 'x')`:                                false,
		`(n = 6) = (s = 'x')`:                                true,
		strings.Repeat("(n = 5) = (s = 'str') AND ", 2*maxCopies) + "n = 5": true,
		`attribute_exists(s) IN [true]`:                                     true,
		`attribute_exists(s) IN [false]`:                                    false,
		`attribute_exists(gone) IN [false, 1]`:                              true,
		`attribute_exists(s) IN [true, false]`:                              true,
		`attribute_exists(gone) IN [true, false]`:                           true,
		`attribute_exists(s) IN ['x']`:                                      false,
	} {
		var params []attr.Value
		if strings.Contains(where, "?") {
			params = append(params, num("5"))
		}
		c, err := parsed(t, "SELECT * FROM t WHERE "+where, params...).Where()
		if err != nil {
			t.Errorf("%s: %v", where, err)
		} else if got := c.Eval(it); got != want {
			t.Errorf("%s: got %v, want %v", where, got, want)
		}
	}
}

// Conditions that no WHERE clause can have.
func TestRefusedConditions(t *testing.T) {
	const in = "IN operator must have a left hand argument of type Variable Reference and right hand argument of type Seq with at least one member"
	for where, want := range map[string]string{
		`a`:                      "WHERE clause must contain an expression that resolves to a boolean",
		`size(a)`:                "WHERE clause must contain an expression that resolves to a boolean",
		`a = 1 AND b`:            "The arguments to AND/OR must be Expressions",
		`NOT a`:                  "The argument to NOT must be a Type or Expression",
		`a = MISSING`:            "MISSING must be compared using IS operator",
		`a IN 5`:                 in,
		`a IN []`:                in,
		`5 IN [5]`:               in,
		`size(a) IS NULL`:        "The left hand side argument to IS must be a Variable Reference, Literal, or Path",
		`a IS INTEGER`:           "Unsupported data type for IS operator: INTEGER. Supported data types are [MISSING, NULL, BOOLEAN, BLOB, STRING, NUMERIC, STRUCT, TUPLE, LIST]",
		`lower(a) = 'x'`:         "Unrecognized function: lower at 1:23:5",
		`lower(a)`:               "Unrecognized function: lower at 1:23:5",
		`a = 1 AND EXISTS(a)`:    "Unrecognized function: exists at 1:33:6",
		`a || 'x' = 'y'`:         "Unsupported operator in Condition Expression. Operator: ||",
		`a LIKE 'x'`:             "Unsupported operator in Condition Expression. Operator: like",
		`a = -b`:                 "Unsupported operator in Condition Expression. Operator: -",
		`(a = 1) < true`:         "Incorrect operand type for operator or function; operator or function: <, operand type: BOOL",
		`a < [1]`:                "Incorrect operand type for operator or function; operator or function: <, operand type: L",
		`attribute_type(a, 'Q')`: "Invalid attribute type name found; type: Q, valid types: {N,BS,L,B,NULL,M,S,SS,NS,BOOL}",
		`begins_with(a)`:         "Incorrect number of operands for operator or function; operator or function: begins_with, number of operands: 1",
		`attribute_exists('a')`:  "Operator or function requires a document path; operator or function: attribute_exists",
		`a = 1e126`:              "Number overflow. Attempting to store a number with magnitude larger than supported range under root",
		strings.Repeat("a = 1 AND ", 301) + "a = 1": "The expression contains too many operators; operator count: 301",
		`a` + strings.Repeat(".b", 32) + ` = 1`:     "The document path has too many nesting levels; nesting levels: 33",
	} {
		if _, err := parsed(t, "SELECT * FROM t WHERE "+where).Where(); err == nil || err.Error() != want {
			t.Errorf("%.60s:\n got %v\nwant %s", where, err, want)
		}
	}
}

// Updates make another item.
func TestUpdates(t *testing.T) {
	const before = `{'n': 5, 's': 'x', 'l': [1, 2], 'm': {'k': 1}, 'ss': <<'a', 'b'>>}`
	for changes, want := range map[string]string{
		`SET n = 6`:                                 `{'n': 6, 's': 'x', 'l': [1, 2], 'm': {'k': 1}, 'ss': <<'a', 'b'>>}`,
		`SET n = n + 1, s = ?`:                      `{'n': 6, 's': 'p', 'l': [1, 2], 'm': {'k': 1}, 'ss': <<'a', 'b'>>}`,
		`SET n = n - 1 SET m.k = n`:                 `{'n': 4, 's': 'x', 'l': [1, 2], 'm': {'k': 5}, 'ss': <<'a', 'b'>>}`,
		`SET n = n - - 1`:                           `{'n': 6, 's': 'x', 'l': [1, 2], 'm': {'k': 1}, 'ss': <<'a', 'b'>>}`,
		`SET l = list_append(l, [3])`:               `{'n': 5, 's': 'x', 'l': [1, 2, 3], 'm': {'k': 1}, 'ss': <<'a', 'b'>>}`,
		`SET ss = set_add(ss, <<'c'>>)`:             `{'n': 5, 's': 'x', 'l': [1, 2], 'm': {'k': 1}, 'ss': <<'a', 'b', 'c'>>}`,
		`SET ss = set_delete(ss, <<'a'>>)`:          `{'n': 5, 's': 'x', 'l': [1, 2], 'm': {'k': 1}, 'ss': <<'b'>>}`,
		`REMOVE s, l[0] REMOVE m.k, ss SET o = [n]`: "Unsupported data type: VariableReference under key root[0] at 1:49:1",
		`REMOVE s, l[0] REMOVE m.k, ss`:             `{'n': 5, 'l': [2], 'm': {}}`,
		`SET n = lower(s)`:                          "Unrecognized function: lower at 1:18:5",
		`SET n = n + lower(s)`:                      "Unrecognized function: lower at 1:22:5",
		`SET n = s IS NULL`:                         "IS operator is not supported in update expressions",
		`SET n = n = 1`:                             "Unsupported operator in Update Expression. Operator: =",
		`SET n = n * 2`:                             "Unsupported operator in Update Expression. Operator: *",
		`SET n = (1, 2)`:                            "Unsupported operator in Update Expression. Operator: Seq",
		`SET n = 'a' + 1`:                           "Incorrect operand type for operator or function; operator or function: +, operand type: S",
		`SET n = 1, n = 2`:                          "Two document paths overlap with each other; must remove or rewrite one of these paths; path one: [n], path two: [n]",
		`SET t = set_add(ss, <<'x'>>)`:              "The first argument to SET_ADD must equal the assignment value at 1:18:7",
		`SET ss[0] = set_add(ss, <<'x'>>)`:          "The first argument to SET_ADD must equal the assignment value at 1:22:7",
		`SET ss = set_delete(ss, 'x')`:              "The second argument to SET_DELETE must be a value with type SET at 1:30:2",
		`SET ss = set_delete(ss, n)`:                "The second argument to SET_DELETE must be a value with type SET at 1:30:2",
		`SET ss = set_add(ss, ?)`:                   "The second argument to SET_ADD must be a value with type SET at 1:27:2",
		`SET ss = set_add(ss, <<'c'>>, <<'d'>>)`:    "SET_ADD must have exactly two arguments at 1:19:7",
		`SET ss = set_delete(ss)`:                   "SET_DELETE must have exactly two arguments at 1:19:10",
		`SET ss = set_add(ss, <<>>)`:                "Empty bags are not supported",
	} {
		var params []attr.Value
		if strings.Contains(changes, "?") {
			params = append(params, attr.String("p"))
		}
		u, err := parsed(t, "UPDATE t "+changes+" WHERE pk = 'a'", params...).Update()
		if err != nil {
			if err.Error() != want {
				t.Errorf("%s:\n got %v\nwant %s", changes, err, want)
			}
			continue
		}
		if got, err := u.Apply(inserted(t, before)); err != nil || !got.Equal(inserted(t, want)) {
			t.Errorf("%s:\n got %v %v\nwant %s", changes, got, err, want)
		}
	}
}

// A parameter can be the set that is added.
func TestSetOfParameter(t *testing.T) {
	set := attr.Set(attr.SS, []attr.Value{attr.String("b"), attr.String("c")})
	u, err := parsed(t, "UPDATE t SET ss = set_add(ss, ?) WHERE pk = 'a'", set).Update()
	if err != nil {
		t.Fatal(err)
	}
	if got, err := u.Apply(inserted(t, `{'ss': <<'a'>>}`)); err != nil || !got.Equal(inserted(t, `{'ss': <<'a', 'b', 'c'>>}`)) {
		t.Errorf("got %v, %v", got, err)
	}
}

// Columns are at the top, under the last name of their paths.
func TestProjections(t *testing.T) {
	it := inserted(t, `{'a': 1, 'm': {'k': [['x']], 'z': 2}, 'b.c': 3}`)
	for columns, want := range map[string]string{
		`a, m.z, "b.c"`:   `{'a': 1, 'z': 2, 'b.c': 3}`,
		`m.k[0][0], gone`: `{'k[0][0]': 'x'}`,
		`m`:               `{'m': {'k': [['x']], 'z': 2}}`,
	} {
		p, err := parsed(t, "SELECT "+columns+" FROM t").Projection()
		if err != nil {
			t.Fatal(err)
		}
		if got := p.Apply(it); !got.Equal(inserted(t, want)) {
			t.Errorf("%s: got %v, want %s", columns, got, want)
		}
	}
	if _, err := parsed(t, "SELECT a.b, c.b FROM t").Projection(); err == nil || err.Error() != "Duplicate identifiers in select clause: b" {
		t.Errorf("two columns of one name: got %v", err)
	}
	if p, err := parsed(t, "SELECT * FROM t").Projection(); p != nil || err != nil {
		t.Errorf("*: got %v, %v", p, err)
	}
}

// A write names one item by its whole key; the rest of its WHERE clause is a
// condition.
func TestTarget(t *testing.T) {
	const (
		missing  = "Where clause does not contain a mandatory equality on all key attributes"
		multiple = "Multiple conditions on same key pk. Only single item Update/Insert/Delete are supported"
	)
	for where, want := range map[string][2]string{ // the second with a second equality as a condition
		`pk = 'a' AND sk = 'b'`:                       {"a b true", "a b true"},
		`(sk = 'b') AND ('a' = pk)`:                   {"a b true", "a b true"},
		`pk = 'a' AND (sk = 'b' AND n = 1)`:           {"a b false", "a b false"},
		`pk = 'a' AND sk = 'b' AND pk = 'a'`:          {"a b true", "a b false"},
		`pk = 'a' AND sk = 'b' AND pk = 'c'`:          {multiple, "a b false"},
		`pk = 'a' AND sk = 'b' AND pk > 'c'`:          {"a b false", "a b false"},
		`pk = 'a'`:                                    {missing, missing},
		`pk = 'a' AND sk > 'b'`:                       {missing, missing},
		`pk IN ['a'] AND sk = 'b'`:                    {missing, missing},
		`pk = 'a' AND sk = n`:                         {missing, missing},
		`pk = 'a' AND sk = 'b' OR pk = 'a' AND n = 1`: {missing, missing},
		`NOT pk = 'a' AND sk = 'b'`:                   {missing, missing},
	} {
		s := parsed(t, "DELETE FROM t WHERE "+where)
		for i, first := range []bool{false, true} {
			key, rest, err := s.Target([]expr.KeyPart{hashKey, sortKey}, first)
			got := fmt.Sprint(err)
			if err == nil {
				got = fmt.Sprint(key.Get("pk").Str, " ", key.Get("sk").Str, " ", rest.Empty())
			}
			if got != want[i] {
				t.Errorf("%s (%v): got %s, want %s", where, first, got, want[i])
			}
		}
	}
	none, there := attr.Item(nil), inserted(t, `{'pk': 'a', 'n': 1}`)
	for where, want := range map[string][3]bool{ // of no item and of one: an UPDATE's there, a DELETE's of none, a DELETE's there
		`pk = 'a'`:           {true, true, true},
		`pk = 'a' AND n = 1`: {true, true, true},
		`pk = 'a' AND n = 2`: {false, true, false},
	} {
		_, rest, err := parsed(t, "DELETE FROM t WHERE "+where).Target([]expr.KeyPart{hashKey}, false)
		if err != nil {
			t.Fatal(err)
		}
		change, err := rest.OfExisting("pk")
		if err != nil || change.Eval(none) || change.Eval(there) != want[0] {
			t.Errorf("%s: update of no item %v, of the item %v, %v", where, change.Eval(none), change.Eval(there), err)
		}
		removal, err := rest.UnlessMissing("pk")
		holds := func(it attr.Item) bool { return removal == nil || removal.Eval(it) }
		if err != nil || holds(none) != want[1] || holds(there) != want[2] {
			t.Errorf("%s: delete of no item %v, of the item %v, %v", where, holds(none), holds(there), err)
		}
	}
	if absent, err := Absent("pk"); err != nil || !absent.Eval(none) || absent.Eval(there) {
		t.Errorf("absent: %v", err)
	}
}
