package heat_test

import (
	"context"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/schemas"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/smithy-go/middleware"
	"github.com/aws/smithy-go/transport/http/protocol/awsjson"

	"github.com/heatsink-go/heatsink/heat"
	"github.com/heatsink-go/heatsink/local"
)

// putOne writes an item of two units, and returns what the caller sees of the capacity.
func putOne(t *testing.T, client *dynamodb.Client, asks types.ReturnConsumedCapacity) *types.ConsumedCapacity {
	t.Helper()
	item := key("a", "1")
	item["text"] = &types.AttributeValueMemberS{Value: string(make([]byte, 1500))}
	out, err := client.PutItem(t.Context(), &dynamodb.PutItemInput{TableName: aws.String("views"), Item: item, ReturnConsumedCapacity: asks})
	if err != nil {
		t.Fatal(err)
	}
	return out.ConsumedCapacity
}

func wantWrites(t *testing.T, recorder *heat.Recorder, requests int64, units float64) {
	t.Helper()
	if writes := resource(t, recorder.Report(), "views").Writes; writes.Requests != requests || writes.Units != units {
		t.Errorf("got %d writes of %v units, want %d of %v", writes.Requests, writes.Units, requests, units)
	}
}

// Whoever asks for the consumed capacity gets it whole, and nobody else does.
func TestCallersSeeTheCapacityTheyAskFor(t *testing.T) {
	recorder := newRecorder(t, heat.Options{})
	client := start(t, nil).Client(recorder.Option)
	if got := putOne(t, client, ""); got != nil {
		t.Errorf("got %+v, but nobody asked", got)
	}
	got := putOne(t, client, types.ReturnConsumedCapacityTotal)
	if got == nil || aws.ToFloat64(got.CapacityUnits) != 2 || aws.ToString(got.TableName) != "views" || got.Table != nil {
		t.Errorf("got %+v, want a total of 2 units", got)
	}
	got = putOne(t, client, types.ReturnConsumedCapacityIndexes)
	if got == nil || aws.ToString(got.TableName) != "views" || got.Table == nil || aws.ToFloat64(got.Table.CapacityUnits) != 2 {
		t.Errorf("got %+v, want 2 units of the table", got)
	}
	wantWrites(t, recorder, 3, 6)
}

// Both recorders of a client count what was consumed, though only one of them asks.
func TestTwoRecordersOfAClient(t *testing.T) {
	first, second := newRecorder(t, heat.Options{}), newRecorder(t, heat.Options{})
	client := start(t, nil).Client(first.Option, second.Option)
	if got := putOne(t, client, ""); got != nil {
		t.Errorf("got %+v, but nobody asked", got)
	}
	wantWrites(t, first, 1, 2)
	wantWrites(t, second, 1, 2)
}

// A client with a protocol of its own is recorded as any other.
func TestRecorderWithoutItsProtocol(t *testing.T) {
	recorder := newRecorder(t, heat.Options{})
	client := start(t, nil).Client(recorder.Option, func(o *dynamodb.Options) {
		o.Protocol = awsjson.New10(schemas.DynamoDB_20120810)
	})
	if got := putOne(t, client, ""); got != nil {
		t.Errorf("got %+v, but nobody asked", got)
	}
	wantWrites(t, recorder, 1, 2)
}

// A middleware may make calls with the context of the call it sees. They are calls of their own.
func TestCallsWithinACall(t *testing.T) {
	recorder := newRecorder(t, heat.Options{})
	var inner *types.ConsumedCapacity
	var client *dynamodb.Client
	within := func(ctx context.Context, in middleware.SerializeInput, next middleware.SerializeHandler) (
		middleware.SerializeOutput, middleware.Metadata, error,
	) {
		if put, ok := in.Parameters.(*dynamodb.PutItemInput); ok && put.Item["text"] != nil {
			out, err := client.PutItem(ctx, &dynamodb.PutItemInput{
				TableName: put.TableName, Item: key("b", "1"), ReturnConsumedCapacity: types.ReturnConsumedCapacityIndexes,
			})
			if err != nil {
				return middleware.SerializeOutput{}, middleware.Metadata{}, err
			}
			inner = out.ConsumedCapacity
		}
		return next.HandleSerialize(ctx, in)
	}
	client = start(t, nil).Client(recorder.Option, func(o *dynamodb.Options) {
		o.APIOptions = append(o.APIOptions, func(stack *middleware.Stack) error {
			return stack.Serialize.Add(middleware.SerializeMiddlewareFunc("within", within), middleware.Before)
		})
	})
	if got := putOne(t, client, ""); got != nil {
		t.Errorf("got %+v, but nobody asked", got)
	}
	if inner == nil || inner.Table == nil || aws.ToFloat64(inner.Table.CapacityUnits) != 1 {
		t.Errorf("the call within got %+v, want 1 unit of the table", inner)
	}
	wantWrites(t, recorder, 2, 3)
}

