package move_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/heatsink-go/heatsink"
	"github.com/heatsink-go/heatsink/internal/bubble"
	"github.com/heatsink-go/heatsink/internal/faulty"
	"github.com/heatsink-go/heatsink/layout"
	"github.com/heatsink-go/heatsink/move"
)

// newTable is the table that users move into.
const newTable = "people"

// twoTables returns a town with both tables. Its programs are slower than others, because they live longer.
func twoTables(t testing.TB, edit ...func(*dynamodb.CreateTableInput)) *town {
	t.Helper()
	x := found(t)
	x.pace = 3 * time.Minute
	x.create(append([]func(*dynamodb.CreateTableInput){func(in *dynamodb.CreateTableInput) { in.TableName = aws.String(newTable) }}, edit...)...)
	return x
}

// in returns the same town with another table.
func (x *town) in(table string) *town {
	return &town{t: x.t, db: x.db, client: x.client, keys: x.keys, table: table, timed: x.timed}
}

// usersIn returns the options of programs that are configured with a table.
func usersIn(table string, now layout.Layout) heatsink.Options {
	o := users(now)
	o.Table = table
	return o
}

// startIn lets programs live that are configured with the given tables, and returns what ends them. Their ids are none of start's.
func (x *town) startIn(with layout.Layout, tables ...string) (end func()) {
	ctx, cancel := context.WithCancel(context.Background())
	var all sync.WaitGroup
	for i, table := range tables {
		c := x.in(table).program(with)
		number := 10 + i
		if table == newTable {
			number += 10
		}
		all.Go(func() { x.live(ctx, c, number) })
	}
	return func() {
		cancel()
		all.Wait()
	}
}

// checkOnlyIn compares a table with what programs have put, and looks for anything that the other one still has.
func (x *town) checkOnlyIn(table string, now layout.Layout) {
	x.t.Helper()
	for _, other := range []string{"users", newTable} {
		if other == table {
			continue
		}
		for _, item := range x.in(other).stored() {
			if pk := item["pk"].(*types.AttributeValueMemberS).Value; !layout.IsControl(pk) {
				x.t.Errorf("table %s still has %v", other, item)
			}
		}
	}
	x.table = table
	defer func() { x.table = "users" }()
	x.check(now)
}

// Items move into another table, to the same layout or to another one, while programs read and write them by id. Programs with the new
// table in their options work from the first stage on, beside those with the old one.
func TestMoveIntoTable(t *testing.T) {
	for name, test := range map[string]struct{ from, to, then layout.Layout }{
		"to shards":          {bare, eight, eight},
		"to the same layout": {four, layout.Layout{}, four},
		"with buckets":       {daily, days, days},
		"to buckets":         {bare, days, days},
		"to no buckets":      {daily, eight, eight},
	} {
		t.Run(name, func(t *testing.T) {
			bubble.Test(t, func(t *testing.T) {
				x := twoTables(t)
				collection := users(test.from)
				if test.from.Bucket != layout.NoBucket || test.to.Bucket != layout.NoBucket {
					x.timed, collection = true, diaries(test.from)
				}
				x.fill(x.program(test.from), 100)
				end := x.start(test.from)
				deleting := x.deleteLater(x.program(test.from), 30*time.Minute, 90*time.Minute, 160*time.Minute)
				later := make(chan func(), 1)
				go func() { // while the move is split
					time.Sleep(5 * time.Minute)
					later <- x.startIn(test.from, "users", newTable, newTable)
				}()
				m := x.mover(move.Options{Collection: collection, To: test.to, Into: newTable, Wait: true})
				result, err := m.Run(t.Context())
				if err != nil || !result.Done || result.Stage.Name != "settled" || result.Late != 0 || result.Moved < 100 || result.Stage.Now.Table != newTable {
					t.Errorf("%+v, %v", result, err)
				}
				if f := result.Forecast; f.Moves != 100 || result.WriteUnits > 1.5*f.WriteUnits {
					t.Errorf("the forecast was %d moves and %v units, and it took %v", f.Moves, f.WriteUnits, result.WriteUnits)
				}
				deleting.Wait()
				end()
				(<-later)()
				x.checkOnlyIn(newTable, test.then)
				report, err := m.Verify(t.Context())
				if err != nil || report.Damaged() != 0 || report.Right != int64(len(x.want)) {
					t.Errorf("verified %+v, %v", report, err)
				}
				if x.ops < 300 {
					t.Errorf("%d operations: too few to mean anything", x.ops)
				}
				if err := m.Finish(t.Context()); err != nil {
					t.Errorf("finish: %v", err)
				}
				time.Sleep(5 * time.Minute)
				q := heatsink.Query{Key: "ACTIVE"}
				if test.then.Bucket != layout.NoBucket {
					q.From, q.To = day0, day0.AddDate(0, 1, 0)
				}
				if n, err := x.in(newTable).program(test.then).Count(t.Context(), q); err != nil || n < 20 {
					t.Errorf("a program with the new table, when the move is finished, counts %d: %v", n, err)
				}
				t.Logf("%d operations, %d moves, %d marks dropped, %.0f write and %.0f read units", x.ops, result.Moved, result.Dropped, result.WriteUnits, result.ReadUnits)
			})
		})
	}
}

