package partiql

import (
	"strings"
	"testing"

	"github.com/heatsink-go/heatsink/internal/attr"
)

const notWellFormed = "Statement wasn't well formed, can't be processed: "

// Statements that DynamoDB refuses, with the words that public suites have from it.
func TestRefusedStatements(t *testing.T) {
	leftover := notWellFormed + "Unexpected token after expression"
	term := notWellFormed + "Unexpected term"
	missing := notWellFormed + "Missing right-hand side expression of infix operator"
	for statement, want := range map[string]string{
		`SLECT * FROM "t"`:                                        notWellFormed + "Expected data manipulation",
		`UPDATE a-b SET c = 1 WHERE pk = 1`:                       notWellFormed + "Expected data manipulation",
		`SELECTT * FROMM "t"`:                                     leftover,
		`SELECT * FROM "t" WHERE pk = 1 foo`:                      leftover,
		`SELECT * FROM "t" WHERE pk = 1 e5`:                       leftover,
		`SELECT * FROM "t" WHERE pk = 1)`:                         leftover,
		`INSERT INTO "t" VALUE {'pk': 1} foo`:                     leftover,
		`INSERT INTO "t" t VALUE {'pk': 'x'}`:                     leftover,
		`DELETE FROM "t" WHERE pk = 1 ORDER BY pk`:                leftover,
		`SELECT * FROM "t" ORDER BY pk WHERE pk = 1`:              leftover,
		`FROM "t" SET c = 1 WHERE pk = 'x'`:                       leftover,
		`SELECT * FROM "t" WHERE`:                                 term,
		`SELECT * FROM "t" WHERE;`:                                term,
		`SELECT * FROM "t" WHERE NOT`:                             term,
		`SELECT * FROM "t" WHERE (`:                               term,
		`UPDATE "t" SET a = 1 WHERE`:                              term,
		`SELECT * FROM`:                                           term,
		`SELECT * FROM "t" WHERE pk = 'a' AND`:                    missing,
		`SELECT * FROM "t" WHERE pk = 'a' OR`:                     missing,
		`SELECT * FROM "t" WHERE ORDER BY pk`:                     notWellFormed + "Unexpected keyword",
		`SELECT * FROM "t" WHERE IS NULL`:                         notWellFormed + "Unexpected operator",
		`SELECT * FROM "t" WHERE pk = LIKE`:                       notWellFormed + "Unexpected operator",
		`SELECT * FROM "t" WHERE pk = 'a' AND x IS FOO`:           notWellFormed + "Expected type name",
		`SELECT * FROM "t" WHERE attribute_exists(m.inner)`:       notWellFormed + "Invalid path dot component",
		`INSERT INTO urls (key) VALUES (?)`:                       notWellFormed + "Unexpected keyword",
		`DELETE FROM`:                                             notWellFormed + "Expected identifier for simple path",
		`DELETE FROM WHERE pk = 'a'`:                              notWellFormed + "Expected identifier for simple path",
		`SELECT * FROM "t" WHERE pk = 1e2147483648`:               notWellFormed,
		`SELECT * FROM "t" WHERE pk = 1.5e-2147483647`:            notWellFormed,
		`SELECT * FROM "t" WHERE pk = 1AND a = 2`:                 notWellFormed,
		`SELECT * FROM "t" WHERE "size"(a) > 1`:                   leftover,
		`SELECT a FROM t WHERE b = 'é' GROUP BY a`:                "Unsupported clause: GROUP BY at 1:40:1",
		`SELECT * FROM "t" WHERE pk = 1 # note`:                   notWellFormed,
		`SELECT * FROM "t" WHERE pk = 1 /* note`:                  notWellFormed,
		`SELECT * FROM "t`:                                        notWellFormed,
		`SELECT * FROM "t" t WHERE pk = 'x'`:                      "Aliasing is not supported",
		`SELECT * FROM "t" AS t WHERE pk = 'x'`:                   "Aliasing is not supported",
		`UPDATE "t" t SET a = 3 WHERE pk = 'x'`:                   "Aliasing is not supported",
		`DELETE FROM "t" t WHERE pk = 'x'`:                        "Aliasing is not supported",
		`SELECT a AS b FROM "t"`:                                  "Aliasing is not supported",
		`x IS INT4`:                                               "Unsupported operation: IsType",
		`x IS CHARACTER VARYING`:                                  "Unsupported operation: IsType",
		`DELETE FROM "t". WHERE pk = 1`:                           notWellFormed + "Invalid path dot component",
		`x IS DOUBLE PRECISION`:                                   "Unsupported operation: IsType",
		`SELECT attribute_exists(ss) FROM "t"`:                    "Unexpected path component at 1:8:16",
		"SELECT\n  COUNT(*) FROM \"t\"":                           "Unexpected path component at 2:3:5",
		`SELECT l[-1] FROM "t"`:                                   "List index is not within the allowable range; index: [-1] at 1:11:1",
		`SELECT l[2147483648] FROM "t"`:                           "List index is not within the allowable range; index: [2147483648] at 1:10:10",
		`SELECT * FROM "t"."i"."x"`:                               "A path may contain at most 2 components in the FROM clause",
		`SELECT * FROM "t".""`:                                    "Path component cannot be an empty string",
		`SELECT * FROM "" WHERE pk = 'p'`:                         "Path component cannot be an empty string",
		`SELECT *, a FROM "t"`:                                    "Other attributes should not be present in the projection when '*' is used.",
		`SELECT DISTINCT a FROM "t"`:                              "Unsupported token in expression: DISTINCT",
		`SELECT a FROM "t" LIMIT 5`:                               "Unsupported clause: LIMIT at 1:25:1",
		`SELECT a FROM "t", "u"`:                                  "Only select from a single table or index is supported.",
		`SELECT a.* FROM "t"`:                                     "Unpivot path component like a.*.b are not supported",
		`SELECT a[*] FROM "t"`:                                    "Wildcard path component like a[*].b are not supported",
		`INSERT INTO "t" VALUE 'x'`:                               "Unsupported format in item expression. Please use struct format {...} to express item values for insert statement.",
		`INSERT INTO "t" VALUE {'a': 1} RETURNING ALL OLD *`:      "RETURNING is not supported in INSERT",
		`DELETE FROM "t" WHERE pk = 'x' RETURNING MODIFIED OLD *`: "Invalid returning clause: RETURNING MODIFIED OLD *. Only RETURNING ALL OLD * is allowed in DELETE statements.",
		`UPDATE "t" SET a = 1 WHERE pk = 'x' RETURNING ALL NEW a`: "Expected '*' after ( MODIFIED | ALL ) ( NEW | OLD ) in RETURNING clause",
		`INSERT INTO "abcdefgh"."i" VALUE {'a': 1}`:               "FROM clause may only contain a single table name in data manipulation statements at 1:13:10",
		"INSERT INTO\nabcdefgh.i VALUE {'a': 1}":                  "FROM clause may only contain a single table name in data manipulation statements at 2:1:8",
		`SELECT * FROM "t"[0]`:                                    "Invalid list expression in source.",
		`SELECT * FROM t WHERE a = -`:                             missing,
		`SELECT * FROM t WHERE a BETWEEN 1`:                       notWellFormed + "Expected AND after BETWEEN",
		`SELECT * FROM t WHERE a = [1`:                            notWellFormed + "Expected ]",
		`SELECT * FROM t WHERE a = {'b' 1}`:                       notWellFormed + "Expected :",
		`SELECT * FROM t WHERE a[0 = 1`:                           notWellFormed + "Expected ]",
		`SELECT * FROM t WHERE a[b] = 1`:                          notWellFormed + "Invalid path component",
		`SELECT a`:                                                notWellFormed + "Expected FROM",
		`UPDATE t SET a 1`:                                        notWellFormed + "Expected = after path in SET",
		`DELETE t`:                                                notWellFormed + "Expected FROM after DELETE",
		`INSERT t`:                                                notWellFormed + "Expected INTO after INSERT",
		`SELECT a FROM t ORDER pk`:                                notWellFormed + "Expected BY after ORDER",
		`SELECT a FROM t ORDER BY a.b`:                            "Argument to ORDER BY must be of type VariableReference. Type: Path",
		`SELECT a FROM t GROUP BY a`:                              "Unsupported clause: GROUP BY at 1:26:1",
		`SELECT VALUE a FROM t`:                                   "Select projection doesn't support value or pivot keywords",
		`DELETE FROM t RETURNING OLD *`:                           notWellFormed + "Expected ALL or MODIFIED in a returning clause.",
		`DELETE FROM t RETURNING ALL *`:                           notWellFormed + "Expected OLD or NEW in a returning clause.",
		`DELETE FROM t RETURNING ALL OLD *, ALL OLD *`:            "Invalid syntax with multiple returning elements in RETURNING clause",
		`UPDATE "t"."i" SET a = 1 WHERE pk = 'x'`:                 "This operation is not supported on an index",
	} {
		s, err := Parse(statement)
		if err == nil {
			err = s.Check()
		}
		if err == nil || err.Error() != want {
			t.Errorf("%s:\n got %v\nwant %s", statement, err, want)
		}
	}
}

