package main

import (
	"context"
	"fmt"
	"math"
	"net/http/httptest"
	"os"
	"slices"
	"sync"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/cdproto/performance"
	"github.com/chromedp/chromedp"

	"github.com/heatsink-go/heatsink/heat/heatpage"
	"github.com/heatsink-go/heatsink/internal/browser"
)

// report is what is printed.
type report struct {
	Keys    int                `json:"keys"`
	Rows    int                `json:"rows"`    // that the page has
	Columns int                `json:"columns"` // of its history
	Cells   int                `json:"cells"`
	Within  bool               `json:"within"` // the budgets
	Millis  map[string]figures `json:"millis"` // of the main thread, by what was done
}

type figures struct {
	Samples int     `json:"samples"`
	P50     float64 `json:"p50"`
	P99     float64 `json:"p99"`
	Most    float64 `json:"most"`
	MostP50 float64 `json:"mostP50"` // the budget
	MostP99 float64 `json:"mostP99"`
	Within  bool    `json:"within"` // it
}

func figuresOf(samples []float64, most budget) figures {
	slices.Sort(samples)
	at := func(p float64) float64 {
		return math.Round(100*samples[int(math.Ceil(p*float64(len(samples))))-1]) / 100
	}
	f := figures{Samples: len(samples), P50: at(0.5), P99: at(0.99), Most: at(1), MostP50: most.p50, MostP99: most.p99}
	f.Within = f.P50 <= most.p50 && f.P99 <= most.p99
	return f
}

// deed is something whose time is measured: do begins it, and done becomes true when it was drawn.
type deed struct {
	name string
	do   func(n int) error
	done string // an expression of the page; before is the number of drawings before
	most budget
}

func measure(ctx context.Context, keys, samples int) (report, error) {
	traffic := newTraffic(keys)
	page, err := heatpage.New(heatpage.Options{Every: 100 * time.Millisecond, Rows: keys, Source: traffic.round})
	if err != nil {
		return report{}, err
	}
	server := httptest.NewServer(page)
	defer server.Close()
	running, stop := context.WithCancel(ctx)
	var all sync.WaitGroup
	all.Go(func() { page.Run(running) })
	defer func() { stop(); all.Wait() }()
	select {
	case <-traffic.ready:
	case <-ctx.Done():
		return report{}, ctx.Err()
	}
	tab, end, err := browser.Open(ctx, 1400, 1000)
	if err != nil {
		return report{}, err
	}
	defer end()
	b := &bench{tab}
	if err := b.open(server.URL); err != nil {
		return report{}, err
	}
	r := report{Keys: keys, Within: true, Millis: make(map[string]figures)}
	size, err := chromedp.Run(tab, chromedp.Evaluate[[]int](`[heatpage.state.rows.size, heatpage.state.columns.length, heatpage.state.columns.reduce((n, c) => n + c.r.length, 0)]`))
	if err != nil {
		return report{}, err
	}
	r.Rows, r.Columns, r.Cells = size[0], size[1], size[2]
	for _, d := range b.deeds(traffic) {
		f, err := b.sample(d, samples)
		if err != nil {
			return report{}, fmt.Errorf("%s: %w", d.name, err)
		}
		fmt.Fprintf(os.Stderr, "%s: %+v\n", d.name, f)
		r.Millis[d.name] = f
		r.Within = r.Within && f.Within
	}
	return r, nil
}

// bench is a browser with the page.
type bench struct{ context.Context }

func (b *bench) open(url string) error {
	err := chromedp.Do(b, chromedp.Func(func(ctx context.Context, _ *chromedp.Target) error {
		_, err := chromedp.Call(ctx, performance.Enable, performance.EnableParams{TimeDomain: performance.EnableTimeDomainThreadTicks}) // not what others on this machine take
		return err
	}), chromedp.Navigate(url))
	if err != nil {
		return err
	}
	if _, err := chromedp.Run(b, chromedp.Poll[bool](`heatpage.state.rows.size > 0 && heatpage.drawings() > 1`, chromedp.WithPollingTimeout(time.Minute))); err != nil {
		return err
	}
	return chromedp.Do(b, chromedp.Evaluate[chromedp.Void](`{
		const set = (id, value) => { const e = document.getElementById(id); if (e.type === "checkbox") e.checked = value; else e.value = value; e.dispatchEvent(new Event("change")); };
		set("range", "3600");
	}`))
}

