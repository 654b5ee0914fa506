package move_test

import (
	"context"
	"errors"
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

	"github.com/heatsink-go/heatsink"
	"github.com/heatsink-go/heatsink/internal/bubble"
	"github.com/heatsink-go/heatsink/internal/faulty"
	"github.com/heatsink-go/heatsink/local"
	"github.com/heatsink-go/heatsink/move"
)

// A mover that is killed at any moment goes on when it is started again, by another process.
func TestMoveByIDGoesOnAfterKills(t *testing.T) {
	for seed := range uint64(2) {
		bubble.Test(t, func(t *testing.T) {
			x := found(t)
			x.fill(x.program(bare), 300)
			end := x.start(bare, bare)
			random := rand.New(rand.NewPCG(seed, 1))
			kills, resumed := 0, 0
			var result move.Result
			for n := 0; !result.Done; n++ {
				if n > 500 {
					t.Fatalf("it has not ended: %+v", result)
				}
				// 300 items take about a minute
				m := x.mover(move.Options{Collection: users(bare), To: eight, WCU: 15, RCU: 20, Segments: 4})
				ctx, cancel := context.WithTimeout(t.Context(), time.Duration(random.Int64N(int64(25*time.Second))))
				var err error
				result, err = m.Run(ctx)
				killed := ctx.Err() != nil
				cancel()
				switch {
				case killed:
					kills++
				case err != nil:
					t.Fatal(err)
				case !result.Done:
					time.Sleep(time.Duration(random.Int64N(int64(30 * time.Minute))))
				}
				if result.Resumed {
					resumed++
				}
			}
			end()
			x.check(eight)
			if kills < 5 || resumed < 2 {
				t.Errorf("seed %d: %d kills, %d runs went on from a checkpoint: too few to mean anything", seed, kills, resumed)
			}
			t.Logf("seed %d: %d kills, %d resumed, %d operations", seed, kills, resumed, x.ops)
		})
	}
}

// Two movers at once do no harm, and both see the end.
func TestTwoMoversByID(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		x := found(t)
		x.fill(x.program(four), 300)
		end := x.start(four, four)
		var all sync.WaitGroup
		for i := range 2 {
			all.Go(func() {
				time.Sleep(time.Duration(i) * 10 * time.Second)
				m := x.mover(move.Options{Collection: users(four), To: otherway, WCU: 30, RCU: 50, Segments: 4, Wait: true})
				result, err := m.Run(t.Context())
				if err != nil || !result.Done || result.Late != 0 || result.Moved == 0 {
					t.Errorf("mover %d: %+v, %v", i, result, err)
				}
			})
		}
		all.Wait()
		end()
		x.check(otherway)
	})
}

// A move that is split goes back, from its middle, and leaves nothing behind. The next move may go anywhere.
func TestBackByID(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		x := found(t)
		x.fill(x.program(four), 300)
		end := x.start(four, four, four)
		o := move.Options{Collection: users(four), To: eight, WCU: 15, RCU: 20, Segments: 4, Wait: true}
		ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
		defer cancel()
		result, err := x.mover(o).Run(ctx)
		if !errors.Is(err, context.DeadlineExceeded) || result.Moved < 20 || result.Stage.Name != "split" {
			t.Fatalf("%+v, %v, want some moves", result, err)
		}
		time.Sleep(20 * time.Minute)
		m := x.mover(o)
		back, err := m.Back(t.Context())
		if err != nil || !back.Done || back.Stage.Name != "settled" || back.Moved < result.Moved {
			t.Errorf("back: %+v, %v", back, err)
		}
		report, err := m.Verify(t.Context())
		if err != nil || report.Damaged() != 0 {
			t.Errorf("verified %+v, %v", report, err)
		}
		if _, err := m.Back(t.Context()); !errors.Is(err, move.ErrStage) {
			t.Errorf("going back twice: %v, want ErrStage", err)
		}
		end()
		x.check(four)
		if err := m.Finish(t.Context()); err != nil {
			t.Error(err)
		}
		again, err := x.mover(move.Options{Collection: users(four), To: otherway, Wait: true}).Run(t.Context())
		if err != nil || !again.Done {
			t.Errorf("%+v, %v", again, err)
		}
		x.check(otherway)
	})
}

