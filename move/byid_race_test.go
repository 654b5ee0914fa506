package move_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
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

// meddled is a client with somebody else who acts before its requests and behind them.
type meddled struct {
	move.Client
	scan   func()       // before a page is read
	record func()       // before the record of the move changes
	answer func() error // behind that: instead of the answer, if it is not nil
}

func (m *meddled) Scan(ctx context.Context, in *dynamodb.ScanInput, with ...func(*dynamodb.Options)) (*dynamodb.ScanOutput, error) {
	if m.scan != nil {
		m.scan()
	}
	return m.Client.Scan(ctx, in, with...)
}

func (m *meddled) PutItem(ctx context.Context, in *dynamodb.PutItemInput, with ...func(*dynamodb.Options)) (*dynamodb.PutItemOutput, error) {
	pk, _ := in.Item["pk"].(*types.AttributeValueMemberS)
	ofRecord := pk != nil && strings.HasPrefix(pk.Value, "_hs#P#")
	if ofRecord && m.record != nil {
		m.record()
	}
	out, err := m.Client.PutItem(ctx, in, with...)
	if ofRecord && err == nil && m.answer != nil {
		if lost := m.answer(); lost != nil {
			return nil, lost
		}
	}
	return out, err
}

// A program puts a key that reads as a shard of the new layout, behind the first look and before it knows of the move. The move does not
// begin, and begins when that item is gone.
func TestRunMeetsKeysLikeShards(t *testing.T) {
	list := layout.Layout{}
	for name, test := range map[string]struct {
		from  layout.Layout
		shard int // beyond that of the id
	}{
		"where an id moves to": {bare, 0},
		"where none is":        {bare, 1},
		"a list":               {list, 0},
	} {
		t.Run(name, func(t *testing.T) {
			bubble.Test(t, func(t *testing.T) {
				x := found(t)
				c, late := x.program(test.from), x.program(test.from)
				x.put(c, user{Key: "ACTIVE", ID: "x", Value: 1})
				to := layout.Layout{Shards: 8, Strategy: test.from.Strategy, Format: layout.PlainNumber()}
				hashed := to
				hashed.Strategy = layout.Calculated
				like := fmt.Sprintf("ACTIVE#%d", (hashed.Shard("x")+test.shard)%8)
				if _, err := late.Put(t.Context(), user{Key: "IDLE", ID: "y"}); err != nil { // it knows the record from now on, for a minute
					t.Fatal(err)
				}
				var once sync.Once
				client := &meddled{Client: x.client, record: func() {
					once.Do(func() {
						if _, err := late.Put(context.Background(), user{Key: like, ID: "x", Value: 2}); err != nil {
							t.Error(err)
						}
					})
				}}
				o := move.Options{Collection: users(test.from), To: to}
				m := mover(t, client, o)
				forecast, err := m.Plan(t.Context())
				if err != nil {
					t.Fatal(err)
				}
				if sharded := 75 * time.Second; forecast.Duration < sharded || forecast.Duration > sharded+time.Minute {
					t.Errorf("forecast of %v", forecast.Duration)
				}
				result, err := m.Run(t.Context())
				if !errors.Is(err, move.ErrUnsupported) || result.Moved != 0 || len(result.Findings) != 1 || result.Findings[0].Kind != "refused" || result.Findings[0].Stored != like ||
					result.Stage.Name != "settled" || result.Passes != 2 {
					t.Fatalf("got %+v, %v, want one item that is refused, and a move that has not begun", result, err)
				}
				if _, err := x.program(test.from).Put(t.Context(), user{Key: like, ID: "x", Value: 2}); err != nil {
					t.Errorf("what is in the way cannot be changed: %v", err)
				}
				x.erase(like, "x")
				o.Wait = true
				if result, err = x.mover(o).Run(t.Context()); err != nil || !result.Done || result.Moved != 2 {
					t.Fatalf("%+v, %v", result, err)
				}
				n := 0
				for u, err := range c.Query(t.Context(), heatsink.Query{Key: "ACTIVE", Consistent: true}) {
					if n++; err != nil || u.Value != 1 {
						t.Errorf("got %+v, %v", u, err)
					}
				}
				if n != 1 {
					t.Errorf("got %d items, want 1", n)
				}
			})
		})
	}
}

// An item that comes later still into the new home of another id keeps that one from moving, and both stay as they are.
func TestMoveNeverDropsWhatItCannotCopy(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		x := found(t)
		x.fill(x.program(bare), 20)
		o := move.Options{Collection: users(bare), To: eight}
		if _, err := x.mover(o).Run(t.Context()); err != nil {
			t.Fatal(err)
		}
		home := homeOf(t, eight, "ACTIVE", "late")
		x.raw(heatsink.Item{"pk": text("ACTIVE"), "sk": text("late"), "value": number("1")})
		x.raw(heatsink.Item{"pk": text(home), "sk": text("late"), "value": number("2")})
		time.Sleep(63 * time.Minute)
		result, err := x.mover(o).Run(t.Context())
		if !errors.Is(err, move.ErrDamage) || !strings.Contains(err.Error(), "has another item") || len(result.Findings) != 1 || result.Findings[0].Kind != "occupied" {
			t.Errorf("%+v, %v", result, err)
		}
		for pk, want := range map[string]string{"ACTIVE": "1", home: "2"} {
			out, err := x.client.GetItem(t.Context(), &dynamodb.GetItemInput{TableName: aws.String("users"), Key: heatsink.Item{"pk": text(pk), "sk": text("late")}})
			if err != nil {
				t.Fatal(err)
			}
			if got, ok := out.Item["value"].(*types.AttributeValueMemberN); !ok || got.Value != want || out.Item["_hs_f"] != nil {
				t.Errorf("%s has %v, want the value %s", pk, out.Item, want)
			}
		}
		x.erase(home, "late")
		o.Wait = true
		if result, err := x.mover(o).Run(t.Context()); err != nil || !result.Done {
			t.Errorf("%+v, %v", result, err)
		}
	})
}

