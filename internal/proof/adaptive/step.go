package main

import (
	"context"
	"fmt"
	"runtime"
	"slices"
	"sync"
	"text/tabwriter"
	"time"
)

// stepResult is what one seed of the step came to: see TestStep.
type stepResult struct {
	Seed       uint64   `json:"seed"`
	Partitions int      `json:"partitions"`
	Wide       float64  `json:"wide"` // seconds from the step until stepWidth; -1: never
	Width      int      `json:"width"`
	Settled    float64  `json:"settled"`    // seconds from the step until the last growth
	Calm       float64  `json:"calm"`       // the share of throttled operations that began from calmAfter on
	Quiet      float64  `json:"quiet"`      // and from quietAfter on
	Offered    int      `json:"offered"`    // operations from the step on
	Acked      int      `json:"acked"`      // items that were acknowledged, all in all
	Refused    int      `json:"refused"`    // operations that failed, for which each attempt was throttled
	ReadBack   faults   `json:"read_back"`  // one read of everything at the end
	Strong     faults   `json:"strong"`     // pages, from before the step until its end
	Eventual   faults   `json:"eventual"`   // likewise
	ReadErrors int      `json:"readErrors"` // reads that were throttled out, and done again
	Decisions  []string `json:"decisions"`  // the last text of each reason
	CPU        float64  `json:"cpu"`        // seconds of the process
}

// inTime reports whether a seed keeps to the times and shares.
func (r *stepResult) inTime() bool {
	return r.Wide >= 0 && r.Wide <= stepWithin.Seconds() && r.Calm < calmShare && r.Quiet < quietShare
}

// step runs the seeds, as many at a time as there are processors.
func step(ctx context.Context, p *proof) error {
	if err := p.bubble.Build(ctx); err != nil {
		return err
	}
	p.Seeds = make([]stepResult, p.seeds)
	failed := make([]error, p.seeds)
	var running sync.WaitGroup
	slots := make(chan struct{}, runtime.NumCPU())
	for i := range p.seeds {
		slots <- struct{}{}
		running.Go(func() {
			defer func() { <-slots }()
			p.Seeds[i], failed[i] = p.stepSeed(ctx, i+1)
			r := &p.Seeds[i]
			if failed[i] != nil {
				progress("  seed %d: %v", i+1, failed[i])
				return
			}
			progress("  seed %d: width %d after %.1f s, %d at the end, %s and %s throttled, %d s of CPU", i+1, stepWidth, r.Wide, r.Width, percent(r.Calm), percent(r.Quiet), int(r.CPU))
		})
	}
	running.Wait()
	w := tabwriter.NewWriter(p.Out, 0, 0, 2, ' ', 0)
	fmt.Fprintf(w, "seed\tto width %d\tlast width\tsince\tthrottled from %v on\tfrom %v on\titems\tmissing\ttwice\tpages\twrong pages\n", stepWidth, calmAfter, quietAfter)
	var (
		inTime           int
		all, paged, weak faults
		cpu              float64
		wide             []float64
	)
	for i := range p.Seeds {
		r := &p.Seeds[i]
		if failed[i] != nil {
			return failed[i]
		}
		if r.inTime() {
			inTime++
		}
		all, paged, weak = all.plus(r.ReadBack), paged.plus(r.Strong), weak.plus(r.Eventual)
		cpu += r.CPU
		wide = append(wide, r.Wide)
		fmt.Fprintf(w, "%d\t%.1f s\t%d\t%.1f s\t%s\t%s\t%d\t%d\t%d\t%d\t%d\n", r.Seed, r.Wide, r.Width, r.Settled, percent(r.Calm), percent(r.Quiet),
			r.Acked, r.ReadBack.Missed, r.ReadBack.Twice, r.Strong.Pages+r.Eventual.Pages, r.Strong.Wrong+r.Eventual.Wrong)
	}
	w.Flush()
	p.Must(fmt.Sprintf("seeds with width %d within %v, < %s throttled after %v, < %s after %v", stepWidth, stepWithin, percent(calmShare), calmAfter, percent(quietShare), quietAfter),
		fmt.Sprintf("%d of %d", inTime, p.seeds), fmt.Sprintf(">= %d", p.seeds-stepMostMissed), inTime >= p.seeds-stepMostMissed)
	p.Tell(fmt.Sprintf("seconds until width %d, from the best seed to the worst", stepWidth), fmt.Sprintf("%.1f to %.1f", slices.Min(wide), slices.Max(wide)))
	p.None("acknowledged items that are missing at the end", all.Missed, all.Items)
	p.None("items that are there twice", all.Twice, all.Items)
	p.None("items out of order, or that nobody wrote: reads of everything", all.Wrong, all.Pages)
	p.None("strong pages, across the growth, that miss, repeat or misplace an item", paged.Wrong, paged.Pages)
	p.None("eventual pages likewise, for items older than Keep", weak.Wrong, weak.Pages)
	p.Tell("CPU", fmt.Sprintf("%.0f s", cpu))
	return nil
}

// stepSeed runs one seed.
func (p *proof) stepSeed(ctx context.Context, seed int) (r stepResult, err error) {
	long := quietAfter + 15*time.Second
	cpu, err := p.bubble.Run(ctx, &r, "TestStep", "-seed", fmt.Sprint(seed), "-partitions", fmt.Sprint(stepPartitions), "-step", long.String())
	r.CPU = cpu.Seconds()
	return r, err
}
