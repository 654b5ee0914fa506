package move_test

import (
	"context"
	"errors"
	"fmt"
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

// A table that items cannot move into is refused before anything changes, with what to do.
func TestIntoTableRefuses(t *testing.T) {
	index := func(name, attribute string, kind types.ScalarAttributeType) func(*dynamodb.CreateTableInput) {
		return func(in *dynamodb.CreateTableInput) {
			in.AttributeDefinitions = append(in.AttributeDefinitions, types.AttributeDefinition{AttributeName: &attribute, AttributeType: kind})
			in.GlobalSecondaryIndexes = append(in.GlobalSecondaryIndexes, types.GlobalSecondaryIndex{
				IndexName: &name, KeySchema: []types.KeySchemaElement{key(attribute, types.KeyTypeHash)},
				Projection: &types.Projection{ProjectionType: types.ProjectionTypeAll},
			})
		}
	}
	for name, test := range map[string]struct {
		table func(*dynamodb.CreateTableInput) // nil: there is none
		given func(*town)                      // what it has
		edit  func(*move.Options)
		wants error
		says  string
	}{
		"no table": {nil, nil, nil, move.ErrUnsupported, "there is no such table: create it first, with the keys of table users"},
		"other keys": {func(in *dynamodb.CreateTableInput) {
			in.AttributeDefinitions[1].AttributeName, in.KeySchema[1].AttributeName = aws.String("id"), aws.String("id")
		}, nil, nil, move.ErrUnsupported, `it has the key ["pk" "id"]`},
		"another type": {func(in *dynamodb.CreateTableInput) {
			in.AttributeDefinitions[1].AttributeType = types.ScalarAttributeTypeN
		}, nil, nil, move.ErrUnsupported, `its key "sk" has the type N`},
		"a local index": {func(in *dynamodb.CreateTableInput) {
			in.AttributeDefinitions = append(in.AttributeDefinitions, types.AttributeDefinition{AttributeName: aws.String("group"), AttributeType: types.ScalarAttributeTypeS})
			in.LocalSecondaryIndexes = []types.LocalSecondaryIndex{{
				IndexName: aws.String("byGroup"), KeySchema: []types.KeySchemaElement{key("pk", types.KeyTypeHash), key("group", types.KeyTypeRange)},
				Projection: &types.Projection{ProjectionType: types.ProjectionTypeAll},
			}}
		}, nil, nil, move.ErrUnsupported, "the local index byGroup"},
		"an index that may refuse items": {index("byValue", "value", types.ScalarAttributeTypeS), nil, nil, move.ErrUnsupported, `its index byValue has the key attribute "value" of type S, which no index of table users checks`},
		"a time to live": {func(*dynamodb.CreateTableInput) {}, func(x *town) {
			_, err := x.client.UpdateTimeToLive(context.Background(), &dynamodb.UpdateTimeToLiveInput{
				TableName: aws.String(newTable), TimeToLiveSpecification: &types.TimeToLiveSpecification{AttributeName: aws.String("ttl"), Enabled: aws.Bool(true)},
			})
			if err != nil {
				x.t.Fatal(err)
			}
		}, nil, move.ErrUnsupported, "time to live is"},
		"an item where its id would be": {func(*dynamodb.CreateTableInput) {}, func(x *town) {
			x.in(newTable).raw(heatsink.Item{"pk": text(homeOf(x.t, eight, "ACTIVE", "u0003")), "sk": text("u0003")})
		}, nil, move.ErrUnsupported, "it lies in table people, where an item of key \"ACTIVE\" may move to"},
		"an item where its id would not be": {func(*dynamodb.CreateTableInput) {}, func(x *town) {
			x.in(newTable).raw(heatsink.Item{"pk": text(fmt.Sprint("ACTIVE#SHARD_", (eight.Shard("u0003")+1)%8)), "sk": text("u0003")})
		}, nil, move.ErrUnsupported, "it lies in table people, where an item of key \"ACTIVE\" may move to"},
		"another collection": {func(*dynamodb.CreateTableInput) {}, func(x *town) {
			o := usersIn(newTable, bare)
			o.Name = "others"
			openAndRead(x, o)
		}, nil, move.ErrUnsupported, `table people also has the items of collection "others"`},
		"a collection of this name": {func(*dynamodb.CreateTableInput) {}, func(x *town) { openAndRead(x, usersIn(newTable, bare)) }, nil, move.ErrUnsupported, "table people has a record of a collection with this name"},
		"another charter of this name": {func(*dynamodb.CreateTableInput) {}, func(x *town) {
			o := usersIn(newTable, layout.Layout{Shards: 3, Strategy: layout.Calculated})
			o.Movable, o.Recorded = false, true
			openAndRead(x, o)
		}, nil, move.ErrUnsupported, "table people has the charter of another collection with this name"},
		"only some keys":  {func(*dynamodb.CreateTableInput) {}, nil, func(o *move.Options) { o.To, o.Widths = layout.Layout{}, map[string]int{"ACTIVE": 4} }, heatsink.ErrOptions, "give To as well"},
		"a list":          {func(*dynamodb.CreateTableInput) {}, nil, func(o *move.Options) { o.To.Strategy, o.Collection.Layout = layout.Random, layout.Layout{} }, heatsink.ErrOptions, "a list does not move into another table"},
		"a control table": {func(*dynamodb.CreateTableInput) {}, nil, func(o *move.Options) { o.Collection.ControlTable = "control" }, heatsink.ErrOptions, "leave one of the two out"},
		"an ARN":          {func(*dynamodb.CreateTableInput) {}, nil, func(o *move.Options) { o.Into = "arn:aws:dynamodb:us-east-1:123456789012:table/people" }, heatsink.ErrOptions, "without an ARN"},
	} {
		t.Run(name, func(t *testing.T) {
			bubble.Test(t, func(t *testing.T) {
				x := found(t)
				if test.table != nil {
					x.create(func(in *dynamodb.CreateTableInput) { in.TableName = aws.String(newTable) }, test.table)
				}
				x.fill(x.program(four), 4)
				if test.given != nil {
					test.given(x)
				}
				o := move.Options{Collection: users(four), To: eight, Into: newTable}
				if test.edit != nil {
					test.edit(&o)
				}
				m, err := move.New(x.client, o)
				if err == nil {
					_, err = m.Run(t.Context())
				}
				if !errors.Is(err, test.wants) || !strings.Contains(err.Error(), test.says) {
					t.Errorf("got %v, want %v with %q", err, test.wants, test.says)
				}
				if m != nil {
					if stage, err := m.Stage(t.Context()); err != nil || stage.Generation != 1 {
						t.Errorf("the move has begun: %v, %v", stage, err)
					}
				}
			})
		})
	}
}

// openAndRead lets a program use a collection, so that its charter is there.
func openAndRead(x *town, o heatsink.Options) {
	x.t.Helper()
	c, err := heatsink.Open[user](x.client, o)
	if err == nil {
		_, err = c.Get(context.Background(), user{Key: "NOBODY", ID: "u"})
	}
	if !errors.Is(err, heatsink.ErrNotFound) {
		x.t.Fatal(err)
	}
}

// An item that somebody else puts into the new table where one is to move to is neither taken for the moved one nor lost.
func TestIntoTableMeetsAStranger(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		x := twoTables(t)
		x.fill(x.program(four), 10)
		scans := 0
		o := move.Options{Collection: users(four), Into: newTable, Segments: 1}
		pk := homeOf(t, four, "ACTIVE", "u0002")
		m, err := move.New(watched{Client: x.client, scanned: func() {
			if scans++; scans == 3 { // behind the forecast and the census of both tables
				x.in(newTable).raw(heatsink.Item{"pk": text(pk), "sk": text("u0002"), "value": number("9")})
			}
		}}, o)
		if err != nil {
			t.Fatal(err)
		}
		result, err := m.Run(t.Context())
		if !errors.Is(err, move.ErrDamage) || !strings.Contains(err.Error(), "table people has another item under") || result.Moved != 9 || result.Stage.Name != "split" {
			t.Fatalf("%+v, %v, want ErrDamage", result, err)
		}
		report, err := m.Verify(t.Context())
		if err != nil || report.Doubled != 1 || report.Damaged() != 1 || !strings.Contains(report.Findings[0].Why, "in table people") {
			t.Errorf("%+v, %v, want it doubled", report, err)
		}
		if _, err := x.client.DeleteItem(t.Context(), &dynamodb.DeleteItemInput{TableName: aws.String(newTable), Key: heatsink.Item{"pk": text(pk), "sk": text("u0002")}}); err != nil {
			t.Fatal(err)
		}
		o.Wait = true
		if result, err := x.mover(o).Run(t.Context()); err != nil || !result.Done {
			t.Errorf("%+v, %v", result, err)
		}
		x.checkOnlyIn(newTable, four)
	})
}

