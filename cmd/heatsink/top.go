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
)

// top shows the hottest keys of a table as they are written.
type top struct {
	account
	table string
	keys  int
	every time.Duration
	last  time.Duration
	hide  string
	json  bool
}

func newTop() *cobra.Command {
	var t top
	cmd := &cobra.Command{
		Use:   "top TABLE",
		Short: "Watch the hottest keys of a table, live",
		Long: `Watch which keys of a table are written most, live, from its stream: of DynamoDB, or
of an engine of your own with --endpoint. It reads the stream only, which costs no
capacity of the table.

On a terminal the list is drawn again and again; elsewhere every round is a few plain
lines. With --json every round is a line: a report as heatsink audit has it.

A stream shows neither reads nor what was throttled. A heat.Recorder in the clients
does.`,
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
	f.IntVarP(&t.keys, "keys", "n", 10, "keys to list")
	f.DurationVar(&t.every, "every", time.Second, "how often to show them")
	f.DurationVar(&t.last, "last", 0, "end after this time (default: when interrupted)")
	f.StringVar(&t.hide, "hash-keys", "", "show keys as hashes with this secret")
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
	options := heat.StreamOptions{Recorder: heat.Options{Top: t.keys}, Poll: min(t.every, time.Second)}
	if t.hide != "" {
		options.Recorder.Redact = heat.Hashed([]byte(t.hide))
	}
	reader, err := heat.OpenStream(ctx, c.tables, c.streams, t.table, options)
	if err != nil {
		return err
	}
	return t.follow(ctx, cmd, reader)
}

// follow shows rounds until the time is over, and then the last one.
func (t *top) follow(ctx context.Context, cmd *cobra.Command, reader *heat.StreamReader) error {
	reading, stop := context.WithCancel(ctx)
	if t.last > 0 {
		reading, stop = context.WithTimeout(ctx, t.last)
	}
	defer stop()
	ended := make(chan error, 1)
	go func() { ended <- reader.Run(reading) }()
	ticker := time.NewTicker(t.every)
	defer ticker.Stop()
	round := t.round(cmd)
	for {
		select {
		case err := <-ended:
			if err == nil && ctx.Err() == nil {
				return round(reader)
			}
			return err
		case <-ticker.C:
			if err := round(reader); err != nil {
				stop()
				return errors.Join(err, <-ended)
			}
		}
	}
}

// round returns what shows a report: as JSON, drawn over the last one, or below it.
func (t *top) round(cmd *cobra.Command) func(*heat.StreamReader) error {
	out := cmd.OutOrStdout()
	if t.json {
		encoder := json.NewEncoder(out)
		return func(r *heat.StreamReader) error { return encoder.Encode(r.Report()) }
	}
	screen := newScreen(out)
	drawn := 0
	return func(r *heat.StreamReader) error {
		lines := t.lines(screen, r.Report(), r.Records())
		text := strings.Join(lines, "\n") + "\n"
		if screen.terminal && drawn > 0 {
			text = fmt.Sprintf("\x1b[%dA\x1b[J", drawn) + text
		}
		drawn = len(lines)
		_, err := fmt.Fprint(out, text)
		return err
	}
}

func (t *top) lines(screen *screen, report heat.Report, records int64) []string {
	lines := []string{screen.bold(fmt.Sprintf("%s  %s: %d writes seen", time.Now().Format(time.TimeOnly), t.table, records))}
	for i := range report.Resources {
		r := &report.Resources[i]
		f := &r.Writes
		lines = append(lines, fmt.Sprintf("%s: %.0f units, at most %.0f in a second, %s", r.Resource, f.Units, f.Peak, keysText(f.Distinct)))
		for j := range f.Keys[:min(len(f.Keys), t.keys)] {
			k := &f.Keys[j]
			line := fmt.Sprintf("  %8.1f/s %8.0f last second  %5.1f%%  %s %s", k.Consumed, k.Second, 100*k.Share, bar(k.Consumed/heat.PartitionWriteUnits), printable(k.Key))
			if max(k.Consumed, k.Second) >= 0.7*heat.PartitionWriteUnits {
				line = screen.red(line)
			}
			lines = append(lines, line)
		}
	}
	return lines
}

// bar draws how much of what a partition serves is used.
func bar(part float64) string {
	const width = 20
	full := int(min(1, max(0, part))*width + 0.5)
	return strings.Repeat("#", full) + strings.Repeat(".", width-full)
}
