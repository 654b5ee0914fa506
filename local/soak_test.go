package local_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/aws-sdk-go-v2/service/dynamodbstreams"
	streamtypes "github.com/aws/aws-sdk-go-v2/service/dynamodbstreams/types"
	"github.com/aws/smithy-go"

	"github.com/heatsink-go/heatsink/local"
)

// HEATSINK_SOAK is how long the soak test takes, such as 10m.
const soakEnv = "HEATSINK_SOAK"

const (
	soakTime     = 3 * time.Second
	soakClients  = 12
	soakKeys     = 6    // sort keys in the one collection of each table
	soakAccounts = 8    // items between which transactions move money
	soakMoney    = 1000 // on all accounts together, at all times
)

// soak has many clients do everything at once to few items: items that come and
// go, expire and are streamed (steady), a table that itself comes and goes
// (fleeting), and accounts whose sum no reader may ever see change.
type soak struct {
	client  *dynamodb.Client
	streams *dynamodbstreams.Client
	calls   map[string]*atomic.Int64 // that succeeded, by operation
}

// An act is something that a client does: what is answered besides success is
// listed with it.
type act struct {
	name     string
	expected []string
	do       func(*soak, context.Context, *rand.Rand) error
}

var acts = []act{
	{"PutItem", []string{"ResourceNotFound", "ConditionalCheckFailed", "TransactionConflict"}, (*soak).put},
	{"UpdateItem", []string{"ResourceNotFound", "ConditionalCheckFailed", "TransactionConflict"}, (*soak).update},
	{"DeleteItem", []string{"ResourceNotFound", "TransactionConflict"}, (*soak).remove},
	{"GetItem", []string{"ResourceNotFound"}, (*soak).get},
	{"Query", []string{"ResourceNotFound"}, (*soak).query},
	{"Scan", []string{"ResourceNotFound"}, (*soak).scan},
	{"BatchWriteItem", []string{"ResourceNotFound", "TransactionConflict"}, (*soak).batchWrite},
	{"BatchGetItem", []string{"ResourceNotFound"}, (*soak).batchGet},
	{"TransactWriteItems", []string{"ResourceNotFound", "TransactionCanceled", "TransactionInProgress", "IdempotentParameterMismatch"}, (*soak).transactWrite},
	{"TransactWriteItems: transfer", []string{"TransactionCanceled"}, (*soak).transfer},
	{"TransactGetItems: audit", []string{"TransactionCanceled"}, (*soak).auditByTransaction},
	{"Query: audit", nil, (*soak).auditByQuery},
	{"CreateTable, DeleteTable", []string{"ResourceNotFound", "ResourceInUse"}, (*soak).createOrDelete},
	{"UpdateTable", []string{"ResourceNotFound", "ResourceInUse"}, (*soak).updateTable},
	{"DescribeTable", []string{"ResourceNotFound"}, (*soak).describe},
	{"ListTables", nil, (*soak).list},
	{"GetRecords", []string{"ResourceNotFound", "TrimmedDataAccess"}, (*soak).readStream},
}

func TestSoak(t *testing.T) {
	ctx, db := t.Context(), open(t, local.Options{TTLInterval: 50 * time.Millisecond})
	s := &soak{
		client:  db.Client(noRetry),
		streams: db.StreamsClient(func(o *dynamodbstreams.Options) { o.Retryer = aws.NopRetryer{} }),
		calls:   map[string]*atomic.Int64{},
	}
	for _, a := range acts {
		s.calls[a.name] = &atomic.Int64{}
	}
	s.prepare(ctx, t)
	length := soakTime
	if text := os.Getenv(soakEnv); text != "" {
		length = must[time.Duration](t)(time.ParseDuration(text))
	}

	var group sync.WaitGroup
	end := time.Now().Add(length)
	for client := range soakClients {
		r := rand.New(rand.NewPCG(1, uint64(client)))
		group.Go(func() {
			for time.Now().Before(end) && !t.Failed() {
				a := acts[r.IntN(len(acts))]
				err := a.do(s, ctx, r)
				if err == nil {
					s.calls[a.name].Add(1)
				} else if !slices.Contains(a.expected, codeOf(err)) {
					t.Errorf("%s: %v", a.name, err)
				}
			}
		})
	}
	group.Wait()
	for _, a := range acts {
		if s.calls[a.name].Load() == 0 {
			t.Errorf("%s never succeeded", a.name)
		}
	}
	s.settle(ctx, t)
	s.checkRecords(t, records(ctx, t, db, "steady"))
}

