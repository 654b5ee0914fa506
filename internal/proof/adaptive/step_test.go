package main

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/heatsink-go/heatsink"
	"github.com/heatsink-go/heatsink/internal/bubble"
	"github.com/heatsink-go/heatsink/internal/lab"
	"github.com/heatsink-go/heatsink/local"
)

var (
	seed       = flag.Uint64("seed", 1, "names the key, and so its partitions, and draws when clients send")
	partitions = flag.Int("partitions", stepPartitions, "of the table")
	stepped    = flag.Duration("step", 5*time.Second, "how long the load stays high")
	resultFile = flag.String("result", "", "a file for the result, as JSON")
)

// writeResult leaves the result for the proof.
func writeResult(t *testing.T, result any) {
	t.Helper()
	text, err := json.Marshal(result)
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%s", text)
	if *resultFile == "" {
		return
	}
	if err := os.WriteFile(*resultFile, text, 0o600); err != nil {
		t.Fatal(err)
	}
}

const (
	itemUnits = 10 // write units of an item
	runIn     = 5 * time.Second
)

// The load of one key jumps from 100 to 20,000 write units a second, while others page through it.
func TestStep(t *testing.T) {
	var r stepResult
	bubble.Test(t, func(t *testing.T) { r = newStepRun(t).run() })
	writeResult(t, r)
	if r.ReadBack.Wrong+r.Strong.Wrong+r.Eventual.Wrong > 0 {
		t.Errorf("reads are wrong: %+v, %+v, %+v", r.ReadBack, r.Strong, r.Eventual)
	}
	if r.Acked == 0 || r.Strong.Pages == 0 || r.Eventual.Pages == 0 {
		t.Errorf("nothing was acknowledged or read: %+v", r)
	}
	if *partitions == stepPartitions && *stepped >= stepWithin && r.Wide < 0 {
		t.Errorf("width %d after %v, want %d", r.Width, *stepped, stepWidth)
	}
}

// stepRun is one run.
type stepRun struct {
	*testing.T
	db      *local.DB
	ctx     context.Context
	key     string
	clients []*heatsink.Collection[heatsink.Item]
	began   time.Time // when the step comes

	mu        sync.Mutex
	rand      *rand.Rand
	written   map[string]bool
	strong    history
	eventual  history
	operation []operation
	decisions map[string]string
	errors    int
	widths    []widthAt
}

// operation is one Put.
type operation struct {
	began            time.Duration // since the step
	throttled, acked bool
}

type widthAt struct {
	at    time.Duration
	width int
}

func newStepRun(t *testing.T) *stepRun {
	db, err := local.New(local.Options{Physics: &local.Physics{OnDemandPartitions: *partitions, NoSplits: true, TableWrites: -1, TableReads: -1}})
	if err != nil {
		t.Fatal(err)
	}
	r := &stepRun{
		T: t, db: db, ctx: context.Background(), key: fmt.Sprintf("key %d", *seed), rand: rand.New(rand.NewPCG(*seed, 1)),
		written: map[string]bool{}, decisions: map[string]string{},
	}
	if err := db.CreateTable(r.ctx, table, "pk", "sk"); err != nil {
		t.Fatal(err)
	}
	for range stepClients {
		r.clients = append(r.clients, r.open(heatsink.Retry{}))
	}
	return r
}

// open returns a collection like that of a process of its own.
func (r *stepRun) open(retry heatsink.Retry) *heatsink.Collection[heatsink.Item] {
	watch := &lab.Watch{Latency: 5 * time.Millisecond}
	c, err := heatsink.Open[heatsink.Item](r.db.Client(watch.Option), heatsink.Options{
		Table: table, PartitionKey: "pk", SortKey: "sk", Retry: retry, Rand: rand.NewPCG(r.rand.Uint64(), 2),
		Adaptive: &heatsink.Adaptive{Decided: func(_ context.Context, d heatsink.Decision) {
			r.mu.Lock()
			defer r.mu.Unlock()
			r.decisions[d.Reason] = d.Text
		}},
	})
	if err != nil {
		r.Fatal(err)
	}
	return c
}

func (r *stepRun) now() time.Duration { return time.Since(r.began) }

func (r *stepRun) run() (result stepResult) {
	defer r.db.Close()
	r.began = time.Now().Add(runIn)
	var load, readers sync.WaitGroup
	for _, c := range r.clients {
		phase, source := time.Duration(r.rand.Int64N(int64(time.Second))), rand.New(rand.NewPCG(r.rand.Uint64(), 3))
		load.Go(func() { r.client(c, phase, source) })
	}
	for _, consistent := range []bool{true, false} {
		for _, start := range []time.Duration{-time.Second, 2 * time.Second} { // both meet the growth
			c := r.open(heatsink.Retry{})
			readers.Go(func() {
				for _, at := range []time.Duration{start, 2*calmAfter + start} {
					if at < *stepped {
						time.Sleep(at - r.now())
						r.walk(c, consistent)
					}
				}
			})
		}
	}
	readers.Go(r.observe)
	load.Wait()
	readers.Wait()
	return r.result()
}

