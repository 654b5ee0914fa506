package leaderboard

import (
	"cmp"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/heatsink-go/heatsink"
	"github.com/heatsink-go/heatsink/internal/schema"
	"github.com/heatsink-go/heatsink/layout"
)

// Mode says which score of a player a board keeps.
type Mode uint8

const (
	// Best keeps the highest score. Among equal scores it keeps the earliest, to the nanosecond. Among equal times it
	// keeps the one whose Attributes have the greatest hash. The result, including attributes, does not depend on the
	// order or number of submissions.
	Best Mode = iota
	// Latest keeps the score with the latest time. Among times that are equal to the nanosecond, it keeps the last to
	// arrive. A repeated submission arrives again.
	Latest
	// Sum adds all scores up.
	Sum
)

var modeNames = [...]string{"best", "latest", "sum"}

// String returns the mode's name in lower case.
func (m Mode) String() string {
	if int(m) < len(modeNames) {
		return modeNames[m]
	}
	return fmt.Sprintf("Mode(%d)", uint8(m))
}

// Options describe boards of one kind in a table. Only Table is required. A table may hold boards of several kinds,
// opened with different options. For example, the daily, weekly and all-time boards of a game are three Boards.
type Options struct {
	// Table is the table's name or ARN.
	Table string

	// Index is the name of the global index that lists boards in order. Default: "ranking".
	Index string

	// Shards is the number of keys over which a board's index entries are spread. Each key serves 1,000 new or 500
	// changed entries per second if it has its own partition. Each adds one request to reads. Default: 20. It may be
	// raised later, in all readers before the first writer. It must not be lowered.
	//
	// With Adaptive, it is the number that the boards had before, and those keys are read besides. Default: none.
	Shards int

	// Adaptive makes the number of keys of each board follow its load, see heatsink.Adaptive. A submission lists the
	// player's entry anew, so that a board that has grown spreads by itself. Default: none; there are always Shards.
	Adaptive *heatsink.Adaptive

	// Mode says which score of a player a board keeps. Default: Best.
	Mode Mode

	// Period, if set, gives each name one board per hour, day, week, month or year in UTC, by the time of the
	// submission. Default: one board for all time.
	Period layout.Bucket

	// Retention is how long a board is kept after its Period has ended. Then it reads as empty, and DynamoDB deletes
	// its items later, at no cost. Entries keep the retention that they were written with. Default: forever.
	Retention time.Duration

	// Ahead is how far the time of a submission may be ahead of this machine's clock. Without a limit, one wrong clock
	// could set a Latest score for years. Default: one hour. Negative: no limit.
	Ahead time.Duration

	// EventTTL is how long the IDs of submissions in mode Sum are remembered. A later submission with the same ID may
	// be counted again. Default: 24 hours. At least 62 minutes, so that no late copy of a request is counted twice.
	// DynamoDB accepts a request up to 15 minutes after it was signed, and the two clocks involved may each be 15
	// minutes off.
	EventTTL time.Duration

	// Names are the names of the attributes.
	Names Names

	// TokenKeys sign page tokens, so that they can be handed to users. The first key signs and all keys verify, so that
	// keys can be rotated. Each has 16 bytes or more. Tokens are not encrypted: a user can read the place, the player
	// and the board of a page's last entry. Default: tokens are checked for damage, not for forgery.
	TokenKeys [][]byte

	// Retry configures retries. Its Budget does not apply to submissions with an ID.
	Retry heatsink.Retry

	// MaxConcurrency is the largest number of concurrent requests of reads. Default: 256.
	MaxConcurrency int

	// Logger gets a debug message for each retry. Default: none.
	Logger *slog.Logger
}

// Names are the names of the attributes that entries consist of.
type Names struct {
	Player  string // the table's partition key, a string: the player. Default: "player"
	Board   string // the table's sort key, a string: the board, with its period. Default: "board"
	Listing string // the index's partition key, a string: the board with its shard. Default: "listing"
	Place   string // the index's sort key, a number: the score, and behind it what decides ties. Default: "place"
	Score   string // a number. Default: "score"
	At      string // the time of the submission that the score is from. Default: "at"
	Mode    string // the board's mode. Default: "mode"
	Total   string // a number that sums need to find their place. Default: "total"
	TTL     string // the table's time to live: when DynamoDB deletes the item. Default: "ttl"
	Hash    string // a hash of a submission's Attributes, if it has any. Default: "attributes_hash"
}

