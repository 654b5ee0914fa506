package move_test

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
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

// indexed adds a global index by group with a projection.
func indexed(kind types.ProjectionType, more ...string) func(*dynamodb.CreateTableInput) {
	return func(in *dynamodb.CreateTableInput) {
		in.AttributeDefinitions = append(in.AttributeDefinitions, types.AttributeDefinition{AttributeName: aws.String("group"), AttributeType: types.ScalarAttributeTypeS})
		in.GlobalSecondaryIndexes = []types.GlobalSecondaryIndex{{
			IndexName: aws.String("byGroup"), Projection: &types.Projection{ProjectionType: kind, NonKeyAttributes: more},
			KeySchema: []types.KeySchemaElement{key("group", types.KeyTypeHash)},
		}}
	}
}

// Tables whose items cannot be moved are refused before anything happens, with the reason.
func TestMoveByIDRefusesTables(t *testing.T) {
	local := func(in *dynamodb.CreateTableInput) {
		in.AttributeDefinitions = append(in.AttributeDefinitions, types.AttributeDefinition{AttributeName: aws.String("group"), AttributeType: types.ScalarAttributeTypeS})
		in.LocalSecondaryIndexes = []types.LocalSecondaryIndex{{
			IndexName: aws.String("byGroup"), Projection: &types.Projection{ProjectionType: types.ProjectionTypeAll},
			KeySchema: []types.KeySchemaElement{key("pk", types.KeyTypeHash), key("group", types.KeyTypeRange)},
		}}
	}
	for name, test := range map[string]struct {
		table func(*dynamodb.CreateTableInput)
		ttl   bool
		says  string // "" if it is not refused
	}{
		"a local index":                  {table: local, says: "local index byGroup"},
		"an index of keys":               {table: indexed(types.ProjectionTypeKeysOnly), says: "index byGroup projects KEYS_ONLY"},
		"an index of some attributes":    {table: indexed(types.ProjectionTypeInclude, "value", "_hs_f"), says: "index byGroup projects INCLUDE"},
		"an index with the marks":        {table: indexed(types.ProjectionTypeInclude, "_hs_f", "_hs_d")},
		"an index of all":                {table: indexed(types.ProjectionTypeAll)},
		"a time to live":                 {ttl: true, says: `time to live is enabled (attribute "expires")`},
		"neither index nor a time limit": {},
	} {
		t.Run(name, func(t *testing.T) {
			bubble.Test(t, func(t *testing.T) {
				edit := func(*dynamodb.CreateTableInput) {}
				if test.table != nil {
					edit = test.table
				}
				x := found(t, edit)
				x.fill(x.program(bare), 10)
				if test.ttl {
					_, err := x.client.UpdateTimeToLive(t.Context(), &dynamodb.UpdateTimeToLiveInput{
						TableName: aws.String("users"), TimeToLiveSpecification: &types.TimeToLiveSpecification{AttributeName: aws.String("expires"), Enabled: aws.Bool(true)},
					})
					if err != nil {
						t.Fatal(err)
					}
				}
				m := x.mover(move.Options{Collection: users(bare), To: eight})
				_, planned := m.Plan(t.Context())
				result, err := m.Run(t.Context())
				if test.says == "" {
					if planned != nil || err != nil || result.Moved != 10 {
						t.Errorf("%+v, %v, %v", result, planned, err)
					}
					return
				}
				for _, err := range []error{planned, err} {
					if !errors.Is(err, move.ErrUnsupported) || !strings.Contains(err.Error(), test.says) {
						t.Errorf("got %v, want ErrUnsupported that says %q", err, test.says)
					}
				}
				x.check(bare)
				if stage, err := m.Stage(t.Context()); err != nil || stage.Moving() {
					t.Errorf("stage %+v, %v", stage, err)
				}
			})
		})
	}
}

