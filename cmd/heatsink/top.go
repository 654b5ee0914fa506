package main

import (
	"context"
	"encoding/json"
	"errors"
	"time"

	"github.com/spf13/cobra"

	"github.com/heatsink-go/heatsink/heat"
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
}

func newTop() *cobra.Command {
	var t top
	cmd := &cobra.Command{
		Use:   "top TABLE",
		Short: "Watch the hottest keys of a table, live",
		Long: `Watch which keys of a table are hottest, live.

From an engine of your own, heatsink serve --physics at --endpoint, it shows reads and
writes of all clients, what was refused and why, and the partitions.

From DynamoDB, or with --stream, it follows the table's stream: writes only, and nothing
that was refused. Reading a stream costs no capacity of the table. To see reads and
throttles there, put a heat.Recorder into the clients.

On a terminal the list is drawn again and again; elsewhere every round is a few plain
lines. With --json every round is a line: a report as heatsink audit has it.`,
		Example: `  heatsink top orders
  heatsink top orders --endpoint http://127.0.0.1:8000 --last 30s
  heatsink top orders --json | jq -c '.resources[].writes.keys[0]'`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			t.table = args[0]
			return t.run(cmd)
		},
	}
	f := cmd.Flags()
	t.flags(f)
	f.IntVarP(&t.keys, "keys", "n", 10, "keys to list, and partitions")
	f.DurationVar(&t.every, "every", time.Second, "how often to show them")
	f.DurationVar(&t.last, "last", 0, "end after this time (default: when interrupted)")
	f.StringVar(&t.hide, "hash-keys", "", "show keys as hashes with this secret")
	f.BoolVar(&t.stream, "stream", false, "follow the stream, also of an engine that tells more")
	f.BoolVar(&t.json, "json", false, "a JSON document a line")
	return cmd
}

func (t *top) run(cmd *cobra.Command) error {
	if t.every < 100*time.Millisecond || t.keys < 1 || t.last < 0 {
		return errors.New("--every is 100ms at least, --keys 1, and --last is not negative")
	}
	ctx := cmd.Context()
	c, err := t.clients(ctx)
	if err != nil {
		return err
	}
	feed, err := t.feed(ctx, c)
	if err != nil {
		return err
	}
	return t.follow(ctx, cmd, feed)
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
	if t.last > 0 {
		reading, stop = context.WithTimeout(ctx, t.last)
	}
	defer stop()
	ended := make(chan error, 1)
	go func() { ended <- feed.run(reading) }()
	ticker := time.NewTicker(t.every)
	defer ticker.Stop()
	show := t.shower(cmd)
	round := func() error {
		r, err := feed.round(ctx)
		if err != nil {
			return err
		}
		return show(r)
	}
	for {
		select {
		case err := <-ended:
			if err == nil && ctx.Err() == nil {
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

// shower returns what shows a round: as JSON, drawn over the last one, or below it.
func (t *top) shower(cmd *cobra.Command) func(topRound) error {
	out := cmd.OutOrStdout()
	if t.json {
		encoder := json.NewEncoder(out)
		return func(r topRound) error { return encoder.Encode(r) }
	}
	frame := &frame{screen: newScreen(out)}
	return func(r topRound) error { return frame.draw(t.lines(frame.screen, r)) }
}
