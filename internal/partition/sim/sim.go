package sim

import (
	"encoding/binary"
	"iter"
	"math/rand/v2"
	"time"

	"github.com/cespare/xxhash/v2"

	"github.com/heatsink-go/heatsink/internal/partition"
)

// Sim runs clients in virtual time: at the level of requests, without items,
// storage or wire. It is not safe for concurrent use; the sets that the clients
// send to are.
type Sim struct {
	start time.Time
	now   time.Duration // since start
	queue []step        // a heap, the next one first
	last  uint64
}

// Client is something that acts from time to time.
type Client interface {
	// Step acts, and says after how long to act again; negative: never.
	Step(now time.Time) time.Duration
}

// step is when a client acts next. Of steps at the same moment, the one that was
// entered first comes first.
type step struct {
	at     time.Duration
	order  uint64
	client Client
}

func (s step) before(o step) bool { return s.at < o.at || s.at == o.at && s.order < o.order }

// New returns a simulation that begins at a time.
func New(start time.Time) *Sim { return &Sim{start: start} }

// Now returns the virtual time.
func (s *Sim) Now() time.Time { return s.start.Add(s.now) }

// Add lets a client act for the first time after a delay. What is past is now.
func (s *Sim) Add(delay time.Duration, c Client) { s.push(s.now+max(delay, 0), c) }

// Clients returns all that will act again, in no order.
func (s *Sim) Clients() iter.Seq[Client] {
	return func(yield func(Client) bool) {
		for i := range s.queue {
			if !yield(s.queue[i].client) {
				return
			}
		}
	}
}

// Run lets time pass.
func (s *Sim) Run(d time.Duration) {
	end := s.now + d
	for len(s.queue) > 0 && s.queue[0].at < end {
		s.now = s.queue[0].at
		wait := s.queue[0].client.Step(s.Now()) // may add clients: the queue moves then, but its top stays the top
		if wait < 0 {
			s.queue[0] = s.queue[len(s.queue)-1]
			s.queue = s.queue[:len(s.queue)-1]
		} else {
			s.last++
			s.queue[0].at, s.queue[0].order = s.now+wait, s.last
		}
		s.down()
	}
	s.now = end
}

// RunUntil lets time pass until done, checked once a second, or for at most d.
func (s *Sim) RunUntil(d time.Duration, done func() bool) {
	for end := s.now + d; s.now < end && !done(); {
		s.Run(min(time.Second, end-s.now))
	}
}

func (s *Sim) push(at time.Duration, c Client) {
	s.last++
	s.queue = append(s.queue, step{at, s.last, c})
	for i := len(s.queue) - 1; i > 0; {
		parent := (i - 1) / 2
		if !s.queue[i].before(s.queue[parent]) {
			return
		}
		s.queue[i], s.queue[parent] = s.queue[parent], s.queue[i]
		i = parent
	}
}

// down restores the heap after its top was changed.
func (s *Sim) down() {
	for i := 0; ; {
		child := 2*i + 1
		if child >= len(s.queue) {
			return
		}
		if child+1 < len(s.queue) && s.queue[child+1].before(s.queue[child]) {
			child++
		}
		if !s.queue[child].before(s.queue[i]) {
			return
		}
		s.queue[i], s.queue[child] = s.queue[child], s.queue[i]
		i = child
	}
}

// Place returns a place as the simulator makes it: the hash of the partition key,
// the key and the sort key.
func Place(partitionKey, sortKey string) []byte {
	return AppendPlace(make([]byte, 0, 8+len(partitionKey)+1+len(sortKey)), partitionKey, sortKey)
}

// AppendPlace appends the place that Place returns.
func AppendPlace(dst []byte, partitionKey, sortKey string) []byte {
	dst = binary.BigEndian.AppendUint64(dst, xxhash.Sum64String(partitionKey))
	dst = append(append(dst, partitionKey...), 0)
	return append(dst, sortKey...)
}