// Verify finds nothing wrong at any stage of a move, there and back, while programs write.
func TestVerifyOfAHealthyMove(t *testing.T) {
	for _, back := range []bool{false, true} {
		bubble.Test(t, func(t *testing.T) {
			x := found(t)
			x.fill(x.program(four), 200)
			end := x.start(four, four, four, four)
			o := move.Options{Collection: users(four), To: eight, WCU: 20, RCU: 100, Segments: 4, Wait: true}
			var all sync.WaitGroup
			done := make(chan struct{})
			all.Go(func() {
				defer close(done)
				if !back {
					if _, err := x.mover(o).Run(t.Context()); err != nil {
						t.Error(err)
					}
					return
				}
				ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
				defer cancel()
				_, _ = x.mover(o).Run(ctx)
				if _, err := x.mover(o).Back(t.Context()); err != nil {
					t.Error(err)
				}
			})
			verifier := x.mover(o)
			stages := map[string]int{}
			for running := true; running; {
				select {
				case <-done:
					running = false
				default:
				}
				stage, err := verifier.Stage(t.Context())
				if err != nil {
					t.Fatal(err)
				}
				report, err := verifier.Verify(t.Context())
				if err != nil || report.Damaged() != 0 {
					t.Errorf("at stage %s: %+v, %v", stage.Name, report, err)
					break
				}
				stages[stage.Name]++
				time.Sleep(time.Duration(rand.IntN(600)) * time.Second)
			}
			all.Wait()
			end()
			if len(stages) < 3 { // a move is closed for a moment only
				t.Errorf("verified at %v, want all stages", stages)
			}
			t.Logf("verified at %v beside %d operations", stages, x.ops)
		})
	}
}

// A server that does not check signatures lets a move rest in its split stage, and programs go on.
func TestMoveByIDRestsWithoutSignatures(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		db, err := local.New(local.Options{})
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = db.Close() }()
		x := &town{t: t, db: db, client: db.Client(), keys: []string{"ACTIVE"}, table: "users", pace: 40 * time.Second, want: map[[2]string]int{}}
		x.create()
		x.fill(x.program(bare), 50)
		end := x.start(bare, bare)
		m := x.mover(move.Options{Collection: users(bare), To: eight, Wait: true})
		forecast, err := m.Plan(t.Context())
		if err != nil || !slices.ContainsFunc(forecast.Notes, func(note string) bool { return strings.Contains(note, "it can neither end nor go back") }) {
			t.Errorf("got the notes %q, %v: want one that the move cannot end here", forecast.Notes, err)
		}
		began := time.Now()
		result, err := m.Run(t.Context())
		if err != nil || result.Done || result.Stage.Name != "split" || !strings.Contains(result.Rests, "does not check when requests were signed") || result.Moved < 50 {
			t.Errorf("%+v, %v", result, err)
		}
		if took := time.Since(began); took > 2*time.Minute { // it said so after an hour in which nothing could come of it
			t.Errorf("the run took %v", took)
		}
		if _, err := m.Back(t.Context()); !errors.Is(err, move.ErrStage) {
			t.Errorf("going back: %v, want ErrStage", err)
		}
		report, err := m.Verify(t.Context())
		if err != nil || report.Damaged() != 0 {
			t.Errorf("verified %+v, %v", report, err)
		}
		time.Sleep(time.Hour)
		end()
	})
}

// meanwhile is a client that lets something else happen before its first Scan.
type meanwhile struct {
	move.Client
	once sync.Once
	do   func()
}

func (m *meanwhile) Scan(ctx context.Context, in *dynamodb.ScanInput, o ...func(*dynamodb.Options)) (*dynamodb.ScanOutput, error) {
	m.once.Do(m.do)
	return m.Client.Scan(ctx, in, o...)
}

