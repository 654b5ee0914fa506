package local_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/heatsink-go/heatsink/internal/bubble"
	"github.com/heatsink-go/heatsink/local"
)

// once makes a client try every request once, so that a test sees each throttle.
func once(o *dynamodb.Options) { o.Retryer = aws.NopRetryer{} }

// eventTable creates the table that the tests of physics write to: site and time,
// with a global index by kind.
func eventTable(t *testing.T, client *dynamodb.Client, edit func(*dynamodb.CreateTableInput)) {
	t.Helper()
	key := func(name string, kind types.KeyType) types.KeySchemaElement {
		return types.KeySchemaElement{AttributeName: &name, KeyType: kind}
	}
	in := &dynamodb.CreateTableInput{
		TableName:   aws.String("events"),
		BillingMode: types.BillingModePayPerRequest,
		AttributeDefinitions: []types.AttributeDefinition{
			{AttributeName: aws.String("site"), AttributeType: types.ScalarAttributeTypeS},
			{AttributeName: aws.String("at"), AttributeType: types.ScalarAttributeTypeS},
		},
		KeySchema: []types.KeySchemaElement{key("site", types.KeyTypeHash), key("at", types.KeyTypeRange)},
	}
	if edit != nil {
		edit(in)
	}
	if _, err := client.CreateTable(context.Background(), in); err != nil {
		t.Fatal(err)
	}
}

func event(site string, at int, more ...string) map[string]types.AttributeValue {
	item := map[string]types.AttributeValue{
		"site": &types.AttributeValueMemberS{Value: site},
		"at":   &types.AttributeValueMemberS{Value: fmt.Sprintf("%08d", at)},
	}
	for i := 0; i < len(more); i += 2 {
		item[more[i]] = &types.AttributeValueMemberS{Value: more[i+1]}
	}
	return item
}

// offer writes at an even rate for a while, in virtual time, and returns how many
// writes were accepted and the last refusal.
func offer(t *testing.T, client *dynamodb.Client, perSecond int, d time.Duration, item func(i int) map[string]types.AttributeValue) (accepted int, refusal error) {
	t.Helper()
	n := int(d.Seconds() * float64(perSecond))
	start := time.Now()
	for i := range n {
		time.Sleep(time.Until(start.Add(time.Duration(i) * time.Second / time.Duration(perSecond))))
		_, err := client.PutItem(context.Background(), &dynamodb.PutItemInput{TableName: aws.String("events"), Item: item(i)})
		if err != nil {
			refusal = err
			continue
		}
		accepted++
	}
	return accepted, refusal
}

// A field that cannot be used is refused under its own name, and so are all others.
func TestPhysicsIsRefused(t *testing.T) {
	_, err := local.New(local.Options{Physics: &local.Physics{PartitionWrites: -1, Window: -time.Second, SplitThreshold: 2}})
	want := "heatsink: option Physics.PartitionWrites is -1, must not be negative\n" +
		"option Physics.Window is -1s, must be between 0 and 876000h0m0s\n" +
		"option Physics.SplitThreshold is 2, must be between 0 and 1"
	if err == nil || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
}

func physics(t *testing.T, p local.Physics) *dynamodb.Client {
	t.Helper()
	db, err := local.New(local.Options{Physics: &p})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	})
	return db.Client(once)
}

// A hot key gets what one partition takes, and the rest is refused with the error
// that DynamoDB gives, as the SDK decodes it.
func TestHotKeyThrottles(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		client := physics(t, local.Physics{})
		eventTable(t, client, nil)
		accepted, err := offer(t, client, 3000, 5*time.Second, func(i int) map[string]types.AttributeValue {
			return event("hot", i)
		})
		if accepted < 4900 || accepted > 5300 {
			t.Errorf("got %d writes accepted in 5 s, want 5,000 and what was saved up", accepted)
		}
		var throttle *types.ThrottlingException
		if !errors.As(err, &throttle) {
			t.Fatalf("got %v, want a ThrottlingException", err)
		}
		if len(throttle.ThrottlingReasons) != 1 || *throttle.ThrottlingReasons[0].Reason != "TableWriteKeyRangeThroughputExceeded" ||
			*throttle.ThrottlingReasons[0].Resource != "arn:aws:dynamodb:us-east-1:000000000000:table/events" {
			t.Errorf("got reasons %v", throttle.ThrottlingReasons)
		}
		if !strings.Contains(throttle.ErrorMessage(), "hot key") {
			t.Errorf("got message %q", throttle.ErrorMessage())
		}
	})
}

