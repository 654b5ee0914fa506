package main

import (
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
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
)

// HEATSINK_KILLS is how often the crash test kills the server.
const (
	killsEnv     = "HEATSINK_KILLS"
	defaultKills = 8
)

// TestCrash writes to heatsink serve --data from many goroutines, kills it with
// SIGKILL at some moment, starts it again on the same directory, and checks that
// everything acknowledged is there, over and over.
//
// Every item has one history of states, numbered from zero (not there), that one
// writer takes it through, one acknowledged write after the other. So what a
// restart may find is known exactly: the last acknowledged state, or the next
// one if its write was under way. The writer goes on from what was found, and
// the stream must have every step of every history once, in order.
func TestCrash(t *testing.T) {
	kills := killsWanted(t)
	c := &crash{
		dir:       filepath.Join(t.TempDir(), "data"),
		random:    rand.New(rand.NewPCG(1, 1)),
		histories: newHistories(),
	}
	start, early := time.Now(), 0
	for c.kills < kills {
		switch c.random.IntN(8) {
		case 0, 1: // before it is up, or while it recovers
			c.killStarting(t)
			early++
		case 2: // not at all
			s := c.start(t)
			c.verify(t, s)
			s.end(t)
		default:
			s := c.start(t)
			c.verify(t, s)
			c.killUnderLoad(t, s)
		}
		if t.Failed() {
			t.FailNow()
		}
	}
	s := c.start(t)
	c.position, c.seen, c.records = nil, map[string]int{}, 0 // the whole stream this time
	c.verify(t, s)
	s.end(t)
	t.Logf("%d kills (%d during start-up), %d acknowledged writes, %d stream records, %s",
		c.kills, early, c.acknowledged.Load(), c.records, time.Since(start).Round(time.Millisecond))
}

// TestCrashWhileCreating kills the server at some moment of its first start. The
// directory is usable whatever is in it by then.
func TestCrashWhileCreating(t *testing.T) {
	random := rand.New(rand.NewPCG(2, 2))
	var last time.Duration
	for range max(killsWanted(t)/4, 3) {
		c := &crash{dir: filepath.Join(t.TempDir(), "data"), random: random, startTime: last}
		c.killStarting(t)
		s := c.start(t)
		last = c.startTime
		if err := createTable(t.Context(), s.client, plainTable); err != nil {
			t.Fatal(err)
		}
		s.kill(t)
	}
}

func killsWanted(t *testing.T) int {
	t.Helper()
	value := os.Getenv(killsEnv)
	if value == "" {
		return defaultKills
	}
	kills, err := strconv.Atoi(value)
	if err != nil {
		t.Fatalf("%s: %v", killsEnv, err)
	}
	return kills
}

// crash is the state of the test beside the server's.
type crash struct {
	dir          string
	random       *rand.Rand
	histories    []*history
	kills        int
	startTime    time.Duration // that the last start took
	acknowledged atomic.Int64
	total        total

	position *string        // the last stream record seen
	seen     map[string]int // how far each item's records have come
	records  int
}

// total is an item that all writers add one to: it is as large as the additions
// acknowledged, or those begun.
type total struct{ begun, acknowledged atomic.Int64 }

// start starts a server and waits until it answers.
func (c *crash) start(t *testing.T) *process {
	t.Helper()
	begun := time.Now()
	p := launch(t, c.dir)
	url := p.waitForURL(t)
	c.startTime = time.Since(begun)
	p.client = client(url, "local", "local")
	o := p.client.Options()
	p.streams = dynamodbstreams.New(dynamodbstreams.Options{
		BaseEndpoint: o.BaseEndpoint, Region: o.Region, Credentials: o.Credentials, Retryer: o.Retryer, HTTPClient: o.HTTPClient,
	})
	return p
}

// killStarting kills a server before it is up, or just then.
func (c *crash) killStarting(t *testing.T) {
	t.Helper()
	p := launch(t, c.dir)
	time.Sleep(time.Duration(c.random.Int64N(int64(max(c.startTime, 100*time.Millisecond)))))
	p.kill(t)
	c.kills++
}

