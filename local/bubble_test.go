package local_test

import (
	"context"
	"errors"
	"net/http"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/heatsink-go/heatsink/internal/bubble"
	"github.com/heatsink-go/heatsink/local"
)

// Contexts in bubbles are context.Background: t.Context ends before a bubble
// does, which would hide a leak. A bubble whose goroutines do not end fails.

func TestTimeToLiveInABubble(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		ctx, db := context.Background(), local.Start(t)
		client := db.Client()
		must[*dynamodb.CreateTableOutput](t)(client.CreateTable(ctx, onDemand("sessions", withStream, "id S")))
		enableTTL(ctx, t, client, "sessions")
		start := time.Now()
		for id, life := range map[string]time.Duration{"short": 2 * time.Hour, "long": 20 * time.Hour} {
			must[*dynamodb.PutItemOutput](t)(client.PutItem(ctx, &dynamodb.PutItemInput{
				TableName: aws.String("sessions"), Item: with(key(id), "ttl", whole(int(start.Add(life).Unix()))),
			}))
		}
		there := func(id string) bool {
			out := must[*dynamodb.GetItemOutput](t)(client.GetItem(ctx, &dynamodb.GetItemInput{TableName: aws.String("sessions"), Key: key(id)}))
			return out.Item != nil
		}
		time.Sleep(2*time.Hour - time.Minute)
		if !there("short") || !there("long") {
			t.Error("an item is gone before its time")
		}
		time.Sleep(2 * time.Minute)
		if there("short") || !there("long") {
			t.Errorf("after %s: short is there: %t, long is there: %t", time.Since(start), there("short"), there("long"))
		}
		all := records(ctx, t, db, "sessions")
		if len(all) != 3 {
			t.Fatalf("the stream has %d records, want 3", len(all))
		}
		last := all[2]
		if last.EventName != "REMOVE" || last.UserIdentity == nil ||
			aws.ToString(last.UserIdentity.PrincipalId) != "dynamodb.amazonaws.com" || aws.ToString(last.UserIdentity.Type) != "Service" {
			t.Errorf("got %s by %+v, want a REMOVE by the service dynamodb.amazonaws.com", last.EventName, last.UserIdentity)
		}
		if age := last.Dynamodb.ApproximateCreationDateTime.Sub(start); age < 2*time.Hour || age > 2*time.Hour+time.Minute {
			t.Errorf("the deletion is dated %s after the put, want two hours", age)
		}
		for _, record := range all[:2] {
			if record.UserIdentity != nil {
				t.Errorf("a put is by %+v, want nobody in particular", record.UserIdentity)
			}
		}
	})
}

func TestTTLIntervalInABubble(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		ctx, db := context.Background(), open(t, local.Options{TTLInterval: time.Hour})
		client := db.Client()
		must[*dynamodb.CreateTableOutput](t)(client.CreateTable(ctx, onDemand("sessions", nil, "id S")))
		enableTTL(ctx, t, client, "sessions")
		time.Sleep(time.Minute)
		must[*dynamodb.PutItemOutput](t)(client.PutItem(ctx, &dynamodb.PutItemInput{
			TableName: aws.String("sessions"), Item: with(key("a"), "ttl", whole(int(time.Now().Unix()))),
		}))
		count := func() int32 {
			return must[*dynamodb.ScanOutput](t)(client.Scan(ctx, &dynamodb.ScanInput{TableName: aws.String("sessions")})).Count
		}
		time.Sleep(50 * time.Minute)
		if count() != 1 {
			t.Error("the item went before the sweep")
		}
		time.Sleep(20 * time.Minute)
		if count() != 0 {
			t.Error("the item is there after the sweep")
		}
	})
}

// Shards are replaced after four hours and records kept for a day.
func TestStreamAgesInABubble(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		ctx, db := context.Background(), local.Start(t)
		client := db.Client()
		must[*dynamodb.CreateTableOutput](t)(client.CreateTable(ctx, onDemand("hours", withStream, "id S")))
		for hour := range 36 {
			must[*dynamodb.PutItemOutput](t)(client.PutItem(ctx, &dynamodb.PutItemInput{
				TableName: aws.String("hours"), Item: with(key("a"), "hour", whole(hour)),
			}))
			time.Sleep(time.Hour)
		}
		all := records(ctx, t, db, "hours")
		if len(all) < 23 || len(all) > 25 {
			t.Errorf("the stream has %d hourly records, want those of a day", len(all))
		}
		for i := 1; i < len(all); i++ {
			if !all[i].Dynamodb.ApproximateCreationDateTime.After(*all[i-1].Dynamodb.ApproximateCreationDateTime) {
				t.Errorf("record %d is not later than the one before", i)
			}
		}
	})
}