func TestProvisionedTableThrottles(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		client := physics(t, local.Physics{})
		eventTable(t, client, func(in *dynamodb.CreateTableInput) {
			in.BillingMode = types.BillingModeProvisioned
			in.ProvisionedThroughput = &types.ProvisionedThroughput{ReadCapacityUnits: aws.Int64(10), WriteCapacityUnits: aws.Int64(10)}
		})
		_, err := offer(t, client, 50, 5*time.Second, func(i int) map[string]types.AttributeValue {
			return event(fmt.Sprint(i), 0)
		})
		var throttle *types.ProvisionedThroughputExceededException
		if !errors.As(err, &throttle) {
			t.Fatalf("got %v, want a ProvisionedThroughputExceededException", err)
		}
		if len(throttle.ThrottlingReasons) != 1 || *throttle.ThrottlingReasons[0].Reason != "TableWriteProvisionedThroughputExceeded" {
			t.Errorf("got reasons %v", throttle.ThrottlingReasons)
		}
	})
}

// A global index with one key holds the whole table to what its one partition
// takes, and the error names the index.
func TestIndexPushesBack(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		client := physics(t, local.Physics{PartitionWrites: 100, PartitionReads: 300, Window: time.Second})
		eventTable(t, client, func(in *dynamodb.CreateTableInput) {
			in.AttributeDefinitions = append(in.AttributeDefinitions,
				types.AttributeDefinition{AttributeName: aws.String("kind"), AttributeType: types.ScalarAttributeTypeS})
			in.GlobalSecondaryIndexes = []types.GlobalSecondaryIndex{{
				IndexName:  aws.String("by-kind"),
				KeySchema:  []types.KeySchemaElement{{AttributeName: aws.String("kind"), KeyType: types.KeyTypeHash}},
				Projection: &types.Projection{ProjectionType: types.ProjectionTypeKeysOnly},
			}}
		})
		accepted, err := offer(t, client, 250, 10*time.Second, func(i int) map[string]types.AttributeValue {
			return event(fmt.Sprint(i), 0, "kind", "view")
		})
		if accepted < 990 || accepted > 1110 {
			t.Errorf("got %d writes accepted in 10 s, want 1,000 and a second's worth", accepted)
		}
		var throttle *types.ThrottlingException
		if !errors.As(err, &throttle) || len(throttle.ThrottlingReasons) != 1 {
			t.Fatalf("got %v, want a ThrottlingException with one reason", err)
		}
		if r := throttle.ThrottlingReasons[0]; *r.Reason != "IndexWriteKeyRangeThroughputExceeded" || !strings.HasSuffix(*r.Resource, "table/events/index/by-kind") {
			t.Errorf("got reason %s of %s", *r.Reason, *r.Resource)
		}
	})
}

