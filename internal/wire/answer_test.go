package wire

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/heatsink-go/heatsink/internal/attr"
	"github.com/heatsink-go/heatsink/internal/engine"
)

// wrote compares an answer with JSON that may be laid out more readably.
func wrote[Out any](t *testing.T, write func(*answer, Out), out Out, want string) {
	t.Helper()
	got := written(t, write, out)
	var a, b any
	if err := json.Unmarshal([]byte(got), &a); err != nil {
		t.Fatalf("%v: %s", err, got)
	}
	if err := json.Unmarshal([]byte(want), &b); err != nil {
		t.Fatalf("%v: %s", err, want)
	}
	same(t, a, b)
}

func TestWriteItems(t *testing.T) {
	a := raw(t, `{"pk":{"S":"a"}}`)
	wrote(t, (*answer).getItem, &engine.GetItemOutput{}, `{}`)
	wrote(t, (*answer).getItem, &engine.GetItemOutput{Item: attr.NewRaw(nil)}, `{"Item":{}}`)
	wrote(t, (*answer).write, &engine.WriteOutput{
		Attributes:            a,
		ConsumedCapacity:      &engine.ConsumedCapacity{TableName: "t", Units: 1},
		ItemCollectionMetrics: &engine.ItemCollectionMetrics{Key: item(t, `{"pk":{"S":"a"}}`), LowerGB: 0, UpperGB: 1},
	}, `{"Attributes":{"pk":{"S":"a"}},"ConsumedCapacity":{"TableName":"t","CapacityUnits":1},
		"ItemCollectionMetrics":{"ItemCollectionKey":{"pk":{"S":"a"}},"SizeEstimateRangeGB":[0,1]}}`)
	wrote(t, (*answer).read, &engine.ReadOutput{Items: []attr.Raw{a, a}, Count: 2, ScannedCount: 3, LastEvaluatedKey: item(t, `{"pk":{"S":"a"}}`)},
		`{"Items":[{"pk":{"S":"a"}},{"pk":{"S":"a"}}],"Count":2,"ScannedCount":3,"LastEvaluatedKey":{"pk":{"S":"a"}}}`)
	wrote(t, (*answer).read, &engine.ReadOutput{}, `{"Items":[],"Count":0,"ScannedCount":0}`)
	wrote(t, (*answer).read, &engine.ReadOutput{CountOnly: true, Count: 1, ScannedCount: 1}, `{"Count":1,"ScannedCount":1}`)
}

func TestWriteCapacity(t *testing.T) {
	got := written(t, (*answer).consumed, &engine.ConsumedCapacity{
		TableName: "t", Units: 3.5, Read: new(3.5), Arms: true,
		Table:  engine.Capacity{Units: 0.5, Read: new(0.5)},
		Local:  map[string]engine.Capacity{"l": {Units: 1}},
		Global: map[string]engine.Capacity{"h": {Units: 2, Write: new(1e3)}, "g": {Units: 128}},
	})
	want := `{"ConsumedCapacity":{"TableName":"t","CapacityUnits":3.5,"ReadCapacityUnits":3.5,` +
		`"Table":{"CapacityUnits":0.5,"ReadCapacityUnits":0.5},"LocalSecondaryIndexes":{"l":{"CapacityUnits":1.0}},` +
		`"GlobalSecondaryIndexes":{"g":{"CapacityUnits":128.0},"h":{"CapacityUnits":2.0,"WriteCapacityUnits":1000.0}}}}`
	same(t, got, want)
	same(t, written(t, (*answer).consumed, &engine.ConsumedCapacity{TableName: "t", Arms: true}),
		`{"ConsumedCapacity":{"TableName":"t","CapacityUnits":0.0,"Table":{"CapacityUnits":0.0}}}`)
	same(t, written(t, (*answer).consumed, nil), `{}`)
}

