package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"github.com/heatsink-go/heatsink"
	"github.com/heatsink-go/heatsink/internal/charter"
	"github.com/heatsink-go/heatsink/layout"
)

func newLedgerShow() *cobra.Command {
	var l ledger
	cmd := &cobra.Command{
		Use:   "show KEY --table TABLE",
		Short: "Show the ledger of a key, and its history",
		Long: `Show the ledger of a key with its history, and the charter of the collection. The ledger is
read with strong consistency, for 1 read unit.

If the layout has buckets, each bucket of a key has a ledger of its own: add --at.

With --json, stdout is one object. "ledger" has the fields "key", "bucket", "width" (shards
that are written), "read_width" (shards that are read), "generation" (0: nothing is stored),
"frozen", "why", "by", "at" and "history". "charter" is as heatsink ledger charter --json
prints it.`,
		Example: `  heatsink ledger show NEW --table orders
  heatsink ledger show sensor-7 --table events --at 2026-06-22
  heatsink ledger show NEW --table orders --json | jq .ledger.width`,
		Args: oneKey,
		RunE: func(cmd *cobra.Command, args []string) error { return l.show(cmd, args[0]) },
	}
	l.register(cmd.Flags())
	l.registerAt(cmd.Flags())
	return cmd
}

func (l *ledger) show(cmd *cobra.Command, key string) error {
	b, ledgers, at, err := l.openAt(cmd.Context())
	if err != nil {
		return err
	}
	stored, err := ledgers.Show(cmd.Context(), key, at)
	if err != nil {
		return err
	}
	if l.json {
		return json.NewEncoder(cmd.OutOrStdout()).Encode(struct {
			Ledger  ledgerDocument  `json:"ledger"`
			Charter charter.Charter `json:"charter"`
		}{document(stored, nil), b.charter})
	}
	screen := newScreen(cmd.OutOrStdout())
	writeLedger(screen, stored)
	screen.say("")
	writeCharter(screen, b)
	return nil
}

// openAt is open, with the time of the bucket.
func (l *ledger) openAt(ctx context.Context) (*book, heatsink.Ledgers, time.Time, error) {
	b, ledgers, err := l.open(ctx)
	if err != nil {
		return nil, ledgers, time.Time{}, err
	}
	at, err := l.moment(b.charter)
	return b, ledgers, at, err
}

// ledgerGrow makes a key wider.
type ledgerGrow struct {
	ledger
	dryRun bool
}

func newLedgerGrow() *cobra.Command {
	var g ledgerGrow
	cmd := &cobra.Command{
		Use:   "grow KEY WIDTH --table TABLE --why REASON",
		Short: "Make a key wider, ahead of a load",
		Long: `Make a key at least WIDTH shards wide, 1,024 at most. All processes use the new shards within
seconds, without a restart. A key never becomes narrower: every later Query of the key sends
a request to each of its shards. --dry-run says what that will cost, and changes nothing.

If the layout has buckets, each bucket of a key has a ledger of its own: add --at. A
Calculated layout needs a power of two.`,
		Example: `  heatsink ledger grow NEW 16 --table orders --why "sale on Friday" --dry-run
  heatsink ledger grow NEW 16 --table orders --why "sale on Friday"
  heatsink ledger grow sensor-7 8 --table events --at now --why "replay of a day"`,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) != 2 {
				return fmt.Errorf("want a key and a width: use %s KEY WIDTH", cmd.CommandPath())
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error { return g.run(cmd, args[0], args[1]) },
	}
	g.register(cmd.Flags())
	g.registerAt(cmd.Flags())
	g.registerWhy(cmd.Flags(), "ledger")
	cmd.Flags().BoolVar(&g.dryRun, "dry-run", false, "say what would change and what it costs, and change nothing")
	return cmd
}

func (g *ledgerGrow) run(cmd *cobra.Command, key, text string) error {
	width, err := strconv.Atoi(text)
	if err != nil || width < 1 {
		return fmt.Errorf("width %q: want a number of shards, 1 or more", text)
	}
	if g.why == "" {
		return errors.New("no reason given: add --why REASON, which is kept in the ledger for people")
	}
	ctx := cmd.Context()
	b, ledgers, at, err := g.openAt(ctx)
	if err != nil {
		return err
	}
	before, err := ledgers.Show(ctx, key, at)
	if err != nil {
		return err
	}
	after := before
	after.Width = layout.Width{Write: max(width, before.Width.Write), Read: max(width, before.Width.Read)}
	if g.dryRun {
		if err := g.refusal(b, before, after); err != nil {
			return err
		}
	} else if after, err = ledgers.Grow(ctx, key, at, width, g.why); err != nil {
		return err
	}
	if g.json {
		return json.NewEncoder(cmd.OutOrStdout()).Encode(document(after, nil))
	}
	writeGrowth(newScreen(cmd.OutOrStdout()), before, after, g.dryRun)
	return nil
}

