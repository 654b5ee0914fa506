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
	end context.CancelFunc
}

func (e ending) Read(p []byte) (int, error) {
	n, err := e.Reader.Read(p)
	if err != nil {
		e.end()
	}
	return n, err
}

func (e ending) Close() error { return nil }

// A write that happened is answered, also if its context ended meanwhile: the
// caller would not know otherwise. One whose context ended before has not
// happened.
func TestAnswersOutliveContexts(t *testing.T) {
	db := Start(t)
	client := db.Client()
	if _, err := client.CreateTable(t.Context(), &dynamodb.CreateTableInput{
		TableName: aws.String("tab"), BillingMode: types.BillingModePayPerRequest,
		AttributeDefinitions: []types.AttributeDefinition{{AttributeName: aws.String("pk"), AttributeType: types.ScalarAttributeTypeS}},
		KeySchema:            []types.KeySchemaElement{{AttributeName: aws.String("pk"), KeyType: types.KeyTypeHash}},
	}); err != nil {
		t.Fatal(err)
	}
	put := func(ctx context.Context, end context.CancelFunc) (*http.Response, error) {
		body := `{"TableName":"tab","Item":{"pk":{"S":"a"}}}`
		r, err := http.NewRequestWithContext(ctx, http.MethodPost, endpoint+"/", ending{strings.NewReader(body), end})
		if err != nil {
			t.Fatal(err)
		}
		r.ContentLength = int64(len(body)) // more is read, to see the end
		r.Header.Set("X-Amz-Target", "DynamoDB_20120810.PutItem")
		r.Header.Set("Content-Type", "application/x-amz-json-1.0")
		return transport{db}.Do(r)
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
