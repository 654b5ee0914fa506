package scale

import (
	"context"
	"errors"
	"fmt"
	"os"
	"runtime/debug"
	"strconv"
	"strings"
	"time"

	"github.com/heatsink-go/heatsink/internal/proof/scenario"
)

// memory measures what items take that an engine holds in memory, as the system counts it.
func memory(ctx context.Context, o Options) ([]scenario.Figure, error) {
	debug.FreeOSMemory()
	before, err := resident()
	if err != nil {
		return []scenario.Figure{{What: "memory for an item of 200 bytes", After: "not measured: " + err.Error(), Holds: true}}, nil
	}
	b, err := newBed(ctx, o.Held)
	if err != nil {
		return nil, err
	}
	loaded, err := resident()
	if err != nil {
		return nil, errors.Join(err, b.db.Close())
	}
	held, err := settled(ctx)
	each := func(bytes int64) float64 { return float64(bytes-before) / float64(o.Held) }
	return []scenario.Figure{
		{What: "memory for an item of 200 bytes, just after all were written", After: fmt.Sprintf("%.0f bytes", each(loaded)), Holds: true},
		atMost("memory for an item of 200 bytes", "bytes", each(held), 400),
	}, errors.Join(err, b.db.Close())
}

// settled is how much memory the process takes once it does not get less any more: a compaction under way holds what it reads and what it
// writes.
func settled(ctx context.Context) (least int64, err error) {
	if least, err = resident(); err != nil {
		return 0, err
	}
	for calm := 0; calm < 10; calm++ {
		select {
		case <-time.After(100 * time.Millisecond):
		case <-ctx.Done():
			return 0, ctx.Err()
		}
		now, err := resident()
		if err != nil {
			return 0, err
		}
		if now < least {
			least, calm = now, 0
		}
	}
	return least, nil
}

// resident is how much memory the process takes.
func resident() (int64, error) {
	text, err := os.ReadFile("/proc/self/statm")
	if err != nil {
		return 0, err
	}
	fields := strings.Fields(string(text))
	if len(fields) < 2 {
		return 0, errors.New("/proc/self/statm has no second field")
	}
	pages, err := strconv.ParseInt(fields[1], 10, 64)
	return pages * int64(os.Getpagesize()), err
}