// A write of an index is charged to the index, whoever asks.
func TestReceiptOfAnIndex(t *testing.T) {
	db := local.Start(t)
	if _, err := db.Client().CreateTable(t.Context(), &dynamodb.CreateTableInput{
		TableName: aws.String("views"), BillingMode: types.BillingModePayPerRequest,
		AttributeDefinitions: []types.AttributeDefinition{
			{AttributeName: aws.String("pk"), AttributeType: types.ScalarAttributeTypeS},
			{AttributeName: aws.String("sk"), AttributeType: types.ScalarAttributeTypeS},
		},
		KeySchema: []types.KeySchemaElement{
			{AttributeName: aws.String("pk"), KeyType: types.KeyTypeHash}, {AttributeName: aws.String("sk"), KeyType: types.KeyTypeRange},
		},
		GlobalSecondaryIndexes: []types.GlobalSecondaryIndex{{
			IndexName:  aws.String("bySort"),
			KeySchema:  []types.KeySchemaElement{{AttributeName: aws.String("sk"), KeyType: types.KeyTypeHash}},
			Projection: &types.Projection{ProjectionType: types.ProjectionTypeKeysOnly},
		}},
	}); err != nil {
		t.Fatal(err)
	}
	recorder := newRecorder(t, heat.Options{})
	if got := putOne(t, db.Client(recorder.Option), ""); got != nil {
		t.Errorf("got %+v, but nobody asked", got)
	}
	wantWrites(t, recorder, 1, 2)
	for _, r := range recorder.Report().Resources {
		if r.Index == "bySort" && r.Writes.Units == 1 && r.Writes.Requests == 1 {
			return
		}
	}
	t.Errorf("got %+v, want 1 unit of the index", recorder.Report().Resources)
}

// answers answers every request with a text.
type answers string

func (a answers) Do(*http.Request) (*http.Response, error) {
	return &http.Response{StatusCode: http.StatusOK, Header: http.Header{}, Body: io.NopCloser(strings.NewReader(string(a)))}, nil
}

// A consumed capacity that is none is an error of the call, as it is without a recorder.
func TestReceiptThatIsNone(t *testing.T) {
	put := func(answer string) (*heat.Recorder, error) {
		recorder := newRecorder(t, heat.Options{NoDescribe: true})
		client := dynamodb.New(dynamodb.Options{
			Region: "local", HTTPClient: answers(answer), Retryer: aws.NopRetryer{}, Credentials: aws.AnonymousCredentials{}, BaseEndpoint: aws.String("http://localhost"),
		}, recorder.Option)
		_, err := client.PutItem(t.Context(), &dynamodb.PutItemInput{TableName: aws.String("views"), Item: key("a", "1")})
		return recorder, err
	}
	for _, answer := range []string{
		`{"ConsumedCapacity":7}`,
		`{"ConsumedCapacity":{"CapacityUnits":"x"}}`,
		`{"ConsumedCapacity":{"Table":{"CapacityUnits":"x"}}}`,
		`{"ConsumedCapacity":{"GlobalSecondaryIndexes":{"byStatus":{"CapacityUnits":"x"}}}}`,
		`{"ConsumedCapacity":{"LocalSecondaryIndexes":{"byTime":{"CapacityUnits":"x"}}}}`,
		`{"ConsumedCapacity":{"GlobalSecondaryIndexes":7}}`,
	} {
		if _, err := put(answer); err == nil {
			t.Errorf("%s: no error", answer)
		}
	}
	recorder, err := put(`{"ConsumedCapacity":{"TableName":"views","CapacityUnits":7,"Table":{"CapacityUnits":1.5},"LocalSecondaryIndexes":{"byTime":{"CapacityUnits":2}},"GlobalSecondaryIndexes":{"byNothing":null,"byStatus":{"CapacityUnits":3}}}}`)
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]float64{"views": 3.5, "views/byStatus": 3} {
		if got := resource(t, recorder.Report(), name).Writes.Units; got != want {
			t.Errorf("%s: got %v units, want %v", name, got, want)
		}
	}
}
