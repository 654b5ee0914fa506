package main

import (
	"cmp"
	"errors"
	"fmt"
	"time"

	"github.com/heatsink-go/heatsink/internal/figure"
	"github.com/heatsink-go/heatsink/layout"
	"github.com/heatsink-go/heatsink/move"
	prices "github.com/heatsink-go/heatsink/plan"
)

// stage shows where a move stands.
func (o *moveOutput) stage(m *mover, s move.Stage) {
	if o.json != nil {
		o.line("stage", s)
		return
	}
	say := o.results
	say.say("%s", say.bold(fmt.Sprintf("table %s is %s, generation %d since %s", printable(m.table), s.Name, s.Generation, clock(s.Since))))
	say.say("  items    %s", printable(s.Now.String()))
	if s.Next != nil {
		say.say("  move to  %s", printable(s.Next.String()))
	}
	say.say("  means    %s", s.Does)
	if s.Rests != "" {
		say.say("%s", say.red("  rests    "+s.Rests))
	} else {
		o.next(m, s)
	}
	switch {
	case s.Former == nil:
	case s.Now.Table != "":
		say.say("  former   programs may still have table %s and %s, until --finish", printable(m.table), printable(s.Former.String()))
	default:
		say.say("  former   programs may still have %s, until --finish", printable(s.Former.String()))
	}
	if s.Why != "" {
		say.say("  noted    %s, by %s", printable(s.Why), printable(s.By))
	}
}

// next says which stage follows, and when.
func (o *moveOutput) next(m *mover, s move.Stage) {
	how := "the same command goes on"
	if m.byID.back || s.Name == "back" || s.Name == "returned" {
		how = "the same command goes on with --back"
	}
	switch {
	case s.Then == "":
	case s.Until.IsZero() || !s.Until.After(time.Now()):
		o.results.say("  next     %s: %s", s.Then, how)
	default:
		o.results.say("  next     %s at %s, in %s: %s then", s.Then, clock(s.Until), timeText(time.Until(s.Until)), how)
	}
}

func clock(t time.Time) string { return t.UTC().Format("2006-01-02 15:04:05 UTC") }

// forecastByID shows what a move of items found by id will do.
func (o *moveOutput) forecastByID(m *mover, options move.Options, f move.Forecast) {
	if o.json != nil {
		o.line("forecast", f)
		return
	}
	s, list := o.results, prices.USEast1()
	exact := aboutText(f)
	what := "items found by id"
	if options.Collection.Layout.Strategy == layout.Random {
		what = "an append-only list"
	}
	s.say("%s", s.bold(fmt.Sprintf("move of table %s, %s", printable(m.table), what)))
	s.say("  from       %s", printable(f.Stage.Now.String()))
	if f.To != nil {
		s.say("  to         %s", printable(f.To.String()))
	}
	s.say("  stage      %s: %s", f.Stage.Name, f.Stage.Does)
	margin := ""
	if f.MovesMargin > 0 {
		margin = fmt.Sprintf(" (give or take %s)", figure.Thousands(f.MovesMargin))
	}
	s.say("  items      %s%s%s of %s, %s", exact, figure.Count(f.Moves, "move"), margin, figure.Count(f.Items, "item"), figure.Bytes(f.Bytes))
	s.say("  writes     %s%s, of which %s are of indexes", exact, figure.Count(f.WriteUnits, "unit"), figure.Thousands(f.IndexUnits))
	s.say("  reads      %s%s, in %s", exact, figure.Count(f.ReadUnits, "unit"), passesText(f.Passes))
	s.say("  cost       %s on demand, at the prices of %s of %s", aboutDollars(f.Dollars, exact), list.Region, list.Date)
	s.say("  time       %s%s of work at %s write and %s read units per second", exact, timeText(f.Duration), figure.Thousands(options.WCU), figure.Thousands(options.RCU))
	s.say("  waits      %s at least, until late requests cannot arrive any more", timeText(f.Waits))
	s.say("  recovery   point-in-time recovery is %s", f.PointInTimeRecovery)
	if f.Moves == 0 && f.Passes == 0 {
		s.say("  nothing    is to be done: every item is there already")
	}
	if f.Blocked > 0 {
		s.say("%s", s.red(fmt.Sprintf("  %s%s would keep the move from beginning:", exact, figure.Count(f.Blocked, "item"))))
	}
	o.findings(f.Findings)
	for _, note := range f.Notes {
		s.say("  note       %s", note)
	}
}

// resultByID shows what a run did, and what comes next.
func (o *moveOutput) resultByID(m *mover, r move.Result, err error) {
	if o.json != nil {
		o.resultLine(r, err)
		return
	}
	if r.Stage.Name == "" || errors.Is(err, move.ErrStage) && r.Passes == 0 {
		return // it did not begin
	}
	s := o.results
	s.say("%s moved and %s removed in %s and %s; %s", s.bold(figure.Count(r.Moved, "item")), figure.Count(r.Dropped, "mark"), passesText(r.Passes), timeText(r.Took), figure.Count(r.Throttles, "throttle"))
	s.say("  writes   %s", figure.Count(r.WriteUnits, "unit"))
	s.say("  reads    %s", figure.Count(r.ReadUnits, "unit"))
	s.say("  cost     %s on demand", dollarsText(r.Dollars))
	if r.Late > 0 {
		s.say("%s", s.red(fmt.Sprintf("%s appeared in old homes behind the mover: some program writes to the table without the record", figure.Count(r.Late, "item"))))
	}
	o.findings(r.Findings)
	s.say("  stage    %s since %s: %s", r.Stage.Name, clock(r.Stage.Since), r.Stage.Does)
	switch {
	case r.Rests != "":
		s.say("%s", s.red("  rests    "+r.Rests))
	case r.Done:
		s.say("the move is over: every item is under %s", printable(r.Stage.Now.String()))
		switch {
		case r.Stage.Former == nil:
		case r.Stage.Now.Table != r.Stage.Former.Table:
			s.say("set Options.Table to %s and Options.Layout to that in all programs, and then run heatsink move %s --finish", printable(cmp.Or(r.Stage.Now.Table, m.table)), printable(m.table))
		default:
			s.say("set Options.Layout to that in all programs, and then run heatsink move %s --finish", printable(m.table))
		}
	case err != nil && !errors.Is(err, move.ErrDamage):
		s.say("the move is not through: the same command goes on")
	default:
		o.next(m, r.Stage)
	}
}

// finished shows that a move is finished.
func (o *moveOutput) finished(s move.Stage) {
	if o.json != nil {
		o.line("stage", s)
		return
	}
	o.results.say("the move is finished: programs must have %s", printable(s.Now.String()))
	if s.Now.Table != "" {
		o.results.say("commands name table %s from now on; in an hour, when late requests cannot arrive any more, the table of before may be deleted", printable(s.Now.Table))
	}
}

// handedOver shows that a move into another table was finished, by somebody else or halfway.
func (o *moveOutput) handedOver(m *mover) {
	if o.json != nil {
		o.line("finished", map[string]string{"table": m.table})
		return
	}
	o.results.say("the move is finished: the collection has left table %s", printable(m.table))
}
