package move

import (
	"time"

	"github.com/heatsink-go/heatsink/internal/figure"
)

// Report is how the items of a collection lie, in one pass over the table.
type Report struct {
	Scanned int64 `json:"scanned"` // items that were looked at
	Listed  int64 `json:"listed"`  // those with the index's partition key, of the wanted keys

	// Unlisted are those of Listed that the index does not list yet, because they lack its sort key. They are moved as well, so that
	// readers find them when they get one.
	Unlisted int64 `json:"unlisted"`

	Right    int64 `json:"right"`    // where the present layout puts them
	Narrower int64 `json:"narrower"` // where it put them when their keys had fewer shards: readers find them

	Old         int64 `json:"old"`         // where an older layout has them
	Misplaced   int64 `json:"misplaced"`   // in another shard of the present layout than the calculated one
	Beyond      int64 `json:"beyond"`      // in a shard of the present layout that readers do not read
	Unexplained int64 `json:"unexplained"` // under keys that no given layout explains, or without what their place is calculated from

	// Ambiguous items may be of two logical keys: TENANT#3 is a key without shards, and shard 3 of TENANT in another layout.
	// A mover never changes them. Items that are Right either way are not counted.
	Ambiguous int64 `json:"ambiguous"`

	// Items of movable collections, which are found by their ids, and may be in one of two homes while they move.
	Waiting  int64 `json:"waiting,omitempty"`  // of Right, items that have yet to move
	Doubled  int64 `json:"doubled,omitempty"`  // live in both homes, or one of two items of a list with one sort key
	Stranded int64 `json:"stranded,omitempty"` // live in a home that nobody reads any more
	Lost     int64 `json:"lost,omitempty"`     // ids whose content is only where nobody reads it
	Marks    int64 `json:"marks,omitempty"`    // items with marks that heatsink does not write, or not at this stage
	Leftover int64 `json:"leftover,omitempty"` // marks of a move that is over
	Blocked  int64 `json:"blocked,omitempty"`  // items under keys that the new layout refuses, in its places, or that DynamoDB does not let change

	Others int64 `json:"others,omitempty"` // with Counters, items that have the attribute and are of no counter

	// Findings are the first items of each kind but Right and Narrower, 10 of each. Those that the first pass of a Run moved
	// are not among them.
	Findings []Finding `json:"findings,omitempty"`
}

// Damaged returns the number of items that are neither Right nor Narrower.
func (r Report) Damaged() int64 {
	return r.Old + r.Misplaced + r.Beyond + r.Unexplained + r.Ambiguous + r.Doubled + r.Stranded + r.Lost + r.Marks + r.Leftover + r.Blocked
}

// tell counts an item of a movable collection by the kind of its finding.
func (r *Report) tell(kind string) {
	switch kind {
	case kindDoubled:
		r.Doubled++
	case kindStranded:
		r.Stranded++
	case kindLost:
		r.Lost++
	case kindMarks:
		r.Marks++
	case kindLeftover:
		r.Leftover++
	case kindRefused, kindOccupied:
		r.Blocked++
	case misplaced.String():
		r.Misplaced++
	case unexplained.String():
		r.Unexplained++
	}
}

// Finding is an item that is not where the present layout has it.
type Finding struct {
	// Kind is old, misplaced, beyond, unexplained, ambiguous, or refused for an item that could not be changed. Movable collections also
	// have doubled, stranded, lost, marks, leftover and occupied. Counters have missing, late, refused and unexplained.
	Kind   string `json:"kind"`
	Key    string `json:"key"` // the item's key in the table
	Stored string `json:"stored"`
	Table  string `json:"table,omitempty"` // that has the item, if it is not that of the collection
	Want   string `json:"want,omitempty"`  // "" if nothing says where it belongs
	Why    string `json:"why,omitempty"`
}

// maxFindings is how many items of a kind are named.
const maxFindings = 10

// add counts an item, and names it.
func (r *Report) add(v verdict, key string) {
	r.count(v)
	r.name(v, key)
}

func (r *Report) count(v verdict) {
	r.Listed++
	if v.bare {
		r.Unlisted++
	}
	switch v.kind {
	case right:
		r.Right++
	case narrower:
		r.Narrower++
	case old:
		r.Old++
	case misplaced:
		r.Misplaced++
	case beyond:
		r.Beyond++
	case ambiguous:
		r.Ambiguous++
	default:
		r.Unexplained++
	}
}

// name makes an item that is not where it belongs one of the findings.
func (r *Report) name(v verdict, key string) {
	if v.kind != right && v.kind != narrower {
		r.find(Finding{Kind: v.kind.String(), Key: key, Stored: v.stored, Want: v.want, Why: v.why})
	}
}

func (r *Report) find(f Finding) {
	n := 0
	for i := range r.Findings {
		if r.Findings[i].Kind == f.Kind {
			n++
		}
	}
	if n < maxFindings {
		r.Findings = append(r.Findings, f)
	}
}

