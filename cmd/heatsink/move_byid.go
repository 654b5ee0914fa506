package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"golang.org/x/term"

	"github.com/heatsink-go/heatsink"
	"github.com/heatsink-go/heatsink/internal/charter"
	"github.com/heatsink-go/heatsink/internal/figure"
	"github.com/heatsink-go/heatsink/layout"
	"github.com/heatsink-go/heatsink/move"
)

// moveByID has the flags of moves of items that are found by id.
type moveByID struct {
	keys                      []string
	prefixes                  []string // --prefix, which moves of listed items have as well
	into                      string
	wait, back, finish, stage bool

	used bool // the collection is movable
}

func (b *moveByID) flags(f *pflag.FlagSet) {
	f.StringSliceVar(&b.keys, "keys", nil, "items found by id: move only these keys, each to its own number of shards: KEY=SHARDS,KEY=SHARDS")
	f.StringArrayVar(&b.prefixes, "prefix", nil, "move only logical keys that begin like this; items found by id: to their own number of shards, PREFIX=SHARDS; may be repeated then")
	f.StringVar(&b.into, "into", "", "items found by id: move them into this table, which has the same keys, with the layout of --to or the present one")
	f.BoolVar(&b.wait, "wait", false, "items found by id: wait for the stages of the move, about an hour each, until it is over")
	f.BoolVar(&b.back, "back", false, "items found by id: take a move that is split back to where the items were, or withdraw one that is announced")
	f.BoolVar(&b.finish, "finish", false, "items found by id: refuse programs that still have the layout of before the move")
	f.BoolVar(&b.stage, "stage", false, "items found by id: show where the move stands, and stop")
}

// unused returns an error if a flag was given that moves of listed items do not have.
func (b *moveByID) unused() error {
	for name, given := range map[string]bool{"keys": len(b.keys) > 0, "into": b.into != "", "wait": b.wait, "back": b.back, "finish": b.finish, "stage": b.stage} {
		if given {
			return fmt.Errorf("--%s is for items that are found by id, and the table has no movable collection of that name: leave it out; give --name if Options.Name is set", name)
		}
	}
	return nil
}

// prefix returns the one that --prefix gives for items that an index lists, "" if there is none.
func (b *moveByID) prefix() (string, error) {
	switch len(b.prefixes) {
	case 0:
		return "", nil
	case 1:
		return b.prefixes[0], nil
	}
	return "", fmt.Errorf("--prefix is given %d times: items that an index lists take one prefix: move one after the other", len(b.prefixes))
}

// widths returns the numbers of shards that --keys or --prefix gives. want says how to give one.
func widths(flag string, given []string, want string) (map[string]int, error) {
	widths := map[string]int{}
	for _, text := range given {
		i := strings.LastIndex(text, "=") // a key may have one in it
		if i < 1 {
			return nil, fmt.Errorf("--%s %q: want %s", flag, text, want)
		}
		n, err := strconv.Atoi(text[i+1:])
		if err != nil || n < 1 || n > layout.MaxShards {
			return nil, fmt.Errorf("--%s %q: %q is no number of shards: want 1 to %d", flag, text, text[i+1:], layout.MaxShards)
		}
		if _, twice := widths[text[:i]]; twice {
			return nil, fmt.Errorf("--%s gives %q twice", flag, text[:i])
		}
		widths[text[:i]] = n
	}
	if len(widths) == 0 {
		return nil, nil
	}
	return widths, nil
}

// movable returns the options of the movable collection that the table has. found is false if it has none.
func (m *mover) movable(ctx context.Context, c clients, table *types.TableDescription) (o move.Options, found bool, err error) {
	if m.controlTable == "" && !stringKey(table) {
		return o, false, nil
	}
	name := m.name
	if name == "" {
		name = "table" // as Options.Name has it by default
	}
	b := &book{clients: c, table: table}
	written, stored, err := b.controlOf(&ledger{table: m.table, controlTable: m.controlTable}, name).Charter(ctx)
	if err != nil {
		return o, true, fmt.Errorf("charter of collection %q: %w", name, err)
	}
	if !stored || !written.Movable {
		return o, false, nil
	}
	for flag, given := range map[string]bool{
		"from": len(m.from) > 0, "shard-by": len(m.shardBy) > 0, "key": m.key != "",
	} {
		if given {
			return o, true, fmt.Errorf("--%s: the items of a movable collection are where its record says: leave it out; --keys moves single keys, --prefix those that begin alike, and --index the items that an index lists", flag)
		}
	}
	m.byID.used = true
	o = move.Options{RCU: m.rcu, WCU: m.wcu, Segments: m.segments, Wait: m.byID.wait, Into: m.byID.into}
	if o.Widths, err = widths("keys", m.byID.keys, "KEY=SHARDS, such as STATUS#ACTIVE=16"); err != nil {
		return o, true, err
	}
	if o.Prefixes, err = widths("prefix", m.byID.prefixes, "PREFIX=SHARDS, such as POST#2026=16, because the items are found by id"); err != nil {
		return o, true, err
	}
	if m.to != "" {
		if o.To, err = parseLayoutFlag(m.to); err != nil {
			return o, true, fmt.Errorf("--to %q: %w", m.to, err)
		}
		switch {
		case o.To.Shards == 0:
			o.To.Strategy = layout.Calculated // which has no effect without shards, and says that it was given
		case !namesStrategy(m.to): // a list stays one
			o.To.Strategy = written.Layout.Strategy
		}
		if len(o.Widths)+len(o.Prefixes) > 0 {
			o.To.Format.BareZero = true
		}
	}
	o.Collection = heatsink.Options{
		Table: m.table, PartitionKey: written.PartitionKey, SortKey: written.SortKey, Layout: written.Layout, Movable: true, Name: m.name, ControlTable: m.controlTable,
	}
	o.Collection.EventTime, err = m.timeOf(written, o.To)
	return o, true, err
}