// Verify looks at both tables, at each stage, until the move is finished.
func TestVerifyOfTwoTables(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		x, m := settledIn(t, 10)
		x.raw(heatsink.Item{"pk": text(homeOf(t, four, "ACTIVE", "u0002")), "sk": text("u0002"), "value": number("9")})
		x.in(newTable).raw(heatsink.Item{"pk": text(homeOf(t, eight, "ACTIVE", "u0004")), "sk": text("u0004"), "_hs_d": &types.AttributeValueMemberBOOL{Value: true}})
		x.in(newTable).raw(heatsink.Item{"pk": text("ACTIVE"), "sk": text("u0006")})
		x.raw(heatsink.Item{"pk": text(homeOf(t, four, "ACTIVE", "u0099")), "sk": text("u0099"), "value": number("9")})
		report, err := m.Verify(t.Context())
		if err != nil || report.Doubled != 1 || report.Stranded != 1 || report.Leftover != 1 || report.Unexplained != 1 || report.Damaged() != 4 {
			t.Errorf("%+v, %v", report, err)
		}
		for _, f := range report.Findings {
			if wrong := f.Kind == "stranded" && f.Table != "" || (f.Kind == "leftover" || f.Kind == "unexplained") && f.Table != newTable; wrong {
				t.Errorf("%+v has the wrong table", f)
			}
		}
	})
}

