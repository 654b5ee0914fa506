package sift

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/smithy-go"
	"pgregory.net/rapid"

	"github.com/heatsink-go/heatsink/internal/attribute"
	"github.com/heatsink-go/heatsink/local"
)

func text(s string) types.AttributeValue { return &types.AttributeValueMemberS{Value: s} }

func number(s string) types.AttributeValue { return &types.AttributeValueMemberN{Value: s} }

// Attribute names of random items and paths: few, so that they meet.
var someNames = rapid.SampledFrom([]string{"a", "b", "c", "d"})

// randomValue draws a value of any type.
func randomValue(depth int) *rapid.Generator[types.AttributeValue] {
	return rapid.Custom(func(t *rapid.T) types.AttributeValue {
		kinds := 10
		if depth == 0 {
			kinds = 8
		}
		switch rapid.IntRange(0, kinds-1).Draw(t, "kind") {
		case 0:
			return number(rapid.SampledFrom([]string{"-7", "-0.5", "0", "1", "2", "9", "1e20", "123456789.25"}).Draw(t, "number"))
		case 1:
			return text(rapid.StringMatching(`[abé]{0,3}`).Draw(t, "text"))
		case 2:
			return &types.AttributeValueMemberB{Value: []byte(rapid.StringMatching(`[ab]{0,2}`).Draw(t, "bytes"))}
		case 3:
			return &types.AttributeValueMemberNS{Value: rapid.SliceOfNDistinct(rapid.SampledFrom([]string{"1", "2", "10"}), 1, 3, rapid.ID).Draw(t, "numbers")}
		case 4:
			return &types.AttributeValueMemberSS{Value: rapid.SliceOfNDistinct(rapid.SampledFrom([]string{"a", "b", "x"}), 1, 3, rapid.ID).Draw(t, "texts")}
		case 5:
			return &types.AttributeValueMemberBS{Value: [][]byte{[]byte(rapid.StringMatching(`[ab]`).Draw(t, "element"))}}
		case 6:
			return &types.AttributeValueMemberBOOL{Value: rapid.Bool().Draw(t, "bool")}
		case 7:
			return &types.AttributeValueMemberNULL{Value: true}
		case 8:
			return &types.AttributeValueMemberL{Value: rapid.SliceOfN(randomValue(depth-1), 0, 4).Draw(t, "list")}
		default:
			return &types.AttributeValueMemberM{Value: randomItem(depth-1).Draw(t, "map")}
		}
	})
}

func randomItem(depth int) *rapid.Generator[Item] {
	return rapid.Custom(func(t *rapid.T) Item {
		item := Item{}
		for _, name := range rapid.SliceOfDistinct(someNames, rapid.ID).Draw(t, "names") {
			item[name] = randomValue(depth).Draw(t, name)
		}
		return item
	})
}

// asked is a random filter and projection, with the names and values that they use.
type asked struct {
	filter, projection string
	names              map[string]string
	values             Item
}

// name returns an attribute, or an alias of it.
func (a *asked) name(t *rapid.T) string {
	name := someNames.Draw(t, "name")
	if !rapid.Bool().Draw(t, "alias") {
		return name
	}
	a.names["#"+name] = name
	return "#" + name
}

// path returns a path, which leads somewhere in one of the items most of the time.
func (a *asked) path(t *rapid.T, like Item) string {
	name := a.name(t)
	path, at := name, like[strings.TrimPrefix(name, "#")]
	for rapid.IntRange(0, 3).Draw(t, "deeper") > 0 {
		switch v := at.(type) {
		case *types.AttributeValueMemberM:
			name := a.name(t)
			path, at = path+"."+name, v.Value[strings.TrimPrefix(name, "#")]
		case *types.AttributeValueMemberL:
			i := rapid.IntRange(0, len(v.Value)+1).Draw(t, "index")
			path, at = path+"["+strconv.Itoa(i)+"]", nil
			if i < len(v.Value) {
				at = v.Value[i]
			}
		default:
			return path
		}
	}
	return path
}

// value returns the placeholder of a value.
func (a *asked) value(t *rapid.T, from *rapid.Generator[types.AttributeValue]) string {
	name := ":v" + strconv.Itoa(len(a.values))
	a.values[name] = from.Draw(t, "value")
	return name
}

// operand returns a path, a size or a value.
func (a *asked) operand(t *rapid.T, like Item) string {
	switch rapid.IntRange(0, 6).Draw(t, "operand") {
	case 0:
		return "size(" + a.path(t, like) + ")"
	case 1, 2, 3:
		return a.value(t, randomValue(1))
	}
	return a.path(t, like)
}

var comparators = rapid.SampledFrom([]string{"=", "<>", "<", "<=", ">", ">="})