// A mover on the way back is told that the move is over if another one ends it during its forecast. It was told that nothing moves.
func TestBackEndsDuringAForecast(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		x := found(t)
		x.fill(x.program(bare), 20)
		first := x.mover(move.Options{Collection: users(bare), To: eight})
		if _, err := first.Run(t.Context()); err != nil {
			t.Fatal(err)
		}
		for _, stage := range []string{"back", "returned"} {
			result, err := first.Back(t.Context())
			if err != nil || result.Stage.Name != stage {
				t.Fatalf("%+v, %v, want the stage %s", result, err, stage)
			}
			time.Sleep(63 * time.Minute)
		}
		client := &meanwhile{Client: x.client, do: func() {
			if result, err := first.Back(t.Context()); err != nil || !result.Done {
				t.Errorf("%+v, %v", result, err)
			}
		}}
		second, err := move.New(client, move.Options{Collection: users(bare)})
		if err != nil {
			t.Fatal(err)
		}
		if result, err := second.Back(t.Context()); err != nil || !result.Done {
			t.Errorf("the second mover: %+v, %v, want that the move is over", result, err)
		}
	})
}

// Only the keys that are named move, and only their shards are read.
func TestMoveSingleKeysByID(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		x := found(t)
		x.keys = []string{"ACTIVE", "IDLE", "GONE"}
		c := x.program(bare)
		x.fill(c, 120)
		for i := range 200 {
			x.put(c, user{Key: "LARGE", ID: fmt.Sprint("l", i), Value: 1, Text: strings.Repeat("x", 4000)})
		}
		end := x.start(bare, bare)
		m := x.mover(move.Options{Collection: users(bare), Widths: map[string]int{"ACTIVE": 8}, Segments: 3, Wait: true})
		forecast, err := m.Plan(t.Context())
		if err != nil || !forecast.Exact || forecast.Moves < 25 || forecast.Moves > 60 || forecast.ReadUnits > 300 {
			t.Errorf("forecast %+v, %v, want about 7/8 of 40 moves and few reads", forecast, err)
		}
		result, err := m.Run(t.Context())
		if err != nil || !result.Done || result.Moved < 25 || result.Moved > 60 || result.ReadUnits > 190 { // a scan of LARGE takes 200
			t.Fatalf("%+v, %v", result, err)
		}
		end()
		shards := x.shards()
		if shards["ACTIVE#SHARD_7"] == 0 || shards["ACTIVE"] > shards["IDLE"]/2 || shards["LARGE"] != 200 || shards["IDLE#SHARD_7"] != 0 {
			t.Errorf("items are in %v, want eight shards of ACTIVE alone", shards)
		}
		result, err = x.mover(move.Options{Collection: users(bare), Widths: map[string]int{"ACTIVE": 2}, Segments: 3, Wait: true}).Run(t.Context())
		shards = x.shards()
		if err != nil || !result.Done || shards["ACTIVE"] == 0 || shards["ACTIVE#SHARD_1"] == 0 || result.Passes != 5 || len(shards) != 5+2 { // and two control items
			t.Errorf("%+v, %v: items are in %v, want two shards of ACTIVE", result, err, shards)
		}
		for id, value := range x.want {
			got, err := c.Get(t.Context(), user{Key: id[0], ID: id[1]})
			if err != nil || got.Value != value {
				t.Errorf("%v is %+v, %v, want %d", id, got, err, value)
			}
		}
	})
}

// shards returns how many items each partition key has. None may have marks.
func (x *town) shards() map[string]int {
	x.t.Helper()
	shards := map[string]int{}
	for _, item := range x.stored() {
		shards[item["pk"].(*types.AttributeValueMemberS).Value]++
		if item["_hs_f"] != nil || item["_hs_d"] != nil {
			x.t.Errorf("marks are left: %v", item)
		}
	}
	return shards
}

