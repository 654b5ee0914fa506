package leaderboard

import (
	"context"
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/heatsink-go/heatsink"
	"github.com/heatsink-go/heatsink/internal/direct"
	"github.com/heatsink-go/heatsink/internal/dispatch"
	"github.com/heatsink-go/heatsink/layout"
)

// Client is the part of *dynamodb.Client that boards use. Pass the SDK's client, or a wrapper of it.
type Client interface {
	heatsink.Client
	TransactWriteItems(context.Context, *dynamodb.TransactWriteItemsInput, ...func(*dynamodb.Options)) (*dynamodb.TransactWriteItemsOutput, error)
}

// Boards are the boards of one kind in a table. Its methods, and those of its boards, may be called concurrently.
//
// Operations add what they cost to the meters of their context, see heatsink.WithMeter.
type Boards struct {
	options Options
	client  Client
	sender  *dispatch.Dispatcher // of transactions
	entries *heatsink.Collection[heatsink.Item]
	index   *direct.Table // the same, for who knows the shard
}

// Open returns the boards that options describe. It does no I/O and needs no closing.
func Open(client Client, options Options) (*Boards, error) {
	options = options.withDefaults()
	if err := options.validate(); err != nil {
		return nil, err
	}
	if client == nil {
		return nil, fmt.Errorf("%w: the client is nil", ErrOptions)
	}
	entries, err := heatsink.Open[heatsink.Item](client, options.collection())
	if err != nil {
		return nil, err
	}
	index, err := direct.Open(client, direct.Options{
		Table: options.Table, Index: options.Index, PartitionKey: options.Names.Listing,
		Retry: options.Retry, Logger: options.Logger,
	})
	if err != nil {
		return nil, err
	}
	return &Boards{
		options: options, client: client, sender: dispatch.New(dispatch.Retry(options.Retry), nil, nil),
		entries: entries, index: index,
	}, nil
}

// Ledgers returns the ledgers of the boards: over how many keys each board is spread. The key of a ledger is the name of the
// board, with its period as in galaxy#2024-12-02. Without Options.Adaptive the methods return heatsink.ErrOptions.
func (b *Boards) Ledgers() heatsink.Ledgers { return b.entries.Ledgers() }

// Board returns the board with this name, even if it has no entries. A name has 1 to 512 bytes of UTF-8. It must not
// end like a period or a shard, as in galaxy#2024-12-02 or galaxy#SHARD_3. The error wraps ErrInput.
func (b *Boards) Board(name string) (Board, error) {
	if err := checkName("board", name); err != nil {
		return Board{}, err
	}
	for period := layout.NoBucket; period <= layout.Year; period++ {
		if _, err := (layout.Layout{Bucket: period}).ShardKey(name, time.Unix(0, 0), 0); err != nil {
			return Board{}, fmt.Errorf("%w: board: %w", ErrInput, err)
		}
	}
	return Board{boards: b, name: name}, nil
}

// maxName is how many bytes the name of a board, a player or an event has at most: a sort key has 1,024 with the
// period, a partition key 2,048 with player and event.
const maxName = 512

// eventMark stands between player and ID in the key under which an event is remembered.
const eventMark = "#EVENT#"

func checkName(what, name string) error {
	switch {
	case name == "":
		return fmt.Errorf("%w: the %s is empty", ErrInput, what)
	case len(name) > maxName:
		return fmt.Errorf("%w: the %s has %d bytes, want 1 to %d: %.40q…", ErrInput, what, len(name), maxName, name)
	case !utf8.ValidString(name):
		return fmt.Errorf("%w: the %s is not valid UTF-8: %q", ErrInput, what, name)
	}
	return nil
}

func checkPlayer(player string) error {
	if err := checkName("player", player); err != nil {
		return err
	}
	if layout.IsControl(player) {
		return fmt.Errorf("%w: the player begins with %s, which is for heatsink's control items: %q", ErrInput, layout.ControlPrefix, player)
	}
	if strings.Contains(player, eventMark) {
		return fmt.Errorf("%w: the player contains %s, which is reserved for events: %q", ErrInput, eventMark, player)
	}
	return nil
}
