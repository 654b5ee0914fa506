package ledger

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/heatsink-go/heatsink/layout"
)

func contains(s, part string) bool { return strings.Contains(s, part) }

// round is what a process hears in one report: the rate of the fleet, and the share that was throttled.
type round struct {
	rate, throttled float64
	after           time.Duration // since the report before; 0: a tick
	want            Reason
	to              int
}

func TestLaw(t *testing.T) {
	var other Sample
	other.Taken, other.Throttled[Table] = 1000, 500
	for _, c := range []struct {
		name    string
		options LawOptions
		record  Record
		sample  Sample // of this process in each report
		rounds  []round
	}{
		{
			name: "hot for two reports", record: width(1),
			rounds: []round{{want: NoRate, to: 1}, {rate: 701, want: Hysteresis, to: 1}, {rate: 701, want: Grows, to: 2}},
		},
		{
			name: "just below", record: width(1),
			rounds: []round{{want: NoRate, to: 1}, {rate: 700, want: Calm, to: 1}, {rate: 700, want: Calm, to: 1}},
		},
		{
			name: "hot with a gap", record: width(1),
			rounds: []round{{want: NoRate, to: 1}, {rate: 900, want: Hysteresis, to: 1}, {rate: 600, want: Calm, to: 1}, {rate: 900, want: Hysteresis, to: 1}},
		},
		{
			name: "rising", record: width(1),
			rounds: []round{{want: NoRate, to: 1}, {rate: 5000, want: Hysteresis, to: 1}, {rate: 15_000, want: Hysteresis, to: 1}, {rate: 18_000, want: Grows, to: 64}},
		},
		{
			name: "rising for ever", record: width(1),
			rounds: []round{
				{want: NoRate, to: 1},
				{rate: 1000, want: Hysteresis, to: 1},
				{rate: 2000, want: Hysteresis, to: 1},
				{rate: 4000, want: Hysteresis, to: 1},
				{rate: 8000, want: Grows, to: 32},
			},
		},
		{
			name: "throttled below high", record: width(4),
			rounds: []round{{want: NoRate, to: 4}, {rate: 1000, throttled: 0.02, want: Hysteresis, to: 4}, {rate: 1000, throttled: 0.02, want: Grows, to: 8}},
		},
		{
			name: "futile", record: width(8),
			rounds: []round{
				{want: NoRate, to: 8},
				{rate: 1500, throttled: 0.5, want: Hysteresis, to: 8},
				{rate: 1500, throttled: 0.5, want: Futility, to: 8},
				{rate: 1500, throttled: 0.5, want: Futility, to: 8},
			},
		},
		{
			name: "throttles of before a growth", record: width(1),
			rounds: []round{
				{want: NoRate, to: 1},
				{rate: 5000, want: Hysteresis, to: 1},
				{rate: 5000, want: Grows, to: 16},
				{rate: 150, throttled: 0.5, want: Cooldown, to: 1},
				{rate: 150, throttled: 0.5, want: Cooldown, to: 1},
				{rate: 150, throttled: 0.5, want: Hysteresis, to: 1},
				{rate: 150, throttled: 0.5, want: Futility, to: 1},
			},
		},
		{
			name: "throttled a little for long", record: width(4),
			rounds: []round{
				{want: NoRate, to: 4},
				{rate: 1000, throttled: 0.001, want: Calm, to: 4},
				{rate: 1000, want: Calm, to: 4},
				{rate: 1000, throttled: 0.001, want: Calm, to: 4},
				{rate: 1000, throttled: 0.002, want: Hysteresis, to: 4},
				{rate: 1000, throttled: 0.001, want: Grows, to: 8},
			},
		},
		{
			name: "throttled hardly at all for long", record: width(4),
			rounds: []round{
				{want: NoRate, to: 4},
				{rate: 1000, throttled: 0.0004, want: Calm, to: 4},
				{rate: 1000, throttled: 0.0004, want: Calm, to: 4},
				{rate: 1000, throttled: 0.0004, want: Calm, to: 4},
				{rate: 1000, throttled: 0.0004, want: Calm, to: 4},
				{rate: 1000, throttled: 0.0004, want: Calm, to: 4},
			},
		},
		{
			name: "throttled a little for long, where growth would not help", record: width(8),
			rounds: []round{
				{want: NoRate, to: 8},
				{rate: 1000, throttled: 0.001, want: Calm, to: 8},
				{rate: 1000, throttled: 0.001, want: Calm, to: 8},
				{rate: 1000, throttled: 0.001, want: Calm, to: 8},
				{rate: 1000, throttled: 0.001, want: Calm, to: 8},
				{rate: 1000, throttled: 0.001, want: Calm, to: 8},
			},
		},
		{
			name: "throttled a little", record: width(4),
			rounds: []round{{want: NoRate, to: 4}, {rate: 1000, throttled: 0.01, want: Calm, to: 4}},
		},
		{
			name: "cooldown", record: width(1),
			rounds: []round{
				{want: NoRate, to: 1},
				{rate: 5000, want: Hysteresis, to: 1},
				{rate: 5000, want: Grows, to: 16},
				{rate: 5000, want: Hysteresis, to: 1},
				{rate: 5000, want: Cooldown, to: 1},
				{rate: 5000, want: Grows, to: 16},
			},
		},
		{
			name: "maximum", record: width(256),
			rounds: []round{{want: NoRate, to: 256}, {rate: 1e6, throttled: 0.5, want: AtMaximum, to: 256}},
		},
		{
			name: "clamped", options: LawOptions{MaxWidth: 24}, record: width(1),
			rounds: []round{{want: NoRate, to: 1}, {rate: 20_000, throttled: 0.5, want: Hysteresis, to: 1}, {rate: 20_000, throttled: 0.5, want: Grows, to: 24}},
		},
		{
			name: "frozen collection", options: LawOptions{Frozen: true}, record: width(1),
			rounds: []round{{want: NoRate, to: 1}, {rate: 20_000, throttled: 0.5, want: FrozenHold, to: 1}},
		},
		{
			name: "frozen key", record: Record{Generation: 1, Read: 1, Write: 1, State: Active, Frozen: true},
			rounds: []round{{want: NoRate, to: 1}, {rate: 20_000, throttled: 0.5, want: FrozenHold, to: 1}},
		},
		{
			name: "dry run", options: LawOptions{DryRun: true}, record: width(1),
			rounds: []round{{want: NoRate, to: 1}, {rate: 20_000, throttled: 0.5, want: Hysteresis, to: 1}, {rate: 20_000, throttled: 0.5, want: DryRun, to: 64}},
		},
		{
			name: "not key range", record: width(4), sample: other,
			rounds: []round{{want: NoRate, to: 4}, {rate: 600, want: NotKey, to: 4}},
		},
		{
			name: "silence", record: width(1),
			rounds: []round{{want: NoRate, to: 1}, {rate: 900, want: Hysteresis, to: 1}, {rate: 900, after: time.Hour, want: NoRate, to: 1}, {rate: 900, want: Hysteresis, to: 1}},
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			law, err := NewLaw(c.options)
			if err != nil {
				t.Fatal(err)
			}
			if c.sample == (Sample{}) {
				c.sample.Taken = 1000
			}
			now := time.Unix(0, 0)
			var totals Totals
			for i, r := range c.rounds {
				after := r.after
				if after == 0 {
					after = 5 * time.Second
				}
				law.Observe("k", c.sample, now)
				now = now.Add(after)
				if after > time.Minute { // what was seen an hour ago is no rate
					law.Observe("k", Sample{Taken: 1e6}, now)
				}
				if _, due := law.Due("k", now); !due {
					t.Fatalf("report %d: not due", i)
				}
				units := r.rate * after.Seconds()
				totals.Offered += units
				totals.KeyRange += units * r.throttled
				d := law.Decide("k", totals, c.record, now)
				if d.Reason != r.want || d.To != r.to {
					t.Fatalf("report %d: got %q to %d, want %q to %d: %s", i, d.Reason, d.To, r.want, r.to, d.Text)
				}
			}
		})
	}
}