// condition returns a condition.
func (a *asked) condition(t *rapid.T, like Item, depth int) string {
	kinds := 10
	if depth == 0 {
		kinds = 7
	}
	switch rapid.IntRange(0, kinds-1).Draw(t, "condition") {
	case 0:
		return "attribute_exists(" + a.path(t, like) + ")"
	case 1:
		return "attribute_not_exists(" + a.path(t, like) + ")"
	case 2:
		kind := rapid.Map(rapid.SampledFrom([]string{"S", "N", "B", "SS", "NS", "BS", "L", "M", "BOOL", "NULL"}), text)
		return "attribute_type(" + a.path(t, like) + ", " + a.value(t, kind) + ")"
	case 3:
		return "begins_with(" + a.path(t, like) + ", " + a.value(t, rapid.Map(rapid.StringMatching(`[ab]{1,2}`), text)) + ")"
	case 4:
		return "contains(" + a.path(t, like) + ", " + a.operand(t, like) + ")"
	case 5:
		return a.operand(t, like) + " " + comparators.Draw(t, "comparator") + " " + a.operand(t, like)
	case 6:
		if rapid.Bool().Draw(t, "in") {
			return a.operand(t, like) + " IN (" + a.operand(t, like) + ", " + a.operand(t, like) + ")"
		}
		return a.operand(t, like) + " BETWEEN " + a.operand(t, like) + " AND " + a.operand(t, like)
	case 7:
		return "NOT (" + a.condition(t, like, depth-1) + ")"
	case 8:
		return a.condition(t, like, depth-1) + " AND " + a.condition(t, like, depth-1)
	}
	return "(" + a.condition(t, like, depth-1) + ") OR " + a.condition(t, like, depth-1)
}

// randomAsked draws a filter, a projection or both.
func randomAsked(t *rapid.T, items []Item) asked {
	a := asked{names: map[string]string{}, values: Item{}}
	like := rapid.SampledFrom(items).Draw(t, "like")
	which := rapid.IntRange(0, 2).Draw(t, "which")
	if which != 0 {
		a.filter = a.condition(t, like, 2)
	}
	if which != 1 {
		var paths []string
		for range rapid.IntRange(1, 3).Draw(t, "paths") {
			paths = append(paths, a.path(t, like))
		}
		a.projection = strings.Join(paths, ", ")
	}
	if rapid.IntRange(0, 50).Draw(t, "unused") == 33 {
		a.values[":unused"] = number("1")
	}
	return a
}

// query returns what the engine returns. key selects a partition.
func (a asked) query(ctx context.Context, client *dynamodb.Client, key string) ([]Item, error) {
	in := &dynamodb.QueryInput{
		TableName: aws.String("things"), KeyConditionExpression: aws.String("pk = :pk"),
		ExpressionAttributeValues: Item{":pk": text(key)},
	}
	maps.Copy(in.ExpressionAttributeValues, a.values)
	if len(a.names) > 0 {
		in.ExpressionAttributeNames = a.names
	}
	if a.filter != "" {
		in.FilterExpression = &a.filter
	}
	if a.projection != "" {
		in.ProjectionExpression = &a.projection
	}
	out, err := client.Query(ctx, in)
	if err != nil {
		return nil, err
	}
	return out.Items, nil
}

// sift returns what a Sift makes of whole items.
func (a asked) sift(items []Item) (out []Item, err error) {
	s, err := New(a.filter, a.projection, a.names, a.values)
	if err != nil {
		return nil, err
	}
	needs := s.Needs()
	for _, item := range items {
		if needs != nil { // nothing else is looked at
			item = attribute.Pick(item, needs)
		}
		keeps, err := s.Keeps(item)
		if err != nil {
			return nil, err
		}
		if keeps {
			out = append(out, s.Project(item))
		}
	}
	return out, nil
}

// said returns what an error says, without the SDK's words around it.
func said(err error) string {
	if api, ok := errors.AsType[smithy.APIError](err); ok {
		return api.ErrorMessage()
	}
	return err.Error()
}