// A statement is read by whole words, whatever stands between them.
func TestReadStatements(t *testing.T) {
	for _, statement := range []string{
		`SELECT * FROM t`,
		`select a, b.c, d[0].e, "f.g" from "t"."i" where a = 1;`,
		"SELECT/**/* FROM t -- the table\nWHERE pk/* key */='comments' AND sk='1' --",
		`SELECT * FROM t WHERE a = - - 1 AND b > -/* c */-1 AND c BETWEEN - 2 AND +5 AND d IN [- 1, 1]`,
		"SELECT /*/ all */ * FROM t",
		`SELECT * FROM t WHERE a = 'it''s' AND b <> "q""q" AND c != 1`,
		`SELECT * FROM t WHERE a IN (1, 2) AND b IN (?) AND c NOT IN <<1>> AND d NOT BETWEEN 1 AND 2`,
		`SELECT * FROM t WHERE NOT (a IS MISSING OR b IS NOT NULL) ORDER BY pk DESC, sk ASC`,
		`INSERT INTO t VALUE {'pk': 'a', 'm': {'x': [1, <<2>>, null, TRUE]}, 'p': ?}`,
		`UPDATE t SET a = a - 1, b.c = list_append(b.c, [1]) REMOVE d[1], e SET f = set_add(f, <<1>>) WHERE pk = ? RETURNING ALL NEW *`,
		`DELETE FROM t WHERE pk = 1 AND NOT begins_with("name", 'zz') RETURNING ALL OLD *`,
		`FROM t WHERE pk = 1 SET c = 2 REMOVE a RETURNING MODIFIED NEW *`,
		`EXISTS(SELECT * FROM t WHERE pk = 1 AND a IS MISSING)`,
	} {
		s, err := Parse(statement)
		if err == nil {
			err = s.Check()
		}
		if err != nil {
			t.Errorf("%s: %v", statement, err)
		}
	}
}

