package wire

import (
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/heatsink-go/heatsink/internal/attr"
	"github.com/heatsink-go/heatsink/internal/attr/attrjson"
	"github.com/heatsink-go/heatsink/internal/engine"
)

func same[T any](t *testing.T, got, want T) {
	t.Helper()
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got  %+v\nwant %+v", got, want)
	}
}

func TestReadItems(t *testing.T) {
	key := item(t, `{"pk":{"S":"a"}}`)
	same(t, decoded(t, (*request).putItem, `{
		"TableName": "t", "Item": {"pk":{"S":"a"}}, "ConditionExpression": "#a = :a", "ExpressionAttributeNames": {"#a":"b"},
		"ExpressionAttributeValues": {":a":{"S":"a"}}, "ReturnValues": "ALL_OLD", "ReturnValuesOnConditionCheckFailure": "NONE",
		"ReturnConsumedCapacity": "TOTAL", "ReturnItemCollectionMetrics": "SIZE", "Unknown": {"a":[1]}, "Expected": null }`),
		&engine.PutItemInput{
			TableName: new("t"), Item: key, HasItem: true,
			Expressions: engine.Expressions{
				Condition: new("#a = :a"), Names: map[string]string{"#a": "b"}, HasNames: true,
				Values: item(t, `{":a":{"S":"a"}}`), HasValues: true,
			},
			Returns: engine.Returns{ReturnValues: "ALL_OLD", OnConditionFailure: "NONE", ConsumedCapacity: "TOTAL", ItemCollectionMetrics: "SIZE"},
		})
	same(t, decoded(t, (*request).updateItem, `{"TableName":"t","Key":{"pk":{"S":"a"}},"UpdateExpression":"REMOVE a"}`),
		&engine.UpdateItemInput{TableName: new("t"), Key: key, HasKey: true, Expressions: engine.Expressions{Update: new("REMOVE a")}})
	same(t, decoded(t, (*request).deleteItem, `{"Key":{}}`),
		&engine.DeleteItemInput{Key: attr.Item{}, HasKey: true})
	same(t, decoded(t, (*request).getItem, `{"TableName":"t","Key":{"pk":{"S":"a"}},"ConsistentRead":true,"ProjectionExpression":"a","ReturnConsumedCapacity":"INDEXES"}`),
		&engine.GetItemInput{
			TableName: new("t"), Key: key, HasKey: true, ConsistentRead: true, ConsumedCapacity: "INDEXES",
			Expressions: engine.Expressions{Projection: new("a")},
		})
	same(t, decoded(t, (*request).getItem, `{}`), &engine.GetItemInput{})
	same(t, decoded(t, (*request).getItem, `{"TableName":"","Key":null}`), &engine.GetItemInput{TableName: new("")})
}

func TestReadQueries(t *testing.T) {
	common := `"TableName":"t","IndexName":"i","Select":"COUNT","Limit":5,"ConsistentRead":true,"ExclusiveStartKey":{"pk":{"S":"a"}},
		"ReturnConsumedCapacity":"TOTAL","FilterExpression":"f","ProjectionExpression":"p"`
	want := engine.ReadInput{
		TableName: new("t"), IndexName: new("i"), Select: "COUNT", Limit: new(int64(5)), ConsistentRead: true,
		ExclusiveStartKey: item(t, `{"pk":{"S":"a"}}`), HasStartKey: true, ConsumedCapacity: "TOTAL",
		Expressions: engine.Expressions{Filter: new("f"), Projection: new("p")},
	}
	query := want
	query.ScanIndexForward, query.KeyCondition = new(false), new("k")
	same(t, decoded(t, (*request).query, `{`+common+`,"ScanIndexForward":false,"KeyConditionExpression":"k"}`), &query)
	scan := want
	scan.Segment, scan.TotalSegments = new(int64(0)), new(int64(4))
	same(t, decoded(t, (*request).scan, `{`+common+`,"Segment":0,"TotalSegments":4}`), &scan)
}

