package heatlambda_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/aws/aws-lambda-go/events"
	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/aws-sdk-go-v2/service/dynamodbstreams"
	streamtypes "github.com/aws/aws-sdk-go-v2/service/dynamodbstreams/types"

	"github.com/heatsink-go/heatsink/heat"
	"github.com/heatsink-go/heatsink/heat/heatlambda"
	"github.com/heatsink-go/heatsink/internal/bubble"
	"github.com/heatsink-go/heatsink/layout"
	"github.com/heatsink-go/heatsink/local"
)

// asJSON writes a value as DynamoDB JSON.
func asJSON(v streamtypes.AttributeValue) any {
	switch v := v.(type) {
	case *streamtypes.AttributeValueMemberS:
		return map[string]any{"S": v.Value}
	case *streamtypes.AttributeValueMemberN:
		return map[string]any{"N": v.Value}
	case *streamtypes.AttributeValueMemberB:
		return map[string]any{"B": v.Value}
	case *streamtypes.AttributeValueMemberBOOL:
		return map[string]any{"BOOL": v.Value}
	case *streamtypes.AttributeValueMemberNULL:
		return map[string]any{"NULL": true}
	case *streamtypes.AttributeValueMemberSS:
		return map[string]any{"SS": v.Value}
	case *streamtypes.AttributeValueMemberNS:
		return map[string]any{"NS": v.Value}
	case *streamtypes.AttributeValueMemberBS:
		return map[string]any{"BS": v.Value}
	case *streamtypes.AttributeValueMemberL:
		list := []any{}
		for _, m := range v.Value {
			list = append(list, asJSON(m))
		}
		return map[string]any{"L": list}
	case *streamtypes.AttributeValueMemberM:
		return map[string]any{"M": imageJSON(v.Value)}
	}
	panic(fmt.Sprintf("%T", v))
}

func imageJSON(image map[string]streamtypes.AttributeValue) map[string]any {
	if image == nil {
		return nil
	}
	all := make(map[string]any)
	for name, v := range image {
		all[name] = asJSON(v)
	}
	return all
}

// eventOf returns records as Lambda hands them to a function: by way of JSON.
func eventOf(t *testing.T, records []streamtypes.Record) (event events.DynamoDBEvent) {
	t.Helper()
	var list []any
	for _, r := range records {
		d := map[string]any{
			"ApproximateCreationDateTime": r.Dynamodb.ApproximateCreationDateTime.Unix(), "Keys": imageJSON(r.Dynamodb.Keys),
			"SequenceNumber": aws.ToString(r.Dynamodb.SequenceNumber), "SizeBytes": aws.ToInt64(r.Dynamodb.SizeBytes), "StreamViewType": r.Dynamodb.StreamViewType,
		}
		if r.Dynamodb.OldImage != nil {
			d["OldImage"] = imageJSON(r.Dynamodb.OldImage)
		}
		if r.Dynamodb.NewImage != nil {
			d["NewImage"] = imageJSON(r.Dynamodb.NewImage)
		}
		list = append(list, map[string]any{"eventID": aws.ToString(r.EventID), "eventName": r.EventName, "eventSource": "aws:dynamodb", "awsRegion": "us-east-1", "dynamodb": d})
	}
	text, err := json.Marshal(map[string]any{"Records": list})
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(text, &event); err != nil {
		t.Fatal(err)
	}
	return event
}

// recordsOf reads all of a table's stream.
func recordsOf(t *testing.T, streams *dynamodbstreams.Client, arn string) (all []streamtypes.Record) {
	t.Helper()
	ctx := context.Background()
	described, err := streams.DescribeStream(ctx, &dynamodbstreams.DescribeStreamInput{StreamArn: &arn})
	if err != nil {
		t.Fatal(err)
	}
	for _, shard := range described.StreamDescription.Shards {
		at, err := streams.GetShardIterator(ctx, &dynamodbstreams.GetShardIteratorInput{StreamArn: &arn, ShardId: shard.ShardId, ShardIteratorType: streamtypes.ShardIteratorTypeTrimHorizon})
		if err != nil {
			t.Fatal(err)
		}
		for next, empty := at.ShardIterator, 0; next != nil && empty < 3; {
			out, err := streams.GetRecords(ctx, &dynamodbstreams.GetRecordsInput{ShardIterator: next})
			if err != nil {
				t.Fatal(err)
			}
			if empty++; len(out.Records) > 0 {
				empty = 0
			}
			all = append(all, out.Records...)
			next = out.NextShardIterator
		}
	}
	return all
}

