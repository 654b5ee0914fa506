package heatsink

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/heatsink-go/heatsink/internal/bubble"
	"github.com/heatsink-go/heatsink/internal/faulty"
	"github.com/heatsink-go/heatsink/layout"
)

// tooFast is a client of which each second write is throttled for a reason.
type tooFast struct {
	*faulty.Client
	reason string
	every  atomic.Int64
}

// err returns the throttle of each second request.
func (c *tooFast) err() error {
	if c.every.Add(1)%2 == 0 {
		return nil
	}
	return faulty.Answer(http.StatusBadRequest, &types.ProvisionedThroughputExceededException{
		ThrottlingReasons: []types.ThrottlingReason{{Reason: &c.reason, Resource: aws.String("arn:aws:dynamodb:us-east-1:123456789012:table/items")}},
	})
}

func (c *tooFast) BatchWriteItem(ctx context.Context, in *dynamodb.BatchWriteItemInput, opts ...func(*dynamodb.Options)) (*dynamodb.BatchWriteItemOutput, error) {
	if err := c.err(); err != nil {
		return nil, err
	}
	return c.Client.BatchWriteItem(ctx, in, opts...)
}

func (c *tooFast) DeleteItem(ctx context.Context, in *dynamodb.DeleteItemInput, opts ...func(*dynamodb.Options)) (*dynamodb.DeleteItemOutput, error) {
	if err := c.err(); err != nil {
		return nil, err
	}
	return c.Client.DeleteItem(ctx, in, opts...)
}

func (c *tooFast) UpdateItem(ctx context.Context, in *dynamodb.UpdateItemInput, opts ...func(*dynamodb.Options)) (*dynamodb.UpdateItemOutput, error) {
	if pk, _ := in.Key["pk"].(*types.AttributeValueMemberS); pk == nil || !layout.IsControl(pk.Value) {
		if err := c.err(); err != nil {
			return nil, err
		}
	}
	return c.Client.UpdateItem(ctx, in, opts...)
}

// The law hears of throttles in batches, updates and deletes as well, and only those of the key's partitions make it grow.
func TestEveryWriteIsWatched(t *testing.T) {
	ctx, body := context.Background(), strings.Repeat("x", 20*1024-200)
	for operation, write := range map[string]func(c *Collection[Item], n int) error{
		"batch": func(c *Collection[Item], n int) error {
			var items []Item
			for i := range 5 {
				items = append(items, ov("pk", "k", "sk", fmt.Sprint(n, ".", i), "b", body))
			}
			return c.BatchPut(ctx, items)
		},
		"update": func(c *Collection[Item], _ int) error {
			_, err := c.Update(ctx, ov("pk", "k", "sk", "one"), func(in *dynamodb.UpdateItemInput) {
				in.UpdateExpression, in.ExpressionAttributeValues = aws.String("SET n = :n"), ov(":n", 1)
			})
			return err
		},
		"delete": func(c *Collection[Item], _ int) error {
			_, err := c.Delete(ctx, ov("pk", "k", "sk", "one"))
			if errors.Is(err, ErrNotFound) {
				_, err = c.Put(ctx, ov("pk", "k", "sk", "one", "b", body))
			}
			return err
		},
	} {
		for reason, want := range map[string]string{
			"TableWriteKeyRangeThroughputExceeded": "grow", "TableWriteProvisionedThroughputExceeded": "not key range",
			"TableWriteAccountLimitExceeded": "not key range",
		} {
			t.Run(operation+" "+reason, func(t *testing.T) {
				bubble.Test(t, func(t *testing.T) {
					var made decided
					c := openItems(t, &tooFast{Client: faulty.On(t, onItems(t), nil), reason: reason}, Options{
						Adaptive: &Adaptive{Decided: made.take}, Retry: Retry{Base: time.Microsecond, Budget: 10, Burst: 1 << 20},
					})
					if _, err := c.Put(ctx, ov("pk", "k", "sk", "one", "b", body)); err != nil {
						t.Fatal(err)
					}
					pause := 40 * time.Millisecond // 500 units a second
					if operation == "batch" {
						pause *= 5
					}
					for begin := time.Now(); time.Since(begin) < 12*time.Second; time.Sleep(pause) {
						if err := write(c, int(time.Since(begin))); err != nil {
							t.Fatal(err)
						}
					}
					if got := made.reasons("k"); !slices.Contains(got, want) || want != "grow" && slices.Contains(got, "grow") {
						t.Errorf("decided %v, want %q", got, want)
					}
				})
			})
		}
	}
}

