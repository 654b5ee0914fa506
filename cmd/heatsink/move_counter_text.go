package main

import (
	"errors"
	"fmt"

	"github.com/heatsink-go/heatsink/internal/figure"
	"github.com/heatsink-go/heatsink/internal/quote"
	"github.com/heatsink-go/heatsink/move"
	prices "github.com/heatsink-go/heatsink/plan"
)

// counterForecast shows what an import will do.
func (o *moveOutput) counterForecast(m *mover, options move.CounterOptions, f move.Forecast) {
	if o.json != nil {
		o.line("forecast", f)
		return
	}
	s, list := o.results, prices.USEast1()
	exact := aboutText(f)
	s.say("%s", s.bold(fmt.Sprintf("import of attribute %s of table %s into counters of table %s", printable(quote.Text(m.counter.attribute)), printable(m.table), printable(options.Counter.Table))))
	s.say("  counters   %s%s, in %s of %s", exact, figure.Thousands(f.Moves), figure.Count(f.Items, "item"), figure.Bytes(f.Bytes))
	s.say("  writes     %s%s", exact, figure.Count(f.WriteUnits, "unit"))
	s.say("  reads      %s%s, in two passes", exact, figure.Count(f.ReadUnits, "unit"))
	s.say("  cost       %s on demand, at the prices of %s of %s", aboutDollars(f.Dollars, exact), list.Region, list.Date)
	s.say("  time       %s%s at %s write and %s read units per second", exact, timeText(f.Duration), figure.Thousands(options.WCU), figure.Thousands(options.RCU))
	if f.Resumes {
		s.say("  resumes    the checkpoint of an earlier run: the figures are those of a whole import")
	}
	o.counterFindings(f.Findings)
	for _, note := range f.Notes {
		s.say("  note       %s", note)
	}
}

// counterResult shows what an import did, and what comes next.
func (o *moveOutput) counterResult(m *mover, r move.Result, err error) {
	if o.json != nil {
		o.resultLine(r, err)
		return
	}
	s := o.results
	s.say("%s in %s and %s; %s", s.bold(figure.Count(r.Moved, "import")), passesText(r.Passes), timeText(r.Took), figure.Count(r.Throttles, "throttle"))
	s.say("  writes   %s, forecast %s", figure.Count(r.WriteUnits, "unit"), figure.Thousands(r.Forecast.WriteUnits))
	s.say("  reads    %s, forecast %s", figure.Count(r.ReadUnits, "unit"), figure.Thousands(r.Forecast.ReadUnits))
	s.say("  cost     %s on demand, forecast %s", dollarsText(r.Dollars), dollarsText(r.Forecast.Dollars))
	if r.Late > 0 {
		s.say("%s", s.red(fmt.Sprintf("%s behind the import: some program still counts in the attribute", figure.Count(r.Late, "change"))))
	}
	o.counterFindings(r.Findings)
	switch {
	case err == nil && r.Listed == 0: // the error of the command says so
	case err == nil:
		s.say("every counter has what its attribute has: %s; when no program counts in the attribute any more, --verify shows it, and Origin can be left out of counter.Options", figure.Thousands(r.Right))
	case !errors.Is(err, move.ErrDamage):
		s.say("the import is not through: the same command goes on")
	}
}

// counterReport shows what a comparison found.
func (o *moveOutput) counterReport(m *mover, r move.Report, err error) {
	if o.json != nil {
		o.reportLine(r, err)
		return
	}
	s := o.results
	if err != nil {
		s.say("the verification is not through, and this is what it found up to then:")
	}
	s.say("%s read, %s", figure.Count(r.Scanned, "item"), figure.Count(r.Listed, "counter"))
	o.tallies([]tally{
		{r.Right, "imported, and equal to the attribute"},
		{r.Old, "not imported, or counted in the attribute since"},
		{r.Blocked, "that cannot be imported"},
		{r.Others, "other items with such an attribute, under other sort keys"},
	})
	o.counterFindings(r.Findings)
}

func (o *moveOutput) counterFindings(all []move.Finding) {
	for _, f := range all {
		text := fmt.Sprintf("  %-11s  item with %s has %s", f.Kind, f.Key, f.Stored)
		if f.Want != "" {
			text += ", imported " + f.Want
		}
		o.results.say("%s", printable(text+": "+f.Why))
	}
}
