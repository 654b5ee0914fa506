package forward

import "fmt"

// Act is what a request does to one item.
type Act uint8

// The acts. Each is one request with a condition, which returns the item if the condition fails.
const (
	// Read reads the item with strong consistency, unless it is Eventual.
	Read Act = iota
	// Write does what the user asks for, if the item has not moved on. An absent item and a dead one are the same to the user.
	Write
	// WriteExisting is Write if the home has an item that is live or dead. Of a Create it is the re-insert of a dead item.
	WriteExisting
	// Kill is the user's Delete, which leaves a dead item.
	Kill
	// WriteOwn is the user's Remove, if the item was put here, or was copied here by a generation that the operation knows of.
	WriteOwn
	// PutStub puts a stub if the home has nothing, or a dead item.
	PutStub
	// Freeze marks a live item as moved on and returns its content.
	Freeze
	// Copy puts content if the home has nothing, not even a dead item.
	Copy
	// Strip replaces a frozen item by a stub.
	Strip
	// DropStub deletes a stub. A frozen item stays: its content may be nowhere else.
	DropStub
	// DropDead deletes a dead item.
	DropDead
	// FreezeBack marks a live item of the new home as on its way back, and returns the content.
	FreezeBack
	// MarkBack puts the mark of the way back where the new home has nothing, or a dead item. No request could do it together with
	// FreezeBack: an expression cannot tell an absent item from one that has a key and nothing else.
	MarkBack
	// Return replaces a frozen item or a stub by the content that comes back.
	Return
	// ReturnNothing deletes a frozen item or a stub: nothing comes back.
	ReturnNothing
	// DropBack deletes an item that is marked as on its way back.
	DropBack
	// Thaw makes a frozen item live again. Only a ListMove does that: see there.
	Thaw
)

var actNames = [...]string{
	"read", "write", "write existing", "kill", "write own", "put stub", "freeze", "copy", "strip", "drop stub", "drop dead",
	"freeze back", "mark back", "return", "return nothing", "drop back", "thaw",
}

// String returns the act in lower case.
func (a Act) String() string {
	if int(a) < len(actNames) {
		return actNames[a]
	}
	return fmt.Sprintf("Act(%d)", uint8(a))
}

// Request is one request for one item.
type Request[C any] struct {
	Home    Home
	Act     Act
	Content C // of Copy and Return
	// Generation is that of the ledger: a Copy carries it, and a WriteOwn knows of copies up to it.
	Generation uint64
	// Eventual allows a Read of an operation to be eventually consistent, if its user wants no more. Only the home of a settled key is
	// read so: a replica that lags behind shows an earlier item or a mark, which a strong read then explains.
	Eventual bool
}

// Answer is what became of a request.
type Answer[C any] struct {
	Done bool // the condition held
	// Slot is the item that a Read has found, or what a Freeze or a FreezeBack has made of it. If the condition did not hold, it is
	// the item that it did not hold for. Machines do not look at it after any other request that is done.
	Slot Slot[C]
}

// Kind is what a user asks for.
type Kind uint8

// The kinds. Package express tells which one a request of DynamoDB is.
const (
	Get    Kind = iota
	List        // a Get by a Query of all shards, which reads both homes in any order
	Put         // the whole item, whatever there is; the user does not learn what there was
	Create      // a new item, if there is none
	Update      // if there is an item
	Upsert      // a new item, or a change of one for which the condition holds
	Swap        // a change of an item that is there and for which the condition holds; not a Delete
	Delete      // of an item that is there and for which the condition holds

	// Items that are never found by id, as those of a list, are appended and removed only. Each has a sort key of its own, and may be
	// in any shard: so operations look at both homes in every phase, and nothing has to be kept from being created.
	Append // a new item, which is the only one with its sort key
	Remove
	Scan // a List of such items
)

var kindNames = [...]string{"get", "list", "put", "create", "update", "upsert", "swap", "delete", "append", "remove", "scan"}

// reads reports whether a kind changes nothing.
func (k Kind) reads() bool { return k == Get || k == List || k == Scan }

