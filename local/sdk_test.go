package local_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/big"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	streamtypes "github.com/aws/aws-sdk-go-v2/service/dynamodbstreams/types"
	"pgregory.net/rapid"

	"github.com/heatsink-go/heatsink/local"
)

// values draws any attribute value that DynamoDB stores and the SDK can express.
func values(depth int) *rapid.Generator[value] {
	kinds := []*rapid.Generator[value]{
		rapid.Map(rapid.String(), text),
		rapid.Map(numbers(), number),
		rapid.Map(rapid.SliceOf(rapid.Byte()), func(b []byte) value { return &types.AttributeValueMemberB{Value: b} }),
		rapid.Map(rapid.Bool(), func(b bool) value { return &types.AttributeValueMemberBOOL{Value: b} }),
		rapid.Just[value](&types.AttributeValueMemberNULL{Value: true}),
		rapid.Map(rapid.SliceOfNDistinct(rapid.String(), 1, 6, rapid.ID),
			func(s []string) value { return &types.AttributeValueMemberSS{Value: s} }),
		rapid.Map(rapid.SliceOfNDistinct(numbers(), 1, 6, canonical),
			func(s []string) value { return &types.AttributeValueMemberNS{Value: s} }),
		rapid.Map(rapid.SliceOfNDistinct(rapid.SliceOf(rapid.Byte()), 1, 6, func(b []byte) string { return string(b) }),
			func(s [][]byte) value { return &types.AttributeValueMemberBS{Value: s} }),
	}
	if depth > 0 {
		kinds = append(kinds,
			rapid.Map(rapid.SliceOfN(values(depth-1), 0, 4), func(l []value) value { return &types.AttributeValueMemberL{Value: l} }),
			rapid.Map(rapid.MapOfN(names(), values(depth-1), 0, 4), func(m item) value { return &types.AttributeValueMemberM{Value: m} }))
	}
	return rapid.OneOf(kinds...)
}

func names() *rapid.Generator[string] {
	return rapid.OneOf(rapid.StringN(1, 20, -1), rapid.SampledFrom([]string{"a.b", "a[0]", "#x", ":y", `"`, "S", "M", "NULL", "size"}))
}

// numbers draws numbers of up to 38 digits over DynamoDB's whole range, written
// in any of the ways a client may write them.
func numbers() *rapid.Generator[string] {
	return rapid.Custom(func(t *rapid.T) string {
		digits := strings.TrimLeft(rapid.StringMatching(`[0-9]{1,38}`).Draw(t, "digits"), "0")
		if digits == "" {
			return rapid.SampledFrom([]string{"0", "-0", "0.0", "0e5", "000"}).Draw(t, "zero")
		}
		first := rapid.IntRange(-130, 125).Draw(t, "exponent") // of the first digit
		first = max(first, -130+len(digits)-1)                 // of the last digit, to be on the safe side
		sign := rapid.SampledFrom([]string{"", "-"}).Draw(t, "sign")
		exponent := first - (len(digits) - 1)
		switch {
		case exponent == 0:
			return sign + digits
		case exponent < 0 && -exponent < len(digits) && rapid.Bool().Draw(t, "point"):
			point := len(digits) + exponent
			return sign + digits[:point] + "." + digits[point:]
		case exponent > 0 && exponent < 20 && rapid.Bool().Draw(t, "zeros"):
			return sign + digits + strings.Repeat("0", exponent)
		}
		return sign + digits + rapid.SampledFrom([]string{"e", "E"}).Draw(t, "e") + strconv.Itoa(exponent)
	})
}

// canonical is the same for two ways of writing one number.
func canonical(s string) string {
	r, ok := new(big.Rat).SetString(s)
	if !ok {
		return "not a number: " + s
	}
	return r.RatString()
}

