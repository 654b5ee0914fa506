package move_test

import (
	"context"
	"errors"
	"fmt"
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
		"older layout, other shard":   {"c", shard(plain, (plain.Shard("c")+1)%4), "old"},
		"another shard":               {"d", shard(day, (day.Shard("d")+1)%16), "misplaced"},
		"a shard that nobody reads":   {"e", shard(day.WithShards(64), 40), "beyond"},
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
	if len(found) != len(want) || report.Right != 50 || report.Old != 3 || report.Misplaced != 1 || report.Beyond != 1 || report.Unexplained != 4 || report.Damaged() != 9 {
		t.Errorf("%+v", report)
	}

	before := stored(t, client)
	result, err := m.Run(t.Context())
	if !errors.Is(err, move.ErrDamage) || result.Moved != 4 || result.Beyond != 1 || result.Unexplained != 4 || result.Old != 0 {
		t.Errorf("%+v, %v", result, err)
	}
	for id, status := range stored(t, client) {
		if kind := want[id]; (kind == "old" || kind == "misplaced") == (status == before[id]) && kind != "" {
			t.Errorf("%s (%s) was %q and is %q", id, kind, before[id], status)
		}
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