// refusal returns why a growth would not happen.
func (g *ledgerGrow) refusal(b *book, before, after heatsink.Ledger) error {
	switch {
	case before.Width.Write == after.Width.Write:
		return nil
	case after.Width.Write > maxWidth:
		return fmt.Errorf("width %d: a key has at most %d shards", after.Width.Write, maxWidth)
	case b.charter.Frozen.On:
		return fmt.Errorf("collection %q is %s: thaw it first with heatsink ledger thaw --all", b.control.Collection, b.charter.Frozen)
	case before.Frozen:
		return fmt.Errorf("key %q is frozen by %q: %s: thaw it first with heatsink ledger thaw", before.Key, before.By, before.Why)
	}
	return after.Width.CheckFor(b.charter.Layout.Strategy)
}

// ledgerFreeze keeps a key, or all keys, as wide as they are.
type ledgerFreeze struct {
	ledger
	all bool
}

func newLedgerFreeze() *cobra.Command {
	var l ledgerFreeze
	cmd := &cobra.Command{
		Use:   "freeze KEY --table TABLE",
		Short: "Keep a key, or all keys, from becoming wider",
		Long: `Keep a key from becoming wider, in all processes, until heatsink ledger thaw.

With --all, freeze the whole collection. That holds at once in all processes: each of them
reads the charter before it makes a key wider. Only a growth that is being stored at this
moment still happens. Reads and writes go on as before. A new time bucket may begin as wide
as the one before it, but no wider.

A frozen key that becomes too hot is throttled. The processes report that to
Adaptive.Decided and log it, with the reason "frozen".`,
		Example: `  heatsink ledger freeze NEW --table orders --why "reads became too slow"
  heatsink ledger freeze --all --table orders --why "incident 7"`,
		Args: keyOrAll(&l.all),
		RunE: func(cmd *cobra.Command, args []string) error {
			return l.run(cmd, args, heatsink.Ledgers.Freeze, func(ctx context.Context, ledgers heatsink.Ledgers) error { return ledgers.FreezeAll(ctx, l.why) })
		},
	}
	l.register(cmd.Flags())
	l.registerAt(cmd.Flags())
	l.registerWhy(cmd.Flags(), "ledger, or in the charter with --all,")
	cmd.Flags().BoolVar(&l.all, "all", false, "freeze all keys of the collection")
	return cmd
}

func newLedgerThaw() *cobra.Command {
	var l ledgerFreeze
	cmd := &cobra.Command{
		Use:   "thaw KEY --table TABLE",
		Short: "Allow a frozen key, or a frozen collection, to become wider again",
		Long: `Allow a key to become wider that heatsink ledger freeze has frozen. With --all, end a freeze
of the whole collection. Keys that were frozen by themselves stay frozen then.`,
		Example: `  heatsink ledger thaw NEW --table orders
  heatsink ledger thaw --all --table orders`,
		Args: keyOrAll(&l.all),
		RunE: func(cmd *cobra.Command, args []string) error {
			if l.all && l.why != "" {
				return errors.New("--why is kept in the ledger of a key, and --all changes none: leave --why out")
			}
			return l.run(cmd, args, heatsink.Ledgers.Thaw, func(ctx context.Context, ledgers heatsink.Ledgers) error { return ledgers.ThawAll(ctx) })
		},
	}
	l.register(cmd.Flags())
	l.registerAt(cmd.Flags())
	l.registerWhy(cmd.Flags(), "ledger")
	cmd.Flags().BoolVar(&l.all, "all", false, "end the freeze of the collection")
	return cmd
}

// run changes one key, or the charter.
func (l *ledgerFreeze) run(cmd *cobra.Command, args []string,
	one func(l heatsink.Ledgers, ctx context.Context, key string, at time.Time, why string) (heatsink.Ledger, error),
	all func(context.Context, heatsink.Ledgers) error,
) error {
	ctx := cmd.Context()
	if l.all {
		if l.at != "" {
			return errors.New("--at is about one bucket of a key: leave --at out, or --all")
		}
		return l.runAll(cmd, all)
	}
	_, ledgers, at, err := l.openAt(ctx)
	if err != nil {
		return err
	}
	stored, err := one(ledgers, ctx, args[0], at, l.why)
	if err != nil {
		return err
	}
	if l.json {
		return json.NewEncoder(cmd.OutOrStdout()).Encode(document(stored, nil))
	}
	writeLedger(newScreen(cmd.OutOrStdout()), stored)
	return nil
}

func (l *ledgerFreeze) runAll(cmd *cobra.Command, all func(context.Context, heatsink.Ledgers) error) error {
	ctx := cmd.Context()
	b, ledgers, err := l.open(ctx)
	if err != nil {
		return err
	}
	if err := all(ctx, ledgers); err != nil {
		return err
	}
	if b.charter, _, err = b.control.Charter(ctx); err != nil {
		return err
	}
	if l.json {
		return json.NewEncoder(cmd.OutOrStdout()).Encode(b.charter)
	}
	newScreen(cmd.OutOrStdout()).say("collection %s is %s", b.control.Collection, printable(b.charter.Frozen.String()))
	return nil
}