// show writes a value so that equal values, and only they, are written alike:
// the order of sets and the way numbers are written do not count.
func show(v any) string {
	list := func(kind string, n int, at func(int) string) string {
		all := make([]string, n)
		for i := range all {
			all[i] = at(i)
		}
		if kind != "L" {
			slices.Sort(all)
		}
		return kind + "[" + strings.Join(all, " ") + "]"
	}
	switch v := v.(type) {
	case *types.AttributeValueMemberS:
		return strconv.Quote(v.Value)
	case *types.AttributeValueMemberN:
		return canonical(v.Value)
	case *types.AttributeValueMemberB:
		return fmt.Sprintf("%x", v.Value)
	case *types.AttributeValueMemberBOOL:
		return strconv.FormatBool(v.Value)
	case *types.AttributeValueMemberNULL:
		return fmt.Sprint("null ", v.Value)
	case *types.AttributeValueMemberSS:
		return list("SS", len(v.Value), func(i int) string { return strconv.Quote(v.Value[i]) })
	case *types.AttributeValueMemberNS:
		return list("NS", len(v.Value), func(i int) string { return canonical(v.Value[i]) })
	case *types.AttributeValueMemberBS:
		return list("BS", len(v.Value), func(i int) string { return fmt.Sprintf("<%x>", v.Value[i]) })
	case *types.AttributeValueMemberL:
		return list("L", len(v.Value), func(i int) string { return show(v.Value[i]) })
	case *types.AttributeValueMemberM:
		return show(v.Value)
	case item:
		var all []string
		for name, v := range v {
			all = append(all, strconv.Quote(name)+": "+show(v))
		}
		return list("M", len(all), func(i int) string { return all[i] })
	default:
		return fmt.Sprintf("%T", v)
	}
}

// fromStream is a stream's value as a table's.
func fromStream(v streamtypes.AttributeValue) value {
	switch v := v.(type) {
	case *streamtypes.AttributeValueMemberS:
		return &types.AttributeValueMemberS{Value: v.Value}
	case *streamtypes.AttributeValueMemberN:
		return &types.AttributeValueMemberN{Value: v.Value}
	case *streamtypes.AttributeValueMemberB:
		return &types.AttributeValueMemberB{Value: v.Value}
	case *streamtypes.AttributeValueMemberBOOL:
		return &types.AttributeValueMemberBOOL{Value: v.Value}
	case *streamtypes.AttributeValueMemberNULL:
		return &types.AttributeValueMemberNULL{Value: v.Value}
	case *streamtypes.AttributeValueMemberSS:
		return &types.AttributeValueMemberSS{Value: v.Value}
	case *streamtypes.AttributeValueMemberNS:
		return &types.AttributeValueMemberNS{Value: v.Value}
	case *streamtypes.AttributeValueMemberBS:
		return &types.AttributeValueMemberBS{Value: v.Value}
	case *streamtypes.AttributeValueMemberL:
		var out types.AttributeValueMemberL
		for _, e := range v.Value {
			out.Value = append(out.Value, fromStream(e))
		}
		return &out
	case *streamtypes.AttributeValueMemberM:
		return &types.AttributeValueMemberM{Value: imageOf(v.Value)}
	default:
		return nil
	}
}

func imageOf(image map[string]streamtypes.AttributeValue) item {
	out := item{}
	for name, v := range image {
		out[name] = fromStream(v)
	}
	return out
}

