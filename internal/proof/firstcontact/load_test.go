package main

import (
	"context"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/heatsink-go/heatsink/internal/bubble"
)

const (
	table   = "orders"
	control = "orders-control"
	key     = "2014-07-09" // the example of AWS's page
)

// body makes an item take itemUnits.
var body types.AttributeValue = text(strings.Repeat("x", itemUnits*1000))

// measureLoad offers writes to a contestant, then reads the newest items in the ways that are listed.
func measureLoad(t *testing.T, contestant string, share float64, long time.Duration, ways ...string) (r loadResult, reads []readResult) {
	switched(t, contestant)
	bubble.Test(t, func(t *testing.T) {
		w := newWorld(t, 1)
		s := w.open(contestant)
		var acked []string
		r, acked = w.load(s, share, long)
		for _, way := range ways {
			time.Sleep(pause)
			if way != contestant { // it reads what another one has written
				s = w.open(way)
			}
			read := w.read(s, acked)
			read.Contestant = way
			reads = append(reads, read)
		}
	})
	r.Contestant, r.Share = contestant, share
	return r, reads
}

func (w *world) load(s store, share float64, long time.Duration) (r loadResult, acked []string) {
	w.Helper()
	began := time.Now()
	all := offer(w.Context(), share*capacity/itemUnits, long, func(ctx context.Context, i int) error { return s.put(ctx, sortOf(i)) })
	r.Offered, r.Finished = len(all), time.Since(began).Seconds()
	var took []time.Duration
	for i, op := range all {
		took = append(took, op.ended.Sub(op.began))
		if op.err == nil {
			acked = append(acked, sortOf(i))
			continue
		}
		r.Failed++
		r.Last = max(r.Last, op.began.Sub(began).Seconds())
	}
	slices.Sort(took)
	at := func(q float64) float64 { return float64(took[int(q*float64(len(took)))].Microseconds()) / 1000 }
	r.P50, r.P99 = at(0.5), at(0.99)
	traffic := w.watch.Traffic()
	r.Requests, r.Throttles = traffic.Requests, traffic.Throttles
	if grew := w.firstGrowth(); !grew.IsZero() {
		r.Grew = grew.Sub(began).Seconds()
	}
	var err error
	if r.Shards, err = s.width(w.Context()); err != nil {
		w.Fatal(err)
	}
	return r, acked
}

// operation is one write.
type operation struct {
	began, ended time.Time
	err          error
}

// offer begins operations at random moments, as those of many independent users are, and does not wait for earlier ones. It returns
// when all have ended. No two begin at the same moment, so that a bubble always does them in the same order.
func offer(ctx context.Context, rate float64, long time.Duration, do func(ctx context.Context, i int) error) []operation {
	var (
		running sync.WaitGroup
		all     []*operation
		gaps    = rand.New(rand.NewPCG(7, 7))
		began   = time.Now()
	)
	for at := time.Duration(0); ; {
		if at += 1 + time.Duration(gaps.ExpFloat64()*float64(time.Second)/rate); at >= long {
			break
		}
		time.Sleep(time.Until(began.Add(at)))
		op := &operation{began: time.Now()}
		i := len(all)
		all = append(all, op)
		running.Go(func() {
			op.err = do(ctx, i)
			op.ended = time.Now()
		})
	}
	running.Wait()
	ended := make([]operation, len(all))
	for i, op := range all {
		ended[i] = *op
	}
	return ended
}
