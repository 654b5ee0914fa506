package eventlog

import (
	"context"
	"time"

	"github.com/heatsink-go/heatsink/layout"
)

// Growth raises the number of shards of a log from some time on.
//
// It applies to the time of the event, not of the append. An event that is appended again after the growth is still
// found where it was stored, and older buckets cost no more to read. All processes must know of a growth before its
// first bucket begins. An overloaded log may grow at once, with a From in the past, if readers get the new options
// before writers. Then only an event of the current bucket that is appended again with its id may be stored twice.
// Reads return it once, but Count counts both.
type Growth struct {
	From   time.Time // applies to buckets that begin at this time or later
	Shards int       // must be more than before
}

// schedule says how many shards a bucket has.
type schedule struct {
	shards int
	growth []Growth
}

// at returns the number for the bucket that begins at start.
func (s schedule) at(start time.Time) int {
	shards := s.shards
	for _, g := range s.growth {
		if !start.Before(g.From) {
			shards = g.Shards
		}
	}
	return shards
}

// Width makes a schedule what a collection asks. Those who write and those who read have the same numbers.
func (s schedule) Width(_ context.Context, _ string, bucket time.Time) (layout.Width, error) {
	n := max(s.at(bucket), 1)
	return layout.Width{Write: n, Read: n}, nil
}
