package main

import (
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
probes twice: once for you, and once for the ledger.

A process that still knows the old ledger may write to shards that were empty. Give the width
that the key had as --width, if you know it, or restart the writers first. repair covers that
many shards then, also where they are empty.

Items of a key may carry later generations than those that repair looks at. Reads then still
fail with ErrLedgerLost: run repair again.

If the layout has buckets, each bucket of a key has a ledger of its own: add --at.`,
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
	f.BoolVar(&r.dryRun, "dry-run", false, "look for items and print what is found, and write nothing")
	return cmd
}

// repairDocument is what repair prints with --json.
type repairDocument struct {
	Largest    int             `json:"largest_shard"` // with an item; -1: none has
	Generation int64           `json:"largest_generation"`
	Before     ledgerDocument  `json:"before"`
	After      *ledgerDocument `json:"after,omitempty"` // absent with --dry-run
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
	before, err := ledgers.Show(ctx, key, at)
	if errors.Is(err, protocol.ErrRecord) {
		return r.damaged(b, key, at, err)
	}
	if err != nil && !errors.Is(err, heatsink.ErrLedgerLost) {
		return err
	}
	largest, generation, err := ledgers.Probe(ctx, key, at, r.width)
	if err != nil {
		return err
	}
	screen.say("%s", foundText(key, largest, generation))
	d := repairDocument{Largest: largest, Generation: generation, Before: document(before, nil)}
	if r.dryRun {
		screen.say("nothing was changed: this is a dry run")
	} else {
		after, err := ledgers.Repair(ctx, key, at, r.width, r.why)
		if err != nil {
			return err
		}
		writeLedger(screen, after)
		text := document(after, nil)
		d.After = &text
	}
	if r.json {
		return json.NewEncoder(cmd.OutOrStdout()).Encode(d)
	}
	return nil
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
