package main

import (
	"context"
	"strconv"
	"time"

	"github.com/heatsink-go/heatsink/cache"
)

func init() {
	measurements = append(measurements,
		measurement{"14", "Cache: loads that 500 callers with 1 ms start of a load of 2 s", "500", "1", impatient},
		measurement{"14", "counter: late copies of flushes and opens are not counted again", "59 instead of 52", "holds", test("./counter", "TestLateCopiesAreNotCounted")},
		measurement{"14", "leaderboard, Best: the entry in every order of arrival", "depends", "holds", test("./leaderboard", "TestBestIsTheSameInEveryOrder")},
		measurement{"14", "ratelimit: a check with a lease counts when it began", "23 of 20 pass", "holds", test("./ratelimit", "TestChecksCountWhenTheyBegan|TestALeaseAcrossABorder")},
		measurement{"12", "eventlog: Duplicate after a lost answer", "wrong", "holds", test("./eventlog", "TestUnsureAfterALostAnswer|TestAppendUnderFaults")},
	)
}

func impatient(ctx context.Context) (string, error) {
	kept := cache.New[int](cache.Options{})
	loads := 0
	for range 500 {
		ctx, cancel := context.WithTimeout(ctx, time.Millisecond)
		_, _ = kept.Get(ctx, "key", func(ctx context.Context) (int, error) {
			loads++ // one load at a time, or this is a race
			select {
			case <-time.After(2 * time.Second):
			case <-ctx.Done():
			}
			return 1, ctx.Err()
		})
		cancel()
	}
	kept.Close()
	return strconv.Itoa(loads), nil
}