// Whatever goes in comes back the same, by every way in and every way out.
func TestValuesRoundTripThroughTheSDK(t *testing.T) {
	t.Parallel()
	ctx, db := t.Context(), local.Start(t)
	client := db.Client()
	must[*dynamodb.CreateTableOutput](t)(client.CreateTable(ctx, onDemand("values", withStream, "id S")))
	table := aws.String("values")
	rapid.Check(t, func(t *rapid.T) {
		in := rapid.MapOfN(names(), values(3), 0, 5).Draw(t, "item")
		in["id"] = text("a")
		check := func(way string, got item, err error) {
			t.Helper()
			if err != nil {
				t.Fatalf("%s: %v", way, err)
			}
			if show(got) != show(in) {
				t.Errorf("%s:\n got %s\nwant %s", way, show(got), show(in))
			}
		}
		empty := func() {
			if _, err := client.DeleteItem(ctx, &dynamodb.DeleteItemInput{TableName: table, Key: key("a")}); err != nil {
				t.Fatal(err)
			}
		}

		empty()
		if _, err := client.PutItem(ctx, &dynamodb.PutItemInput{TableName: table, Item: in}); err != nil {
			t.Fatal(err)
		}
		got, err := client.GetItem(ctx, &dynamodb.GetItemInput{TableName: table, Key: key("a"), ConsistentRead: aws.Bool(true)})
		check("PutItem, GetItem", got.Item, err)
		all, err := client.Scan(ctx, &dynamodb.ScanInput{TableName: table})
		check("PutItem, Scan", all.Items[0], err)

		// Numbers are written one way when they come back.
		if _, err := client.PutItem(ctx, &dynamodb.PutItemInput{TableName: table, Item: got.Item}); err != nil {
			t.Fatal(err)
		}
		again, err := client.GetItem(ctx, &dynamodb.GetItemInput{TableName: table, Key: key("a")})
		check("PutItem of what GetItem gave, GetItem", again.Item, err)

		empty()
		update, set := &dynamodb.UpdateItemInput{TableName: table, Key: key("a"), ReturnValues: types.ReturnValueAllNew}, []string{}
		for name, v := range in {
			if i := strconv.Itoa(len(set)); name != "id" {
				update.ExpressionAttributeNames = named(update.ExpressionAttributeNames, "#"+i, name)
				update.ExpressionAttributeValues = with(update.ExpressionAttributeValues, ":"+i, v)
				set = append(set, "#"+i+" = :"+i)
			}
		}
		if len(set) > 0 {
			update.UpdateExpression = aws.String("SET " + strings.Join(set, ", "))
		}
		updated, err := client.UpdateItem(ctx, update)
		check("UpdateItem, ALL_NEW", updated.Attributes, err)

		empty()
		_, err = client.TransactWriteItems(ctx, &dynamodb.TransactWriteItemsInput{
			TransactItems: []types.TransactWriteItem{{Put: &types.Put{TableName: table, Item: in}}},
		})
		if err != nil {
			t.Fatal(err)
		}
		transacted, err := client.TransactGetItems(ctx, &dynamodb.TransactGetItemsInput{
			TransactItems: []types.TransactGetItem{{Get: &types.Get{TableName: table, Key: key("a")}}},
		})
		check("TransactWriteItems, TransactGetItems", transacted.Responses[0].Item, err)

		empty()
		_, err = client.BatchWriteItem(ctx, &dynamodb.BatchWriteItemInput{
			RequestItems: map[string][]types.WriteRequest{*table: {{PutRequest: &types.PutRequest{Item: in}}}},
		})
		if err != nil {
			t.Fatal(err)
		}
		batch, err := client.BatchGetItem(ctx, &dynamodb.BatchGetItemInput{
			RequestItems: map[string]types.KeysAndAttributes{*table: {Keys: []item{key("a")}}},
		})
		check("BatchWriteItem, BatchGetItem", batch.Responses[*table][0], err)

		old, err := client.DeleteItem(ctx, &dynamodb.DeleteItemInput{TableName: table, Key: key("a"), ReturnValues: types.ReturnValueAllOld})
		check("DeleteItem, ALL_OLD", old.Attributes, err)
	})
}

func named(m map[string]string, k, v string) map[string]string {
	if m == nil {
		m = map[string]string{}
	}
	m[k] = v
	return m
}