func width(n int) Record {
	r := Record{Generation: 1, Read: n, Write: n, State: Active}
	if n == 1 {
		r.Generation = 0
	}
	return r
}

// A growth by somebody else starts the cooldown, too.
func TestLawCoolsDownAfterOthers(t *testing.T) {
	law, err := NewLaw(LawOptions{})
	if err != nil {
		t.Fatal(err)
	}
	now, totals := time.Unix(0, 0), Totals{}
	report := func(r Record) Decision {
		law.Observe("k", Sample{Taken: 1000}, now)
		now = now.Add(5 * time.Second)
		law.Due("k", now)
		totals.Offered += 20_000 * 5
		totals.KeyRange += 10_000 * 5
		return law.Decide("k", totals, r, now)
	}
	report(width(1))
	for i, want := range []Reason{Hysteresis, Cooldown, Cooldown, Grows} {
		if d := report(width(4)); d.Reason != want {
			t.Errorf("report %d after the growth: got %q, want %q", i, d.Reason, want)
		}
	}
}

// A growth that could not be stored is asked for again by the next report, as often as the budget allows.
func TestLawAsksAgainAfterAFailure(t *testing.T) {
	law, err := NewLaw(LawOptions{PerMinute: 3})
	if err != nil {
		t.Fatal(err)
	}
	law.Failed("k") // it is not watched, and nothing happens
	now, totals := time.Unix(0, 0), Totals{}
	report := func(r Record, want Reason) {
		t.Helper()
		law.Observe("k", Sample{Taken: 1000}, now)
		now = now.Add(5 * time.Second)
		law.Due("k", now)
		totals.Offered += 5000 * 5
		if d := law.Decide("k", totals, r, now); d.Reason != want {
			t.Fatalf("at %v: got %q, want %q: %s", now.Sub(time.Unix(0, 0)), d.Reason, want, d.Text)
		}
	}
	report(width(1), NoRate)
	report(width(1), Hysteresis)
	report(width(1), Grows)
	law.Failed("k")
	law.Failed("k") // the same growth
	report(width(1), Grows)
	law.Failed("k")
	report(width(1), Grows)
	report(width(2), Hysteresis) // somebody else has grown the key, which is not taken back
	law.Failed("k")
	report(width(2), Cooldown)
	report(width(2), Cooldown)
	report(width(2), Grows) // those that failed are not in the budget
	report(width(2), Hysteresis)
}