// Before the move into another table is finished, the way back is a move into the table of before. Programs with either table go on.
func TestBackBeforeFinish(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		x, m := settledIn(t, 20)
		home := x.mover(move.Options{Collection: users(four), To: four, Into: "users", Wait: true})
		if result, err := home.Run(t.Context()); err != nil || !result.Done || result.Moved != 20 || result.Stage.Now.Table != "" {
			t.Fatalf("%+v, %v", result, err)
		}
		x.put(x.in(newTable).program(eight), user{Key: "ACTIVE", ID: "u0000", Value: 7})
		x.put(x.program(four), user{Key: "ACTIVE", ID: "u0002", Value: 8})
		x.checkOnlyIn("users", four)
		if err := m.Finish(t.Context()); err != nil {
			t.Error(err)
		}
		if _, err := x.in(newTable).program(eight).Get(t.Context(), user{Key: "ACTIVE", ID: "u0000"}); !errors.Is(err, heatsink.ErrCharter) {
			t.Errorf("a program with the layout of before got %v, want ErrCharter", err)
		}
		_, err := x.in(newTable).program(four).Get(t.Context(), user{Key: "ACTIVE", ID: "u0000"})
		if !errors.Is(err, heatsink.ErrCharter) || !strings.Contains(err.Error(), "set Options.Table to users") {
			t.Errorf("a program with the other table got %v, want ErrCharter", err)
		}
	})
}

// Control items that somebody has deleted from the new table are put back before the next stage, so that programs with that table never
// begin a collection of their own.
func TestIntoTableHealsItsPointer(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		x := twoTables(t)
		x.fill(x.program(four), 10)
		o := move.Options{Collection: users(four), Into: newTable}
		if _, err := x.mover(o).Run(t.Context()); err != nil {
			t.Fatal(err)
		}
		for _, pk := range []string{"_hs#P#table", "_hs#C#table"} {
			if _, err := x.client.DeleteItem(t.Context(), &dynamodb.DeleteItemInput{TableName: aws.String(newTable), Key: heatsink.Item{"pk": text(pk), "sk": text("-")}}); err != nil {
				t.Fatal(err)
			}
		}
		time.Sleep(63 * time.Minute)
		if result, err := x.mover(o).Run(t.Context()); err != nil || result.Stage.Name != "settling" {
			t.Fatalf("%+v, %v", result, err)
		}
		if got, err := x.in(newTable).program(four).Get(t.Context(), user{Key: "ACTIVE", ID: "u0002"}); err != nil || got.Value != 1 {
			t.Errorf("a program with the new table got %+v, %v", got, err)
		}
	})
}

// The forecast says that the new table would take items which the old one does not.
func TestIntoTableWithFewerIndexes(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		byGroup := func(in *dynamodb.CreateTableInput) {
			in.AttributeDefinitions = append(in.AttributeDefinitions, types.AttributeDefinition{AttributeName: aws.String("group"), AttributeType: types.ScalarAttributeTypeS})
			in.GlobalSecondaryIndexes = []types.GlobalSecondaryIndex{{
				IndexName: aws.String("byGroup"), KeySchema: []types.KeySchemaElement{key("group", types.KeyTypeHash)},
				Projection: &types.Projection{ProjectionType: types.ProjectionTypeAll},
			}}
		}
		x := found(t, byGroup)
		x.create(func(in *dynamodb.CreateTableInput) { in.TableName = aws.String("lacks") })
		x.create(byGroup, func(in *dynamodb.CreateTableInput) { in.TableName = aws.String("has-it") })
		x.fill(x.program(four), 4)
		for table, want := range map[string]bool{"lacks": true, "has-it": false} {
			f, err := x.mover(move.Options{Collection: users(four), Into: table}).Plan(t.Context())
			if got := strings.Contains(strings.Join(f.Notes, "; "), "lacks the key of an index of table users"); err != nil || got != want {
				t.Errorf("into %s: %q, %v, want the note: %t", table, f.Notes, err, want)
			}
		}
	})
}

