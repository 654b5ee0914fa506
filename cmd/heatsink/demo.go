package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/heatsink-go/heatsink/internal/figure"
	"github.com/spf13/cobra"
)

// demo shows the product: a hot key that throttles, the same load over shards, and everything read back. It checks what
// it shows.
type demo struct {
	screen *screen
	load   load
	key    string
	report demoReport
}

const (
	demoKey   = "PAGE_VIEWS"
	demoTable = "views"
)

// The loads differ in their length only. Large puts keep their number within what a small machine can do.
var (
	fullLoad  = load{perSecond: 1000, units: 8, runIn: time.Second, measured: 6 * time.Second}
	quickLoad = load{perSecond: 1000, units: 8, runIn: time.Second, measured: time.Second}
)

func newDemo() *cobra.Command {
	var asJSON, quick bool
	cmd := &cobra.Command{
		Use:   "demo",
		Short: "See a hot key throttle, spread it over shards, read it back: half a minute",
		Long: `Write the same load to one key in three ways, on an engine inside this process
whose partitions throttle as DynamoDB's do, and read everything back:

  1. one key, which is one partition: 1,000 write units (WCU) a second
  2. ten shards, on a table with 40 partitions
  3. ten shards, on a new on-demand table, which has four

Nothing is installed, no port is opened, no AWS account is used. It fails if
a write that was acknowledged is not there, or is there twice, or out of order.

With --json, stdout is one JSON document. Rates are per second, over the seconds
that count: all but the first.

  quick                  whether it was asked to hurry
  targetPerSecond        write units that were to be offered
  putWriteUnits          write units of one put
  measuredSeconds        how long each act counts
  elapsedSeconds         how long it all took
  acts[]
    name                 one-key, many-partitions or four-partitions
    shards, partitions   of the key, of the table
    occupiedPartitions   partitions that have a shard of the key
    sharingShards        shards that share theirs with another
    offered              write units of the puts that were begun
    accepted             write units that the engine charged
    refused              write units of the puts that failed, throttled to the end
    throttles, retries   requests: those that were throttled, those that were repeated
    putMillisP50         how long the puts took that succeeded, retries included:
    putMillisP99         the median, and what one in a hundred exceeds
    acknowledged         puts that succeeded, all seconds
    read                 items that were read back in order, each of the above once
    counted              what Count says
    countRequests, countReadUnits, planRequests, pageTokenLength
    seconds[]            offered, accepted, refused, throttles, retries of each second;
                         fewer of them if the machine is too busy to look in time`,
		Example: `  heatsink demo
  heatsink demo --quick
  heatsink demo --quick --json | jq '.acts[] | {name, accepted, refused}'`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			d := &demo{screen: newScreen(cmd.OutOrStdout()), load: fullLoad, key: demoKey}
			if asJSON {
				d.screen = silent()
			}
			if quick {
				d.load = quickLoad
			}
			d.report.Quick = quick
			if err := d.run(cmd.Context()); err != nil || !asJSON {
				return err
			}
			return json.NewEncoder(cmd.OutOrStdout()).Encode(d.report)
		},
	}
	cmd.Flags().BoolVar(&quick, "quick", false, "measure each act for a second only")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print the figures as JSON, and nothing else")
	return cmd
}

func (d *demo) run(ctx context.Context) error {
	start := time.Now()
	d.opening()
	for i, a := range acts {
		result, err := d.play(ctx, i+1, a)
		if err != nil {
			d.screen.clear()
			return err
		}
		d.report.Acts = append(d.report.Acts, result)
	}
	d.report.Target = float64(d.load.perSecond * d.load.units)
	d.report.PutUnits = d.load.units
	d.report.Measured = d.load.measured.Seconds()
	d.report.Elapsed = time.Since(start).Seconds()
	d.closing()
	return nil
}

func (d *demo) opening() {
	l := d.load
	d.screen.say("%s", d.screen.bold("heatsink demo: a DynamoDB inside this process, with partitions that throttle"))
	d.screen.say("")
	d.screen.say("Three acts with the same load: %s puts a second of %d KB, all to %s.",
		figure.Thousands(l.perSecond), l.units, d.key)
	d.screen.say("That is %s write units (WCU) a second; a partition takes 1,000. A throttled put", figure.Thousands(l.perSecond*l.units))
	d.screen.say("is tried again as heatsink does by default: up to 6 attempts, on another shard if")
	d.screen.say("there is one, about one retry for five puts. Refused is what failed all the same.")
	d.screen.say("First seconds do not count: partitions begin with what they saved when idle.")
}

// play does one act from the empty table to the last item read back.
func (d *demo) play(ctx context.Context, number int, a act) (report actReport, err error) {
	s, err := a.open(ctx, d.key, d.load.units)
	if err != nil {
		return actReport{}, err
	}
	defer func() { err = errors.Join(err, s.db.Close()) }()
	d.screen.say("")
	d.screen.say("%s", d.screen.bold(fmt.Sprintf("Act %d: %s", number, a.title)))
	d.screen.say("  %s", s.spread)
	run, err := s.write(ctx, d.load, d.screen)
	if err != nil {
		return actReport{}, err
	}
	back, err := s.readBack(ctx, run.acknowledged)
	if err != nil {
		return actReport{}, fmt.Errorf("act %d, %s: %w", number, a.title, err)
	}
	back.show(d.screen, a.tour)
	return newActReport(s, run, back), nil
}

func (d *demo) closing() {
	d.screen.say("")
	d.report.table(d.screen)
	d.screen.say("")
	for _, line := range d.report.meaning() {
		d.screen.say("%s", line)
	}
	d.screen.say("")
	d.screen.say("That took %.0f s. Next: README.md, or go doc github.com/heatsink-go/heatsink", d.report.Elapsed)
}
