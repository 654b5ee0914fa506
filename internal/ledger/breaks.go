package ledger

// Breaks are the rules that are left out. The zero value leaves out none, and is the only one for production: package sim
// shows for each rule that leaving it out loses or doubles items.
type Breaks struct {
	// Of strong reads.
	TrustCache     bool // reads the cached width alone, not the ledger
	WeakLedger     bool // reads the ledger with eventual consistency
	WeakShards     bool // reads the shards with eventual consistency
	SkipMissing    bool // does not read the shards that the ledger's answer adds
	SkipFailed     bool // takes a shard that could not be read for an empty one
	SkipUnreadable bool // goes on with the cached width if the ledger could not be read
	JoinInFlight   bool // shares a read of the ledger that was sent before the read began
	FirstPageOnly  bool // takes a shard for read once its first page was

	// Of Gets by id.
	OneHome      bool // looks at the home of the present width alone
	BelievesMiss bool // takes an id for absent if the homes of the cached width do not have it

	// Of causal and eventual reads.
	IgnoreAtLeast bool // takes any cached width for good enough
	KeepForever   bool // an eventual read uses its cached width however old it is

	// Of pages.
	IgnoreTokenWidth bool // resumes with fewer shards than the page before has read

	// Of the view.
	MergeOlder   bool // the last answer replaces what is known, even if it is older
	AcceptLoss   bool // a ledger that went back is not reported
	IgnoreStamps bool // the generations that items carry are not looked at
	WriteNewer   bool // goes on writing after the ledger turned out to be of a newer version
	ReadNewer    bool // goes on with the cached width then
	DropLate     bool // learns nothing from a ledger that is shown to a read which has ended

	// Of the clock.
	MonotonicOnly bool // does not notice that its machine was suspended
	WallOnly      bool // believes a wall clock that was set back

	// Of growth.
	AnyGeneration   bool // writes the ledger without a condition
	CreateBlindly   bool // creates the ledger without the condition that there is none
	AnyReadWidth    bool // writes the ledger on the condition of its generation alone
	WriteFirst      bool // raises the write width, and leaves the read width for later
	LowerRead       bool // sets the read width to what is asked for, even if it is larger
	SameGeneration  bool // does not raise the generation
	AssumeGrown     bool // takes an unknown outcome for success
	InstallProposal bool // installs its own record when the condition failed
	UseBeforeAck    bool // installs its record when it is sent
	GrowFrozen      bool // grows a key whose widths are frozen
	GrowExisting    bool // a growth that only creates goes on when somebody else has created the ledger

	// Of repairs.
	RepairOverStamps bool // counts on from the stored generation, whatever the items carry
	RepairUnseen     bool // keeps the stored read width, whatever the probe found
	RepairBlindly    bool // writes the ledger without a condition

	// Of writes.
	Repick         bool // chooses another shard after an unknown outcome
	ForgetPin      bool // chooses another shard once a throttle follows on an unknown outcome
	AckUnknown     bool // acknowledges a write whose outcome is unknown
	StampZero      bool // a write says that it was made at generation 0
	BeyondOwnWidth bool // writes to one shard more than the ledger says
}
