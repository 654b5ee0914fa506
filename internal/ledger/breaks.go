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

	// Of causal and eventual reads.
	IgnoreAtLeast bool // takes any cached width for good enough
	KeepForever   bool // an eventual read uses its cached width however old it is

	// Of the view.
	MergeOlder   bool // the last answer replaces what is known, even if it is older
	AcceptLoss   bool // a ledger that went back is not reported
	IgnoreStamps bool // the generations that items carry are not looked at

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

	// Of writes.
	Repick         bool // chooses another shard after an unknown outcome
	ForgetPin      bool // chooses another shard once a throttle follows on an unknown outcome
	AckUnknown     bool // acknowledges a write whose outcome is unknown
	StampZero      bool // a write says that it was made at generation 0
	BeyondOwnWidth bool // writes to one shard more than the ledger says
}