// Items that the new layout would refuse, hide or take for others keep a move from beginning.
func TestCensus(t *testing.T) {
	plain := layout.Layout{Shards: 8, Strategy: layout.Calculated, Format: layout.PlainNumber()}
	for name, test := range map[string]struct {
		from, to layout.Layout
		item     heatsink.Item
		want     error
		kind     string
		says     string
	}{
		"a key like the shard of its id":       {bare, plain, heatsink.Item{"pk": text(fmt.Sprint("TENANT#", plain.Shard("a"))), "sk": text("a")}, move.ErrUnsupported, "refused", "choose another Format"},
		"a key like a shard of the new layout": {bare, plain, heatsink.Item{"pk": text(fmt.Sprint("TENANT#", plain.Shard("a")+1)), "sk": text("a")}, move.ErrUnsupported, "refused", "choose another Format"},
		"an item where its id would be":        {bare, eight, heatsink.Item{"pk": text(homeOf(t, eight, "ACTIVE", "a")), "sk": text("a")}, move.ErrUnsupported, "occupied", "choose another Format"},
		"an item where its id would not be":    {bare, eight, heatsink.Item{"pk": text(fmt.Sprint("ACTIVE#SHARD_", (eight.Shard("a")+1)%8)), "sk": text("a")}, move.ErrUnsupported, "occupied", "choose another Format"},
		"an item in the wrong shard":           {four, eight, heatsink.Item{"pk": text("ACTIVE#SHARD_9"), "sk": text("a")}, move.ErrDamage, "misplaced", "put it there"},
		"a mark of before":                     {bare, eight, heatsink.Item{"pk": text("ACTIVE"), "sk": text("a"), "_hs_f": text("s")}, move.ErrDamage, "marks", "it is stub"},
		"a mark of nobody":                     {bare, eight, heatsink.Item{"pk": text("ACTIVE"), "sk": text("a"), "_hs_f": text("?")}, move.ErrDamage, "marks", "has not written"},
	} {
		t.Run(name, func(t *testing.T) {
			bubble.Test(t, func(t *testing.T) {
				x := found(t)
				x.fill(x.program(test.from), 20)
				x.raw(test.item)
				m := x.mover(move.Options{Collection: users(test.from), To: test.to})
				if f, err := m.Plan(t.Context()); err != nil || f.Blocked != 1 || len(f.Findings) != 1 || f.Findings[0].Kind != test.kind {
					t.Errorf("forecast %+v, %v", f, err)
				}
				result, err := m.Run(t.Context())
				if !errors.Is(err, test.want) || !strings.Contains(err.Error(), test.says) || !strings.Contains(err.Error(), "has not begun") || len(result.Findings) != 1 || result.Findings[0].Kind != test.kind {
					t.Errorf("%+v, %v, want %v that says %q", result, err, test.want, test.says)
				}
				if stage, err := m.Stage(t.Context()); err != nil || stage.Moving() {
					t.Errorf("stage %+v, %v", stage, err)
				}
				x.erase(test.item["pk"].(*types.AttributeValueMemberS).Value, "a")
				if result, err := m.Run(t.Context()); err != nil || result.Stage.Name != "split" {
					t.Errorf("when it is gone: %+v, %v", result, err)
				}
			})
		})
	}
}