// A Sift over whole items returns what a Query with the same filter and projection returns, or refuses what the Query refuses.
func TestSiftIsWhatAQueryReturns(t *testing.T) {
	db := local.Start(t)
	ctx := context.Background()
	if err := db.CreateTable(ctx, "things", "pk", "sk"); err != nil {
		t.Fatal(err)
	}
	client := db.Client()
	keys, kept, parts, refused := 0, 0, 0, 0
	rapid.Check(t, func(t *rapid.T) {
		keys++
		key := "k" + strconv.Itoa(keys)
		items := rapid.SliceOfN(randomItem(3), 1, 8).Draw(t, "items")
		for i, item := range items {
			item["pk"], item["sk"] = text(key), text(strconv.Itoa(i))
			if _, err := client.PutItem(ctx, &dynamodb.PutItemInput{TableName: aws.String("things"), Item: item}); err != nil {
				t.Fatal(err)
			}
		}
		whole, err := asked{}.query(ctx, client, key)
		if err != nil {
			t.Fatal(err)
		}
		for range 50 {
			a := randomAsked(t, items)
			want, failed := a.query(ctx, client, key)
			got, err := a.sift(whole)
			if failed != nil || err != nil {
				if failed == nil || err == nil || said(err) != said(failed) {
					t.Fatalf("%q of %q with %v and %v:\n got  %v\n want %v", a.projection, a.filter, a.names, a.values, err, failed)
				}
				refused++
				continue
			}
			if !slices.EqualFunc(got, want, attribute.Same) {
				t.Fatalf("%q of %q with %v and %v:\n got  %s\n want %s", a.projection, a.filter, a.names, a.values, show(got), show(want))
			}
			kept += len(got)
			for _, item := range got {
				for _, v := range item {
					switch v.(type) {
					case *types.AttributeValueMemberL, *types.AttributeValueMemberM:
						parts++
					}
				}
			}
		}
	})
	t.Logf("%d partitions: %d items kept, %d with maps and lists; %d refused", keys, kept, parts, refused)
	if kept < 30*keys || parts < 5*keys || refused == 0 {
		t.Errorf("%d items kept, %d maps and lists, %d refused: the test compares too little", kept, parts, refused)
	}
}

func show(items []Item) string {
	var b strings.Builder
	for _, item := range items {
		for _, name := range slices.Sorted(maps.Keys(item)) {
			fmt.Fprintf(&b, " %s: %s", name, attribute.Describe(item[name]))
		}
		b.WriteString(";")
	}
	return b.String()
}

// A projection returns the values that were read, with the digits and the order that they have.
func TestProjectLeavesValuesAsTheyAre(t *testing.T) {
	s, err := New("", "a, m.n, l[1].s", nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	a, n, set := number("1.50"), number("007"), &types.AttributeValueMemberSS{Value: []string{"b", "a"}}
	item := Item{
		"a": a, "b": text("b"), "m": &types.AttributeValueMemberM{Value: Item{"n": n, "o": text("o")}},
		"l": &types.AttributeValueMemberL{Value: []types.AttributeValue{text("0"), &types.AttributeValueMemberM{Value: Item{"s": set}}}},
	}
	got := s.Project(item)
	m, ok := got["m"].(*types.AttributeValueMemberM)
	l, okL := got["l"].(*types.AttributeValueMemberL)
	if !ok || !okL || len(got) != 3 || got["a"] != a || len(m.Value) != 1 || m.Value["n"] != n || len(l.Value) != 1 {
		t.Fatalf("got %s", show([]Item{got}))
	}
	if in, ok := l.Value[0].(*types.AttributeValueMemberM); !ok || in.Value["s"] != set {
		t.Errorf("got %v in the list, want the set itself", l.Value[0])
	}
	if len(item) != 4 || len(item["m"].(*types.AttributeValueMemberM).Value) != 2 {
		t.Error("the item was changed")
	}
}

// Without a filter and a projection, items stay as they are.
func TestNothingToSift(t *testing.T) {
	empty, err := New("", "", map[string]string{}, Item{})
	if err != nil {
		t.Fatal(err)
	}
	item := Item{"a": number("x")}
	for name, s := range map[string]*Sift{"empty": empty, "nil": nil} {
		if keeps, err := s.Keeps(item); !keeps || err != nil {
			t.Errorf("%s: keeps %v, %v", name, keeps, err)
		}
		s.Project(item)["b"] = text("b")
		if item["b"] == nil || s.Needs() != nil || s.Filters("a") {
			t.Errorf("%s: the item was copied, or an attribute is looked at", name)
		}
		delete(item, "b")
	}
}

// What the two look at is known, so that a read may ask for no more, and a filter of the key can be refused.
func TestNeedsAndFilters(t *testing.T) {
	s, err := New("#f.x = :v AND size(b) > :v", "c[0].d, #f, c[1], a", map[string]string{"#f": "f"}, Item{":v": number("1")})
	if err != nil {
		t.Fatal(err)
	}
	if got := strings.Join(s.Needs(), " "); got != "a b c f" {
		t.Errorf("needs %s, want a b c f", got)
	}
	for name, want := range map[string]bool{"f": true, "b": true, "x": false, "a": false, "c": false} {
		if s.Filters(name) != want {
			t.Errorf("filters %s: got %v", name, !want)
		}
	}
}

// What is no value of DynamoDB is refused with its name.
func TestOddValues(t *testing.T) {
	if _, err := New("a = :x", "", nil, Item{":x": number("one")}); err == nil || !strings.Contains(err.Error(), ":x") {
		t.Errorf("a value without digits: got %v", err)
	}
	s, err := New("a = :x", "", nil, Item{":x": number("1")})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.Keeps(Item{"a": nil}); err == nil || !strings.Contains(err.Error(), `"a"`) {
		t.Errorf("an attribute without value: got %v", err)
	}
}
