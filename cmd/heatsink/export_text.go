package main

import (
	"encoding/json"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/heatsink-go/heatsink/internal/dump"
	"github.com/heatsink-go/heatsink/internal/figure"
)

// dumpOutput is where an export or import is shown.
type dumpOutput struct {
	screen, results *screen
	json            *json.Encoder // nil for people
	done            string        // what has become of the items
	shown           time.Time
}

func newDumpOutput(cmd *cobra.Command, done string, asJSON bool) *dumpOutput {
	o := &dumpOutput{screen: newScreen(cmd.ErrOrStderr()), results: newScreen(cmd.OutOrStdout()), done: done}
	if asJSON {
		o.json = json.NewEncoder(cmd.OutOrStdout())
	}
	return o
}

// progress shows how far it has come, once a second. To a log it says so every ten.
func (o *dumpOutput) progress(p dump.Progress) {
	every := time.Second
	if o.json == nil && !o.screen.terminal {
		every = 10 * time.Second
	}
	switch now := time.Now(); {
	case o.shown.IsZero():
		o.shown = now
		return
	case now.Sub(o.shown) < every:
		return
	default:
		o.shown = now
	}
	if o.json != nil {
		_ = o.json.Encode(map[string]any{"progress": p}) // as with Fprintln, a closed pipe ends the process
		return
	}
	text := fmt.Sprintf("%s %s of about %s, %s, %s", figure.Count(p.Items, "item"), o.done, figure.Thousands(p.Of),
		figure.Count(p.Files, "file"), figure.Count(p.Units, "unit"))
	if p.Waiting != "" {
		text += "; waiting: " + printable(p.Waiting)
	}
	if o.screen.terminal {
		o.screen.live(text)
	} else {
		o.screen.say("%s", text)
	}
}

// result shows what was done, also if it was cut short. Then hint says what to do.
func (o *dumpOutput) result(r dump.Result, err error, hint string) {
	o.screen.clear()
	if o.json != nil {
		line := map[string]any{"result": r, "complete": err == nil}
		if err != nil {
			line["error"] = err.Error()
		}
		_ = o.json.Encode(line)
		return
	}
	if r.Path == "" {
		return
	}
	resumed := ""
	if r.Resumed {
		resumed = ", going on where an earlier run was"
	}
	if err != nil && hint != "" && (r.Items > 0 || r.Resumed) { // else there is nothing to go on with
		o.screen.say("not finished: %s of table %s %s%s; %s", figure.Count(r.Items, "item"), printable(r.Table), o.done, resumed, hint)
	}
	if err != nil {
		return
	}
	if r.Created {
		o.results.say("created table %s", printable(r.Table))
	}
	o.results.say("%s of table %s %s%s: %s in %s, %s", figure.Count(r.Items, "item"), printable(r.Table), o.done, resumed,
		figure.Count(r.Files, "file"), printable(r.Path), figure.Count(r.Units, "capacity unit"))
}
