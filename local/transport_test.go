package local

import (
	"context"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

// ending is a request's body that ends the request's context once it was read.
type ending struct {
	io.Reader
	end    context.CancelFunc
	closed *bool
}

func (e ending) Read(p []byte) (int, error) {
	n, err := e.Reader.Read(p)
	if err != nil {
		e.end()
	}
	return n, err
}

func (e ending) Close() error {
	*e.closed = true
	return nil
}

// ask sends a request whose context ends once its body was read, and sees that
// the body is closed.
func ask(t *testing.T, db *DB, ctx context.Context, end context.CancelFunc, operation, body string) (*http.Response, error) {
	t.Helper()
	read, closed := false, false
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, endpoint+"/", ending{strings.NewReader(body), func() { read = true; end() }, &closed})
	if err != nil {
		t.Fatal(err)
	}
	r.ContentLength = int64(len(body)) // more is read, to see the end
	r.Header.Set("X-Amz-Target", "DynamoDB_20120810."+operation)
	r.Header.Set("Content-Type", "application/x-amz-json-1.0")
	answer, err := transport{db}.Do(r)
	if read && !closed {
		t.Errorf("%s: the body is still open", operation)
	}
	return answer, err
}

// withTab returns an engine with an empty table.
func withTab(t *testing.T) *DB {
	t.Helper()
	db := Start(t)
	if _, err := db.Client().CreateTable(t.Context(), &dynamodb.CreateTableInput{
		TableName: aws.String("tab"), BillingMode: types.BillingModePayPerRequest,
		AttributeDefinitions: []types.AttributeDefinition{{AttributeName: aws.String("pk"), AttributeType: types.ScalarAttributeTypeS}},
		KeySchema:            []types.KeySchemaElement{{AttributeName: aws.String("pk"), KeyType: types.KeyTypeHash}},
	}); err != nil {
		t.Fatal(err)
	}
	return db
}

// A write that happened is answered, also if its context ended meanwhile: the
// caller would not know otherwise. One whose context ended before has not
// happened.
func TestAnswersOutliveContexts(t *testing.T) {
	db := withTab(t)
	client := db.Client()
	put := func(ctx context.Context, end context.CancelFunc) (*http.Response, error) {
		return ask(t, db, ctx, end, "PutItem", `{"TableName":"tab","Item":{"pk":{"S":"a"}}}`)
	}
	there := func() bool {
		out, err := client.GetItem(t.Context(), &dynamodb.GetItemInput{
			TableName: aws.String("tab"), Key: map[string]types.AttributeValue{"pk": &types.AttributeValueMemberS{Value: "a"}},
		})
		if err != nil {
			t.Fatal(err)
		}
		return out.Item != nil
	}
	ctx, end := context.WithCancel(t.Context())
	end()
	if _, err := put(ctx, func() {}); !errors.Is(err, context.Canceled) || there() {
		t.Errorf("a context that ended before: got %v, and is the item there: %t", err, there())
	}
	ctx, end = context.WithCancel(t.Context())
	answer, err := put(ctx, end)
	if ctx.Err() == nil {
		t.Fatal("the context did not end: the test shows nothing")
	}
	if err != nil || answer.StatusCode != http.StatusOK || !there() {
		t.Errorf("a context that ended meanwhile: got %v, %v, and is the item there: %t", answer, err, there())
	}
}

// A request that is given up because its context ended returns the context's
// error: an internal error would look like the engine's fault.
func TestRequestsThatAreGivenUp(t *testing.T) {
	db := withTab(t)
	ctx, end := context.WithCancel(t.Context())
	answer, err := ask(t, db, ctx, end, "BatchGetItem", `{"RequestItems":{"tab":{"Keys":[{"pk":{"S":"a"}}]}}}`)
	if !errors.Is(err, context.Canceled) {
		t.Errorf("got %v, %v, want %v", answer, err, context.Canceled)
	}
}
