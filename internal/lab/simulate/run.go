package simulate

import (
	"context"
	"fmt"
	"time"

	"github.com/heatsink-go/heatsink/internal/lab/scenario"
	"github.com/heatsink-go/heatsink/internal/partition"
)

// Options are for a Run.
type Options struct {
	// Progress is told which layout is being simulated and what part of all is done, 0 to 1. Nil: nobody.
	Progress func(layout string, done float64)
}

// runner simulates one layout.
type runner interface {
	advance(d time.Duration)
	waiting() float64 // operations under way
}

// Scenario runs all layouts of a scenario that Parse has returned.
func Scenario(ctx context.Context, s scenario.Scenario, o Options) (Result, error) {
	result := Result{Scenario: s}
	for i := range s.Layouts {
		l := &s.Layouts[i]
		if err := fits(&s, l); err != nil {
			return result, fmt.Errorf("scenario %s, layout %q: %w", s.Name, l.Name, err)
		}
	}
	for i := range s.Layouts {
		run, err := runLayout(ctx, &s, &s.Layouts[i], func(done float64) {
			if o.Progress != nil {
				o.Progress(s.Layouts[i].Name, (float64(i)+done)/float64(len(s.Layouts)))
			}
		})
		if err != nil {
			return result, fmt.Errorf("scenario %s, layout %q: %w", s.Name, s.Layouts[i].Name, err)
		}
		result.Runs = append(result.Runs, run)
	}
	return result, nil
}

// longestStep is the virtual time after which a run tells how far it is. It looks at its context far more often.
const longestStep = time.Minute

func runLayout(ctx context.Context, s *scenario.Scenario, l *scenario.Layout, progress func(done float64)) (Run, error) {
	w, err := newWorld(s, l)
	if err != nil {
		return Run{}, err
	}
	w.ended = func() bool { return ctx.Err() != nil }
	w.tally = newTally(s, l.Name)
	w.tally.run.Partitions = w.partitions(w.start)
	var r runner
	if s.Mode == scenario.Aggregate {
		r = newAggregate(w)
	} else {
		r = newRequests(w)
	}
	for at := time.Duration(0); at < s.Total(); {
		if err := ctx.Err(); err != nil {
			return Run{}, err
		}
		progress(at.Seconds() / s.Total().Seconds())
		d := min(w.tally.left(at), s.Total()-at, longestStep)
		r.advance(d)
		w.tally.observe(at, w.partitions(w.start.Add(at+d)), w.widest())
		at += d
	}
	if err := ctx.Err(); err != nil { // what has been counted is not whole
		return Run{}, err
	}
	end := w.start.Add(s.Total())
	run := w.tally.result(w, r.waiting())
	run.PartitionsAtEnd = w.partitions(end)
	run.Busiest = w.busiest(end)
	return run, nil
}

func (w *world) partitions(now time.Time) int { return w.table.Partitions(now) }

// widest returns the number of shards of the widest key.
func (w *world) widest() int {
	if w.fleet != nil {
		return w.fleet.widest
	}
	return max(w.layout.Shards, 1)
}

// busiest returns the load of the busiest partition over the last half minute, 1 being its ceiling.
func (w *world) busiest(now time.Time) float64 {
	const over = 30 * time.Second
	last := min(over, time.Duration(w.scenario.Duration))
	most := 0.0
	for _, p := range w.table.Snapshot(now, last+time.Second).Partitions { // the second that begins now is empty
		reads, writes := 0.0, 0.0
		for _, s := range p.Seconds {
			reads += s.ReadUnits
			writes += s.WriteUnits
		}
		most = max(most, reads/last.Seconds()/partitionReads, writes/last.Seconds()/partitionWrites)
	}
	return most
}

// usual is an account with the limits that hold unless a scenario says otherwise.
var usual = func() *partition.Account {
	account, err := partition.NewAccount(partition.Options{})
	if err != nil {
		panic(err) // the zero Options are valid
	}
	return account
}()

var rules = usual.Options()

// The ceilings of a partition.
var partitionReads, partitionWrites = float64(rules.Partition.Read), float64(rules.Partition.Write)
