package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/signal"
	"sync"
	"syscall"
	"time"

	"github.com/heatsink-go/heatsink"
	"github.com/heatsink-go/heatsink/layout"
)

// memberMode is the first argument of a proof that is a member of a fleet: a process that writes and reads some keys.
const memberMode = "member"

// membership is what a member is told, as JSON in its second argument.
type membership struct {
	URL       string
	Writer    int // the number of this process: no two have the same
	Mode      mode
	Shards    int // of a layout that is not adaptive
	PerSecond int // writes
	Grows     bool
}

// mode is how the collection's layout comes to be.
type mode string

const (
	adaptive mode = "adaptive" // by ledgers
	static   mode = "static"   // by each process's options
	recorded mode = "recorded" // likewise, and written down in a charter
)

// The keys of a fleet. The first gets most writes, so that the law makes it grow. People make the others grow.
var fleetKeys = []string{"hot", "warm", "mild", "cool"}

const (
	fleetKeep   = 2 * time.Second // of Adaptive
	fleetWidest = 64
)

// collection opens the collection as a member does.
func (m *membership) collection(decided func(heatsink.Decision)) (*heatsink.Collection[heatsink.Item], error) {
	o := heatsink.Options{
		Table: table, PartitionKey: "pk", SortKey: "sk",
		// A stopped process finds that its requests were not answered in time, and does not know what became of them.
		Retry: heatsink.Retry{Timeout: 2 * time.Second, Budget: 2},
	}
	if m.Mode == adaptive {
		o.Adaptive = &heatsink.Adaptive{Keep: fleetKeep, Target: 10, MaxWidth: fleetWidest, Decided: func(_ context.Context, d heatsink.Decision) {
			if decided != nil {
				decided(d)
			}
		}}
	} else {
		o.Layout, o.Recorded = layout.Layout{Shards: m.Shards}, m.Mode == recorded
	}
	return heatsink.Open[heatsink.Item](clientOf(m.URL), o)
}

// The kinds of events.
const (
	ackEvent      = "ack"      // an item was acknowledged
	putError      = "unacked"  // one was not
	strongRead    = "strong"   // a strong Query
	pagedRead     = "paged"    // a strong read in pages
	eventualRead  = "eventual" // an eventual Query
	eventualPages = "eventual pages"
	causalRead    = "causal"  // a Query with the generation of the process's own writes
	countRead     = "count"   // a strong Count
	readError     = "failed"  // a read that returned an error
	refusedEvent  = "refused" // an operation that returned ErrCharter
	grownEvent    = "grown"   // a growth, by the law or by this process's own will
)

// event is something that happened in a member. It writes one line of JSON for each. Times are the machine's clock, in
// nanoseconds.
type event struct {
	Kind     string        `json:"e"`
	Writer   int           `json:"w"`
	Key      string        `json:"k,omitempty"`
	Number   int           `json:"n,omitempty"` // of an item, or of a Count
	At       int64         `json:"t,omitempty"` // of an ack, or when a read began
	Got      map[int]spans `json:"g,omitempty"` // the numbers of the items that a read has, by writer
	Twice    int           `json:"twice,omitempty"`
	Disorder int           `json:"disorder,omitempty"`
	Text     string        `json:"text,omitempty"`
}

// member is the process.
type member struct {
	membership
	items *heatsink.Collection[heatsink.Item]
	stop  context.Context // ends when no more is to be begun; what has begun goes on

	mu         sync.Mutex
	out        *json.Encoder
	written    int
	generation map[string]int64 // the newest of this process's own writes
}

// runMember writes and reads until it is told to stop by SIGTERM. If the proof is gone, its next event ends it.
func runMember(text string) error {
	m := &member{out: json.NewEncoder(os.Stdout), generation: map[string]int64{}}
	if err := json.Unmarshal([]byte(text), &m.membership); err != nil {
		return err
	}
	stop, cancel := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer cancel()
	m.stop = stop
	var err error
	m.items, err = m.collection(func(d heatsink.Decision) {
		if d.Reason == "grow" {
			m.tell(event{Kind: grownEvent, Key: d.Key, Number: d.To, Text: "law"})
		}
	})
	if err != nil {
		return err
	}
	var running sync.WaitGroup
	const writers = 4
	for range writers {
		running.Go(func() {
			m.repeat(writers*time.Second/time.Duration(m.PerSecond), m.write)
		})
	}
	for range 2 {
		running.Go(func() { m.repeat(100*time.Millisecond, m.read) })
	}
	if m.Grows {
		running.Go(func() { m.repeat(3*time.Second, m.grow) })
	}
	running.Wait()
	return nil
}

// repeat does something again and again, at about a time apart.
func (m *member) repeat(apart time.Duration, do func(context.Context)) {
	for sleep(m.stop, apart/2+rand.N(apart)) == nil {
		do(context.Background()) // stop does not end it: only a SIGKILL does
	}
}

