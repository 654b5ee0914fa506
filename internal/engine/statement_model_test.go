package engine_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/heatsink-go/heatsink/internal/attr"
	"github.com/heatsink-go/heatsink/internal/engine"
)

// twin is a request in both languages: as a statement with its parameters, and as
// expressions with their values.
type twin struct {
	t      *rapid.T
	params []attr.Value // of the statement, in order
	values attr.Item    // of the expressions
}

// drawn is a condition in both languages.
type drawn struct{ partiql, expression string }

// value draws a value, which the statement has as a literal or as a parameter.
func (w *twin) value(v attr.Value) drawn {
	placeholder := fmt.Sprintf(":v%02d", len(w.values))
	w.values = append(w.values, attr.Field{Name: placeholder, Value: v})
	if rapid.Bool().Draw(w.t, "parameter") {
		w.params = append(w.params, v)
		return drawn{"?", placeholder}
	}
	if v.Kind == attr.N {
		return drawn{v.Number().String(), placeholder}
	}
	return drawn{"'" + strings.ReplaceAll(v.Str, "'", "''") + "'", placeholder}
}

func (w *twin) scalar() attr.Value {
	if rapid.IntRange(0, 3).Draw(w.t, "kind") == 0 {
		return number(rapid.IntRange(-2, 3).Draw(w.t, "number"))
	}
	return attr.String(rapid.SampledFrom([]string{"a", "b", "c", "1", "2", "3", "12", "it's"}).Draw(w.t, "text"))
}

func number(n int) attr.Value {
	parsed, err := attr.ParseNumber(fmt.Sprint(n))
	if err != nil {
		panic(err)
	}
	return attr.Num(parsed)
}

// leaf draws a condition on one attribute. Key attributes are drawn often.
func (w *twin) leaf() drawn {
	name := rapid.SampledFrom([]string{"pk", "pk", "sk", "sk", "n", "s", "m.k", "l[0]", "gone"}).Draw(w.t, "attribute")
	function := func(f, second string) drawn {
		return drawn{f + "(" + name + second + ")", f + "(" + name + second + ")"}
	}
	switch rapid.SampledFrom([]string{"=", "=", "=", "<>", "<", "<=", ">", ">=", "between", "in", "begins", "contains", "exists", "missing", "type", "size"}).Draw(w.t, "leaf") {
	case "between":
		a, b := w.scalar(), w.scalar()
		if order, ok := a.Compare(b); !ok || order > 0 {
			b = a
		}
		low, high := w.value(a), w.value(b)
		return drawn{name + " BETWEEN " + low.partiql + " AND " + high.partiql, name + " BETWEEN " + low.expression + " AND " + high.expression}
	case "in":
		var p, x []string
		for range rapid.IntRange(1, 3).Draw(w.t, "alternatives") {
			v := w.value(w.scalar())
			p, x = append(p, v.partiql), append(x, v.expression)
		}
		return drawn{name + " IN [" + strings.Join(p, ", ") + "]", name + " IN (" + strings.Join(x, ", ") + ")"}
	case "begins":
		v := w.value(attr.String(rapid.SampledFrom([]string{"1", "a"}).Draw(w.t, "prefix")))
		return drawn{"begins_with(" + name + ", " + v.partiql + ")", "begins_with(" + name + ", " + v.expression + ")"}
	case "contains":
		v := w.value(w.scalar())
		return drawn{"contains(" + name + ", " + v.partiql + ")", "contains(" + name + ", " + v.expression + ")"}
	case "exists":
		return drawn{name + " IS NOT MISSING", "attribute_exists(" + name + ")"}
	case "missing":
		return function("attribute_not_exists", "")
	case "type":
		v := w.value(attr.String(rapid.SampledFrom([]string{"S", "N", "M"}).Draw(w.t, "type")))
		return drawn{"attribute_type(" + name + ", " + v.partiql + ")", "attribute_type(" + name + ", " + v.expression + ")"}
	case "size":
		v := w.value(number(rapid.IntRange(0, 3).Draw(w.t, "size")))
		return drawn{"size(" + name + ") > " + v.partiql, "size(" + name + ") > " + v.expression}
	case "<>":
		v := w.value(w.scalar())
		return drawn{name + " <> " + v.partiql, name + " <> " + v.expression}
	}
	o := rapid.SampledFrom([]string{"=", "=", "<", "<=", ">", ">="}).Draw(w.t, "operator")
	v := w.value(w.scalar())
	return drawn{name + " " + o + " " + v.partiql, name + " " + o + " " + v.expression}
}

