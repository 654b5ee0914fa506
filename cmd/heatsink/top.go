package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/heatsink-go/heatsink/heat"
	"github.com/heatsink-go/heatsink/heat/heatpage"
	"github.com/heatsink-go/heatsink/layout"
)

// top shows the hottest keys of a table as they are used.
type top struct {
	account
	table  string
	keys   int
	every  time.Duration
	last   time.Duration
	hide   string
	stream bool
	json   bool
	plain  bool
	once   bool

	layouts []string
	told    []heat.Layout // of layouts

	screen bool // it is an interactive program
	page   pageFlags
}

func newTop() *cobra.Command {
	var t top
	cmd := &cobra.Command{
		Use:   "top TABLE",
		Short: "Watch the hottest keys of a table, live",
		Long: `Watch the hottest keys of a table, live.

With --endpoint, top can read a local engine (heatsink serve --physics). It then shows the
reads and writes of all clients, the throttled requests with their reasons, and the
partitions.

From DynamoDB, or with --stream, top follows the table's stream. A stream has successful
writes only, no reads and no throttles. Reading it consumes no capacity of the table. To
see reads and throttles on DynamoDB, add a heat.Recorder to your clients.

On a terminal, top is an interactive program: keys inside their partitions, with their
trends and the reasons of throttles. Press ? for help. Elsewhere, and with --plain, it
prints each round as plain lines. Either way, the shards of a key are folded into one line,
which says how many there are and what the fullest takes. With --json it prints each round
as one line, a report with the fields of a heatsink audit report. Press Ctrl-C to end it, or
give --once or --last. NO_COLOR turns colours off. With --hash-keys, shards cannot be folded.`,
		Example: `  heatsink top orders
  heatsink top orders --endpoint http://127.0.0.1:8000 --last 30s
  heatsink top orders --web 127.0.0.1:8080         a picture in the browser instead
  heatsink top orders --json | jq -c '.resources[].writes.keys[0]'`,
		Args: oneTable,
		RunE: func(cmd *cobra.Command, args []string) error {
			t.table = args[0]
			return t.run(cmd)
		},
	}
	f := cmd.Flags()
	t.flags(f)
	f.IntVarP(&t.keys, "keys", "n", 10, "number of keys, and of partitions, to list for each table and index")
	f.DurationVar(&t.every, "every", time.Second, "interval between two rounds")
	f.DurationVar(&t.last, "last", 0, "time after which top ends (default: when interrupted)")
	f.StringVar(&t.hide, "hash-keys", "", "secret with which keys are hashed before they are shown (default: keys are shown)")
	f.BoolVar(&t.stream, "stream", false, "follow the table's stream, even if the server at --endpoint reports its heat")
	f.BoolVar(&t.json, "json", false, "print each round as one line of JSON")
	f.BoolVar(&t.plain, "plain", false, "print plain lines, also on a terminal")
	f.BoolVar(&t.once, "once", false, "print one round and end")
	f.StringArrayVar(&t.layouts, "layout", nil, "how keys of shards are spelt besides {key}#SHARD_{shard} and {key}#SHARD#{shard}, such as {key}.{shard}; may be repeated")
	t.page.flags(f)
	for _, name := range []string{"web", "save-page"} {
		f.Lookup(name).Usage += "; not with --json, --plain or --once"
	}
	return cmd
}

func (t *top) run(cmd *cobra.Command) error {
	if err := t.validate(cmd); err != nil {
		return err
	}
	ctx := cmd.Context()
	t.screen = !t.json && !t.plain && !t.once && interactive(cmd.InOrStdin(), cmd.OutOrStdout())
	c, err := t.clients(ctx)
	if err != nil {
		return err
	}
	opening, cancel := context.WithTimeout(ctx, openTime)
	feed, err := t.feed(opening, c)
	cancel()
	if err != nil {
		return c.explain(t.table, err)
	}
	if t.page.wanted() {
		return t.showPage(ctx, cmd, feed)
	}
	if t.screen {
		return t.interact(ctx, cmd, feed)
	}
	return t.follow(ctx, cmd, feed)
}

