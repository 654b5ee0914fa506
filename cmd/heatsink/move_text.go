package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/heatsink-go/heatsink/internal/figure"
	"github.com/heatsink-go/heatsink/internal/quote"
	"github.com/heatsink-go/heatsink/move"
	prices "github.com/heatsink-go/heatsink/plan"
)

// moveOutput is where a move is shown: people read the screen, and the results at the end. Machines read JSON.
type moveOutput struct {
	screen, results *screen
	json            *json.Encoder // nil for people

	waits string    // the stage whose wait was shown last
	shown time.Time // when
}

// waitEvery is how often machines are told that a move still waits.
const waitEvery = 10 * time.Second

func (o *moveOutput) line(name string, value any) {
	_ = o.json.Encode(map[string]any{name: value}) // as with Fprintln, a closed pipe ends the process
}

// forecast shows what a move will do.
func (o *moveOutput) forecast(m *mover, options move.Options, f move.Forecast) {
	if o.json != nil {
		o.line("forecast", f)
		return
	}
	s, list := o.results, prices.USEast1()
	exact := aboutText(f)
	s.say("%s", s.bold(fmt.Sprintf("move of table %s, index %s", printable(m.table), printable(options.Collection.Index.Name))))
	for _, l := range options.From {
		s.say("  from       %s", printable(l.String()))
	}
	if len(options.From) == 0 {
		for _, l := range options.Collection.Older {
			s.say("  from       %s", printable(l.String()))
		}
	}
	to := options.Collection.Layout.String()
	if options.Collection.Adaptive != nil {
		to = "the present width of each key, by its ledger"
	}
	s.say("  to         %s", printable(to))
	margin := ""
	if f.MovesMargin > 0 {
		margin = fmt.Sprintf(" (give or take %s)", figure.Thousands(f.MovesMargin))
	}
	s.say("  items      %s%s%s of %s, %s in the table", exact, figure.Count(f.Moves, "move"), margin, figure.Count(f.Items, "item"), figure.Bytes(f.Bytes))
	if f.Misplaced > 0 {
		s.say("  misplaced  %s%s of these moves are out of another shard of the new layout than the calculated one", exact, figure.Thousands(f.Misplaced))
	}
	s.say("  writes     %s%s, of which %s are of indexes", exact, figure.Count(f.WriteUnits, "unit"), figure.Thousands(f.IndexUnits))
	s.say("  reads      %s%s, in two passes", exact, figure.Count(f.ReadUnits, "unit"))
	s.say("  cost       %s on demand, at the prices of %s of %s", aboutDollars(f.Dollars, exact), list.Region, list.Date)
	s.say("  time       %s%s at %s write and %s read units per second", exact, timeText(f.Duration), figure.Thousands(options.WCU), figure.Thousands(options.RCU))
	s.say("  recovery   point-in-time recovery is %s", f.PointInTimeRecovery)
	if f.Resumes {
		s.say("  resumes    the checkpoint of an earlier run: the moves and writes are those that are left, the reads are those of two whole passes")
	}
	if f.Unexplained > 0 {
		s.say("%s", s.red(fmt.Sprintf("  %s%s would stay where they are: no given layout explains them", exact, figure.Count(f.Unexplained, "item"))))
	}
	if f.Ambiguous > 0 {
		s.say("%s", s.red(fmt.Sprintf("  %s%s would stay where they are: their keys may be of two logical keys", exact, figure.Count(f.Ambiguous, "item"))))
	}
	o.findings(f.Findings)
	for _, note := range f.Notes {
		s.say("  note       %s", note)
	}
}

// progress shows how far a move is.
func (o *moveOutput) progress(p move.Progress) {
	if !p.Until.IsZero() && !o.tellsWait(p) {
		return
	}
	if o.json != nil {
		o.line("progress", p)
		return
	}
	if !p.Until.IsZero() {
		if !o.screen.terminal {
			o.screen.say("%s: waiting until %s", p.Stage, clock(p.Until))
		}
		o.screen.live(fmt.Sprintf("%s: waiting until %s, %s left", p.Stage, clock(p.Until), timeText(max(time.Until(p.Until), 0))))
		return
	}
	text := fmt.Sprintf("pass %d: %.1f %% of %s, %s moved, %s RCU and %s WCU/s at most", p.Pass, 100*p.Share(), figure.Count(p.Of, "item"),
		figure.Thousands(p.Moved), figure.Thousands(p.RCU), figure.Thousands(p.WCU))
	if p.Throttles > 0 {
		text += ", " + figure.Count(p.Throttles, "throttle")
	}
	if p.Late > 0 {
		text += ", " + o.screen.red(figure.Thousands(p.Late)+" late")
	}
	if p.Left > 0 {
		text += ", " + timeText(p.Left) + " left"
	}
	o.screen.live(text)
}

// tellsWait reports whether to tell that a move waits: to people at a terminal each time, to machines now and then, to a log once a stage.
func (o *moveOutput) tellsWait(p move.Progress) bool {
	if o.json == nil && o.screen.terminal {
		return true
	}
	if o.waits == p.Stage && (o.json == nil || time.Since(o.shown) < waitEvery) {
		return false
	}
	o.waits, o.shown = p.Stage, time.Now()
	return true
}

// ending is how a command ended, for machines.
type ending struct {
	Complete bool   `json:"complete"` // it came to its end; what a report says is another matter
	Error    string `json:"error,omitempty"`
}

func endingOf(err error) ending {
	if err != nil {
		return ending{Error: err.Error()}
	}
	return ending{Complete: true}
}