// timeOf returns the event time of a movable collection that has buckets or gets some: by its charter, or by --event-time. By default it is the
// sort key, as a string.
func (m *mover) timeOf(written charter.Charter, to layout.Layout) (heatsink.EventTime, error) {
	if written.Layout.Bucket != layout.NoBucket {
		recorded, err := recorded(written)
		return recorded.EventTime, err
	}
	switch {
	case m.eventTime != "" && to.Bucket == layout.NoBucket:
		return heatsink.EventTime{}, errors.New("--event-time is for layouts in buckets, and --to has none: leave it out")
	case m.eventTime != "":
		return parseEventTime(m.eventTime)
	case to.Bucket != layout.NoBucket:
		return heatsink.EventTime{Attribute: written.SortKey}, nil
	}
	return heatsink.EventTime{}, nil
}

// runByID does what the flags say with a movable collection.
func (m *mover) runByID(cmd *cobra.Command, c clients, mover *move.Mover, options move.Options, out *moveOutput) error {
	ctx, b := cmd.Context(), &m.byID
	if err := b.only(m); err != nil {
		return err
	}
	stage, err := mover.Stage(ctx)
	if errors.Is(err, heatsink.ErrCharter) && b.finish { // another one may have begun to finish the move, and handed the record over
		if finished := mover.Finish(ctx); finished == nil {
			out.handedOver(m)
			return nil
		}
	}
	if err != nil {
		return c.explain(m.table, err)
	}
	switch {
	case b.stage:
		out.stage(m, stage)
		return nil
	case m.verify:
		return m.check(ctx, mover, out)
	case b.finish:
		return m.finish(ctx, cmd.InOrStdin(), mover, stage, out)
	case b.back:
		result, err := mover.Back(ctx)
		return out.ended(m, result, err)
	}
	forecast, err := mover.Plan(ctx)
	if errors.Is(err, move.ErrUnsupported) { // it may be another table that is missing
		return err
	}
	if err != nil {
		return c.explain(m.table, err)
	}
	out.forecastByID(m, options, forecast)
	if m.dryRun && forecast.Blocked > 0 {
		return &badNews{"the move would not begin: " + figure.Count(forecast.Blocked, "item") + " in its way"}
	}
	if m.dryRun {
		return nil
	}
	if !stage.Moving() && forecast.Moves > 0 {
		if err := m.ask(ctx, cmd.InOrStdin(), out.screen, forecast); err != nil {
			return err
		}
	}
	result, err := mover.Run(ctx)
	return out.ended(m, result, err)
}

// only refuses flags that do not go together.
func (b *moveByID) only(m *mover) error {
	var given []string
	for _, f := range []struct {
		name string
		set  bool
	}{{"--stage", b.stage}, {"--verify", m.verify}, {"--finish", b.finish}, {"--back", b.back}, {"--dry-run", m.dryRun}} {
		if f.set {
			given = append(given, f.name)
		}
	}
	if len(given) > 1 {
		return fmt.Errorf("%s: choose one of them", strings.Join(given, " and "))
	}
	return nil
}

// ended shows how a run ended, and returns the error of the command.
func (o *moveOutput) ended(m *mover, r move.Result, err error) error {
	o.screen.clear()
	o.resultByID(m, r, err)
	if errors.Is(err, move.ErrDamage) || errors.Is(err, move.ErrOldWriters) {
		return &badNews{err.Error()}
	}
	return err
}

// finish ends the time of the layout of before, after a question.
func (m *mover) finish(ctx context.Context, in io.Reader, mover *move.Mover, s move.Stage, out *moveOutput) error {
	if !m.yes && s.Former != nil && !s.Moving() {
		question := fmt.Sprintf("programs whose Options.Layout is still %s are refused from now on", s.Former)
		otherwise := "set Options.Layout in all programs first, and add --yes"
		if s.Now.Table != "" {
			question = fmt.Sprintf("programs whose Options.Table is still %s are refused from now on", m.table)
			otherwise = fmt.Sprintf("set Options.Table to %s in all programs first, and add --yes", s.Now.Table)
		}
		if err := confirm(ctx, in, out.screen, question, otherwise); err != nil {
			return err
		}
	}
	if err := mover.Finish(ctx); err != nil {
		return err
	}
	s.Former = nil
	out.finished(s)
	return nil
}

// confirm asks a question on a terminal. Elsewhere it returns an error that says what to do.
func confirm(ctx context.Context, in io.Reader, screen *screen, question, otherwise string) error {
	if file, ok := in.(*os.File); !ok || !term.IsTerminal(int(file.Fd())) {
		return fmt.Errorf("%s: %s", question, otherwise)
	}
	fmt.Fprintf(screen.out, "%s. Go on? [y/N] ", question)
	answer := make(chan string, 1)
	go func() { // the process ends before it does, if nobody answers
		line, _ := bufio.NewReader(in).ReadString('\n')
		answer <- strings.ToLower(strings.TrimSpace(line))
	}()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case text := <-answer:
		if text != "y" && text != "yes" {
			return errors.New("nothing was changed")
		}
		return nil
	}
}