func TestWriteBatches(t *testing.T) {
	a, key := raw(t, `{"pk":{"S":"a"}}`), item(t, `{"pk":{"S":"a"}}`)
	costs := []*engine.ConsumedCapacity{{TableName: "t", Units: 1}, {TableName: "u", Units: 2}}
	const costsText = `"ConsumedCapacity":[{"TableName":"t","CapacityUnits":1},{"TableName":"u","CapacityUnits":2}]`
	collections := map[string][]*engine.ItemCollectionMetrics{"t": {{Key: key, UpperGB: 1}}}
	const collectionsText = `"ItemCollectionMetrics":{"t":[{"ItemCollectionKey":{"pk":{"S":"a"}},"SizeEstimateRangeGB":[0,1]}]}`

	wrote(t, (*answer).batchGetItem, &engine.BatchGetItemOutput{}, `{"Responses":{},"UnprocessedKeys":{}}`)
	wrote(t, (*answer).batchGetItem, &engine.BatchGetItemOutput{
		Responses: []engine.BatchGetResponse{{TableName: "t", Items: []attr.Raw{a}}, {TableName: "u"}},
		Unprocessed: []engine.BatchGetTable{
			{
				TableName: "v", Keys: []attr.Item{key}, ConsistentRead: true,
				Expressions: engine.Expressions{Projection: new("#a"), Names: map[string]string{"#a": "b"}, HasNames: true},
			},
			{TableName: "w", Keys: []attr.Item{key, key}},
		},
		ConsumedCapacity: costs,
	}, `{"Responses":{"t":[{"pk":{"S":"a"}}],"u":[]},"UnprocessedKeys":{
		"v":{"Keys":[{"pk":{"S":"a"}}],"ConsistentRead":true,"ProjectionExpression":"#a","ExpressionAttributeNames":{"#a":"b"}},
		"w":{"Keys":[{"pk":{"S":"a"}},{"pk":{"S":"a"}}],"ConsistentRead":false}},`+costsText+`}`)

	wrote(t, (*answer).batchWriteItem, &engine.BatchWriteItemOutput{}, `{"UnprocessedItems":{}}`)
	wrote(t, (*answer).batchWriteItem, &engine.BatchWriteItemOutput{
		Unprocessed:           []engine.BatchWriteTable{{TableName: "t", Writes: []engine.BatchWrite{{Put: true, Item: key}, {Delete: true, Key: key}}}},
		ItemCollectionMetrics: collections, ConsumedCapacity: costs,
	}, `{"UnprocessedItems":{"t":[{"PutRequest":{"Item":{"pk":{"S":"a"}}}},{"DeleteRequest":{"Key":{"pk":{"S":"a"}}}}]},`+collectionsText+`,`+costsText+`}`)

	wrote(t, (*answer).transactGetItems, &engine.TransactGetItemsOutput{Items: []attr.Raw{a, nil}, ConsumedCapacity: costs},
		`{"Responses":[{"Item":{"pk":{"S":"a"}}},{}],`+costsText+`}`)
	wrote(t, (*answer).transactWriteItems, &engine.TransactWriteItemsOutput{}, `{}`)
	wrote(t, (*answer).transactWriteItems, &engine.TransactWriteItemsOutput{ItemCollectionMetrics: collections, ConsumedCapacity: costs},
		`{`+collectionsText+`,`+costsText+`}`)
}

// aTable has everything a table can have.
func aTable() *engine.TableDescription {
	at := time.UnixMilli(1700000000123)
	throughput := engine.ThroughputDescription{Read: 5, Write: 6, DecreasesToday: 1, LastIncrease: at, LastDecrease: at}
	return &engine.TableDescription{
		TableName: "t", TableID: "id", ARN: "arn", Status: "ACTIVE", Created: at,
		AttributeDefinitions: []engine.AttributeDefinition{{AttributeName: "pk", AttributeType: "S"}},
		KeySchema:            []engine.KeyElement{{AttributeName: "pk", KeyType: "HASH"}},
		ItemCount:            7, SizeBytes: 8, Provisioned: throughput,
		BillingMode: "PAY_PER_REQUEST", BillingModeChanged: at,
		OnDemand: &engine.Throughput{Read: new(int64(9)), Write: new(int64(10))},
		Warm:     engine.WarmThroughput{Read: 12000, Write: 4000, Status: "ACTIVE"},
		LocalIndexes: []engine.IndexDescription{{
			IndexName: "l", ARN: "l-arn", KeySchema: []engine.KeyElement{{AttributeName: "pk", KeyType: "HASH"}},
			ProjectionType: "INCLUDE", NonKey: []string{"a"}, ItemCount: 1, SizeBytes: 2,
		}},
		GlobalIndexes: []engine.IndexDescription{{
			IndexName: "g", ARN: "g-arn", Status: "ACTIVE", KeySchema: []engine.KeyElement{{AttributeName: "x", KeyType: "HASH"}},
			ProjectionType: "ALL", ItemCount: 3, SizeBytes: 4, Provisioned: throughput, OnDemand: &engine.Throughput{Read: new(int64(1))},
			Warm: engine.WarmThroughput{Read: 1, Write: 2, Status: "UPDATING"},
		}},
		StreamViewType: "NEW_IMAGE", LatestStreamARN: "s-arn", LatestStreamLabel: "label",
		TableClass: "STANDARD_INFREQUENT_ACCESS", TableClassChanged: at, DeletionProtection: true, SSEEnabled: true,
	}
}

