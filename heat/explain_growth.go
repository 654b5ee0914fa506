package heat

import (
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/heatsink-go/heatsink/internal/figure"
	"github.com/heatsink-go/heatsink/internal/judge"
)

// growth adds what the control law has decided about keys of adaptive collections.
func (e *explainer) growth() {
	for i := range e.report.Decisions {
		d := &e.report.Decisions[i]
		if e.excluded(d.Key) {
			continue
		}
		if f, ok := d.finding(); ok {
			e.findings = append(e.findings, f)
		}
	}
}

// finding returns the finding of a decision, if it is one.
func (d *Decision) finding() (Finding, bool) {
	f := Finding{Resource: d.Resource, Direction: Write, Key: d.Key, Severity: Warning}
	switch d.Reason {
	case DecidedGrow:
		f.Kind, f.Severity = KeyGrew, Info
		f.Message = fmt.Sprintf("Key '%s' has grown from %s to %s", d.Key, countShards(d.From), countShards(d.To))
		f.Cause = "its writes were more than its shards should take"
		f.Remedy = "nothing: readers and writers of the collection follow by themselves"
	case DecidedFutile:
		f.Kind = GrowthFutile
		f.Message = fmt.Sprintf("Key '%s' is throttled, and more than %s would not help", d.Key, countShards(d.From))
		f.Cause = "its shards are cold and throttled all the same: the table has too few partitions, so that shards share them"
		f.Remedy = "raise the table's warm throughput, which adds partitions; heatsink plan says how much"
	case DecidedAtMaximum:
		f.Kind = GrowthAtMaximum
		f.Message = fmt.Sprintf("Key '%s' is too hot for %s, the most that the collection allows", d.Key, countShards(d.From))
		f.Cause = "it would grow, but it has reached the maximum of the collection"
		f.Remedy = "raise the collection's maximum width, in all processes; or write less to the key"
	case DecidedFrozen:
		f.Kind, f.Severity = GrowthFrozen, Info
		f.Message = fmt.Sprintf("Key '%s' would grow beyond %s, but its width is frozen", d.Key, countShards(d.From))
		f.Cause = "somebody has frozen the key or the collection"
		f.Remedy = "unfreeze it, or grow it by hand"
	default:
		return Finding{}, false
	}
	f.Evidence = []string{fmt.Sprintf("%s write units/sec of all processes, %.1f%% throttled by key range, at %s",
		figure.Thousands(d.Rate), 100*d.Throttled, d.At.UTC().Format(time.DateTime))}
	if d.Text != "" {
		f.Cause = d.Text
	}
	return f, true
}

// grew takes throttles from before a key grew out of the flow, as they belong to the growth: the key is judged by what came
// after it. Without a decision that says so, a finding does.
func (e *explainer) grew(r *ResourceReport) {
	flow := &r.Writes
	if flow.Throttled == 0 {
		return
	}
	for _, l := range flow.Folded() {
		if l.Shards < 2 || l.Throttled == 0 || !keyRange(l.Reason) || e.excluded(l.Key) {
			continue
		}
		decided := e.decidedGrow(r.Resource, l.Key)
		if !decided && !l.Bare && !growsAsTold(r, l.Key) || !e.calm(flow, l.Key) {
			continue
		}
		proven := decided || hasControl(r)
		if !proven && flow.allRefused(&l) {
			continue // a key that grows gets shards which were never refused: these are of a fixed number
		}
		flow.forget(&l)
		if decided || l.Throttled <= judge.FewThrottles {
			continue
		}
		remedy := "nothing: readers and writers of the collection follow by themselves"
		if !proven {
			remedy = "nothing if the collection is adaptive (Options.Adaptive): readers and writers follow by themselves; if its shards are fixed, " +
				"as by Options.Widths, the throttles were before these shards, or came in bursts (package ratelimit)"
		}
		e.add(r, Finding{
			Kind: KeyGrew, Severity: Info, Direction: Write, Key: l.Key,
			Message: fmt.Sprintf("Key '%s' has grown to %s", l.Key, countShards(l.Shards)),
			Evidence: []string{
				fmt.Sprintf("%s throttled before it had these shards, and hardly any in the last seconds of its traffic", figure.Count(l.Throttled, "request")),
				fmt.Sprintf("%s write units a second were served in the last seconds; %s", figure.Thousands(l.Consumed), l.Spread()),
			},
			Cause:  "its writes were more than its shards should take",
			Remedy: remedy,
		})
	}
}