// Reserved words are names only in double quotes; other words are names.
func TestReservedWords(t *testing.T) {
	for _, word := range []string{"pad", "inner", "key", "value", "user", "size", "date", "count", "Index", "STRING"} {
		if _, err := Parse("SELECT * FROM t WHERE " + word + " = 1"); err == nil || err.Error() != notWellFormed+"Unexpected keyword" {
			t.Errorf("%s: got %v, want a fault", word, err)
		}
		if _, err := Parse(`SELECT "` + word + `" FROM t WHERE "` + word + `" = 1`); err != nil {
			t.Errorf("%s in quotes: %v", word, err)
		}
	}
	for _, word := range []string{"data", "name", "status", "year", "type", "old", "flag", "free", "_x", "$1"} {
		if _, err := Parse("SELECT " + word + " FROM t WHERE " + word + " = 1"); err != nil {
			t.Errorf("%s: %v", word, err)
		}
	}
}

// However deep a statement nests, it is read or refused: the stack is bounded.
func TestDeepStatements(t *testing.T) {
	for _, c := range []struct{ before, open, middle, close string }{
		{"SELECT * FROM t WHERE ", "(", "a = 1", ")"},
		{"SELECT * FROM t WHERE ", "NOT ", "a = 1", ""},
		{"SELECT * FROM t WHERE a = ", "-", "1", ""},
		{"SELECT * FROM t WHERE a = ", "[", "1", "]"},
		{"SELECT * FROM t WHERE a = ", "{'a':", "1", "}"},
		{"SELECT * FROM t WHERE ", "f(", "1", ")"},
		{"", "EXISTS(SELECT * FROM t WHERE ", "a = 1", ")"},
	} {
		deep := 8000 / len(c.open)
		_, err := Parse(c.before + strings.Repeat(c.open, deep) + c.middle + strings.Repeat(c.close, deep))
		if want := notWellFormed + "Expressions are nested more than 200 levels deep"; c.open != "-" && (err == nil || err.Error() != want) {
			t.Errorf("%s nested %d times: got %v, want %s", c.open, deep, err, want)
		}
	}
}