// Tally is what became of a client's requests.
type Tally struct {
	Requests, Throttled           int64   // requests, each attempt counted
	AcceptedUnits, ThrottledUnits float64 // of the first charge of each
	Reasons                       map[partition.Reason]int64
	Exceptions                    map[partition.Exception]int64
	FirstThrottled, LastThrottled time.Time // zero: none was
}

// Reset forgets everything, to start measuring now.
func (t *Tally) Reset() { *t = Tally{} }

// send makes a request and counts it.
func (t *Tally) send(now time.Time, charges []partition.Charge) bool {
	throttle := partition.Admit(now, charges...)
	units := charges[0].Read + charges[0].Write
	t.Requests++
	if throttle == nil {
		t.AcceptedUnits += units
		return true
	}
	t.Throttled++
	t.ThrottledUnits += units
	if t.Reasons == nil {
		t.Reasons, t.Exceptions = map[partition.Reason]int64{}, map[partition.Exception]int64{}
		t.FirstThrottled = now
	}
	t.LastThrottled = now
	for _, c := range throttle.Reasons() {
		t.Reasons[c.Reason]++
	}
	t.Exceptions[throttle.Exception()]++
	return false
}

// Stream is a Client that offers requests at a rate, whatever becomes of them: a
// throttled one is not repeated.
type Stream struct {
	// PerSecond is how many requests it sends.
	PerSecond float64

	// Random makes them arrive independently of each other (a Poisson process);
	// nil: at equal distances.
	Random *rand.Rand

	// Request returns the charges of the n-th request. The slice is used only
	// until the next call.
	Request func(n int) []partition.Charge

	Tally Tally
	sent  int
	owed  float64 // nanoseconds that rounding has cut off
}

// Step sends a request.
func (s *Stream) Step(now time.Time) time.Duration {
	s.Tally.send(now, s.Request(s.sent))
	s.sent++
	wait := 1e9 / s.PerSecond
	if s.Random != nil {
		wait *= s.Random.ExpFloat64()
	}
	s.owed += wait
	whole := time.Duration(s.owed)
	s.owed -= float64(whole)
	return whole
}

// Loader is a program that writes a file into a table: Workers threads take the
// next Batch rows each, in the file's order, and repeat what was throttled until
// all of it is written. Each thread is a Client of its own.
type Loader struct {
	Rows    int
	Batch   int           // rows per request
	Latency time.Duration // of a request
	Backoff time.Duration // before the first repetition; doubled each time, up to MaxBackoff
	// MaxBackoff limits the backoff.
	MaxBackoff time.Duration
	Request    func(row int) []partition.Charge

	Tally Tally
	Done  time.Time // when the last row was written
	next  int
	left  int
}

// Workers returns the loader's threads.
func (l *Loader) Workers(n int) []Client {
	list := make([]Client, n)
	for i := range list {
		list[i] = &worker{loader: l}
	}
	l.left = l.Rows
	return list
}

// Finished reports whether all rows are written.
func (l *Loader) Finished() bool { return l.left == 0 }

type worker struct {
	loader  *Loader
	rows    []int // not yet written
	attempt int
}

func (w *worker) Step(now time.Time) time.Duration {
	l := w.loader
	if len(w.rows) == 0 {
		if l.next == l.Rows {
			return -1
		}
		for ; len(w.rows) < l.Batch && l.next < l.Rows; l.next++ {
			w.rows = append(w.rows, l.next)
		}
		w.attempt = 0
	}
	left := w.rows[:0]
	for _, row := range w.rows {
		if !l.Tally.send(now, l.Request(row)) {
			left = append(left, row)
		}
	}
	l.left -= len(w.rows) - len(left)
	if l.left == 0 {
		l.Done = now
	}
	w.rows = left
	if len(left) == 0 {
		return l.Latency
	}
	backoff := min(l.Backoff<<min(w.attempt, 20), l.MaxBackoff)
	w.attempt++
	return l.Latency + backoff
}