// A batch of which a part is refused returns that part; one that is refused whole
// is an exception.
func TestBatchesArePartlyThrottled(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		client := physics(t, local.Physics{PartitionWrites: 10, PartitionReads: 10, Window: time.Second, OnDemandPartitions: 1})
		eventTable(t, client, nil)
		var requests []types.WriteRequest
		for i := range 25 {
			requests = append(requests, types.WriteRequest{PutRequest: &types.PutRequest{Item: event("hot", i)}})
		}
		write := &dynamodb.BatchWriteItemInput{RequestItems: map[string][]types.WriteRequest{"events": requests}}
		out, err := client.BatchWriteItem(context.Background(), write)
		if err != nil {
			t.Fatal(err)
		}
		if left := len(out.UnprocessedItems["events"]); left != 15 {
			t.Errorf("got %d writes left over, want 15", left)
		}
		var throttle *types.ThrottlingException
		if _, err := client.BatchWriteItem(context.Background(), write); !errors.As(err, &throttle) {
			t.Errorf("got %v for a batch refused whole, want a ThrottlingException", err)
		}
		var keys []map[string]types.AttributeValue
		for i := range 25 {
			keys = append(keys, event("hot", i))
		}
		read := &dynamodb.BatchGetItemInput{RequestItems: map[string]types.KeysAndAttributes{"events": {Keys: keys, ConsistentRead: aws.Bool(true)}}}
		got, err := client.BatchGetItem(context.Background(), read)
		if err != nil {
			t.Fatal(err)
		}
		if left := len(got.UnprocessedKeys["events"].Keys); left != 15 || len(got.Responses["events"]) != 10 {
			t.Errorf("got %d items and %d keys left over, want 10 and 15", len(got.Responses["events"]), left)
		}
	})
}

func TestTransactionsAreCancelledByThrottles(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		client := physics(t, local.Physics{PartitionWrites: 10, PartitionReads: 10, Window: time.Second, OnDemandPartitions: 1})
		eventTable(t, client, nil)
		if _, err := offer(t, client, 1000, 100*time.Millisecond, func(i int) map[string]types.AttributeValue { return event("hot", i) }); err == nil {
			t.Fatal("nothing was refused")
		}
		_, err := client.TransactWriteItems(context.Background(), &dynamodb.TransactWriteItemsInput{
			TransactItems: []types.TransactWriteItem{
				{Put: &types.Put{TableName: aws.String("events"), Item: event("hot", 100)}},
				{Put: &types.Put{TableName: aws.String("events"), Item: event("hot", 101)}},
			},
		})
		var cancelled *types.TransactionCanceledException
		if !errors.As(err, &cancelled) {
			t.Fatalf("got %v, want a TransactionCanceledException", err)
		}
		for i, r := range cancelled.CancellationReasons {
			if *r.Code != "ThrottlingError" {
				t.Errorf("reason %d: got %s, want ThrottlingError", i, *r.Code)
			}
		}
		time.Sleep(time.Minute)
		out, err := client.Query(context.Background(), &dynamodb.QueryInput{
			TableName: aws.String("events"), KeyConditionExpression: aws.String("site = :s AND #at >= :at"),
			ExpressionAttributeNames: map[string]string{"#at": "at"},
			ExpressionAttributeValues: map[string]types.AttributeValue{
				":s": &types.AttributeValueMemberS{Value: "hot"}, ":at": &types.AttributeValueMemberS{Value: "00000100"},
			},
		})
		if err != nil || out.Count != 0 {
			t.Errorf("got %v items, %v: a cancelled transaction must leave nothing", out, err)
		}
	})
}

// A page is charged for what it read, after it was read: the next one waits.
func TestQueriesAreCharged(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		client := physics(t, local.Physics{PartitionWrites: 1000, PartitionReads: 10, Window: time.Second, OnDemandPartitions: 1})
		eventTable(t, client, nil)
		for i := range 100 {
			if _, err := client.PutItem(context.Background(), &dynamodb.PutItemInput{
				TableName: aws.String("events"), Item: event("hot", i, "note", strings.Repeat("x", 1000)),
			}); err != nil {
				t.Fatal(err)
			}
		}
		query := func() error {
			_, err := client.Query(context.Background(), &dynamodb.QueryInput{
				TableName: aws.String("events"), KeyConditionExpression: aws.String("site = :s"), ConsistentRead: aws.Bool(true),
				ExpressionAttributeValues: map[string]types.AttributeValue{":s": &types.AttributeValueMemberS{Value: "hot"}},
			})
			return err
		}
		if err := query(); err != nil {
			t.Fatal(err)
		}
		var throttle *types.ThrottlingException
		if err := query(); !errors.As(err, &throttle) || *throttle.ThrottlingReasons[0].Reason != "TableReadKeyRangeThroughputExceeded" {
			t.Fatalf("got %v right after a page of 26 units, want a throttle of reads", err)
		}
		time.Sleep(1500 * time.Millisecond) // 10 of 26 were there; 16 are owed
		if err := query(); !errors.As(err, &throttle) {
			t.Errorf("got %v after 1.5 s, want a throttle still", err)
		}
		time.Sleep(500 * time.Millisecond)
		if err := query(); err != nil {
			t.Errorf("got %v after 2 s, want the page", err)
		}
	})
}