// A mover whose census meets what a faster one does goes on with the move of that one, and does not call it damage.
func TestTwoMoversBeginAtOnce(t *testing.T) {
	for _, what := range []string{"run", "plan"} {
		bubble.Test(t, func(t *testing.T) {
			x := found(t)
			x.fill(x.program(four), 50)
			o := move.Options{Collection: users(four), To: eight, Segments: 1}
			scans := 0
			m := mover(t, &meddled{Client: x.client, scan: func() {
				scans++
				if scans == 1 && what == "plan" || scans == 2 && what == "run" {
					if result, err := x.mover(o).Run(context.Background()); err != nil || result.Moved == 0 {
						t.Errorf("%+v, %v", result, err)
					}
				}
			}}, o)
			if what == "plan" {
				if f, err := m.Plan(t.Context()); err != nil || f.Blocked > 0 || len(f.Findings) > 0 || f.Stage.Name != "split" {
					t.Errorf("%+v, %v", f, err)
				}
				return
			}
			if result, err := m.Run(t.Context()); err != nil || len(result.Findings) > 0 || result.Stage.Name != "split" || scans < 2 {
				t.Errorf("%+v, %v", result, err)
			}
		})
	}
}

// A key loses its own number of shards in a move whose layouts differ in name only. The marks of its deleted items go as well.
func TestDeadItemsOfFormerWidthsGo(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		x := found(t)
		c := x.program(bare)
		x.fill(c, 40)
		result, err := x.mover(move.Options{Collection: users(bare), Widths: map[string]int{"IDLE": 3}, Wait: true}).Run(t.Context())
		if err != nil || !result.Done {
			t.Fatalf("%+v, %v", result, err)
		}
		one := layout.Layout{Shards: 1, Strategy: layout.Calculated, Format: layout.Format{BareZero: true}}
		o := move.Options{Collection: users(bare), To: one, Widths: map[string]int{"ACTIVE": 4}}
		if _, err := x.mover(o).Run(t.Context()); err != nil {
			t.Fatal(err)
		}
		time.Sleep(2 * time.Minute)
		for i := range 20 {
			if _, err := c.Delete(t.Context(), user{Key: "IDLE", ID: fmt.Sprintf("u%04d", 2*i+1)}); err != nil {
				t.Fatal(err)
			}
		}
		o.Wait = true
		if result, err = x.mover(o).Run(t.Context()); err != nil || !result.Done {
			t.Fatalf("%+v, %v", result, err)
		}
		if report, err := x.mover(o).Verify(t.Context()); err != nil || report.Damaged() > 0 {
			t.Errorf("%+v, %v", report, err)
		}
	})
}

// A stub without an item is what an operation leaves that has created nothing. Verify does not call that damage.
func TestVerifyTakesStubsOfAbsentIDs(t *testing.T) {
	for _, stage := range []string{"split", "closed", "settling", "back"} {
		bubble.Test(t, func(t *testing.T) {
			x := found(t)
			x.fill(x.program(four), 40)
			m := x.lead(stage)
			id := moving(t, 1000)
			x.raw(heatsink.Item{"pk": text(homeOf(t, four, "ACTIVE", id)), "sk": text(id), "_hs_f": text("s")})
			if report, err := m.Verify(t.Context()); err != nil || report.Damaged() > 0 {
				t.Errorf("%s: %+v, %v", stage, report, err)
			}
		})
	}
}

// Finish succeeds if it has, although its answer was lost and its mover has the layout that is refused from then on.
func TestFinishWithALostAnswer(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		x := found(t)
		x.fill(x.program(four), 20)
		x.lead("settled")
		lost := 0
		m := mover(t, &meddled{Client: x.client, answer: func() error {
			lost++
			return io.ErrUnexpectedEOF
		}}, move.Options{Collection: users(four)})
		if err := m.Finish(t.Context()); err != nil || lost == 0 {
			t.Errorf("%v, with %d lost answers", err, lost)
		}
		if stage, err := x.mover(move.Options{Collection: users(eight)}).Stage(t.Context()); err != nil || stage.Former != nil {
			t.Errorf("%+v, %v", stage, err)
		}
	})
}

// A time to live that is enabled while the mover waits keeps the move where it is.
func TestMoveMeetsATimeToLiveThatComesLate(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		x := found(t)
		x.fill(x.program(four), 20)
		expire := func(on bool) {
			if _, err := x.client.UpdateTimeToLive(context.Background(), &dynamodb.UpdateTimeToLiveInput{
				TableName: aws.String("users"), TimeToLiveSpecification: &types.TimeToLiveSpecification{AttributeName: aws.String("expires"), Enabled: &on},
			}); err != nil {
				t.Error(err)
			}
		}
		var all sync.WaitGroup
		all.Go(func() {
			time.Sleep(10 * time.Minute)
			expire(true)
		})
		result, err := x.mover(move.Options{Collection: users(four), To: eight, Wait: true}).Run(t.Context())
		all.Wait()
		if !errors.Is(err, move.ErrUnsupported) || !strings.Contains(err.Error(), "the move stays split") || !strings.Contains(err.Error(), "turn it off") || result.Stage.Name != "split" {
			t.Errorf("%+v, %v", result, err)
		}
		expire(false)
		if result, err = x.mover(move.Options{Collection: users(four), To: eight, Wait: true}).Run(t.Context()); err != nil || !result.Done {
			t.Errorf("%+v, %v", result, err)
		}
		x.check(eight)
	})
}
