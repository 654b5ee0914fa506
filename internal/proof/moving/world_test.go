package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"math/rand/v2"
	"os"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/heatsink-go/heatsink"
	"github.com/heatsink-go/heatsink/internal/lab"
	"github.com/heatsink-go/heatsink/local"
	"github.com/heatsink-go/heatsink/move"
)

var (
	seed       = flag.Uint64("seed", 1, "draws what clients do, and when")
	items      = flag.Int("items", 400, "in the table when the move begins")
	rate       = flag.Float64("rate", 20, "calls of users a second while items move")
	wcu        = flag.Float64("wcu", 50, "write units a second of the mover")
	quietly    = flag.Duration("quiet", 20*time.Second, "how long users are measured without a mover")
	every      = flag.Duration("every", 2*time.Second, "the time between two lists of a reader while items move")
	resultFile = flag.String("result", "", "a file for the result, as JSON")
)

// writeResult leaves the result for the proof.
func writeResult(t *testing.T, result any) {
	t.Helper()
	out, err := json.Marshal(result)
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%s", out)
	if *resultFile == "" {
		return
	}
	if err := os.WriteFile(*resultFile, out, 0o600); err != nil {
		t.Fatal(err)
	}
}

// world is one table and everybody who uses it, in the virtual time of a bubble.
type world struct {
	*testing.T
	*oracle
	db     *local.DB
	ctx    context.Context
	random *rand.Rand
	stage  atomic.Int32 // before, moving, waiting or after
	ending chan struct{}
	users  sync.WaitGroup

	sums   sync.Mutex
	spread map[string]*[stages]spread // by the kind of call
	result shapeResult
	counts map[string]*tally
	last   int // the last value that was written

	unknowns int // calls of killed clients
}

