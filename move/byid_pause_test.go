package move_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/heatsink-go/heatsink"
	"github.com/heatsink-go/heatsink/internal/bubble"
	"github.com/heatsink-go/heatsink/layout"
	"github.com/heatsink-go/heatsink/move"
)

// What a mover has left frozen is moved by the next one.
func TestMoveByIDGoesOnWithFrozenItems(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		x := found(t)
		c := x.program(four)
		x.fill(c, 40)
		id := moving(t, 1)
		stop := errors.New("the mover is killed")
		ctx, cancel := context.WithCancelCause(t.Context())
		defer cancel(nil)
		o := move.Options{Collection: users(four), To: eight, Segments: 1}
		killed, err := move.New(killer{x.client, id, func() { cancel(stop) }}, o)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := killed.Run(ctx); !errors.Is(err, stop) && !errors.Is(err, context.Canceled) {
			t.Fatalf("got %v, want that it was killed", err)
		}
		frozen := 0
		for _, item := range x.stored() {
			if item["_hs_f"] != nil && item["value"] != nil {
				frozen++
			}
		}
		if frozen == 0 {
			t.Fatal("nothing is frozen: the test shows nothing")
		}
		if got, err := c.Get(t.Context(), user{Key: "ACTIVE", ID: id}); err != nil || got.Value != 1 {
			t.Errorf("the frozen item is %+v, %v", got, err)
		}
		o.Wait = true
		if result, err := x.mover(o).Run(t.Context()); err != nil || !result.Done {
			t.Errorf("%+v, %v", result, err)
		}
		x.check(eight)
	})
}

// killer is a client whose process is killed when it is about to copy an item.
type killer struct {
	move.Client
	id   string
	kill func()
}

func (k killer) PutItem(ctx context.Context, in *dynamodb.PutItemInput, with ...func(*dynamodb.Options)) (*dynamodb.PutItemOutput, error) {
	if v, ok := in.Item["sk"].(*types.AttributeValueMemberS); ok && v.Value == k.id && in.Item["_hs_m"] != nil {
		k.kill()
		return nil, ctx.Err()
	}
	return k.Client.PutItem(ctx, in, with...)
}

// A mover that sleeps in the middle of a pass until items move the other way does not touch them when it wakes up.
func TestMoveByIDOfASleeper(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		x := found(t)
		x.fill(x.program(four), 100)
		there := move.Options{Collection: users(four), To: eight, Segments: 1}
		passes := 0
		sleeper, err := move.New(watched{Client: x.client, scanned: func() {
			if passes++; passes == 3 { // the forecast, the census, and the first page of the move
				time.Sleep(10 * time.Hour)
			}
		}}, there)
		if err != nil {
			t.Fatal(err)
		}
		var asleep sync.WaitGroup
		asleep.Go(func() {
			result, err := sleeper.Run(t.Context())
			if !errors.Is(err, move.ErrStage) && !errors.Is(err, heatsink.ErrCharter) || result.Moved != 0 {
				t.Errorf("the sleeper: %+v, %v", result, err)
			}
		})
		time.Sleep(time.Minute)
		there.Wait = true
		m := x.mover(there)
		if result, err := m.Run(t.Context()); err != nil || !result.Done || result.Moved == 0 {
			t.Fatalf("%+v, %v", result, err)
		}
		if err := m.Finish(t.Context()); err != nil {
			t.Fatal(err)
		}
		back := move.Options{Collection: users(eight), To: four}
		if result, err := x.mover(back).Run(t.Context()); err != nil || result.Stage.Name != "split" || result.Moved == 0 {
			t.Fatalf("%+v, %v", result, err)
		}
		asleep.Wait()
		report, err := x.mover(back).Verify(t.Context())
		if err != nil || report.Damaged() != 0 {
			t.Errorf("%+v, %v", report, err)
		}
		back.Wait = true
		if result, err := x.mover(back).Run(t.Context()); err != nil || !result.Done {
			t.Errorf("%+v, %v", result, err)
		}
		x.check(four)
	})
}

// A machine that is suspended before each request does not take an item for a damaged one.
func TestMoveByIDOfASlowMachine(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		x := found(t)
		x.fill(x.program(bare), 2)
		var slow atomic.Int32
		with := users(bare)
		with.Retry.Timeout = 2 * time.Minute
		m, err := move.New(watched{Client: x.client, update: func() {
			if slow.Add(1) <= 20 {
				time.Sleep(61 * time.Second)
			}
		}}, move.Options{Collection: with, To: eight, Wait: true})
		if err != nil {
			t.Fatal(err)
		}
		if result, err := m.Run(t.Context()); err != nil || !result.Done || slow.Load() < 20 {
			t.Errorf("%+v, %v", result, err)
		}
		x.check(eight)
	})
}

// A pass that went on from a checkpoint is never the last one of a stage: what the checkpoint has left out is found.
func TestMoveByIDTrustsNoCheckpoint(t *testing.T) {
	for name, test := range map[string]struct {
		before string // the mover is killed when it stores this stage
		plant  func(id string) heatsink.Item
	}{
		"closed":   {"settling", func(id string) heatsink.Item { return heatsink.Item{"value": number("5")} }},
		"settling": {"settled, deads", func(id string) heatsink.Item { return heatsink.Item{"_hs_f": text("s")} }},
	} {
		t.Run(name, func(t *testing.T) {
			bubble.Test(t, func(t *testing.T) {
				x := found(t)
				x.fill(x.program(four), 40)
				ctx, cancel := context.WithCancel(t.Context())
				defer cancel()
				o := move.Options{Collection: users(four), To: eight, Segments: 2, Wait: true}
				killed, err := move.New(stageKiller{x.client, test.before, cancel}, o)
				if err != nil {
					t.Fatal(err)
				}
				if _, err := killed.Run(ctx); !errors.Is(err, context.Canceled) {
					t.Fatalf("got %v, want that it was killed", err)
				}
				id := moving(t, 40)
				item := test.plant(id)
				item["pk"], item["sk"] = text(homeOf(t, four, "ACTIVE", id)), text(id)
				x.raw(item)
				result, err := x.mover(o).Run(t.Context())
				if err != nil || !result.Done || !result.Resumed {
					t.Errorf("%+v, %v", result, err)
				}
				if item["value"] != nil {
					x.want[[2]string{"ACTIVE", id}] = 5
				}
				x.check(eight)
			})
		})
	}
}