// Streams have value types of their own in the SDK.
func TestStreamImagesRoundTripThroughTheSDK(t *testing.T) {
	t.Parallel()
	ctx, db := t.Context(), local.Start(t)
	client := db.Client()
	rapid.Check(t, func(rt *rapid.T) {
		items := rapid.SliceOfN(rapid.MapOfN(names(), values(2), 1, 4), 1, 8).Draw(rt, "items")
		must[*dynamodb.CreateTableOutput](t)(client.CreateTable(ctx, onDemand("values", withStream, "id S")))
		defer func() {
			must[*dynamodb.DeleteTableOutput](t)(client.DeleteTable(ctx, &dynamodb.DeleteTableInput{TableName: aws.String("values")}))
		}()
		for i, it := range items {
			it["id"] = text(strconv.Itoa(i))
			must[*dynamodb.PutItemOutput](t)(client.PutItem(ctx, &dynamodb.PutItemInput{TableName: aws.String("values"), Item: it}))
		}
		all := records(ctx, t, db, "values")
		if len(all) != len(items) {
			rt.Fatalf("%d records, want %d", len(all), len(items))
		}
		for i, record := range all {
			if got, want := show(imageOf(record.Dynamodb.NewImage)), show(items[i]); got != want {
				rt.Errorf("record %d:\n got %s\nwant %s", i, got, want)
			}
		}
	})
}

// Keys are values, too: found by what they are, not by how they are written.
func TestKeysRoundTripThroughTheSDK(t *testing.T) {
	t.Parallel()
	ctx, db := t.Context(), local.Start(t)
	client := db.Client()
	kinds := map[string]*rapid.Generator[value]{
		"S": rapid.Map(rapid.StringN(1, -1, 1024), text),
		"N": rapid.Map(numbers(), number),
		"B": rapid.Map(rapid.SliceOfN(rapid.Byte(), 1, 1024), func(b []byte) value { return &types.AttributeValueMemberB{Value: b} }),
	}
	for hash := range kinds {
		for sort := range kinds {
			must[*dynamodb.CreateTableOutput](t)(client.CreateTable(ctx, onDemand("keys-"+hash+sort, nil, "p "+hash, "s "+sort)))
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		hash, sort := rapid.SampledFrom([]string{"S", "N", "B"}).Draw(t, "hash"), rapid.SampledFrom([]string{"S", "N", "B"}).Draw(t, "sort")
		k := item{"p": kinds[hash].Draw(t, "p"), "s": kinds[sort].Draw(t, "s")}
		table := aws.String("keys-" + hash + sort)
		if _, err := client.PutItem(ctx, &dynamodb.PutItemInput{TableName: table, Item: k}); err != nil {
			t.Fatal(err)
		}
		got, err := client.GetItem(ctx, &dynamodb.GetItemInput{TableName: table, Key: k})
		if err != nil || show(got.Item) != show(k) {
			t.Fatalf("got %s, %v; want %s", show(got.Item), err, show(k))
		}
		page, err := client.Query(ctx, &dynamodb.QueryInput{
			TableName: table, KeyConditionExpression: aws.String("p = :p AND s = :s"),
			ExpressionAttributeValues: item{":p": k["p"], ":s": k["s"]},
		})
		if err != nil || page.Count != 1 || show(page.Items[0]) != show(k) {
			t.Fatalf("query: got %+v, %v; want %s", page, err, show(k))
		}
	})
}