// codeOf is an exception's name without its ending.
func codeOf(err error) string {
	var answer smithy.APIError
	if !errors.As(err, &answer) {
		return ""
	}
	return strings.TrimSuffix(answer.ErrorCode(), "Exception")
}

func soakTable(name string) *dynamodb.CreateTableInput {
	return onDemand(name, func(in *dynamodb.CreateTableInput) {
		withStream(in)
		elements, definitions := schema("color S", "n N")
		in.AttributeDefinitions = append(in.AttributeDefinitions, definitions...)
		in.GlobalSecondaryIndexes = []types.GlobalSecondaryIndex{{
			IndexName: aws.String("by-color"), KeySchema: elements, Projection: &types.Projection{ProjectionType: types.ProjectionTypeAll},
		}}
	}, "p S", "s S")
}

func (s *soak) prepare(ctx context.Context, t *testing.T) {
	t.Helper()
	must[*dynamodb.CreateTableOutput](t)(s.client.CreateTable(ctx, soakTable("steady")))
	enableTTL(ctx, t, s.client, "steady")
	must[*dynamodb.CreateTableOutput](t)(s.client.CreateTable(ctx, onDemand("accounts", nil, "p S", "s S")))
	for i := range soakAccounts {
		must[*dynamodb.PutItemOutput](t)(s.client.PutItem(ctx, &dynamodb.PutItemInput{
			TableName: aws.String("accounts"), Item: with(account(i), "money", whole(soakMoney/soakAccounts)),
		}))
	}
}

func account(i int) item { return item{"p": text("all"), "s": text(strconv.Itoa(i))} }

// anyTable is where the next call goes, anyKey an item in it.
func anyTable(r *rand.Rand) *string {
	return aws.String([]string{"steady", "fleeting"}[r.IntN(2)])
}

func anyKey(r *rand.Rand) item {
	return item{"p": text("p"), "s": text(strconv.Itoa(r.IntN(soakKeys)))}
}

// anyItem may be in the index or not, and may expire or not.
func anyItem(r *rand.Rand) item {
	it := with(anyKey(r), "n", whole(r.IntN(10)))
	if r.IntN(3) > 0 {
		it["color"] = text([]string{"red", "blue"}[r.IntN(2)])
	}
	if r.IntN(4) == 0 {
		it["ttl"] = whole(int(time.Now().Unix()) - r.IntN(2))
	}
	return it
}

func (s *soak) put(ctx context.Context, r *rand.Rand) error {
	in := &dynamodb.PutItemInput{TableName: anyTable(r), Item: anyItem(r)}
	if r.IntN(4) == 0 {
		in.ConditionExpression = aws.String("attribute_not_exists(p)")
	}
	_, err := s.client.PutItem(ctx, in)
	return err
}

func (s *soak) update(ctx context.Context, r *rand.Rand) error {
	in := &dynamodb.UpdateItemInput{
		TableName: anyTable(r), Key: anyKey(r),
		UpdateExpression:          aws.String("SET color = :color ADD n :one REMOVE #ttl"),
		ExpressionAttributeNames:  map[string]string{"#ttl": "ttl"},
		ExpressionAttributeValues: item{":color": text("green"), ":one": whole(1)},
		ReturnValues:              types.ReturnValueUpdatedNew,
	}
	if r.IntN(4) == 0 {
		in.ConditionExpression = aws.String("attribute_exists(p)")
	}
	_, err := s.client.UpdateItem(ctx, in)
	return err
}

func (s *soak) remove(ctx context.Context, r *rand.Rand) error {
	_, err := s.client.DeleteItem(ctx, &dynamodb.DeleteItemInput{TableName: anyTable(r), Key: anyKey(r), ReturnValues: types.ReturnValueAllOld})
	return err
}

