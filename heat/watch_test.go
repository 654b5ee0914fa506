package heat_test

import (
	"bytes"
	"context"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/heatsink-go/heatsink/heat"
)

// A finding is logged when it comes and when it goes, and not in between.
func TestWatchLogsChanges(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var log bytes.Buffer
		var mu sync.Mutex
		now := report(hotFlow("POST#viral", 2000, 1))
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan struct{})
		go func() {
			defer close(ended)
			heat.Watch(ctx, time.Second, func() heat.Report { mu.Lock(); defer mu.Unlock(); return now }, heat.Rules{},
				slog.New(slog.NewTextHandler(&log, nil)))
		}()
		time.Sleep(5500 * time.Millisecond)
		mu.Lock()
		now = report(heat.Flow{})
		mu.Unlock()
		time.Sleep(2 * time.Second)
		cancel()
		<-ended
		lines := strings.Split(strings.TrimSpace(log.String()), "\n")
		if len(lines) != 2 || !strings.Contains(lines[0], "level=ERROR") || !strings.Contains(lines[0], "POST#viral") ||
			!strings.Contains(lines[0], "kind=popular-item") || !strings.Contains(lines[1], "gone: ") {
			t.Errorf("got %s", log.String())
		}
	})
}
