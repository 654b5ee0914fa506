package heatpage

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/heatsink-go/heatsink/heat"
	"github.com/heatsink-go/heatsink/internal/round"
)

// Round is what a page shows at a time: a heat.Report and, where somebody knows them, the partitions behind it and the numbers of
// those that have a key (Homes).
type Round = round.Round

// Options configure a Page.
type Options struct {
	// Source returns what was seen so far. Its totals grow from round to round, as those of a heat.Recorder do. It is never called
	// twice at a time. See Of, and ErrEnded.
	Source func(context.Context) (Round, error)

	// Title is the heading. Default: heatsink.
	Title string

	// Every is the time between rounds, 100 ms to 10 s. Default: a second.
	Every time.Duration

	// Rows is the number of keys of each direction of a table or index that have rows of their own; the coldest of more keys share
	// one row. Default: 500. Source should list as many, see heat.Options.Top.
	Rows int

	Rules   heat.Rules    // of findings
	Layouts []heat.Layout // how keys of shards are spelt, beside those that reports know

	// Ledger returns the ledger of a key of an adaptive collection, without one its zero value. The page asks for the hottest 20 keys
	// that are in shards: when their shards change, and every 15 seconds. With heatsink.Ledgers that costs a read unit each:
	//
	//	l, err := collection.Ledgers().Show(ctx, key, time.Now())
	//	return heatpage.Ledger(l), err
	Ledger func(ctx context.Context, of heat.Resource, key string) (Ledger, error)

	// Redact appends to dst the text that the page shows in place of a key; see heat.Hashed. Default: keys are shown.
	Redact func(dst, key []byte) []byte

	// Token must be given by whoever opens the page: as ?token=… or as a bearer token. Without one, the page answers to loopback
	// addresses only, and to none that a proxy forwards for.
	Token string

	// Hosts are the host names by which the page may be opened, beside localhost and IP addresses. Another name is refused: a web
	// page could have pointed it here.
	Hosts []string
}

// ErrEnded is wrapped by the error of a Source that has come to its end, or pauses, as it was meant to. The page says so calmly, and
// shows what it has.
var ErrEnded = errors.New("ended")

// Of returns a Source of a recorder. The page lists as many keys as its reports do: see heat.Options.Top.
func Of(recorder *heat.Recorder) func(context.Context) (Round, error) {
	return func(context.Context) (Round, error) { return Round{Report: recorder.Report()}, nil }
}

func (o *Options) validate() error {
	var faults []error
	if o.Source == nil {
		faults = append(faults, errors.New("Options.Source is missing: give heatpage.Of(recorder), or a function of your own"))
	}
	if o.Every != 0 && (o.Every < 100*time.Millisecond || o.Every > 10*time.Second) {
		faults = append(faults, fmt.Errorf("Options.Every is %v: want 100ms to 10s", o.Every))
	}
	if o.Rows < 0 || o.Rows > 10_000 {
		faults = append(faults, fmt.Errorf("Options.Rows is %d: want 1 to 10,000, or 0 for 500", o.Rows))
	}
	if o.Token != "" && len(o.Token) < 8 {
		faults = append(faults, errors.New("Options.Token has fewer than 8 characters: give a longer one"))
	}
	return errors.Join(faults...)
}

func (o *Options) defaults() {
	o.Title = cmp.Or(o.Title, "heatsink")
	o.Every = cmp.Or(o.Every, time.Second)
	o.Rows = cmp.Or(o.Rows, 500)
}

// reason is what the page says of an error. Errors quote keys, so with Redact only the error's code is shown.
func (o *Options) reason(err error) string {
	if o.Redact == nil {
		return err.Error()
	}
	if errors.Is(err, ErrEnded) {
		return "the source has ended"
	}
	if coded := (interface{ ErrorCode() string })(nil); errors.As(err, &coded) {
		return coded.ErrorCode() + ", the rest is hidden, because it may name keys"
	}
	return "an error that is hidden, because it may name keys"
}
