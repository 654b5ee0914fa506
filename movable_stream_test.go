package heatsink_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/aws-sdk-go-v2/service/dynamodbstreams"
	streamtypes "github.com/aws/aws-sdk-go-v2/service/dynamodbstreams/types"

	"github.com/heatsink-go/heatsink"
	"github.com/heatsink-go/heatsink/heat"
	"github.com/heatsink-go/heatsink/internal/bubble"
	"github.com/heatsink-go/heatsink/layout"
	"github.com/heatsink-go/heatsink/local"
	"github.com/heatsink-go/heatsink/move"
)

// The rules of docs/moving.md tell the changes of programs from those of a move, there and back, in a table's stream.
func TestStreamOfAMove(t *testing.T) {
	for _, back := range []bool{false, true} {
		bubble.Test(t, func(t *testing.T) {
			ctx := context.Background()
			db, err := local.New(local.Options{Signatures: true})
			if err != nil {
				t.Fatal(err)
			}
			defer db.Close()
			client := db.Client()
			created, err := client.CreateTable(ctx, &dynamodb.CreateTableInput{
				TableName: aws.String("users"), BillingMode: types.BillingModePayPerRequest,
				AttributeDefinitions: []types.AttributeDefinition{{AttributeName: aws.String("pk"), AttributeType: "S"}, {AttributeName: aws.String("sk"), AttributeType: "S"}},
				KeySchema:            []types.KeySchemaElement{{AttributeName: aws.String("pk"), KeyType: "HASH"}, {AttributeName: aws.String("sk"), KeyType: "RANGE"}},
				StreamSpecification:  &types.StreamSpecification{StreamEnabled: aws.Bool(true), StreamViewType: types.StreamViewTypeNewAndOldImages},
			})
			if err != nil {
				t.Fatal(err)
			}
			users, err := openUsers(client)
			if err != nil {
				t.Fatal(err)
			}
			want := map[string][]string{} // the changes of each id
			there := map[string]bool{}
			random := rand.New(rand.NewPCG(1, 2))
			change := func(n int) {
				u := User{Status: "A", ID: fmt.Sprintf("%02d", random.IntN(30)), Logins: n}
				var err error
				if random.IntN(3) == 0 {
					if _, err = users.Delete(ctx, u); there[u.ID] {
						want[u.ID] = append(want[u.ID], "remove")
					}
					delete(there, u.ID)
				} else {
					if _, err = users.Put(ctx, u); there[u.ID] {
						want[u.ID] = append(want[u.ID], "modify")
					} else {
						want[u.ID] = append(want[u.ID], "insert")
					}
					there[u.ID] = true
				}
				if err != nil {
					t.Error(err)
				}
			}
			for n := range 100 {
				change(n)
			}
			moving, cancel := context.WithCancel(ctx)
			var program sync.WaitGroup
			program.Go(func() {
				for n := 100; moving.Err() == nil; n++ {
					time.Sleep(time.Duration(1+random.IntN(20)) * time.Second)
					change(n)
				}
			})
			o := move.Options{Collection: heatsink.Options{Table: "users", PartitionKey: "pk", SortKey: "sk", Movable: true, Layout: layout.Layout{Strategy: layout.Calculated}}, To: layout.Layout{Shards: 4, Strategy: layout.Calculated}, Wait: !back, WCU: 1}
			m, err := move.New(client, o)
			if err != nil {
				t.Fatal(err)
			}
			result, err := m.Run(ctx)
			if back && err == nil {
				o.Wait = true
				if m, err = move.New(client, o); err == nil {
					time.Sleep(10 * time.Minute)
					result, err = m.Back(ctx)
				}
			}
			if err != nil || !result.Done {
				t.Errorf("%+v, %v", result, err)
			}
			cancel()
			program.Wait()
			got, moves := map[string][]string{}, 0
			for _, r := range streamOf(t, db.StreamsClient(), aws.ToString(created.TableDescription.LatestStreamArn)) {
				c, err := heat.ChangeOf(r, "pk")
				if err != nil || c.Uncertain {
					t.Fatalf("%+v, %v", c, err)
				}
				if c.Kind == heat.Internal {
					continue
				}
				if id := r.Dynamodb.Keys["sk"].(*streamtypes.AttributeValueMemberS).Value; c.Kind.Data() {
					got[id] = append(got[id], string(c.Kind))
				} else {
					moves++
				}
				if c.Key != "A" {
					t.Errorf("the logical key of %q is %q, want A", c.StoredKey, c.Key)
				}
			}
			for id := range want {
				if !slices.Equal(got[id], want[id]) {
					t.Errorf("%s: the stream says %s\nwant %s", id, strings.Join(got[id], " "), strings.Join(want[id], " "))
				}
			}
			if len(got) != len(want) || moves < 50 || len(want) < 25 {
				t.Errorf("%d ids in the stream, want %d; %d records of moves", len(got), len(want), moves)
			}
		})
	}
}

// streamOf returns the records of a stream, in their order.
func streamOf(t *testing.T, streams *dynamodbstreams.Client, arn string) (all []streamtypes.Record) {
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
	slices.SortStableFunc(all, func(a, b streamtypes.Record) int {
		return strings.Compare(fmt.Sprintf("%040s", aws.ToString(a.Dynamodb.SequenceNumber)), fmt.Sprintf("%040s", aws.ToString(b.Dynamodb.SequenceNumber)))
	})
	return all
}
