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

// Options describe a Store. Only Table is required. All processes of an application should use the same options. Idle,
// MaxAge, TouchEvery and Settle may differ, and so may Shards while it grows.
type Options struct {
	// Table is the table's name.
	Table string

	// Idle is how long a session lives without a touch. Default: 30 minutes. WithIdle sets it for one session.
	Idle time.Duration

	// MaxAge is the longest life of a session, however often it is touched. Default: no limit. WithMaxAge sets it for
	// one session.
	MaxAge time.Duration

	// TouchEvery is the smallest extension of the expiry that a touch writes, at most half of the session's Idle. A
	// session in use may therefore end up to TouchEvery before it has been idle for Idle. Default: a tenth of the
	// session's Idle. Negative: every touch is written, at most one per second.
	TouchEvery time.Duration

	// Shards is the number of index keys over which sessions are listed. A key serves 1,000 write units per second, and
	// a touch costs two. To raise the number, raise it first in processes that list. To lower it, lower it first in
	// processes that create, and in those that list once the sessions of the other shards have ended. Default: 25.
	//
	// With Adaptive, it is the number that there was before, and those keys are read besides. Default: none.
	Shards int

	// Adaptive makes the number of index keys follow the load, see heatsink.Adaptive. A touch lists its session anew, so
	// that a list that has grown spreads by itself. Default: none; there are always Shards.
	Adaptive *heatsink.Adaptive

	// StrictRevocation makes RevokeUser exact, as described there. It adds one strongly consistent read to Get, Visit,
	// Touch, Update, Change and Create of sessions with a user. It can be enabled at any time, but must be enabled in
	// all processes before RevokeUser is called. After such a call, a session that a process without it creates for the
	// user is not found by processes with it.
	StrictRevocation bool

	// Settle is how long RevokeUser waits, without StrictRevocation, before it looks again for sessions that the index
	// did not list at first. Default: one second. Negative: it looks only once.
	Settle time.Duration

	// PlainIDs stores ids as they are, and handles are then ids. Anybody who can read the table, a backup, or an error
	// in a log can use the sessions. Default: the table stores the SHA-256 of the id, in base64 for URLs.
	PlainIDs bool

	// Names are the names of attributes and indexes.
	Names Names

	// TokenKeys sign the tokens of Page. The first key signs and all keys verify, so that keys can be rotated. Each has
	// 16 bytes or more. Tokens are not encrypted: a user can read the handle and the expiry of a page's last session;
	// with PlainIDs the handle is the id. Default: tokens are checked for damage, not for forgery.
	TokenKeys [][]byte

	// Retry configures retries.
	Retry heatsink.Retry

	// Logger gets a warning for each failed touch of Visit, and a debug message for each retry. Messages contain
	// handles, never ids. Default: none.
	Logger *slog.Logger
}

// Names are the names of the table's attributes and indexes. An empty name has its default.
type Names struct {
	ID      string // the partition key, which holds the handle; default: id
	List    string // the shard of the list; default: list
	User    string // default: user
	Expires string // the expiry, in seconds since 1970; default: expires
	TTL     string // DynamoDB's time to live, an hour after the expiry; default: ttl
	Until   string // the latest possible expiry, in seconds since 1970; default: until
	Created string // in seconds since 1970; default: created
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
	if o.Adaptive == nil {
		o.Shards = cmp.Or(o.Shards, defaultShards)
	}
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
		return fmt.Errorf("is %v, want one second to a hundred years", d)
	}
	return nil
}

func checkMaxAge(d time.Duration) error {
	if d != 0 && (d < time.Second || d > longest) {
		return fmt.Errorf("is %v, want one second to a hundred years, or 0 for no limit", d)
	}
	return nil
}
