package main

import (
	"context"
	"fmt"
	"iter"
	"maps"
	"slices"

	"github.com/heatsink-go/heatsink"
	"github.com/heatsink-go/heatsink/internal/figure"
)

// readBack is what was read of an act's collection after it was written.
type readBack struct {
	read    int // items, in order, each of the acknowledged ones once
	reading heatsink.Cost

	counted  int
	counting heatsink.Cost

	plan   heatsink.Plan
	newest []view
	token  string
}

const (
	newestShown = 5
	pageSize    = 50
)

// patient lets a read wait: what was written within seconds is a lot for partitions that serve 3,000 read units a second.
var patient = heatsink.Retry{Attempts: 30, Burst: 10_000}

// readBack reads everything with a new collection, and compares it with the acknowledged writes.
func (s *stage) readBack(ctx context.Context, acknowledged map[string]bool) (back readBack, err error) {
	views, err := s.collection(patient)
	if err != nil {
		return back, err
	}
	all := heatsink.Query{Key: s.key, Consistent: true}
	var meter heatsink.Meter
	back.read, err = verify(views.Query(heatsink.WithMeter(ctx, &meter), all), s.key, acknowledged)
	if err != nil {
		return back, err
	}
	back.reading = meter.Cost()
	if err := back.count(ctx, views, s.key); err != nil {
		return back, err
	}
	return back, back.browse(ctx, views, s.key)
}

// verify reports the first thing that is wrong with what was read: it must be the acknowledged views and nothing else,
// each once, in the order of their sort keys.
func verify(views iter.Seq2[view, error], key string, acknowledged map[string]bool) (read int, err error) {
	missing := maps.Clone(acknowledged)
	last := ""
	for v, err := range views {
		switch {
		case err != nil:
			return read, err
		case v.Key != key:
			return read, fmt.Errorf("read %s with key %q, want %q", v.At, v.Key, key)
		case !acknowledged[v.At]:
			return read, fmt.Errorf("read %s, whose put was refused", v.At)
		case !missing[v.At]:
			return read, fmt.Errorf("read %s twice", v.At)
		case v.At <= last:
			return read, fmt.Errorf("read %s after %s: out of order", v.At, last)
		}
		delete(missing, v.At)
		last = v.At
		read++
	}
	if len(missing) > 0 {
		first := slices.Min(slices.Collect(maps.Keys(missing)))
		return read, fmt.Errorf("%d of %d acknowledged writes are lost; the first is %s", len(missing), len(acknowledged), first)
	}
	return read, nil
}

func (b *readBack) count(ctx context.Context, views *heatsink.Collection[view], key string) (err error) {
	var meter heatsink.Meter
	b.counted, err = views.Count(heatsink.WithMeter(ctx, &meter), heatsink.Query{Key: key})
	b.counting = meter.Cost()
	if err == nil && b.counted != b.read {
		return fmt.Errorf("the count is %d, but the query returned %d items", b.counted, b.read)
	}
	return err
}

// browse reads as a web page would: what is new, and one page.
func (b *readBack) browse(ctx context.Context, views *heatsink.Collection[view], key string) (err error) {
	newest := heatsink.Query{Key: key, Reverse: true, Limit: newestShown}
	if b.plan, err = views.Plan(ctx, newest); err != nil {
		return err
	}
	for v, err := range views.Query(ctx, newest) {
		if err != nil {
			return err
		}
		b.newest = append(b.newest, v)
	}
	newest.Limit = pageSize
	page, err := views.Page(ctx, newest, "")
	b.token = page.Next
	return err
}

// show shows what was read, and with a tour how it is read page by page.
func (b *readBack) show(to *screen, tour bool) {
	to.say("  Query: %s acknowledged writes, %s", figure.Thousands(b.read), to.green("all present, each once, in order"))
	to.say("         missing: 0, doubled: 0") // or verify had ended the demo
	to.say("         %s", costOfReading(b.reading))
	to.say("  Count: %s", figure.Thousands(b.counted))
	to.say("         %s", costOfReading(b.counting))
	if !tour {
		return
	}
	to.say("  Plan:  %d shards, so at least %d requests", b.plan.Shards, b.plan.Shards)
	to.say("  Newest first, merged from all shards:")
	for _, v := range b.newest {
		to.say("         %s  %s", v.At, v.Page)
	}
	to.say("  Page:  %d items, and a token of %d characters for the next page:", pageSize, len(b.token))
	to.say("         %s", b.token)
}

func costOfReading(c heatsink.Cost) string {
	return fmt.Sprintf("%s requests (retries: %s), %s read units",
		figure.Thousands(c.Requests), figure.Thousands(c.Retries), figure.Thousands(c.ReadUnits))
}