func TestWriteTables(t *testing.T) {
	const throughput = `"ProvisionedThroughput":{"LastIncreaseDateTime":1700000000.123,"LastDecreaseDateTime":1700000000.123,
		"NumberOfDecreasesToday":1,"ReadCapacityUnits":5,"WriteCapacityUnits":6}`
	full := `{"TableName":"t","TableId":"id","TableArn":"arn","TableStatus":"ACTIVE","CreationDateTime":1700000000.123,
		"AttributeDefinitions":[{"AttributeName":"pk","AttributeType":"S"}],"KeySchema":[{"AttributeName":"pk","KeyType":"HASH"}],
		"ItemCount":7,"TableSizeBytes":8,` + throughput + `,
		"BillingModeSummary":{"BillingMode":"PAY_PER_REQUEST","LastUpdateToPayPerRequestDateTime":1700000000.123},
		"OnDemandThroughput":{"MaxReadRequestUnits":9,"MaxWriteRequestUnits":10},
		"WarmThroughput":{"ReadUnitsPerSecond":12000,"WriteUnitsPerSecond":4000,"Status":"ACTIVE"},
		"LocalSecondaryIndexes":[{"IndexName":"l","IndexArn":"l-arn","KeySchema":[{"AttributeName":"pk","KeyType":"HASH"}],
			"Projection":{"ProjectionType":"INCLUDE","NonKeyAttributes":["a"]},"ItemCount":1,"IndexSizeBytes":2}],
		"GlobalSecondaryIndexes":[{"IndexName":"g","IndexArn":"g-arn","IndexStatus":"ACTIVE","KeySchema":[{"AttributeName":"x","KeyType":"HASH"}],
			"Projection":{"ProjectionType":"ALL"},"ItemCount":3,"IndexSizeBytes":4,` + throughput + `,
			"OnDemandThroughput":{"MaxReadRequestUnits":1},"WarmThroughput":{"ReadUnitsPerSecond":1,"WriteUnitsPerSecond":2,"Status":"UPDATING"}}],
		"StreamSpecification":{"StreamEnabled":true,"StreamViewType":"NEW_IMAGE"},"LatestStreamArn":"s-arn","LatestStreamLabel":"label",
		"TableClassSummary":{"TableClass":"STANDARD_INFREQUENT_ACCESS","LastUpdateDateTime":1700000000.123},
		"SSEDescription":{"Status":"ENABLED","SSEType":"KMS"},"DeletionProtectionEnabled":true}`
	wrote(t, (*answer).describeTable, aTable(), `{"Table":`+full+`}`)
	wrote(t, (*answer).tableDescription, aTable(), `{"TableDescription":`+full+`}`)
	wrote(t, (*answer).describeTable, &engine.TableDescription{TableName: "t", Status: "DELETING"},
		`{"Table":{"TableName":"t","TableStatus":"DELETING","ItemCount":0,"TableSizeBytes":0,"DeletionProtectionEnabled":false,
			"ProvisionedThroughput":{"NumberOfDecreasesToday":0,"ReadCapacityUnits":0,"WriteCapacityUnits":0}}}`)
	wrote(t, (*answer).listTables, &engine.ListTablesOutput{}, `{"TableNames":[]}`)
	wrote(t, (*answer).listTables, &engine.ListTablesOutput{TableNames: []string{"a", "b"}, LastEvaluated: "b"},
		`{"TableNames":["a","b"],"LastEvaluatedTableName":"b"}`)
	wrote(t, (*answer).limits, &engine.Limits{AccountRead: 1, AccountWrite: 2, TableRead: 3, TableWrite: 4},
		`{"AccountMaxReadCapacityUnits":1,"AccountMaxWriteCapacityUnits":2,"TableMaxReadCapacityUnits":3,"TableMaxWriteCapacityUnits":4}`)
	wrote(t, (*answer).updateTimeToLive, &engine.TimeToLive{Enabled: true, AttributeName: "ttl"},
		`{"TimeToLiveSpecification":{"Enabled":true,"AttributeName":"ttl"}}`)
	wrote(t, (*answer).describeTimeToLive, &engine.TimeToLive{Status: "DISABLED"}, `{"TimeToLiveDescription":{"TimeToLiveStatus":"DISABLED"}}`)
}

