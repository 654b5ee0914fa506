package heat

import (
	"context"
	"time"

	"github.com/aws/smithy-go/middleware"
)

// Handle passes a call through the recorder as the SDK does, to a client that answers at once.
func Handle(ctx context.Context, r *Recorder, input any, next middleware.InitializeHandler) error {
	_, _, err := r.handle(ctx, &lookup{recorder: r}, middleware.InitializeInput{Parameters: input}, next)
	return err
}

// Observe counts a touch of a key as the middleware does, without the SDK around it.
func Observe(r *Recorder, table string, d Direction, key []byte, units float64) {
	c := newCall()
	defer c.free()
	c.direction = d
	c.attempts = 1
	view := c.view(r, table)
	c.texts = append(c.texts, key...)
	c.parts = append(c.parts, part{counters: view.own.counters, end: len(key), weight: 1, units: units})
	c.record(&r.options, time.Now().UnixNano(), time.Millisecond)
}

// The defaults, and how far back a Trend goes by seconds and by minutes: docs/heat.md states them.
var (
	DefaultOptions     = Options{}.withDefaults()
	DefaultScanOptions = ScanOptions{}.withDefaults()
)

// MostDecisions is how many decisions a recorder keeps.
const MostDecisions = mostDecisions

func TrendKept() (fine, coarse time.Duration) {
	t := newTrend()
	return time.Duration(len(t.seconds.cells)) * t.seconds.length, time.Duration(len(t.minutes.cells)) * t.minutes.length
}