// settledIn returns a town whose items have moved into the other table, with the mover that did it. The move is not finished.
func settledIn(t *testing.T, items int) (*town, *move.Mover) {
	t.Helper()
	x := twoTables(t)
	x.fill(x.program(four), items)
	m := x.mover(move.Options{Collection: users(four), To: eight, Into: newTable, Wait: true})
	if result, err := m.Run(t.Context()); err != nil || !result.Done {
		t.Fatalf("%+v, %v", result, err)
	}
	return x, m
}

// Finishing hands the record over. Programs with the new table never notice, also if the mover dies between its two writes. Programs with
// the old one are refused. Then the collection moves on in its new table, and back into the old one, with nothing left of the way.
func TestFinishIntoTable(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		x, m := settledIn(t, 40)
		stays := x.program(eight)
		end := x.startIn(eight, newTable, newTable)
		time.Sleep(5 * time.Minute)
		if _, err := stays.Get(t.Context(), user{Key: "ACTIVE", ID: "u0000"}); err != nil {
			t.Errorf("before it is finished: %v", err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		killed, err := move.New(stageKiller{x.client, "settled", cancel}, move.Options{Collection: users(four)})
		if err != nil {
			t.Fatal(err)
		}
		if err := killed.Finish(ctx); !errors.Is(err, context.Canceled) {
			t.Fatalf("got %v, want that it was killed", err)
		}
		time.Sleep(10 * time.Minute) // longer than any lease
		refused := func(when string) {
			t.Helper()
			for _, c := range []*heatsink.Collection[user]{stays, x.program(eight)} {
				_, err := c.Get(t.Context(), user{Key: "ACTIVE", ID: "u0000"})
				if !errors.Is(err, heatsink.ErrCharter) || !strings.Contains(err.Error(), "the collection is in table people now: set Options.Table to it") {
					t.Errorf("%s, a program with the old table got %v", when, err)
				}
			}
		}
		refused("half finished")
		if _, err := x.mover(move.Options{Collection: usersIn(newTable, eight), To: four}).Run(t.Context()); !errors.Is(err, heatsink.ErrCharter) {
			t.Errorf("a move in the new table before it has the record: %v, want ErrCharter", err)
		}
		for range 2 {
			if err := m.Finish(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
		refused("finished")
		time.Sleep(5 * time.Minute)
		next := move.Options{Collection: usersIn(newTable, eight), To: four, Wait: true}
		if result, err := x.mover(next).Run(t.Context()); err != nil || !result.Done || result.Moved < 20 {
			t.Errorf("the next move: %+v, %v", result, err)
		}
		next.Into, next.To = "users", eight // programs still have that layout
		home := x.mover(next)
		if result, err := home.Run(t.Context()); err != nil || !result.Done || result.Moved < 20 {
			t.Errorf("the move home: %+v, %v", result, err)
		}
		end()
		x.checkOnlyIn("users", eight)
		if err := home.Finish(t.Context()); err != nil {
			t.Error(err)
		}
		got, err := x.program(eight).Get(t.Context(), user{Key: "ACTIVE", ID: "u0000"})
		if err != nil || got.Value != 1 {
			t.Errorf("at home: %+v, %v", got, err)
		}
		if report, err := x.mover(move.Options{Collection: users(eight)}).Verify(t.Context()); err != nil || report.Damaged() != 0 {
			t.Errorf("%+v, %v", report, err)
		}
	})
}

// Processes sleep at each point of reading the record and acting by it, from before a handover until the collection has moved on in its new
// table. They act on nothing by what they knew. A request that was signed before arrives almost a quarter of an hour later, and does no
// harm.
func TestFinishWithSleepers(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		x, m := settledIn(t, 20)
		var asleep sync.WaitGroup
		for name, test := range map[string]struct {
			table         string // that the process is configured with
			operation, in string // before which it sleeps
			refused       bool
		}{
			"old table, before the record":  {"users", "GetItem _hs#P#", "users", true},
			"old table, before the item":    {"users", "UpdateItem IDLE", newTable, true},
			"new table, before the pointer": {newTable, "GetItem _hs#P#", newTable, false},
			"new table, before the record":  {newTable, "GetItem _hs#P#", "users", false},
			"new table, before the item":    {newTable, "UpdateItem IDLE", newTable, false},
		} {
			o := usersIn(test.table, eight)
			o.Retry.Timeout = 12 * time.Hour // no request ends the sleep
			c, err := heatsink.Open[user](&sleeper{Client: x.client, before: test.operation, in: test.in}, o)
			if err != nil {
				t.Fatal(err)
			}
			asleep.Go(func() {
				began := time.Now()
				err := x.add(c, user{Key: "IDLE", ID: "u0001"})
				if time.Since(began) < 5*time.Hour {
					t.Errorf("%s: it has not slept: the test shows nothing", name)
				}
				if errors.Is(err, heatsink.ErrCharter) != test.refused || err != nil && !test.refused {
					t.Errorf("%s: got %v, refused should be %t", name, err, test.refused)
				}
			})
		}
		synctest.Wait()
		like := user{Key: "ACTIVE"}
		for i := 0; like.ID == "" || homeOf(t, eight, "ACTIVE", like.ID) == homeOf(t, four, "ACTIVE", like.ID); i += 2 {
			like.ID = fmt.Sprintf("u%04d", i)
		}
		late := faulty.On(t, x.client, faulty.Always(faulty.Late).Of("UpdateItem"))
		late.Delay(faulty.Exactly(14 * time.Minute).Of(faulty.Late))
		o := users(eight)
		o.Retry.Attempts = 1
		c, err := heatsink.Open[user](late, o)
		if err != nil {
			t.Fatal(err)
		}
		err = x.add(c, like)
		if _, unknown := errors.AsType[*heatsink.UnknownOutcomeError](err); !unknown {
			t.Fatalf("the late update: %v", err)
		}
		if err := m.Finish(t.Context()); err != nil {
			t.Fatal(err)
		}
		result, err := x.mover(move.Options{Collection: usersIn(newTable, eight), To: four, Wait: true}).Run(t.Context())
		if err != nil || !result.Done {
			t.Fatalf("%+v, %v", result, err)
		}
		asleep.Wait()
		x.want[[2]string{"IDLE", "u0001"}] = 1 + 3
		x.checkOnlyIn(newTable, four)
		if late.Count("UpdateItem") != 1 {
			t.Errorf("%d late updates, want 1", late.Count("UpdateItem"))
		}
	})
}

