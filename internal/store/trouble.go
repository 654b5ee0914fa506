package store

import (
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"sync/atomic"
	"time"
	"unicode"

	"github.com/cockroachdb/pebble/v2"
)

// trouble is what went wrong in the background and has not gone right since.
//
// A flush or a compaction that fails loses nothing: its input stays, and Pebble
// tries again at once. So the next one is made to wait before its first file, for
// longer each time. What goes wrong is told once, not at each attempt, and it is
// told when it is over.
type trouble struct {
	flush, compaction failing
	others            failing
	flushError        error        // of the last flush; Pebble's lock guards it
	allowed           int64        // bytes that may be written while flushes fail
	written           atomic.Int64 // bytes, since flushes fail
	refusing          atomic.Bool
	bad               sync.Map      // the paths of damaged files
	met               chan error    // one error, for Close
	closing           chan struct{} // ends all pauses
	close             sync.Once
}

func newTrouble(logger *slog.Logger) *trouble {
	t := &trouble{met: make(chan error, 1), closing: make(chan struct{})}
	t.flush = failing{what: "flush", logger: logger, closing: t.closing}
	t.compaction = failing{what: "compaction", logger: logger, closing: t.closing}
	t.others = failing{what: "background work", logger: logger, closing: t.closing}
	return t
}

// end ends all pauses, also those that are yet to come.
func (t *trouble) end() { t.close.Do(func() { close(t.closing) }) }

// listen fills in the events that tell what goes wrong and right. Pebble holds its
// lock while it calls them, so that nothing here may wait. A flush that fails
// while the store is being opened is the opening's, which says whether it took it.
func (t *trouble) listen(l *pebble.EventListener, opening func(error) bool) {
	l.FlushEnd = func(info pebble.FlushInfo) {
		t.flushError = info.Err
		if info.Err == nil || info.Err.Error() == "pebble: empty table" { // which is a flush of nothing
			t.flush.over()
			t.written.Store(0)
			t.refusing.Store(false)
		}
	}
	l.CompactionEnd = func(info pebble.CompactionInfo) {
		if info.Err == nil {
			t.compaction.over()
		} else if !errors.Is(info.Err, pebble.ErrCancelledCompaction) {
			t.compaction.again(info.Err)
		}
	}
	l.BackgroundError = func(err error) {
		switch {
		case t.flushError != nil && errors.Is(err, t.flushError):
			if !opening(err) {
				t.flush.again(err)
			}
		case t.compaction.is(err): // CompactionEnd told of it
		default:
			t.others.again(err)
		}
		select {
		case t.met <- err:
		default:
		}
	}
}

// damaged notes that a file is, and reports whether that is news.
func (t *trouble) damaged(path string) bool {
	_, known := t.bad.LoadOrStore(path, true)
	return !known
}

// took counts bytes written.
func (t *trouble) took(bytes int) {
	if t.flush.failed() {
		t.written.Add(int64(bytes))
	}
}

// refusal is the answer to a write that cannot be taken because flushes fail. What
// they leave in memory grows with each write, and Pebble would make writers wait,
// for as long as it takes, before it is too much. A failure that is soon over is
// nobody's concern.
func (t *trouble) refusal() error {
	why := t.flush.why.Load()
	if why == nil || t.written.Load() < t.allowed {
		return nil
	}
	if t.refusing.CompareAndSwap(false, true) && t.flush.logger != nil {
		t.flush.logger.Warn("store: writes are refused until a flush succeeds", "error", (*why).Error()) // whose %+v is a stack trace
	}
	return fmt.Errorf("%w: the store cannot write its table files: %w; writes succeed again once it can", ErrNoWrites, *why)
}

// failing is one kind of work, and whether its last attempt failed.
type failing struct {
	what    string
	logger  *slog.Logger
	closing <-chan struct{}
	why     atomic.Pointer[error] // nil: it did not

	mu    sync.Mutex
	told  string
	since time.Time
	times int
}

const (
	firstPause = 50 * time.Millisecond
	mostPause  = time.Second
)

// again notes a failure.
func (f *failing) again(err error) {
	f.why.Store(&err)
	f.mu.Lock()
	defer f.mu.Unlock()
	f.times++
	if f.times == 1 {
		f.since = time.Now()
	}
	kind := kindOf(err)
	if kind == f.told || errors.Is(err, ErrNoWrites) { // of which space tells
		return
	}
	f.told = kind
	pebbleLog{f.logger}.Errorf("background error: %s: %v; the store retries until it succeeds", f.what, err)
}

// over notes a success.
func (f *failing) over() {
	if !f.failed() {
		return
	}
	f.why.Store(nil)
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.logger != nil && f.told != "" {
		f.logger.Info("store: "+f.what+" succeeds again", "failures", f.times, "for", time.Since(f.since).Round(time.Millisecond))
	}
	f.told, f.times = "", 0
}

// failed reports whether the last attempt did.
func (f *failing) failed() bool { return f.why.Load() != nil }

// is reports whether err is the failure noted last.
func (f *failing) is(err error) bool {
	why := f.why.Load()
	return why != nil && errors.Is(err, *why)
}

// wait pauses after failures, for longer the more there were.
func (f *failing) wait() {
	if !f.failed() {
		return
	}
	f.mu.Lock()
	pause := firstPause << min(max(f.times-1, 0), 10)
	f.mu.Unlock()
	timer := time.NewTimer(min(pause, mostPause))
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-f.closing:
	}
}

// kindOf is an error's text without the numbers of files, which differ each time.
func kindOf(err error) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsDigit(r) {
			return -1
		}
		return r
	}, err.Error())
}
