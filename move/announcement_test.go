package move_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/heatsink-go/heatsink"
	"github.com/heatsink-go/heatsink/internal/bubble"
	"github.com/heatsink-go/heatsink/layout"
	"github.com/heatsink-go/heatsink/move"
)

// stale is a client that cannot read the record again once it is cut off: its program uses what it knows until its lease is over.
type stale struct {
	*dynamodb.Client
	cut atomic.Bool
}

func (s *stale) GetItem(ctx context.Context, in *dynamodb.GetItemInput, with ...func(*dynamodb.Options)) (*dynamodb.GetItemOutput, error) {
	if pk, ok := in.Key["pk"].(*types.AttributeValueMemberS); ok && s.cut.Load() && strings.HasPrefix(pk.Value, "_hs#P#") {
		return nil, &types.ProvisionedThroughputExceededException{}
	}
	return s.Client.GetItem(ctx, in, with...)
}

// plainly returns layouts whose shards are spelt otherwise than those of bare: ACTIVE#3 is a key of bare, and a shard of ACTIVE there.
func plainly(shards int) layout.Layout {
	l := layout.Layout{Shards: shards, Strategy: layout.Calculated, Format: layout.PlainNumber()}
	l.Format.BareZero = shards == 0
	return l
}

var wholeDays = layout.Layout{Strategy: layout.Calculated, Bucket: layout.Day}

// begun are moves to arrangements that refuse keys which the present one takes, with a key that reads as a shard of ACTIVE.
var begun = map[string]struct {
	from layout.Layout
	o    move.Options
	like []string
}{
	"to shards":                {bare, move.Options{To: plainly(4)}, []string{"ACTIVE#0", "ACTIVE#1", "ACTIVE#2", "ACTIVE#3"}},
	"a prefix":                 {bare, move.Options{To: plainly(0), Prefixes: map[string]int{"ACT": 4}}, []string{"ACTIVE#0", "ACTIVE#1", "ACTIVE#2", "ACTIVE#3"}},
	"a key":                    {bare, move.Options{To: plainly(0), Widths: map[string]int{"ACTIVE": 4}}, []string{"ACTIVE#0", "ACTIVE#1", "ACTIVE#2", "ACTIVE#3"}},
	"to days":                  {bare, move.Options{To: wholeDays}, []string{"ACTIVE#2026-11-16"}},
	"days, into another table": {bare, move.Options{To: wholeDays, Into: "people"}, []string{"ACTIVE#2026-11-16"}},
	"a list":                   {layout.Layout{}, move.Options{To: layout.Layout{Shards: 4, Format: layout.PlainNumber()}}, []string{"ACTIVE#0", "ACTIVE#1", "ACTIVE#2", "ACTIVE#3"}},
}

// announce returns a town with a move that is to begin, and its options.
func announce(t *testing.T, name string) (*town, move.Options) {
	t.Helper()
	x, test := found(t), begun[name]
	o := test.o
	o.Collection = users(test.from)
	if o.To.Bucket != layout.NoBucket {
		x.timed, o.Collection = true, diaries(test.from)
	}
	if o.Into != "" {
		x.create(func(in *dynamodb.CreateTableInput) { in.TableName = aws.String(o.Into) })
	}
	return x, o
}

// stop runs a move for some time.
func (x *town) stop(o move.Options, after time.Duration) move.Result {
	x.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), after)
	defer cancel()
	result, err := x.mover(o).Run(ctx)
	if !errors.Is(err, context.DeadlineExceeded) {
		x.t.Fatalf("%+v, %v, want a move that is stopped", result, err)
	}
	return result
}

func (x *town) stageOf(o move.Options) move.Stage {
	x.t.Helper()
	s, err := x.mover(o).Stage(context.Background())
	if err != nil {
		x.t.Fatal(err)
	}
	return s
}