// deeds are what people and the server do.
func (b *bench) deeds(t *traffic) []deed {
	mouse := func(kind input.DispatchMouseEventType, x, y float64) error {
		e := input.DispatchMouseEventParams{Type: kind, X: x, Y: y}
		if kind == input.DispatchMouseEventTypeMousePressed || kind == input.DispatchMouseEventTypeMouseReleased {
			e.Button, e.ClickCount = input.MouseButtonLeft, 1
		}
		_, err := chromedp.Call(b, input.DispatchMouseEvent, e)
		return err
	}
	release := func(int) error {
		select {
		case t.released <- struct{}{}:
			return nil
		case <-b.Done():
			return context.Cause(b)
		}
	}
	const drawn = `heatpage.drawings() > before`
	return []deed{
		{"round", release, drawn, round},
		{"hover", func(n int) error {
			return mouse(input.DispatchMouseEventTypeMouseMoved, 420+float64(n*37%800), 420+float64(n*53%380))
		}, ``, gesture},
		{"scroll", func(n int) error {
			return chromedp.Do(b, chromedp.Evaluate[chromedp.Void](fmt.Sprintf(`document.getElementById("map").scrollTop += %d`, []int{120, -120}[n/10%2])))
		}, drawn, gesture},
		{"click", func(n int) error {
			x, y := 420+float64(n*37%800), 480+float64(n*53%300)
			if err := mouse(input.DispatchMouseEventTypeMousePressed, x, y); err != nil {
				return err
			}
			return mouse(input.DispatchMouseEventTypeMouseReleased, x, y)
		}, ``, gesture},
		{"round with a chosen cell", release, drawn, round},
	}
}

// sample does something so often, and returns how long the main thread was busy with it.
func (b *bench) sample(d deed, samples int) (figures, error) {
	var took []float64
	for n := range samples + 5 {
		drawings, err := chromedp.Run(b, chromedp.Evaluate[int](`heatpage.drawings()`))
		if err != nil {
			return figures{}, err
		}
		before, err := b.busy()
		if err != nil {
			return figures{}, err
		}
		if err := d.do(n); err != nil {
			return figures{}, err
		}
		if err := b.settle(d.done, drawings); err != nil {
			return figures{}, err
		}
		after, err := b.busy()
		if err != nil {
			return figures{}, err
		}
		if n >= 5 { // the first ones are compiled
			took = append(took, 1000*(after-before))
		}
	}
	return figuresOf(took, d.most), nil
}

// settle waits until something was drawn, and two frames more.
func (b *bench) settle(done string, before int) error {
	wait := fmt.Sprintf(`new Promise((resolve) => {
		const begun = performance.now(), before = %d;
		const look = () => { if (%s || performance.now() - begun > 5000) requestAnimationFrame(() => requestAnimationFrame(() => resolve(true))); else setTimeout(look, 20); };
		look();
	})`, before, map[bool]string{true: "true", false: done}[done == ""])
	_, err := chromedp.Run(b, chromedp.Evaluate[bool](wait, chromedp.EvalAwaitPromise))
	return err
}

// busy returns how many seconds the main thread has worked so far.
func (b *bench) busy() (float64, error) {
	metrics, err := chromedp.Call(b, performance.GetMetrics, cdp.Empty{})
	if err != nil {
		return 0, err
	}
	for _, m := range metrics.Metrics {
		if m.Name == "TaskDuration" {
			return m.Value, nil
		}
	}
	return 0, fmt.Errorf("the browser does not tell TaskDuration")
}