// The deepest nesting there may be, the longest name and value, the largest and
// smallest numbers.
func TestExtremesRoundTripThroughTheSDK(t *testing.T) {
	t.Parallel()
	ctx, db := t.Context(), local.Start(t)
	client := db.Client()
	must[*dynamodb.CreateTableOutput](t)(client.CreateTable(ctx, onDemand("values", nil, "id S")))
	nested := func(levels int) value {
		v := text("inside")
		for i := range levels {
			if i%2 == 0 {
				v = &types.AttributeValueMemberL{Value: []value{v}}
			} else {
				v = &types.AttributeValueMemberM{Value: item{"m": v}}
			}
		}
		return v
	}
	nines := "9." + strings.Repeat("9", 37)
	for name, v := range map[string]value{
		"nested":         nested(31),
		"empty string":   text(""),
		"empty binary":   &types.AttributeValueMemberB{Value: []byte{}},
		"empty list":     &types.AttributeValueMemberL{Value: []value{}},
		"empty map":      &types.AttributeValueMemberM{Value: item{}},
		"every rune":     text("\x00\x01\"\\/\b\f\n\r\t\u007f\u2028\u2029é漢\U0001F600\uFFFD"),
		"long text":      text(strings.Repeat("x", 390<<10)),
		"long binary":    &types.AttributeValueMemberB{Value: bytes.Repeat([]byte{0xFF, 0}, 195<<10)},
		"largest":        number(nines + "E125"),
		"lowest":         number("-" + nines + "E125"),
		"smallest":       number("1E-130"),
		"just below":     number("-1E-130"),
		"all digits":     number(strings.Repeat("123456789", 4) + "12"),
		"every kind":     &types.AttributeValueMemberL{Value: []value{text(""), &types.AttributeValueMemberNULL{Value: true}, &types.AttributeValueMemberBOOL{}}},
		"set of one":     &types.AttributeValueMemberSS{Value: []string{""}},
		"binary set":     &types.AttributeValueMemberBS{Value: [][]byte{{}, {0}, {0, 0}, {0xFF}}},
		"numbers in set": &types.AttributeValueMemberNS{Value: []string{"1.10", "-0", "1e3", "10000000000000000000000000000000000001"}},
	} {
		t.Run(name, func(t *testing.T) {
			in := with(key(name), "v", v)
			must[*dynamodb.PutItemOutput](t)(client.PutItem(ctx, &dynamodb.PutItemInput{TableName: aws.String("values"), Item: in}))
			out := must[*dynamodb.GetItemOutput](t)(client.GetItem(ctx, &dynamodb.GetItemInput{TableName: aws.String("values"), Key: key(name)}))
			if show(out.Item) != show(in) {
				t.Errorf("got %.300s, want %.300s", show(out.Item), show(in))
			}
		})
	}
	_, err := client.PutItem(ctx, &dynamodb.PutItemInput{TableName: aws.String("values"), Item: with(key("deep"), "v", nested(33))})
	if err == nil || !strings.Contains(err.Error(), "ValidationException") {
		t.Errorf("33 levels of nesting: got %v, want a ValidationException", err)
	}
}