// add adds 1 to a user's value.
func (x *town) add(c *heatsink.Collection[user], like user) error {
	_, err := c.Update(context.Background(), like, func(in *dynamodb.UpdateItemInput) {
		in.UpdateExpression, in.ExpressionAttributeNames = aws.String("ADD #v :one"), map[string]string{"#v": "value"}
		in.ExpressionAttributeValues = heatsink.Item{":one": number("1")}
	})
	return err
}

// sleeper is the client of a process that is suspended for five hours, once, before it signs a request.
type sleeper struct {
	move.Client
	before string // an operation, and what the partition key begins with
	in     string // the table
	once   sync.Once
}

func (s *sleeper) sleep(operation, table string, key heatsink.Item) {
	if v, ok := key["pk"].(*types.AttributeValueMemberS); ok && table == s.in && strings.HasPrefix(operation+" "+v.Value, s.before) {
		s.once.Do(func() { time.Sleep(5 * time.Hour) })
	}
}

func (s *sleeper) GetItem(ctx context.Context, in *dynamodb.GetItemInput, with ...func(*dynamodb.Options)) (*dynamodb.GetItemOutput, error) {
	s.sleep("GetItem", *in.TableName, in.Key)
	return s.Client.GetItem(ctx, in, with...)
}

func (s *sleeper) UpdateItem(ctx context.Context, in *dynamodb.UpdateItemInput, with ...func(*dynamodb.Options)) (*dynamodb.UpdateItemOutput, error) {
	s.sleep("UpdateItem", *in.TableName, in.Key)
	return s.Client.UpdateItem(ctx, in, with...)
}