// A mover whose requests are throttled, lost and answered late moves everything all the same.
func TestMoveByIDOverAFaultyNetwork(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		x := found(t)
		x.fill(x.program(bare), 100)
		end := x.start(bare)
		client := faulty.On(t, x.client, faulty.Random(rand.New(rand.NewPCG(1, 2)), 10, faulty.Throttled, faulty.ThrottledOnDemand, faulty.Conflict,
			faulty.Unreached, faulty.LostRequest, faulty.LostAnswer, faulty.BrokeDown, faulty.Late).Of("GetItem", "PutItem", "UpdateItem", "DeleteItem", "Scan"))
		client.Delay(faulty.UpTo(rand.New(rand.NewPCG(1, 3)), 20*time.Second).Of(faulty.Late))
		m, err := move.New(client, move.Options{Collection: users(bare), To: eight, Wait: true})
		if err != nil {
			t.Fatal(err)
		}
		result, err := m.Run(t.Context())
		if err != nil || !result.Done || result.Throttles == 0 {
			t.Errorf("%+v, %v", result, err)
		}
		end()
		client.Wait()
		x.check(eight)
		if client.Wrong() < 50 {
			t.Errorf("%d requests went wrong: too few to mean anything", client.Wrong())
		}
	})
}

// A program that ignores the record and writes to old homes is noticed.
func TestOldWritersByID(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		x := found(t)
		x.fill(x.program(bare), 20)
		m := x.mover(move.Options{Collection: users(bare), To: eight})
		if _, err := m.Run(t.Context()); err != nil {
			t.Fatal(err)
		}
		time.Sleep(63 * time.Minute)
		n := 0
		watch := watched{Client: x.client, scanned: func() { // a program that writes a new user behind every page
			n++
			_, err := x.client.PutItem(context.Background(), &dynamodb.PutItemInput{
				TableName: aws.String("users"), Item: heatsink.Item{"pk": text("ACTIVE"), "sk": text(fmt.Sprint("old", n))},
			})
			if err != nil {
				t.Error(err)
			}
		}}
		m, err := move.New(watch, move.Options{Collection: users(bare), To: eight, Segments: 1})
		if err != nil {
			t.Fatal(err)
		}
		result, err := m.Run(t.Context())
		if !errors.Is(err, move.ErrOldWriters) || result.Late < 3 || result.Stage.Name != "closed" {
			t.Errorf("%+v, %v, want ErrOldWriters", result, err)
		}
		result, err = x.mover(move.Options{Collection: users(bare), To: eight, Wait: true}).Run(t.Context()) // it has been stopped
		if err != nil || !result.Done {
			t.Errorf("%+v, %v", result, err)
		}
	})
}

// watched is a client that tells of pages.
type watched struct {
	move.Client
	scanning, scanned, read, update func() // may be nil
}

func (w watched) UpdateItem(ctx context.Context, in *dynamodb.UpdateItemInput, with ...func(*dynamodb.Options)) (*dynamodb.UpdateItemOutput, error) {
	if w.update != nil {
		w.update()
	}
	return w.Client.UpdateItem(ctx, in, with...)
}

func (w watched) GetItem(ctx context.Context, in *dynamodb.GetItemInput, with ...func(*dynamodb.Options)) (*dynamodb.GetItemOutput, error) {
	if w.read != nil {
		w.read()
	}
	return w.Client.GetItem(ctx, in, with...)
}

func (w watched) Scan(ctx context.Context, in *dynamodb.ScanInput, with ...func(*dynamodb.Options)) (*dynamodb.ScanOutput, error) {
	if w.scanning != nil {
		w.scanning()
	}
	out, err := w.Client.Scan(ctx, in, with...)
	if w.scanned != nil {
		w.scanned()
	}
	return out, err
}

// A mover that waits notices that another one goes back, whether it sees that at once or wakes up when it is over.
func TestRunNoticesTheWayBack(t *testing.T) {
	for _, asleep := range []time.Duration{0, 5 * time.Hour} {
		bubble.Test(t, func(t *testing.T) {
			x := found(t)
			x.fill(x.program(four), 40)
			o := move.Options{Collection: users(four), To: eight, Wait: true}
			var waiting sync.WaitGroup
			waiting.Go(func() {
				client := watched{Client: x.client, read: func() {
					if time.Since(epoch) > 10*time.Minute && time.Since(epoch) < asleep {
						time.Sleep(asleep) // the machine is suspended
					}
				}}
				m, err := move.New(client, o)
				if err != nil {
					t.Error(err)
					return
				}
				if _, err := m.Run(t.Context()); !errors.Is(err, move.ErrStage) || !strings.Contains(err.Error(), "back") {
					t.Errorf("asleep for %v: %v, want ErrStage", asleep, err)
				}
			})
			time.Sleep(20 * time.Minute)
			if result, err := x.mover(o).Back(t.Context()); err != nil || !result.Done {
				t.Errorf("%+v, %v", result, err)
			}
			waiting.Wait()
			x.check(four)
		})
	}
}

