package move

import (
	"fmt"

	"github.com/heatsink-go/heatsink/internal/forward"
	"github.com/heatsink-go/heatsink/internal/passage"
	"github.com/heatsink-go/heatsink/internal/place"
)

// diagnosis is what was read about one id while the record stayed the same.
type diagnosis struct {
	record passage.Record
	item   place.Item // what lies where the pass has found something; nil if nothing does any more
	odd    error
	at     located
	here   forward.State // of item

	twin            string        // of a list: another shard with an item of this sort key, "" if there is none
	first, old, new forward.State // of the homes: the new one was read before the old one and behind it
}

// kind returns what is wrong, "" if nothing is.
func (d *diagnosis) kind() (kind, why string) {
	phase := d.record.Stage.Phase
	switch {
	case len(d.item) == 0:
		return "", ""
	case d.odd != nil:
		return kindMarks, d.odd.Error()
	case d.at.spot == atUnknown:
		return unexplained.String(), d.at.why
	case d.at.spot == astray:
		return misplaced.String(), d.at.why
	case d.record.List():
		return d.inList()
	case d.at.spot == atBoth && d.here == forward.Live:
		return "", ""
	case d.at.spot == atBoth && d.here == forward.Dead && d.record.Stage.Trace == forward.Deads:
		return "", ""
	case d.at.spot == atBoth:
		return kindLeftover, fmt.Sprintf("it is %v, and its id has one home only", d.here)
	case d.first == forward.Live && d.old == forward.Live && d.new == forward.Live:
		old, new := d.at.homes()
		return kindDoubled, fmt.Sprintf("it is live in both homes, %s and %s: find out which one is right, and delete the other", old, new)
	}
	if phase != forward.Settled && d.first == forward.Dead && d.old == forward.Live && d.new == forward.Dead {
		return kindStranded, "it is live in its old home, but its new one says that it was deleted, so nobody finds it: a program that ignores the record has written it"
	}
	switch phase {
	case forward.Settled:
		return d.settled()
	case forward.Settling:
		switch {
		case d.old == forward.Live:
			return kindStranded, "it is live in its old home, which nobody reads any more: a program that ignores the record has written it"
		case d.old == forward.Frozen && d.new == forward.Absent:
			return kindLost, "its content is in the old home only, which nobody reads any more"
		}
	case forward.Back:
		if d.first == forward.Live && d.new == forward.Live && !d.old.Forwarded() {
			return kindStranded, "it is live in its new home, and its old one does not say so: nobody finds it"
		}
	}
	switch {
	case d.old == forward.Dead || d.old == forward.Leaving || d.old == forward.Left || d.new == forward.Frozen || d.new == forward.Stub:
		return kindMarks, fmt.Sprintf("its homes are %v and %v, which no stage of a move has", d.old, d.new)
	case phase != forward.Back && (d.new == forward.Leaving || d.new == forward.Left):
		return kindMarks, fmt.Sprintf("its new home is %v, but nothing goes back", d.new)
	}
	return "", ""
}

// settled judges an item of which nothing moves at present: what is left of the last move, or of one that went back.
func (d *diagnosis) settled() (kind, why string) {
	home, unused := d.new, d.old
	used := d.at.spot == atNew
	if d.record.Next != nil { // it went back
		home, unused = d.old, d.new
		used = d.at.spot == atOld
	}
	trace := d.record.Stage.Trace
	switch {
	case used && (home == forward.Live || home == forward.Absent), !used && unused == forward.Absent:
		return "", ""
	case used && home == forward.Dead && trace == forward.Deads:
		return "", ""
	case !used && trace == forward.Returned && (unused == forward.Leaving || unused == forward.Left):
		return "", ""
	case !used && unused == forward.Live:
		return kindStranded, "it is live in a home that nobody reads: a program that ignores the record has written it"
	case home == forward.Absent && (unused == forward.Frozen || unused == forward.Leaving):
		return kindLost, "its content is in a home that nobody reads"
	case used && (home == forward.Frozen || home == forward.Stub) && unused == forward.Absent:
		return kindLost, fmt.Sprintf("it is %v, but no other home has it", home)
	}
	return kindLeftover, fmt.Sprintf("it is %v, and the move is over", d.here)
}