// nothing says that no item is to be moved at all, which may be a slip of the pen.
func (o *moveOutput) nothing(m *mover) {
	switch {
	case o.json != nil: // listed is 0
	case m.byID.used:
		o.results.say("the collection has no item")
	case m.key != "":
		o.results.say("no item matches --key %s: the index lists none under this logical key", printable(quote.Text(m.key)))
	case m.prefix != "":
		o.results.say("no item matches --prefix %s: the index lists none under such a logical key", printable(quote.Text(m.prefix)))
	default:
		o.results.say("the index lists no item")
	}
}

// result shows what a move did.
func (o *moveOutput) result(r move.Result, err error) {
	if o.json != nil {
		o.resultLine(r, err)
		return
	}
	s := o.results
	s.say("%s moved in %s and %s; %s", s.bold(figure.Count(r.Moved, "item")), passesText(r.Passes), timeText(r.Took), figure.Count(r.Throttles, "throttle"))
	left, whole := "forecast", "forecast"
	if r.Resumed { // a checkpoint saves reading, and what was moved before is not forecast
		left, whole = "forecast for what was left", "forecast for two whole passes"
	}
	s.say("  writes   %s, %s %s", figure.Count(r.WriteUnits, "unit"), left, figure.Thousands(r.Forecast.WriteUnits))
	s.say("  reads    %s, %s %s", figure.Count(r.ReadUnits, "unit"), whole, figure.Thousands(r.Forecast.ReadUnits))
	s.say("  cost     %s on demand, %s %s", dollarsText(r.Dollars), left, dollarsText(r.Forecast.Dollars))
	if r.Late > 0 {
		s.say("%s", s.red(fmt.Sprintf("%s appeared in old places behind the mover: some program still writes an old layout, or --to is not the layout of the programs", figure.Count(r.Late, "item"))))
	}
	o.findings(r.Findings)
	switch {
	case err == nil && r.Listed == 0:
		s.say("there was nothing to move")
	case err == nil:
		s.say("every item is where the layout has it: %s", figure.Thousands(r.Right+r.Narrower))
	case !errors.Is(err, move.ErrDamage):
		s.say("the move is not through: the same command goes on")
	}
}

// report shows what a verification found.
func (o *moveOutput) report(r move.Report, err error) {
	if o.json != nil {
		o.reportLine(r, err)
		return
	}
	if err != nil {
		o.results.say("the verification is not through, and this is what it found up to then:")
	}
	s := o.results
	s.say("%s read, %s listed", figure.Count(r.Scanned, "item"), figure.Thousands(r.Listed))
	o.tallies([]tally{
		{r.Right, "where the layout has them"},
		{r.Narrower, "where the layout had them when their keys had fewer shards: readers find them"},
		{r.Old, "in a place of an old layout"},
		{r.Misplaced, "in another shard than the calculated one"},
		{r.Beyond, "in a shard that readers do not read"},
		{r.Unexplained, "under a key that no layout explains"},
		{r.Ambiguous, "under a key that may be of two logical keys"},
		{r.Waiting, "of these, still in old homes, from which they move"},
		{r.Doubled, "in both homes"},
		{r.Stranded, "in a home that nobody reads"},
		{r.Lost, "only where nobody reads them"},
		{r.Marks, "with marks that nobody explains"},
		{r.Leftover, "left over from a move that has ended"},
	})
	o.findings(r.Findings)
}

// aboutText is what stands before a figure of a forecast.
func aboutText(f move.Forecast) string {
	if f.Exact {
		return ""
	}
	return "about "
}

// resultLine shows a result, and how it ended, to a program.
func (o *moveOutput) resultLine(r move.Result, err error) {
	o.line("result", struct {
		move.Result
		ending
	}{r, endingOf(err)})
}

// reportLine is resultLine for a report.
func (o *moveOutput) reportLine(r move.Report, err error) {
	o.line("report", struct {
		move.Report
		ending
	}{r, endingOf(err)})
}

// tally is how many items there are of a kind.
type tally struct {
	n    int64
	text string
}

// tallies shows those of which there are any.
func (o *moveOutput) tallies(all []tally) {
	for _, t := range all {
		if t.n > 0 {
			o.results.say("  %12s  %s", figure.Thousands(t.n), t.text)
		}
	}
}

func (o *moveOutput) findings(all []move.Finding) {
	for _, f := range all {
		text := fmt.Sprintf("  %-11s  item with %s, stored as %s", f.Kind, f.Key, quote.Text(f.Stored))
		if f.Table != "" {
			text += " in table " + f.Table
		}
		if f.Want != "" {
			text += ", belongs to " + quote.Text(f.Want)
		}
		if f.Why != "" {
			text += ": " + f.Why
		}
		o.results.say("%s", printable(text))
	}
}

// warnings show what is logged, above the live line.
type warnings struct{ *screen }

func (w warnings) Write(text []byte) (int, error) {
	w.say("%s", printable(strings.TrimSpace(string(text))))
	return len(text), nil
}

// timeText writes how long something takes, without digits that nobody needs.
func timeText(d time.Duration) string {
	switch {
	case d >= time.Hour:
		return spanText(d.Round(time.Minute))
	case d >= time.Second:
		return spanText(d.Round(time.Second))
	}
	return spanText(d.Round(time.Millisecond))
}

// aboutDollars writes an amount that may be inferred.
func aboutDollars(x float64, about string) string {
	if x > 0 && x < 0.01 {
		return dollarsText(x) // this is a bound already
	}
	return about + dollarsText(x)
}

func dollarsText(x float64) string {
	if x > 0 && x < 0.01 {
		return "less than $0.01"
	}
	return fmt.Sprintf("$%.2f", x)
}

func passesText(n int) string {
	if n == 1 {
		return "1 pass"
	}
	return fmt.Sprintf("%d passes", n)
}