// A mover that is killed at any moment goes on. From the split stage it goes back, and the items are in their old table as if nothing had
// been. Then they move again, to the end.
func TestBackFromTable(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		x := twoTables(t)
		x.fill(x.program(four), 100)
		end := x.start(four, four)
		random := rand.New(rand.NewPCG(1, 5))
		kills := 0
		o := move.Options{Collection: users(four), To: eight, Into: newTable, WCU: 15, RCU: 20, Segments: 4}
		run := func(what func(*move.Mover, context.Context) (move.Result, error), kills *int, until func(move.Result) bool) {
			t.Helper()
			for range 300 {
				ctx, cancel := context.WithTimeout(t.Context(), time.Duration(random.Int64N(int64(12*time.Second))))
				result, err := what(x.mover(o), ctx)
				killed := ctx.Err() != nil
				cancel()
				switch {
				case killed:
					*kills++
				case err != nil:
					t.Fatal(err)
				case until(result):
					return
				default:
					time.Sleep(time.Duration(random.Int64N(int64(30 * time.Minute))))
				}
				if until(result) {
					return
				}
			}
			t.Fatal("it has not ended")
		}
		moved := int64(0)
		run((*move.Mover).Run, &kills, func(r move.Result) bool { moved += r.Moved; return moved > 30 })
		joins := x.startIn(four, newTable)
		done := func(r move.Result) bool { return r.Done }
		time.Sleep(20 * time.Minute)
		run((*move.Mover).Back, &kills, done)
		if report, err := x.mover(o).Verify(t.Context()); err != nil || report.Damaged() != 0 {
			t.Errorf("verified %+v, %v", report, err)
		}
		x.mu.Lock()
		x.checkOnlyIn("users", four)
		x.mu.Unlock()
		run((*move.Mover).Run, &kills, done)
		end()
		joins()
		x.checkOnlyIn(newTable, eight)
		if kills < 5 {
			t.Errorf("%d kills: too few to mean anything", kills)
		}
		t.Logf("%d kills, %d operations", kills, x.ops)
	})
}

// Somebody deletes the control items of the table that all items are in, and perhaps a program begins anew there. Finishing the move writes
// them again, or refuses before anything changes and says what to do.
func TestFinishWithoutControlItems(t *testing.T) {
	for name, test := range map[string]struct {
		charter, anew bool
	}{"the pointer": {}, "both": {charter: true}, "both, and a program begins anew": {true, true}} {
		t.Run(name, func(t *testing.T) {
			bubble.Test(t, func(t *testing.T) {
				x, m := settledIn(t, 20)
				x.drop(newTable, layout.RolePassage)
				if test.charter {
					x.drop(newTable, layout.RoleCharter)
				}
				if test.anew {
					if _, err := x.in(newTable).program(eight).Get(t.Context(), user{Key: "ACTIVE", ID: "u0000"}); err != nil {
						t.Fatal(err)
					}
					err := m.Finish(t.Context())
					if !errors.Is(err, move.ErrStage) && !errors.Is(err, move.ErrUnsupported) || !strings.Contains(err.Error(), "a program has begun anew") {
						t.Errorf("got %v, want that table %s has a record of its own", err, newTable)
					}
					if _, err := x.program(four).Get(t.Context(), user{Key: "ACTIVE", ID: "u0000"}); err != nil {
						t.Errorf("after a finish that was refused, a program with the old table got %v", err)
					}
					x.drop(newTable, layout.RolePassage)
					time.Sleep(2 * time.Minute)
				}
				if err := m.Finish(t.Context()); err != nil {
					t.Fatal(err)
				}
				time.Sleep(10 * time.Minute)
				if got, err := x.in(newTable).program(eight).Get(t.Context(), user{Key: "ACTIVE", ID: "u0000"}); err != nil || got.Value != 1 {
					t.Errorf("a program with the new table got %+v, %v", got, err)
				}
			})
		})
	}
}

// drop deletes a control item of the users in a table.
func (x *town) drop(table string, role layout.Role) {
	x.t.Helper()
	for _, item := range x.in(table).stored() {
		key := item["pk"].(*types.AttributeValueMemberS).Value
		if !strings.HasPrefix(key, layout.ControlKey{Role: role}.String()) {
			continue
		}
		if _, err := x.client.DeleteItem(x.t.Context(), &dynamodb.DeleteItemInput{TableName: &table, Key: map[string]types.AttributeValue{"pk": item["pk"], "sk": item["sk"]}}); err != nil {
			x.t.Fatal(err)
		}
		return
	}
	x.t.Fatalf("table %s has no control item with role %c", table, role)
}
