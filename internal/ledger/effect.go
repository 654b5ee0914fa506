package ledger

import "time"

// Effect is something that a machine wants done. Effects that a machine returns together are started at once.
type Effect interface{ effect() }

// ReadLedger reads the ledger's item. Its answer is a LedgerRead with the same ReadLedger in it.
type ReadLedger struct {
	Strong bool      // with strong consistency, 1 RCU; else 0.5
	Sent   time.Time // when the machine asked for it; the request is sent then or later
	Floor  int64     // a generation that was certainly stored before Sent
}

// WriteLedger stores a record, in place of the one there is. Its answer is a LedgerWritten. Both conditions are part of
// the request.
//
// The generation alone would do as long as the ledger is never lost. After a loss it counts from 1 again, and a request
// that was sent before and arrives late may find the generation that it asks for. Then Most keeps it from hiding shards.
type WriteLedger struct {
	Record Record
	If     int64 // the generation that must be stored; 0: nothing must be
	Most   int   // the stored read width must be at most this; 0: any
	Any    bool  // whatever is stored; only a broken rule asks for it
}

// ReadShards reads the shards from From to To-1. Its answers are one ShardRead for each shard.
type ReadShards struct {
	From, To int
	Strong   bool
}

// GetItem looks for an item by its id in one shard. Its answer is an ItemRead.
type GetItem struct {
	Shard  int
	Strong bool
}

// ProbeShards looks for items in the shards below To, one in each, with strong consistency. Its answer is a ShardsProbed.
type ProbeShards struct{ To int }

// SendItem sends a write to a shard. The item carries Stamp, the generation that its writer knew. Its answer is an ItemSent.
type SendItem struct {
	Shard int
	Stamp int64
}

func (ReadLedger) effect()  {}
func (WriteLedger) effect() {}
func (ReadShards) effect()  {}
func (GetItem) effect()     {}
func (ProbeShards) effect() {}
func (SendItem) effect()    {}

// Event says what became of an effect.
type Event interface{ event() }

// LedgerRead is the answer to a ReadLedger. Record is Absent if nothing is stored. Err says why there is no record: the
// request failed, or Parse refused what is stored.
type LedgerRead struct {
	Asked  ReadLedger
	Record Record
	Err    error
}

// LedgerWritten is the answer to a WriteLedger. If the outcome is Refused, Record is what is stored, Absent if nothing is.
type LedgerWritten struct {
	Outcome  Outcome
	Record   Record
	Unparsed error // with Refused: why Parse refuses what is stored, nil if it does not
	Err      error // why, unless the outcome is Done
}

// ShardRead says that a shard was read, or a page of it. Stamp is the largest that the items carry, 0 if none does. Err
// says why it could not be read; no More follows on an error.
type ShardRead struct {
	Shard int
	Stamp int64
	More  bool // the operation needs more pages of this shard, each with a ShardRead of its own
	Err   error
}

// ItemRead is the answer to a GetItem. Stamp is the item's, 0 if it carries none. Err says why it is not known whether the
// item is there.
type ItemRead struct {
	Shard int
	Found bool
	Stamp int64
	Err   error
}

// ShardsProbed is the answer to a ProbeShards. Err says why a shard could not be probed.
type ShardsProbed struct {
	Largest int   // the largest shard that has an item, -1 if none has
	Stamp   int64 // the largest stamp of the items that were seen
	Err     error
}

// ItemSent is the answer to a SendItem.
type ItemSent struct {
	Outcome Outcome
	Err     error // why, unless the outcome is Done
}

func (LedgerRead) event()    {}
func (LedgerWritten) event() {}
func (ShardRead) event()     {}
func (ItemRead) event()      {}
func (ShardsProbed) event()  {}
func (ItemSent) event()      {}

// Outcome is what an answer says about a write.
type Outcome uint8

// The outcomes. The zero value is Unknown, which promises least.
const (
	Unknown   Outcome = iota // it may have happened, or may yet: a timeout, a lost connection, a 5xx
	Done                     // it happened
	Refused                  // it did not, as its condition does not hold
	Throttled                // it did not, and may be tried again
	Failed                   // it did not, for another reason; trying again does not help
)