// Processes put, read, change and delete at the same time while keys grow and requests go wrong. What was acknowledged is there
// for every strong read that begins then.
func TestAdaptiveAtOnce(t *testing.T) {
	for name, o := range map[string]Options{
		"random": adaptive(), "calculated": adaptive(calculated),
		"days": {Adaptive: &Adaptive{}, Layout: layout.Layout{Bucket: layout.Day}, EventTime: EventTime{Attribute: "at", Unit: UnixSeconds}},
	} {
		t.Run(name, func(t *testing.T) {
			direct := onItems(t)
			o.Retry = Retry{Attempts: 8, Base: time.Microsecond, Max: 100 * time.Microsecond, Budget: 5, Burst: 10_000}
			var processes []*Collection[Item]
			for i := range 4 {
				faults := faulty.Random(rand.New(rand.NewPCG(uint64(i), 9)), 5, faulty.Throttled, faulty.LostAnswer, faulty.LostRequest, faulty.BrokeDown, faulty.Partly)
				processes = append(processes, openItems(t, faulty.On(t, direct, faults), o))
			}
			ctx := context.Background()
			var mu sync.Mutex
			acked := map[string]bool{}
			snapshot := func() (all []string) {
				mu.Lock()
				defer mu.Unlock()
				for sk := range acked {
					all = append(all, sk)
				}
				return all
			}
			at := int(baseTime.Unix())
			q := Query{Key: "k", Consistent: true}
			if name == "days" {
				q.From, q.To = baseTime, baseTime.AddDate(0, 0, 2)
			}
			var wg sync.WaitGroup
			for n := range 8 {
				wg.Go(func() {
					random := rand.New(rand.NewPCG(uint64(n), 10))
					for i := range 40 {
						c := processes[random.IntN(len(processes))]
						switch {
						case random.IntN(12) == 0:
							_, err := c.Ledgers().Grow(ctx, "k", baseTime.AddDate(0, 0, random.IntN(2)), 1<<random.IntN(6), "at once")
							if errors.Is(err, ErrLedgerLost) || errors.Is(err, ErrItem) {
								t.Error(err)
							}
						case random.IntN(4) == 0:
							want := snapshot()
							got, err := sortsOf(c, q)
							if err != nil {
								if errors.Is(err, ErrLedgerLost) || errors.Is(err, ErrQuery) {
									t.Error(err)
								}
								continue
							}
							slices.Sort(got)
							if once := slices.Compact(slices.Clone(got)); len(once) != len(got) {
								t.Errorf("%d items are there twice", len(got)-len(once))
							}
							for _, sk := range want {
								if _, found := slices.BinarySearch(got, sk); !found {
									t.Errorf("%s was acknowledged before the read, and is missing", sk)
								}
							}
						default:
							sk := fmt.Sprintf("%d-%03d", n, i)
							if _, err := c.Put(ctx, ov("pk", "k", "sk", sk, "at", at+random.IntN(2*86400))); err == nil {
								mu.Lock()
								acked[sk] = true
								mu.Unlock()
							}
						}
					}
				})
			}
			wg.Wait()
			n, err := openItems(t, direct, o).Count(ctx, q)
			if err != nil || n < len(acked) {
				t.Errorf("got %d items, %v, want %d", n, err, len(acked))
			}
		})
	}
}
