package browser

import (
	"context"
	"fmt"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"github.com/heatsink-go/heatsink/heat"
	"github.com/heatsink-go/heatsink/heat/heatpage"
	"github.com/heatsink-go/heatsink/local/partitions"
)

// Every key that took something is drawn, also one whose partitions have served nothing since a split. A key in several partitions has
// no load of one. Keys that look alike stay apart.
func TestEveryKeyIsDrawn(t *testing.T) {
	units := 0.0
	page, err := heatpage.New(heatpage.Options{Every: 200 * time.Millisecond, Source: func(context.Context) (heatpage.Round, error) {
		units += 100
		now := time.Now()
		key := func(name string) heat.KeyHeat {
			return heat.KeyHeat{Key: name, Low: units, Second: 100, RateLow: 100, Rate: 100}
		}
		r := heatpage.Round{
			Report: heat.Report{Source: heat.Live, To: now, Resources: []heat.ResourceReport{{
				Resource: heat.Resource{Table: "t"},
				Writes: heat.Flow{Units: 6 * units, Requests: 1, Distinct: heat.Distinct{Keys: 6}, Keys: []heat.KeyHeat{
					key("here"), key("split"), key("X#SHARD_0"), key("X#SHARD_1"), key("X|shards"), key("others"),
				}},
			}}},
			Partitions: []partitions.Heat{{Table: "t", PartitionWrites: 1000, PartitionReads: 3000, Partitions: []partitions.Partition{
				{ID: 1, Seconds: []partitions.Second{{Start: now.Truncate(time.Second).Add(-time.Second), WriteUnits: 500}}}, {ID: 7}, {ID: 8},
			}}},
		}
		r.Homes = map[string]map[string][]uint64{"t": {"here": {1}, "split": {7, 8}, "X#SHARD_0": {1}, "X#SHARD_1": {1}, "X|shards": {1}, "others": {1}}}
		return r, nil
	}})
	if err != nil {
		t.Fatal(err)
	}
	server := follow(t, page)
	b := open(t)
	b.do(t, chromedp.Navigate(server.URL))
	b.until(t, `heatpage.times().length > 2 && heatpage.lines().length > 4`)
	b.do(t, chromedp.Evaluate[chromedp.Void](`{ const all = document.getElementById("cold"); all.checked = true; all.dispatchEvent(new Event("change")); }`))
	b.until(t, `heatpage.lines().some((l) => l.key === "others")`)
	labels := strings.Join(ask[[]string](t, b, `heatpage.lines().map((l) => l.label)`), "\n")
	for _, want := range []string{"partition #1\n", "here", "split (in 2 partitions, together)", "X (2 shards)", "X|shards", "others", "other partitions"} {
		if !strings.Contains(labels+"\n", want) {
			t.Errorf("no %q in\n%s", want, labels)
		}
	}
	loads := ask[[]float64](t, b, `["split", "here"].map((key) => { const l = heatpage.lines().find((l) => l.key === key), c = heatpage.times().at(-2), d = heatpage.cell(l, c); return d.units ? d.load / d.units : 0; })`)
	if loads[0] == 0 || loads[1] == 0 || loads[0] > 0.51*loads[1] || loads[0] < 0.49*loads[1] {
		t.Errorf("loads of a unit in two partitions and in one are %v", loads)
	}
	b.noFaults(t, server.URL)
}

// Keys that never took a hundredth of what a partition serves are one line. Before the first round there are no times.
func TestColdKeysAreOneLine(t *testing.T) {
	begin := make(chan struct{})
	units := 0.0
	page, err := heatpage.New(heatpage.Options{Every: 200 * time.Millisecond, Source: func(ctx context.Context) (heatpage.Round, error) {
		select {
		case <-begin:
		case <-ctx.Done():
		}
		units++
		now := time.Now()
		r := heatpage.Round{
			Report: heat.Report{Source: heat.Live, To: now, Resources: []heat.ResourceReport{{Resource: heat.Resource{Table: "t"}}}},
			Partitions: []partitions.Heat{{Table: "t", PartitionWrites: 1000, PartitionReads: 3000, Partitions: []partitions.Partition{
				{ID: 1, Seconds: []partitions.Second{{Start: now.Truncate(time.Second).Add(-time.Second), WriteUnits: 4}}},
			}}},
			Homes: map[string]map[string][]uint64{"t": {}},
		}
		f := &r.Resources[0].Writes
		f.Requests, f.Distinct.Keys = 1, 20
		for i := range 20 {
			key := heat.KeyHeat{Key: fmt.Sprint("cold-", i), Low: units / 5, Second: 0.5}
			f.Units, f.Keys, r.Homes["t"][key.Key] = f.Units+key.Low, append(f.Keys, key), []uint64{1}
		}
		return r, nil
	}})
	if err != nil {
		t.Fatal(err)
	}
	server := follow(t, page)
	b := open(t)
	b.do(t, chromedp.Navigate(server.URL))
	b.until(t, `heatpage.drawings() > 0 && heatpage.state.title !== ""`)
	texts := ask[[]string](t, b, `(() => {
		const all = [], drawn = CanvasRenderingContext2D.prototype.fillText;
		CanvasRenderingContext2D.prototype.fillText = function (text, ...rest) { all.push(text); drawn.call(this, text, ...rest); };
		heatpage.draw();
		CanvasRenderingContext2D.prototype.fillText = drawn;
		return all;
	})()`)
	if all := strings.Join(texts, "|"); strings.Contains(all, ":") || !strings.Contains(all, "waiting") {
		t.Errorf("before the first round the picture says %s", all)
	}
	close(begin)
	b.until(t, `heatpage.lines().some((l) => l.colder)`)
	b.until(t, `heatpage.lines().map((l) => l.label).filter((l) => l.startsWith("cold-")).length === 3`)
	b.noFaults(t, server.URL)
}

// A source that has ended as it was meant to leaves what was seen, without an alarm.
func TestAnEndIsNoAlarm(t *testing.T) {
	var ended atomic.Bool
	page, err := heatpage.New(heatpage.Options{Every: 200 * time.Millisecond, Source: func(context.Context) (heatpage.Round, error) {
		if ended.Load() {
			return heatpage.Round{}, fmt.Errorf("the demo has %w", heatpage.ErrEnded)
		}
		return heatpage.Round{Report: heat.Report{Source: heat.Live, To: time.Now()}}, nil
	}})
	if err != nil {
		t.Fatal(err)
	}
	server := follow(t, page)
	b := open(t)
	b.do(t, chromedp.Navigate(server.URL))
	b.until(t, `document.getElementById("status").textContent.startsWith("live")`)
	ended.Store(true)
	b.until(t, `document.getElementById("status").textContent === "the demo has ended"`)
	if class := ask[string](t, b, `document.getElementById("status").className`); class != "" {
		t.Errorf("the status looks %s", class)
	}
	b.noFaults(t, server.URL)
}

// follow serves a page that takes rounds until the test ends.
func follow(t *testing.T, page *heatpage.Page) *httptest.Server {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() { defer close(done); page.Run(ctx) }()
	server := httptest.NewServer(page)
	t.Cleanup(func() { cancel(); <-done; server.Close() })
	return server
}