var epoch = time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC) // when bubbles begin

// Slow rates make an item wait for longer than what the mover knows may be used. It still moves everything.
func TestSlowMoveByID(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		x := found(t)
		x.fill(x.program(bare), 60)
		end := x.start(bare)
		result, err := x.mover(move.Options{Collection: users(bare), To: eight, WCU: 1, RCU: 1, Wait: true}).Run(t.Context())
		if err != nil || !result.Done || result.Moved < 60 {
			t.Errorf("%+v, %v", result, err)
		}
		end()
		x.check(eight)
		if got := result.WriteUnits / result.Took.Seconds(); got > 1 {
			t.Errorf("%v write units per second, want 1 at most", got)
		}
	})
}

// Control items in a table of their own, and ids that are numbers.
func TestMoveByIDOfNumbers(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		x := found(t, func(in *dynamodb.CreateTableInput) {
			in.AttributeDefinitions[1].AttributeType = types.ScalarAttributeTypeN
		})
		_, err := x.client.CreateTable(t.Context(), &dynamodb.CreateTableInput{
			TableName: aws.String("control"), BillingMode: types.BillingModePayPerRequest,
			AttributeDefinitions: []types.AttributeDefinition{{AttributeName: aws.String("pk"), AttributeType: types.ScalarAttributeTypeS}},
			KeySchema:            []types.KeySchemaElement{key("pk", types.KeyTypeHash)},
		})
		if err != nil {
			t.Fatal(err)
		}
		with := users(four)
		with.ControlTable, with.Name = "control", "people"
		c, err := heatsink.Open[heatsink.Item](x.client, with)
		if err != nil {
			t.Fatal(err)
		}
		for i := range 60 {
			if _, err := c.Put(t.Context(), heatsink.Item{"pk": text("ACTIVE"), "sk": number(fmt.Sprint(i))}); err != nil {
				t.Fatal(err)
			}
		}
		ctx, cancel := context.WithTimeout(t.Context(), 4*time.Second)
		defer cancel()
		o := move.Options{Collection: with, To: eight, WCU: 15, RCU: 15, Segments: 2}
		if _, err := x.mover(o).Run(ctx); !errors.Is(err, context.DeadlineExceeded) {
			t.Fatal(err)
		}
		o.Wait = true
		result, err := x.mover(o).Run(t.Context())
		if err != nil || !result.Done || !result.Resumed {
			t.Fatalf("%+v, %v", result, err)
		}
		report, err := x.mover(o).Verify(t.Context())
		if err != nil || report.Right != 60 || report.Damaged() != 0 || report.Scanned != 60 {
			t.Errorf("%+v, %v", report, err)
		}
		for i := range 60 {
			if _, err := c.Get(t.Context(), heatsink.Item{"pk": text("ACTIVE"), "sk": number(fmt.Sprint(i))}); err != nil {
				t.Errorf("%d: %v", i, err)
			}
		}
	})
}

// The forecast of a move that goes on counts the marks that are to be deleted.
func TestForecastOfAResumedMove(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		x := found(t)
		x.fill(x.program(bare), 100)
		m := x.mover(move.Options{Collection: users(bare), To: eight})
		if result, err := m.Run(t.Context()); err != nil || result.Stage.Name != "split" || result.Moved != 100 {
			t.Fatalf("%+v, %v", result, err)
		}
		m = x.mover(move.Options{Collection: users(bare), To: eight, Wait: true})
		result, err := m.Run(t.Context())
		if err != nil || !result.Done || result.Forecast.WriteUnits != 100 || result.WriteUnits != 100 {
			t.Errorf("forecast %v write units, and it took %v: want 100, one for each mark; %v", result.Forecast.WriteUnits, result.WriteUnits, err)
		}
	})
}