// killUnderLoad lets all writers write until the server is dead.
func (c *crash) killUnderLoad(t *testing.T, p *process) {
	t.Helper()
	var writers sync.WaitGroup
	for _, h := range c.histories {
		writers.Go(func() { c.keepWriting(t, p.client, h) })
	}
	for range 3 {
		writers.Go(func() { c.keepAdding(t, p.client) })
	}
	time.Sleep(time.Duration(c.random.Int64N(int64(300 * time.Millisecond))))
	p.kill(t)
	c.kills++
	writers.Wait()
}

// keepWriting takes an item from state to state until the server is dead.
func (c *crash) keepWriting(t *testing.T, client *dynamodb.Client, h *history) {
	ctx := t.Context()
	if h.kind == "transaction" && h.at > 0 { // as a client does that got no answer
		if err := h.write(ctx, client, h.at); err != nil {
			refuse(t, h.ids[0], fmt.Errorf("the transaction sent again: %w", err))
			return
		}
	}
	for {
		h.next = h.at + 1
		if err := h.write(ctx, client, h.next); err != nil {
			refuse(t, h.ids[0], err)
			return
		}
		h.at = h.next
		c.acknowledged.Add(1)
	}
}

// keepAdding adds to the item that everybody adds to.
func (c *crash) keepAdding(t *testing.T, client *dynamodb.Client) {
	for {
		c.total.begun.Add(1)
		_, err := client.UpdateItem(t.Context(), &dynamodb.UpdateItemInput{
			TableName: aws.String(richTable), Key: map[string]types.AttributeValue{"id": text(totalID)},
			UpdateExpression:          aws.String("ADD version :one"),
			ExpressionAttributeValues: map[string]types.AttributeValue{":one": whole(1)},
		})
		if err != nil {
			refuse(t, totalID, err)
			return
		}
		c.total.acknowledged.Add(1)
		c.acknowledged.Add(1)
	}
}

// refuse accepts no error but that of a connection to a server that is dead.
func refuse(t *testing.T, id string, err error) {
	t.Helper()
	var answer smithy.APIError
	if errors.As(err, &answer) {
		t.Errorf("%s: %v", id, err)
	}
}

// verify checks that the server has everything that was acknowledged, and lets
// the histories go on from what it has.
func (c *crash) verify(t *testing.T, p *process) {
	t.Helper()
	if !c.createTables(t, p) {
		c.seen = map[string]int{}
		return
	}
	rich, plain := scan(t, p.client, richTable, nil), scan(t, p.client, plainTable, nil)
	for _, h := range c.histories {
		c.verifyHistory(t, h, rich, plain)
	}
	c.verifyTotal(t, rich)
	c.verifyOwners(t, rich, plain)
	c.verifyIndex(t, p, rich)
	c.verifyCounts(t, p, rich, plain)
	c.verifyStream(t, p)
	if t.Failed() {
		t.FailNow()
	}
}

// createTables creates the tables unless they are there, and reports whether
// both were.
func (c *crash) createTables(t *testing.T, p *process) (there bool) {
	t.Helper()
	have, err := tables(t.Context(), p.client)
	if err != nil {
		t.Fatal(err)
	}
	if len(have) == 2 {
		return true
	}
	if c.acknowledged.Load() > 0 {
		t.Fatalf("of the tables only %v are there", have)
	}
	if !slices.Contains(have, plainTable) {
		if err := createTable(t.Context(), p.client, plainTable); err != nil {
			t.Fatal(err)
		}
	}
	if slices.Contains(have, richTable) {
		return false
	}
	_, err = p.client.CreateTable(t.Context(), &dynamodb.CreateTableInput{
		TableName:   aws.String(richTable),
		BillingMode: types.BillingModePayPerRequest,
		KeySchema:   []types.KeySchemaElement{{AttributeName: aws.String("id"), KeyType: types.KeyTypeHash}},
		AttributeDefinitions: []types.AttributeDefinition{
			{AttributeName: aws.String("id"), AttributeType: types.ScalarAttributeTypeS},
			{AttributeName: aws.String("color"), AttributeType: types.ScalarAttributeTypeS},
			{AttributeName: aws.String("version"), AttributeType: types.ScalarAttributeTypeN},
		},
		GlobalSecondaryIndexes: []types.GlobalSecondaryIndex{{
			IndexName: aws.String("by-color"),
			KeySchema: []types.KeySchemaElement{
				{AttributeName: aws.String("color"), KeyType: types.KeyTypeHash},
				{AttributeName: aws.String("version"), KeyType: types.KeyTypeRange},
			},
			Projection: &types.Projection{ProjectionType: types.ProjectionTypeAll},
		}},
		StreamSpecification: &types.StreamSpecification{StreamEnabled: aws.Bool(true), StreamViewType: types.StreamViewTypeNewAndOldImages},
	})
	if err != nil {
		t.Fatal(err)
	}
	return false
}

