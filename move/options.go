package move

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/heatsink-go/heatsink"
	"github.com/heatsink-go/heatsink/internal/passage"
	"github.com/heatsink-go/heatsink/layout"
	"github.com/heatsink-go/heatsink/plan"
)

// Client is the part of *dynamodb.Client that a mover uses.
type Client interface {
	heatsink.Client
	heatsink.Scanner
	DescribeTable(context.Context, *dynamodb.DescribeTableInput, ...func(*dynamodb.Options)) (*dynamodb.DescribeTableOutput, error)
	DescribeContinuousBackups(context.Context, *dynamodb.DescribeContinuousBackupsInput, ...func(*dynamodb.Options)) (*dynamodb.DescribeContinuousBackupsOutput, error)
	DescribeTimeToLive(context.Context, *dynamodb.DescribeTimeToLiveInput, ...func(*dynamodb.Options)) (*dynamodb.DescribeTimeToLiveOutput, error)
}

// Errors of a move. Others are those of package heatsink and of the SDK.
var (
	// ErrUnsupported is wrapped when the collection cannot be moved: it has neither an Index nor Movable, the partition key that is spread is
	// not a string, or its table is a global table. Movable collections have more reasons: see docs/moving.md.
	ErrUnsupported = errors.New("move not supported")

	// ErrOldWriters is wrapped when items keep appearing in old places although they were moved: some program still writes an
	// old layout.
	ErrOldWriters = errors.New("programs still write an old layout")

	// ErrDamage is wrapped when the move is through, and items are left: in places that no given layout explains or two
	// explain differently, or because DynamoDB refuses to change them. It is also wrapped when the move stops because DynamoDB
	// refuses 1,000 items.
	ErrDamage = errors.New("items are in places that no layout explains")

	// ErrStage is wrapped when the stage of a movable collection's move does not allow what was asked for: a move to somewhere else while one
	// is in progress, going back from a move that is closed, or finishing one that is not over. The error says what is in progress.
	ErrStage = errors.New("the stage of the move does not allow it")
)

// Options say what is moved, and how fast.
type Options struct {
	// Collection is the collection as all programs open it now. It has an Index or Movable. With an Index, its Layout, Widths or Adaptive is
	// where items are moved to. With Movable, they are where the collection's record says, and move to To. Its Retry.Timeout limits each
	// request of the mover, by default to 30 s.
	Collection heatsink.Options

	// To is the layout that the items of a movable collection are moved to, with the same Strategy. For keys without shards it is
	// layout.Layout{Strategy: layout.Calculated}, also for a list. It may have buckets if Collection.EventTime is the sort key.
	// Default: the present layout if there are Widths or Prefixes, or what is in progress.
	To layout.Layout

	// Widths gives single keys of a movable collection their own number of shards. Without To, only the items of these keys move, and only
	// their shards are read.
	Widths map[string]int

	// Prefixes gives all keys of a movable collection that begin with a prefix their own number of shards, those that come later included.
	// The longest prefix counts for a key, and Widths before it. Without To, only the items of these keys move. DynamoDB cannot
	// look for a prefix of keys, so each pass reads the whole table.
	Prefixes map[string]int

	// Into is the name of the table that the items of a movable collection are moved into, in the same account and region, with the same
	// key attributes. The collection is one of items that are found by id, without a ControlTable. To is the layout there, by default the
	// present one. To move the items back, name the table of the Collection. Default: they stay in their table.
	Into string

	// Wait makes Run and Back wait until the stages of a move may end, which takes an hour for each of three. Default: they go as far as
	// they can, and say in Result.Stage when to go on.
	Wait bool

	// From are the layouts that items are moved from. A layout in time buckets is allowed here. Default: Collection.Older.
	From []layout.Layout

	// Key limits the move of listed items to one logical key, Prefix to the keys that begin with it. The whole table is read all the same.
	// Default: all keys.
	Key, Prefix string

	// RCU and WCU are the most read and write units to use per second, those of indexes included. A mover that is throttled
	// slows down by itself, and becomes faster again. Default: 1,000 each.
	RCU, WCU float64

	// Segments is the number of parts of the table that are read at the same time, 64 at most. Default: 8.
	Segments int

	// Prices are those of the Forecast's dollars. Default: plan.USEast1.
	Prices plan.Prices

	// Progress is called about once a second while Run and Verify work, never concurrently. Default: nobody is told.
	Progress func(Progress)

	// Logger receives warnings: items that appear in old places behind the mover, and a checkpoint that is ignored. Default:
	// Collection.Logger, or no logging.
	Logger *slog.Logger
}

const (
	defaultUnits    = 1000
	maxUnits        = 1e6
	defaultSegments = 8
	maxSegments     = 64 // a checkpoint with two keys of the largest size for each stays below 400 KB
)

func (o Options) withDefaults() Options {
	if len(o.From) == 0 {
		o.From = o.Collection.Older
	}
	o.From = slices.Clone(o.From)
	o.RCU, o.WCU = cmp.Or(o.RCU, defaultUnits), cmp.Or(o.WCU, defaultUnits)
	o.Segments = cmp.Or(o.Segments, defaultSegments)
	o.Collection.Retry.Timeout = cmp.Or(o.Collection.Retry.Timeout, answerTime)
	if o.Prices == (plan.Prices{}) {
		o.Prices = plan.USEast1()
	}
	o.Logger = cmp.Or(o.Logger, o.Collection.Logger, slog.New(slog.DiscardHandler))
	if o.Collection.Adaptive != nil {
		o.Collection.Layout.Format.BareZero = true // as heatsink.Open has it
	}
	return o
}