// showPage shows rounds on a page instead of a terminal, until the time is over.
func (t *top) showPage(ctx context.Context, cmd *cobra.Command, feed topFeed) error {
	if t.last > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, t.last)
		defer cancel()
	}
	page, err := t.page.start(ctx, heatpage.Options{Title: "heatsink: " + t.table, Every: min(t.every, 10*time.Second), Source: feed.round, Layouts: t.told, Rows: t.asked()})
	if err != nil {
		return err
	}
	if page.url != "" {
		fmt.Fprintf(cmd.OutOrStdout(), "The page is at %s\n", page.url)
	}
	return errors.Join(feed.run(ctx), page.end(ctx))
}

// asked returns how many keys to ask for: lines have shards folded into their key, so it takes more keys than they show.
func (t *top) asked() int {
	if t.json {
		return t.keys
	}
	return min(mostTopKeys, max(foldedKeys, t.keys))
}

// foldedKeys is how many stored keys a list of keys is made of.
const foldedKeys = 250

// openTime is how long it may take to find out what there is to watch.
const openTime = 30 * time.Second

func (t *top) validate(cmd *cobra.Command) error {
	var faults []error
	if t.every < 100*time.Millisecond {
		faults = append(faults, fmt.Errorf("--every %v: want at least 100ms", t.every))
	}
	if t.keys < 1 || t.keys > mostTopKeys {
		faults = append(faults, fmt.Errorf("--keys %d: want 1 to %d", t.keys, mostTopKeys))
	}
	if t.last < 0 {
		faults = append(faults, fmt.Errorf("--last %v: want 0 or more", t.last))
	}
	if t.hide == "" && cmd.Flags().Changed("hash-keys") {
		faults = append(faults, errors.New("--hash-keys: want a secret that is not empty"))
	}
	if t.page.wanted() && (t.json || t.plain || t.once) {
		faults = append(faults, errors.New("--web and --save-page show a page: leave --json, --plain and --once out"))
	}
	if t.page.save != "" && t.page.addr == "" && t.last == 0 {
		faults = append(faults, errors.New("--save-page saves the page at the end: give --last, or --web and press Ctrl-C"))
	}
	if t.once && t.last > 0 {
		faults = append(faults, errors.New("--once and --last contradict each other: give one of them"))
	}
	for _, text := range t.layouts {
		format, err := layout.ParseFormat(text)
		switch {
		case err != nil:
			faults = append(faults, fmt.Errorf("--layout %q: %w", text, err))
		case !strings.Contains(text, "{shard"):
			faults = append(faults, fmt.Errorf("--layout %q has no {shard}: give a template such as {key}.{shard}", text))
		}
		t.told = append(t.told, heat.Layout{Layout: layout.Layout{Shards: layout.MaxShards, Format: format}})
	}
	return errors.Join(faults...)
}

// redact is how keys are hidden, nil if they are not.
func (t *top) redact() func(dst, key []byte) []byte {
	if t.hide == "" {
		return nil
	}
	return heat.Hashed([]byte(t.hide))
}

// follow shows rounds until the time is over, and then the last one.
func (t *top) follow(ctx context.Context, cmd *cobra.Command, feed topFeed) error {
	reading, stop := context.WithCancel(ctx)
	switch {
	case t.once:
		reading, stop = context.WithTimeout(ctx, t.every/2) // the round at its end is the only one
	case t.last > 0:
		reading, stop = context.WithTimeout(ctx, t.last)
	}
	defer stop()
	ended := make(chan error, 1)
	go func() { ended <- feed.run(reading) }()
	ticker := time.NewTicker(t.every)
	defer ticker.Stop()
	show := t.shower(cmd)
	var shown time.Time
	round := func() error {
		r, err := feed.round(ctx)
		if err != nil {
			return err
		}
		shown = time.Now()
		return show(r)
	}
	for {
		select {
		case err := <-ended:
			if err == nil && ctx.Err() == nil && time.Since(shown) > t.every/2 {
				return round()
			}
			return err
		case <-ticker.C:
			if err := round(); err != nil {
				stop()
				if ran := <-ended; ctx.Err() != nil {
					return ran // interrupted, which is no failure
				}
				return err
			}
		}
	}
}

// shower returns what shows a round: as JSON, or as lines below the last one.
func (t *top) shower(cmd *cobra.Command) func(topRound) error {
	out := cmd.OutOrStdout()
	if t.json {
		encoder := json.NewEncoder(out)
		return func(r topRound) error { return encoder.Encode(r) }
	}
	colours := newScreen(out)
	return func(r topRound) error {
		_, err := fmt.Fprintln(out, strings.Join(t.lines(colours, r), "\n"))
		return err
	}
}