// condition draws a condition that is at most so deep.
func (w *twin) condition(depth int) drawn {
	kind := rapid.SampledFrom([]string{"leaf", "leaf", "and", "and", "or", "not"}).Draw(w.t, "condition")
	if depth == 0 || kind == "leaf" {
		return w.leaf()
	}
	if kind == "not" {
		c := w.condition(depth - 1)
		return drawn{"NOT (" + c.partiql + ")", "NOT (" + c.expression + ")"}
	}
	word := " " + strings.ToUpper(kind) + " "
	a, b := w.condition(depth-1), w.condition(depth-1)
	return drawn{"(" + a.partiql + ")" + word + "(" + b.partiql + ")", "(" + a.expression + ")" + word + "(" + b.expression + ")"}
}

func (w *twin) statement(text string) *engine.StatementInput {
	return &engine.StatementInput{Statement: &text, Parameters: w.params, HasParameters: w.params != nil, ConsumedCapacity: "INDEXES"}
}

func (w *twin) expressions() engine.Expressions {
	return engine.Expressions{Values: w.values, HasValues: len(w.values) > 0}
}

// twinTable creates a table whose key is pk and sk.
func twinTable(t testing.TB, e *engine.Engine, name string) {
	t.Helper()
	_, err := e.CreateTable(t.Context(), &engine.CreateTableInput{
		TableName: &name, BillingMode: new("PAY_PER_REQUEST"), HasKeySchema: true, HasDefinitions: true,
		KeySchema: []engine.KeyElement{{AttributeName: "pk", KeyType: "HASH"}, {AttributeName: "sk", KeyType: "RANGE"}},
		AttributeDefinitions: []engine.AttributeDefinition{
			{AttributeName: "pk", AttributeType: "S"}, {AttributeName: "sk", AttributeType: "S"}, {AttributeName: "s", AttributeType: "S"},
		},
		HasGlobalIndexes: true,
		GlobalIndexes: []engine.IndexInput{{
			IndexName: new("byS"), HasKeySchema: true, Projection: &engine.Projection{Type: new("ALL")},
			KeySchema: []engine.KeyElement{{AttributeName: "s", KeyType: "HASH"}},
		}},
	})
	if err != nil {
		t.Fatal(err)
	}
}

func memoryEngine(t testing.TB) *engine.Engine {
	t.Helper()
	e, err := engine.Open(engine.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := e.Close(); err != nil {
			t.Error(err)
		}
	})
	return e
}

// twinItems are the items that conditions are drawn for.
func twinItems() (items []attr.Item) {
	for i, pk := range []string{"a", "b", "c"} {
		for j, sk := range []string{"1", "12", "2", "3"} {
			it := attr.NewItem(attr.Field{Name: "pk", Value: attr.String(pk)}, attr.Field{Name: "sk", Value: attr.String(sk)},
				attr.Field{Name: "n", Value: number((i+j)%5 - 2)})
			if (i+j)%2 == 0 {
				it = it.With("s", attr.String(pk+sk)).With("m", attr.Map(attr.NewItem(attr.Field{Name: "k", Value: attr.String(sk)})))
			}
			if (i+j)%3 == 0 {
				it = it.With("l", attr.List(attr.String(sk), number(j)))
			}
			items = append(items, it)
		}
	}
	return items
}

// allPages reads all pages of a SELECT, of any sizes.
func allPages(t *rapid.T, e *engine.Engine, in *engine.StatementInput, limit int64) (items []string, err error) {
	if limit > 0 {
		in.Limit = &limit
	}
	for range 200 {
		out, err := e.ExecuteStatement(context.Background(), in)
		if err != nil {
			return nil, err
		}
		if limit > 0 && int64(len(out.Items)) > limit {
			t.Fatalf("%d items with a limit of %d", len(out.Items), limit)
		}
		for _, raw := range out.Items {
			items = append(items, string(raw))
		}
		if out.NextToken == "" {
			return items, nil
		}
		in.NextToken = &out.NextToken
	}
	t.Fatal("200 pages and no end")
	return nil, nil
}

