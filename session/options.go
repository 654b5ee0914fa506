package session

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

// Options describe a Store. Table is all that is needed. All processes of an application should use the same; Idle,
// MaxAge, TouchEvery and Settle may differ, and Shards may while they grow.
type Options struct {
	// Table is the table's name.
	Table string

	// Idle is how long a session lives without being touched. Default: 30 minutes. WithIdle sets it for one session.
	Idle time.Duration

	// MaxAge is how long a session lives at most, however often it is touched. Default: for ever. WithMaxAge sets it
	// for one session.
	MaxAge time.Duration

	// TouchEvery is by how much a touch has to move the expiry to be written, half of the session's Idle at most. So
	// a session that is used may end up to TouchEvery before it has been idle for Idle. Default: a tenth of the
	// session's Idle. Negative: every touch is written, if it is in another second than the last.
	TouchEvery time.Duration

	// Shards is over how many keys of the index the sessions are listed. A key takes 1,000 write units a second, of
	// which a touch needs two. More shards may be given at any time, to those who list first; fewer to those who
	// create first, and to those who list when the sessions of the other shards are over. Default: 25.
	Shards int

	// StrictRevocation makes RevokeUser exact: see there. It costs Get, Visit, Touch, Update, Change and Create of
	// sessions with a user one more strongly consistent read. It can be turned on at any time, but in all processes
	// before RevokeUser is called; once that was called, sessions that a process without it creates for the user are
	// not found by those with it.
	StrictRevocation bool

	// Settle is how long RevokeUser waits, without StrictRevocation, before it looks for sessions that the index did
	// not list at first. Default: one second. Negative: it looks once.
	Settle time.Duration

	// PlainIDs stores ids as they are: then handles are ids, and whoever can read the table, a backup, or an error in
	// a log can use its sessions. Default: the SHA-256 of the id is stored, in base64 as URLs have it.
	PlainIDs bool

	// Names are those of attributes and indexes.
	Names Names

	// TokenKeys sign the tokens of Page: the first signs, and all verify, so that keys can be rotated. Each has 16 bytes or
	// more. Tokens are not encrypted: the handle and the expiry of a page's last session can be read; with PlainIDs the
	// handle is the id. Default: tokens are checked for damage, not for forgery.
	TokenKeys [][]byte

	// Retry says how requests are repeated.
	Retry heatsink.Retry

	// Logger is told of touches by Visit that failed, as a warning, and at debug level of requests that are repeated.
	// It is told handles, never ids. Default: nobody.
	Logger *slog.Logger
}

// Names are those of the table's attributes and indexes. Those that are empty have their defaults.
type Names struct {
	ID      string // the partition key, with the handle; default: id
	List    string // the shard of the list; default: list
	User    string // default: user
	Expires string // when the session ends, in seconds since 1970; default: expires
	TTL     string // DynamoDB's time to live, an hour later; default: ttl
	Until   string // when it ends at the latest, in the same unit; default: until
	Created string // in the same unit; default: created
	Idle    string // in seconds; default: idle
	Version string // default: version
	Data    string // default: data

	ListIndex string // the index by List and Expires; default: living
	UserIndex string // the index by User and Expires; default: byUser
}

const (
	defaultIdle   = 30 * time.Minute
	defaultShards = 25
	defaultSettle = time.Second
)

// anyNumber of requests may read the list: it has as many shards as the options say, and no buckets.
const anyNumber = -1

func (o Options) withDefaults() Options {
	o.Idle = cmp.Or(o.Idle, defaultIdle)
	o.Shards = cmp.Or(o.Shards, defaultShards)
	o.Settle = cmp.Or(o.Settle, defaultSettle)
	o.Names = o.Names.withDefaults()
	o.Logger = cmp.Or(o.Logger, slog.New(slog.DiscardHandler))
	return o
}

func (n Names) withDefaults() Names {
	return Names{
		ID:        cmp.Or(n.ID, "id"),
		List:      cmp.Or(n.List, "list"),
		User:      cmp.Or(n.User, "user"),
		Expires:   cmp.Or(n.Expires, "expires"),
		TTL:       cmp.Or(n.TTL, "ttl"),
		Until:     cmp.Or(n.Until, "until"),
		Created:   cmp.Or(n.Created, "created"),
		Idle:      cmp.Or(n.Idle, "idle"),
		Version:   cmp.Or(n.Version, "version"),
		Data:      cmp.Or(n.Data, "data"),
		ListIndex: cmp.Or(n.ListIndex, "living"),
		UserIndex: cmp.Or(n.UserIndex, "byUser"),
	}
}

// validate returns everything that is wrong with options that have their defaults. What is wrong with Retry and
// TokenKeys is found by heatsink.
func (o Options) validate() error {
	var faults []error
	wrong := func(format string, args ...any) {
		faults = append(faults, fmt.Errorf("%w: "+format, append([]any{ErrOptions}, args...)...))
	}
	if o.Table == "" {
		wrong("Table is empty")
	}
	if err := checkIdle(o.Idle); err != nil {
		wrong("Idle %w", err)
	}
	if err := checkMaxAge(o.MaxAge); err != nil {
		wrong("MaxAge %w", err)
	}
	if o.Shards < 0 || o.Shards > layout.MaxShards {
		wrong("Shards is %d, want 1 to %d", o.Shards, layout.MaxShards)
	}
	names := o.Names.attributes()
	if err := schema.CheckNames(names...); err != nil {
		wrong("%w", err)
	}
	for i, name := range names {
		for _, other := range names[:i] {
			if name == other {
				wrong("two attributes are named %q", name)
			}
		}
	}
	if o.Names.ListIndex == o.Names.UserIndex {
		wrong("both indexes are named %q", o.Names.ListIndex)
	}
	return errors.Join(faults...)
}

func (n Names) attributes() []string {
	return []string{n.ID, n.List, n.User, n.Expires, n.TTL, n.Until, n.Created, n.Idle, n.Version, n.Data}
}

// longest is the most that Idle and MaxAge can be: beyond it is a mistake.
const longest = 100 * 365 * 24 * time.Hour

func checkIdle(d time.Duration) error {
	if d < time.Second || d > longest {
		return fmt.Errorf("is %v, want a second to a hundred years", d)
	}
	return nil
}

func checkMaxAge(d time.Duration) error {
	if d != 0 && (d < time.Second || d > longest) {
		return fmt.Errorf("is %v, want a second to a hundred years, or 0 for none", d)
	}
	return nil
}
