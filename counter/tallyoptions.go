package counter

import (
	"cmp"
	"errors"
	"fmt"
	"log/slog"
	"math"

	"github.com/heatsink-go/heatsink"
	"github.com/heatsink-go/heatsink/internal/dispatch"
	"github.com/heatsink-go/heatsink/internal/schema"
	"github.com/heatsink-go/heatsink/layout"
)

// Mode says what a Tally does when the answer to an increment is lost.
type Mode uint8

const (
	// AtLeastOnce sends the increment again, so it may be counted twice. The SDK does the same by itself.
	AtLeastOnce Mode = iota

	// AtMostOnce does not send it again. The error wraps ErrUncertain.
	AtMostOnce

	// Transaction sends every increment as a transaction. DynamoDB recognises a repeated transaction for ten minutes,
	// so the increment is counted once, at twice the price. Concurrent transactions on the same shard conflict with
	// each other.
	Transaction
)

// TallyOptions describe a Tally. Only Table is required. The other defaults are common names of existing tables.
type TallyOptions struct {
	// Table is the table's name or ARN.
	Table string

	// PartitionKey and SortKey name the table's key attributes, both strings. Defaults: "pk", and no sort key.
	PartitionKey, SortKey string

	// SortValue is the sort key of the items, if the table has a sort key. Default: "COUNT".
	SortValue string

	// Attribute is the name of the number attribute. Default: "count".
	Attribute string

	// Shards is the number of items of a counter. All processes must use the same number. To raise it, raise it in
	// readers first. Default: 10.
	Shards int

	// Format is the spelling of the items' keys. Default: VIEWS#SHARD_0.
	Format layout.Format

	// Mode says what happens if an answer is lost. Default: AtLeastOnce.
	Mode Mode

	// Eventual makes reads eventually consistent, at half the price.
	Eventual bool

	// Retry configures retries. The default of its Timeout is 2 seconds here. Transactions have no retry budget unless
	// Budget or Burst is set.
	Retry heatsink.Retry

	// Logger gets a debug message for each retry. Default: none.
	Logger *slog.Logger
}

func (o TallyOptions) withDefaults() TallyOptions {
	o.PartitionKey = cmp.Or(o.PartitionKey, "pk")
	if o.SortKey != "" {
		o.SortValue = cmp.Or(o.SortValue, "COUNT")
	}
	o.Attribute = cmp.Or(o.Attribute, "count")
	o.Shards = cmp.Or(o.Shards, 10)
	o.Retry.Timeout = cmp.Or(o.Retry.Timeout, defaultTimeout)
	return o
}

// transactions says how transactions are repeated. Those on the same item are in each other's way, which is no overload that
// a budget would have to end.
func (o TallyOptions) transactions() dispatch.Retry {
	r := dispatch.Retry(o.Retry)
	if r.Budget == 0 && r.Burst == 0 {
		r.Budget, r.Burst = 1, math.MaxInt32
	}
	return r
}

// validate returns everything that is wrong with options that have their defaults.
func (o TallyOptions) validate() error {
	var errs []error
	wrong := func(format string, args ...any) {
		errs = append(errs, fmt.Errorf("%w: "+format, append([]any{heatsink.ErrOptions}, args...)...))
	}
	if o.Table == "" {
		wrong("Table is empty")
	}
	if err := schema.CheckNames(o.PartitionKey, o.SortKey, o.Attribute); err != nil {
		wrong("%w", err)
	}
	if o.SortKey == "" && o.SortValue != "" {
		wrong("SortValue is %q, but SortKey is empty", o.SortValue)
	}
	if o.Attribute == o.PartitionKey || o.Attribute == o.SortKey || o.PartitionKey == o.SortKey {
		wrong("PartitionKey, SortKey and Attribute must differ: %q, %q, %q", o.PartitionKey, o.SortKey, o.Attribute)
	}
	if o.Shards < 1 || o.Shards > maxShards {
		wrong("Shards is %d, want 1 to %d", o.Shards, maxShards)
	}
	if o.Mode > Transaction {
		wrong("Mode is %d, want AtLeastOnce, AtMostOnce or Transaction", o.Mode)
	}
	if err := (layout.Layout{Shards: 1, Format: o.Format}).Validate(); err != nil {
		errs = append(errs, err)
	}
	return errors.Join(errs...)
}

func (o TallyOptions) table() schema.Table {
	t := schema.Table{Name: o.Table, Key: schema.Key{Partition: schema.String(o.PartitionKey)}}
	if o.SortKey != "" {
		t.Key.Sort = schema.String(o.SortKey)
	}
	return t
}
