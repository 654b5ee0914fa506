package main

import "fmt"

// A goal is a figure that matters and what it should be; some figures have no target and are only shown.
type goal struct {
	What    string  `json:"what"`
	Value   float64 `json:"value"`
	Unit    string  `json:"unit"`
	Target  float64 `json:"target,omitempty"`
	AtMost  bool    `json:"at_most,omitempty"` // the value should be at most the target, not at least
	Verdict string  `json:"verdict,omitempty"` // ok, missed, or nothing without a target
}

func atLeast(target float64, what string, value float64, unit string) goal {
	return goal{What: what, Value: value, Unit: unit, Target: target, Verdict: verdict(value >= target)}
}

func atMost(target float64, what string, value float64, unit string) goal {
	return goal{What: what, Value: value, Unit: unit, Target: target, AtMost: true, Verdict: verdict(value <= target)}
}

func verdict(ok bool) string {
	if ok {
		return "ok"
	}
	return "missed"
}

// bound is the target as a comparison.
func (g goal) bound() string {
	switch {
	case g.Target == 0:
		return ""
	case g.AtMost:
		return fmt.Sprintf("<= %g", g.Target)
	default:
		return fmt.Sprintf(">= %g", g.Target)
	}
}

// targets are the least ratios of heatsink's throughput to another engine's.
var targets = map[[2]string]float64{
	{"dynoxide", "put"}: 5, {"dynoxide", "get"}: 2.5, {"dynoxide", "query"}: 2,
	{"dynamodb-local", "put"}: 8,
	{"empty", "get"}:          0.75,
}

// processorTargets are the least ratios of another engine's processor time for a request to heatsink's. Dynalite has one thread, and
// leaves the other processor to the client: beside it, an empty handler has no four times the throughput.
var processorTargets = map[[2]string]float64{
	{"dynalite", "put"}: 4, {"dynalite", "get"}: 4, {"dynalite", "query"}: 4,
}

// comparisonGoals judges heatsink beside whatever ran with it.
func comparisonGoals(all field, workloads []workload) []goal {
	goals := []goal{}
	subject := all.named("heatsink")
	if subject == nil {
		return goals
	}
	for _, other := range []string{"dynoxide", "dynalite", "dynamodb-local", "empty"} {
		peer := all.named(other)
		if peer == nil {
			continue
		}
		for _, w := range workloads {
			target := targets[[2]string{other, w.name}]
			if other == "empty" && target == 0 {
				continue // an answer without content says nothing about the other workloads
			}
			ratio := medianRatio(subject.samples[w.name], peer.samples[w.name], throughput)
			g := goal{What: fmt.Sprintf("%s: heatsink / %s", w.name, other), Value: ratio, Unit: "x"}
			if target > 0 {
				g = atLeast(target, g.What, g.Value, g.Unit)
			}
			goals = append(goals, g)
			if least := processorTargets[[2]string{other, w.name}]; least > 0 && subject.samples[w.name][0].server > 0 {
				what := fmt.Sprintf("%s: processor time of %s / heatsink", w.name, other)
				goals = append(goals, atLeast(least, what, medianRatio(peer.samples[w.name], subject.samples[w.name], processorTime), "x"))
			}
		}
	}
	goals = append(goals, atMost(100, "heatsink: start to first answer", startMillis(subject), "ms"))
	if subject.idle > 0 {
		goals = append(goals, atMost(40, "heatsink: idle memory", megabytes(subject.idle), "MB"))
	}
	return goals
}

// slowest is how much of an earlier run's throughput heatsink must have.
const slowest = 0.9

// goalsSince judges heatsink beside an earlier run. A machine that is slower now is so for the empty handler as well: with it in both
// runs, throughputs are in its measure.
func (r *report) goalsSince(before *report) []goal {
	var goals []goal
	machine := 1.0
	if now, then := r.perSecond("get", "empty"), before.perSecond("get", "empty"); now > 0 && then > 0 {
		machine = now / then
	}
	for _, result := range r.Results {
		then := before.perSecond(result.Workload, "heatsink")
		if result.Server == "heatsink" && then > 0 {
			goals = append(goals, atLeast(slowest, result.Workload+": heatsink now / before", result.PerSecond/then/machine, "x"))
		}
	}
	return goals
}

// perSecond is a throughput of the report, 0 if it has none.
func (r *report) perSecond(workload, server string) float64 {
	for _, result := range r.Results {
		if result.Workload == workload && result.Server == server {
			return result.PerSecond
		}
	}
	return 0
}

// growthGoals judges how much dearer requests are on the large table than on the small one.
func growthGoals(small, large *contestant, workloads []workload) []goal {
	var goals []goal
	for _, w := range workloads {
		// Cost is the inverse of throughput.
		ratio := medianRatio(small.samples[w.name], large.samples[w.name], throughput)
		what := fmt.Sprintf("%s: cost at %d / at %d items", w.name, large.stored, small.stored)
		goals = append(goals, atMost(1.5, what, ratio, "x"))
	}
	if large.loaded > 0 {
		perItem := float64(large.loaded-large.idle) / float64(large.stored)
		goals = append(goals, atMost(400, "memory per stored item of about 200 bytes", perItem, "bytes"))
	}
	return goals
}

// medianRatio is the median over the rounds of a figure of a divided by that of b. What disturbs a round disturbs both, and leaves
// their ratio alone.
func medianRatio(a, b []sample, figure func(sample) float64) float64 {
	ratios := make([]float64, len(a))
	for i := range a {
		ratios[i] = figure(a[i]) / figure(b[i])
	}
	return median(ratios)
}

func throughput(s sample) float64    { return s.perSecond }
func processorTime(s sample) float64 { return micros(s.server) }