func (s *soak) get(ctx context.Context, r *rand.Rand) error {
	_, err := s.client.GetItem(ctx, &dynamodb.GetItemInput{TableName: anyTable(r), Key: anyKey(r), ConsistentRead: aws.Bool(true)})
	return err
}

func (s *soak) query(ctx context.Context, r *rand.Rand) error {
	in := &dynamodb.QueryInput{
		TableName: anyTable(r), Limit: aws.Int32(int32(1 + r.IntN(soakKeys))), ScanIndexForward: aws.Bool(r.IntN(2) == 0),
		KeyConditionExpression: aws.String("p = :v"), ExpressionAttributeValues: item{":v": text("p")},
	}
	if r.IntN(2) == 0 {
		in.IndexName, in.KeyConditionExpression = aws.String("by-color"), aws.String("color = :v")
		in.ExpressionAttributeValues = item{":v": text("green")}
	}
	pages := dynamodb.NewQueryPaginator(s.client, in)
	for pages.HasMorePages() {
		if _, err := pages.NextPage(ctx); err != nil {
			return err
		}
	}
	return nil
}

func (s *soak) scan(ctx context.Context, r *rand.Rand) error {
	_, err := s.client.Scan(ctx, &dynamodb.ScanInput{
		TableName: anyTable(r), TotalSegments: aws.Int32(2), Segment: aws.Int32(int32(r.IntN(2))),
		FilterExpression: aws.String("n > :n"), ExpressionAttributeValues: item{":n": whole(3)},
	})
	return err
}

func (s *soak) batchWrite(ctx context.Context, r *rand.Rand) error {
	it := anyItem(r)
	writes := []types.WriteRequest{{PutRequest: &types.PutRequest{Item: it}}}
	if k := anyKey(r); show(k["s"]) != show(it["s"]) {
		writes = append(writes, types.WriteRequest{DeleteRequest: &types.DeleteRequest{Key: k}})
	}
	_, err := s.client.BatchWriteItem(ctx, &dynamodb.BatchWriteItemInput{
		RequestItems: map[string][]types.WriteRequest{"steady": writes, *anyTable(r): writes},
	})
	return err
}

func (s *soak) batchGet(ctx context.Context, r *rand.Rand) error {
	keys := types.KeysAndAttributes{Keys: []item{anyKey(r)}}
	_, err := s.client.BatchGetItem(ctx, &dynamodb.BatchGetItemInput{
		RequestItems: map[string]types.KeysAndAttributes{"accounts": {Keys: []item{account(0), account(1)}}, *anyTable(r): keys},
	})
	return err
}

func (s *soak) transactWrite(ctx context.Context, r *rand.Rand) error {
	first := r.IntN(soakKeys)
	at := func(i int) item { return item{"p": text("p"), "s": text(strconv.Itoa((first + i) % soakKeys))} }
	in := &dynamodb.TransactWriteItemsInput{TransactItems: []types.TransactWriteItem{
		{Put: &types.Put{TableName: anyTable(r), Item: with(at(0), "n", whole(r.IntN(5)))}},
		{Update: &types.Update{
			TableName: aws.String("steady"), Key: at(1),
			UpdateExpression: aws.String("ADD n :one"), ExpressionAttributeValues: item{":one": whole(1)},
		}},
		{Delete: &types.Delete{TableName: aws.String("steady"), Key: at(2)}},
		{ConditionCheck: &types.ConditionCheck{TableName: aws.String("steady"), Key: at(3), ConditionExpression: aws.String("attribute_exists(p) OR attribute_not_exists(p)")}},
	}}
	if r.IntN(3) == 0 {
		in.ClientRequestToken = aws.String(fmt.Sprint("token-", r.IntN(50)))
	}
	_, err := s.client.TransactWriteItems(ctx, in)
	return err
}