// No operation minds members that it does not know, whatever they hold.
func TestUnknownMembersAreIgnored(t *testing.T) {
	e, err := engine.Open(engine.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	h := NewHandler(e, Options{Unsigned: true})
	for target := range operations {
		want := do(h, post(target, `{}`))
		got := do(h, post(target, `{"Unknown":{"a":[1,{"b":null}],"c":"d"},"More":"x","None":null,"List":[[]]}`))
		if got.Code != want.Code || got.Body.String() != want.Body.String() {
			t.Errorf("%s: got %d %s, want %d %s", target, got.Code, got.Body, want.Code, want.Body)
		}
	}
}

// A parameter that an operation does not have is skipped, whatever it is.
func TestMembersOfOtherOperations(t *testing.T) {
	others := func(names ...string) string {
		var body strings.Builder
		for _, name := range names {
			body.WriteString(`,"` + name + `":{"no":"string"}`)
		}
		return `{"TableName":"t"` + body.String() + `}`
	}
	const (
		condition, filter, key = "ConditionExpression", "FilterExpression", "KeyConditionExpression"
		projection, update     = "ProjectionExpression", "UpdateExpression"
		values                 = "ExpressionAttributeValues"
	)
	same(t, decoded(t, (*request).putItem, others(filter, key, projection, update)), &engine.PutItemInput{TableName: new("t")})
	same(t, decoded(t, (*request).updateItem, others(filter, key, projection)), &engine.UpdateItemInput{TableName: new("t")})
	same(t, decoded(t, (*request).deleteItem, others(filter, key, projection, update)), &engine.DeleteItemInput{TableName: new("t")})
	same(t, decoded(t, (*request).getItem, others(condition, filter, key, update, values)), &engine.GetItemInput{TableName: new("t")})
	same(t, decoded(t, (*request).query, others(condition, update)), &engine.ReadInput{TableName: new("t")})
	same(t, decoded(t, (*request).scan, others(condition, key, update)), &engine.ReadInput{TableName: new("t")})
	same(t, decoded(t, (*request).batchGetItem, `{"RequestItems":{"t":`+others(condition, filter, key, update, values)+`}}`),
		&engine.BatchGetItemInput{Tables: []engine.BatchGetTable{{TableName: "t"}}})
	same(t, decoded(t, (*request).batchWriteItem, others("ReturnValues", "ReturnValuesOnConditionCheckFailure")), &engine.BatchWriteItemInput{})
	same(t, decoded(t, (*request).transactWriteItems, others("ReturnValues", "ReturnValuesOnConditionCheckFailure")),
		&engine.TransactWriteItemsInput{})
}

func TestReadBatches(t *testing.T) {
	a, b := item(t, `{"pk":{"S":"a"}}`), item(t, `{"pk":{"S":"b"}}`)
	same(t, decoded(t, (*request).batchGetItem, `{"RequestItems":{
		"t2":{"Keys":[{"pk":{"S":"a"}},{"pk":{"S":"b"}}],"ConsistentRead":true,"ProjectionExpression":"p","ExpressionAttributeNames":{}},
		"t1":{"Keys":[{"pk":{"S":"x"}}]}, "t1":{"Keys":[{"pk":{"S":"b"}}]}}, "ReturnConsumedCapacity":"TOTAL"}`),
		&engine.BatchGetItemInput{
			Tables: []engine.BatchGetTable{
				{
					TableName: "t2", Keys: []attr.Item{a, b}, ConsistentRead: true,
					Expressions: engine.Expressions{Projection: new("p"), Names: map[string]string{}, HasNames: true},
				},
				{TableName: "t1", Keys: []attr.Item{b}},
			},
			ConsumedCapacity: "TOTAL",
		})
	same(t, decoded(t, (*request).batchWriteItem, `{"RequestItems":{"t":[
		{"PutRequest":{"Item":{"pk":{"S":"a"}}}},{"DeleteRequest":{"Key":{"pk":{"S":"b"}}}},{},{"PutRequest":{}},{"DeleteRequest":{"Key":null}}]},"ReturnItemCollectionMetrics":"SIZE"}`),
		&engine.BatchWriteItemInput{
			Tables: []engine.BatchWriteTable{{TableName: "t", Writes: []engine.BatchWrite{
				{Item: a, Put: true}, {Key: b, Delete: true}, {}, {Put: true, NoItem: true}, {Delete: true, NoKey: true},
			}}},
			Returns: engine.Returns{ItemCollectionMetrics: "SIZE"},
		})
	same(t, decoded(t, (*request).batchGetItem, `{"RequestItems":{}}`), &engine.BatchGetItemInput{})
}

func TestReadTransactions(t *testing.T) {
	a := item(t, `{"pk":{"S":"a"}}`)
	same(t, decoded(t, (*request).transactWriteItems, `{"ClientRequestToken":"token","ReturnConsumedCapacity":"TOTAL","TransactItems":[
		{"Put":{"TableName":"t","Item":{"pk":{"S":"a"}}}},
		{"Update":{"TableName":"t","Key":{"pk":{"S":"a"}},"UpdateExpression":"u"}},
		{"Delete":{"TableName":"t","Key":{"pk":{"S":"a"}},"ReturnValuesOnConditionCheckFailure":"ALL_OLD"}},
		{"ConditionCheck":{"TableName":"t","Key":{"pk":{"S":"a"}},"ConditionExpression":"c"}},
		{}]}`),
		&engine.TransactWriteItemsInput{
			Actions: []engine.TransactWrite{
				{Put: &engine.PutItemInput{TableName: new("t"), Item: a, HasItem: true}},
				{Update: &engine.UpdateItemInput{TableName: new("t"), Key: a, HasKey: true, Expressions: engine.Expressions{Update: new("u")}}},
				{Delete: &engine.DeleteItemInput{TableName: new("t"), Key: a, HasKey: true, Returns: engine.Returns{OnConditionFailure: "ALL_OLD"}}},
				{ConditionCheck: &engine.DeleteItemInput{TableName: new("t"), Key: a, HasKey: true, Expressions: engine.Expressions{Condition: new("c")}}},
				{},
			},
			HasActions: true, ClientRequestToken: new("token"), Returns: engine.Returns{ConsumedCapacity: "TOTAL"},
		})
	same(t, decoded(t, (*request).transactGetItems, `{"TransactItems":[{"Get":{"TableName":"t","Key":{"pk":{"S":"a"}}}},{}]}`),
		&engine.TransactGetItemsInput{Gets: []*engine.GetItemInput{{TableName: new("t"), Key: a, HasKey: true}, nil}, HasGets: true})
}

func TestReadTables(t *testing.T) {
	schema := []engine.KeyElement{{AttributeName: "pk", KeyType: "HASH"}, {AttributeName: "sk", KeyType: "RANGE"}}
	const schemaText = `"KeySchema":[{"AttributeName":"pk","KeyType":"HASH"},{"AttributeName":"sk","KeyType":"RANGE"}]`
	same(t, decoded(t, (*request).createTable, `{"TableName":"t",`+schemaText+`,
		"AttributeDefinitions":[{"AttributeName":"pk","AttributeType":"S"}],
		"LocalSecondaryIndexes":[{"IndexName":"l",`+schemaText+`,"Projection":{"ProjectionType":"INCLUDE","NonKeyAttributes":["a","b"]}}],
		"GlobalSecondaryIndexes":[{"IndexName":"g","ProvisionedThroughput":{"ReadCapacityUnits":1,"WriteCapacityUnits":2},
			"OnDemandThroughput":{"MaxReadRequestUnits":3},"WarmThroughput":{"WriteUnitsPerSecond":4}}],
		"BillingMode":"PROVISIONED","ProvisionedThroughput":{"ReadCapacityUnits":5,"WriteCapacityUnits":6},
		"OnDemandThroughput":{"MaxReadRequestUnits":7,"MaxWriteRequestUnits":-1},"WarmThroughput":{"ReadUnitsPerSecond":12000,"WriteUnitsPerSecond":4000},
		"StreamSpecification":{"StreamEnabled":true,"StreamViewType":"NEW_IMAGE"},"TableClass":"STANDARD","DeletionProtectionEnabled":true,
		"SSESpecification":{"Enabled":true,"SSEType":"KMS","KMSMasterKeyId":"k"},"Tags":[]}`),
		&engine.CreateTableInput{
			TableName: new("t"), KeySchema: schema, HasKeySchema: true,
			AttributeDefinitions: []engine.AttributeDefinition{{AttributeName: "pk", AttributeType: "S"}}, HasDefinitions: true,
			LocalIndexes: []engine.IndexInput{{
				IndexName: new("l"), KeySchema: schema, HasKeySchema: true,
				Projection: &engine.Projection{Type: new("INCLUDE"), NonKeyAttributes: []string{"a", "b"}, HasNonKey: true},
			}}, HasLocalIndexes: true,
			GlobalIndexes: []engine.IndexInput{{
				IndexName:             new("g"),
				ProvisionedThroughput: &engine.Throughput{Read: new(int64(1)), Write: new(int64(2))},
				OnDemandThroughput:    &engine.Throughput{Read: new(int64(3))},
				WarmThroughput:        &engine.Throughput{Write: new(int64(4))},
			}}, HasGlobalIndexes: true,
			BillingMode:           new("PROVISIONED"),
			ProvisionedThroughput: &engine.Throughput{Read: new(int64(5)), Write: new(int64(6))},
			OnDemandThroughput:    &engine.Throughput{Read: new(int64(7)), Write: new(int64(-1))},
			WarmThroughput:        &engine.Throughput{Read: new(int64(12000)), Write: new(int64(4000))},
			Stream:                &engine.StreamSpecification{Enabled: new(true), ViewType: new("NEW_IMAGE")},
			TableClass:            new("STANDARD"), DeletionProtection: new(true), Encryption: &engine.Encryption{Enabled: new(true), Type: new("KMS"), Key: new("k")},
		})
	same(t, decoded(t, (*request).updateTable, `{"TableName":"t","BillingMode":"PAY_PER_REQUEST","AttributeDefinitions":[],
		"GlobalSecondaryIndexUpdates":[{"Create":{"IndexName":"a"}},{"Update":{"IndexName":"b"}},{"Delete":{"IndexName":"c"}}],
		"StreamSpecification":{"StreamEnabled":false},"DeletionProtectionEnabled":false,"ReplicaUpdates":[]}`),
		&engine.UpdateTableInput{
			TableName: new("t"), BillingMode: new("PAY_PER_REQUEST"),
			IndexUpdates: []engine.IndexUpdate{
				{Create: &engine.IndexInput{IndexName: new("a")}},
				{Update: &engine.IndexInput{IndexName: new("b")}},
				{Delete: &engine.IndexInput{IndexName: new("c")}},
			}, HasIndexUpdates: true,
			Stream: &engine.StreamSpecification{Enabled: new(false)}, DeletionProtection: new(false),
		})
	same(t, decoded(t, (*request).table, `{"TableName":"t"}`), &engine.TableInput{TableName: new("t")})
	same(t, decoded(t, (*request).listTables, `{"ExclusiveStartTableName":"t","Limit":3}`),
		&engine.ListTablesInput{ExclusiveStart: new("t"), Limit: new(int64(3))})
	same(t, decoded(t, (*request).updateTimeToLive, `{"TableName":"t","TimeToLiveSpecification":{"Enabled":true,"AttributeName":"ttl"}}`),
		&engine.UpdateTimeToLiveInput{TableName: new("t"), Enabled: new(true), AttributeName: new("ttl"), HasSpec: true})
}

func TestReadStreams(t *testing.T) {
	same(t, decoded(t, (*request).listStreams, `{"TableName":"t","ExclusiveStartStreamArn":"a","Limit":1}`),
		&engine.ListStreamsInput{TableName: new("t"), ExclusiveStart: new("a"), Limit: new(int64(1))})
	same(t, decoded(t, (*request).describeStream, `{"StreamArn":"a","Limit":1,"ExclusiveStartShardId":"s","ShardFilter":{"Type":"CHILD_SHARDS","ShardId":"p"}}`),
		&engine.DescribeStreamInput{
			StreamARN: new("a"), Limit: new(int64(1)), ExclusiveStartShard: new("s"),
			HasFilter: true, FilterType: new("CHILD_SHARDS"), FilterShard: new("p"),
		})
	same(t, decoded(t, (*request).getShardIterator, `{"StreamArn":"a","ShardId":"s","ShardIteratorType":"AT_TIMESTAMP","SequenceNumber":"1","Timestamp":1700000000.25}`),
		&engine.GetShardIteratorInput{
			StreamARN: new("a"), ShardID: new("s"), Type: new("AT_TIMESTAMP"), SequenceNumber: new("1"),
			Timestamp: new(time.UnixMilli(1700000000250)),
		})
	same(t, decoded(t, (*request).getRecords, `{"ShardIterator":"i","Limit":10}`),
		&engine.GetRecordsInput{ShardIterator: new("i"), Limit: new(int64(10))})
}

// The parameters that expressions replaced, as far as they are there: null is not.
func TestReadLegacy(t *testing.T) {
	one := item(t, `{"n":{"N":"1"}}`).Get("n")
	same(t, decoded(t, (*request).updateItem, `{"AttributeUpdates":{"a":{"Action":"ADD","Value":{"N":"1"}},"b":{}},"Expected":{"a":{"Exists":true,"Value":{"N":"1"}}},"ConditionalOperator":"OR"}`).Legacy,
		&engine.Legacy{
			AttributeUpdates:    []engine.AttributeUpdate{{Name: "a", Action: new("ADD"), Value: &one}, {Name: "b"}},
			Expected:            []engine.AttributeCondition{{Name: "a", Exists: new(true), Value: &one}},
			ConditionalOperator: new("OR"),
		})
	condition := engine.AttributeCondition{Name: "a", Comparison: new("IN"), Values: []attr.Value{one, one}, HasValues: true}
	same(t, decoded(t, (*request).query, `{"KeyConditions":{},"QueryFilter":{"a":{"ComparisonOperator":"EQ"},"a":{"ComparisonOperator":"IN","AttributeValueList":[{"N":"1"},{"N":"1"}]}},"AttributesToGet":[]}`).Legacy,
		&engine.Legacy{KeyConditions: []engine.AttributeCondition{}, QueryFilter: []engine.AttributeCondition{condition}, AttributesToGet: []string{}})
	same(t, decoded(t, (*request).query, `{"KeyConditions":null,"AttributesToGet":null,"ConditionalOperator":null}`).Legacy, nil)
	same(t, decoded(t, (*request).putItem, `{"Expected":null}`).Legacy, nil)

	// A few bytes of a request do not take many of memory.
	many := `{"Expected":{` + strings.Repeat(`"a":{"AttributeValueList":[{"S":"x"},{"S":"x"}]},`, 200_000) + `"b":{}}}`
	in := decoded(t, (*request).putItem, many)
	if in.BadValue == nil || !strings.Contains(in.BadValue.Error(), "larger than 2 MB") || len(in.Legacy.Expected) != 1 {
		t.Errorf("got %v and %d conditions", in.BadValue, len(in.Legacy.Expected))
	}
	large := `{"S":"` + strings.Repeat("x", 1<<20) + `"}`
	for what, body := range map[string]string{
		"values of one condition":  `"Expected":{"a":{"AttributeValueList":[` + large + `,` + large + `,` + large + `]}}`,
		"a value of each":          `"Expected":{"a":{"Value":` + large + `},"b":{"Value":` + large + `},"c":{"Value":` + large + `}}`,
		"a value of each update":   `"AttributeUpdates":{"a":{"Value":` + large + `},"b":{"Value":` + large + `},"c":{"Value":` + large + `}}`,
		"many updates of nothing":  `"AttributeUpdates":{` + strings.Repeat(`"a":{},`, 250_000) + `"b":{}}`,
		"many conditions of none":  `"Expected":{` + strings.Repeat(`"a":{},`, 250_000) + `"b":{}}`,
		"another fault before all": `"ExpressionAttributeValues":{":v":{"N":"x"}},"AttributeUpdates":{"a":{"Value":` + large + `},"b":{"Value":` + large + `},"c":{"Value":` + large + `}}`,
	} {
		in := decoded(t, (*request).updateItem, `{`+body+`}`)
		want := "larger than 2 MB"
		if strings.HasPrefix(what, "another") {
			want = "cannot be converted to a numeric value"
		}
		if in.BadValue == nil || !strings.Contains(in.BadValue.Error(), want) {
			t.Errorf("%s: got %v, want %q", what, in.BadValue, want)
		}
		for _, c := range in.Legacy.Expected {
			if len(c.Values) > 2 {
				t.Errorf("%s: %d values of a megabyte are kept", what, len(c.Values))
			}
		}
	}
}

func TestUnsupportedParameters(t *testing.T) {
	for _, c := range []struct {
		name string
		got  string
	}{
		{"VectorIndexes", decoded(t, (*request).createTable, `{"VectorIndexes":[{}]}`).Unsupported},
		{"ReplicaUpdates", decoded(t, (*request).updateTable, `{"ReplicaUpdates":[{}]}`).Unsupported},
		{"", decoded(t, (*request).createTable, `{"VectorIndexes":[]}`).Unsupported},
	} {
		if c.got != c.name {
			t.Errorf("got %q, want %q", c.got, c.name)
		}
	}
}

func TestBadValues(t *testing.T) {
	const (
		numeric = "The parameter cannot be converted to a numeric value: "
		expr    = "ExpressionAttributeValues contains invalid value: "
	)
	for _, c := range []struct {
		name string
		got  error
		want string
	}{
		{"item", decoded(t, (*request).putItem, `{"Item":{"a":{"N":"x"},"b":{"N":"y"}}}`).BadValue, numeric + "x"},
		{"none", decoded(t, (*request).putItem, `{"Item":{"a":{"N":"1"}}}`).BadValue, ""},
		{
			"expression values", decoded(t, (*request).putItem, `{"ExpressionAttributeValues":{":a":{"S":""},":b":{"L":[{"N":"y"}]}}}`).BadValue,
			expr + numeric + "y for key :b",
		},
		{
			"item before expression values",
			decoded(t, (*request).putItem, `{"ExpressionAttributeValues":{":b":{"N":"y"}},"Item":{"a":{"N":"x"}}}`).BadValue, numeric + "x",
		},
		{
			"null", decoded(t, (*request).updateItem, `{"ExpressionAttributeValues":{":a":{"NULL":false}}}`).BadValue,
			"ExpressionAttributeValues contains invalid value: One or more parameter values were invalid: Null attribute value types must have the value of true for key :a",
		},
		{
			"nesting", decoded(t, (*request).updateItem, `{"ExpressionAttributeValues":{":a":`+strings.Repeat(`{"L":[`, 32)+`{"S":""}`+strings.Repeat(`]}`, 32)+`}}`).BadValue,
			"Nesting Levels have exceeded supported limits: Attributes in the item have nested levels beyond supported limit",
		},
		{"batch", decoded(t, (*request).batchWriteItem, `{"RequestItems":{"t":[{"PutRequest":{"Item":{"a":{"N":"x"}}}}]}}`).BadValue, numeric + "x"},
		{"start key", decoded(t, (*request).scan, `{"ExclusiveStartKey":{"a":{"N":"x"}}}`).BadStart, numeric + "x"},
		{"start key, its own", decoded(t, (*request).scan, `{"ExclusiveStartKey":{"a":{"N":"x"}}}`).BadValue, ""},
		{"key conditions", decoded(t, (*request).query, `{"KeyConditions":{"a":{"AttributeValueList":[{"N":"x"}]}}}`).BadKey, numeric + "x"},
	} {
		t.Run(c.name, func(t *testing.T) {
			var fault attr.Fault
			if c.want == "" {
				same(t, c.got, nil)
			} else if !errors.As(c.got, &fault) || string(fault) != c.want {
				t.Errorf("got %v, want %s", c.got, c.want)
			}
		})
	}
	tx := decoded(t, (*request).transactWriteItems, `{"TransactItems":[{"Put":{"Item":{"a":{"S":""}}}},
		{"Put":{"Item":{"a":{"N":"x"}}}},{"Update":{"ExpressionAttributeValues":{":b":{"N":"y"}}}},{"Delete":{"Key":{}}}]}`)
	same(t, tx.BadValue, error(attr.Fault(numeric+"x")))
	same(t, tx.Actions[0].Put.BadValue, nil)
	same(t, tx.Actions[1].Put.BadValue, error(attr.Fault(numeric+"x")))
	same(t, tx.Actions[2].Update.BadValue, error(attr.Fault(expr+numeric+"y for key :b")))
	same(t, tx.Actions[3].Delete.BadValue, nil)
}

func TestListsAreBounded(t *testing.T) {
	many := strings.TrimSuffix(strings.Repeat("{},", 100_000), ",")
	if n := len(decoded(t, (*request).transactWriteItems, `{"TransactItems":[`+many+`]}`).Actions); n != mostElements+1 {
		t.Errorf("got %d actions", n)
	}
	var body strings.Builder
	for i := range 100_000 {
		body.WriteString(`,"t` + strings.Repeat("x", i%50) + string(rune('0'+i%10)) + `":[]`)
	}
	decoded(t, (*request).batchWriteItem, `{"RequestItems":{`+body.String()[1:]+`}}`)
}

func TestTooManyNamesAndValues(t *testing.T) {
	var names strings.Builder
	for i := range 500_000 {
		fmt.Fprintf(&names, `,"#%x":"n"`, i)
	}
	long := strings.Repeat("x", maxNames/2-2)
	for _, c := range []struct{ name, body, want string }{
		{"names", `{"ExpressionAttributeNames":{` + names.String()[1:] + `}}`, string(errNames)},
		{"two megabytes of names", `{"ExpressionAttributeNames":{"#a":"` + long + `","#b":"` + long + `"}}`, ""},
		{"a byte more", `{"ExpressionAttributeNames":{"#a":"` + long + `","#bc":"` + long + `"}}`, string(errNames)},
		{"values", `{"ExpressionAttributeValues":{":a":{"L":[` + strings.Repeat(`{"S":""},`, 450_000) + `{"S":""}]}}}`, string(attrjson.ErrValuesSize)},
	} {
		in := decoded(t, (*request).updateItem, c.body)
		got := ""
		if in.BadValue != nil {
			got = in.BadValue.Error()
		}
		if got != c.want {
			t.Errorf("%s: got %s, want %s", c.name, got, c.want)
		}
		size := 0
		for key, name := range in.Names {
			size += len(key) + len(name)
		}
		if size > maxNames {
			t.Errorf("%s: %d bytes of names were kept", c.name, size)
		}
	}
}

// A large item is no fault of the values: the engine finds it too large, after
// what comes before that.
func TestTooLargeItem(t *testing.T) {
	in := decoded(t, (*request).putItem, `{"Item":{"a":{"L":[`+strings.Repeat(`{"S":""},`, 450_000)+`{"S":""}]}}}`)
	if n := len(in.Item.Get("a").List); n > 410_000 || in.Item.Size() <= 400<<10 || in.BadValue != nil {
		t.Errorf("got %d elements, %d bytes, %v", n, in.Item.Size(), in.BadValue)
	}
}

func TestTheEngineMayKeepWhatItIsGiven(t *testing.T) {
	s := &stub[engine.PutItemInput, *engine.WriteOutput]{out: &engine.WriteOutput{}}
	h := s.serve(dynamoDB+"PutItem", (*request).putItem, (*answer).write, Options{Unsigned: true})
	do(h, post(dynamoDB+"PutItem", `{"TableName":"first","Item":{"pk":{"S":"first"},"l":{"L":[{"S":"first"}]}}}`))
	first := s.in
	for range 10 {
		do(h, post(dynamoDB+"PutItem", `{"TableName":"other","Item":{"pk":{"S":"other"},"l":{"L":[{"S":"other"}]}}}`))
	}
	same(t, first, &engine.PutItemInput{TableName: new("first"), Item: item(t, `{"pk":{"S":"first"},"l":{"L":[{"S":"first"}]}}`), HasItem: true})
}

// A time beyond all that can be counted stays one of the future or of the past.
func TestReadTimes(t *testing.T) {
	for _, c := range []struct {
		text   string
		future bool
	}{{"1e15", true}, {"1e17", true}, {"9e18", true}, {"1e25", true}, {"1e308", true}, {"-1e25", false}, {"0", false}} {
		got := decoded(t, (*request).getShardIterator, `{"Timestamp":`+c.text+`}`)
		if got.Timestamp.After(time.Now()) != c.future {
			t.Errorf("%s: got %v", c.text, got.Timestamp)
		}
	}
}
