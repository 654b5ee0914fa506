package report

import (
	"encoding/json"
	"errors"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/heatsink-go/heatsink/internal/lab/scenario"
	"github.com/heatsink-go/heatsink/internal/lab/simulate"
)

// sample is a result with figures of all sizes, and with a name that wants to be markup.
func sample(t *testing.T) *simulate.Result {
	t.Helper()
	s, err := scenario.Parse("sample.yaml", []byte(`
title: A <b>bold</b> title
duration: 4s
run-in: 1s
load: [{per-second: 1, keys: {one: a}}]
layouts: [{kind: none, name: "<script>"}, {kind: adaptive}]
`))
	if err != nil {
		t.Fatal(err)
	}
	return &simulate.Result{Scenario: s, Runs: []simulate.Run{
		{
			Layout: "<script>", Offered: 12000, Accepted: 4000, Failed: 8000, OfferedUnits: 3000, ServedUnits: 1000.4, Requests: 12000, Throttled: 8000,
			Reasons: map[string]float64{"TableWriteKeyRangeThroughputExceeded": 7900, "TableWriteAccountLimitExceeded": 100},
			Latency: &simulate.Percentiles{P50: 5100 * time.Microsecond, P99: 4551 * time.Millisecond, P999: 6 * time.Second}, Partitions: 4, PartitionsAtEnd: 4, Busiest: 1, Width: 1,
			Series: []simulate.Point{{At: 0, Offered: 3000, Served: 1200, Throttled: 1800, Partitions: 4, Width: 1}, {At: scenario.Duration(time.Second), Offered: 2999.99999, Served: 1000, Throttled: 2000, Failed: 2000, Partitions: 4, Width: 1}},
		},
		{
			Layout: "heatsink, adaptive", Offered: 12000, Accepted: 12000, OfferedUnits: 3000, ServedUnits: 3000, Requests: 12001, Throttled: 1,
			Latency: &simulate.Percentiles{P50: 5 * time.Millisecond}, Partitions: 4, PartitionsAtEnd: 6, Busiest: 0.75, Width: 8, Series: []simulate.Point{{Offered: 3000, Served: 3000}},
		},
	}}
}

func TestTable(t *testing.T) {
	var b strings.Builder
	if err := Table(&b, sample(t)); err != nil {
		t.Fatal(err)
	}
	want := `A <b>bold</b> title
sample: 4s of virtual time after a run-in of 1s, mode requests, seed 1

layout              offered/s  served/s  throttled  failed     p50       p99     p99.9  shards  partitions  busiest
<script>                3,000     1,000     66.7 %  66.7 %  5.1 ms  4,551 ms  6,000 ms       1           4    100 %
heatsink, adaptive      3,000     3,000   < 0.01 %     0 %  5.0 ms    0.0 ms    0.0 ms       8       4 → 6   75.0 %

Offered and served are capacity units a second. Throttled is of requests, failed of operations after
their retries. Busiest is the load of the busiest partition at the end, 100 % being its ceiling.
TableWriteKeyRangeThroughputExceeded is the reason of the throttles of <script> (98.8 %).
`
	if b.String() != want {
		t.Errorf("got\n%s\nwant\n%s", b.String(), want)
	}
}

func TestCSV(t *testing.T) {
	var b strings.Builder
	if err := CSV(&b, sample(t)); err != nil {
		t.Fatal(err)
	}
	want := `scenario,layout,second,offered_units,served_units,throttled_requests,failed_operations,partitions,shards
sample,<script>,0,3000,1200,1800,0,4,1
sample,<script>,1,3000,1000,2000,2000,4,1
sample,"heatsink, adaptive",0,3000,3000,0,0,0,0
`
	if b.String() != want {
		t.Errorf("got\n%s\nwant\n%s", b.String(), want)
	}
}

func TestJSONIsOneDocument(t *testing.T) {
	var b strings.Builder
	if err := JSON(&b, sample(t)); err != nil {
		t.Fatal(err)
	}
	var back simulate.Result
	if err := json.Unmarshal([]byte(b.String()), &back); err != nil || len(back.Runs) != 2 || back.Runs[0].Throttled != 8000 {
		t.Errorf("got %+v, %v", back.Runs, err)
	}
}

// The page asks for nothing from elsewhere, shows names as text, has both schemes, and a plot for each run.
func TestHTML(t *testing.T) {
	var b strings.Builder
	if err := HTML(&b, sample(t)); err != nil {
		t.Fatal(err)
	}
	page := b.String()
	if outside := regexp.MustCompile(`(?i)(src|href)=|url\(|@import|https?:`).FindString(page); outside != "" {
		t.Errorf("there is %q", outside)
	}
	if strings.Contains(page, "<script") || strings.Contains(page, "<b>bold") {
		t.Error("a name became markup")
	}
	for _, want := range []string{"prefers-color-scheme: dark", "&lt;script&gt;", "4,551 ms", `aria-label="heatsink, adaptive: 3,000 of 3,000 units a second served`} {
		if !strings.Contains(page, want) {
			t.Errorf("there is no %q", want)
		}
	}
	if n := strings.Count(page, "<svg"); n != 2 {
		t.Errorf("got %d plots, want 2", n)
	}
	if strings.Contains(page, "NaN") || strings.Contains(page, "ZgotmplZ") {
		t.Error("the page has what could not be written")
	}
}

// In mode aggregate there are no latencies.
func TestAggregateHasNoLatencies(t *testing.T) {
	result := sample(t)
	result.Scenario.Mode = scenario.Aggregate
	for i := range result.Runs {
		result.Runs[i].Latency = nil
	}
	for name, write := range map[string]func() (string, error){
		"text":     func() (string, error) { var b strings.Builder; err := Table(&b, result); return b.String(), err },
		"html":     func() (string, error) { var b strings.Builder; err := HTML(&b, result); return b.String(), err },
		"markdown": func() (string, error) { return Markdown(result), nil },
	} {
		if text, err := write(); err != nil || strings.Contains(text, "p99.9") {
			t.Errorf("%s: got %v and latencies", name, err)
		}
	}
}

func TestFailedWritesAreReported(t *testing.T) {
	for name, write := range map[string]error{"table": Table(broken{}, sample(t)), "csv": CSV(broken{}, sample(t)), "json": JSON(broken{}, sample(t)), "html": HTML(broken{}, sample(t))} {
		if !errors.Is(write, errBroken) {
			t.Errorf("%s: got %v", name, write)
		}
	}
}

var errBroken = errors.New("broken")

type broken struct{}

func (broken) Write([]byte) (int, error) { return 0, errBroken }

func TestNiceStep(t *testing.T) {
	for n, want := range map[float64]float64{0: 1, 0.3: 0.5, 1: 1, 1.1: 2, 4: 5, 6: 10, 2500: 5000} {
		if got := niceStep(n); got != want {
			t.Errorf("%v: got %v, want %v", n, got, want)
		}
	}
}

// A terminal obeys nothing that a title, a name or a layout has in it.
func TestTableHasNoEscapes(t *testing.T) {
	result := sample(t)
	result.Scenario.Title, result.Scenario.Name = "Recorded traffic of \x1b[31m", "\u202e"
	result.Runs[0].Layout = "\x1b]0;title\a"
	var b strings.Builder
	if err := Table(&b, result); err != nil {
		t.Fatal(err)
	}
	if got := b.String(); strings.ContainsAny(got, "\x1b\a\u202e") || strings.Count(got, `"\x1b]0;title\a"`) != 2 || !strings.Contains(got, `"Recorded traffic of \x1b[31m"`) {
		t.Errorf("got %q", got)
	}
}
