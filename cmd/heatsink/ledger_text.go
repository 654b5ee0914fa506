package main

import (
	"fmt"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/heatsink-go/heatsink"
	"github.com/heatsink-go/heatsink/internal/charter"
	"github.com/heatsink-go/heatsink/internal/figure"
	protocol "github.com/heatsink-go/heatsink/internal/ledger"
	"github.com/heatsink-go/heatsink/layout"
)

// maxWidth is the largest width that a key grows to.
const maxWidth = protocol.HardWidth

// ledgerDocument is a ledger as JSON.
type ledgerDocument struct {
	Key        string           `json:"key"`
	Bucket     *time.Time       `json:"bucket,omitempty"`
	Width      int              `json:"width,omitempty"`
	ReadWidth  int              `json:"read_width,omitempty"`
	Generation int64            `json:"generation"`
	Frozen     bool             `json:"frozen"`
	Why        string           `json:"why,omitempty"`
	By         string           `json:"by,omitempty"`
	At         *time.Time       `json:"at,omitempty"`
	History    []ledgerPastText `json:"history,omitempty"`
	Error      string           `json:"error,omitempty"`
}

// ledgerPastText is a width that a key had before.
type ledgerPastText struct {
	Width     int `json:"width"`
	ReadWidth int `json:"read_width"`
}

func document(l heatsink.Ledger, err error) ledgerDocument {
	d := ledgerDocument{
		Key: l.Key, Width: l.Width.Write, ReadWidth: l.Width.Read, Generation: l.Generation, Frozen: l.Frozen, Why: l.Why, By: l.By,
	}
	if !l.Bucket.IsZero() {
		d.Bucket = &l.Bucket
	}
	if !l.At.IsZero() && l.At.Year() < 10_000 { // JSON has no later ones
		d.At = &l.At
	}
	for _, w := range l.History {
		d.History = append(d.History, ledgerPastText{w.Write, w.Read})
	}
	if err != nil {
		d.Error = err.Error()
	}
	return d
}

// writeLedgers writes a line for each ledger.
func writeLedgers(screen *screen, c charter.Charter, list ledgerList) {
	if c.Frozen.On {
		screen.say("the collection is %s", printable(c.Frozen.String()))
	}
	if len(list.widest)+len(list.damaged) == 0 {
		screen.say("no ledgers: every key has one shard")
		return
	}
	table := tabwriter.NewWriter(screen.out, 0, 0, 2, ' ', 0)
	bucketed := c.Layout.Bucket != layout.NoBucket
	row := func(key, bucket, width, generation, frozen, changed, why, by string) {
		cells := []string{key, bucket, width, generation, frozen, changed, by, why}
		if !bucketed {
			cells = append(cells[:1], cells[2:]...)
		}
		fmt.Fprintln(table, strings.Join(cells, "\t"))
	}
	row("KEY", "BUCKET", "WIDTH", "GENERATION", "FROZEN", "CHANGED", "WHY", "BY")
	for _, l := range list.widest {
		row(printable(l.Key), bucketText(c, l.Bucket), widthText(l.Width), strconv.FormatInt(l.Generation, 10), yes(l.Frozen), ago(l.At), printable(l.Why), printable(l.By))
	}
	for _, d := range list.damaged {
		row(printable(d.Key), bucketText(c, d.Bucket), "damaged", "", "", "", printable(d.err.Error()), "")
	}
	_ = table.Flush()
	if list.more > 0 {
		screen.say("%s not listed: raise --top", are(list.more, "narrower ledger"))
	}
}

// writeLedger writes all that is known of one ledger.
func writeLedger(screen *screen, l heatsink.Ledger) {
	screen.say("%s", screen.bold("key "+printable(l.Key)))
	table := tabwriter.NewWriter(screen.out, 0, 0, 2, ' ', 0)
	line := func(name, text string) { fmt.Fprintf(table, "  %s\t%s\n", name, text) }
	if !l.Bucket.IsZero() {
		line("bucket", "from "+l.Bucket.Format(time.RFC3339))
	}
	if l.Generation == 0 {
		line("width", "1 shard, the bare key: no ledger is stored")
		_ = table.Flush()
		return
	}
	line("width", fmt.Sprintf("%s written, %s read", figure.Count(l.Width.Write, "shard"), figure.Thousands(l.Width.Read)))
	line("generation", strconv.FormatInt(l.Generation, 10))
	line("frozen", yes(l.Frozen))
	line("changed", fmt.Sprintf("%s, %s, by %s", l.At.Format(time.RFC3339), ago(l.At), printable(l.By)))
	if l.Why != "" {
		line("why", printable(l.Why))
	}
	var past []string
	for _, w := range l.History {
		past = append(past, widthText(w))
	}
	if past != nil {
		line("before", strings.Join(past, ", "))
	}
	_ = table.Flush()
}

