package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
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
		Args: oneTable,
		RunE: func(cmd *cobra.Command, args []string) error {
			t.table = args[0]
			return t.run(cmd)
		},
	}
	f := cmd.Flags()
	t.flags(f)
	f.IntVarP(&t.keys, "keys", "n", 10, "how many keys, and partitions, to list of each table and index")
	f.DurationVar(&t.every, "every", time.Second, "how often to show them")
	f.DurationVar(&t.last, "last", 0, "end after this time (default: when interrupted)")
	f.StringVar(&t.hide, "hash-keys", "", "show keys as hashes with this secret")
	f.BoolVar(&t.stream, "stream", false, "follow the stream, also of an engine that tells more")
	f.BoolVar(&t.json, "json", false, "a JSON document a line")
	return cmd
}

func (t *top) run(cmd *cobra.Command) error {
	if err := t.validate(cmd); err != nil {
		return err
	}
	ctx := cmd.Context()
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
	return t.follow(ctx, cmd, feed)
}

// openTime is how long it may take to find out what there is to watch.
const openTime = 30 * time.Second

func (t *top) validate(cmd *cobra.Command) error {
	var faults []error
	if t.every < 100*time.Millisecond {
		faults = append(faults, fmt.Errorf("--every is 100ms at least, not %v", t.every))
	}
	if t.keys < 1 || t.keys > mostTopKeys {
		faults = append(faults, fmt.Errorf("--keys is 1 to %d, not %d", mostTopKeys, t.keys))
	}
	if t.last < 0 {
		faults = append(faults, fmt.Errorf("--last %v is negative", t.last))
	}
	if t.hide == "" && cmd.Flags().Changed("hash-keys") {
		faults = append(faults, errors.New("--hash-keys needs a secret that is not empty"))
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
	if t.last > 0 {
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