func TestWaitersInABubble(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		ctx, db := context.Background(), local.Start(t)
		client := db.Client()
		describe := &dynamodb.DescribeTableInput{TableName: aws.String("late")}
		var group sync.WaitGroup
		group.Go(func() {
			time.Sleep(7 * time.Minute)
			if _, err := client.CreateTable(ctx, onDemand("late", nil, "id S")); err != nil {
				t.Error(err)
			}
		})
		start := time.Now()
		if err := dynamodb.NewTableExistsWaiter(client).Wait(ctx, describe, time.Hour); err != nil {
			t.Error(err)
		}
		if waited := time.Since(start); waited < 7*time.Minute || waited > 10*time.Minute {
			t.Errorf("waited %s for a table that came after 7 minutes", waited)
		}
		group.Wait()
		must[*dynamodb.DeleteTableOutput](t)(client.DeleteTable(ctx, &dynamodb.DeleteTableInput{TableName: aws.String("late")}))
		if err := dynamodb.NewTableNotExistsWaiter(client).Wait(ctx, describe, time.Minute); err != nil {
			t.Error(err)
		}
	})
}

func TestDeadlineEndsAWaitInABubble(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		db := local.Start(t)
		ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
		defer cancel()
		start := time.Now()
		err := dynamodb.NewTableExistsWaiter(db.Client()).Wait(ctx, &dynamodb.DescribeTableInput{TableName: aws.String("never")}, time.Hour)
		if err == nil || ctx.Err() == nil {
			t.Errorf("the wait ended with %v, its context with %v", err, ctx.Err())
		}
		if waited := time.Since(start); waited != time.Minute {
			t.Errorf("waited %s, want a minute", waited)
		}
	})
}

// outage is an HTTP client whose first requests fail.
type outage struct {
	next interface {
		Do(*http.Request) (*http.Response, error)
	}
	left *int
}

func (o outage) Do(r *http.Request) (*http.Response, error) {
	if *o.left > 0 {
		*o.left--
		return nil, errors.New("connection reset by peer")
	}
	return o.next.Do(r)
}

func TestRetriesInABubble(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		ctx, db := context.Background(), local.Start(t)
		must[*dynamodb.CreateTableOutput](t)(db.Client().CreateTable(ctx, onDemand("counters", nil, "id S")))
		left := 5
		client := db.Client(func(o *dynamodb.Options) {
			o.HTTPClient = outage{o.HTTPClient, &left}
			o.RetryMaxAttempts = 6
		})
		start := time.Now()
		out := must[*dynamodb.UpdateItemOutput](t)(client.UpdateItem(ctx, &dynamodb.UpdateItemInput{
			TableName: aws.String("counters"), Key: key("a"),
			UpdateExpression: aws.String("ADD n :one"), ExpressionAttributeValues: item{":one": whole(1)},
			ReturnValues: types.ReturnValueAllNew,
		}))
		if got := out.Attributes["n"].(*types.AttributeValueMemberN).Value; got != "1" || left != 0 {
			t.Errorf("counted %s, want 1; %d failures left", got, left)
		}
		if time.Since(start) == 0 {
			t.Error("the retries took no time")
		}
	})
}

// What engines share behind the scenes (pools of buffers and batches) must not
// tie one bubble to another or to the world outside.
func TestEnginesInsideAndOutsideBubbles(t *testing.T) {
	use := func(t *testing.T) {
		ctx, db := context.Background(), local.Start(t)
		client := db.Client()
		must[*dynamodb.CreateTableOutput](t)(client.CreateTable(ctx, onDemand("things", withStream, "id S")))
		var group sync.WaitGroup
		for writer := range 4 {
			group.Go(func() {
				for i := range 50 {
					_, err := client.PutItem(ctx, &dynamodb.PutItemInput{
						TableName: aws.String("things"), Item: with(key("same"), "n", whole(100*writer+i)),
					})
					if err != nil {
						t.Error(err)
					}
				}
			})
		}
		group.Wait()
		if got := len(records(ctx, t, db, "things")); got != 200 {
			t.Errorf("the stream has %d records, want 200", got)
		}
	}
	for range 3 {
		t.Run("outside", func(t *testing.T) {
			t.Parallel()
			use(t)
		})
		t.Run("inside", func(t *testing.T) {
			t.Parallel()
			bubble.Test(t, use)
		})
	}
}

func TestDirectoryInABubble(t *testing.T) {
	dir := t.TempDir()
	for round := range 2 {
		bubble.Test(t, func(t *testing.T) {
			ctx, db := context.Background(), open(t, local.Options{Dir: dir})
			client := db.Client()
			if round == 0 {
				must[*dynamodb.CreateTableOutput](t)(client.CreateTable(ctx, onDemand("things", nil, "id S")))
			}
			must[*dynamodb.PutItemOutput](t)(client.PutItem(ctx, &dynamodb.PutItemInput{TableName: aws.String("things"), Item: key(string(rune('a' + round)))}))
			out := must[*dynamodb.ScanOutput](t)(client.Scan(ctx, &dynamodb.ScanInput{TableName: aws.String("things")}))
			if int(out.Count) != round+1 {
				t.Errorf("round %d: %d items, want %d", round, out.Count, round+1)
			}
		})
	}
}