// stageKiller is a client whose process is killed when it is about to store a stage.
type stageKiller struct {
	move.Client
	stage string
	kill  func()
}

func (k stageKiller) PutItem(ctx context.Context, in *dynamodb.PutItemInput, with ...func(*dynamodb.Options)) (*dynamodb.PutItemOutput, error) {
	if v, ok := in.Item["_hs_st"].(*types.AttributeValueMemberS); ok && v.Value == k.stage {
		k.kill()
		return nil, ctx.Err()
	}
	return k.Client.PutItem(ctx, in, with...)
}

// Keys that only the present layout takes are right when a move is over, although the layout of before would refuse them, or take them for
// shards of another key.
func TestVerifyOfNewKeysAfterAMove(t *testing.T) {
	plain := layout.Layout{Shards: 4, Strategy: layout.Calculated, Format: layout.PlainNumber()}
	for _, to := range []layout.Layout{eight, bare} {
		bubble.Test(t, func(t *testing.T) {
			x := found(t)
			c := x.program(plain)
			x.fill(c, 20)
			fresh := user{Key: fmt.Sprint("TENANT#", plain.Shard("a")), ID: "a", Value: 2}
			if _, err := c.Put(t.Context(), fresh); err == nil {
				t.Fatal("the layout of before takes the key: the test shows nothing")
			}
			o := move.Options{Collection: users(plain), To: to, Wait: true}
			if result, err := x.mover(o).Run(t.Context()); err != nil || !result.Done {
				t.Fatalf("%+v, %v", result, err)
			}
			x.put(c, fresh)
			report, err := x.mover(o).Verify(t.Context())
			if err != nil || report.Right != 21 || report.Damaged() != 0 {
				t.Errorf("to %v: %+v, %v", to, report, err)
			}
		})
	}
}

// A move that begins while a verification reads is not taken for damage.
func TestVerifyWhileAMoveBegins(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		x := found(t)
		x.fill(x.program(four), 40)
		began := false
		m, err := move.New(watched{Client: x.client, scanning: func() {
			if !began {
				began = true
				x.lead("split")
			}
		}}, move.Options{Collection: users(four), To: eight, Segments: 1})
		if err != nil {
			t.Fatal(err)
		}
		report, err := m.Verify(t.Context())
		if err != nil || report.Damaged() != 0 || !began {
			t.Errorf("%+v, %v", report, err)
		}
	})
}

// An item that a program has written to an old home when the move began, before it knew of it, is no item of an old writer.
func TestLateWritersByID(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		x := found(t)
		x.fill(x.program(four), 40)
		x.lead("split")
		id := moving(t, 40)
		x.raw(heatsink.Item{"pk": text(homeOf(t, four, "ACTIVE", id)), "sk": text(id), "value": number("5")})
		x.want[[2]string{"ACTIVE", id}] = 5
		result, err := x.mover(move.Options{Collection: users(four), To: eight, Segments: 2, Wait: true}).Run(t.Context())
		if err != nil || !result.Done || result.Late != 0 {
			t.Errorf("%+v, %v", result, err)
		}
		x.check(eight)
	})
}

// Damage that a move meets while it is split keeps it split, run after run, so that there is a way back.
func TestDamageKeepsAMoveSplit(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		x := found(t)
		x.fill(x.program(four), 40)
		o := move.Options{Collection: users(four), To: eight, Segments: 1}
		id, scans := moving(t, 40), 0
		m, err := move.New(watched{Client: x.client, scanned: func() {
			if scans++; scans == 2 { // behind the census
				x.raw(heatsink.Item{"pk": text(fmt.Sprint("ACTIVE#SHARD_", (four.Shard(id)+1)%4)), "sk": text(id), "value": number("5")})
			}
		}}, o)
		if err != nil {
			t.Fatal(err)
		}
		for range 3 {
			result, err := m.Run(t.Context())
			if !errors.Is(err, move.ErrDamage) || result.Stage.Name != "split" {
				t.Errorf("%+v, %v, want ErrDamage", result, err)
			}
			time.Sleep(time.Hour)
		}
		o.Wait = true
		if result, err := x.mover(o).Back(t.Context()); err != nil || !result.Done {
			t.Errorf("%+v, %v", result, err)
		}
	})
}

// An id that a program is just creating has a stub and nothing else for a moment, and is not reported.
func TestVerifyWaitsForIDsThatAreCreated(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		x := found(t)
		x.fill(x.program(four), 40)
		m := x.lead("split")
		id := moving(t, 40)
		x.raw(heatsink.Item{"pk": text(homeOf(t, four, "ACTIVE", id)), "sk": text(id), "_hs_f": text("s")})
		var creating sync.WaitGroup
		creating.Go(func() {
			time.Sleep(3 * time.Second)
			x.raw(heatsink.Item{"pk": text(homeOf(t, eight, "ACTIVE", id)), "sk": text(id), "value": number("1")})
		})
		report, err := m.Verify(t.Context())
		if err != nil || report.Damaged() != 0 {
			t.Errorf("%+v, %v", report, err)
		}
		creating.Wait()
	})
}
