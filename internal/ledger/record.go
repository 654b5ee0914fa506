package ledger

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/heatsink-go/heatsink/layout"
)

const (
	// Version is the newest schema of a record that this package understands, and the one that it writes.
	Version = 1

	// MaxHistory is how many earlier generations a record keeps.
	MaxHistory = 8

	// MaxAudit is how long Why and By may be, in bytes each. It keeps a record below 1 KB, so that writing it costs 1 WCU.
	MaxAudit = 200
)

// The errors that wrap these say what was given, what is wrong with it and what to do.
var (
	// ErrRecord is wrapped when a record contradicts itself, or contradicts what the process is configured with.
	ErrRecord = errors.New("invalid ledger")
	// ErrNewer is wrapped when a record needs a newer version of heatsink.
	ErrNewer = errors.New("written by a newer version of heatsink")
)

// State is what happens to a key's items.
type State string

// Active is the only state of this version: items stay where they were written. The letters D, P, C, S and B are reserved
// for states in which items move. A process that does not know a state does not know its rules, and refuses the record.
const Active State = "A"

// Record says how many shards a key has. It can be compared except for History; see Equal.
type Record struct {
	// Generation counts the changes, from 1. 0 says that nothing is stored: one shard is written and read.
	Generation int64

	// Epoch counts how often the read width became smaller. Within an epoch it never does.
	Epoch int64

	// Read and Write are how many shards may hold items, and how many are written to. 1 ≤ Write ≤ Read ≤ layout.MaxShards.
	Read, Write int

	State    State
	Strategy layout.Strategy // of the collection; it never changes
	Hash     layout.Hash     // the same; it matters if the strategy is Calculated

	// Frozen keeps the widths as they are. Whoever wants to grow the key gets ErrFrozen.
	Frozen bool

	// Why, By and At tell people about the last change: its reason, who made it, and when by that process's clock, in
	// milliseconds since 1970. No decision depends on them.
	Why, By string
	At      int64

	// History has the generations before the present one with their widths, the oldest first, MaxHistory at most. Those that
	// changed no width, such as a freeze, are the first to be left out: see Widths.
	History []Past
}

// Past is the widths that a record had at an earlier generation.
type Past struct {
	Generation  int64
	Read, Write int
}

// String returns the widths as a record stores them in its history: generation:write/read, such as 3:4/16.
func (p Past) String() string { return fmt.Sprintf("%d:%d/%d", p.Generation, p.Write, p.Read) }

// Audit returns a text that Why and By take: valid UTF-8, cut off after MaxAudit bytes. A text for people must not keep a
// key from growing.
func Audit(text string) string {
	text = strings.ToValidUTF8(text, "\uFFFD")
	if len(text) <= MaxAudit {
		return text
	}
	end := MaxAudit
	for !utf8.RuneStart(text[end]) {
		end--
	}
	return text[:end]
}

// Absent is the record of a key that has none: one shard, which is the bare key.
func Absent(s layout.Strategy, h layout.Hash) Record {
	return Record{Read: 1, Write: 1, State: Active, Strategy: s, Hash: h}
}

// Equal reports whether two records are the same, history included.
func (r Record) Equal(other Record) bool {
	return r.Generation == other.Generation && r.Epoch == other.Epoch && r.Read == other.Read && r.Write == other.Write &&
		r.State == other.State && r.Strategy == other.Strategy && r.Hash == other.Hash && r.Frozen == other.Frozen &&
		r.Why == other.Why && r.By == other.By && r.At == other.At && slices.Equal(r.History, other.History)
}