// A program whose view of the record is from before a move may put keys that read as shards of another key, for a minute. Others that know
// of the move use that key, with the same ids. What was acknowledged is there afterwards, under both keys.
func TestKeysLikeShardsAreNeverLost(t *testing.T) {
	for name, test := range begun {
		for _, first := range []int{1, 45} { // the second of the first such key
			t.Run(fmt.Sprintf("%s, from second %d on", name, first), func(t *testing.T) {
				bubble.Test(t, func(t *testing.T) {
					x, o := announce(t, name)
					id := func(i int) string { return fmt.Sprintf("2026-11-16T10:%02d:%02dZ#u", i/60, i%60) }
					client := &stale{Client: x.client}
					late, err := heatsink.Open[user](client, o.Collection)
					if err != nil {
						t.Fatal(err)
					}
					if _, err := late.Put(t.Context(), user{Key: "ACTIVE", ID: id(0), Text: "own"}); err != nil {
						t.Fatal(err)
					}
					client.cut.Store(true)
					var moves sync.WaitGroup
					var failed error
					moves.Go(func() { _, failed = x.mover(o).Run(context.Background()) })
					time.Sleep(time.Second)

					acknowledged, refused := map[[2]string]string{}, 0
					for i := 1; i < 120; i++ {
						for _, like := range test.like {
							if i < first {
								break
							}
							if _, err := late.Put(t.Context(), user{Key: like, ID: id(i), Text: "late"}); err != nil {
								refused++
								continue
							}
							acknowledged[[2]string{like, id(i)}] = "late"
						}
						if _, err := x.program(o.Collection.Layout).Put(t.Context(), user{Key: "ACTIVE", ID: id(i), Text: "own"}); err != nil {
							t.Fatal(err)
						}
						acknowledged[[2]string{"ACTIVE", id(i)}] = "own"
						time.Sleep(time.Second)
					}
					moves.Wait()
					if len(acknowledged) < 119+10 || refused < 10 {
						t.Errorf("%d late items and %d refused ones: this test shows nothing", len(acknowledged)-119, refused)
					}
					if !errors.Is(failed, move.ErrUnsupported) || !strings.Contains(failed.Error(), "withdrawn") {
						t.Errorf("the move: %v, want ErrUnsupported, because of late items", failed)
					}
					for _, item := range x.stored() {
						at := [2]string{item["pk"].(*types.AttributeValueMemberS).Value, item["sk"].(*types.AttributeValueMemberS).Value}
						if v, ok := item["text"].(*types.AttributeValueMemberS); ok && acknowledged[at] == v.Value {
							delete(acknowledged, at)
						}
					}
					if n := len(acknowledged); n > 0 {
						t.Errorf("%d acknowledged items are not as they were put", n)
					}
					if _, err := x.program(o.Collection.Layout).Put(t.Context(), user{Key: test.like[0], ID: id(0)}); err != nil {
						t.Errorf("a key like a shard, behind a move that has not begun: %v", err)
					}
				})
			})
		}
	}
}

// A mover that is stopped while its move is announced leaves that to the next one, which waits for the rest of the time only.
func TestAnnouncedMoveGoesOn(t *testing.T) {
	for name, test := range begun {
		t.Run(name, func(t *testing.T) {
			bubble.Test(t, func(t *testing.T) {
				x, o := announce(t, name)
				c := x.program(test.from)
				x.fill(c, 20)
				first := x.stop(o, 30*time.Second)
				s := x.stageOf(o)
				if s.Name != "announced" || s.Then != "split" || s.Next == nil || s.Generation != 2 || !s.Moving() || s.Rests != "" || s.Until.Sub(s.Since) != 75*time.Second ||
					first.Stage.Name != s.Name || !strings.Contains(s.String(), "--back") {
					t.Errorf("stage %v, and %v in the result", s, first.Stage)
				}
				time.Sleep(time.Minute) // programs know by now
				like := user{Key: test.like[0], ID: x.id("new", 1)}
				if _, err := c.Put(t.Context(), like); !errors.Is(err, heatsink.ErrItem) || !strings.Contains(err.Error(), "about to move to") {
					t.Errorf("a key like a shard: %v, want ErrItem that tells of the move", err)
				}
				x.put(c, user{Key: "ACTIVE", ID: x.id("new", 1), Value: 3})
				if f, err := x.mover(o).Plan(t.Context()); err != nil || f.Stage.Name != "announced" || f.Moves == 0 || f.Duration > 10*time.Second || f.Blocked != 0 {
					t.Errorf("forecast %+v, %v", f, err)
				}
				o.Wait = true
				began := time.Now()
				result, err := x.mover(o).Run(t.Context())
				if err != nil || !result.Done {
					t.Fatalf("%+v, %v", result, err)
				}
				if took, most := time.Since(began), 4*62*time.Minute+10*time.Minute; took > most {
					t.Errorf("it took %v, want at most %v", took, most)
				}
				if report, err := x.mover(o).Verify(t.Context()); err != nil || report.Damaged() != 0 || report.Right != 21 {
					t.Errorf("verified %+v, %v", report, err)
				}
			})
		})
	}
}

