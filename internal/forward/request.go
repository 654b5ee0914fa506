package forward

import "fmt"

// Act is what a request does to one item.
type Act uint8

// The acts. Each is one request with a condition, which returns the item if the condition fails.
const (
	// Read reads the item with strong consistency.
	Read Act = iota
	// Write does what the user asks for, if the item has not moved on. An absent item and a dead one are the same to the user.
	Write
	// WriteExisting is Write if the home has an item that is live or dead. Of a Create it is the re-insert of a dead item.
	WriteExisting
	// Kill is the user's Delete, which leaves a dead item.
	Kill
	// PutStub puts a stub if the home has nothing, or a dead item.
	PutStub
	// Freeze marks a live item as moved on and returns its content.
	Freeze
	// Copy puts content if the home has nothing, not even a dead item.
	Copy
	// Strip replaces a frozen item by a stub.
	Strip
	// DropStub deletes an item that has moved on.
	DropStub
	// DropDead deletes a dead item.
	DropDead
	// FreezeBack marks whatever the new home has as on its way back, and returns the content.
	FreezeBack
	// Return replaces an item that has moved on by the content that comes back.
	Return
	// ReturnNothing deletes an item that has moved on: nothing comes back.
	ReturnNothing
	// DropBack deletes an item that is marked as on its way back.
	DropBack
)

var actNames = [...]string{
	"read", "write", "write existing", "kill", "put stub", "freeze", "copy", "strip", "drop stub", "drop dead",
	"freeze back", "return", "return nothing", "drop back",
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
}

// Answer is what became of a request.
type Answer[C any] struct {
	Done bool    // the condition held
	Slot Slot[C] // Read: the item. Freeze, FreezeBack: what the item is now. Else what it was before
}

// Kind is what a user asks for.
type Kind uint8

// The kinds.
const (
	Get    Kind = iota
	List        // a Get by a Query of all shards, which reads both homes in any order
	Put         // the whole item, whatever there is
	Create      // Put if there is none
	Update      // if there is an item
	Upsert      // Update, or a new item
	Swap        // Put, Update or Delete with a condition on an item that is there
	Delete
)

var kindNames = [...]string{"get", "list", "put", "create", "update", "upsert", "swap", "delete"}

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
	Holds func(C) bool            // the condition of a Swap
	Write func(old C, had bool) C // the new content; not of a Delete
}

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
			return Slot[C]{}, true
		}
		return Slot[C]{State: Dead}, live
	case PutStub:
		return Slot[C]{State: Stub}, s.State.empty()
	case Freeze:
		return Slot[C]{Frozen, s.Content}, live
	case Copy:
		return Slot[C]{Live, r.Content}, s.State == Absent || b.CopyOver
	case Strip:
		return Slot[C]{State: Stub}, s.State == Frozen
	case DropStub:
		return Slot[C]{}, s.State.Forwarded()
	case DropDead:
		return Slot[C]{}, s.State == Dead || b.DropAnyDead
	case FreezeBack:
		if live {
			return Slot[C]{Leaving, s.Content}, true
		}
		return Slot[C]{State: Left}, s.State != Leaving && s.State != Left
	case Return:
		return Slot[C]{Live, r.Content}, s.State.Forwarded() || b.ReturnOver
	case ReturnNothing:
		return Slot[C]{}, s.State.Forwarded() || b.ReturnOver
	case DropBack:
		return Slot[C]{}, s.State == Leaving || s.State == Left
	}
	return s, false
}

// write does what the user asks for, if it is allowed here.
func write[C any](u User[C], s Slot[C], allowed bool, b *Breaks) (Slot[C], bool) {
	live := s.State == Live
	switch u.Kind {
	case Put, Upsert:
	case Create:
		allowed = allowed && (s.State == Absent || s.State == Dead && !b.DeadExists)
	case Update:
		allowed = allowed && (live || s.State == Dead && b.DeadLives)
	case Swap:
		allowed = allowed && live && u.Holds(s.Content)
	case Delete:
		return Slot[C]{}, allowed && live
	}
	if !allowed {
		return s, false
	}
	return Slot[C]{Live, u.Write(s.Content, live)}, true
}
