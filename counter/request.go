package counter

// The protocol is in machines that do no I/O: an owner writes a slot, a fold makes slots part of the base, a sweep
// removes what was folded, a reading adds everything up. A machine says which request it wants sent and is told the
// answer. So the code that runs against DynamoDB is the code whose every interleaving is explored in protocol_test.go.

// operation is what a request does.
type operation uint8

const (
	readBase   operation = iota // read the base
	listSlots                   // read all slots of the first width shards
	readAtOnce                  // read the base and some slots as they are at one moment
	raiseBase                   // raise the base's level and width, unless they are above
	openSlot                    // create an empty slot, unless there is one of that name
	flushSlot                   // set the total of a slot that is there, not frozen, and has a smaller seq
	freezeSlot                  // freeze a slot that is there, and read it
	includeIDs                  // add to the base's sum, unless it has one of the ids included or another version
	deleteSlot                  // delete a slot that is frozen
	unlistIDs                   // take ids out of those included, and raise the version
	resetBase                   // add to the base's sum and raise the version, unless it has another version
	readOrigin                  // read the attribute that has the counts of before
	importBase                  // set what the base has of that attribute, unless it has another number of imports
)

// request is one request to DynamoDB about one counter.
type request struct {
	operation operation
	id        slotID // the slot
	total     amount // flushSlot
	seq       int64
	ids       []slotID
	sum       sum   // includeIDs, resetBase
	version   int64 // that the base must have
	level     level // raiseBase
	width     int   // listSlots, raiseBase
	token     string
	origin    bool  // readAtOnce: that attribute, too
	imports   int64 // importBase: the number that the base must have
	imported  wide
}

// outcome is what became of a request.
type outcome uint8

const (
	done    outcome = iota
	refused         // its condition does not hold: it did not happen and will not
	failed          // it did not happen and will not, for another reason
	unknown         // it may have happened, or may still
)

// answer is what came of a request.
type answer struct {
	outcome outcome
	err     error // unless it is done or refused

	// lost is set if it is refused, and an earlier attempt at it had an unknown outcome.
	lost bool

	base  base   // readBase, readAtOnce; what stood against a write of the base that is refused
	slot  *slot  // freezeSlot; what stood against it if flushSlot or deleteSlot is refused, nil if there is no such slot
	slots []slot // listSlots, readAtOnce

	origin *wide // readOrigin, readAtOnce: nil if there is no such attribute
}