func (m *member) tell(e event) {
	e.Writer = m.Writer
	m.mu.Lock()
	defer m.mu.Unlock()
	if err := m.out.Encode(e); err != nil {
		fmt.Fprintln(os.Stderr, "adaptive: member:", err)
		os.Exit(1)
	}
}

// failed tells of an operation that failed.
func (m *member) failed(kind string, err error) {
	if errors.Is(err, heatsink.ErrCharter) {
		kind = refusedEvent
	}
	m.tell(event{Kind: kind, Text: err.Error()})
}

func (m *member) key() string {
	if rand.IntN(10) < 8 {
		return fleetKeys[0]
	}
	return fleetKeys[1+rand.IntN(len(fleetKeys)-1)]
}

func (m *member) write(ctx context.Context) {
	m.mu.Lock()
	m.written++
	n := m.written
	m.mu.Unlock()
	key := m.key()
	w, err := m.items.Put(ctx, heatsink.Item{"pk": text(key), "sk": text(sortKey(m.Writer, n))})
	if err != nil {
		m.failed(putError, err)
		return
	}
	m.mu.Lock()
	m.generation[key] = max(m.generation[key], w.Generation)
	m.mu.Unlock()
	m.tell(event{Kind: ackEvent, Key: key, Number: n, At: time.Now().UnixNano()}) // a causal read after this knows the generation
}

// sortKey names an item. It begins with random digits, so that items of all processes are mixed.
func sortKey(writer, n int) string { return fmt.Sprintf("%08x/%d/%d", rand.Uint32(), writer, n) }

// read reads a key in one of the ways.
func (m *member) read(ctx context.Context) {
	kinds := []string{strongRead, pagedRead, eventualRead, eventualPages, causalRead, countRead}
	e := event{Kind: kinds[rand.IntN(len(kinds))], Key: fleetKeys[rand.IntN(len(fleetKeys))], At: time.Now().UnixNano()}
	q := heatsink.Query{Key: e.Key, Consistent: e.Kind != eventualRead && e.Kind != eventualPages, Projection: "sk"}
	if e.Kind == causalRead {
		m.mu.Lock()
		q.AtLeast, q.Consistent = m.generation[e.Key], false
		m.mu.Unlock()
		if q.AtLeast == 0 {
			return // that would be no causal read
		}
	}
	if err := readInto(ctx, m.items, q, &e); err != nil {
		m.failed(readError, err)
		return
	}
	m.tell(e)
}

// readInto reads and notes what it got.
func readInto(ctx context.Context, items *heatsink.Collection[heatsink.Item], q heatsink.Query, e *event) (err error) {
	var found []string
	switch e.Kind {
	case countRead:
		q.Projection = ""
		e.Number, err = items.Count(ctx, q)
		return err
	case pagedRead, eventualPages:
		q.Limit = 1 + rand.IntN(500)
		for token := ""; ; {
			p, err := items.Page(ctx, q, token)
			if err != nil {
				return err
			}
			for _, item := range p.Items {
				found = append(found, textOf(item, "sk"))
			}
			if token = p.Next; token == "" {
				break
			}
		}
	default:
		for item, err := range items.Query(ctx, q) {
			if err != nil {
				return err
			}
			found = append(found, textOf(item, "sk"))
		}
	}
	return e.note(found)
}

// note notes the sort keys that a read has.
func (e *event) note(found []string) error {
	numbers := map[int][]int{}
	for i, sort := range found {
		var digits uint32
		var writer, n int
		if _, err := fmt.Sscanf(sort, "%08x/%d/%d", &digits, &writer, &n); err != nil {
			return fmt.Errorf("key %q: sort key %q is of nobody here: %w", e.Key, sort, err)
		}
		numbers[writer] = append(numbers[writer], n)
		if i > 0 && sort < found[i-1] {
			e.Disorder++
		}
	}
	e.Got = make(map[int]spans, len(numbers))
	for writer, list := range numbers {
		again := 0
		e.Got[writer], again = spansOf(list)
		e.Twice += again
	}
	return nil
}

// grow makes a key twice as wide.
func (m *member) grow(ctx context.Context) {
	key := fleetKeys[rand.IntN(len(fleetKeys))]
	l, err := m.items.Ledgers().Show(ctx, key, time.Time{})
	if err == nil && l.Width.Read < fleetWidest {
		l, err = m.items.Ledgers().Grow(ctx, key, time.Time{}, 2*l.Width.Read, "the proof")
		if err == nil {
			m.tell(event{Kind: grownEvent, Key: key, Number: l.Width.Read, Text: "member"})
		}
	}
	if err != nil {
		m.failed(readError, fmt.Errorf("grow: %w", err))
	}
}