// What contradicts a move in progress, or the lack of one, is refused with what is in progress.
func TestMoveByIDRefusesContradictions(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		x := found(t)
		options := func(to layout.Layout) move.Options { return move.Options{Collection: users(four), To: to, Segments: 2} }
		if _, err := x.mover(options(eight)).Run(t.Context()); !errors.Is(err, heatsink.ErrCharter) || !strings.Contains(err.Error(), "start them before the move") {
			t.Errorf("without programs: %v, want ErrCharter", err)
		}
		x.fill(x.program(four), 40)
		refused := func(what string, err error, want ...string) {
			t.Helper()
			if !errors.Is(err, move.ErrStage) {
				t.Errorf("%s: %v, want ErrStage", what, err)
				return
			}
			for _, text := range want {
				if !strings.Contains(err.Error(), text) {
					t.Errorf("%s: %v, want %q in it", what, err, text)
				}
			}
		}
		_, err := x.mover(options(layout.Layout{})).Run(t.Context())
		refused("no target", err, "name a layout")
		_, err = x.mover(options(eight)).Back(t.Context())
		refused("back from nothing", err, "nothing moves")
		refused("finish nothing", x.mover(options(eight)).Finish(t.Context()), "nothing to finish")
		if result, err := x.mover(options(four)).Run(t.Context()); err != nil || !result.Done || result.Moved != 0 {
			t.Errorf("a move to where items are: %+v, %v", result, err)
		}

		x.lead("split")
		_, err = x.mover(options(otherway)).Run(t.Context())
		refused("another target", err, "a move to calculated by xxhash over 8 shards", "is in progress", "split since")
		refused("finish too early", x.mover(options(eight)).Finish(t.Context()), "not over")
		if result, err := x.mover(options(layout.Layout{})).Run(t.Context()); err != nil || result.Stage.Name != "split" { // what is in progress
			t.Errorf("%+v, %v", result, err)
		}
		x.lead("closed")
		_, err = x.mover(options(eight)).Back(t.Context())
		refused("back from closed", err, "closed", "let it end")
		x.lead("sweeping")
		_, err = x.mover(options(otherway)).Run(t.Context())
		refused("the next one too early", err, "not over yet")
		x.lead("settled")
		_, err = x.mover(options(otherway)).Run(t.Context())
		refused("the last one is not finished", err, "is not finished", "--finish")
		if err := x.mover(options(eight)).Finish(t.Context()); err != nil {
			t.Error(err)
		}
		if _, err := x.mover(options(otherway)).Run(t.Context()); !errors.Is(err, heatsink.ErrCharter) {
			t.Errorf("a mover with the layout of before: %v, want ErrCharter", err)
		}
		if result, err := x.mover(move.Options{Collection: users(eight), To: otherway}).Run(t.Context()); err != nil || result.Stage.Name != "split" {
			t.Errorf("%+v, %v", result, err)
		}
		_, err = x.mover(move.Options{Collection: users(eight), To: otherway}).Back(t.Context())
		if err != nil {
			t.Error(err)
		}
		_, err = x.mover(move.Options{Collection: users(eight), To: otherway}).Run(t.Context())
		refused("on the way back", err, "on their way back", "--back")
	})
}

// Options that contradict themselves are refused by New.
func TestMoveByIDOptions(t *testing.T) {
	for name, test := range map[string]struct {
		edit func(*move.Options)
		says string
	}{
		"from":            {func(o *move.Options) { o.From = []layout.Layout{{}} }, "leave From out"},
		"key":             {func(o *move.Options) { o.Key = "ACTIVE" }, "name them in Widths or Prefixes"},
		"random":          {func(o *move.Options) { o.To = layout.Layout{Shards: 4} }, "layout.Calculated"},
		"buckets":         {func(o *move.Options) { o.To.Bucket = layout.Day }, "leave the bucket out"},
		"too many shards": {func(o *move.Options) { o.To.Shards = -1 }, "Layout.Shards is -1"},
		"no width of one": {func(o *move.Options) { o.Prefixes = map[string]int{"ACT": 0} }, `0 shards for prefix "ACT"`},
		"no width":        {func(o *move.Options) { o.Widths = map[string]int{"ACTIVE": 0} }, `0 shards for key "ACTIVE"`},
		"listed": {func(o *move.Options) {
			o.Collection = collection(sixteen, layout.Layout{})
			o.Wait = true
		}, "for movable collections"},
	} {
		o := move.Options{Collection: users(bare), To: eight}
		test.edit(&o)
		client := start(t).Client()
		if _, err := move.New(client, o); !errors.Is(err, heatsink.ErrOptions) || !strings.Contains(err.Error(), test.says) {
			t.Errorf("%s: %v, want ErrOptions that says %q", name, err, test.says)
		}
	}
	x := &town{t: t, client: start(t).Client()}
	m := x.mover(move.Options{Collection: collection(sixteen, layout.Layout{})})
	_, back := m.Back(t.Context())
	_, stage := m.Stage(t.Context())
	for _, err := range []error{back, stage, m.Finish(t.Context())} {
		if !errors.Is(err, move.ErrUnsupported) {
			t.Errorf("got %v, want ErrUnsupported for items that an index lists", err)
		}
	}
}