// writeGrowth says what a growth changes, and what reads pay for it.
func writeGrowth(screen *screen, before, after heatsink.Ledger, dryRun bool) {
	added := after.Width.Read - before.Width.Read
	verb := "has grown"
	if dryRun {
		verb = "would grow"
	}
	switch {
	case before.Width == after.Width:
		screen.say("key %s has %s already: nothing changes", printable(after.Key), figure.Count(after.Width.Write, "shard"))
		return
	case added == 0:
		screen.say("key %s %s from %d to %s; reads cost what they did", printable(after.Key), verb, before.Width.Write, figure.Count(after.Width.Write, "shard"))
	default:
		screen.say("key %s %s from %d to %s", printable(after.Key), verb, before.Width.Write, figure.Count(after.Width.Write, "shard"))
		screen.say("each Query of the key sends %s more: %s if the added shards are empty, twice that if it is strong",
			figure.Count(added, "request"), units(float64(added)/2))
	}
	if dryRun {
		screen.say("nothing was changed: this is a dry run")
	}
}

// writeCharter writes the charter as a list.
func writeCharter(screen *screen, b *book) {
	c := b.charter
	screen.say("%s", screen.bold("collection "+b.control.Collection))
	table := tabwriter.NewWriter(screen.out, 0, 0, 2, ' ', 0)
	line := func(name, text string) {
		if text != "" {
			fmt.Fprintf(table, "  %s\t%s\n", name, printable(text))
		}
	}
	line("widths", widthsText(c))
	line("strategy", c.Layout.Strategy.String())
	if c.Layout.Strategy == layout.Calculated {
		line("hash", c.Layout.Hash.String()+" of "+strings.Join(c.ShardBy, ", "))
	}
	spelt := c.Layout
	if c.Widths != charter.Fixed {
		spelt.Shards = 1 // keys have shards, however many
	}
	line("format", spelt.Template())
	if c.Layout.Bucket != layout.NoBucket {
		line("buckets", fmt.Sprintf("by %s, from attribute %s in %s", c.Layout.Bucket, c.EventTime.Attribute, c.EventTime.Unit))
	}
	for _, l := range c.Older {
		line("older", l.String())
	}
	line("table", c.Table)
	line("key", strings.TrimSuffix(c.PartitionKey+", "+c.SortKey, ", "))
	if c.Index.Name != "" {
		line("index", fmt.Sprintf("%s: %s", c.Index.Name, strings.TrimSuffix(c.Index.PartitionKey+", "+c.Index.SortKey, ", ")))
		line("shard attribute", c.Index.ShardAttribute)
	}
	line("version", c.VersionAttribute)
	line("written", fmt.Sprintf("%s by %s", time.UnixMilli(c.At).UTC().Format(time.RFC3339), c.By))
	line("growth", c.Frozen.String())
	_ = table.Flush()
}

// widthsText says how many shards keys have.
func widthsText(c charter.Charter) string {
	if c.Widths == charter.Fixed {
		return fmt.Sprintf("fixed, %s", figure.Count(c.Layout.Shards, "shard"))
	}
	return c.Widths.String()
}

func widthText(w layout.Width) string {
	if w.Write == w.Read {
		return strconv.Itoa(w.Write)
	}
	return fmt.Sprintf("%d of %d", w.Write, w.Read)
}

func bucketText(c charter.Charter, start time.Time) string {
	if start.IsZero() {
		return ""
	}
	text, err := c.Layout.Bucket.Text(start)
	if err != nil {
		return start.Format(time.RFC3339)
	}
	return text
}

func yes(b bool) string {
	if b {
		return "yes"
	}
	return "no"
}

// ago says how long ago a time was, by the clocks of two machines.
func ago(at time.Time) string {
	passed := time.Since(at)
	switch {
	case at.IsZero():
		return ""
	case passed < 0:
		return "now"
	case passed < time.Minute:
		return fmt.Sprintf("%d s ago", int(passed.Seconds()))
	case passed < time.Hour:
		return fmt.Sprintf("%d min ago", int(passed.Minutes()))
	case passed < 48*time.Hour:
		return fmt.Sprintf("%d h ago", int(passed.Hours()))
	}
	return fmt.Sprintf("%d days ago", int(passed.Hours()/24))
}

// units writes read units, which come in halves.
func units(n float64) string {
	text := strconv.FormatFloat(n, 'f', -1, 64)
	if n >= 1000 {
		text = figure.Thousands(n)
	}
	if text == "1" {
		return "1 read unit"
	}
	return text + " read units"
}

// are writes how many there are, with the verb: 1 ledger is, 2 ledgers are.
func are(n int, noun string) string {
	if n == 1 {
		return "1 " + noun + " is"
	}
	return figure.Count(n, noun) + " are"
}