// A plan refuses what Run would refuse: a table with a record of its own, and another move than the one that is under way.
func TestPlanRefuses(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		x := twoTables(t)
		x.fill(x.program(four), 10)
		if _, err := x.in(newTable).program(eight).Get(t.Context(), user{Key: "ACTIVE", ID: "u0000"}); !errors.Is(err, heatsink.ErrNotFound) { // it writes a record
			t.Fatal(err)
		}
		_, err := x.mover(move.Options{Collection: users(four), Into: newTable}).Plan(t.Context())
		if !errors.Is(err, move.ErrUnsupported) || !strings.Contains(err.Error(), "table people has a record of a collection with this name") {
			t.Errorf("into a table with a record of its own: %v", err)
		}
		if _, err := x.mover(move.Options{Collection: users(four), To: eight}).Run(t.Context()); err != nil {
			t.Fatal(err)
		}
		_, err = x.mover(move.Options{Collection: users(four), To: layout.Layout{Shards: 2, Strategy: layout.Calculated}}).Plan(t.Context())
		if !errors.Is(err, move.ErrStage) || !strings.Contains(err.Error(), "over 8 shards: {key}#SHARD_{shard} is in progress") {
			t.Errorf("another move than the one that is under way: %v", err)
		}
	})
}

// Verify reports an item of the other table that no layout explains, and goes on.
func TestVerifyWithAStranger(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		x := twoTables(t)
		x.fill(x.program(bare), 10)
		m := x.mover(move.Options{Collection: users(bare), To: eight, Into: newTable})
		if result, err := m.Run(t.Context()); err != nil || result.Stage.Name != "split" {
			t.Fatalf("%+v, %v", result, err)
		}
		stranger := map[string]types.AttributeValue{"pk": &types.AttributeValueMemberS{Value: "A"}, "sk": &types.AttributeValueMemberS{Value: "b"}}
		if _, err := x.client.PutItem(t.Context(), &dynamodb.PutItemInput{TableName: aws.String(newTable), Item: stranger}); err != nil {
			t.Fatal(err)
		}
		report, err := m.Verify(t.Context())
		if err != nil || report.Unexplained != 1 || report.Right != 10 || report.Waiting != 0 {
			t.Errorf("%+v, %v", report, err)
		}
	})
}

// While items go back, those that wait are the ones in new homes.
func TestVerifyCountsWhatWaitsToGoBack(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		x := twoTables(t)
		x.fill(x.program(four), 30)
		m := x.mover(move.Options{Collection: users(four), To: eight, Into: newTable})
		if _, err := m.Run(t.Context()); err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		killed, err := move.New(stageEnder{stageKiller{x.client, "back", cancel}}, move.Options{Collection: users(four)})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := killed.Back(ctx); !errors.Is(err, context.Canceled) {
			t.Fatalf("got %v, want that it was killed", err)
		}
		if s, err := m.Stage(t.Context()); err != nil || s.Name != "back" {
			t.Fatalf("%+v, %v", s, err)
		}
		if report, err := m.Verify(t.Context()); err != nil || report.Waiting != 30 || report.Damaged() != 0 {
			t.Errorf("%+v, %v", report, err)
		}
	})
}

// stageEnder is a client that is killed when a stage has begun.
type stageEnder struct{ stageKiller }

func (k stageEnder) PutItem(ctx context.Context, in *dynamodb.PutItemInput, with ...func(*dynamodb.Options)) (*dynamodb.PutItemOutput, error) {
	out, err := k.Client.PutItem(ctx, in, with...)
	if v, ok := in.Item["_hs_st"].(*types.AttributeValueMemberS); ok && v.Value == k.stage {
		k.kill()
	}
	return out, err
}

// A move that the bucket rules forbid is refused before anything is written, also in the other table.
func TestRefusedMoveLeavesNothing(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		x := twoTables(t)
		x.timed = true
		weekly, monthly := bare, bare
		weekly.Bucket, monthly.Bucket = layout.Week, layout.Month
		x.fill(x.program(weekly), 10)
		before := len(x.stored())
		m := x.mover(move.Options{Collection: diaries(weekly), To: monthly, Into: newTable})
		if _, err := m.Plan(t.Context()); !errors.Is(err, move.ErrStage) || !strings.Contains(err.Error(), "a week may be in two months") {
			t.Errorf("the plan: %v", err)
		}
		if _, err := m.Run(t.Context()); !errors.Is(err, move.ErrStage) {
			t.Errorf("the run: %v", err)
		}
		if got, there := len(x.stored()), len(x.in(newTable).stored()); got != before || there != 0 {
			t.Errorf("the tables have %d and %d items, want %d and none", got, there, before)
		}
	})
}
