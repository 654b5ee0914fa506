package store

import (
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"
)

// ErrNoWrites refuses a write for the time being: the disk is nearly full, or the
// store cannot write table files. Nothing of the write has happened, reads go on,
// and so do writes once the disk is well again.
var ErrNoWrites = errors.New("no writes for now")

// space is how much of the disk is free, and who may still use it. A reserve is
// kept for what must not fail: a log that cannot be written ends the process, and
// what is in the logs must fit into table files, or the store cannot be opened
// again. Above the reserve everybody may write; below it, who makes room.
//
//	the reserve          everybody
//	a half of it         batches that only delete, or free more than they store
//	a quarter of it      the store's and the engine's own upkeep: compactions, counts
//	less                 flushes alone
//
// By default the reserve is defaultReserve, or an eighth of a smaller disk. Four
// memtables may be full before Pebble makes writers wait (MemTableStopWrites…);
// to flush them takes as much space as their logs did, 4 × 32 MB, which is the
// half that nothing but upkeep may touch. Memtables are smaller on a smaller disk,
// an eighth of the reserve. The other half is for what comes between two looks,
// and for deletions: making room takes some first.
//
// There is no goroutine: a writer looks, if nobody has for lookInterval. Between
// two looks the store counts what it writes itself.
type space struct {
	fs      FS
	dir     string
	reserve int64 // bytes; 0: everybody may write always
	logger  *slog.Logger

	left   atomic.Int64 // free bytes: those of the last look, less what was written since
	looked atomic.Int64 // when, since start
	start  time.Time

	mu      sync.Mutex // held to look
	refused atomic.Bool
	told    atomic.Bool  // what was last logged of refused
	toldAt  atomic.Int64 // since start
}

const (
	defaultReserve = 256 << 20
	reservePart    = 8 // of the disk, at most
	lookInterval   = 100 * time.Millisecond
	tellInterval   = 10 * time.Second
)

// use is what space is wanted for: the divisor of the reserve that must be free.
type use int64

const (
	forGrowth    use = 1
	forDeletions use = 2
	forUpkeep    use = 4
)

// newSpace looks at the disk that dir is on. Reserve is as in Options.
func newSpace(fs FS, dir string, reserve int64, logger *slog.Logger) (s *space, total int64, err error) {
	s = &space{fs: fs, dir: dir, logger: logger, start: time.Now()}
	usage, err := fs.GetDiskUsage(dir)
	if err != nil || usage.TotalBytes == 0 {
		if reserve > 0 {
			return nil, 0, fmt.Errorf("a reserve of %s is not possible: the file system does not report its free space; disable the reserve", size(reserve))
		}
		return s, 0, nil
	}
	total = int64(usage.TotalBytes)
	switch {
	case reserve > 0 && reserve >= total:
		return nil, 0, fmt.Errorf("a reserve of %s leaves no space on a disk of %s: use a smaller reserve, or another disk", size(reserve), size(total))
	case reserve == 0:
		reserve = min(defaultReserve, total/reservePart)
	}
	s.reserve = max(reserve, 0)
	s.left.Store(int64(usage.AvailBytes))
	return s, total, nil
}

// took counts bytes written.
func (s *space) took(n int) { s.left.Add(int64(-n)) }

// ask returns an error if there is not enough space for a use of it.
func (s *space) ask(what use) error {
	if s.reserve == 0 {
		return nil
	}
	// Near the reserve the count is not good enough: it takes what is written into
	// space that a log has had from its start for lost.
	switch now := time.Since(s.start); {
	case s.left.Load() < s.reserve+s.reserve/reservePart:
		s.mu.Lock()
		s.look(now)
		s.mu.Unlock()
	case int64(now)-s.looked.Load() >= int64(lookInterval) && s.mu.TryLock():
		s.look(now)
		s.mu.Unlock()
	}
	left, need := s.left.Load(), s.reserve/int64(what)
	if what == forGrowth {
		need = s.change(left)
	}
	if left >= need {
		return nil
	}
	return fmt.Errorf("%w: the disk of %s has %s free, and %s more are needed: free space on that disk, delete items or tables, or turn off point-in-time recovery; "+
		"writes then succeed again, without a restart", ErrNoWrites, s.dir, size(left), size(need-left))
}

// look asks the disk what is free.
func (s *space) look(now time.Duration) {
	if usage, err := s.fs.GetDiskUsage(s.dir); err == nil {
		s.left.Store(int64(usage.AvailBytes))
	}
	s.looked.Store(int64(now))
}

// change notes when writers begin and cease to be refused, and returns how much
// must be free for them: a little more after they were refused.
func (s *space) change(left int64) (need int64) {
	need = s.reserve
	if s.refused.Load() {
		need += s.reserve / 16
	}
	refused := left < need
	s.refused.Store(refused)
	if refused != s.told.Load() && s.logger != nil {
		s.tell(refused, left)
	}
	return need
}

// tell says that writers begin or cease to be refused. Compactions give space back
// that writers take again: so it is told once in a while, not each time.
func (s *space) tell(refused bool, left int64) {
	now, last := int64(time.Since(s.start)), s.toldAt.Load()
	if last != 0 && now-last < int64(tellInterval) || !s.toldAt.CompareAndSwap(last, now) {
		return
	}
	s.told.Store(refused)
	if !refused {
		s.logger.Info("store: writes are accepted again: the disk has free space", "dir", s.dir, "free", size(left), "reserve", size(s.reserve))
	} else {
		s.logger.Warn("store: writes are refused: the disk is nearly full; free space on it, delete items or tables, or turn off point-in-time recovery",
			"dir", s.dir, "free", size(left), "reserve", size(s.reserve))
	}
}

// size writes a number of bytes for people.
func size(bytes int64) string {
	switch {
	case bytes >= 1<<30:
		return fmt.Sprintf("%.1f GB", float64(bytes)/(1<<30))
	case bytes >= 1<<20:
		return fmt.Sprintf("%.1f MB", float64(bytes)/(1<<20))
	}
	return fmt.Sprintf("%d KB", (max(bytes, 0)+1023)>>10)
}
