package move

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/heatsink-go/heatsink/internal/forward"
	"github.com/heatsink-go/heatsink/internal/passage"
	"github.com/heatsink-go/heatsink/internal/quote"
	"github.com/heatsink-go/heatsink/layout"
)

// Arrangement is where the items of a movable collection are.
type Arrangement struct {
	Layout layout.Layout  `json:"layout"`
	Widths map[string]int `json:"widths,omitempty"` // keys that have their own number of shards

	// Prefixes are those of keys that have their own number of shards. The longest one counts for a key, and Widths before it.
	Prefixes map[string]int `json:"prefixes,omitempty"`

	Table string `json:"table,omitempty"` // the table that has the items, if it is not that of the collection's record
}

// arrangementOf returns what people see of an arrangement.
func arrangementOf(a passage.Arrangement) Arrangement {
	return Arrangement{Layout: a.Layout, Widths: a.Widths, Prefixes: a.Prefixes, Table: a.Table}
}

// String returns the arrangement in one line.
func (a Arrangement) String() string {
	var own []string
	for _, key := range slices.Sorted(maps.Keys(a.Widths)) {
		own = append(own, fmt.Sprintf(", %s over %d", quote.Text(key), a.Widths[key]))
	}
	for _, prefix := range slices.Sorted(maps.Keys(a.Prefixes)) {
		own = append(own, fmt.Sprintf(", keys that begin with %s over %d", quote.Text(prefix), a.Prefixes[prefix]))
	}
	more := ""
	if n := len(own) - maxNamed; n > 0 {
		own, more = own[:maxNamed], fmt.Sprintf(" and %d more", n)
	}
	where := ""
	if a.Table != "" {
		where = ", in table " + a.Table
	}
	return a.Layout.String() + where + strings.Join(own, "") + more
}

// maxNamed is how many keys and prefixes a text names.
const maxNamed = 5

// Stage is how far the move of a movable collection has come, by the collection's record. The stages of a move are split, closed,
// settling, sweeping and settled. The way back is split, back, returned and settled. A move to a layout that refuses keys which the
// present one takes is announced before it is split. Mover.Back withdraws that.
type Stage struct {
	Name       string    `json:"stage"`
	Generation int64     `json:"generation"` // of the record: each change adds 1
	Since      time.Time `json:"since"`
	Until      time.Time `json:"until,omitzero"` // when the next stage may begin; zero if that does not depend on the time

	Now    Arrangement  `json:"now"`              // where items are, or were when the move began
	Next   *Arrangement `json:"next,omitempty"`   // where they move to, or are to move to
	Former *Arrangement `json:"former,omitempty"` // where they were before the last move, until somebody finishes it

	Does string `json:"does"`           // what the stage means, for people
	Then string `json:"then,omitempty"` // the name of the stage that follows
	Why  string `json:"why,omitempty"`  // what was noted with the last change
	By   string `json:"by,omitempty"`

	// Rests says why the next stage cannot begin, however long the mover waits. Until is zero then. Only Mover.Stage fills it in.
	Rests string `json:"rests,omitempty"`
}

// The names of stages.
const (
	stageSettled   = "settled"
	stageAnnounced = "announced"
	stageSplit     = "split"
	stageClosed    = "closed"
	stageSettling  = "settling"
	stageSweeping  = "sweeping"
	stageBack      = "back"
	stageReturned  = "returned"
)

// nameOfStage returns the name of a stage, and what it means.
func nameOfStage(s forward.Stage) (name, does string) {
	switch {
	case s.Phase == forward.Split:
		return stageSplit, "items move to their new homes; requests that know nothing of the move may still arrive"
	case s.Phase == forward.Closed:
		return stageClosed, "the last items move; nothing is written to old homes any more"
	case s.Phase == forward.Settling:
		return stageSettling, "all items are in their new homes; marks are left in the old ones, for requests that arrive late"
	case s.Phase == forward.Back:
		return stageBack, "items return to their old homes"
	case s.Trace == forward.Deads:
		return stageSweeping, "only marks of deleted items are left"
	case s.Trace == forward.Returned:
		return stageReturned, "all items are back in their old homes; marks are left in the new ones"
	}
	return stageSettled, "nothing moves"
}

// stageOf returns the stage that a record is in.
func stageOf(r *passage.Record) Stage {
	s := Stage{Generation: r.Generation, Since: time.UnixMilli(r.At).UTC(), Now: arrangementOf(r.Now), Why: r.Why, By: r.By}
	s.Name, s.Does = nameOfStage(r.Stage)
	if r.Announced != nil {
		s.Name, s.Next, s.Until = stageAnnounced, new(arrangementOf(*r.Announced)), s.Since.Add(quietTime)
		s.Does = "nothing moves yet; programs refuse keys that the new layout does not take, unless the move is withdrawn (--back)"
	}
	if r.Next != nil {
		s.Next = new(arrangementOf(*r.Next))
	}
	if r.Former != nil {
		s.Former = new(arrangementOf(*r.Former))
	}
	_, then, waits := follows(r, false)
	if r.List() && r.Stage.Phase == forward.Closed {
		s.Does = "new items are appended to the new shards; requests that append to old ones may still arrive, and the last items move then"
	}
	if s.Name != stageSettled {
		s.Then, _ = nameOfStage(then)
	}
	if waits {
		s.Until = s.Since.Add(passage.Wait)
	}
	return s
}

// follows returns what is to be done at the stage of a record, and the stage behind it. waits says that it must wait before that.
func follows(r *passage.Record, waited bool) (chore forward.Chore, then forward.Stage, waits bool) {
	chore, then, ok := r.Follows(waited)
	return chore, then, !ok
}

// Moving reports whether a move is under way, there or back, or is announced.
func (s Stage) Moving() bool { return s.Name != stageSettled }

// String returns the stage in a few words, with the time that it waits for.
func (s Stage) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s since %s: %s", s.Name, s.Since.Format(time.DateTime), s.Does)
	if s.Then != "" {
		fmt.Fprintf(&b, "; %s comes next", s.Then)
	}
	if !s.Until.IsZero() {
		fmt.Fprintf(&b, ", not before %s", s.Until.Format(time.DateTime))
	}
	return b.String()
}