// A SELECT finds the items that a Scan finds whose filter is the same condition,
// each once, however it is read and whatever its pages are.
func TestSelectIsScanWithFilter(t *testing.T) {
	e := memoryEngine(t)
	twinTable(t, e, "twin")
	for _, it := range twinItems() {
		if _, err := e.PutItem(t.Context(), &engine.PutItemInput{TableName: new("twin"), Item: it, HasItem: true}); err != nil {
			t.Fatal(err)
		}
	}
	answered, refused := 0, 0
	rapid.Check(t, func(t *rapid.T) {
		w := &twin{t: t}
		c := w.condition(3)
		source, index := "twin", (*string)(nil)
		if rapid.IntRange(0, 3).Draw(t, "index") == 0 {
			source, index = "twin.byS", new("byS")
		}
		x := w.expressions()
		x.Filter = &c.expression
		scan, scanErr := e.Scan(context.Background(), &engine.ReadInput{TableName: new("twin"), IndexName: index, Expressions: x})
		got, err := allPages(t, e, w.statement("SELECT * FROM "+source+" WHERE "+c.partiql), rapid.Int64Range(0, 4).Draw(t, "limit"))
		if err != nil {
			refused++
			if scanErr == nil && !planned(err) {
				t.Fatalf("%s: %v, but the scan of %s succeeds", c.partiql, err, c.expression)
			}
			return
		}
		if scanErr != nil {
			t.Fatalf("%s succeeds, but the scan of %s: %v", c.partiql, c.expression, scanErr)
		}
		answered++
		var want []string
		for _, raw := range scan.Items {
			want = append(want, string(raw))
		}
		slices.Sort(got)
		slices.Sort(want)
		if !slices.Equal(got, want) {
			t.Fatalf("%s finds %d items, the scan of %s %d", c.partiql, len(got), c.expression, len(want))
		}
	})
	if answered < refused {
		t.Errorf("%d statements were answered and %d refused: most should be answered", answered, refused)
	}
}

// planned reports whether DynamoDB refuses a statement for how it would read.
func planned(err error) bool {
	var e *engine.Error
	return errors.As(err, &e) && e.Type == engine.TypeValidation &&
		(strings.HasPrefix(e.Message, "Overlapping conditions") || strings.HasPrefix(e.Message, "Too many decomposed") ||
			strings.HasPrefix(e.Message, "Key attribute's data type"))
}

// A statement that writes leaves the same items, fails in the same way and costs
// the same as the operation with expressions.
func TestWritesAreOperations(t *testing.T) {
	e := memoryEngine(t)
	twinTable(t, e, "statements")
	twinTable(t, e, "operations")
	rapid.Check(t, func(t *rapid.T) {
		for range 20 {
			w := &twin{t: t}
			key := attr.NewItem(attr.Field{Name: "pk", Value: attr.String(rapid.SampledFrom([]string{"a", "b"}).Draw(t, "pk"))},
				attr.Field{Name: "sk", Value: attr.String(rapid.SampledFrom([]string{"1", "2"}).Draw(t, "sk"))})
			text, capacity, err := w.operation(e, key)
			out, statementErr := e.ExecuteStatement(context.Background(), w.statement(text))
			// No item has two keys, so that a statement which names two is refused.
			var refusal *engine.Error
			twoKeys := errors.As(statementErr, &refusal) && strings.HasPrefix(refusal.Message, "Multiple conditions on same key")
			if a, b := outcome(err), outcome(statementErr); a != b && !twoKeys {
				t.Fatalf("%s: got %s, want %s as the operation (%v)", text, b, a, err)
			}
			if err == nil && statementErr == nil && fmt.Sprint(*out.ConsumedCapacity) != strings.ReplaceAll(capacity, "operations", "statements") {
				t.Fatalf("%s: costs %v, the operation %s", text, *out.ConsumedCapacity, capacity)
			}
			if a, b := contents(t, e, "statements"), contents(t, e, "operations"); a != b {
				t.Fatalf("%s: leaves\n%q\nand the operation\n%q", text, a, b)
			}
		}
	})
}

// outcome is what an error comes to in either language.
func outcome(err error) string {
	var e *engine.Error
	switch {
	case err == nil:
		return "success"
	case !errors.As(err, &e):
		return err.Error()
	case e.Type == engine.TypeDuplicateItem:
		return engine.TypeConditionalCheckFailed
	}
	return e.Type
}