// Forecast is what a move will do and cost.
type Forecast struct {
	Items   int64 `json:"items"` // in the table
	Bytes   int64 `json:"bytes"`
	Sampled int64 `json:"sampled"` // items that were looked at; the rest is inferred from them
	Exact   bool  `json:"exact"`   // all items were

	Listed      int64 `json:"listed"`      // items of the collection's index and of the wanted keys
	Moves       int64 `json:"moves"`       // items to be moved
	MovesMargin int64 `json:"movesMargin"` // how far off Moves may be, either way, in 19 of 20 samples; 0 if Exact
	Misplaced   int64 `json:"misplaced"`   // of Moves, items in another shard of the present layout than the calculated one
	Unexplained int64 `json:"unexplained"` // items that would stay where they are: see Report.Beyond and Report.Unexplained
	Ambiguous   int64 `json:"ambiguous"`   // items that would stay because they may be of two keys: see Report.Ambiguous

	ReadUnits   float64       `json:"readUnits"`   // two passes over the table, the second strongly consistent
	WriteUnits  float64       `json:"writeUnits"`  // of the table and its indexes
	IndexUnits  float64       `json:"indexUnits"`  // those of WriteUnits that are the indexes'
	SampleUnits float64       `json:"sampleUnits"` // read units that this forecast took
	Dollars     float64       `json:"dollars"`     // on demand, at Options.Prices
	Duration    time.Duration `json:"nanoseconds"` // at Options.RCU and Options.WCU

	// Of movable collections:
	Blocked int64         `json:"blocked,omitempty"`         // items that keep the move from beginning: see Findings
	Passes  int           `json:"passes,omitempty"`          // passes that are left; ReadUnits has them all
	Waits   time.Duration `json:"waitNanoseconds,omitempty"` // how long the stages have to last beside Duration, at least, from now on
	Stage   Stage         `json:"stage,omitzero"`

	// To is where items move to, with the keys that keep a number of shards of their own. It is nil if they stay where they are, and for items
	// that an index lists.
	To *Arrangement `json:"to,omitempty"`

	// PointInTimeRecovery is "on", "off", or "unknown" if nobody may ask or the engine does not tell.
	PointInTimeRecovery string `json:"pointInTimeRecovery"`

	// Resumes says that a checkpoint of this move is there: Run goes on from it. Moves, WriteUnits and
	// IndexUnits are those that are left, and ReadUnits are those of two whole passes all the same.
	Resumes bool `json:"resumes"`

	Findings []Finding `json:"findings,omitempty"` // the first items that would not be moved
	Notes    []string  `json:"notes,omitempty"`    // for people: what the figures depend on
}

// Result is what a move did.
type Result struct {
	// Report is how the items lay in the last pass, as far as it came. Items in old places were moved in that pass, too.
	Report

	Moved   int64 `json:"moved"`   // items that this run moved
	Late    int64 `json:"late"`    // of these, items that appeared in an old place behind the mover: some program still writes there
	Refused int64 `json:"refused"` // items that DynamoDB would not let change, such as those of 400 KB; they are among the Findings
	Passes  int   `json:"passes"`
	Resumed bool  `json:"resumed"` // the run went on from a checkpoint

	ReadUnits  float64       `json:"readUnits"` // consumed by this run
	WriteUnits float64       `json:"writeUnits"`
	IndexUnits float64       `json:"indexUnits"` // those of WriteUnits that are the indexes'
	Dollars    float64       `json:"dollars"`
	Throttles  int64         `json:"throttles"`
	Took       time.Duration `json:"nanoseconds"`

	Forecast Forecast `json:"forecast"` // what was expected

	// Of movable collections:
	Stage   Stage  `json:"stage,omitzero"`    // how far the move has come; Stage.Until is when to go on
	Done    bool   `json:"done"`              // the move is over, and nothing is left of it
	Dropped int64  `json:"dropped,omitempty"` // marks that were removed
	Rests   string `json:"rests,omitempty"`   // why the move cannot go on from its split stage, which may last for ever; "" if it can
}

// Progress is how far a Run or Verify is.
type Progress struct {
	Pass       int           `json:"pass"`
	Scanned    int64         `json:"scanned"` // items in this pass
	Of         int64         `json:"of"`      // about how many there are
	Moved      int64         `json:"moved"`   // by this run
	Late       int64         `json:"late"`
	ReadUnits  float64       `json:"readUnits"` // by this run
	WriteUnits float64       `json:"writeUnits"`
	Throttles  int64         `json:"throttles"`
	RCU        float64       `json:"rcu"` // the rates that are used at most at present, per second
	WCU        float64       `json:"wcu"`
	Elapsed    time.Duration `json:"elapsedNanoseconds"`
	Left       time.Duration `json:"leftNanoseconds"` // of this pass, about; 0 if unknown

	Stage string    `json:"stage,omitempty"` // of a movable collection
	Until time.Time `json:"until,omitzero"`  // what the mover waits for; zero if it works
}

// Share returns how much of the pass is done, from 0 to 1.
func (p Progress) Share() float64 {
	if p.Of == 0 {
		return 0
	}
	return min(float64(p.Scanned)/float64(p.Of), 1)
}

// oldWriters returns what to say about items that appeared behind the mover.
func oldWriters(late int64, resumed bool) string {
	text := figure.Count(late, "item") + " appeared in old places behind the mover: some program still writes an old layout, " +
		"or the mover's layout is not that of the programs (number of shards, Format, Hash, ShardBy); find out which, make them equal, and run the move again"
	if resumed {
		text += ", unless the checkpoint that this run began with was wrong"
	}
	return text
}
