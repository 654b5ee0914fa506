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

// Mode says what a player's score is.
type Mode uint8

const (
	// Best is the highest score submitted; of equal ones the earliest, to the nanosecond; of those with the same time,
	// the one whose Attributes have the greatest hash. So the outcome, attributes included, is the same in whatever
	// order and however often submissions arrive.
	Best Mode = iota
	// Latest is the score with the latest time; of those with the same time, to the nanosecond, the last to arrive. A
	// repetition arrives again.
	Latest
	// Sum is all scores added up.
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

// Options describe boards of one kind in a table. Table is all that is needed. Boards of other kinds may be in the same
// table, opened with other options: a game's boards of the day, the week and all time are three Boards.
type Options struct {
	// Table is the table's name or ARN.
	Table string

	// Index is the name of the global index that lists boards in order. Default: "ranking".
	Index string

	// Shards is over how many keys a board's listing is spread. Each takes 1,000 new or 500 changed entries a second,
	// if it has a partition for itself, and makes reads dearer by a request. Default: 20. It may be raised later, in
	// all readers before the first writer; it must not be lowered.
	Shards int

	// Mode says what a player's score is. Default: Best.
	Mode Mode

	// Period, if set, gives a board of the same name for every hour, day, week, month or year in UTC, by the time of
	// the submission. Default: one board for all time.
	Period layout.Bucket

	// Retention is how long a board is kept after its Period has ended. Then it reads as empty, and DynamoDB deletes
	// its items, at no cost, in its own time. Entries keep the retention they were written with. Default: for ever.
	Retention time.Duration

	// Ahead is how far ahead of this machine's clock the time of a submission may be: one wrong clock could otherwise
	// put a Latest score for years. Default: one hour. Negative: any time.
	Ahead time.Duration

	// EventTTL is how long the IDs of submissions in mode Sum are remembered: one that arrives later with the same ID may
	// be counted again. Default: 24 hours. At least 62 minutes, so that no request can arrive later that was sent once
	// and repeated by the network: DynamoDB takes a request up to 15 minutes from the time that it was signed at, and
	// the clocks of those who sign and who remember may each be 15 minutes off.
	EventTTL time.Duration

	// Names are the names of the attributes.
	Names Names

	// TokenKeys sign page tokens, so that they can be handed to people: the first signs, and all verify, so that keys can
	// be rotated. Each has 16 bytes or more. Tokens are not encrypted: the place, the player and the board of a page's last
	// entry can be read. Default: tokens are checked for damage, not for forgery.
	TokenKeys [][]byte

	// Retry says how requests are repeated. The Budget does not apply to submissions with an ID.
	Retry heatsink.Retry

	// MaxConcurrency is the most requests that reads have under way. Default: 256.
	MaxConcurrency int

	// Logger is told at debug level about each request that is repeated. Default: nobody.
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
	o.Shards = cmp.Or(o.Shards, defaultShards)
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
		wrong("there may be 1 to %d Shards, not %d", layout.MaxShards, o.Shards)
	}
	if int(o.Mode) >= len(modeNames) {
		wrong("unknown Mode %d", uint8(o.Mode))
	}
	if o.Period > layout.Year {
		wrong("unknown Period %d", uint8(o.Period))
	}
	if o.Retention < 0 {
		wrong("Retention cannot be negative: %v", o.Retention)
	}
	if o.EventTTL < minEventTTL {
		wrong("EventTTL is %v, want %v or more: a request that is late by less could be counted twice", o.EventTTL, minEventTTL)
	}
	if o.Retention > 0 && o.Period == layout.NoBucket {
		wrong("Retention needs a Period: a board for all time does not end")
	}
	if err := schema.CheckNames(o.Names.all()...); err != nil {
		wrong("%w", err)
	}
	seen := make(map[string]bool)
	for _, name := range o.Names.all() {
		if seen[name] {
			wrong("Names: two attributes are called %q", name)
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
	return heatsink.Options{
		Table:          o.Table,
		TableKey:       []string{o.Names.Player, o.Names.Board},
		Index:          o.Index,
		PartitionKey:   o.Names.Listing,
		SortKey:        o.Names.Place,
		Layout:         layout.Layout{Shards: o.Shards, Strategy: layout.Calculated},
		ShardBy:        []string{o.Names.Player},
		TokenKeys:      o.TokenKeys,
		Retry:          o.Retry,
		MaxConcurrency: o.MaxConcurrency,
		Logger:         o.Logger,
	}
}