// A move costs what was forecast, with an index and without.
func TestForecastByID(t *testing.T) {
	for name, table := range map[string]func(*dynamodb.CreateTableInput){
		"without an index": func(*dynamodb.CreateTableInput) {},
		"with an index":    indexed(types.ProjectionTypeAll),
	} {
		t.Run(name, func(t *testing.T) {
			bubble.Test(t, func(t *testing.T) {
				x := found(t, table)
				c := x.program(four)
				for i := range 150 {
					x.put(c, user{Key: "ACTIVE", ID: fmt.Sprint("u", i), Value: 1, Text: strings.Repeat("x", 30*i), Group: []string{"", "g"}[i%2]})
				}
				m := x.mover(move.Options{Collection: users(four), To: eight, Wait: true})
				forecast, err := m.Plan(t.Context())
				if err != nil || !forecast.Exact || forecast.Waits != 3*62*time.Minute || forecast.Stage.Name != "settled" || forecast.Passes != 5 {
					t.Fatalf("%+v, %v", forecast, err)
				}
				result, err := m.Run(t.Context())
				if err != nil || result.Moved != forecast.Moves {
					t.Errorf("moved %d, forecast %d: %v", result.Moved, forecast.Moves, err)
				}
				near := func(what string, got, want, share float64) {
					t.Helper()
					if math.Abs(got-want) > share*want+0.001 {
						t.Errorf("%s: consumed %v, forecast %v", what, got, want)
					}
				}
				near("write units", result.WriteUnits, forecast.WriteUnits, 0.02)
				near("index units", result.IndexUnits, forecast.IndexUnits, 0.02)
				near("read units", result.ReadUnits, forecast.ReadUnits, 0.25)
				t.Logf("%.0f of %.0f write, %.0f of %.0f index and %.0f of %.0f read units", result.WriteUnits, forecast.WriteUnits,
					result.IndexUnits, forecast.IndexUnits, result.ReadUnits, forecast.ReadUnits)
			})
		})
	}
}

// A rollout of Movable begins on a recorded collection: programs with it and without it agree. Nothing moves before the charter says that
// all have it.
func TestMoveByIDWaitsForTheCharter(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		x := found(t)
		ctx := t.Context()
		before := users(bare)
		before.Movable, before.Recorded = false, true
		old, err := heatsink.Open[heatsink.Item](x.client, before)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := old.Count(ctx, heatsink.Query{Key: "ACTIVE"}); err != nil { // it writes the charter
			t.Fatal(err)
		}
		next, err := heatsink.Open[heatsink.Item](x.client, users(bare))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := next.Count(ctx, heatsink.Query{Key: "ACTIVE"}); err != nil {
			t.Errorf("a program with Movable beside one without: %v", err)
		}
		m := x.mover(move.Options{Collection: users(bare), To: eight})
		if _, err := m.Run(ctx); !errors.Is(err, heatsink.ErrCharter) || !strings.Contains(err.Error(), "Ledgers.Rewrite") {
			t.Errorf("a move while programs without Movable may run: %v", err)
		}
		if err := next.Ledgers().Rewrite(ctx); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Minute)
		if _, err := old.Count(ctx, heatsink.Query{Key: "ACTIVE"}); !errors.Is(err, heatsink.ErrCharter) {
			t.Errorf("a program without Movable: got %v, want ErrCharter", err)
		}
		if _, err := m.Run(ctx); err != nil {
			t.Error(err)
		}
	})
}

// A key that no item has is probably misspelt, and the plan says so.
func TestForecastOfAMisspeltKey(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		x := found(t)
		x.fill(x.program(bare), 10)
		for key, want := range map[string]bool{"ACTVE": true, "ACTIVE": false} {
			given := map[string]int{key: 8}
			for _, o := range []move.Options{{Collection: users(bare), Widths: given}, {Collection: users(bare), Prefixes: given}} {
				f, err := x.mover(o).Plan(t.Context())
				told := slices.ContainsFunc(f.Notes, func(note string) bool {
					return strings.HasPrefix(note, "no item has") && strings.Contains(note, "check how they are spelt")
				})
				if err != nil || told != want {
					t.Errorf("%s: notes %q, %v", key, f.Notes, err)
				}
			}
		}
	})
}