// A table's partitions can be looked at: what each served and refused, and how
// they split.
func TestPartitionsSplitAndAreSeen(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		db, err := local.New(local.Options{Physics: &local.Physics{
			PartitionWrites: 10, PartitionReads: 30, Window: time.Second, OnDemandPartitions: 1,
			SplitHold: 30 * time.Second, SplitDuration: 10 * time.Second,
		}})
		if err != nil {
			t.Fatal(err)
		}
		client := db.Client(once)
		eventTable(t, client, nil)
		spread := func(i int) map[string]types.AttributeValue { return event(fmt.Sprint(i%97), i) }
		before, _ := offer(t, client, 30, 10*time.Second, spread)
		offer(t, client, 30, 10*time.Minute, spread)
		after, _ := offer(t, client, 30, 10*time.Second, spread)
		if before > 130 || after < 280 {
			t.Errorf("got %d of 300 writes before the splits and %d after, want about 100 and all", before, after)
		}
		heat, err := db.Partitions(context.Background(), "events", time.Minute)
		if err != nil || len(heat) != 1 {
			t.Fatalf("got %d, %v", len(heat), err)
		}
		h := heat[0]
		if len(h.Partitions) < 4 || len(h.Splits) != len(h.Partitions)-1 || h.Splits[0].Cause != "heat" {
			t.Errorf("got %d partitions and splits %v", len(h.Partitions), h.Splits)
		}
		served := 0.0
		for _, p := range h.Partitions {
			for _, s := range p.Seconds {
				served += s.WriteUnits
			}
		}
		if served < 1500 || served > 1830 {
			t.Errorf("got %.0f units in the last minute, want about 1,800", served)
		}
		consumed := 0.0
		for _, m := range h.Minutes {
			consumed += m.Metrics["ConsumedWriteCapacityUnits"]
		}
		if consumed == 0 {
			t.Error("no units in CloudWatch's names")
		}
		if err := db.Close(); err != nil {
			t.Fatal(err)
		}
	})
}

// Partitions only split, also across a restart.
func TestPartitionsSurviveARestart(t *testing.T) {
	dir := t.TempDir()
	count := func(create bool) int {
		db, err := local.New(local.Options{Dir: dir, Physics: &local.Physics{PartitionWrites: 10, PartitionReads: 30, OnDemandPartitions: 2}})
		if err != nil {
			t.Fatal(err)
		}
		defer func() {
			if err := db.Close(); err != nil {
				t.Error(err)
			}
		}()
		client := db.Client(once)
		if create {
			eventTable(t, client, nil)
			for _, mode := range []types.BillingMode{types.BillingModeProvisioned, types.BillingModePayPerRequest} {
				in := &dynamodb.UpdateTableInput{TableName: aws.String("events"), BillingMode: mode}
				if mode == types.BillingModeProvisioned {
					in.ProvisionedThroughput = &types.ProvisionedThroughput{ReadCapacityUnits: aws.Int64(10), WriteCapacityUnits: aws.Int64(75)}
				}
				if _, err := client.UpdateTable(context.Background(), in); err != nil {
					t.Fatal(err)
				}
			}
		}
		heat, err := db.Partitions(context.Background(), "events", time.Minute)
		if err != nil {
			t.Fatal(err)
		}
		return len(heat[0].Partitions)
	}
	before := count(true)
	after := count(false)
	if before < 8 || after != before {
		t.Errorf("got %d partitions, and %d after a restart", before, after)
	}
}