func newWorld(t *testing.T) *world {
	db, err := local.New(local.Options{Signatures: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	w := &world{
		T: t, oracle: newOracle(), db: db, ctx: context.Background(), random: rand.New(rand.NewPCG(*seed, 1)), ending: make(chan struct{}),
		counts: map[string]*tally{}, spread: map[string]*[stages]spread{},
	}
	return w
}

// client returns the client of a process, whose requests take 5 ms.
func (w *world) client() *dynamodb.Client {
	return w.db.Client((&lab.Watch{Latency: latency}).Option)
}

// open returns the collection of a process of its own.
func (w *world) open(o heatsink.Options) *heatsink.Collection[heatsink.Item] {
	c, err := heatsink.Open[heatsink.Item](w.client(), o)
	if err != nil {
		w.Fatal(err)
	}
	return c
}

// value returns one that nobody has written before, with room for additions.
func (w *world) value() int {
	w.sums.Lock()
	defer w.sums.Unlock()
	w.last += 1_000_000
	return w.last
}

// call notes how long a call of a user took, by its kind.
func (w *world) call(kind string, f func() error) error {
	stage, began := w.stage.Load(), time.Now()
	err := f()
	w.sums.Lock()
	defer w.sums.Unlock()
	w.result.Calls++
	if errors.Is(err, context.Canceled) {
		w.unknowns++
	}
	if err == nil || !errors.Is(err, context.Canceled) {
		of := w.spread[kind]
		if of == nil {
			of = &[stages]spread{{}, {}, {}, {}}
			w.spread[kind] = of
		}
		of[stage][time.Since(began)]++
	}
	return err
}

// checked counts reads of single items.
func (w *world) checked() {
	w.sums.Lock()
	defer w.sums.Unlock()
	w.result.Reads++
}

// sleep waits, and reports whether the users go on.
func (w *world) sleep(d time.Duration) bool {
	select {
	case <-w.ending:
		return false
	case <-time.After(d):
		return true
	}
}

// pace waits for the next call of one of so many users.
func (w *world) pace(random *rand.Rand, processes int) bool {
	perSecond := *rate
	if w.stage.Load() == waiting {
		perSecond = *rate * slowly
	}
	return w.sleep(time.Duration(random.ExpFloat64() * float64(time.Second) * float64(processes) / perSecond))
}

// user calls op all the time, and does not wait for earlier calls.
func (w *world) user(processes int, op func(random *rand.Rand)) {
	w.sums.Lock()
	a, b := w.random.Uint64(), w.random.Uint64()
	w.sums.Unlock()
	w.users.Go(func() {
		random := rand.New(rand.NewPCG(a, 0))
		source := rand.New(rand.NewPCG(b, 0))
		var calls sync.WaitGroup
		defer calls.Wait()
		for w.pace(random, processes) {
			own := rand.New(rand.NewPCG(source.Uint64(), 0))
			calls.Go(func() { op(own) })
		}
	})
}

// lister reads whole keys, one after the other.
func (w *world) lister(list func(random *rand.Rand)) {
	w.sums.Lock()
	random := rand.New(rand.NewPCG(w.random.Uint64(), 0))
	w.sums.Unlock()
	w.users.Go(func() {
		for {
			pause := *every
			if w.stage.Load() == waiting {
				pause = max(listSlowly, 60**every)
			}
			if !w.sleep(pause) {
				return
			}
			list(random)
		}
	})
}

// stop stops all users.
func (w *world) stop() {
	close(w.ending)
	w.users.Wait()
}

// quiet measures the users without a mover.
func (w *world) quiet() {
	time.Sleep(*quietly)
	w.stage.Store(moving)
}

// move runs a mover to its end, and notes what it took. Users slow down while it waits, and are measured for a while when it is over.
func (w *world) move(o move.Options) *move.Mover {
	o.WCU, o.RCU = *wcu, *wcu
	o.Wait = o.Collection.Movable
	o.Progress = func(p move.Progress) {
		if p.Until.IsZero() {
			w.stage.Store(moving)
		} else {
			w.stage.Store(waiting)
		}
	}
	m, err := move.New(w.client(), o)
	if err != nil {
		w.Fatal(err)
	}
	began := time.Now()
	forecast, err := m.Plan(w.ctx)
	if err != nil {
		w.Fatal(err)
	}
	w.result.Forecast = units{forecast.ReadUnits, forecast.WriteUnits}
	result := w.run(w.ctx, m)
	if result.Late != 0 || o.Wait && !result.Done {
		w.wrong("the mover: %d items came late, done: %t", result.Late, result.Done)
	}
	w.result.Virtual = time.Since(began).Seconds()
	w.stage.Store(after)
	time.Sleep(*quietly)
	return m
}

// run runs a mover until it ends or is stopped.
func (w *world) run(ctx context.Context, m *move.Mover) move.Result {
	result, err := m.Run(ctx)
	if err != nil && ctx.Err() == nil {
		w.wrong("the mover: %v", err)
	}
	w.result.Moved += result.Moved
	w.result.Reading += result.ReadUnits
	w.result.Writing += result.WriteUnits
	return result
}

// wrong notes the first thing that went wrong beside reads.
func (w *world) wrong(format string, args ...any) {
	w.Logf(format, args...)
	w.fail(format, args...)
}

// right reports whether nothing is wrong so far.
func (w *world) right() bool {
	w.oracle.mu.Lock()
	defer w.oracle.mu.Unlock()
	return w.faults.none()
}

// sum returns what the run came to.
func (w *world) sum() shapeResult {
	w.result.Faults = w.faults
	all := [stages]spread{{}, {}, {}, {}}
	w.result.Kinds = map[string]times{}
	for kind, of := range w.spread {
		w.result.Kinds[kind] = timesOf(of)
		for i := range of {
			for d, n := range of[i] {
				all[i][d] += n
			}
		}
	}
	w.result.times = timesOf(&all)
	return w.result
}

// scan returns everything that is stored.
func (w *world) scan(each func(heatsink.Item)) {
	pages := dynamodb.NewScanPaginator(w.db.Client(), &dynamodb.ScanInput{TableName: aws.String(table), ConsistentRead: aws.Bool(true)})
	for pages.HasMorePages() {
		out, err := pages.NextPage(w.ctx)
		if err != nil {
			w.Fatal(err)
		}
		for _, item := range out.Items {
			each(item)
		}
	}
}

// judge fails the test if the result is not what it must be. Times and units are for the full size.
func judgeShape(t *testing.T, r shapeResult) {
	t.Helper()
	if !r.Faults.none() || r.Damaged != 0 || r.Left != 0 {
		t.Errorf("faults %+v, %d damaged and %d left", r.Faults, r.Damaged, r.Left)
	}
	if r.Calls < 1000 || r.Reads < 300 || r.Lists < 10 || r.Moved < int64(*items)/2 {
		t.Errorf("%d calls, %d reads, %d lists and %d moves: too few to mean anything", r.Calls, r.Reads, r.Lists, r.Moved)
	}
	t.Logf("p99 %v ms before, %v ms while items move; %.0f read units of %.0f, %.0f write units of %.0f", r.Before.P99, r.Moving.P99,
		r.Reading, r.Forecast.Reading, r.Writing, r.Forecast.Writing)
}

// verify notes what the mover's own verification finds.
func (w *world) verify(m *move.Mover) {
	report, err := m.Verify(w.ctx)
	if err != nil {
		w.wrong("verify: %v", err)
	}
	w.result.Damaged = report.Damaged()
}
