package adapt

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/heatsink-go/heatsink/internal/bubble"
	"github.com/heatsink-go/heatsink/internal/charter"
	"github.com/heatsink-go/heatsink/internal/faulty"
	"github.com/heatsink-go/heatsink/internal/ledger"
	"github.com/heatsink-go/heatsink/layout"
)

// byDay makes a layout with a bucket for every day.
func byDay(o *Options) {
	o.Charter.Layout.Bucket = layout.Day
	o.Charter.EventTime = charter.EventTime{Attribute: "at", Unit: charter.UnixSeconds}
}

// next returns the shard and the stamp of an attempt.
func next(t *testing.T, w *Write) (int, int64) {
	t.Helper()
	shard, _, stamp, err := w.Next()
	if err != nil {
		t.Fatal(err)
	}
	return shard, stamp
}

// A write that was certainly refused chooses again, with the width that is known by then. The stamp is of the same knowledge.
func TestWriteChoosesAgain(t *testing.T) {
	client := start(t)
	b := newBook(t, client)
	var widths []int
	w, err := b.Write(t.Context(), "k", none, func(width int) int { widths = append(widths, width); return width - 1 })
	if err != nil {
		t.Fatal(err)
	}
	if shard, stamp := next(t, w); shard != 0 || stamp != 0 {
		t.Errorf("got shard %d, stamp %d, want 0 and none", shard, stamp)
	}
	newBook(t, client).grow(t, "k", 8)
	w.Refused(false)
	if shard, stamp := next(t, w); shard != 0 || stamp != 0 {
		t.Errorf("before it knows of the growth: got shard %d, stamp %d, want 0 and none", shard, stamp)
	}
	b.Throttled(t.Context(), "k", none)
	w.Refused(false)
	if shard, stamp := next(t, w); shard != 7 || stamp != 1 {
		t.Errorf("after it knows of the growth: got shard %d, stamp %d, want 7 and 1", shard, stamp)
	}
	if len(widths) != 3 {
		t.Errorf("chosen %v, want once for each attempt", widths)
	}
}

// After a lost answer the item may be there, so it stays, whatever comes then.
func TestWriteStaysAfterALostAnswer(t *testing.T) {
	client := start(t)
	b := newBook(t, client)
	b.grow(t, "k", 4)
	shards := []int{2, 3, 1}
	w, err := b.Write(t.Context(), "k", none, func(int) int { s := shards[0]; shards = shards[1:]; return s })
	if err != nil {
		t.Fatal(err)
	}
	if shard, stamp := next(t, w); shard != 2 || stamp != 1 {
		t.Fatalf("got shard %d, stamp %d", shard, stamp)
	}
	w.Refused(false)
	if shard, _ := next(t, w); shard != 3 {
		t.Fatalf("got shard %d, want another after a refusal", shard)
	}
	b.grow(t, "k", 16)
	for _, lost := range []bool{true, false, true, false} { // lost once is lost
		w.Refused(lost)
		if shard, stamp := next(t, w); shard != 3 || stamp != 1 {
			t.Errorf("got shard %d, stamp %d, want 3 and 1 for ever", shard, stamp)
		}
	}
}

// A choice that cannot be is an error, and nothing is sent.
func TestWriteChoosesBadly(t *testing.T) {
	b := newBook(t, start(t))
	for _, shard := range []int{-1, 1} {
		w, err := b.Write(t.Context(), "k", none, func(int) int { return shard })
		if err != nil {
			t.Fatal(err)
		}
		if _, _, _, err := w.Next(); err == nil || !strings.Contains(err.Error(), "chosen") {
			t.Errorf("shard %d of 1: got %v, want an error", shard, err)
		}
	}
}

// A writer that is throttled looks whether somebody has made the key wider, once a second at most. If it cannot, it says so and
// keeps to what it knows.
func TestThrottledWriterLooks(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		client := faulty.On(t, start(t), nil)
		b := newBook(t, client)
		newBook(t, client.Direct).grow(t, "k", 8)
		for range 10 {
			b.Throttled(t.Context(), "k", none)
			time.Sleep(100 * time.Millisecond)
		}
		if n := client.Count("GetItem"); n != 1 {
			t.Errorf("%d reads in a second, want one", n)
		}
		if w, _ := b.Known("k", none); w.Write != 8 {
			t.Errorf("it knows of %d shards, want 8", w.Write)
		}
		time.Sleep(time.Second)
		client.Decide(faulty.Always(faulty.Denied))
		b.Throttled(t.Context(), "k", none)
		if w, _ := b.Known("k", none); w.Write != 8 || !strings.Contains(b.logs.String(), "AccessDenied") {
			t.Errorf("it knows of %d shards, and has logged %q", w.Write, b.logs)
		}
	})
}

// A writer that has met a ledger of a newer version looks again by itself, and goes on once that is over.
func TestWriterThatMetANewerVersionLooksAgain(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		client := start(t)
		newBook(t, client).grow(t, "k", 8)
		overwrite(t, client, "_hs#L#orders##k", "_hs_v", &types.AttributeValueMemberN{Value: "99"})
		b := newBook(t, client)
		next := func() (err error) {
			w, err := b.Write(t.Context(), "k", none, func(int) int { return 0 })
			if err == nil {
				_, _, _, err = w.Next()
			}
			return err
		}
		b.Throttled(t.Context(), "k", none)
		if err := next(); !errors.Is(err, ledger.ErrNewer) {
			t.Fatalf("got %v, want ErrNewer", err)
		}
		overwrite(t, client, "_hs#L#orders##k", "_hs_v", &types.AttributeValueMemberN{Value: "1"})
		time.Sleep(2 * time.Second)
		if err := next(); err != nil {
			t.Errorf("got %v, want the writer to go on", err)
		}
		if w, _ := b.Known("k", none); w.Write != 8 {
			t.Errorf("it knows of %d shards, want 8", w.Write)
		}
	})
}