// A record that is deleted after a move is not made anew with the layout of a process: programs and movers that start then say that it is
// lost.
func TestDeletedRecordIsNotMadeAnew(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		x := found(t)
		ctx := t.Context()
		x.fill(x.program(bare), 20)
		m := x.mover(move.Options{Collection: users(bare), To: eight, Wait: true})
		if _, err := m.Run(ctx); err != nil {
			t.Fatal(err)
		}
		key := heatsink.Item{"pk": &types.AttributeValueMemberS{Value: "_hs#P#table"}, "sk": &types.AttributeValueMemberS{Value: "-"}}
		if out, err := x.client.DeleteItem(ctx, &dynamodb.DeleteItemInput{TableName: aws.String("users"), Key: key, ReturnValues: types.ReturnValueAllOld}); err != nil || out.Attributes == nil {
			t.Fatal("the record is not where the test deletes it: ", err)
		}
		c, err := heatsink.Open[heatsink.Item](x.client, users(bare))
		if err != nil {
			t.Fatal(err)
		}
		if n, err := c.Count(ctx, heatsink.Query{Key: "ACTIVE"}); !errors.Is(err, heatsink.ErrLedgerLost) {
			t.Errorf("a program counts %d, %v, want ErrLedgerLost", n, err)
		}
		if _, err := x.mover(move.Options{Collection: users(bare), To: eight}).Run(ctx); !errors.Is(err, heatsink.ErrLedgerLost) {
			t.Errorf("a mover: %v, want ErrLedgerLost", err)
		}
	})
}

// A process without Movable cannot make the charter its own once items have moved, not even if the charter is damaged or gone. It is not
// told to try, either.
func TestCharterStaysMovable(t *testing.T) {
	for name, harm := range map[string]func(x *town){
		"whole": func(*town) {},
		"gone":  func(x *town) { x.drop("users", layout.RoleCharter) },
		"damaged": func(x *town) {
			key := map[string]types.AttributeValue{"pk": &types.AttributeValueMemberS{Value: layout.ControlKey{Role: layout.RoleCharter, Collection: users(four).Name}.String()}, "sk": &types.AttributeValueMemberS{Value: "-"}}
			if _, err := x.client.UpdateItem(x.t.Context(), &dynamodb.UpdateItemInput{TableName: aws.String("users"), Key: key, UpdateExpression: aws.String("REMOVE layout, shards SET strategy = :x"), ExpressionAttributeValues: map[string]types.AttributeValue{":x": &types.AttributeValueMemberS{Value: "odd"}}}); err != nil {
				x.t.Fatal(err)
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			bubble.Test(t, func(t *testing.T) {
				x := found(t)
				x.fill(x.program(four), 10)
				if result, err := x.mover(move.Options{Collection: users(four), To: eight}).Run(t.Context()); err != nil || result.Stage.Name != "split" {
					t.Fatalf("%+v, %v", result, err)
				}
				o := users(four)
				o.Movable, o.Recorded = false, true
				plain, err := heatsink.Open[user](x.client, o)
				if err != nil {
					t.Fatal(err)
				}
				if _, err := plain.Get(t.Context(), user{Key: "ACTIVE", ID: "u0000"}); name == "whole" && (!errors.Is(err, heatsink.ErrCharter) || strings.Contains(err.Error(), "Rewrite")) {
					t.Errorf("a process without Movable got %v", err)
				}
				harm(x)
				if err := plain.Ledgers().Rewrite(t.Context()); !errors.Is(err, heatsink.ErrCharter) || !strings.Contains(err.Error(), "set Movable in all processes") {
					t.Errorf("got %v, want that items have moved", err)
				}
			})
		})
	}
}
