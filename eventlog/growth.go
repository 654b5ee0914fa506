package eventlog

import (
	"context"
	"time"

	"github.com/heatsink-go/heatsink/layout"
)

// Growth is a number of shards that a log has from some time on.
//
// It goes by the time of the events, not of the append: an event that is appended again after the growth is still found
// where it was put before, and buckets from before are read as cheaply as ever. All processes must know of it before
// the first bucket begins that it is for. An overloaded log may grow at once, with a From that is past, if those that
// read are told before those that append; only an event of the present bucket that is appended again with its id may
// then be stored twice, which reads do not show but Count does.
type Growth struct {
	From   time.Time // it is for the buckets that begin then or later
	Shards int       // more than before
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
