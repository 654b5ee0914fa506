package main

import (
	"flag"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"regexp"
	"runtime/debug"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/heatsink-go/heatsink/examples/shop/traffic"
	"github.com/heatsink-go/heatsink/heat"
	"github.com/heatsink-go/heatsink/heat/heattest"
)

var update = flag.Bool("update", false, "write the table of README.md anew")

// direct lets an http.Client ask a handler without a network, so that it works in virtual time.
type direct struct{ http.Handler }

func (d direct) RoundTrip(r *http.Request) (*http.Response, error) {
	w := httptest.NewRecorder()
	d.ServeHTTP(w, r)
	return w.Result(), nil
}

// start opens a shop in a database, and returns a client of it.
func start(t *testing.T, db *database, c config) *http.Client {
	t.Helper()
	if c.limit == 0 {
		c.limit = 600_000
	}
	s, err := openShop(t.Context(), db, c, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.close(); err != nil {
			t.Error(err)
		}
	})
	w, err := newWatch(db, c)
	if err != nil {
		t.Fatal(err)
	}
	return &http.Client{Transport: direct{routes(s, w)}}
}

// sell holds a sale in a shop on an engine whose partitions throttle.
func sell(t *testing.T, h *heattest.DB, c config, s traffic.Sale) traffic.Result {
	t.Helper()
	recorder, err := heat.NewRecorder(heat.Options{})
	if err != nil {
		t.Fatal(err)
	}
	s.URL, s.Client = "http://shop", start(t, &database{client: h.Client(), recorder: recorder, engine: h.DB}, c)
	return s.Run(t.Context())
}

// A test that fails when a partition throttles: this is all that it takes. The time is virtual.
func TestASmallSaleThrottlesNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := heattest.Start(t, heattest.Options{Allow: heat.Warning}) // a view of today is under today's key, and heat says so
		r := sell(t, h, config{}, traffic.Sale{Scale: 0.2, For: 2 * time.Second})
		if all := r.Total(); all.Done < 1000 || all.Failed+all.Throttled+all.Limited+all.Unsent > 0 {
			t.Errorf("got\n%v", r)
		}
	})
}

// The table of README.md is about what both ways do under the same load. Shards and the waits of retries are random, so a run differs
// from the next; what it must show does not.
func TestReadmeTable(t *testing.T) {
	if underRace() {
		t.Skip("takes a minute with the race detector; make suite runs it without")
	}
	sale := traffic.Sale{Skip: 4 * time.Second, For: 6 * time.Second}
	results := make(map[bool]traffic.Result)
	for _, naive := range []bool{true, false} {
		synctest.Test(t, func(t *testing.T) {
			h := heattest.Start(t, heattest.Options{Expected: true})
			results[naive] = sell(t, h, config{naive: naive}, sale)
			t.Logf("naive %t, throttled %v\n%v", naive, h.Throttled(), results[naive])
		})
	}
	naive, cool := results[true].Total(), results[false].Total()
	if naive.Throttled*10 < naive.Done || cool.Throttled*100 > cool.Done {
		t.Errorf("the naive shop throttled %d of %d requests, want a tenth at least; the other %d of %d, want a hundredth at most",
			naive.Throttled, naive.Done, cool.Throttled, cool.Done)
	}
	compare(t, "README.md", table(results[true], results[false]))
}

// table shows two results beside each other, in requests a second.
func table(naive, cool traffic.Result) string {
	var b strings.Builder
	b.WriteString("| requests a second | naive: done | naive: throttled | heatsink: done | heatsink: throttled |\n|---|---|---|---|---|\n")
	for i, n := range naive.Rows {
		c := cool.Rows[i]
		rate := func(count int) float64 { return float64(count) / naive.Elapsed.Seconds() }
		fmt.Fprintf(&b, "| %s | %.0f | %.0f | %.0f | %.0f |\n", n.Name, rate(n.Done), rate(n.Throttled), rate(c.Done), rate(c.Throttled))
	}
	return b.String()
}

var number = regexp.MustCompile(`[0-9]+`)

// compare compares the words of a table with those of the one in a file. With -update it writes it.
func compare(t *testing.T, file, got string) {
	t.Helper()
	const begin, end = "<!-- go test ./examples/shop -run TestReadmeTable -update -->\n", "<!-- end -->\n"
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	before, rest, found := strings.Cut(string(text), begin)
	want, after, ended := strings.Cut(rest, end)
	if !found || !ended {
		t.Fatalf("%s has no table between %q and %q", file, begin, end)
	}
	if *update {
		if err := os.WriteFile(file, []byte(before+begin+got+end+after), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if number.ReplaceAllString(got, "") != number.ReplaceAllString(want, "") {
		t.Errorf("the table of %s is stale: go test ./examples/shop -run TestReadmeTable -update. Got\n%swant\n%s", file, got, want)
	}
}

func underRace() bool {
	info, ok := debug.ReadBuildInfo()
	return ok && slices.Contains(info.Settings, debug.BuildSetting{Key: "-race", Value: "true"})
}
