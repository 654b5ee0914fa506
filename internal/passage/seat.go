package passage

import (
	"fmt"
	"strings"
	"time"

	"github.com/heatsink-go/heatsink/internal/charter"
	"github.com/heatsink-go/heatsink/internal/forward"
	"github.com/heatsink-go/heatsink/internal/ledger"
)

// Seat is whether a record is the one that says where items are. A collection whose items move into another table has two of these
// control items, and one of them counts at each moment.
//
// Items move from table T to table U. T has the record, and U gets an item that says Elsewhere before the first item moves. Processes that
// are configured with U read that item, and then the record of T. When the items are in U, two writes hand the record over:
//
//  1. The record of T becomes Retired. Nobody can change it from then on. Processes that are configured with T are refused.
//  2. The item of U becomes the record, settled, with the arrangement that the retired one had.
//
// Each write has a condition on the generation before it, and the second comes after the first one was acknowledged. So at no moment can
// two records change. A process of U that reads the item of U before the second write goes on by the retired record, which says the same
// as the new one. It works all the time. A mover that dies between the two writes leaves that to the next one.
//
// The handover needs no wait of its own. Whoever acts by the record of T has read that before the first write, or has read the
// item of U before the second one. It signs its requests within the lease on that read. It takes the items for settled, in the places where the
// new record has them. To the new record these are requests of its stage before: a request of a settled stage does no harm to a split
// one, and the split stage waits until none can arrive any more. See forward.Stage.Next and lease.Wait.
type Seat uint8

// The seats.
const (
	Here      Seat = iota // it is the record
	Elsewhere             // the record is in the table Now.Table, from which items move here
	Retired               // the record was here, and is in the table Now.Table now, with the items
)

var seatNames = [...]string{"here", "elsewhere", "retired"}

// String returns the seat as it is stored.
func (s Seat) String() string {
	if int(s) < len(seatNames) {
		return seatNames[s]
	}
	return fmt.Sprintf("Seat(%d)", uint8(s))
}

// seatFaults returns what is wrong with a record that is elsewhere.
func (r Record) seatFaults() (faults []error) {
	switch {
	case r.Seat == Here:
	case r.Seat > Retired:
		faults = append(faults, fmt.Errorf("seat %s: there is no such", r.Seat))
	case r.Stage != forward.Stage{} || r.Next != nil || r.Former != nil || r.Now.Table == "":
		faults = append(faults, fmt.Errorf("it is %s, and is %s with the tables of a move: want the name of the other table, and nothing that moves", r.Seat, describe(r.Stage)))
	}
	return faults
}

// away says where the record is that counts.
func (r Record) away() error {
	if r.Seat == Elsewhere {
		return fmt.Errorf("%w: items move here from table %s, whose record counts until that move is finished: name that table", charter.ErrIncompatible, r.Now.Table)
	}
	return fmt.Errorf("%w: the collection is in table %s now: set Options.Table to it", charter.ErrIncompatible, r.Now.Table)
}

// NewPointer returns the item of a table that items move into: the record is in the table of that name. generation is that of what was there
// before, 0 for nothing.
func NewPointer(name string, to Arrangement, generation int64, at time.Time, by string) (Record, error) {
	to.Table = name
	r := Record{Generation: generation, Seat: Elsewhere, Now: to.plain(), Why: "items move here from table " + name, By: ledger.Audit(by)}
	return r.changed(at)
}

// Retire returns the record that ends the record of a table whose items are in another one. The error wraps ErrStage or ErrRecord.
func (r Record) Retire(at time.Time) (Record, error) {
	if r.Seat != Here || r.Stage != (forward.Stage{}) || r.Now.Table == "" {
		return Record{}, fmt.Errorf("%w: generation %d is %s, and the items are in %s: want all of them settled in another table", ErrStage, r.Generation, r.stageText(), r.Now)
	}
	if r.Announced != nil {
		return Record{}, fmt.Errorf("%w: generation %d: %w", ErrStage, r.Generation, r.announced())
	}
	n := r
	n.Seat, n.Former = Retired, nil
	return n.changed(at)
}

// Inherit returns the first record of the table that has the items of a retired one. generation is that of the pointer there.
func (r Record) Inherit(generation int64, at time.Time) (Record, error) {
	if r.Seat != Retired {
		return Record{}, fmt.Errorf("%w: generation %d is %s: want it retired", ErrStage, r.Generation, r.stageText())
	}
	n := Record{Generation: max(generation, r.Generation), Now: r.Now}
	n.Now.Table = ""
	return n.changed(at)
}

// TableName returns the name of a table that is given by its name or by its ARN.
func TableName(table string) string { return table[strings.LastIndexByte(table, '/')+1:] }

// Sibling returns how requests name a table, given one in the same account and region as they name that: by its name or by its ARN. The
// name "" is that of the given one.
func Sibling(of, name string) string {
	switch {
	case name == "" || name == TableName(of):
		return of
	case strings.HasPrefix(of, "arn:"):
		return strings.TrimSuffix(of, TableName(of)) + name
	}
	return name
}