// client sends Puts at random moments, and does not wait for earlier ones.
func (r *stepRun) client(c *heatsink.Collection[heatsink.Item], phase time.Duration, source *rand.Rand) {
	time.Sleep(phase)
	var puts sync.WaitGroup
	defer puts.Wait()
	for r.now() < *stepped {
		rate := stepFrom
		if r.now() >= 0 {
			rate = stepTo
		}
		wait := time.Duration(source.ExpFloat64() * float64(time.Second) * itemUnits * stepClients / rate)
		if r.now() < 0 && r.now()+wait > 0 {
			time.Sleep(-r.now()) // until the step, and draws again
			continue
		}
		time.Sleep(wait)
		sort := fmt.Sprintf("%016x", source.Uint64())
		puts.Go(func() { r.put(c, sort) })
	}
}

var body = strings.Repeat("x", itemUnits*1000)

func (r *stepRun) put(c *heatsink.Collection[heatsink.Item], sort string) {
	var meter heatsink.Meter
	op := operation{began: r.now()}
	r.mu.Lock()
	r.written[sort] = true
	r.mu.Unlock()
	_, err := c.Put(heatsink.WithMeter(r.ctx, &meter), heatsink.Item{"pk": text(r.key), "sk": text(sort), "body": text(body)})
	op.throttled, op.acked = meter.Cost().Throttles > 0, err == nil
	r.mu.Lock()
	defer r.mu.Unlock()
	r.operation = append(r.operation, op)
	if err == nil {
		r.strong.acks = append(r.strong.acks, ack{sort, r.now()})
	}
}

// walk pages through the key, slowly at first, so that the key grows between pages.
func (r *stepRun) walk(c *heatsink.Collection[heatsink.Item], consistent bool) {
	q := heatsink.Query{Key: r.key, Consistent: consistent, Limit: 2, Projection: "sk"}
	token, after := "", ""
	for {
		if r.now() > 4*time.Second {
			q.Limit = 20 * *partitions // what the partitions give without pains
		}
		p := page{began: r.now(), after: after}
		if !consistent {
			p.grace = coldKeep
		}
		got, err := c.Page(r.ctx, q, token)
		if err != nil {
			r.mu.Lock()
			r.errors++
			r.mu.Unlock()
			if time.Sleep(time.Second); r.now() > *stepped {
				return // the pages so far count
			}
			continue
		}
		for _, item := range got.Items {
			p.items = append(p.items, textOf(item, "sk"))
		}
		if len(p.items) > 0 {
			after = slices.Max(p.items)
		}
		token, p.last = got.Next, got.Next == ""
		r.mu.Lock()
		h := &r.strong
		if !consistent {
			h = &r.eventual
		}
		h.pages = append(h.pages, p)
		r.mu.Unlock()
		if p.last {
			return
		}
		time.Sleep(150 * time.Millisecond)
	}
}

// observe notes when the key grows.
func (r *stepRun) observe() {
	c := r.open(heatsink.Retry{})
	for r.now() < *stepped {
		l, err := c.Ledgers().Show(r.ctx, r.key, time.Time{})
		if err != nil { // readers of everything may take all that a partition gives
			r.mu.Lock()
			r.errors++
			r.mu.Unlock()
			time.Sleep(100 * time.Millisecond)
			continue
		}
		r.mu.Lock()
		if n := len(r.widths); n == 0 || r.widths[n-1].width != l.Width.Read {
			r.widths = append(r.widths, widthAt{r.now(), l.Width.Read})
		}
		r.mu.Unlock()
		time.Sleep(100 * time.Millisecond)
	}
}

// readAll reads everything once more.
func (r *stepRun) readAll() page {
	all := page{began: r.now() + 1, last: true}
	c := r.open(heatsink.Retry{Attempts: 100, Budget: 100, Burst: 1_000_000}) // it may ask for more than the partitions give
	q := heatsink.Query{Key: r.key, Consistent: true, Projection: "sk", Limit: 50 * *partitions}
	for token := ""; ; {
		p, err := c.Page(r.ctx, q, token)
		if err != nil {
			r.Fatal(err)
		}
		for _, item := range p.Items {
			all.items = append(all.items, textOf(item, "sk"))
		}
		if token = p.Next; token == "" {
			return all
		}
	}
}

// result reads everything back, and sums up.
func (r *stepRun) result() stepResult {
	all := r.readAll()
	s := stepResult{Seed: *seed, Partitions: *partitions, Wide: -1, ReadErrors: r.errors, Acked: len(r.strong.acks)}
	r.eventual.acks = slices.Clone(r.strong.acks)
	end := history{acks: slices.Clone(r.strong.acks), pages: []page{all}}
	s.ReadBack, s.Strong, s.Eventual = end.check(r.written), r.strong.check(r.written), r.eventual.check(r.written)
	for _, w := range r.widths {
		r.Logf("width %d after %v", w.width, w.at)
		s.Width, s.Settled = w.width, w.at.Seconds()
		if s.Wide < 0 && w.width >= stepWidth {
			s.Wide = w.at.Seconds()
		}
	}
	share := func(from time.Duration) float64 {
		n, throttled := 0, 0
		for _, op := range r.operation {
			if op.began < from {
				continue
			}
			n++
			if op.throttled {
				throttled++
			}
		}
		return float64(throttled) / float64(max(1, n))
	}
	s.Calm, s.Quiet = share(calmAfter), share(quietAfter)
	for _, op := range r.operation {
		if op.began >= 0 {
			s.Offered++
		}
		if !op.acked {
			s.Refused++
		}
	}
	for reason, text := range r.decisions {
		s.Decisions = append(s.Decisions, reason+": "+text)
	}
	slices.Sort(s.Decisions)
	return s
}