// transfer moves money from one account to another, if it is there.
func (s *soak) transfer(ctx context.Context, r *rand.Rand) error {
	from := r.IntN(soakAccounts)
	to := (from + 1 + r.IntN(soakAccounts-1)) % soakAccounts
	amount := whole(1 + r.IntN(20))
	_, err := s.client.TransactWriteItems(ctx, &dynamodb.TransactWriteItemsInput{TransactItems: []types.TransactWriteItem{
		{Update: &types.Update{
			TableName: aws.String("accounts"), Key: account(from), ConditionExpression: aws.String("money >= :amount"),
			UpdateExpression: aws.String("SET money = money - :amount"), ExpressionAttributeValues: item{":amount": amount},
		}},
		{Update: &types.Update{
			TableName: aws.String("accounts"), Key: account(to),
			UpdateExpression: aws.String("SET money = money + :amount"), ExpressionAttributeValues: item{":amount": amount},
		}},
	}})
	return err
}

func (s *soak) auditByTransaction(ctx context.Context, _ *rand.Rand) error {
	in := &dynamodb.TransactGetItemsInput{}
	for i := range soakAccounts {
		in.TransactItems = append(in.TransactItems, types.TransactGetItem{Get: &types.Get{TableName: aws.String("accounts"), Key: account(i)}})
	}
	out, err := s.client.TransactGetItems(ctx, in)
	if err != nil {
		return err
	}
	var found []item
	for _, response := range out.Responses {
		found = append(found, response.Item)
	}
	return audit(found)
}

// auditByQuery relies on a page being one moment.
func (s *soak) auditByQuery(ctx context.Context, _ *rand.Rand) error {
	out, err := s.client.Query(ctx, &dynamodb.QueryInput{
		TableName: aws.String("accounts"), KeyConditionExpression: aws.String("p = :p"), ExpressionAttributeValues: item{":p": text("all")},
	})
	if err != nil {
		return err
	}
	return audit(out.Items)
}

func audit(accounts []item) error {
	sum := 0
	for _, it := range accounts {
		sum += intOf(it["money"])
	}
	if sum != soakMoney || len(accounts) != soakAccounts {
		return fmt.Errorf("%d accounts hold %d, want %d", len(accounts), sum, soakMoney)
	}
	return nil
}

func intOf(v value) int {
	n, ok := v.(*types.AttributeValueMemberN)
	if !ok {
		return 0
	}
	i, err := strconv.Atoi(n.Value)
	if err != nil {
		panic(err)
	}
	return i
}

func (s *soak) createOrDelete(ctx context.Context, r *rand.Rand) error {
	if r.IntN(4) == 0 {
		_, err := s.client.DeleteTable(ctx, &dynamodb.DeleteTableInput{TableName: aws.String("fleeting")})
		return err
	}
	if _, err := s.client.CreateTable(ctx, soakTable("fleeting")); err != nil {
		return err
	}
	_, err := s.client.UpdateTimeToLive(ctx, &dynamodb.UpdateTimeToLiveInput{
		TableName:               aws.String("fleeting"),
		TimeToLiveSpecification: &types.TimeToLiveSpecification{AttributeName: aws.String("ttl"), Enabled: aws.Bool(true)},
	})
	if err != nil && strings.Contains(err.Error(), "TimeToLive is already enabled") {
		return nil // the table is another one by now
	}
	return err
}

func (s *soak) updateTable(ctx context.Context, r *rand.Rand) error {
	_, err := s.client.UpdateTable(ctx, &dynamodb.UpdateTableInput{
		TableName: anyTable(r), OnDemandThroughput: &types.OnDemandThroughput{MaxReadRequestUnits: aws.Int64(1 + r.Int64N(1000))},
	})
	return err
}

func (s *soak) describe(ctx context.Context, r *rand.Rand) error {
	_, err := s.client.DescribeTable(ctx, &dynamodb.DescribeTableInput{TableName: anyTable(r)})
	return err
}

func (s *soak) list(ctx context.Context, _ *rand.Rand) error {
	_, err := s.client.ListTables(ctx, &dynamodb.ListTablesInput{})
	return err
}

