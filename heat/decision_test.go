package heat_test

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/heatsink-go/heatsink/heat"
	"github.com/heatsink-go/heatsink/internal/bubble"
	"github.com/heatsink-go/heatsink/internal/ledger"
)

// The reasons that become findings are those that the law gives.
func TestDecidedReasonsAreTheLaws(t *testing.T) {
	for got, want := range map[string]ledger.Reason{
		heat.DecidedGrow: ledger.Grows, heat.DecidedFutile: ledger.Futility, heat.DecidedAtMaximum: ledger.AtMaximum, heat.DecidedFrozen: ledger.FrozenHold,
	} {
		if got != string(want) {
			t.Errorf("got %q, the law has %q", got, want)
		}
	}
	// A calm key ends what held it back.
	recorder := newRecorder(t, heat.Options{})
	recorder.Decided(heat.Decision{Key: "a", Reason: string(ledger.AtMaximum)})
	recorder.Decided(heat.Decision{Key: "a", Reason: string(ledger.Calm)})
	if got := recorder.Report().Decisions; len(got) != 0 {
		t.Errorf("a calm key still has %+v", got)
	}
}

// Each notable decision becomes a finding, with the law's own text and its figures. The last one counts.
func TestDecisionsBecomeFindings(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		recorder := newRecorder(t, heat.Options{})
		views := heat.Resource{Table: "views"}
		decide := func(key, reason string, from, to int) {
			recorder.Decided(heat.Decision{
				Resource: views, Key: key, Reason: reason, From: from, To: to, Rate: 12_345.6, Throttled: 0.123, Text: reason + " of " + key,
			})
			time.Sleep(time.Second)
		}
		decide("a", heat.DecidedGrow, 1, 4)
		decide("a", heat.DecidedGrow, 4, 16)
		decide("b", heat.DecidedFutile, 8, 8)
		decide("c", heat.DecidedAtMaximum, 256, 256)
		decide("d", heat.DecidedFrozen, 1, 1)
		decide("e", "hysteresis", 2, 2)
		decide("e", "hysteresis", 2, 2)

		report := recorder.Report()
		got := kinds(heat.Explain(report, heat.Rules{}))
		want := "warning growth-at-maximum c; warning growth-futile b; info growth-frozen d; info key-grew a"
		if got != want {
			t.Errorf("got  %s\nwant %s", got, want)
		}
		findings := heat.Explain(report, heat.Rules{})
		texts, err := json.Marshal(findings)
		if err != nil {
			t.Fatal(err)
		}
		for _, want := range []string{
			"Key 'a' has grown from 4 shards to 16 shards", "more than 8 shards would not help", "too hot for 256 shards",
			"would grow beyond 1 shard, but", `"cause":"futility of b"`,
			"12,346 write units/sec of all processes, 12.3% throttled by key range, at 2000-01-01 00:00:02",
		} {
			if !strings.Contains(string(texts), want) {
				t.Errorf("no finding says %q: %s", want, texts)
			}
		}
		for _, f := range findings {
			if f.Cause == "" || f.Remedy == "" || f.Resource != views || f.Direction != heat.Write {
				t.Errorf("got %+v", f)
			}
		}
		wantCounts := []heat.DecisionCount{
			{Resource: views, Reason: "at maximum", Count: 1},
			{Resource: views, Reason: "frozen", Count: 1},
			{Resource: views, Reason: "futility", Count: 1},
			{Resource: views, Reason: "grow", Count: 2},
			{Resource: views, Reason: "hysteresis", Count: 2},
		}
		if !slices.Equal(report.Decided, wantCounts) {
			t.Errorf("counted %+v, want %+v", report.Decided, wantCounts)
		}
		if got := kinds(heat.Explain(report, heat.Rules{Exclude: func(key string) bool { return key != "d" }})); got != "info growth-frozen d" {
			t.Errorf("with the others excluded: %s", got)
		}
		// Together with another report, about a table that has no traffic.
		if got := kinds(heat.ExplainAll(heat.Rules{}, report, heat.Report{Source: heat.Scan})); !strings.Contains(got, "growth-futile b") || !strings.Contains(got, "key-grew a") {
			t.Errorf("together: %s", got)
		}
		written, err := json.Marshal(report)
		if err != nil {
			t.Fatal(err)
		}
		var read heat.Report
		if err := json.Unmarshal(written, &read); err != nil || !slices.Equal(read.Decisions, report.Decisions) || !slices.Equal(read.Decided, report.Decided) {
			t.Errorf("read %+v, %v", read, err)
		}

		time.Sleep(time.Hour) // all but the counts are past
		if report := recorder.Report(); len(report.Decisions) != 0 || len(report.Decided) != 5 {
			t.Errorf("after an hour: %+v", report)
		}
	})
}