// varies reports whether some keys are given their own number of shards.
func (o *Options) varies() bool { return len(o.Widths)+len(o.Prefixes) > 0 }

// validate returns everything that is wrong at once, except for what heatsink.Open finds.
func (o *Options) validate() error {
	if o.Collection.Index.Name == "" && !o.Collection.Movable {
		return fmt.Errorf("%w: collection of table %q has neither an Index nor Movable, so its programs would not find items whose own key changes: "+
			"name the index in Options.Collection.Index, or set Movable in all programs and in Options.Collection", ErrUnsupported, o.Collection.Table)
	}
	var errs []error
	wrong := func(format string, args ...any) {
		errs = append(errs, fmt.Errorf("%w: "+format, append([]any{heatsink.ErrOptions}, args...)...))
	}
	if o.Collection.Movable {
		o.validateMovable(wrong)
	} else {
		o.validateListed(wrong)
	}
	for _, r := range []struct {
		name  string
		units float64
	}{{"RCU", o.RCU}, {"WCU", o.WCU}} {
		if !(r.units >= 1 && r.units <= maxUnits) { // NaN is neither
			wrong("%s is %v, want 1 to 1,000,000 units per second", r.name, r.units)
		}
	}
	if o.Segments < 1 || o.Segments > maxSegments {
		wrong("Segments is %d, want 1 to %d", o.Segments, maxSegments)
	}
	return errors.Join(errs...)
}

// validateMovable reports what is wrong with the options of a movable collection.
func (o *Options) validateMovable(wrong func(format string, args ...any)) {
	if len(o.From) > 0 {
		wrong("From is set, but the record of a movable collection says where its items are: leave From out")
	}
	if o.Key != "" || o.Prefix != "" {
		wrong("Key is %q and Prefix is %q, but a movable collection moves as a whole: leave them out; to move some keys, name them in Widths or Prefixes", o.Key, o.Prefix)
	}
	if err := o.To.Validate(); err != nil {
		wrong("To: %w", err)
	}
	switch list := o.Collection.Layout.Strategy == layout.Random; {
	case o.To.Shards == 0, o.To.Strategy == o.Collection.Layout.Strategy:
	case list:
		wrong("To is %q, but Options.Collection.Layout is Random, so that the collection is a list: set To.Strategy to layout.Random. "+
			"If programs find items by id, set Collection.Layout.Strategy to layout.Calculated, as they have it", o.To.String())
	default:
		wrong("To is %q, and items are found by id in a Calculated layout: set To.Strategy to layout.Calculated", o.To.String())
	}
	if c := &o.Collection; o.To.Bucket != layout.NoBucket && (c.EventTime.Attribute == "" || c.EventTime.Attribute != c.SortKey) {
		wrong("To has a bucket for every %v and Collection.EventTime is %q, but items are found by their sort key alone: "+
			"name the sort key %q in EventTime, if it begins with the time; else leave the bucket out", o.To.Bucket, c.EventTime.Attribute, c.SortKey)
	}
	switch c := &o.Collection; {
	case o.Into == "":
	case c.Layout.Strategy == layout.Random:
		wrong("Into is %q, but the collection is a list, and a list does not move into another table: leave Into out", o.Into)
	case c.ControlTable != "":
		wrong("Into is %q, but the collection has the ControlTable %q, and its record must be beside its items: leave one of the two out", o.Into, c.ControlTable)
	case o.varies() && o.To == (layout.Layout{}):
		wrong("Into is %q, which moves all keys, but Widths or Prefixes without To moves only some: give To as well, or leave one of the two out", o.Into)
	default:
		if err := (passage.Arrangement{Table: o.Into}).Validate(); err != nil {
			wrong("Into: %w", err)
		}
	}
	for key, n := range o.Widths {
		if n < 1 || n > layout.MaxShards {
			wrong("Widths has %d shards for key %q, want 1 to %d", n, key, layout.MaxShards)
		}
	}
	for prefix, n := range o.Prefixes {
		if n < 1 || n > layout.MaxShards {
			wrong("Prefixes has %d shards for prefix %q, want 1 to %d", n, prefix, layout.MaxShards)
		}
	}
}

// validateListed reports what is wrong with the options of a collection that an index lists.
func (o *Options) validateListed(wrong func(format string, args ...any)) {
	if o.To != (layout.Layout{}) || o.varies() || o.Wait || o.Into != "" {
		wrong("To, Widths, Prefixes, Into or Wait is set, which are for movable collections: items that an index lists move to Collection.Layout, and nothing has to wait")
	}
	if o.Key != "" && o.Prefix != "" {
		wrong("Key is %q and Prefix is %q: set only one of them", o.Key, o.Prefix)
	}
	if len(o.From) == 0 {
		wrong("there is no layout to move from: name the old layouts in From, or in Collection.Older; for keys without shards, []layout.Layout{{}}")
	}
	for i, l := range o.From {
		if err := l.Validate(); err != nil {
			wrong("From[%d]: %w", i, err)
		}
		if c := &o.Collection; l == c.Layout && c.Widths == nil && c.Adaptive == nil && c.Index.ShardAttribute == "" {
			wrong("From[%d] is the layout that the collection has now (%s): name the layout that it had before", i, l)
		}
	}
}
