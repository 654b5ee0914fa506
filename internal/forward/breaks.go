package forward

// Breaks are the rules that are left out. The zero value leaves out none, and is the only one for production: package check
// shows for each rule that leaving it out gives a wrong answer. Some conditions of requests are no rules here, because the
// waits make them hold: they keep mistakes of people from doing harm.
type Breaks struct {
	// Of requests.
	Unfenced      bool // writes over an item that has moved on
	DeadExists    bool // a Create takes a dead item for one that exists
	DeadLives     bool // an Update takes a dead item for a live one
	RealDelete    bool // a Delete in the new home leaves nothing
	CopyOver      bool // a copy replaces what the new home has
	PutCreatesOld bool // a Put creates an item in the old home of a split key
	DropAnyDead   bool // drops whatever there is, as a dead item
	ReturnOver    bool // gives back over an item that has not moved on

	// Of operations.
	RemoveCopies bool // a Remove by a process that does not know of the move removes copies
	BlindRead    bool // returns an item that has moved on as it stands
	NoStub       bool // creates in the new home without a stub in the old one
	CreateOld    bool // creates in the old home of a split key
	ClosedBlind  bool // creates in the new home of a closed key without a look at the old one
	NoHelp       bool // does not copy what is frozen before it acts in the new home
	UpsertBlind  bool // an Upsert does not
	UpsertNoStub bool // an Upsert of a new id puts no stub
	FrozenAbsent bool // takes a frozen item for a stub
	OldAbsent    bool // takes an id that the old home does not have for absent
	NoFollow     bool // does not look again for a stub whose new home was read before
	SettlingReal bool // a Delete of a settling key leaves nothing
	Bury         bool // a Delete of an absent id leaves a dead item

	// Of moves.
	CopyFirst      bool // copies, and freezes then
	StripFirst     bool // strips before it copies
	ReturnUncopied bool // returns a frozen item without copying it
	ReturnUnfrozen bool // returns without marking the new home

	// Of stages.
	CloseEarly    bool // closes a key while requests of before may arrive
	OldPass       bool // takes a pass that began before the key was closed for one that shows it is moved
	DropEarly     bool // drops stubs while requests of before may arrive
	SweepEarly    bool // drops dead items while the key is settling
	SweepAtOnce   bool // drops dead items as soon as the key is settled
	ReturnEarly   bool // gives back while requests of before may arrive
	DropBackEarly bool // drops the marks of the way back while requests of before may arrive

	// Of leases.
	NoLease    bool // sends requests of a stage that has expired
	MoverLease bool // a mover does
	ShortWait  bool // takes a stage for expired while its late requests may arrive
}
