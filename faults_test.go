package heatsink

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"net/url"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/smithy-go"
	smithyhttp "github.com/aws/smithy-go/transport/http"

	"github.com/heatsink-go/heatsink/local"
)

// fault is what goes wrong with a request.
type fault uint8

const (
	noFault     fault = iota
	tooBusy           // refused for its rate
	neverThere        // there was no connection
	lostRequest       // the connection broke before DynamoDB did anything
	lostAnswer        // the connection broke after DynamoDB did it
	brokeDown         // DynamoDB did it and answered 500
	forbidden         // refused for good
	partly            // half of a batch is left unprocessed; else as tooBusy
)

// faulty is a client whose requests go wrong.
type faulty struct {
	Client
	fault func(operation string) fault // asked for every request; nil: none does

	mu       sync.Mutex
	requests map[string]int // by operation
	puts     []string       // the partition keys of all PutItem requests
}

// failing returns a client whose first requests go wrong, one after another.
func failing(client Client, faults ...fault) *faulty {
	return &faulty{Client: client, fault: func(string) fault {
		if len(faults) == 0 {
			return noFault
		}
		f := faults[0]
		faults = faults[1:]
		return f
	}}
}

// always returns a client whose requests all go wrong.
func always(client Client, f fault) *faulty {
	return &faulty{Client: client, fault: func(string) fault { return f }}
}

func (f *faulty) next(operation string) fault {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.requests == nil {
		f.requests = map[string]int{}
	}
	f.requests[operation]++
	if f.fault == nil {
		return noFault
	}
	return f.fault(operation)
}

func (f *faulty) sent(operation string) int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.requests[operation]
}

func (f fault) err() error {
	switch f {
	case tooBusy, partly:
		return &types.ProvisionedThroughputExceededException{
			Message:           aws.String("too fast"),
			ThrottlingReasons: []types.ThrottlingReason{{Reason: aws.String("TableWriteKeyRangeThroughputExceeded")}},
		}
	case forbidden:
		return answerError(http.StatusBadRequest, &smithy.GenericAPIError{Code: "AccessDeniedException"})
	case neverThere:
		return sendError(&net.OpError{Op: "dial", Net: "tcp", Err: os.NewSyscallError("connect", syscall.ECONNREFUSED)})
	case lostRequest:
		return sendError(&net.OpError{Op: "write", Net: "tcp", Err: os.NewSyscallError("write", syscall.ECONNRESET)})
	case lostAnswer:
		return sendError(io.ErrUnexpectedEOF)
	case brokeDown:
		return answerError(http.StatusInternalServerError, &types.InternalServerError{Message: aws.String("oops")})
	}
	return nil
}

// sendError is an error as the SDK returns it when a request could not be sent or its answer not be read.
func sendError(err error) error {
	return &smithy.OperationError{ServiceID: "DynamoDB", OperationName: "X", Err: &smithyhttp.RequestSendError{
		Err: &url.Error{Op: "Post", URL: "https://dynamodb", Err: err},
	}}
}

// answerError is an error as the SDK returns it for an answer with an error.
func answerError(status int, err error) error {
	return &smithy.OperationError{ServiceID: "DynamoDB", OperationName: "X", Err: &smithyhttp.ResponseError{
		Response: &smithyhttp.Response{Response: &http.Response{StatusCode: status}}, Err: err,
	}}
}

// suffer sends a request, or what the fault leaves of it.
func suffer[T any](f fault, call func() (*T, error)) (*T, error) {
	if f != noFault && f != lostAnswer && f != brokeDown {
		return nil, f.err()
	}
	out, err := call()
	if err != nil || f == noFault {
		return out, err
	}
	return nil, f.err()
}

func (f *faulty) PutItem(ctx context.Context, in *dynamodb.PutItemInput, opts ...func(*dynamodb.Options)) (*dynamodb.PutItemOutput, error) {
	f.mu.Lock()
	if pk, ok := in.Item["pk"].(*types.AttributeValueMemberS); ok {
		f.puts = append(f.puts, pk.Value)
	}
	f.mu.Unlock()
	return suffer(f.next("PutItem"), func() (*dynamodb.PutItemOutput, error) { return f.Client.PutItem(ctx, in, opts...) })
}