func TestLawBudget(t *testing.T) {
	law, err := NewLaw(LawOptions{PerMinute: 2})
	if err != nil {
		t.Fatal(err)
	}
	now, got := time.Unix(0, 0), []Reason{}
	for pass := range 3 {
		for n := range 3 {
			key := fmt.Sprint(n)
			law.Observe(key, Sample{Taken: 1e6}, now)
			if _, due := law.Due(key, now.Add(5*time.Second)); !due {
				t.Fatal("not due")
			}
			d := law.Decide(key, Totals{Offered: 1e6 * float64(pass+1), KeyRange: 5e5 * float64(pass+1)}, width(1), now.Add(5*time.Second))
			if pass == 2 {
				got = append(got, d.Reason)
			}
		}
		now = now.Add(5 * time.Second)
	}
	if want := []Reason{Grows, Grows, Budget}; fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

// Cold keys are neither reported nor remembered, and no number of keys takes more memory than MaxKeys.
func TestLawForgetsColdKeys(t *testing.T) {
	law, err := NewLaw(LawOptions{MaxKeys: 100})
	if err != nil {
		t.Fatal(err)
	}
	now := time.Unix(0, 0)
	for n := range 1000 {
		if got, want := law.Observe(fmt.Sprint(n), Sample{Taken: 1}, now), n < 100; got != want {
			t.Fatalf("key %d: got %v, want %v", n, got, want)
		}
	}
	now = now.Add(5 * time.Second)
	for n := range 50 {
		if _, due := law.Due(fmt.Sprint(n), now); due {
			t.Errorf("cold key %d is reported", n)
		}
	}
	if got := law.Watched(); got != 50 {
		t.Errorf("got %d keys, want 50", got)
	}
	if now = now.Add(time.Minute); !law.Observe("late", Sample{Taken: 1}, now) || law.Watched() != 51 {
		t.Errorf("got %d keys, want 51", law.Watched())
	}
	for n := range 1000 {
		law.Observe(fmt.Sprint("x", n), Sample{Taken: 1}, now)
	}
	if got := law.Watched(); got != 100 {
		t.Errorf("got %d keys, want 100", got)
	}
}

// A key is reported from 25 units per second on, or if it is throttled.
func TestLawReportsWarmKeys(t *testing.T) {
	var throttled Sample
	throttled.Throttled[Account] = 1
	for _, c := range []struct {
		name   string
		sample Sample
		want   bool
	}{{"cold", Sample{Taken: 124}, false}, {"warm", Sample{Taken: 125}, true}, {"throttled", throttled, true}} {
		law, err := NewLaw(LawOptions{})
		if err != nil {
			t.Fatal(err)
		}
		law.Observe("k", c.sample, t0)
		if _, got := law.Due("k", t0.Add(5*time.Second)); got != c.want {
			t.Errorf("%s: got %v, want %v", c.name, got, c.want)
		}
	}
}

func TestLawOptionsAreChecked(t *testing.T) {
	nan := 0.0
	nan /= nan
	for _, o := range []LawOptions{
		{Target: -1}, {Target: nan}, {Target: 800}, {Futile: 600}, {MaxWidth: 2048}, {MaxWidth: -1}, {Tick: -1}, {Cooldown: -1}, {PerMinute: -1},
	} {
		if _, err := NewLaw(o); !errors.Is(err, ErrLaw) {
			t.Errorf("%+v: got %v, want ErrLaw", o, err)
		}
	}
}

// Throttles of before a growth are reported for a while. They are no reason to say that growth does not help.
func TestNoFutilityAfterGrowth(t *testing.T) {
	l, err := NewLaw(LawOptions{})
	if err != nil {
		t.Fatal(err)
	}
	l.Observe("k", Sample{Taken: 1}, t0)
	narrow := Absent(layout.Random, layout.XXHash)
	wide := narrow.next(16, 16)
	l.Decide("k", Totals{}, narrow, t0)
	for i, want := range []Reason{Cooldown, Cooldown, Cooldown, Hysteresis, Futility} { // it has grown after five seconds
		after := time.Duration(i+1) * 5 * time.Second
		d := l.Decide("k", Totals{Offered: float64(1000 * (i + 1)), KeyRange: float64(300 * (i + 1))}, wide, t0.Add(after))
		if d.Reason != want {
			t.Errorf("after %v: got %q, want %q", after, d.Reason, want)
		}
	}
}

// The spare accumulator has a rate of its own, and a turn of the first does not end what the reports agree on.
func TestSpareAccumulator(t *testing.T) {
	law, err := NewLaw(LawOptions{})
	if err != nil {
		t.Fatal(err)
	}
	now := time.Unix(1000, 0)
	law.Observe("k", Sample{Taken: 1}, now)
	for i, r := range []struct {
		after  time.Duration
		totals Totals
		want   Reason
		rate   float64
	}{
		{0, Totals{Offered: 1e6}, NoRate, 0},
		{time.Second, Totals{Offered: 100, Spare: true}, NoRate, 0},
		{time.Second, Totals{Offered: 5100, Spare: true}, Hysteresis, 5000},
		{time.Second, Totals{Offered: 1e6 + 15_000}, Grows, 5000},
	} {
		now = now.Add(r.after)
		if d := law.Decide("k", r.totals, width(1), now); d.Reason != r.want || d.Rate != r.rate {
			t.Errorf("report %d: got %q at %g, want %q at %g", i, d.Reason, d.Rate, r.want, r.rate)
		}
	}
	now = now.Add(time.Minute)
	if d := law.Decide("k", Totals{Offered: 6000, Spare: true}, width(1), now); d.Reason != NoRate {
		t.Errorf("after a minute: got %q, want %q", d.Reason, NoRate)
	}
}

// A report that was throttled is in the next one, which comes as early.
func TestUnreported(t *testing.T) {
	law, err := NewLaw(LawOptions{})
	if err != nil {
		t.Fatal(err)
	}
	now := time.Unix(1000, 0)
	var hot Sample
	hot.Taken, hot.Throttled[KeyRange] = 100, 900
	law.Observe("k", hot, now)
	for range 8 { // more often than there are alerts
		now = now.Add(time.Second)
		add, due := law.Due("k", now)
		if !due || add.Offered != 1000 || add.KeyRange != 900 {
			t.Fatalf("got %+v, %v, want all of it, every second", add, due)
		}
		law.Unreported("k", add)
	}
	law.Unreported("another", Totals{Offered: 1})
	law.Observe("k", hot, now)
	if add, due := law.Due("k", now.Add(time.Second)); !due || add.Offered != 2000 || add.KeyRange != 1800 {
		t.Errorf("got %+v, %v, want both samples", add, due)
	}
}

// A key is due exactly when its time has come, and its rate is of the time that has passed.
func TestLawIsDueInTime(t *testing.T) {
	var throttled, elsewhere Sample
	throttled.Throttled[KeyRange], elsewhere.Throttled[Account] = 1, 1
	type step struct {
		after time.Duration // since the step before
		add   Sample        // before the question
		due   bool
	}
	const tick, alert = 5 * time.Second, time.Second
	for name, c := range map[string]struct {
		phase time.Duration
		steps []step
	}{
		"a tick":      {steps: []step{{tick - 1, Sample{Taken: 1000}, false}, {1, Sample{}, true}, {tick - 1, Sample{Taken: 1000}, false}, {1, Sample{}, true}}},
		"the phase":   {phase: 2 * time.Second, steps: []step{{2*time.Second - 1, Sample{Taken: 1000}, false}, {1, Sample{}, true}, {tick - 1, Sample{Taken: 1000}, false}, {1, Sample{}, true}}},
		"an alert":    {steps: []step{{alert - 1, throttled, false}, {1, Sample{}, true}, {alert - 1, throttled, false}, {1, Sample{}, true}}},
		"a low phase": {phase: alert / 2, steps: []step{{alert / 2, throttled, true}, {alert / 2, throttled, false}, {alert / 2, Sample{}, true}}},
		"five alerts, and five after a calm report": {steps: []step{
			{alert, throttled, true},
			{alert, throttled, true},
			{alert, throttled, true},
			{alert, throttled, true},
			{alert, throttled, true},
			{tick - 1, throttled, false},
			{1, Sample{}, true},
			{tick - 1, throttled, false},
			{1, Sample{}, true},
			{tick, Sample{Taken: 1000}, true},
			{alert, throttled, true},
		}},
		"another reason is no alert": {steps: []step{{tick - 1, elsewhere, false}, {1, Sample{}, true}}},
		"a rate of ten seconds":      {steps: []step{{2 * tick, Sample{Taken: 250}, true}}},
		"less than that":             {steps: []step{{2 * tick, Sample{Taken: 249}, false}}},
		"the clock goes back":        {steps: []step{{-time.Hour, Sample{Taken: 1000}, false}, {tick - 1, Sample{}, false}, {1, Sample{}, true}}},
		"the clock stands still":     {steps: []step{{tick - 1, Sample{Taken: 1000}, false}, {0, Sample{}, false}, {1, Sample{}, true}}},
	} {
		t.Run(name, func(t *testing.T) {
			law, err := NewLaw(LawOptions{Phase: c.phase})
			if err != nil {
				t.Fatal(err)
			}
			now := t0
			law.Observe("k", Sample{}, now)
			for i, s := range c.steps {
				now = now.Add(s.after)
				law.Observe("k", s.add, now)
				if _, due := law.Due("k", now); due != s.due {
					t.Fatalf("step %d: got %v, want %v", i, due, s.due)
				}
			}
		})
	}
}

// The rules at their limits.
func TestLawAtItsLimits(t *testing.T) {
	const tick = 5 * time.Second
	for _, c := range []struct {
		name    string
		options LawOptions
		record  Record
		rounds  []round
	}{
		{name: "as cold as is not futile", record: width(8), rounds: []round{
			{rate: 1600, throttled: 0.5, want: Hysteresis, to: 8}, {rate: 1600, throttled: 0.5, want: Grows, to: 16},
		}},
		{name: "rising by a quarter", record: width(1), rounds: []round{{rate: 800, want: Hysteresis, to: 1}, {rate: 1000, want: Grows, to: 4}}},
		{name: "rising by more", record: width(1), rounds: []round{{rate: 800, want: Hysteresis, to: 1}, {rate: 1001, want: Hysteresis, to: 1}}},
		{name: "as uneasy as is calm", record: width(4), rounds: []round{
			{rate: 1000, throttled: 0.0005, want: Calm, to: 4},
			{rate: 1000, throttled: 0.0005, want: Calm, to: 4},
			{rate: 1000, throttled: 0.0005, want: Calm, to: 4},
			{rate: 1000, throttled: 0.0005, want: Calm, to: 4},
			{rate: 1000, throttled: 0.0005, want: Calm, to: 4},
		}},
		{name: "uneasy, and as cold as is not futile", record: width(4), rounds: []round{
			{rate: 800, throttled: 0.001, want: Calm, to: 4},
			{rate: 800, throttled: 0.001, want: Calm, to: 4},
			{rate: 800, throttled: 0.001, want: Calm, to: 4},
			{rate: 800, throttled: 0.001, want: Hysteresis, to: 4},
			{rate: 800, throttled: 0.001, want: Grows, to: 8},
		}},
		{name: "the clock goes back after a growth", options: LawOptions{PerMinute: 1}, record: width(1), rounds: []round{
			{rate: 900, want: Hysteresis, to: 1},
			{rate: 900, want: Grows, to: 4},
			{after: -time.Hour, want: NoRate, to: 1},
			{rate: 900, want: Hysteresis, to: 1},
			{rate: 900, want: Grows, to: 4},
		}},
		{name: "four ticks are a rate", record: width(1), rounds: []round{{rate: 900, after: 4 * tick, want: Hysteresis, to: 1}}},
		{name: "more are none", record: width(1), rounds: []round{{rate: 900, after: 4*tick + 1, want: NoRate, to: 1}}},
		{name: "the end of a cooldown", record: width(1), rounds: []round{
			{rate: 900, want: Hysteresis, to: 1},
			{rate: 900, want: Grows, to: 4},
			{rate: 900, want: Hysteresis, to: 1},
			{rate: 900, want: Cooldown, to: 1},
			{rate: 900, after: tick - 1, want: Cooldown, to: 1},
			{rate: 900, after: 1, want: Grows, to: 4},
		}},
		{name: "a minute is not over", options: LawOptions{PerMinute: 1}, record: width(1), rounds: []round{
			{rate: 900, want: Hysteresis, to: 1},
			{rate: 900, want: Grows, to: 4},
			{rate: 900, after: 4 * tick, want: Hysteresis, to: 1},
			{rate: 900, after: 4 * tick, want: Budget, to: 1},
			{rate: 900, after: 4*tick - 1, want: Budget, to: 1},
			{rate: 900, after: 1, want: Grows, to: 4},
		}},
		{name: "a dry run is none of a minute", options: LawOptions{PerMinute: 1, DryRun: true}, record: width(1), rounds: []round{
			{rate: 900, want: Hysteresis, to: 1},
			{rate: 900, want: DryRun, to: 4},
			{rate: 900, after: 2 * tick, want: Hysteresis, to: 1},
			{rate: 900, after: 2 * tick, want: DryRun, to: 4},
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			law, err := NewLaw(c.options)
			if err != nil {
				t.Fatal(err)
			}
			now, totals := t0, Totals{Offered: 1e6, KeyRange: 1e6}
			law.Observe("k", Sample{Taken: 1}, now)
			law.Decide("k", totals, c.record, now)
			for i, r := range c.rounds {
				after := r.after
				if after == 0 {
					after = tick
				}
				now = now.Add(after)
				totals.Offered += r.rate * after.Seconds()
				totals.KeyRange += r.rate * after.Seconds() * r.throttled
				if d := law.Decide("k", totals, c.record, now); d.Reason != r.want || d.To != r.to {
					t.Fatalf("report %d: got %q to %d, want %q to %d: %s", i, d.Reason, d.To, r.want, r.to, d.Text)
				}
			}
		})
	}
}

// A key near the limit of futility stays on one side of it.
func TestFutilityIsSteady(t *testing.T) {
	cold, warm, hot := round{rate: 199, throttled: 0.5}, round{rate: 201, throttled: 0.5}, round{rate: 250, throttled: 0.5}
	calm, less := round{rate: 199, throttled: 0.001}, round{rate: 249, throttled: 0.001}
	for name, c := range map[string]struct {
		rounds []round
		want   []Reason
	}{
		"cold":                 {[]round{cold, cold, cold}, []Reason{Hysteresis, Futility, Futility}},
		"cold once":            {[]round{cold, calm, cold, calm}, []Reason{Hysteresis, Calm, Hysteresis, Calm}},
		"to and fro":           {[]round{cold, warm, cold, warm, cold, warm, warm, warm}, []Reason{Hysteresis, Hysteresis, Hysteresis, Hysteresis, Futility, Futility, Futility, Futility}},
		"fro and to":           {[]round{warm, cold, warm, cold}, []Reason{Hysteresis, Hysteresis, Hysteresis, Futility}},
		"uneasy is not futile": {[]round{cold, cold, less, cold, less, cold, less, cold, less}, []Reason{Hysteresis, Futility, Hysteresis, Futility, Hysteresis, Futility, Hysteresis, Futility, Hysteresis}},
		"warm once":            {[]round{cold, cold, warm, cold}, []Reason{Hysteresis, Futility, Futility, Futility}},
		"hot once":             {[]round{cold, cold, hot, cold}, []Reason{Hysteresis, Futility, Hysteresis, Futility}},
		"hot":                  {[]round{cold, cold, hot, hot}, []Reason{Hysteresis, Futility, Hysteresis, Grows}},
		"calm once":            {[]round{cold, cold, calm, cold, calm, cold}, []Reason{Hysteresis, Futility, Hysteresis, Futility, Hysteresis, Futility}},
		"calm":                 {[]round{cold, cold, calm, calm, cold}, []Reason{Hysteresis, Futility, Hysteresis, Calm, Hysteresis}},
		"throttled hardly":     {[]round{cold, cold, less, less, less, less, less}, []Reason{Hysteresis, Futility, Hysteresis, Calm, Calm, Hysteresis, Grows}},
		"a silence in between": {[]round{cold, {after: time.Minute}, cold, cold}, []Reason{Hysteresis, NoRate, Hysteresis, Futility}},
		"growth begins anew":   {[]round{cold, cold, hot, hot, cold, cold, cold, warm, warm}, []Reason{Hysteresis, Futility, Hysteresis, Grows, Cooldown, Cooldown, Hysteresis, Hysteresis, Grows}},
	} {
		t.Run(name, func(t *testing.T) {
			law, err := NewLaw(LawOptions{})
			if err != nil {
				t.Fatal(err)
			}
			now, totals := t0, Totals{}
			law.Observe("k", Sample{Taken: 1}, now)
			law.Decide("k", totals, width(1), now)
			for i, want := range c.want {
				r := c.rounds[i]
				after := r.after
				if after == 0 {
					after = 5 * time.Second
				}
				now = now.Add(after)
				totals.Offered += r.rate * after.Seconds()
				totals.KeyRange += r.rate * after.Seconds() * r.throttled
				if d := law.Decide("k", totals, width(1), now); d.Reason != want {
					t.Fatalf("report %d: got %q, want %q: %s", i, d.Reason, want, d.Text)
				}
			}
		})
	}
}

// A key that is too hot grows, also if growth was futile before and the limit of that is high.
func TestFutilityEndsWithHeat(t *testing.T) {
	law, now, totals := watched(t, LawOptions{Target: 600, Futile: 600}), t0, Totals{}
	for i, r := range []round{{rate: 590, want: Hysteresis}, {rate: 590, want: Futility}, {rate: 710, want: Hysteresis}, {rate: 710, want: Grows}} {
		now = now.Add(5 * time.Second)
		totals.Offered, totals.KeyRange = totals.Offered+5*r.rate, totals.KeyRange+r.rate
		if d := law.Decide("k", totals, width(1), now); d.Reason != r.want {
			t.Fatalf("report %d: got %q, want %q: %s", i, d.Reason, r.want, d.Text)
		}
	}
}

// A growth of another process ends futility, whose limit is the lower one again.
func TestFutilityEndsWithTheWidth(t *testing.T) {
	law, now, totals := watched(t, LawOptions{}), t0, Totals{}
	for i, r := range []struct {
		shards int
		rate   float64 // of a shard
		want   Reason
	}{{1, 199, Hysteresis}, {1, 199, Futility}, {2, 201, Hysteresis}, {2, 201, Cooldown}, {2, 201, Cooldown}, {2, 201, Grows}} {
		now = now.Add(5 * time.Second)
		units := 5 * r.rate * float64(r.shards)
		totals.Offered, totals.KeyRange = totals.Offered+units, totals.KeyRange+units/2
		if d := law.Decide("k", totals, width(r.shards), now); d.Reason != r.want {
			t.Fatalf("report %d: got %q, want %q: %s", i, d.Reason, r.want, d.Text)
		}
	}
}

// A rate needs an accumulator that only rises, and time that passes.
func TestLawWithoutARate(t *testing.T) {
	for name, c := range map[string]struct {
		totals Totals
		after  time.Duration
		want   Reason
	}{
		"both rise":         {Totals{Offered: 2e6, KeyRange: 1e6}, time.Second, Hysteresis},
		"fewer are offered": {Totals{Offered: 1e6 - 1, KeyRange: 5e5}, time.Second, NoRate},
		"fewer throttled":   {Totals{Offered: 2e6, KeyRange: 5e5 - 1}, time.Second, NoRate},
		"no time":           {Totals{Offered: 2e6, KeyRange: 1e6}, 0, NoRate},
		"time back":         {Totals{Offered: 2e6, KeyRange: 1e6}, -1, NoRate},
	} {
		law, err := NewLaw(LawOptions{})
		if err != nil {
			t.Fatal(err)
		}
		law.Observe("k", Sample{Taken: 1}, t0)
		law.Decide("k", Totals{Offered: 1e6, KeyRange: 5e5}, width(1), t0)
		if d := law.Decide("k", c.totals, width(1), t0.Add(c.after)); d.Reason != c.want || c.want == NoRate && d.Rate != 0 {
			t.Errorf("%s: got %q at %v, want %q", name, d.Reason, d.Rate, c.want)
		}
	}
}

// A growth that has failed is asked for again after a tick, and not before.
func TestLawWaitsAfterAFailure(t *testing.T) {
	law, now, totals := watched(t, LawOptions{}), t0, Totals{}
	for i, r := range []struct {
		after time.Duration
		want  Reason
	}{{time.Second, Hysteresis}, {time.Second, Grows}, {time.Second, Cooldown}, {4*time.Second - 1, Cooldown}, {1, Grows}} {
		now = now.Add(r.after)
		totals.Offered += 5000 * r.after.Seconds()
		d := law.Decide("k", totals, width(1), now)
		if d.Reason != r.want || r.want == Cooldown && !contains(d.Text, "failed") {
			t.Fatalf("report %d: got %q, want %q: %s", i, d.Reason, r.want, d.Text)
		}
		if d.Reason == Grows {
			law.Failed("k")
		}
	}
}

// A clock that goes back after a growth has failed does not keep it from being asked for.
func TestLawForgetsAFailureOfTheFuture(t *testing.T) {
	law, now, totals := watched(t, LawOptions{}), t0, Totals{}
	for i, r := range []struct {
		after time.Duration
		want  Reason
	}{{time.Second, Hysteresis}, {time.Second, Grows}, {-time.Hour, NoRate}, {time.Second, Hysteresis}, {time.Second, Grows}} {
		now = now.Add(r.after)
		totals.Offered += 5000 * max(r.after, 0).Seconds()
		if d := law.Decide("k", totals, width(1), now); d.Reason != r.want {
			t.Fatalf("report %d: got %q, want %q: %s", i, d.Reason, r.want, d.Text)
		} else if d.Reason == Grows {
			law.Failed("k")
		}
	}
}

// A growth ends the alerts that were counted, so that the next throttles are reported early.
func TestLawAlertsAnewAfterGrowth(t *testing.T) {
	for name, r := range map[string]Record{"its own": width(1), "of another process": width(16)} {
		law, err := NewLaw(LawOptions{})
		if err != nil {
			t.Fatal(err)
		}
		var hot Sample
		hot.Taken, hot.Throttled[KeyRange] = 100, 900
		now, totals := t0, Totals{}
		for i := range 5 { // all alerts; the law grows the key at the last
			law.Observe("k", hot, now)
			now = now.Add(time.Second)
			add, due := law.Due("k", now)
			if !due {
				t.Fatal("not due")
			}
			totals.Offered, totals.KeyRange = totals.Offered+add.Offered, totals.KeyRange+add.KeyRange
			switch {
			case i == 4:
				law.Decide("k", totals, r, now)
			case i >= 2:
				law.Decide("k", totals, width(1), now)
			}
		}
		law.Observe("k", hot, now)
		if _, due := law.Due("k", now.Add(time.Second)); !due {
			t.Errorf("%s: the throttles after a growth wait for a tick", name)
		}
	}
}

// A key is forgotten for others when nobody has asked about it for four ticks, and not before.
func TestLawForgetsInTime(t *testing.T) {
	law, err := NewLaw(LawOptions{MaxKeys: 1})
	if err != nil {
		t.Fatal(err)
	}
	law.Observe("k", Sample{Taken: 1}, t0)
	if law.Observe("other", Sample{Taken: 1}, t0.Add(20*time.Second)) {
		t.Error("a key was forgotten after four ticks, want it to be kept")
	}
	if law.Observe("other", Sample{Taken: 1}, t0.Add(21*time.Second-1)) {
		t.Error("the law has looked twice in a second")
	}
	if !law.Observe("other", Sample{Taken: 1}, t0.Add(21*time.Second)) {
		t.Error("a key is kept that nobody has asked about for more than four ticks")
	}
}

// watched returns a law that has had a first report of the key k at t0.
func watched(t *testing.T, o LawOptions) *Law {
	t.Helper()
	law, err := NewLaw(o)
	if err != nil {
		t.Fatal(err)
	}
	law.Observe("k", Sample{Taken: 1}, t0)
	law.Decide("k", Totals{}, width(1), t0)
	return law
}