const (
	defaultIndex    = "ranking"
	defaultShards   = 20
	defaultAhead    = time.Hour
	defaultEventTTL = 24 * time.Hour
	defaultTop      = 100

	// minEventTTL is four times the 15 minutes by which a signature may differ from DynamoDB's clock, and some.
	minEventTTL = 62 * time.Minute
)

// anyNumber of requests may read a board: it has as many shards as the options say, and no buckets.
const anyNumber = -1

func (o Options) withDefaults() Options {
	o.Index = cmp.Or(o.Index, defaultIndex)
	if o.Adaptive == nil {
		o.Shards = cmp.Or(o.Shards, defaultShards)
	}
	o.Ahead = cmp.Or(o.Ahead, defaultAhead)
	o.EventTTL = cmp.Or(o.EventTTL, defaultEventTTL)
	o.Names.Player = cmp.Or(o.Names.Player, "player")
	o.Names.Board = cmp.Or(o.Names.Board, "board")
	o.Names.Listing = cmp.Or(o.Names.Listing, "listing")
	o.Names.Place = cmp.Or(o.Names.Place, "place")
	o.Names.Score = cmp.Or(o.Names.Score, "score")
	o.Names.At = cmp.Or(o.Names.At, "at")
	o.Names.Mode = cmp.Or(o.Names.Mode, "mode")
	o.Names.Total = cmp.Or(o.Names.Total, "total")
	o.Names.TTL = cmp.Or(o.Names.TTL, "ttl")
	o.Names.Hash = cmp.Or(o.Names.Hash, "attributes_hash")
	return o
}

// validate returns everything that is wrong with options that have their defaults.
func (o Options) validate() error {
	var faults []error
	wrong := func(format string, args ...any) {
		faults = append(faults, fmt.Errorf("%w: "+format, append([]any{ErrOptions}, args...)...))
	}
	if o.Table == "" {
		wrong("Table is empty")
	}
	if o.Shards < 0 || o.Shards > layout.MaxShards {
		wrong("Shards is %d, want 1 to %d", o.Shards, layout.MaxShards)
	}
	if int(o.Mode) >= len(modeNames) {
		wrong("Mode is %d, want Best, Latest or Sum", uint8(o.Mode))
	}
	if o.Period > layout.Year {
		wrong("Period is %d, want an hour, day, week, month or year", uint8(o.Period))
	}
	if o.Retention < 0 {
		wrong("Retention is %v, want 0 or more", o.Retention)
	}
	if o.EventTTL < minEventTTL {
		wrong("EventTTL is %v, want %v or more: a late copy of a request could be counted twice", o.EventTTL, minEventTTL)
	}
	if o.Retention > 0 && o.Period == layout.NoBucket {
		wrong("Retention is set without a Period: a board for all time does not end")
	}
	if err := schema.CheckNames(o.Names.all()...); err != nil {
		wrong("%w", err)
	}
	seen := make(map[string]bool)
	for _, name := range o.Names.all() {
		if seen[name] {
			wrong("Names: two attributes are named %q", name)
		}
		seen[name] = true
	}
	return errors.Join(faults...)
}

// all returns every name.
func (n Names) all() []string {
	return []string{n.Player, n.Board, n.Listing, n.Place, n.Score, n.At, n.Mode, n.Total, n.TTL, n.Hash}
}

// collection returns the options of the heatsink collection that boards are in.
func (o Options) collection() heatsink.Options {
	fixed := layout.Layout{Shards: o.Shards, Strategy: layout.Calculated}
	c := heatsink.Options{
		Table:          o.Table,
		PartitionKey:   o.Names.Player,
		SortKey:        o.Names.Board,
		Index:          heatsink.Index{Name: o.Index, PartitionKey: o.Names.Listing, SortKey: o.Names.Place},
		Layout:         fixed,
		ShardBy:        []string{o.Names.Player},
		TokenKeys:      o.TokenKeys,
		Retry:          o.Retry,
		MaxConcurrency: o.MaxConcurrency,
		Logger:         o.Logger,
	}
	if o.Adaptive == nil {
		return c
	}
	c.Adaptive, c.Layout.Shards = o.Adaptive, 0
	if o.Shards > 0 {
		c.Older = []layout.Layout{fixed}
	}
	return c
}
