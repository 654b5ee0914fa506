package place

import (
	"context"
	"errors"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/heatsink-go/heatsink/layout"
)

// fakeLedgers is a key whose width a test decides.
type fakeLedgers struct {
	width  int
	stamp  int64
	over   error // what the next attempt ends with
	chosen []int
	lost   []bool
}

func (l *fakeLedgers) Known(string, time.Time) (layout.Width, int64) {
	return layout.Width{Write: l.width, Read: l.width}, l.stamp
}

func (l *fakeLedgers) Write(_ context.Context, _ string, _ time.Time, choose func(int) int) (Writing, error) {
	return &fakeWriting{l, choose}, nil
}

type fakeWriting struct {
	*fakeLedgers
	choose func(int) int
}

func (w *fakeWriting) Next() (int, layout.Width, int64, error) {
	if w.over != nil {
		return 0, layout.Width{}, 0, w.over
	}
	shard := w.choose(w.width)
	w.chosen = append(w.chosen, shard)
	width, _ := w.Known("", time.Time{})
	return shard, width, w.stamp, nil
}

func (w *fakeWriting) Refused(lost bool) { w.lost = append(w.lost, lost) }

func withLedgers(l *fakeLedgers, strategy layout.Strategy) (*Schema, *Placer) {
	s := New(Schema{
		Keys:   Keys{PartitionKey: "pk", SortKey: "sk", Stamped: true},
		Spread: Spread{Layout: layout.Layout{Strategy: strategy, Format: layout.Format{BareZero: true}}, Ledgers: l},
	})
	return s, NewPlacer(s, NewChooser(rand.NewPCG(1, 2)))
}

func keyed(pk, sk string) Item {
	return Item{"pk": &types.AttributeValueMemberS{Value: pk}, "sk": &types.AttributeValueMemberS{Value: sk}}
}

// The ledger decides about each attempt, and the item carries its stamp. A stamp that the caller has read somewhere does not count.
func TestPlacementByLedger(t *testing.T) {
	for _, strategy := range []layout.Strategy{layout.Random, layout.Calculated} {
		l := &fakeLedgers{width: 1}
		_, p := withLedgers(l, strategy)
		item := keyed("k", "b")
		item["_hs_g"] = &types.AttributeValueMemberN{Value: "77"}
		at, err := p.Place(context.Background(), item, false)
		if err != nil || at.ShardKey != "k" || at.Stamp() != 0 {
			t.Fatalf("%s: got %+v, %v, want the bare key", strategy, at, err)
		}
		if got := p.Stored(at, item); StampOf(got) != 0 || got["_hs_g"] != nil {
			t.Errorf("%s: stored with a stamp: %v", strategy, got)
		}
		l.width, l.stamp = 64, 5
		moved, err := p.Again(at, false)
		if err != nil || !moved || at.Stamp() != 5 || at.Width.Write != 64 || !strings.HasPrefix(at.ShardKey, "k") {
			t.Errorf("%s: got moved %v, %+v, %v, want a place among 64", strategy, moved, at, err)
		}
		if strategy == layout.Calculated && at.Shard != layout.XXHash.Shard("b", 64) {
			t.Errorf("it is in shard %d, want that of its id", at.Shard)
		}
		if got := p.Stored(at, item); StampOf(got) != 5 {
			t.Errorf("%s: stored with stamp %d, want 5", strategy, StampOf(got))
		}
		if _, err := p.Again(at, true); err != nil || len(l.lost) != 2 || l.lost[0] || !l.lost[1] {
			t.Errorf("%s: the ledger was told %v, %v, want a refusal and a loss", strategy, l.lost, err)
		}
		l.over = errors.New("no more")
		if _, err := p.Again(at, false); !errors.Is(err, l.over) {
			t.Errorf("%s: got %v, want that it ends", strategy, err)
		}
	}
}

