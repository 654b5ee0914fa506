package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/spf13/cobra"

	"github.com/heatsink-go/heatsink"
	"github.com/heatsink-go/heatsink/internal/figure"
)

// ledgerLs lists the ledgers of a collection.
type ledgerLs struct {
	ledger
	top    int
	maxRCU float64
}

func newLedgerLs() *cobra.Command {
	var l ledgerLs
	cmd := &cobra.Command{
		Use:   "ls --table TABLE",
		Short: "List the keys that have a ledger, the widest first",
		Long: `List the keys that have a ledger, the widest first. A key without a ledger has one shard.

DynamoDB cannot list control items alone, so ls scans the whole table. With a table for
control items it scans that one. ls first prints the cost, and at the end how much the scan
consumed. The scan is eventually consistent: it may miss a change of the last second.

The exit code is 1 if a ledger is damaged. ls lists it with its error.

With --json, stdout has one object for each ledger and line. The fields are those of
heatsink ledger show --json.`,
		Example: `  heatsink ledger ls --table orders
  heatsink ledger ls --table orders --endpoint http://127.0.0.1:8000 --json
  heatsink ledger ls --table orders --max-rcu 100`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return l.run(cmd) },
	}
	f := cmd.Flags()
	l.register(f)
	f.IntVar(&l.top, "top", 1000, "largest number of ledgers to list; damaged ones are listed besides")
	f.Float64Var(&l.maxRCU, "max-rcu", 1000, "largest rate of the scan, in read units per second")
	return cmd
}

func (l *ledgerLs) run(cmd *cobra.Command) error {
	if l.top < 1 {
		return fmt.Errorf("--top %d: want 1 or more", l.top)
	}
	if !(l.maxRCU > 0 && l.maxRCU <= maxScanRate) { // NaN is neither
		return fmt.Errorf("--max-rcu %v: want more than 0 and at most %s", l.maxRCU, figure.Thousands(maxScanRate))
	}
	ctx := cmd.Context()
	b, ledgers, err := l.open(ctx)
	if err != nil {
		return err
	}
	screen := newScreen(cmd.ErrOrStderr())
	scanned, err := b.scanned(ctx, &l.ledger)
	if err != nil {
		return err
	}
	scan := &pacedScan{Scanner: b.tables, screen: screen, maxRCU: l.maxRCU, items: aws.ToInt64(scanned.ItemCount)}
	scan.announce(scanned)
	list, err := l.collect(ctx, ledgers, scan)
	screen.clear()
	if err != nil {
		return b.explain(aws.ToString(scanned.TableName), err)
	}
	screen.say("the scan read %s and consumed %s", figure.Count(scan.read, "item"), units(scan.units))
	if err := l.print(cmd, b, list); err != nil {
		return err
	}
	if n := len(list.damaged); n > 0 {
		return &badNews{fmt.Sprintf("%s damaged: see heatsink ledger repair --help", are(n, "ledger"))}
	}
	return nil
}

// scanned returns the description of the table that has the control items.
func (b *book) scanned(ctx context.Context, l *ledger) (*types.TableDescription, error) {
	if l.controlTable == "" {
		return b.table, nil
	}
	out, err := b.tables.DescribeTable(ctx, &dynamodb.DescribeTableInput{TableName: &l.controlTable})
	if err != nil {
		return nil, b.explain(l.controlTable, err)
	}
	return out.Table, nil
}

// ledgerList is what ls has found: the widest, and all that are damaged.
type ledgerList struct {
	widest  []heatsink.Ledger
	more    int // that are not among them
	damaged []damagedLedger
}

type damagedLedger struct {
	heatsink.Ledger
	err error
}

