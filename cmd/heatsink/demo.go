package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/heatsink-go/heatsink/heat/heatpage"
	"github.com/heatsink-go/heatsink/internal/figure"
)

// demo shows the product: a hot key that throttles, the same load on shards, and everything read back. It verifies what it
// shows.
type demo struct {
	screen *screen
	load   load
	key    string
	report demoReport
	page   pageFlags
	heat   *demoHeat // what a page shows, nil if there is none
}

const (
	demoKey   = "PAGE_VIEWS"
	demoTable = "views"
)

// The loads differ in their length only. Large puts keep their number within what a small machine can do.
var (
	fullLoad  = load{perSecond: 1000, units: 8, runIn: time.Second, measured: 4 * time.Second}
	quickLoad = load{perSecond: 1000, units: 8, runIn: time.Second, measured: time.Second}
)

func newDemo() *cobra.Command {
	var asJSON, quick bool
	var page pageFlags
	cmd := &cobra.Command{
		Use:   "demo",
		Short: "See a hot key throttle, and the same load on shards, in half a minute",
		Long: `Write the same load to one key in four ways, then read everything back. The engine
runs inside this process, and its partitions throttle as DynamoDB's do.

  1. one key, which is one partition: 1,000 write units (WCU) per second
  2. ten shards, on a table with 40 partitions
  3. ten shards, on a new on-demand table, which has four partitions
  4. one key that is cold first, then hot, and grows by itself (heatsink.Adaptive), on a
     table with 40 partitions

The demo installs nothing, opens no port unless --web asks for one, and uses no AWS
account. It fails if an acknowledged write is missing, duplicated or out of order.

With --json, stdout is one JSON document. Rates are per second. They exclude the first
second of each act, and of the fourth act the time before the key has grown.

  quick                  true with --quick
  targetPerSecond        write units per second that the demo tries to offer
  putWriteUnits          write units of one put
  measuredSeconds        measured time of each act, of the fourth 3 at most
  elapsedSeconds         duration of the whole demo
  acts[]
    name                 one-key, many-partitions, four-partitions or adaptive
    shards               shards of the key, in the end
    partitions           partitions of the table
    occupiedPartitions   partitions that hold a shard of the key
    sharingShards        shards that share a partition with another shard
    offered              write units of all puts
    accepted             write units that the engine charged
    refused              write units of puts that failed, throttled on every attempt
    throttles            throttled requests
    retries              repeated requests
    putMillisP50         median latency of successful puts, retries included
    putMillisP99         latency of successful puts at the 99th percentile
    acknowledged         successful puts, including those that the rates exclude
    read                 items that Query returned, in order and each once
    counted              result of Count
    countRequests        requests of Count
    countReadUnits       read units of Count
    planRequests         requests that Plan predicts for the newest items
    pageTokenLength      characters of a page token
    seconds[]            offered, accepted, refused, throttles and retries of each second;
                         width: shards at its end, in the fourth act;
                         a busy machine may miss some seconds`,
		Example: `  heatsink demo
  heatsink demo --quick
  heatsink demo --web 127.0.0.1:8080        and watch it in a browser
  heatsink demo --quick --json | jq '.acts[] | {name, accepted, refused}'`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			d := &demo{screen: newScreen(cmd.OutOrStdout()), load: fullLoad, key: demoKey, page: page}
			if asJSON {
				d.screen = silent()
			}
			if quick {
				d.load = quickLoad
			}
			d.report.Quick = quick
			if err := d.watched(cmd.Context()); err != nil || !asJSON {
				return err
			}
			return json.NewEncoder(cmd.OutOrStdout()).Encode(d.report)
		},
	}
	cmd.Flags().BoolVar(&quick, "quick", false, "measure each act for one second only")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print the figures as JSON only")
	page.flags(cmd.Flags())
	return cmd
}

// watched plays the demo, with a page if one is wanted. A page that is served stays until ctx ends.
func (d *demo) watched(ctx context.Context) (err error) {
	if !d.page.wanted() {
		return d.run(ctx)
	}
	d.heat = &demoHeat{}
	page, err := d.page.start(ctx, heatpage.Options{Title: "heatsink demo", Source: d.heat.round, Ledger: d.heat.ledger})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, page.end(ctx)) }()
	if page.url != "" {
		d.screen.say("Open %s in a browser to see the heat as a picture.", page.url)
		d.screen.say("")
	}
	if err := d.run(ctx); err != nil || page.url == "" {
		return err
	}
	d.heat.end()
	d.screen.say("The page stays at %s until you press Ctrl-C.", page.url)
	<-ctx.Done()
	return nil
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
	d.screen.say("%s", d.screen.bold("heatsink demo: a DynamoDB inside this process, whose partitions throttle"))
	d.screen.say("")
	d.screen.say("Four acts with the same load: %s puts per second of %d KB each, all to key %s.",
		figure.Thousands(l.perSecond), l.units, d.key)
	d.screen.say("That is %s write units (WCU) per second; one partition serves 1,000.", figure.Thousands(l.perSecond*l.units))
	d.screen.say("heatsink retries a throttled put with its default settings: up to 6 attempts, on")
	d.screen.say("another shard if there is one, within a retry budget of about one retry per five puts.")
	d.screen.say("A refused put was throttled on every attempt. The first second of each act is not")
	d.screen.say("counted, because partitions start with capacity that they saved while idle.")
}

// play does one act from the empty table to the last item read back.
func (d *demo) play(ctx context.Context, number int, a act) (report actReport, err error) {
	s, err := a.open(ctx, d.key, d.load.units)
	if err != nil {
		return actReport{}, err
	}
	defer func() { err = errors.Join(err, s.close()) }()
	if d.heat != nil {
		if err := s.show(d.heat, number); err != nil {
			return actReport{}, err
		}
	}
	d.screen.say("")
	d.screen.say("%s", d.screen.bold(fmt.Sprintf("Act %d: %s", number, a.title)))
	d.screen.say("  %s", s.spread)
	l := d.load
	if a.grows {
		l = l.growing()
	}
	run, err := s.write(ctx, l, d.screen)
	if err != nil {
		return actReport{}, err
	}
	if a.grows {
		if s.spread, err = s.grownSpread(ctx); err != nil {
			return actReport{}, err
		}
		d.screen.say("  %s", grownText(run.seconds, l.cold))
		d.screen.say("  %s", s.spread)
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
	d.screen.say("The demo took %.0f s. Next: README.md, or go doc github.com/heatsink-go/heatsink", d.report.Elapsed)
	if !d.page.wanted() {
		d.screen.say("To see the heat as a picture in your browser: heatsink demo --web 127.0.0.1:8080")
	}
}
