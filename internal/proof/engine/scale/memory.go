package scale

import (
	"context"
	"errors"
	"os"
	"runtime/debug"
	"strconv"
	"strings"

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
	after, err := resident()
	return []scenario.Figure{atMost("memory for an item of 200 bytes", "bytes", float64(after-before)/float64(o.Held), 400)},
		errors.Join(err, b.db.Close())
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