// Movers that are stopped again and again come to the end of the announcement, without To as well, and not before programs know of it.
func TestAnnouncedMoveOfManyMovers(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		x := found(t)
		x.fill(x.program(bare), 20)
		o := move.Options{Collection: users(bare), To: eight}
		began := time.Now()
		x.stop(o, 20*time.Second)
		o.To = layout.Layout{}
		for s := x.stageOf(o); s.Name == "announced"; s = x.stageOf(o) {
			ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
			if result, err := x.mover(o).Run(ctx); err != nil && !errors.Is(err, context.DeadlineExceeded) {
				t.Fatalf("%+v, %v", result, err)
			}
			cancel()
		}
		if took := time.Since(began); took < 75*time.Second || took > 150*time.Second {
			t.Errorf("it was announced for %v", took)
		}
		if s := x.stageOf(o); s.Name != "split" || s.Generation != 3 {
			t.Errorf("stage %v", s)
		}
	})
}

// What is announced is withdrawn by Back, and by nothing else.
func TestAnnouncedMoveIsWithdrawn(t *testing.T) {
	for name, from := range map[string]layout.Layout{"by id": bare, "a list": {}} {
		t.Run(name, func(t *testing.T) {
			bubble.Test(t, func(t *testing.T) {
				x := found(t)
				c := x.program(from)
				x.fill(c, 20)
				to := layout.Layout{Shards: 8, Strategy: from.Strategy, Format: layout.PlainNumber()}
				o, other := move.Options{Collection: users(from), To: to}, move.Options{Collection: users(from), To: to.WithShards(4)}
				x.stop(o, 30*time.Second)
				for what, err := range map[string]error{
					"announced since": func() error { _, err := x.mover(other).Run(t.Context()); return err }(),
					"not over":        x.mover(o).Finish(t.Context()),
				} {
					if !errors.Is(err, move.ErrStage) || !strings.Contains(err.Error(), what) {
						t.Errorf("%v, want ErrStage that says %q", err, what)
					}
				}
				if s := x.stageOf(o); s.Name != "announced" || s.Generation != 2 {
					t.Errorf("stage %v, want it as it was", s)
				}
				time.Sleep(time.Minute)
				like := user{Key: "ACTIVE#1", ID: "like", Value: 7}
				if _, err := c.Put(t.Context(), like); !errors.Is(err, heatsink.ErrItem) {
					t.Errorf("a key like a shard: %v, want ErrItem", err)
				}
				result, err := x.mover(other).Back(t.Context())
				if err != nil || !result.Done || result.Stage.Name != "settled" || result.Stage.Generation != 3 || result.Stage.Next != nil {
					t.Errorf("back: %+v, %v", result, err)
				}
				time.Sleep(time.Minute)
				x.put(c, like)
				if _, err := x.mover(o).Back(t.Context()); !errors.Is(err, move.ErrStage) {
					t.Errorf("back again: %v, want ErrStage", err)
				}
				if report, err := x.mover(o).Verify(t.Context()); err != nil || report.Damaged() != 0 || report.Right != 21 {
					t.Errorf("verified %+v, %v", report, err)
				}
				x.erase("ACTIVE#1", "like")
				if result, err := x.mover(other).Run(t.Context()); err != nil || result.Stage.Name != "split" {
					t.Errorf("another move: %+v, %v", result, err)
				}
			})
		})
	}
}