// A key that grows is not held back any more. A decision that comes late does not undo a later one.
func TestDecisionsEndAndComeLate(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		recorder := newRecorder(t, heat.Options{})
		begin := time.Now()
		time.Sleep(time.Minute)
		at := func(reason string, second int) {
			recorder.Decided(heat.Decision{Key: "a", Reason: reason, At: begin.Add(time.Duration(second) * time.Second)})
		}
		at(heat.DecidedFrozen, 10)
		at(heat.DecidedFutile, 20)
		at("calm", 15)
		at(heat.DecidedFutile, 18)
		if got := recorder.Report().Decisions; len(got) != 1 || got[0].Reason != heat.DecidedFutile || !got[0].At.Equal(begin.Add(20*time.Second)) {
			t.Errorf("got %+v", got)
		}
		at(heat.DecidedGrow, 30)
		if got := kinds(heat.Explain(recorder.Report(), heat.Rules{})); got != "info key-grew a" {
			t.Errorf("got %s", got)
		}
		at(heat.DecidedFrozen, 9999) // a clock that is ahead
		if got := recorder.Report().Decisions; len(got) != 2 || !got[0].At.Equal(time.Now()) {
			t.Errorf("got %+v", got)
		}
	})
}

// Whatever is decided takes bounded memory, makes a report that JSON can store, and keys stay hidden.
func TestDecisionsAreBounded(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		recorder := newRecorder(t, heat.Options{Redact: heat.Hashed([]byte("secret"))})
		for i := range 3000 {
			recorder.Decided(heat.Decision{
				Resource: heat.Resource{Table: fmt.Sprint("table-", i)}, Key: "customer-" + strings.Repeat("x", 5000), Reason: heat.DecidedFutile,
				Rate: []float64{math.NaN(), math.Inf(1), -1}[i%3], Throttled: []float64{math.NaN(), math.Inf(-1), 2}[i%3],
				Text: "customer-" + strings.Repeat("y", 5000),
			})
			time.Sleep(time.Millisecond)
		}
		report := recorder.Report()
		if len(report.Decisions) != 1024 || report.Decisions[0].Table != "table-2999" || report.Decisions[1023].Table != "table-1976" {
			t.Errorf("%d decisions", len(report.Decisions))
		}
		total := int64(0)
		for _, c := range report.Decided {
			total += c.Count
		}
		if len(report.Decided) != 1001 || total != 3000 {
			t.Errorf("%d counts of %d decisions", len(report.Decided), total)
		}
		written, err := json.Marshal(report)
		if err != nil || strings.Contains(string(written), "customer") {
			t.Errorf("%.300s, %v", written, err)
		}
		for _, d := range report.Decisions {
			if d.Rate != 0 || d.Throttled != 0 && d.Throttled != 1 || len(d.Key) != 16 {
				t.Fatalf("got %+v", d)
			}
		}
		recorder.Forget("table-2999")
		if got := recorder.Report().Decisions[0].Table; got != "table-2998" {
			t.Errorf("after Forget the last decision is about %s", got)
		}
	})
	open := newRecorder(t, heat.Options{})
	open.Decided(heat.Decision{Key: "customer", Reason: heat.DecidedFrozen, Text: strings.Repeat("é", 600)})
	report := open.Report()
	if text := report.Decisions[0].Text; len(text) != 1000 || strings.Trim(text, "é") != "" {
		t.Errorf("%d bytes: %s", len(text), text)
	}
	report.Redact(heat.Hashed([]byte("secret")))
	if d := report.Decisions[0]; d.Text != "" || d.Key == "customer" {
		t.Errorf("redacted: %+v", d)
	}
}