// Parameters go where the question marks are, in their order, but for those in
// strings.
func TestBind(t *testing.T) {
	s, err := Parse(`SELECT * FROM t WHERE a = '?' AND b = ? AND c IN [?, "?"] -- ?`)
	if err != nil {
		t.Fatal(err)
	}
	for n := range 4 {
		err := s.Bind(make([]attr.Value, n))
		if want := "Number of parameters in request and statement don't match."; (err == nil) != (n == 2) || err != nil && err.Error() != want {
			t.Errorf("%d parameters: got %v", n, err)
		}
	}
	if err := s.Bind([]attr.Value{attr.String("x"), attr.Boolean(true)}); err != nil {
		t.Fatal(err)
	}
	if got := s.where.args[1].args[1].value; !got.Equal(attr.String("x")) {
		t.Errorf("first parameter: got %v", got)
	}
	if got := s.where.args[2].args[1].args[0].value; !got.Equal(attr.Boolean(true)) {
		t.Errorf("second parameter: got %v", got)
	}
}

// Whatever the text, reading it ends, and what can be read can be turned into
// parts of expressions or is refused with a fault.
func FuzzParse(f *testing.F) {
	for _, s := range []string{
		`SELECT a.b[0], "c" FROM "t"."i" WHERE pk = ? AND sk BETWEEN 'a' AND 'b' OR NOT size(x) > 1.5e3 ORDER BY sk DESC`,
		`INSERT INTO t VALUE {'pk': 'a', 'm': {'x': [1, <<2, 3>>, null, TRUE]}, 'p': ?}`,
		`UPDATE t SET a = a - 1 SET f = set_delete(f, <<'x'>>) REMOVE d[1] WHERE pk = 1 AND (a IS MISSING) = false RETURNING ALL NEW *`,
		`DELETE FROM t WHERE pk IN [1, 2] -- c`,
		`EXISTS(SELECT * FROM t WHERE pk = 1 /* x */ AND attribute_type(a, 'S') <> TRUE)`,
		"FROM `x` WHERE",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		s, err := Parse(text)
		if err != nil || s.Check() != nil {
			return
		}
		params := make([]attr.Value, len(s.params))
		for i := range params {
			params[i] = attr.String("p")
		}
		if err := s.Bind(params); err != nil {
			t.Fatal(err)
		}
		useAll(s)
	})
}
