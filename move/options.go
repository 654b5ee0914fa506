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
	// ErrUnsupported is wrapped when the collection cannot be moved: it has no Index, the index's partition key is not a
	// string, or its table is a global table.
	ErrUnsupported = errors.New("move not supported")

	// ErrOldWriters is wrapped when items keep appearing in old places although they were moved: some program still writes an
	// old layout.
	ErrOldWriters = errors.New("programs still write an old layout")

	// ErrDamage is wrapped when the move is through, and items are left: in places that no given layout explains or two
	// explain differently, or because DynamoDB refuses to change them. It is also wrapped when the move stops because DynamoDB
	// refuses 1,000 items.
	ErrDamage = errors.New("items are in places that no layout explains")
)

// Options say what is moved, and how fast.
type Options struct {
	// Collection is the collection as all programs open it now: its Layout, Widths or Adaptive is where items are moved to. Its
	// Index is required. Its Retry.Timeout limits each request of the mover, by default to 30 s.
	Collection heatsink.Options

	// From are the layouts that items are moved from. A layout in time buckets is allowed here. Default: Collection.Older.
	From []layout.Layout

	// Key limits the move to one logical key, Prefix to the keys that begin with it. The whole table is read all the same.
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

// validate returns everything that is wrong at once, except for what heatsink.Open finds.
func (o *Options) validate() error {
	if o.Collection.Index.Name == "" {
		return fmt.Errorf("%w: collection of table %q has no Index, so its items would have to change the table's own key: "+
			"only a collection that an Index lists can be moved; name it in Options.Collection.Index", ErrUnsupported, o.Collection.Table)
	}
	var errs []error
	wrong := func(format string, args ...any) {
		errs = append(errs, fmt.Errorf("%w: "+format, append([]any{heatsink.ErrOptions}, args...)...))
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
	return errors.Join(errs...)
}
