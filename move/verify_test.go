package move_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/smithy-go"

	"github.com/heatsink-go/heatsink"
	"github.com/heatsink-go/heatsink/internal/faulty"
	"github.com/heatsink-go/heatsink/layout"
	"github.com/heatsink-go/heatsink/move"
)

// Every kind of damage is found, named and counted. Run moves what it understands and leaves the rest alone.
func TestVerifyFindsPlantedDamage(t *testing.T) {
	client := start(t).Client()
	day := layout.Layout{Shards: 16, Strategy: layout.Calculated, Bucket: layout.Day}
	now := collection(day)
	plain := layout.Layout{Shards: 4, Strategy: layout.Calculated}
	fill(t, client, now, 50, 10)
	at := time.Date(2026, 11, 1, 0, 0, 0, 0, time.UTC)
	shard := func(l layout.Layout, n int) string {
		key, err := l.ShardKey("OPEN", at, n)
		if err != nil {
			t.Fatal(err)
		}
		return key
	}
	planted := map[string]struct{ id, status, kind string }{
		"unsharded":                   {"a", "OPEN", "old"},
		"older layout":                {"b", shard(plain, plain.Shard("b")), "old"},
		"older layout, other shard":   {"c", shard(plain, (plain.Shard("c")+1)%4), "ambiguous"},
		"another shard":               {"d", shard(day, (day.Shard("d")+1)%16), "ambiguous"},
		"a shard that nobody reads":   {"e", shard(day.WithShards(64), 40), "ambiguous"},
		"a shard of another spelling": {"f", "OPEN#2026-11-01#SHARD_007", "unexplained"},
		"an older shard that is none": {"g", "OPEN#SHARD_7", "unexplained"},
		"a control key":               {"h", "_hs#L#x##y", "unexplained"},
	}
	want := map[string]string{"no time": "unexplained"}
	for _, p := range planted {
		put(t, client, p.id, p.status)
		want[p.id] = p.kind
	}
	put(t, client, "no time", "OPEN", func(item heatsink.Item) { item["created"] = text("yesterday") })
	m := mover(t, client, move.Options{Collection: now, From: []layout.Layout{{}, plain}})
	report, err := m.Verify(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	found := map[string]string{}
	for _, f := range report.Findings {
		var id string
		if _, err := fmt.Sscanf(f.Key, "id %q", &id); err != nil {
			t.Fatal(f.Key, err)
		}
		found[id] = f.Kind
	}
	for id, kind := range want {
		if found[id] != kind {
			t.Errorf("%s is reported as %q, want %q", id, found[id], kind)
		}
	}
	if len(found) != len(want) || report.Right != 50 || report.Old != 2 || report.Ambiguous != 3 || report.Unexplained != 4 || report.Damaged() != 9 {
		t.Errorf("%+v", report)
	}

	before := stored(t, client)
	result, err := m.Run(t.Context())
	if !errors.Is(err, move.ErrDamage) || result.Moved != 2 || result.Ambiguous != 3 || result.Unexplained != 4 || result.Old != 0 {
		t.Errorf("%+v, %v", result, err)
	}
	for id, status := range stored(t, client) {
		if kind := want[id]; (kind == "old" || kind == "misplaced") == (status == before[id]) && kind != "" {
			t.Errorf("%s (%s) was %q and is %q", id, kind, before[id], status)
		}
	}
}

// Without a layout that takes any text for a key, an item in a wrong shard is understood.
func TestVerifyTellsShardsApart(t *testing.T) {
	client := start(t).Client()
	four := layout.Layout{Shards: 4, Strategy: layout.Calculated, Format: layout.PlainNumber()}
	shard := func(l layout.Layout, n int) string {
		key, err := l.ShardKey("OPEN", time.Time{}, n)
		if err != nil {
			t.Fatal(err)
		}
		return key
	}
	put(t, client, "c", shard(four, (four.Shard("c")+1)%4))
	put(t, client, "d", shard(sixteen, (sixteen.Shard("d")+1)%16))
	put(t, client, "e", shard(sixteen.WithShards(64), 40))
	m := mover(t, client, move.Options{Collection: collection(sixteen, four)})
	forecast, err := m.Plan(t.Context())
	if err != nil || forecast.Moves != 2 || forecast.Misplaced != 1 || forecast.Unexplained != 1 || forecast.Ambiguous != 0 {
		t.Errorf("%+v, %v", forecast, err)
	}
	report, err := m.Verify(t.Context())
	if err != nil || report.Old != 1 || report.Misplaced != 1 || report.Beyond != 1 || report.Ambiguous != 0 || report.Damaged() != 3 {
		t.Errorf("%+v, %v", report, err)
	}
	result, err := m.Run(t.Context())
	if !errors.Is(err, move.ErrDamage) || result.Moved != 2 || result.Beyond != 1 {
		t.Errorf("%+v, %v", result, err)
	}
}

// A stored key that reads as a key without shards and as a shard of another key is never changed, on the way there or back.
func TestAmbiguousKeysStay(t *testing.T) {
	for _, test := range []struct {
		name, status string
		sharded      layout.Layout
	}{
		{"plain number", "TENANT#3", layout.Layout{Shards: 8, Strategy: layout.Calculated, Format: layout.PlainNumber()}},
		{"default spelling", "OPEN#SHARD_3", sixteen},
		{"a number that is no shard", "TENANT#9", layout.Layout{Shards: 8, Strategy: layout.Calculated, Format: layout.PlainNumber()}},
		{"a bucket", "OPEN#2026-01-31", layout.Layout{Bucket: layout.Day}},
	} {
		t.Run(test.name, func(t *testing.T) {
			client := start(t).Client()
			odd, byChance := int64(0), int64(0)
			for i := range 20 {
				id := fmt.Sprint("o", i)
				put(t, client, id+"x", "PLAIN")
				put(t, client, id, test.status)
				if test.sharded.Shards > 0 && strings.HasSuffix(test.status, "3") && test.sharded.Shard(id) == 3 {
					byChance++ // where the layout has it
				} else {
					odd++
				}
			}
			before := stored(t, client)
			there := move.Options{Collection: collection(test.sharded), From: []layout.Layout{{}}}
			back := move.Options{Collection: collection(layout.Layout{}), From: []layout.Layout{test.sharded}}
			back.Collection.EventTime = there.Collection.EventTime
			m := mover(t, client, there)
			forecast, err := m.Plan(t.Context())
			if err != nil || forecast.Ambiguous != odd || forecast.Moves != 20 || forecast.Misplaced != 0 || len(forecast.Findings) != 10 {
				t.Errorf("forecast %+v, %v", forecast, err)
			}
			result, err := m.Run(t.Context())
			if !errors.Is(err, move.ErrDamage) || !strings.Contains(err.Error(), "choose a Format") || result.Ambiguous != odd || result.Moved != 20 {
				t.Errorf("%+v, %v", result, err)
			}
			if f := result.Findings; len(f) != 10 || f[0].Kind != "ambiguous" || !strings.Contains(f[0].Why, test.status) {
				t.Errorf("%+v", f)
			}
			if report, err := m.Verify(t.Context()); err != nil || report.Ambiguous != odd || report.Right != 20+byChance || report.Damaged() != odd {
				t.Errorf("%+v, %v", report, err)
			}
			result, err = mover(t, client, back).Run(t.Context())
			if !errors.Is(err, move.ErrDamage) || result.Moved != 20 || result.Ambiguous+result.Unexplained != odd+byChance {
				t.Errorf("back: %+v, %v", result, err)
			}
			if after := stored(t, client); !maps.Equal(after, before) {
				t.Errorf("got %v, want %v", after, before)
			}
		})
	}
}

// A drawn shard says nothing about the key, so it decides nothing beside a layout without shards.
func TestDrawnShardsAreAmbiguousBesideBareKeys(t *testing.T) {
	client := start(t).Client()
	random := layout.Layout{Shards: 4, Format: layout.PlainNumber()}
	put(t, client, "a", "TENANT#3")
	both := mover(t, client, move.Options{Collection: collection(sixteen, layout.Layout{}, random)})
	if result, err := both.Run(t.Context()); !errors.Is(err, move.ErrDamage) || result.Ambiguous != 1 || result.Moved != 0 {
		t.Errorf("%+v, %v", result, err)
	}
	alone := mover(t, client, move.Options{Collection: collection(sixteen, random)})
	if result, err := alone.Run(t.Context()); err != nil || result.Moved != 1 {
		t.Errorf("%+v, %v", result, err)
	}
}

// Going back is a move with the layouts swapped.
func TestUndo(t *testing.T) {
	client := start(t).Client()
	fill(t, client, collection(layout.Layout{}), 100, 10)
	before := stored(t, client)
	there := mover(t, client, move.Options{Collection: collection(sixteen, layout.Layout{})})
	if _, err := there.Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	back := mover(t, client, move.Options{Collection: collection(layout.Layout{}, sixteen)})
	if _, err := back.Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	for id, status := range stored(t, client) {
		if status != before[id] {
			t.Errorf("%s is %q, want %q", id, status, before[id])
		}
	}
}

// Who knows that items in wrong shards are shards says so with drawn shards.
func TestUndoOfWrongShards(t *testing.T) {
	client := start(t).Client()
	wrong, err := sixteen.ShardKey("OPEN", time.Time{}, (sixteen.Shard("a")+1)%16)
	if err != nil {
		t.Fatal(err)
	}
	put(t, client, "a", wrong)
	back := mover(t, client, move.Options{Collection: collection(layout.Layout{}, sixteen)})
	if result, err := back.Run(t.Context()); !errors.Is(err, move.ErrDamage) || result.Ambiguous != 1 || result.Moved != 0 {
		t.Errorf("%+v, %v", result, err)
	}
	back = mover(t, client, move.Options{Collection: collection(layout.Layout{}, layout.Layout{Shards: 16})})
	if result, err := back.Run(t.Context()); err != nil || result.Moved != 1 || stored(t, client)["a"] != "OPEN" {
		t.Errorf("%+v, %v", result, err)
	}
}

// A shard of the layout that is left, but with a number that it does not have, is no key of the layout without shards.
func TestUndoDoesNotTakeShardsForKeys(t *testing.T) {
	client := start(t).Client()
	put(t, client, "a", "OPEN#SHARD_99")
	m := mover(t, client, move.Options{Collection: collection(layout.Layout{}, sixteen)})
	report, err := m.Verify(t.Context())
	if err != nil || report.Unexplained != 1 {
		t.Errorf("%+v, %v", report, err)
	}
}

// Items without the index's sort key are counted apart, and are in their place when they get one.
func TestItemsThatTheIndexDoesNotList(t *testing.T) {
	client := start(t).Client()
	put(t, client, "a", "OPEN")
	put(t, client, "draft", "OPEN", func(item heatsink.Item) { delete(item, "created") })
	m := mover(t, client, move.Options{Collection: collection(sixteen, layout.Layout{})})
	result, err := m.Run(t.Context())
	if err != nil || result.Moved != 2 || result.Listed != 2 || result.Unlisted != 1 || result.IndexUnits != 2 {
		t.Errorf("%+v, %v", result, err)
	}
	report, err := m.Verify(t.Context())
	if err != nil || report.Right != 2 || report.Unlisted != 1 {
		t.Errorf("%+v, %v", report, err)
	}
}

// refusing is a client of a table that lets no item change.
type refusing struct{ *dynamodb.Client }

func (refusing) UpdateItem(context.Context, *dynamodb.UpdateItemInput, ...func(*dynamodb.Options)) (*dynamodb.UpdateItemOutput, error) {
	return nil, faulty.Answer(400, &smithy.GenericAPIError{Code: "ValidationException", Message: "too large", Fault: smithy.FaultClient})
}

// A table that refuses very many items ends the move, with the same error as one that refuses few.
func TestManyItemsAreRefused(t *testing.T) {
	client := start(t).Client()
	fill(t, client, collection(layout.Layout{}), 1100, 10)
	result, err := mover(t, refusing{client}, move.Options{Collection: collection(sixteen, layout.Layout{}), WCU: 1e6}).Run(t.Context())
	if !errors.Is(err, move.ErrDamage) || result.Refused < 1000 || result.Refused >= 1100 {
		t.Errorf("%d refused, %v", result.Refused, err)
	}
}