// The SDK decodes what errors carry.
func TestErrorsThroughTheSDK(t *testing.T) {
	t.Parallel()
	ctx, db := t.Context(), local.Start(t)
	client := db.Client(noRetry)
	must[*dynamodb.CreateTableOutput](t)(client.CreateTable(ctx, onDemand("things", nil, "id S")))
	table, there := aws.String("things"), with(key("a"), "n", whole(7), "set", &types.AttributeValueMemberNS{Value: []string{"1", "2"}})
	must[*dynamodb.PutItemOutput](t)(client.PutItem(ctx, &dynamodb.PutItemInput{TableName: table, Item: there}))
	absent := aws.String("attribute_not_exists(id)")
	allOld := types.ReturnValuesOnConditionCheckFailureAllOld

	_, err := client.PutItem(ctx, &dynamodb.PutItemInput{
		TableName: table, Item: key("a"), ConditionExpression: absent, ReturnValuesOnConditionCheckFailure: allOld,
	})
	var failed *types.ConditionalCheckFailedException
	if !errors.As(err, &failed) || show(failed.Item) != show(there) || failed.ErrorMessage() != "The conditional request failed" {
		t.Errorf("got %v with %v, want a ConditionalCheckFailedException with the item", err, failed)
	}
	_, err = client.PutItem(ctx, &dynamodb.PutItemInput{TableName: table, Item: key("a"), ConditionExpression: absent})
	if !errors.As(err, &failed) || failed.Item != nil {
		t.Errorf("got %v, want a ConditionalCheckFailedException without the item", err)
	}

	_, err = client.TransactWriteItems(ctx, &dynamodb.TransactWriteItemsInput{TransactItems: []types.TransactWriteItem{
		{Put: &types.Put{TableName: table, Item: key("b")}},
		{Put: &types.Put{TableName: table, Item: key("a"), ConditionExpression: absent, ReturnValuesOnConditionCheckFailure: allOld}},
		{ConditionCheck: &types.ConditionCheck{TableName: table, Key: key("c"), ConditionExpression: aws.String("attribute_exists(id)")}},
	}})
	var canceled *types.TransactionCanceledException
	if !errors.As(err, &canceled) || len(canceled.CancellationReasons) != 3 {
		t.Fatalf("got %v, want a TransactionCanceledException with three reasons", err)
	}
	for i, want := range []types.CancellationReason{
		{Code: aws.String("None")},
		{Code: aws.String("ConditionalCheckFailed"), Message: aws.String("The conditional request failed"), Item: there},
		{Code: aws.String("ConditionalCheckFailed"), Message: aws.String("The conditional request failed")},
	} {
		got := canceled.CancellationReasons[i]
		if aws.ToString(got.Code) != *want.Code || aws.ToString(got.Message) != aws.ToString(want.Message) || show(got.Item) != show(want.Item) {
			t.Errorf("reason %d: got %s %q %s, want %s %q %s", i, aws.ToString(got.Code), aws.ToString(got.Message), show(got.Item),
				*want.Code, aws.ToString(want.Message), show(want.Item))
		}
	}

	_, err = client.DescribeTable(ctx, &dynamodb.DescribeTableInput{TableName: aws.String("nothing")})
	var missing *types.ResourceNotFoundException
	if !errors.As(err, &missing) {
		t.Errorf("got %v, want a ResourceNotFoundException", err)
	}
	_, err = client.CreateTable(ctx, onDemand("things", nil, "id S"))
	var inUse *types.ResourceInUseException
	if !errors.As(err, &inUse) {
		t.Errorf("got %v, want a ResourceInUseException", err)
	}
}

func TestTransactionTokensThroughTheSDK(t *testing.T) {
	t.Parallel()
	ctx, db := t.Context(), local.Start(t)
	client := db.Client(noRetry)
	must[*dynamodb.CreateTableOutput](t)(client.CreateTable(ctx, onDemand("things", nil, "id S")))
	add := func(n int) error {
		_, err := client.TransactWriteItems(ctx, &dynamodb.TransactWriteItemsInput{
			ClientRequestToken: aws.String("once"),
			TransactItems: []types.TransactWriteItem{{Update: &types.Update{
				TableName: aws.String("things"), Key: key("a"),
				UpdateExpression: aws.String("ADD n :n"), ExpressionAttributeValues: item{":n": whole(n)},
			}}},
		})
		return err
	}
	for range 3 {
		if err := add(1); err != nil {
			t.Fatal(err)
		}
	}
	out := must[*dynamodb.GetItemOutput](t)(client.GetItem(ctx, &dynamodb.GetItemInput{TableName: aws.String("things"), Key: key("a")}))
	if want := with(key("a"), "n", whole(1)); show(out.Item) != show(want) {
		t.Errorf("got %s, want %s", show(out.Item), show(want))
	}
	var mismatch *types.IdempotentParameterMismatchException
	if err := add(2); !errors.As(err, &mismatch) {
		t.Errorf("got %v, want an IdempotentParameterMismatchException", err)
	}
}

