package scale

import (
	"context"
	"slices"
	"time"
)

// alternate runs two jobs by turns, and returns the median ratio of the second's time to the first's, which is the speed of the
// first as a multiple of the second's. What else the machine does disturbs both alike.
func alternate(ctx context.Context, rounds int, clock func() time.Duration, first, second func() error) (speed float64, err error) {
	ratios := make([]float64, 0, rounds)
	for n := range rounds + 1 { // the first round warms up
		if err := ctx.Err(); err != nil {
			return 0, err
		}
		jobs := [2]func() error{first, second}
		var took [2]time.Duration
		for i := range jobs {
			which := (i + n) % 2
			began := clock()
			if err := jobs[which](); err != nil {
				return 0, err
			}
			took[which] = max(clock()-began, 1)
		}
		if n > 0 {
			ratios = append(ratios, float64(took[1])/float64(took[0]))
		}
	}
	slices.Sort(ratios)
	return ratios[len(ratios)/2], nil
}

var start = time.Now()

// wallTime is for jobs that wait, or run on several processors. For others processorTime leaves out what other programs take.
func wallTime() time.Duration { return time.Since(start) }

// repeat returns a job of so many calls, with numbers that go on from one turn to the next.
func repeat(calls int, f func(n int) error) func() error {
	next := 0
	return func() error {
		for range calls {
			if err := f(next); err != nil {
				return err
			}
			next++
		}
		return nil
	}
}