// Validate reports everything that is wrong with a record. The error wraps ErrRecord.
func (r Record) Validate() error {
	var faults []error
	fault := func(format string, args ...any) { faults = append(faults, fmt.Errorf(format, args...)) }
	if r.Generation < 0 {
		fault("generation %d: it counts from 0", r.Generation)
	}
	if r.Epoch < 0 {
		fault("epoch %d: it counts from 0", r.Epoch)
	}
	if err := (layout.Width{Write: r.Write, Read: r.Read}).CheckFor(r.Strategy); err != nil {
		faults = append(faults, err)
	}
	if r.State != Active {
		fault("state %q: this version knows %q only: upgrade heatsink in this process if a newer version wrote it", r.State, Active)
	}
	if _, ok := named(r.Strategy.String(), layout.Random, layout.Calculated); !ok {
		fault("unknown strategy %s", r.Strategy)
	}
	if _, ok := named(r.Hash.String(), hashes...); !ok {
		fault("unknown hash %s", r.Hash)
	}
	if len(r.Why) > MaxAudit || len(r.By) > MaxAudit {
		fault("why has %d bytes and by %d: each may have %d", len(r.Why), len(r.By), MaxAudit)
	}
	if !utf8.ValidString(r.Why) || !utf8.ValidString(r.By) { // DynamoDB would store another text
		fault("why is %q and by %q: want valid UTF-8", r.Why, r.By)
	}
	if r.Generation == 0 && !r.Equal(Absent(r.Strategy, r.Hash)) {
		fault("generation 0 with the widths %d/%d: a record that is stored counts from 1", r.Write, r.Read)
	}
	faults = append(faults, r.checkHistory()...)
	if faults != nil {
		return fmt.Errorf("%w: %w", ErrRecord, errors.Join(faults...))
	}
	return nil
}

func (r Record) checkHistory() (faults []error) {
	if len(r.History) > MaxHistory {
		faults = append(faults, fmt.Errorf("history of %d generations: it may have %d", len(r.History), MaxHistory))
	}
	before := int64(-1)
	for _, p := range r.History {
		switch {
		case p.Generation <= before || p.Generation >= r.Generation:
			faults = append(faults, fmt.Errorf("history: generation %d is out of order", p.Generation))
		case p.Write < 1 || p.Write > p.Read || p.Read > layout.MaxShards:
			faults = append(faults, fmt.Errorf("history: generation %d has the widths %d/%d", p.Generation, p.Write, p.Read))
		}
		before = p.Generation
	}
	return faults
}

// Follows reports whether the record came from the one of an earlier generation by changes that are all in its history. Where it
// does not, the ledger was lost and repaired in between, or has changed so often that its history has left something out.
func (r Record) Follows(generation int64) bool {
	at := r.Generation
	for i := len(r.History) - 1; i >= 0 && at > generation; i-- {
		if r.History[i].Generation != at-1 {
			return false
		}
		at--
	}
	return at == generation
}

// next returns the record that follows on r with other widths.
func (r Record) next(read, write int) Record {
	n := r
	n.Generation++
	n.Read, n.Write = read, write
	n.History = append(slices.Clone(r.History), Past{Generation: r.Generation, Read: r.Read, Write: r.Write})
	for len(n.History) > MaxHistory {
		i := max(0, slices.IndexFunc(n.changes(), func(changed bool) bool { return !changed }))
		n.History = slices.Delete(n.History, i, i+1)
	}
	return n
}

// changes returns of each generation in the history whether the widths after it are others.
func (r Record) changes() []bool {
	changed := make([]bool, len(r.History))
	for i, p := range r.History {
		read, write := r.Read, r.Write
		if i+1 < len(r.History) {
			read, write = r.History[i+1].Read, r.History[i+1].Write
		}
		changed[i] = p.Read != read || p.Write != write
	}
	return changed
}

// Widths returns the part of the history in which the widths have changed: what the key had before, each width once.
func (r Record) Widths() (past []Past) {
	for i, changed := range r.changes() {
		if changed {
			past = append(past, r.History[i])
		}
	}
	return past
}

var hashes = []layout.Hash{layout.XXHash, layout.FNV, layout.CRC32, layout.MD5, layout.Product}

// named returns which of several values has a name.
func named[T fmt.Stringer](name string, all ...T) (none T, ok bool) {
	for _, v := range all {
		if v.String() == name {
			return v, true
		}
	}
	return none, false
}