// The sixteen reasons, each with its exception and ARN as the SDK decodes them.
func TestEveryReasonThroughTheSDK(t *testing.T) {
	const units = 10 // a second, of whatever the case limits
	throughput := func(n int64) *types.ProvisionedThroughput {
		return &types.ProvisionedThroughput{ReadCapacityUnits: &n, WriteCapacityUnits: &n}
	}
	most := &types.OnDemandThroughput{MaxReadRequestUnits: aws.Int64(units), MaxWriteRequestUnits: aws.Int64(units)}
	for _, limit := range []struct {
		kind, exception string
		physics         local.Physics
		table, index    func(*dynamodb.CreateTableInput) // limit one and not the other
	}{
		{
			"KeyRangeThroughputExceeded", "ThrottlingException",
			local.Physics{},
			nil,
			func(in *dynamodb.CreateTableInput) { // the table has more partitions
				in.WarmThroughput = &types.WarmThroughput{WriteUnitsPerSecond: aws.Int64(20_000)}
			},
		},
		{
			"ProvisionedThroughputExceeded", "ProvisionedThroughputExceededException",
			local.Physics{},
			func(in *dynamodb.CreateTableInput) {
				in.BillingMode, in.ProvisionedThroughput = types.BillingModeProvisioned, throughput(units)
				in.GlobalSecondaryIndexes[0].ProvisionedThroughput = throughput(1000)
			},
			func(in *dynamodb.CreateTableInput) {
				in.BillingMode, in.ProvisionedThroughput = types.BillingModeProvisioned, throughput(1000)
				in.GlobalSecondaryIndexes[0].ProvisionedThroughput = throughput(units)
			},
		},
		{
			"MaxOnDemandThroughputExceeded", "ThrottlingException",
			local.Physics{},
			func(in *dynamodb.CreateTableInput) { in.OnDemandThroughput = most },
			func(in *dynamodb.CreateTableInput) { in.GlobalSecondaryIndexes[0].OnDemandThroughput = most },
		},
		{"AccountLimitExceeded", "RequestLimitExceeded", local.Physics{TableReads: units, TableWrites: units}, nil, nil},
	} {
		for _, subject := range []string{"Table", "Index"} {
			for _, direction := range []string{"Read", "Write"} {
				reason, edit, resource := subject+direction+limit.kind, limit.table, "table/events"
				if subject == "Index" {
					edit, resource = limit.index, "table/events/index/by-kind"
				}
				t.Run(reason, func(t *testing.T) {
					bubble.Test(t, func(t *testing.T) {
						client := physics(t, limit.physics)
						eventTable(t, client, func(in *dynamodb.CreateTableInput) {
							withKindIndex(in)
							if edit != nil {
								edit(in)
							}
						})
						got := refusalOf(t, untilRefused(client, subject, direction))
						if want := limit.exception + ", " + reason + " on " + resource; got != want {
							t.Errorf("got %s, want %s", got, want)
						}
					})
				})
			}
		}
	}
}

// withKindIndex gives the table of events an index by kind.
func withKindIndex(in *dynamodb.CreateTableInput) {
	in.AttributeDefinitions = append(in.AttributeDefinitions,
		types.AttributeDefinition{AttributeName: aws.String("kind"), AttributeType: types.ScalarAttributeTypeS})
	in.GlobalSecondaryIndexes = []types.GlobalSecondaryIndex{{
		IndexName:  aws.String("by-kind"),
		KeySchema:  []types.KeySchemaElement{{AttributeName: aws.String("kind"), KeyType: types.KeyTypeHash}},
		Projection: &types.Projection{ProjectionType: types.ProjectionTypeKeysOnly},
	}}
}