// collect reads all ledgers, and keeps the widest in bounded memory.
func (l *ledgerLs) collect(ctx context.Context, ledgers heatsink.Ledgers, scan *pacedScan) (list ledgerList, err error) {
	found := 0
	for stored, err := range ledgers.All(ctx, scan) {
		switch {
		case err != nil && (scan.pages == 0 || !errors.Is(err, heatsink.ErrLedger) || ctx.Err() != nil):
			return list, err
		case err != nil && len(list.damaged) == maxDamaged:
			return list, fmt.Errorf("more than %s ledgers are damaged; the last: %w", figure.Thousands(maxDamaged), err)
		case err != nil:
			list.damaged = append(list.damaged, damagedLedger{stored, err})
			continue
		}
		found++
		if list.widest = append(list.widest, stored); len(list.widest) >= 2*l.top {
			list.cut(l.top)
		}
	}
	list.cut(l.top)
	list.more = found - len(list.widest)
	return list, nil
}

// maxDamaged is how many damaged ledgers are listed. With more than that, something else is wrong.
const maxDamaged = 1000

func (l *ledgerList) cut(n int) {
	slices.SortFunc(l.widest, func(a, b heatsink.Ledger) int {
		return cmp.Or(cmp.Compare(b.Width.Read, a.Width.Read), cmp.Compare(b.Width.Write, a.Width.Write), strings.Compare(a.Key, b.Key), a.Bucket.Compare(b.Bucket))
	})
	l.widest = l.widest[:min(n, len(l.widest))]
}

func (l *ledgerLs) print(cmd *cobra.Command, b *book, list ledgerList) error {
	if !l.json {
		writeLedgers(newScreen(cmd.OutOrStdout()), b.charter, list)
		return nil
	}
	encoder := json.NewEncoder(cmd.OutOrStdout())
	for _, stored := range list.widest {
		if err := encoder.Encode(document(stored, nil)); err != nil {
			return err
		}
	}
	for _, d := range list.damaged {
		if err := encoder.Encode(document(d.Ledger, d.err)); err != nil {
			return err
		}
	}
	if list.more > 0 {
		newScreen(cmd.ErrOrStderr()).say("%s not listed: raise --top", are(list.more, "narrower ledger"))
	}
	return nil
}

// pacedScan is a client that scans within a rate, and shows how far it is.
type pacedScan struct {
	heatsink.Scanner
	screen *screen
	maxRCU float64
	items  int64 // that the table has, about

	pages int
	read  int64
	units float64
	next  time.Time // when the next page may be read
}

// announce says what the scan will cost.
func (s *pacedScan) announce(table *types.TableDescription) {
	cost := math.Ceil(float64(aws.ToInt64(table.TableSizeBytes)) / 8192) // 4 KB a unit, half price
	took := time.Duration(cost / s.maxRCU * float64(time.Second)).Round(time.Second)
	s.screen.say("scan of %s: about %s, %s; takes %s or more at up to %s per second",
		printable(aws.ToString(table.TableName)), figure.Count(s.items, "item"), figure.Count(cost, "read unit"), spanText(took), figure.Count(s.maxRCU, "unit"))
}

// Scan reads a page when the rate allows it.
func (s *pacedScan) Scan(ctx context.Context, in *dynamodb.ScanInput, edit ...func(*dynamodb.Options)) (*dynamodb.ScanOutput, error) {
	if wait := time.Until(s.next); wait > 0 {
		select {
		case <-time.After(wait):
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
	in.ReturnConsumedCapacity = types.ReturnConsumedCapacityTotal
	out, err := s.Scanner.Scan(ctx, in, edit...)
	if err != nil {
		return nil, err
	}
	consumed := 0.0
	if out.ConsumedCapacity != nil {
		consumed = aws.ToFloat64(out.ConsumedCapacity.CapacityUnits)
	}
	s.pages++
	s.read += int64(out.ScannedCount)
	s.units += consumed
	s.next = time.Now().Add(time.Duration(consumed / s.maxRCU * float64(time.Second)))
	s.screen.live(fmt.Sprintf("scan: %s of about %s, %s", figure.Thousands(s.read), figure.Count(s.items, "item"), units(s.units)))
	return out, nil
}
