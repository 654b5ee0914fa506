package ratelimit

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/heatsink-go/heatsink"
)

// slidingLog keeps the times of the last share that were let through, in a list that always has share elements, which
// are long past at first. A new one is let through if the oldest is no longer in the window, and takes its place: one
// update removes the first element and appends another.
//
// So the list is share chains of times, in each of which a time is at least a window after the one before. A stretch of
// time as long as the window has at most one of each chain, whatever order updates arrive in and whoever's clock made
// the times. Times are milliseconds, rounded up when they are stored and down when they are compared with.
type slidingLog struct {
	name   string
	window time.Duration // in whole milliseconds
}

const logAttribute = "t"

// never is a time that is in no window, in milliseconds: before 1970 by more than the longest.
const never = -100_000_000_000

func (s slidingLog) sortKey(time.Time) string { return s.name }

func (s slidingLog) lapse(now time.Time) time.Time { return now.Add(s.window) }

func (s slidingLog) hint(heatsink.Item) int64 { return 0 }

// stamp is the time that is stored, before what has left the window by now.
func (s slidingLog) stamp(now time.Time) int64 { return now.Add(time.Millisecond - 1).UnixMilli() }

func (s slidingLog) before(now time.Time) int64 { return now.UnixMilli() - s.window.Milliseconds() }

func (s slidingLog) count(q *question) expression {
	if !q.known {
		return s.shift(q)
	}
	old, err := numbersIn(q.seen, logAttribute)
	switch {
	case q.seen == nil:
		e := s.replace(q, resize(nil, q.share))
		e.condition = "attribute_not_exists(#t)"
		return e
	case err != nil || len(old) == q.share:
		return s.shift(q)
	}
	// The limit, or its share of it, was another when the list was made.
	e := s.replace(q, resize(old, q.share))
	e.condition = "#t = :old"
	e.values[":old"] = numbers(old)
	return e
}

// shift takes the q.n oldest times out and appends as many new ones. Indexes count in the list as it was, and setting
// an element behind the end appends it.
func (s slidingLog) shift(q *question) expression {
	remove, set := make([]string, q.n), make([]string, q.n)
	condition := make([]string, 0, q.n+1)
	condition = append(condition, "size(#t) = :size")
	for i := range q.n {
		remove[i] = fmt.Sprintf("#t[%d]", i)
		set[i] = fmt.Sprintf("#t[%d] = :now", q.share+i)
		condition = append(condition, remove[i]+" <= :before")
	}
	return expression{
		update:    "REMOVE " + strings.Join(remove, ", ") + " SET " + strings.Join(set, ", ") + ", #ttl = :ttl",
		condition: strings.Join(condition, " AND "),
		names:     map[string]string{"#t": logAttribute},
		values: heatsink.Item{
			":size": number(q.share), ":now": number(s.stamp(q.now)), ":before": number(s.before(q.now)),
		},
	}
}

// replace writes the whole list, old with q.n of its oldest times exchanged.
func (s slidingLog) replace(q *question, old []int64) expression {
	list := old[q.n:]
	for range q.n {
		list = append(list, s.stamp(q.now))
	}
	return expression{
		update: "SET #t = :new, #ttl = :ttl",
		names:  map[string]string{"#t": logAttribute},
		values: heatsink.Item{":new": numbers(list)},

		repeatable: true,
	}
}

// resize returns a copy of a list of times with another length: the newest remain, or times long past come first.
func resize(list []int64, length int) []int64 {
	kept := list[max(0, len(list)-length):]
	return append(slices.Repeat([]int64{never}, length-len(kept)), kept...)
}

// oldest returns the times that new ones would replace, the next first.
func (s slidingLog) oldest(item heatsink.Item, share int) ([]int64, error) {
	if item == nil {
		return resize(nil, share), nil
	}
	list, err := numbersIn(item, logAttribute)
	if err != nil {
		return nil, err
	}
	return resize(list, share), nil
}

func (s slidingLog) room(item heatsink.Item, share int, now time.Time) (int, error) {
	list, err := s.oldest(item, share)
	if err != nil {
		return 0, err
	}
	before, n := s.before(now), 0
	for n < len(list) && list[n] <= before {
		n++
	}
	return n, nil
}

func (s slidingLog) free(item heatsink.Item, share, n int, now time.Time) time.Time {
	list, err := s.oldest(item, share)
	if err != nil {
		return now
	}
	return time.UnixMilli(slices.Max(list[:n])).Add(s.window)
}
