package heat

import (
	"fmt"
	"iter"
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
	f.Evidence = []string{"decided at " + d.At.UTC().Format(time.DateTime)}
	if d.Rate > 0 {
		f.Evidence = []string{fmt.Sprintf("%s write units/sec of all processes, %.1f%% throttled by key range, at %s",
			figure.Thousands(d.Rate), 100*d.Throttled, d.At.UTC().Format(time.DateTime))}
	}
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
		if l.Throttled == 0 || !keyRange(l.Reason) || e.excluded(l.Key) {
			continue
		}
		if d := e.decidedGrow(r.Resource, l.Key); d != nil {
			if e.calmSince(flow, d) {
				e.forget(r, &l)
			}
			continue
		}
		if l.Shards < 2 || !l.Bare && !growsAsTold(r, l.Key) || !e.calm(flow, l.Key) {
			continue
		}
		proven := hasControl(r)
		if !proven && flow.allRefused(&l) {
			continue // a key that grows gets shards which were never refused: these are of a fixed number
		}
		e.forget(r, &l)
		if l.Throttled <= judge.FewThrottles {
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

// forget takes the throttles of a key out of the writes, and notes that it has grown.
func (e *explainer) forget(r *ResourceReport, l *LogicalKey) {
	r.Writes.forget(l)
	if e.grown == nil {
		e.grown = make(map[about]bool)
	}
	e.grown[about{r.Resource, l.Key}] = true
}

// adapts reports whether a stored key is one that has grown by itself. Its shares are of the time before as well, and what they call
// for the control law does.
func (e *explainer) adapts(r *ResourceReport, d Direction, stored string) bool {
	if d == Read || len(e.grown) == 0 && len(e.report.Decisions) == 0 {
		return false
	}
	name, ok := logicalOf(foldLayouts(r.Writes.Sharded), stored)
	return ok && e.grown[about{r.Resource, name}] || e.grown[about{r.Resource, stored}] || e.grownOf(r, d, stored) != nil
}

// decidedGrow returns the decision by which a key has grown, nil if none is known.
func (e *explainer) decidedGrow(of Resource, key string) *Decision {
	i := slices.IndexFunc(e.report.Decisions, func(d Decision) bool {
		return d.Reason == DecidedGrow && d.Resource == of && d.Key == key
	})
	if i < 0 {
		return nil
	}
	return &e.report.Decisions[i]
}

// grownOf returns the decision by which the key of a stored key has grown, nil if none is known.
func (e *explainer) grownOf(r *ResourceReport, d Direction, stored string) *Decision {
	if d != Write || len(e.report.Decisions) == 0 {
		return nil
	}
	if name, ok := logicalOf(foldLayouts(r.Writes.Sharded), stored); ok {
		stored = name
	}
	return e.decidedGrow(r.Resource, stored)
}

// stillHot is what is wrong with a key that has grown and is beyond what its partitions serve, or comes near it. It gets no fixed shards:
// they would hide its items.
func (d *Decision) stillHot(beyond bool) (kind Kind, cause, remedy string) {
	if !beyond {
		return HotKey, "the key, or one of its shards, uses most of a partition's capacity", "nothing: the key grows further by itself when it needs to"
	}
	return HotKey, fmt.Sprintf("the key has grown from %s to %s at %s, and is still throttled: these are too few, several share a partition, or a writer does not use the collection",
			countShards(d.From), countShards(d.To), d.At.UTC().Format(time.TimeOnly)),
		"wait some seconds, as the key grows further where that helps; if it goes on, check that all writers have Options.Adaptive, ask heatsink ledger show " +
			"whether the key is frozen or at its maximum, and pre-warm the table if it has fewer partitions than shards"
}

// growsAsTold reports whether a key is one of an adaptive collection by a layout that the source was told.
func growsAsTold(r *ResourceReport, key string) bool {
	return slices.ContainsFunc(r.Writes.Sharded, func(s Sharded) bool {
		return grows(r, &s.Layout, key) && s.Layout.bare([]byte(key))
	})
}

// ended is the throttles a second below which they have ended.
const ended = 1

// settling is how long throttles after a growth belong to it. Other processes may learn of it a second later, and requests that
// were refused before are still being repeated. What follows the whole second in which it ends is judged.
const settling = 3 * time.Second

// settled is when a growth has settled.
func (d *Decision) settled() time.Time {
	return d.At.Add(settling + time.Second - 1).Truncate(time.Second)
}

// calmSince reports whether the throttles of a key had ended when its growth had settled. Where other keys are throttled too, those
// of the key itself are known as a sum that decays. What the throttles from before leave in it does not count.
func (e *explainer) calmSince(flow *Flow, d *Decision) bool {
	end, ok := e.trafficEnd(flow)
	if !ok {
		return false
	}
	settled, from := d.settled(), end.Add(-5*time.Second)
	if settled.After(from) {
		from = settled
	}
	if throttledIn(flow.Trend, from, end) < 5*ended {
		return true
	}
	left := 0.0
	for _, p := range flow.Trend {
		if p.From.Before(settled) {
			left += float64(p.Throttled) / latelyDecay.Seconds() * math.Exp(-end.Sub(p.From.Add(p.For)).Seconds()/latelyDecay.Seconds())
		}
	}
	all := 0.0
	for lately := range e.latelyOf(flow, d.Key, end) {
		if lately == 0 {
			return false // a report of an older release, which does not tell
		}
		if lately >= ended {
			all += lately
		}
	}
	return all-left < ended
}

// calm reports whether the throttles of all shards of a key had ended some seconds before its traffic did, or before now. A
// report of an older release tells it for all keys together only.
func (e *explainer) calm(flow *Flow, key string) bool {
	end, ok := e.trafficEnd(flow)
	if !ok {
		return false
	}
	all := throttledIn(flow.Trend, end.Add(-5*time.Second), end) < 5*ended
	for lately := range e.latelyOf(flow, key, end) {
		if lately >= ended || lately == 0 && !all {
			return false
		}
	}
	return true
}

// trafficEnd returns when the last traffic of a flow was, and false if that is not known.
func (e *explainer) trafficEnd(flow *Flow) (end time.Time, ok bool) {
	if len(flow.Trend) == 0 {
		return end, false
	}
	last := flow.Trend[len(flow.Trend)-1]
	end = last.From.Add(last.For)
	if end.After(e.report.To) {
		end = e.report.To
	}
	return end, true
}

// latelyOf yields Lately, as it was when the traffic ended, of each shard of a key that was throttled.
func (e *explainer) latelyOf(flow *Flow, key string, end time.Time) iter.Seq[float64] {
	idle := min(e.report.To.Sub(end), time.Minute) // since then Lately has decayed
	return func(yield func(float64) bool) {
		for i := range flow.Keys {
			k := &flow.Keys[i]
			if k.Throttled > 0 && flow.shardOf(k.Key, key) && !yield(k.Lately*math.Exp(idle.Seconds()/latelyDecay.Seconds())) {
				return
			}
		}
	}
}

// shardOf reports whether a key is a shard of another, or that key itself.
func (f *Flow) shardOf(key, of string) bool {
	name, _ := logicalOf(foldLayouts(f.Sharded), key)
	return name == of || key == of
}

// forget takes the throttles of a key out of a flow, and the demand that came with them out of its shards: what is left is that
// of the last second, or that of shards which were never throttled.
func (f *Flow) forget(l *LogicalKey) {
	f.Retries -= f.Retries * l.Throttled / f.Throttled // theirs, as far as anybody knows
	f.Requests -= l.Throttled
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