// untilRefused reads or writes, at one moment, what costs the table or its index
// most until something is refused.
func untilRefused(client *dynamodb.Client, subject, direction string) error {
	ctx, table := context.Background(), aws.String("events")
	for i := range 5000 {
		var err error
		switch subject + direction {
		case "TableWrite": // an item that the index does not have
			_, err = client.PutItem(ctx, &dynamodb.PutItemInput{TableName: table, Item: event("hot", i)})
		case "IndexWrite": // an entry that moves: two units on the index, one on the table
			item := event(fmt.Sprint(i/2), 0, "kind", "hot")
			if i%2 == 1 {
				item["kind"] = &types.AttributeValueMemberS{Value: "other"}
			}
			_, err = client.PutItem(ctx, &dynamodb.PutItemInput{TableName: table, Item: item})
		case "TableRead":
			_, err = client.GetItem(ctx, &dynamodb.GetItemInput{TableName: table, Key: event("hot", 0), ConsistentRead: aws.Bool(true)})
		case "IndexRead":
			_, err = client.Query(ctx, &dynamodb.QueryInput{
				TableName: table, IndexName: aws.String("by-kind"), KeyConditionExpression: aws.String("kind = :k"),
				ExpressionAttributeValues: map[string]types.AttributeValue{":k": &types.AttributeValueMemberS{Value: "hot"}},
			})
		}
		if err != nil {
			return err
		}
	}
	return errors.New("nothing was refused")
}

// With the SDK's retries a throttle shows as latency first, and as an error when
// they are used up. What was acknowledged is there, what was not is not.
func TestThrottlesShowAsLatencyThenAsErrors(t *testing.T) {
	t.Setenv("AWS_NEW_RETRIES_2026", "")
	bubble.Test(t, func(t *testing.T) {
		db := startPhysics(t, local.Physics{PartitionWrites: 10, PartitionReads: 1000, Window: time.Second, OnDemandPartitions: 1, NoSplits: true})
		eventTable(t, db.Client(once), nil)
		const calls = 600 // 20 a second where 10 fit
		latencies, errs, tries := make([]time.Duration, calls), make([]error, calls), make([]*attempts, calls)
		var wg sync.WaitGroup
		for i := range calls {
			client, a := counted(db) // each with a quota of its own: nothing fails for what others did
			tries[i] = a
			wg.Go(func() {
				start := time.Now()
				errs[i] = putHot(client, i)
				latencies[i] = time.Since(start)
			})
			time.Sleep(50 * time.Millisecond)
		}
		wg.Wait()
		slow, failed := 0, 0
		want := map[string]bool{}
		for i, err := range errs {
			if err == nil {
				want[fmt.Sprintf("%08d", i)] = true
			}
			switch {
			case len(tries[i].at) == 1 && err == nil && latencies[i] == 0:
			case len(tries[i].at) > 1 && err == nil && latencies[i] > 0:
				slow++
			case len(tries[i].at) == 3 && err != nil && latencies[i] > 0:
				failed++
			default:
				t.Errorf("call %d: %d attempts in %v ended with %v", i, len(tries[i].at), latencies[i], err)
			}
		}
		t.Logf("of %d calls %d were slow, %d failed", calls, slow, failed)
		if slow < 10 || failed < 10 {
			t.Errorf("of %d calls %d were slow and %d failed, want some of each", calls, slow, failed)
		}
		time.Sleep(time.Minute)
		out, err := db.Client(once).Query(context.Background(), &dynamodb.QueryInput{
			TableName: aws.String("events"), KeyConditionExpression: aws.String("site = :s"),
			ExpressionAttributeValues: map[string]types.AttributeValue{":s": &types.AttributeValueMemberS{Value: "hot"}},
		})
		if err != nil {
			t.Fatal(err)
		}
		got := map[string]bool{}
		for _, item := range out.Items {
			got[item["at"].(*types.AttributeValueMemberS).Value] = true
		}
		if !maps.Equal(got, want) {
			t.Errorf("%d items are there, %d were acknowledged", len(got), len(want))
		}
	})
}