// A random write that was throttled prefers shards that it has not tried.
func TestPlacementTriesOthers(t *testing.T) {
	l := &fakeLedgers{width: 4}
	_, p := withLedgers(l, layout.Random)
	for range 20 {
		l.chosen = nil
		at, err := p.Place(context.Background(), keyed("k", "b"), false)
		if err != nil {
			t.Fatal(err)
		}
		for range 3 {
			if _, err := p.Again(at, false); err != nil {
				t.Fatal(err)
			}
		}
		seen := map[int]bool{}
		for _, shard := range l.chosen {
			seen[shard] = true
		}
		if len(seen) != 4 {
			t.Errorf("tried %v, want all four", l.chosen)
		}
	}
}

// An item whose key is so long that only the bare key fits stays there.
func TestPlacementOfALongKey(t *testing.T) {
	l := &fakeLedgers{width: 1}
	_, p := withLedgers(l, layout.Random)
	long := strings.Repeat("k", 2040)
	at, err := p.Place(context.Background(), keyed(long, "b"), false)
	if err != nil {
		t.Fatal(err)
	}
	l.width, l.stamp = 4096, 3
	if moved, err := p.Again(at, false); err != nil || moved || at.ShardKey != long || at.Stamp() != 0 {
		t.Errorf("got moved %v, %v, shard key of %d bytes with stamp %d, want it to stay", moved, err, len(at.ShardKey), at.Stamp())
	}
}

// Whoever may not use the collection is told so before anything is placed. Decoding needs nobody's permission.
func TestSpreadIsReady(t *testing.T) {
	refused := errors.New("refused")
	s, p := withLedgers(&fakeLedgers{width: 2}, layout.Random)
	s.Ready = func(context.Context) error { return refused }
	if _, err := s.Width(context.Background(), "k", time.Time{}); !errors.Is(err, refused) {
		t.Errorf("width: got %v", err)
	}
	if _, err := p.Place(context.Background(), keyed("k", "b"), false); !errors.Is(err, refused) {
		t.Errorf("place: got %v", err)
	}
	s.Ledgers = nil
	if _, _, err := s.Decode(context.Background(), keyed("k", "b")); errors.Is(err, refused) {
		t.Errorf("decode: got %v", err)
	}
}

// Keys of control items are no keys of data, in the table and in an index.
func TestControlKeysAreNoData(t *testing.T) {
	s, p := withLedgers(&fakeLedgers{width: 1}, layout.Random)
	control := keyed("_hs#C#orders", "-")
	_, place := p.Place(context.Background(), control, false)
	_, key := s.KeyOf(control)
	_, in := s.KeyIn(context.Background(), control)
	_, _, decode := s.Decode(context.Background(), control)
	index := New(Schema{Keys: Keys{PartitionKey: "gpk", Index: "listing", TableKey: []string{"pk", "sk"}}})
	_, table := index.KeyOf(control)
	_, _, unlisted := index.Decode(context.Background(), control)
	_, listed := index.KeyIn(context.Background(), Item{"gpk": control["pk"], "pk": control["sk"], "sk": control["sk"]})
	for what, err := range map[string]error{
		"place": place, "key": key, "key in": in, "decode": decode, "key of an index's table": table, "decode of an index": unlisted, "index": listed,
	} {
		if !errors.Is(err, ErrItem) || !strings.Contains(err.Error(), "control item") {
			t.Errorf("%s: got %v, want ErrItem about a control item", what, err)
		}
	}
	if _, err := s.KeyOf(keyed("k", "_hs#C#orders")); err != nil {
		t.Errorf("a sort key may be anything: %v", err)
	}
}

// A stamp is a number above 0. Anything else is none.
func TestStampOf(t *testing.T) {
	for want, v := range map[int64][]types.AttributeValue{
		7: {&types.AttributeValueMemberN{Value: "7"}},
		0: {nil, &types.AttributeValueMemberN{Value: "-3"}, &types.AttributeValueMemberN{Value: "1.5"}, &types.AttributeValueMemberS{Value: "7"}, &types.AttributeValueMemberN{Value: "99999999999999999999"}},
	} {
		for _, v := range v {
			if got := StampOf(Item{"_hs_g": v}); got != want {
				t.Errorf("%v: got %d, want %d", v, got, want)
			}
		}
	}
}
