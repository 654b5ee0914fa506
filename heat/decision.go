package heat

import (
	"cmp"
	"math"
	"slices"
	"strings"
	"sync"
	"time"
)

// Decision is what heatsink's control law has decided about a key of an adaptive collection. The library tells a program of
// its decisions; the program hands them to [Recorder.Decided], so that they become findings and metrics.
type Decision struct {
	// Resource is the table, or the index whose key is sharded.
	Resource

	Key    string `json:"key"`    // without the shard; in a report as Options.Redact shows it
	Reason string `json:"reason"` // in the law's words: one of the Decided constants, or another
	From   int    `json:"from"`   // shards that are written now
	To     int    `json:"to"`     // shards after the decision; the same if it is not to grow

	Rate      float64 `json:"rate"`      // of all processes, in write units a second, throttled ones included
	Throttled float64 `json:"throttled"` // the share of these that were throttled by key range, 0 to 1

	// Text is the decision in a sentence. A report has up to 1,000 bytes of it, and none with Options.Redact: it may name
	// the key.
	Text string `json:"text,omitempty"`

	// At is the time of the decision. Default, and for times in the future: now.
	At time.Time `json:"at"`
}

// The reasons that become findings.
const (
	DecidedGrow      = "grow"       // key-grew
	DecidedFutile    = "futility"   // growth-futile
	DecidedAtMaximum = "at maximum" // growth-at-maximum
	DecidedFrozen    = "frozen"     // growth-frozen
)

// decidedCalm is the reason that ends findings: the key is wide enough.
const decidedCalm = "calm"

// DecisionCount is how many decisions there were with one reason.
type DecisionCount struct {
	Resource
	Reason string `json:"reason"` // "", and no table, for those beyond the 1,000 tables and reasons that are told apart
	Count  int64  `json:"count"`
}

// Decided counts a decision. It keeps the last one of each key and reason that becomes a finding, for an hour; of more than
// 1,024 it keeps the latest. A decision that the key is wide enough or grows ends earlier ones that held it back.
func (r *Recorder) Decided(d Decision) {
	now := r.now()
	if d.At.IsZero() || d.At.After(now) {
		d.At = now
	}
	d.At = d.At.UTC()
	d.Table = tableName(d.Table)
	d.Key = shown([]byte(d.Key), r.options.Redact)
	if d.Rate = max(0, d.Rate); math.IsNaN(d.Rate) || math.IsInf(d.Rate, 0) {
		d.Rate = 0
	}
	if d.Throttled = min(1, max(0, d.Throttled)); math.IsNaN(d.Throttled) {
		d.Throttled = 0
	}
	d.Reason, d.Text = cut(d.Reason, mostReasonText), cut(d.Text, mostDecisionText)
	if r.options.Redact != nil {
		d.Text = ""
	}
	r.decisions.add(d, now)
}

// cut returns a text of so many bytes at most.
func cut(text string, most int) string { return strings.ToValidUTF8(text[:min(len(text), most)], "") }

const (
	mostDecisions    = 1024 // that are kept
	mostReasonText   = 100  // bytes of a reason
	mostDecisionText = 1000 // bytes of each
	decisionKept     = time.Hour
	mostCounts       = 1000 // tables, indexes and reasons that decisions are counted by
)

// decisions are what was decided of late, in bounded memory.
type decisions struct {
	mu     sync.Mutex
	last   map[decisionID]Decision
	counts map[countID]int64
}

// decisionID tells decisions apart of which the last is kept.
type decisionID struct {
	Resource
	key, reason string
}

type countID struct {
	Resource
	reason string
}

func (b *decisions) add(d Decision, now time.Time) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.last == nil {
		b.last, b.counts = make(map[decisionID]Decision), make(map[countID]int64)
	}
	b.count(countID{d.Resource, d.Reason})
	id := decisionID{d.Resource, d.Key, d.Reason}
	switch d.Reason {
	case DecidedGrow, decidedCalm:
		for _, id.reason = range [...]string{DecidedFutile, DecidedAtMaximum, DecidedFrozen} {
			if d.At.Before(b.last[id].At) {
				continue // the decision comes late
			}
			delete(b.last, id)
		}
		if id.reason = d.Reason; d.Reason == decidedCalm {
			return
		}
	case DecidedFutile, DecidedAtMaximum, DecidedFrozen:
	default:
		return
	}
	if known, ok := b.last[id]; ok && d.At.Before(known.At) {
		return
	}
	if _, known := b.last[id]; !known && len(b.last) >= mostDecisions {
		b.makeRoom(now)
	}
	b.last[id] = d
}

// count counts a decision. There are few tables and reasons; a program that makes some up does not get more memory.
func (b *decisions) count(id countID) {
	if _, known := b.counts[id]; !known && len(b.counts) >= mostCounts {
		id = countID{}
	}
	b.counts[id]++
}

// makeRoom drops decisions that are too old, or else the oldest.
func (b *decisions) makeRoom(now time.Time) {
	var oldest decisionID
	found := false
	for id, d := range b.last {
		if now.Sub(d.At) > decisionKept {
			delete(b.last, id)
			continue
		}
		if !found || d.At.Before(b.last[oldest].At) {
			oldest, found = id, true
		}
	}
	if len(b.last) >= mostDecisions {
		delete(b.last, oldest)
	}
}

// drop forgets the decisions about a table and its indexes.
func (b *decisions) drop(table string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for id := range b.last {
		if id.Table == table {
			delete(b.last, id)
		}
	}
	for id := range b.counts {
		if id.Table == table {
			delete(b.counts, id)
		}
	}
}

// report returns the decisions that are not too old, the latest first, and how many there were.
func (b *decisions) report(now time.Time) (all []Decision, counts []DecisionCount) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, d := range b.last {
		if now.Sub(d.At) <= decisionKept {
			all = append(all, d)
		}
	}
	slices.SortFunc(all, func(a, b Decision) int {
		return cmp.Or(b.At.Compare(a.At), compareResources(a.Resource, b.Resource), cmp.Compare(a.Key, b.Key), cmp.Compare(a.Reason, b.Reason))
	})
	for id, n := range b.counts {
		counts = append(counts, DecisionCount{id.Resource, id.reason, n})
	}
	slices.SortFunc(counts, func(a, b DecisionCount) int {
		return cmp.Or(compareResources(a.Resource, b.Resource), cmp.Compare(a.Reason, b.Reason))
	})
	return all, counts
}

func compareResources(a, b Resource) int {
	return cmp.Or(cmp.Compare(a.Table, b.Table), cmp.Compare(a.Index, b.Index))
}