// Document 004: a function that the stream invokes finds the hot key, as a reader of the stream itself does.
func TestHotKeyInLambda(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		ctx := context.Background()
		db, err := local.New(local.Options{})
		if err != nil {
			t.Fatal(err)
		}
		defer db.Close()
		client := db.Client()
		created, err := client.CreateTable(ctx, &dynamodb.CreateTableInput{
			TableName: aws.String("user-events"), BillingMode: types.BillingModePayPerRequest,
			AttributeDefinitions: []types.AttributeDefinition{{AttributeName: aws.String("userId"), AttributeType: "S"}, {AttributeName: aws.String("eventId"), AttributeType: "S"}},
			KeySchema:            []types.KeySchemaElement{{AttributeName: aws.String("userId"), KeyType: "HASH"}, {AttributeName: aws.String("eventId"), KeyType: "RANGE"}},
			StreamSpecification:  &types.StreamSpecification{StreamEnabled: aws.Bool(true), StreamViewType: types.StreamViewTypeNewAndOldImages},
		})
		if err != nil {
			t.Fatal(err)
		}
		put := func(user string, n int) {
			if _, err := client.PutItem(ctx, &dynamodb.PutItemInput{TableName: aws.String("user-events"), Item: map[string]types.AttributeValue{
				"userId": &types.AttributeValueMemberS{Value: user}, "eventId": &types.AttributeValueMemberS{Value: fmt.Sprint(n)},
				"tags": &types.AttributeValueMemberSS{Value: []string{"a", "b"}}, "ns": &types.AttributeValueMemberNS{Value: []string{"1"}},
				"bin": &types.AttributeValueMemberB{Value: []byte{1, 2}}, "bs": &types.AttributeValueMemberBS{Value: [][]byte{{1}}},
				"map":  &types.AttributeValueMemberM{Value: map[string]types.AttributeValue{"n": &types.AttributeValueMemberN{Value: "1.50"}, "no": &types.AttributeValueMemberNULL{Value: true}}},
				"list": &types.AttributeValueMemberL{Value: []types.AttributeValue{&types.AttributeValueMemberBOOL{Value: true}}},
				"data": &types.AttributeValueMemberS{Value: strings.Repeat("x", 1500)},
			}}); err != nil {
				t.Fatal(err)
			}
		}
		for n := range 1000 {
			put("user-12345", n)
			if n%10 == 0 {
				put(fmt.Sprint("user-", n), n)
				put("_hs#L#events##user-12345", n)
			}
		}
		records := recordsOf(t, db.StreamsClient(), aws.ToString(created.TableDescription.LatestStreamArn))

		reader, err := heatlambda.New(ctx, client, "user-events", heat.Options{})
		if err != nil {
			t.Fatal(err)
		}
		for from := 0; from < len(records); from += 100 { // as Lambda has batches
			if err := reader.Add(eventOf(t, records[from:min(from+100, len(records))])); err != nil {
				t.Fatal(err)
			}
		}
		own, err := heat.OpenStream(ctx, client, db.StreamsClient(), "user-events", heat.StreamOptions{FromStart: true, UntilNow: true})
		if err != nil {
			t.Fatal(err)
		}
		if err := own.Run(ctx); err != nil {
			t.Fatal(err)
		}
		got, want := reader.Report().Resources[0].Writes, own.Report().Resources[0].Writes
		if len(records) != 1200 || reader.Records() != own.Records() || got.Units != want.Units || got.Requests != want.Requests || got.Control != want.Control {
			t.Errorf("got %v units of %d, %+v; a reader of the stream has %v of %d, %+v", got.Units, got.Requests, got.Control, want.Units, want.Requests, want.Control)
		}
		if hot := got.Keys[0]; hot.Key != "user-12345" || hot.Requests != 1000 || hot.Units != 2000 || got.Control.Requests != 100 {
			t.Errorf("got %+v, %+v", hot, got.Control)
		}
		found := false
		for _, f := range heat.Explain(reader.Report(), heat.Rules{}) {
			found = found || f.Key == "user-12345"
			t.Logf("a function in AWS Lambda logs: %s: %s", f.Severity, f.Message)
		}
		if !found {
			t.Error("no finding names the hot key")
		}
	})
}

// A function that may not describe tables names the key.
func TestNewWithoutAClient(t *testing.T) {
	ctx := t.Context()
	if _, err := heatlambda.New(ctx, nil, "t", heat.Options{}); err == nil || !strings.HasPrefix(err.Error(), "heatlambda: new stream counter: no client and no Options.Keys for table t") {
		t.Errorf("got %v", err)
	}
	if _, err := heatlambda.New(ctx, nil, "t", heat.Options{Top: -1}); err == nil || !strings.Contains(err.Error(), "invalid options") {
		t.Errorf("got %v", err)
	}
	reader, err := heatlambda.New(ctx, nil, "t", heat.Options{Keys: map[string][]string{"t": {"pk"}}})
	if err != nil {
		t.Fatal(err)
	}
	key := map[string]events.DynamoDBAttributeValue{"pk": events.NewStringAttribute("a"), "sk": events.NewStringAttribute("b")}
	good := events.DynamoDBEventRecord{EventID: "1", EventName: "INSERT", Change: events.DynamoDBStreamRecord{Keys: key, NewImage: key}}
	bad := events.DynamoDBEventRecord{EventID: "2", EventName: "INSERT", Change: events.DynamoDBStreamRecord{Keys: map[string]events.DynamoDBAttributeValue{"pk": {}}}}
	err = reader.Add(events.DynamoDBEvent{Records: []events.DynamoDBEventRecord{bad, good}})
	if err == nil || !strings.Contains(err.Error(), `heatlambda: record "2": attribute "pk": it has no value`) {
		t.Errorf("got %v", err)
	}
	if r := reader.Report(); reader.Records() != 1 || len(r.Resources) != 1 || r.Resources[0].Writes.Keys[0].Key != "a" {
		t.Errorf("got %+v", r)
	}
}