// readStream reads a page of some stream from somewhere.
func (s *soak) readStream(ctx context.Context, r *rand.Rand) error {
	all, err := s.streams.ListStreams(ctx, &dynamodbstreams.ListStreamsInput{TableName: anyTable(r)})
	if err != nil || len(all.Streams) == 0 {
		return err
	}
	arn := all.Streams[r.IntN(len(all.Streams))].StreamArn
	stream, err := s.streams.DescribeStream(ctx, &dynamodbstreams.DescribeStreamInput{StreamArn: arn})
	if err != nil {
		return err
	}
	at, err := s.streams.GetShardIterator(ctx, &dynamodbstreams.GetShardIteratorInput{
		StreamArn: arn, ShardId: stream.StreamDescription.Shards[0].ShardId,
		ShardIteratorType: []streamtypes.ShardIteratorType{"TRIM_HORIZON", "LATEST"}[r.IntN(2)],
	})
	if err != nil {
		return err
	}
	_, err = s.streams.GetRecords(ctx, &dynamodbstreams.GetRecordsInput{ShardIterator: at.ShardIterator, Limit: aws.Int32(100)})
	return err
}

// settle waits until what has expired is gone, and checks that the table, its
// index and its count agree.
func (s *soak) settle(ctx context.Context, t *testing.T) {
	t.Helper()
	for deadline := time.Now().Add(5 * time.Second); ; time.Sleep(20 * time.Millisecond) {
		out := must[*dynamodb.ScanOutput](t)(s.client.Scan(ctx, &dynamodb.ScanInput{
			TableName: aws.String("steady"), FilterExpression: aws.String("attribute_exists(#ttl)"),
			ExpressionAttributeNames: map[string]string{"#ttl": "ttl"},
		}))
		if out.Count == 0 {
			break
		}
		if time.Now().After(deadline) {
			t.Fatalf("still there though expired: %v", out.Items)
		}
	}
	inIndex := func(index *string) (lines []string) {
		out := must[*dynamodb.ScanOutput](t)(s.client.Scan(ctx, &dynamodb.ScanInput{TableName: aws.String("steady"), IndexName: index}))
		for _, it := range out.Items {
			if it["color"] != nil && it["n"] != nil || index == nil {
				lines = append(lines, show(it))
			}
		}
		slices.Sort(lines)
		return lines
	}
	all := inIndex(nil)
	colored := slices.DeleteFunc(slices.Clone(all), func(line string) bool {
		return !strings.Contains(line, `"color"`) || !strings.Contains(line, `"n"`)
	})
	if got := inIndex(aws.String("by-color")); !slices.Equal(got, colored) {
		t.Errorf("the index has\n%s\nthe table\n%s", strings.Join(got, "\n"), strings.Join(colored, "\n"))
	}
	described := must[*dynamodb.DescribeTableOutput](t)(s.client.DescribeTable(ctx, &dynamodb.DescribeTableInput{TableName: aws.String("steady")}))
	if got := aws.ToInt64(described.Table.ItemCount); got != int64(len(all)) {
		t.Errorf("ItemCount is %d, the table has %d items", got, len(all))
	}
	if got := aws.ToInt64(described.Table.GlobalSecondaryIndexes[0].ItemCount); got != int64(len(colored)) {
		t.Errorf("the index's ItemCount is %d, it has %d items", got, len(colored))
	}
}

// checkRecords checks that every record continues where the one before of the
// same item ended, and that their numbers grow.
func (s *soak) checkRecords(t *testing.T, all []streamtypes.Record) {
	t.Helper()
	last, number := map[string]string{}, ""
	for i, record := range all {
		d := record.Dynamodb
		k := show(imageOf(d.Keys))
		before, after := show(imageOf(d.OldImage)), show(imageOf(d.NewImage))
		if was, known := last[k]; known && was != before || !known && d.OldImage != nil {
			t.Fatalf("record %d of %s goes from\n%s, the one before went to\n%s", i, k, before, was)
		}
		last[k] = after
		if n := aws.ToString(d.SequenceNumber); len(n) < len(number) || len(n) == len(number) && n <= number {
			t.Fatalf("record %d has number %s after %s", i, n, number)
		} else {
			number = n
		}
	}
	t.Logf("%d records; calls that succeeded:", len(all))
	for _, a := range acts {
		t.Logf("%7d %s", s.calls[a.name].Load(), a.name)
	}
}