func (f *faulty) GetItem(ctx context.Context, in *dynamodb.GetItemInput, opts ...func(*dynamodb.Options)) (*dynamodb.GetItemOutput, error) {
	return suffer(f.next("GetItem"), func() (*dynamodb.GetItemOutput, error) { return f.Client.GetItem(ctx, in, opts...) })
}

func (f *faulty) UpdateItem(ctx context.Context, in *dynamodb.UpdateItemInput, opts ...func(*dynamodb.Options)) (*dynamodb.UpdateItemOutput, error) {
	return suffer(f.next("UpdateItem"), func() (*dynamodb.UpdateItemOutput, error) { return f.Client.UpdateItem(ctx, in, opts...) })
}

func (f *faulty) DeleteItem(ctx context.Context, in *dynamodb.DeleteItemInput, opts ...func(*dynamodb.Options)) (*dynamodb.DeleteItemOutput, error) {
	return suffer(f.next("DeleteItem"), func() (*dynamodb.DeleteItemOutput, error) { return f.Client.DeleteItem(ctx, in, opts...) })
}

func (f *faulty) BatchGetItem(ctx context.Context, in *dynamodb.BatchGetItemInput, opts ...func(*dynamodb.Options)) (*dynamodb.BatchGetItemOutput, error) {
	fault := f.next("BatchGetItem")
	if fault != partly {
		return suffer(fault, func() (*dynamodb.BatchGetItemOutput, error) { return f.Client.BatchGetItem(ctx, in, opts...) })
	}
	now, later := *in, map[string]types.KeysAndAttributes{}
	now.RequestItems = map[string]types.KeysAndAttributes{}
	for table, asked := range in.RequestItems {
		part, rest := asked, asked
		half := len(asked.Keys) / 2
		part.Keys, rest.Keys = asked.Keys[:half], asked.Keys[half:]
		if half > 0 {
			now.RequestItems[table] = part
		}
		later[table] = rest
	}
	if len(now.RequestItems) == 0 {
		return nil, partly.err()
	}
	out, err := f.Client.BatchGetItem(ctx, &now, opts...)
	if err == nil {
		out.UnprocessedKeys = later
	}
	return out, err
}

func (f *faulty) BatchWriteItem(ctx context.Context, in *dynamodb.BatchWriteItemInput, opts ...func(*dynamodb.Options)) (*dynamodb.BatchWriteItemOutput, error) {
	fault := f.next("BatchWriteItem")
	if fault != partly {
		return suffer(fault, func() (*dynamodb.BatchWriteItemOutput, error) { return f.Client.BatchWriteItem(ctx, in, opts...) })
	}
	now, later := *in, map[string][]types.WriteRequest{}
	now.RequestItems = map[string][]types.WriteRequest{}
	for table, writes := range in.RequestItems {
		half := len(writes) / 2
		if half > 0 {
			now.RequestItems[table] = writes[:half]
		}
		later[table] = writes[half:]
	}
	if len(now.RequestItems) == 0 {
		return nil, partly.err()
	}
	out, err := f.Client.BatchWriteItem(ctx, &now, opts...)
	if err == nil {
		out.UnprocessedItems = later
	}
	return out, err
}

// sv, nv and ov make attribute values and items: ov("pk", "a", "n", 1).

func sv(s string) types.AttributeValue { return &types.AttributeValueMemberS{Value: s} }

func nv(n int) types.AttributeValue { return &types.AttributeValueMemberN{Value: strconv.Itoa(n)} }

func ov(pairs ...any) Item {
	item := Item{}
	for i := 0; i < len(pairs); i += 2 {
		switch v := pairs[i+1].(type) {
		case string:
			item[pairs[i].(string)] = sv(v)
		case int:
			item[pairs[i].(string)] = nv(v)
		case types.AttributeValue:
			item[pairs[i].(string)] = v
		default:
			panic(fmt.Sprintf("no attribute value of a %T", v))
		}
	}
	return item
}