// Expired items that DynamoDB deletes cost nothing.
func TestExpiredItemsAreFree(t *testing.T) {
	reader, err := heatlambda.New(t.Context(), nil, "t", heat.Options{Keys: map[string][]string{"t": {"pk"}}})
	if err != nil {
		t.Fatal(err)
	}
	key := map[string]events.DynamoDBAttributeValue{"pk": events.NewStringAttribute("a")}
	record := events.DynamoDBEventRecord{
		EventName: "REMOVE", Change: events.DynamoDBStreamRecord{Keys: key, OldImage: key},
		UserIdentity: &events.DynamoDBUserIdentity{Type: "Service", PrincipalID: "dynamodb.amazonaws.com"},
	}
	if err := reader.Add(events.DynamoDBEvent{Records: []events.DynamoDBEventRecord{record}}); err != nil || reader.Records() != 0 {
		t.Errorf("%d records, %v", reader.Records(), err)
	}
}

func TestChangeOf(t *testing.T) {
	image := func(key string, marks ...string) map[string]events.DynamoDBAttributeValue {
		all := map[string]events.DynamoDBAttributeValue{"pk": events.NewStringAttribute(key)}
		for _, m := range marks {
			all[m] = events.NewNumberAttribute("1")
		}
		return all
	}
	for _, test := range []struct {
		key  string
		mark []string
		want string
	}{
		{"user-1#3", nil, "user-1 insert"}, {"user-1#3", []string{"_hs_m"}, "user-1 move"}, {"_hs#C#orders", nil, "_hs#C#orders control"},
	} {
		record := events.DynamoDBEventRecord{EventName: "INSERT", Change: events.DynamoDBStreamRecord{Keys: image(test.key), NewImage: image(test.key, test.mark...)}}
		got, err := heatlambda.ChangeOf(record, "pk", heat.Layout{Layout: layout.Layout{Shards: 5, Format: layout.PlainNumber()}})
		if text := got.Key + " " + string(got.Kind); err != nil || text != test.want {
			t.Errorf("got %s, %v, want %s", text, err, test.want)
		}
	}
	_, err := heatlambda.ChangeOf(events.DynamoDBEventRecord{EventID: "7"}, "pk")
	if err == nil || !strings.HasPrefix(err.Error(), `heatlambda: record "7": change of a stream record: the record has no key "pk"`) {
		t.Errorf("got %v", err)
	}
	if _, err := heatlambda.ChangeOf(events.DynamoDBEventRecord{EventID: "7"}, "pk", heat.Layout{}); err == nil || !strings.Contains(err.Error(), "Shards is 0") {
		t.Errorf("got %v", err)
	}
}

// Records that are not of the table are refused, and not counted as the table's.
func TestRecordsOfAnotherTable(t *testing.T) {
	const shop, other = "arn:aws:dynamodb:eu-west-1:123456789012:table/shop/stream/2026-11-16T00:00:00.000", "arn:aws:dynamodb:eu-west-1:123456789012:table/crm/stream/2026-11-16T00:00:00.000"
	record := func(arn, key string) events.DynamoDBEventRecord {
		r := events.DynamoDBEventRecord{EventID: "e1", EventName: "INSERT", EventSourceArn: arn}
		if key != "" {
			r.Change.Keys = map[string]events.DynamoDBAttributeValue{key: events.NewStringAttribute("a")}
		}
		return r
	}
	for _, test := range []struct {
		record events.DynamoDBEventRecord
		want   string // "": it is counted
	}{
		{record(shop, "pk"), ""},
		{record("", "pk"), ""},
		{record(other, "pk"), `record "e1" is of table "crm", but the reader counts those of "shop"`},
		{record(shop, "customer"), `it has no key "pk", but keys ["customer"]`},
		{record(shop, ""), `it has no key "pk", but keys []`},
	} {
		reader, err := heatlambda.New(t.Context(), nil, "shop", heat.Options{Keys: map[string][]string{"shop": {"pk"}}})
		if err != nil {
			t.Fatal(err)
		}
		many := make([]events.DynamoDBEventRecord, 500)
		for i := range many {
			many[i] = test.record
		}
		err = reader.Add(events.DynamoDBEvent{Records: many})
		if counted := reader.Records() == 500; counted != (test.want == "") || counted != (err == nil) {
			t.Errorf("%d records, %v", reader.Records(), err)
		}
		if err != nil && (!strings.Contains(err.Error(), test.want) || !strings.Contains(err.Error(), "and 490 more") || len(err.Error()) > 3000) {
			t.Errorf("got %v, want %q", err, test.want)
		}
	}
}
