package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/spf13/cobra"

	"github.com/heatsink-go/heatsink"
	"github.com/heatsink-go/heatsink/internal/figure"
	protocol "github.com/heatsink-go/heatsink/internal/ledger"
	"github.com/heatsink-go/heatsink/layout"
)

// ledgerRepair writes a ledger anew.
type ledgerRepair struct {
	ledger
	width  int
	dryRun bool
}

func newLedgerRepair() *cobra.Command {
	var r ledgerRepair
	cmd := &cobra.Command{
		Use:   "repair KEY --table TABLE",
		Short: "Write the ledger of a key anew, after it was lost",
		Long: `Write the ledger of a key anew, after it was deleted or came back from an old backup. Reads
that must be exact fail until then, with the error ErrLedgerLost.

repair looks for items in the first 256 shards of the key, or in --width of them if that is
more. Each shard takes one request, of 1 read unit or more. It prints the largest shard that
has an item, and the latest generation that an item carries. The ledger then covers all
these shards. repair writes nothing if only shard 0 has items and there is no ledger. It
probes twice: once for you, and once for the ledger. --dry-run probes once, prints the ledger
that is stored and the one that repair would write, and writes nothing.

A process that still knows the old ledger may write to shards that were empty. Give the width
that the key had as --width, if you know it, or restart the writers first. repair covers that
many shards then, also where they are empty.

Items of a key may carry later generations than those that repair looks at. Reads then still
fail with ErrLedgerLost: run repair again.

If the layout has buckets, each bucket of a key has a ledger of its own: add --at.

With --json, stdout is one object: "largest_shard" (-1: no shard has an item),
"largest_generation", "before", and "after" or, with --dry-run, "planned". The last three have
the fields of heatsink ledger show --json. A generation of 0 says that nothing is stored.`,
		Example: `  heatsink ledger repair NEW --table orders --dry-run
  heatsink ledger repair NEW --table orders --width 16 --why "deleted by mistake"`,
		Args: oneKey,
		RunE: func(cmd *cobra.Command, args []string) error { return r.run(cmd, args[0]) },
	}
	f := cmd.Flags()
	r.register(f)
	r.registerAt(f)
	r.registerWhy(f, "ledger")
	f.IntVar(&r.width, "width", 0, "number of shards that the key had at least, if you know it")
	f.BoolVar(&r.dryRun, "dry-run", false, "print what is found, what is stored and what repair would write, and write nothing")
	return cmd
}

// repairDocument is what repair prints with --json.
type repairDocument struct {
	Largest    int             `json:"largest_shard"` // with an item; -1: none has
	Generation int64           `json:"largest_generation"`
	Before     ledgerDocument  `json:"before"`
	After      *ledgerDocument `json:"after,omitempty"`   // absent with --dry-run
	Planned    *ledgerDocument `json:"planned,omitempty"` // with --dry-run alone
}

func (r *ledgerRepair) run(cmd *cobra.Command, key string) error {
	if r.width < 0 || r.width > layout.MaxShards {
		return fmt.Errorf("--width %d: want 1 to %d, or leave it out", r.width, layout.MaxShards)
	}
	ctx := cmd.Context()
	b, ledgers, at, err := r.openAt(ctx)
	if err != nil {
		return err
	}
	screen := newScreen(cmd.OutOrStdout())
	if r.json {
		screen = silent()
	}
	d, err := r.do(ctx, ledgers, key, at, screen)
	switch {
	case errors.Is(err, protocol.ErrRecord):
		return r.damaged(b, key, at, err)
	case err != nil:
		return err
	case r.json:
		return json.NewEncoder(cmd.OutOrStdout()).Encode(d)
	}
	return nil
}

// do repairs the ledger, or says what it would do.
func (r *ledgerRepair) do(ctx context.Context, ledgers heatsink.Ledgers, key string, at time.Time, screen *screen) (d repairDocument, err error) {
	if r.dryRun {
		plan, err := ledgers.PlanRepair(ctx, key, at, r.width, r.why)
		if err != nil {
			return d, err
		}
		writePlan(screen, key, plan)
		planned := document(plan.Repaired, nil)
		return repairDocument{Largest: plan.Largest, Generation: plan.Generation, Before: document(plan.Stored, nil), Planned: &planned}, nil
	}
	before, err := ledgers.Show(ctx, key, at)
	if err != nil && !errors.Is(err, heatsink.ErrLedgerLost) {
		return d, err
	}
	largest, generation, err := ledgers.Probe(ctx, key, at, r.width)
	if err != nil {
		return d, err
	}
	screen.say("%s", foundText(key, largest, generation))
	after, err := ledgers.Repair(ctx, key, at, r.width, r.why)
	if err != nil {
		return d, err
	}
	writeLedger(screen, after)
	stored := document(after, nil)
	return repairDocument{Largest: largest, Generation: generation, Before: document(before, nil), After: &stored}, nil
}

// writePlan says what a repair would do.
func writePlan(screen *screen, key string, plan heatsink.RepairPlan) {
	screen.say("%s", foundText(key, plan.Largest, plan.Generation))
	screen.say("what is stored:")
	writeLedger(screen, plan.Stored)
	if plan.Stored.Generation == plan.Repaired.Generation {
		screen.say("repair would write nothing")
	} else {
		screen.say("what repair would write:")
		writeLedger(screen, plan.Repaired)
	}
	screen.say("nothing was changed: this is a dry run")
}

// foundText says what is in the shards of a key.
func foundText(key string, largest int, generation int64) string {
	switch {
	case largest < 0:
		return fmt.Sprintf("no shard of key %s has an item", printable(key))
	case generation == 0:
		return fmt.Sprintf("the largest shard of key %s with an item is %s; no item carries a generation", printable(key), figure.Thousands(largest))
	}
	return fmt.Sprintf("the largest shard of key %s with an item is %s; the latest generation of an item is %d", printable(key), figure.Thousands(largest), generation)
}

// damaged says how to delete a ledger that cannot be understood. Nobody else does: it is refused by reads as long as it is
// there, but not any more once it is gone.
func (r *ledgerRepair) damaged(b *book, key string, at time.Time, err error) error {
	control := layout.ControlKey{Role: layout.RoleLedger, Collection: b.control.Collection, Key: key}
	if bucket := b.charter.Layout.Bucket; bucket != layout.NoBucket {
		text, bad := bucket.Text(at)
		if bad != nil {
			return bad
		}
		control.Bucket = text
	}
	item := map[string]map[string]string{b.control.PartitionKey: {"S": control.String()}}
	if name := b.control.SortKey; name != "" {
		item[name] = map[string]string{"S": "-"}
		for _, a := range b.table.AttributeDefinitions {
			switch {
			case aws.ToString(a.AttributeName) != name:
			case a.AttributeType == types.ScalarAttributeTypeN:
				item[name] = map[string]string{"N": "0"}
			case a.AttributeType == types.ScalarAttributeTypeB:
				item[name] = map[string]string{"B": "LQ=="}
			}
		}
	}
	text, bad := json.Marshal(item)
	if bad != nil {
		return bad
	}
	return fmt.Errorf("%w; stop the readers of the key, as they would miss items without its ledger; delete the ledger with "+
		"aws dynamodb delete-item --table-name %s --key '%s', and repair again", err, r.control(), text)
}
