package main

import (
	"encoding/json"
	"net/http"
	"slices"
	"strconv"

	"github.com/heatsink-go/heatsink/heat"
	"github.com/heatsink-go/heatsink/internal/engine"
)

// heatPath is where a server with physics tells which keys are hot.
const heatPath = "/heat"

// observeInto returns an observer for an engine that lets a recorder count what it is told.
func observeInto(recorder *heat.Recorder) func(*engine.Access) {
	return func(a *engine.Access) {
		seen := heat.Observation{
			Resource: heat.Resource{Table: a.Table, Index: a.Index},
			KeyNames: a.KeyNames, Key: a.Key, Sort: a.Sort,
			Throttled: a.Reason != "", Reason: a.Reason, Partition: a.Partition,
		}
		if a.WriteUnits > 0 {
			seen.Direction, seen.Units = heat.Write, a.WriteUnits
			recorder.Observe(seen)
		}
		if a.ReadUnits > 0 {
			seen.Direction, seen.Units = heat.Read, a.ReadUnits
			recorder.Observe(seen)
		}
	}
}

// mostTopKeys is how many keys the server lists of a flow, at most.
const mostTopKeys = 1000

// newHeatHandler answers GET /heat?table=NAME&top=50 with a heat.Report of a table and its indexes, or of all tables.
func newHeatHandler(recorder *heat.Recorder) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodGet {
			w.Header().Set("Allow", http.MethodGet)
			http.Error(w, "GET only", http.StatusMethodNotAllowed)
			return
		}
		top := 50
		if text := r.FormValue("top"); text != "" {
			var err error
			if top, err = strconv.Atoi(text); err != nil || top < 0 {
				http.Error(w, "top: want a number of keys, 0 or more, not "+text, http.StatusBadRequest)
				return
			}
		}
		report := recorder.Report()
		report.Source = heat.Engine
		for i := range report.Resources {
			for _, d := range [...]heat.Direction{heat.Read, heat.Write} {
				f := report.Resources[i].Flow(d)
				f.Keys = f.Keys[:min(top, len(f.Keys))]
			}
		}
		if table := r.FormValue("table"); table != "" {
			report.Resources = slices.DeleteFunc(report.Resources, func(r heat.ResourceReport) bool { return r.Table != table })
		}
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(report) // the client is gone if this fails
	})
}