// Two movers announce one move once, and go on together. A mover whose announcement is withdrawn says so.
func TestTwoMoversAnnounce(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		x := found(t)
		x.fill(x.program(bare), 40)
		o := move.Options{Collection: users(bare), To: eight}
		var both sync.WaitGroup
		for range 2 {
			both.Go(func() {
				result, err := x.mover(o).Run(context.Background())
				if err != nil || result.Stage.Name != "split" || result.Stage.Generation != 3 {
					t.Errorf("%+v, %v", result, err)
				}
			})
		}
		both.Wait()
		o.Wait = true
		if result, err := x.mover(o).Back(t.Context()); err != nil || !result.Done {
			t.Fatalf("%+v, %v", result, err)
		}
		both.Go(func() {
			result, err := x.mover(o).Run(context.Background())
			if !errors.Is(err, move.ErrStage) || result.Moved != 0 {
				t.Errorf("withdrawn meanwhile: %+v, %v, want ErrStage", result, err)
			}
		})
		time.Sleep(10 * time.Second)
		if result, err := x.mover(o).Back(t.Context()); err != nil || !result.Done {
			t.Errorf("%+v, %v", result, err)
		}
		both.Wait()
		if s := x.stageOf(o); s.Name != "settled" {
			t.Errorf("stage %v", s)
		}
	})
}

// A move to a layout that takes the same keys begins at once.
func TestMovesThatAreNotAnnounced(t *testing.T) {
	for name, test := range map[string]struct{ from, to layout.Layout }{
		"more shards": {four, eight}, "no shards": {four, bare}, "no buckets": {daily, layout.Layout{Strategy: layout.Calculated}}, "other shards of days": {daily, days},
	} {
		t.Run(name, func(t *testing.T) {
			bubble.Test(t, func(t *testing.T) {
				x := found(t)
				x.timed = true
				x.fill(x.program(test.from), 20)
				began := time.Now()
				result, err := x.mover(move.Options{Collection: diaries(test.from), To: test.to}).Run(t.Context())
				if err != nil || result.Stage.Name != "split" || result.Stage.Generation != 2 || time.Since(began) > 30*time.Second {
					t.Errorf("%+v, %v, after %v", result, err, time.Since(began))
				}
			})
		})
	}
}

// An id that gets no bucket is refused while a move to buckets is announced: it could not move.
func TestAnnouncedBucketsRefuseIDsWithoutTime(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		x, o := announce(t, "to days")
		c := x.program(bare)
		x.fill(c, 20)
		x.stop(o, 30*time.Second)
		time.Sleep(time.Minute)
		if _, err := c.Put(t.Context(), user{Key: "ACTIVE", ID: "someday"}); !errors.Is(err, heatsink.ErrItem) {
			t.Errorf("an id without a time: %v, want ErrItem", err)
		}
		o.Wait = true
		if result, err := x.mover(o).Run(t.Context()); err != nil || !result.Done {
			t.Errorf("%+v, %v", result, err)
		}
	})
}

// What makes a move impossible while it is announced ends the announcement: programs would refuse keys for nothing.
func TestAnnouncedMoveThatCannotBegin(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		x := found(t)
		x.fill(x.program(bare), 20)
		o := move.Options{Collection: users(bare), To: eight, Segments: 1}
		scans := 0
		m := mover(t, &meddled{Client: x.client, scan: func() {
			if scans++; scans != 3 { // the forecast, the first look and the second one
				return
			}
			_, err := x.client.UpdateTimeToLive(context.Background(), &dynamodb.UpdateTimeToLiveInput{
				TableName: aws.String("users"), TimeToLiveSpecification: &types.TimeToLiveSpecification{AttributeName: aws.String("expires"), Enabled: aws.Bool(true)},
			})
			if err != nil {
				t.Error(err)
			}
		}}, o)
		result, err := m.Run(t.Context())
		if !errors.Is(err, move.ErrUnsupported) || !strings.Contains(err.Error(), "the move has not begun") || !strings.Contains(err.Error(), "withdrawn") || result.Stage.Name != "settled" {
			t.Errorf("%+v, %v", result, err)
		}
		if s := x.stageOf(o); s.Moving() || s.Generation != 3 {
			t.Errorf("stage %v, want the announcement withdrawn", s)
		}
	})
}