// scan returns a table's or an index's items as text, by id.
func scan(t *testing.T, client *dynamodb.Client, table string, index *string) map[string]string {
	t.Helper()
	found := map[string]string{}
	pages := dynamodb.NewScanPaginator(client, &dynamodb.ScanInput{TableName: &table, IndexName: index, ConsistentRead: aws.Bool(index == nil)})
	for pages.HasMorePages() {
		page, err := pages.NextPage(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		for _, it := range page.Items {
			id := it["id"].(*types.AttributeValueMemberS).Value
			if found[id] != "" {
				t.Errorf("%s comes twice in a scan", id)
			}
			found[id] = show(it)
		}
	}
	return found
}

// verifyHistory finds the state that a history's items are in.
func (c *crash) verifyHistory(t *testing.T, h *history, rich, plain map[string]string) {
	t.Helper()
	at, ahead := -1, -1
	for _, id := range h.ids {
		found := -1
		for n := h.at; n <= h.next; n++ {
			if rich[id] == show(h.state(id, n)) {
				found = n
			}
		}
		if found < 0 {
			t.Errorf("%s is %.200q; acknowledged is state %d, %.200q, begun %d", id, rich[id], h.at, show(h.state(id, h.at)), h.next)
			return
		}
		if h.kind == "transaction" && plain[id] != rich[id] {
			t.Errorf("half a transaction: %s is %.200q in one table and %.200q in the other", id, rich[id], plain[id])
		}
		if at < 0 || found < at {
			at = found
		}
		ahead = max(ahead, found)
	}
	h.at, h.next = at, ahead // a batch of which a part was written is written again
}

// verifyOwners checks that there is nothing that nobody wrote.
func (c *crash) verifyOwners(t *testing.T, rich, plain map[string]string) {
	t.Helper()
	owner := c.owners()
	for id := range rich {
		if owner[id] == nil && id != totalID {
			t.Errorf("nobody wrote %s", id)
		}
	}
	for id := range plain {
		if owner[id] == nil || owner[id].kind != "transaction" {
			t.Errorf("nobody wrote %s in %s", id, plainTable)
		}
	}
}

// owners are the histories by the ids of their items.
func (c *crash) owners() map[string]*history {
	owner := map[string]*history{}
	for _, h := range c.histories {
		for _, id := range h.ids {
			owner[id] = h
		}
	}
	return owner
}

func (c *crash) verifyTotal(t *testing.T, rich map[string]string) {
	t.Helper()
	low, high := c.total.acknowledged.Load(), c.total.begun.Load()
	for n := low; n <= high; n++ {
		want := map[string]types.AttributeValue{"id": text(totalID), "version": whole(int(n))}
		if n == 0 {
			want = nil
		}
		if rich[totalID] == show(want) {
			c.total.acknowledged.Store(n)
			c.total.begun.Store(n)
			return
		}
	}
	t.Errorf("the total is %q; %d additions are acknowledged, %d begun", rich[totalID], low, high)
}

// verifyIndex compares the index with the table.
func (c *crash) verifyIndex(t *testing.T, p *process, rich map[string]string) {
	t.Helper()
	want := maps.Clone(rich)
	maps.DeleteFunc(want, func(_, it string) bool { return !strings.Contains(it, "color=") })
	if got := scan(t, p.client, richTable, aws.String("by-color")); !maps.Equal(got, want) {
		t.Errorf("the index has %v, the table %v", got, want)
	}
}

func (c *crash) verifyCounts(t *testing.T, p *process, rich, plain map[string]string) {
	t.Helper()
	for table, items := range map[string]map[string]string{richTable: rich, plainTable: plain} {
		out, err := p.client.DescribeTable(t.Context(), &dynamodb.DescribeTableInput{TableName: &table})
		if err != nil {
			t.Fatal(err)
		}
		if got := aws.ToInt64(out.Table.ItemCount); got != int64(len(items)) {
			t.Errorf("ItemCount of %s is %d, a scan finds %d items", table, got, len(items))
		}
	}
}

// verifyStream reads what the stream has since the last time and checks that it
// takes every item from state to state, to the state in which it is.
func (c *crash) verifyStream(t *testing.T, p *process) {
	t.Helper()
	owner := c.owners()
	for _, record := range c.readStream(t, p) {
		id := record.Dynamodb.Keys["id"].(*streamtypes.AttributeValueMemberS).Value
		c.seen[id]++
		n := c.seen[id]
		state := func(n int) string { return show(owner[id].state(id, n)) }
		if id == totalID {
			state = func(n int) string {
				if n == 0 {
					return ""
				}
				return show(map[string]types.AttributeValue{"id": text(id), "version": whole(n)})
			}
		}
		if before, after := image(record.Dynamodb.OldImage), image(record.Dynamodb.NewImage); before != state(n-1) || after != state(n) {
			t.Errorf("record %d of %s goes from %.200q to %.200q, want from %.200q to %.200q", n, id, before, after, state(n-1), state(n))
			return
		}
	}
	for id, h := range owner {
		// A batch's items may be ahead of the batch.
		if n := c.seen[id]; n != h.at && (h.kind != "batch" || n != h.at+1) {
			t.Errorf("the stream takes %s to state %d, the table has state %d", id, n, h.at)
		}
	}
	if n := c.seen[totalID]; int64(n) != c.total.acknowledged.Load() {
		t.Errorf("the stream takes the total to %d, the table has %d", n, c.total.acknowledged.Load())
	}
}

// image is an item of a stream as text.
func image(it map[string]streamtypes.AttributeValue) string {
	out := map[string]types.AttributeValue{}
	for name, v := range it {
		switch v := v.(type) {
		case *streamtypes.AttributeValueMemberS:
			out[name] = &types.AttributeValueMemberS{Value: v.Value}
		case *streamtypes.AttributeValueMemberN:
			out[name] = &types.AttributeValueMemberN{Value: v.Value}
		}
	}
	return show(out)
}

// readStream returns the records since the last one read.
func (c *crash) readStream(t *testing.T, p *process) (all []streamtypes.Record) {
	t.Helper()
	ctx := t.Context()
	listed, err := p.streams.ListStreams(ctx, &dynamodbstreams.ListStreamsInput{TableName: aws.String(richTable)})
	if err != nil || len(listed.Streams) != 1 {
		t.Fatalf("got streams %+v, %v; want one", listed, err)
	}
	arn := listed.Streams[0].StreamArn
	stream, err := p.streams.DescribeStream(ctx, &dynamodbstreams.DescribeStreamInput{StreamArn: arn})
	if err != nil || len(stream.StreamDescription.Shards) != 1 {
		t.Fatalf("got stream %+v, %v; want one shard", stream, err)
	}
	from := &dynamodbstreams.GetShardIteratorInput{
		StreamArn: arn, ShardId: stream.StreamDescription.Shards[0].ShardId, ShardIteratorType: streamtypes.ShardIteratorTypeTrimHorizon,
	}
	if c.position != nil {
		from.ShardIteratorType, from.SequenceNumber = streamtypes.ShardIteratorTypeAfterSequenceNumber, c.position
	}
	at, err := p.streams.GetShardIterator(ctx, from)
	if err != nil {
		t.Fatal(err)
	}
	for iterator := at.ShardIterator; ; {
		page, err := p.streams.GetRecords(ctx, &dynamodbstreams.GetRecordsInput{ShardIterator: iterator})
		if err != nil {
			t.Fatal(err)
		}
		if len(page.Records) == 0 {
			c.records += len(all)
			return all
		}
		all = append(all, page.Records...)
		c.position = page.Records[len(page.Records)-1].Dynamodb.SequenceNumber
		iterator = page.NextShardIterator
	}
}