// makeTable creates an on-demand table of string keys, pk and sk.
func makeTable(t testing.TB, client *dynamodb.Client, table string, edits ...func(*dynamodb.CreateTableInput)) {
	t.Helper()
	in := &dynamodb.CreateTableInput{
		TableName: &table, BillingMode: types.BillingModePayPerRequest,
		KeySchema: []types.KeySchemaElement{
			{AttributeName: aws.String("pk"), KeyType: types.KeyTypeHash},
			{AttributeName: aws.String("sk"), KeyType: types.KeyTypeRange},
		},
		AttributeDefinitions: []types.AttributeDefinition{
			{AttributeName: aws.String("pk"), AttributeType: types.ScalarAttributeTypeS},
			{AttributeName: aws.String("sk"), AttributeType: types.ScalarAttributeTypeS},
		},
	}
	for _, edit := range edits {
		edit(in)
	}
	if _, err := client.CreateTable(context.Background(), in); err != nil {
		t.Fatal(err)
	}
}

// byIndex makes the table one of ids, listed by an index on pk and sk, and on the number shard if second.
func byIndex(second bool) func(*dynamodb.CreateTableInput) {
	return func(in *dynamodb.CreateTableInput) {
		index := types.GlobalSecondaryIndex{
			IndexName: aws.String("listing"), KeySchema: in.KeySchema,
			Projection: &types.Projection{ProjectionType: types.ProjectionTypeAll},
		}
		if second {
			shard := types.KeySchemaElement{AttributeName: aws.String("shard"), KeyType: types.KeyTypeHash}
			index.KeySchema = slices.Insert(slices.Clone(in.KeySchema), 1, shard)
			in.AttributeDefinitions = append(in.AttributeDefinitions,
				types.AttributeDefinition{AttributeName: aws.String("shard"), AttributeType: types.ScalarAttributeTypeN})
		}
		in.KeySchema = []types.KeySchemaElement{{AttributeName: aws.String("id"), KeyType: types.KeyTypeHash}}
		in.AttributeDefinitions = append(in.AttributeDefinitions,
			types.AttributeDefinition{AttributeName: aws.String("id"), AttributeType: types.ScalarAttributeTypeS})
		in.GlobalSecondaryIndexes = []types.GlobalSecondaryIndex{index}
	}
}

// startWith starts an engine with options and ends it with the test.
func startWith(t testing.TB, options local.Options) *local.DB {
	t.Helper()
	db, err := local.New(options)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	})
	return db
}

// openItems opens a collection of raw items on table items, keys pk and sk.
func openItems(t testing.TB, client Client, options Options) *Collection[Item] {
	t.Helper()
	options.Table = cmp.Or(options.Table, "items")
	options.PartitionKey = cmp.Or(options.PartitionKey, "pk")
	if options.SortKey == "" {
		options.SortKey = "sk"
	}
	if options.SortKey == "-" {
		options.SortKey = ""
	}
	c, err := Open[Item](client, options)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// everyItem returns all items of a table as they are stored.
func everyItem(t testing.TB, client *dynamodb.Client, table string) []Item {
	t.Helper()
	var items []Item
	pages := dynamodb.NewScanPaginator(client, &dynamodb.ScanInput{TableName: &table, ConsistentRead: aws.Bool(true)})
	for pages.HasMorePages() {
		out, err := pages.NextPage(context.Background())
		if err != nil {
			t.Fatal(err)
		}
		items = append(items, out.Items...)
	}
	return items
}

// attrText returns an attribute's text, of a string or number.
func attrText(item Item, name string) string {
	switch v := item[name].(type) {
	case *types.AttributeValueMemberS:
		return v.Value
	case *types.AttributeValueMemberN:
		return v.Value
	}
	return fmt.Sprint(item[name])
}

// wantItem fails unless two items are the same.
func wantItem(t testing.TB, what string, got, want Item) {
	t.Helper()
	if !sameItem(got, want) {
		t.Errorf("%s: got %s, want %s", what, showItem(got), showItem(want))
	}
}

func showItem(item Item) string {
	var parts []string
	for _, name := range slices.Sorted(maps.Keys(item)) {
		parts = append(parts, name+":"+attrText(item, name))
	}
	return "{" + strings.Join(parts, " ") + "}"
}