func TestWriteStreams(t *testing.T) {
	at := time.UnixMilli(1700000000000)
	summary := engine.StreamSummary{ARN: "arn", TableName: "t", Label: "label"}
	const summaryText = `"StreamArn":"arn","TableName":"t","StreamLabel":"label"`
	wrote(t, (*answer).listStreams, &engine.ListStreamsOutput{Streams: []engine.StreamSummary{summary}, LastEvaluated: "arn"},
		`{"Streams":[{`+summaryText+`}],"LastEvaluatedStreamArn":"arn"}`)
	wrote(t, (*answer).describeStream, &engine.StreamDescription{
		StreamSummary: summary, Status: "ENABLED", ViewType: "KEYS_ONLY", Created: at,
		KeySchema: []engine.KeyElement{{AttributeName: "pk", KeyType: "HASH"}},
		Shards: []engine.Shard{
			{ShardID: "a", StartingSequence: "1", EndingSequence: "2"},
			{ShardID: "b", ParentShardID: "a", StartingSequence: "3"},
		},
		LastEvaluatedShard: "b",
	}, `{"StreamDescription":{`+summaryText+`,"StreamStatus":"ENABLED","StreamViewType":"KEYS_ONLY","CreationRequestDateTime":1700000000,
		"KeySchema":[{"AttributeName":"pk","KeyType":"HASH"}],"Shards":[
		{"ShardId":"a","SequenceNumberRange":{"StartingSequenceNumber":"1","EndingSequenceNumber":"2"}},
		{"ShardId":"b","ParentShardId":"a","SequenceNumberRange":{"StartingSequenceNumber":"3"}}],"LastEvaluatedShardId":"b"}}`)
	wrote(t, (*answer).shardIterator, "it", `{"ShardIterator":"it"}`)
	a := raw(t, `{"pk":{"S":"a"}}`)
	wrote(t, (*answer).records, &engine.GetRecordsOutput{
		Records: []engine.StreamRecord{
			{EventID: "1", EventName: "INSERT", Created: at, Keys: a, NewImage: a, Sequence: "10", SizeBytes: 3, ViewType: "NEW_IMAGE"},
			{EventID: "2", EventName: "REMOVE", Created: at, Keys: a, OldImage: a, Sequence: "11", SizeBytes: 3, ViewType: "OLD_IMAGE", Expired: true},
		},
		NextIterator: "next",
	}, `{"Records":[
		{"eventID":"1","eventName":"INSERT","eventVersion":"1.1","eventSource":"aws:dynamodb","awsRegion":"us-east-1","dynamodb":{
			"ApproximateCreationDateTime":1700000000,"Keys":{"pk":{"S":"a"}},"NewImage":{"pk":{"S":"a"}},"SequenceNumber":"10","SizeBytes":3,"StreamViewType":"NEW_IMAGE"}},
		{"eventID":"2","eventName":"REMOVE","eventVersion":"1.1","eventSource":"aws:dynamodb","awsRegion":"us-east-1","dynamodb":{
			"ApproximateCreationDateTime":1700000000,"Keys":{"pk":{"S":"a"}},"OldImage":{"pk":{"S":"a"}},"SequenceNumber":"11","SizeBytes":3,"StreamViewType":"OLD_IMAGE"},
			"userIdentity":{"PrincipalId":"dynamodb.amazonaws.com","Type":"Service"}}],
		"NextShardIterator":"next"}`)
}