// indexed creates a table with a local and a global index.
func indexed(ctx context.Context, t *testing.T, client *dynamodb.Client, name string) {
	t.Helper()
	must[*dynamodb.CreateTableOutput](t)(client.CreateTable(ctx, onDemand(name, func(in *dynamodb.CreateTableInput) {
		local, localTypes := schema("p S", "l S")
		global, globalTypes := schema("g S")
		in.AttributeDefinitions = append(in.AttributeDefinitions, localTypes[1], globalTypes[0])
		all := &types.Projection{ProjectionType: types.ProjectionTypeAll}
		in.LocalSecondaryIndexes = []types.LocalSecondaryIndex{{IndexName: aws.String("local"), KeySchema: local, Projection: all}}
		in.GlobalSecondaryIndexes = []types.GlobalSecondaryIndex{{IndexName: aws.String("global"), KeySchema: global, Projection: all}}
	}, "p S", "s S")))
}

func TestConsumedCapacityThroughTheSDK(t *testing.T) {
	t.Parallel()
	ctx, db := t.Context(), local.Start(t)
	client := db.Client()
	indexed(ctx, t, client, "things")
	it := item{"p": text("p"), "s": text("s"), "l": text("l"), "g": text("g"), "pad": text(strings.Repeat("x", 1500))}
	put := must[*dynamodb.PutItemOutput](t)(client.PutItem(ctx, &dynamodb.PutItemInput{
		TableName: aws.String("things"), Item: it,
		ReturnConsumedCapacity:      types.ReturnConsumedCapacityIndexes,
		ReturnItemCollectionMetrics: types.ReturnItemCollectionMetricsSize,
	}))
	checkCapacity(t, put.ConsumedCapacity, 6, 2, 2, 2)
	metrics := put.ItemCollectionMetrics
	if metrics == nil || show(item(metrics.ItemCollectionKey)) != show(item{"p": text("p")}) || len(metrics.SizeEstimateRangeGB) != 2 {
		t.Errorf("got item collection metrics %+v, want the key p and two sizes", metrics)
	}

	query := must[*dynamodb.QueryOutput](t)(client.Query(ctx, &dynamodb.QueryInput{
		TableName: aws.String("things"), IndexName: aws.String("global"),
		KeyConditionExpression: aws.String("g = :g"), ExpressionAttributeValues: item{":g": text("g")},
		ReturnConsumedCapacity: types.ReturnConsumedCapacityIndexes,
	}))
	checkCapacity(t, query.ConsumedCapacity, 0.5, 0, -1, 0.5)

	get := must[*dynamodb.TransactGetItemsOutput](t)(client.TransactGetItems(ctx, &dynamodb.TransactGetItemsInput{
		TransactItems: []types.TransactGetItem{{Get: &types.Get{
			TableName: aws.String("things"), Key: item{"p": text("p"), "s": text("s")},
		}}},
		ReturnConsumedCapacity: types.ReturnConsumedCapacityTotal,
	}))
	if len(get.ConsumedCapacity) != 1 || aws.ToFloat64(get.ConsumedCapacity[0].ReadCapacityUnits) != 2 {
		t.Errorf("a transactional read of 1.5 KB cost %+v, want 2 read units", get.ConsumedCapacity)
	}
}

// checkCapacity compares the total and the arms; negative: not there.
func checkCapacity(t *testing.T, got *types.ConsumedCapacity, total, table, local, global float64) {
	t.Helper()
	if got == nil || got.Table == nil {
		t.Fatalf("got %+v, want consumed capacity with arms", got)
	}
	arm := func(indexes map[string]types.Capacity, name string) float64 {
		if c, ok := indexes[name]; ok {
			return aws.ToFloat64(c.CapacityUnits)
		}
		return -1
	}
	have := []float64{
		aws.ToFloat64(got.CapacityUnits), aws.ToFloat64(got.Table.CapacityUnits),
		arm(got.LocalSecondaryIndexes, "local"), arm(got.GlobalSecondaryIndexes, "global"),
	}
	if want := []float64{total, table, local, global}; !slices.Equal(have, want) {
		t.Errorf("total, table, local, global: got %v, want %v", have, want)
	}
}