// allRefused reports whether each shard of a key that is listed has been throttled, more than a few times.
func (f *Flow) allRefused(l *LogicalKey) bool {
	listed := 0
	for i := range f.Keys {
		if k := &f.Keys[i]; f.shardOf(k.Key, l.Key) {
			if listed++; k.Throttled <= judge.FewThrottles {
				return false
			}
		}
	}
	return listed > 1
}

func (e *explainer) decidedGrow(of Resource, key string) bool {
	return slices.ContainsFunc(e.report.Decisions, func(d Decision) bool {
		return d.Reason == DecidedGrow && d.Resource == of && d.Key == key
	})
}

// growsAsTold reports whether a key is one of an adaptive collection by a layout that the source was told.
func growsAsTold(r *ResourceReport, key string) bool {
	return slices.ContainsFunc(r.Writes.Sharded, func(s Sharded) bool {
		return grows(r, &s.Layout, key) && s.Layout.bare([]byte(key))
	})
}

// ended is the throttles a second below which they have ended.
const ended = 1

// calm reports whether the throttles of all shards of a key had ended some seconds before its traffic did, or before now. A
// report of an older release tells it for all keys together only.
func (e *explainer) calm(flow *Flow, key string) bool {
	if len(flow.Trend) == 0 {
		return false
	}
	last := flow.Trend[len(flow.Trend)-1]
	end := last.From.Add(last.For)
	if end.After(e.report.To) {
		end = e.report.To
	}
	all := throttledIn(flow.Trend, end.Add(-5*time.Second), end) < 5*ended
	idle := min(e.report.To.Sub(end), time.Minute) // since then Lately has decayed
	for i := range flow.Keys {
		k := &flow.Keys[i]
		if k.Throttled == 0 || !flow.shardOf(k.Key, key) {
			continue
		}
		if lately := k.Lately * math.Exp(idle.Seconds()/latelyDecay.Seconds()); lately >= ended || lately == 0 && !all {
			return false
		}
	}
	return true
}

// shardOf reports whether a key is a shard of another, or that key itself.
func (f *Flow) shardOf(key, of string) bool {
	name, _ := logicalOf(foldLayouts(f.Sharded), key)
	return name == of || key == of
}

// forget takes the throttles of a key out of a flow, and the demand that came with them out of its shards: what is left is that
// of the last second, or that of shards which were never throttled.
func (f *Flow) forget(l *LogicalKey) {
	f.Throttled -= l.Throttled
	f.Throttles = slices.Clone(f.Throttles) // they are the caller's, as are the keys
	left := l.Throttled
	for i := range f.Throttles {
		if t := &f.Throttles[i]; keyRange(t.Reason) {
			n := min(left, t.Count)
			t.Count, left = t.Count-n, left-n
		}
	}
	f.Keys = slices.Clone(f.Keys)
	var like KeyHeat
	for i := range f.Keys {
		if k := &f.Keys[i]; k.Throttled == 0 && f.shardOf(k.Key, l.Key) {
			like.Rate, like.RateLow = max(like.Rate, k.Rate), max(like.RateLow, k.RateLow)
			like.Busy, like.Busiest = max(like.Busy, k.Busy), max(like.Busiest, k.Busiest)
		}
	}
	for i := range f.Keys {
		k := &f.Keys[i]
		if k.Throttled == 0 || !f.shardOf(k.Key, l.Key) {
			continue
		}
		k.Rate, k.RateLow = min(k.Rate, max(k.Second, like.Rate)), min(k.RateLow, max(k.Second, like.RateLow))
		k.Busy, k.Busiest = min(k.Busy, max(k.Second, like.Busy)), min(k.Busiest, max(k.Second, like.Busiest))
		k.Requests -= k.Throttled
		k.Throttled, k.Refused, k.Lately, k.Reason, k.Estimated = 0, 0, 0, "", false
	}
}

// grows reports whether a key seems to be one of an adaptive collection. No item moves when it grows, so its older shards
// hold more, and nothing is wrong. A layout that the source was told is one of these if control items are beside it.
func grows(r *ResourceReport, l *Layout, key string) bool {
	if !slices.Contains(selfTold, *l) {
		return l.Layout.Format.BareZero && hasControl(r)
	}
	return isBareShard(allFolded(r), key)
}

// hasControl reports whether control items of adaptive collections were seen.
func hasControl(r *ResourceReport) bool {
	return r.Writes.Control.Requests > 0 || r.Reads.Control.Requests > 0 || r.Stored != nil && r.Stored.Control.Items > 0
}