// String returns the kind in lower case.
func (k Kind) String() string {
	if int(k) < len(kindNames) {
		return kindNames[k]
	}
	return fmt.Sprintf("Kind(%d)", uint8(k))
}

// User is what an operation does to content.
type User[C any] struct {
	Kind  Kind
	Holds func(C) bool            // the condition of an Upsert, a Swap or a Delete on an item that is there; nil: it holds
	Write func(old C, had bool) C // the new content; not of a Delete
}

// holds reports whether the condition holds for an item that is there.
func (u User[C]) holds(c C) bool { return u.Holds == nil || u.Holds(c) }

// Apply returns what a request makes of a slot, and whether its condition held. It is the specification for those who write the
// requests as expressions.
func Apply[C any](r Request[C], u User[C], s Slot[C], b *Breaks) (Slot[C], bool) {
	next, ok := apply(r, u, s, b)
	if !ok && !(r.Act == Kill && b.Bury && s.State == Absent) {
		return s, false
	}
	return next, ok
}

// apply is Apply, except that it also returns a next slot if the condition does not hold.
func apply[C any](r Request[C], u User[C], s Slot[C], b *Breaks) (Slot[C], bool) {
	live, fenced := s.State == Live, s.State.Forwarded() && !b.Unfenced
	switch r.Act {
	case Read:
		return s, true
	case Write:
		return write(u, s, !fenced, b)
	case WriteExisting:
		there := live || s.State == Dead || b.PutCreatesOld && r.Home == Old && s.State == Absent
		if u.Kind == Create {
			there = s.State == Dead
		}
		return write(u, s, there && !fenced, b)
	case Kill:
		if live && b.RealDelete {
			return Slot[C]{}, u.holds(s.Content)
		}
		return Slot[C]{State: Dead}, live && u.holds(s.Content)
	case WriteOwn:
		return Slot[C]{}, live && u.holds(s.Content) && (s.Copied <= r.Generation || b.RemoveCopies)
	case PutStub:
		return Slot[C]{State: Stub}, s.State.empty()
	case Freeze:
		return Slot[C]{State: Frozen, Content: s.Content}, live
	case Copy:
		return Slot[C]{State: Live, Content: r.Content, Copied: r.Generation}, s.State == Absent || b.CopyOver
	case Strip:
		return Slot[C]{State: Stub}, s.State == Frozen
	case DropStub:
		return Slot[C]{}, s.State == Stub
	case DropDead:
		return Slot[C]{}, s.State == Dead || b.DropAnyDead
	case FreezeBack:
		return Slot[C]{State: Leaving, Content: s.Content}, live
	case MarkBack:
		return Slot[C]{State: Left}, s.State.empty()
	case Return:
		return Slot[C]{State: Live, Content: r.Content}, s.State == Frozen || s.State == Stub || b.ReturnOver
	case ReturnNothing:
		return Slot[C]{}, s.State == Frozen || s.State == Stub || b.ReturnOver
	case DropBack:
		return Slot[C]{}, s.State == Leaving || s.State == Left
	case Thaw:
		return Slot[C]{State: Live, Content: s.Content, Copied: s.Copied}, s.State == Frozen
	}
	return s, false
}

// write does what the user asks for, if it is allowed here.
func write[C any](u User[C], s Slot[C], allowed bool, b *Breaks) (Slot[C], bool) {
	live := s.State == Live
	switch u.Kind {
	case Put:
	case Upsert:
		allowed = allowed && (!live || u.holds(s.Content))
	case Create, Append:
		allowed = allowed && (s.State == Absent || s.State == Dead && !b.DeadExists)
	case Update:
		allowed = allowed && (live || s.State == Dead && b.DeadLives)
	case Swap:
		allowed = allowed && live && u.holds(s.Content)
	case Delete, Remove:
		return Slot[C]{}, allowed && live && u.holds(s.Content)
	}
	if !allowed {
		return s, false
	}
	return Slot[C]{State: Live, Content: u.Write(s.Content, live)}, true
}