func contents(t *rapid.T, e *engine.Engine, table string) string {
	out, err := e.Scan(context.Background(), &engine.ReadInput{TableName: &table, ConsistentRead: true})
	must(t, err)
	return fmt.Sprint(out.Items)
}

// operation does a write with expressions, and returns the statement that is the
// same.
func (w *twin) operation(e *engine.Engine, key attr.Item) (text, capacity string, err error) {
	ctx, table := context.Background(), new("operations")
	returns := engine.Returns{ConsumedCapacity: "INDEXES"}
	where := " WHERE pk = '" + key.Get("pk").Str + "' AND sk = '" + key.Get("sk").Str + "'"
	var out *engine.WriteOutput
	switch rapid.SampledFrom([]string{"insert", "update", "update", "delete"}).Draw(w.t, "write") {
	case "insert":
		n := rapid.IntRange(0, 3).Draw(w.t, "n")
		text = fmt.Sprintf("INSERT INTO statements VALUE {'pk': '%s', 'sk': '%s', 'n': %d, 's': 'x%d', 'm': {'k': '1'}, 'l': ['a', 1], 'ss': <<'p'>>}",
			key.Get("pk").Str, key.Get("sk").Str, n, n)
		it := key.With("n", number(n)).With("s", attr.String(fmt.Sprint("x", n))).With("l", attr.List(attr.String("a"), number(1))).
			With("m", attr.Map(attr.NewItem(attr.Field{Name: "k", Value: attr.String("1")}))).With("ss", attr.Set(attr.SS, []attr.Value{attr.String("p")}))
		out, err = e.PutItem(ctx, &engine.PutItemInput{
			TableName: table, Item: it, HasItem: true, Returns: returns,
			Expressions: engine.Expressions{Condition: new("attribute_not_exists(pk)")},
		})
	case "update":
		change := w.change()
		c := w.condition(2)
		x := w.expressions()
		x.Update, x.Condition = &change.expression, new("(attribute_exists(pk)) AND ("+c.expression+")")
		text = "UPDATE statements " + change.partiql + where + " AND (" + c.partiql + ")"
		out, err = e.UpdateItem(ctx, &engine.UpdateItemInput{TableName: table, Key: key, HasKey: true, Expressions: x, Returns: returns})
	default:
		c := w.condition(1)
		x := w.expressions()
		x.Condition = new("(attribute_not_exists(pk)) OR (" + c.expression + ")")
		text = "DELETE FROM statements" + where + " AND (" + c.partiql + ")"
		out, err = e.DeleteItem(ctx, &engine.DeleteItemInput{TableName: table, Key: key, HasKey: true, Expressions: x, Returns: returns})
	}
	if err == nil {
		capacity = fmt.Sprint(*out.ConsumedCapacity)
	}
	return text, capacity, err
}

// change draws the changes of an update.
func (w *twin) change() drawn {
	switch rapid.SampledFrom([]string{"set", "sum", "remove", "append", "add", "delete"}).Draw(w.t, "change") {
	case "set":
		a, b := w.value(w.scalar()), w.value(w.scalar())
		return drawn{"SET n = " + a.partiql + ", m.k = " + b.partiql + " REMOVE l[0]", "SET n = " + a.expression + ", m.k = " + b.expression + " REMOVE l[0]"}
	case "sum":
		a := w.value(number(2))
		return drawn{"SET n = n - " + a.partiql, "SET n = n - " + a.expression}
	case "remove":
		return drawn{"REMOVE s, m.k REMOVE gone", "REMOVE s, m.k, gone"}
	case "append":
		w.values = append(w.values, attr.Field{Name: fmt.Sprintf(":v%02d", len(w.values)), Value: attr.List(number(1), attr.String("x"))})
		return drawn{"SET l = list_append(l, [1, 'x'])", "SET l = list_append(l, " + w.values[len(w.values)-1].Name + ")"}
	}
	clause, function := "ADD", "set_add"
	if rapid.Bool().Draw(w.t, "delete") {
		clause, function = "DELETE", "set_delete"
	}
	w.values = append(w.values, attr.Field{Name: fmt.Sprintf(":v%02d", len(w.values)), Value: attr.Set(attr.SS, []attr.Value{attr.String("p"), attr.String("q")})})
	return drawn{"SET ss = " + function + "(ss, <<'q', 'p'>>)", clause + " ss " + w.values[len(w.values)-1].Name}
}
