package browser

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"github.com/heatsink-go/heatsink/heat"
	"github.com/heatsink-go/heatsink/heat/heatpage"
)

// hostileKeys attack whoever shows them.
func hostileKeys() []string {
	keys := []string{
		"</script><script>window.hacked = 1</script>", "<img src=x onerror='window.hacked = 2'>", "\u202egnp.exe", "\x1b[2J\x00", "line\nbreak",
		"שלום#1", "مرحبا (3 shards)", "{{data}}", "\u2028", strings.Repeat("long", 500), strings.Repeat("é\u0301", 400), "👩‍👩‍👧", "constructor", "__proto__",
	}
	for i := range 400 {
		keys = append(keys, fmt.Sprintf("<b>%d</b>", i))
	}
	return keys
}

// Names of keys are text, whatever they say: live, and in a file.
func TestHostileKeysAreText(t *testing.T) {
	keys, units := hostileKeys(), 0.0
	page, err := heatpage.New(heatpage.Options{Every: 200 * time.Millisecond, Source: func(context.Context) (heatpage.Round, error) {
		units += 10
		flow := heat.Flow{Requests: 1, Units: units * float64(len(keys)), Distinct: heat.Distinct{Keys: int64(len(keys))}}
		for _, key := range keys {
			flow.Keys = append(flow.Keys, heat.KeyHeat{Key: key, Low: units, Second: 10, Rate: 10, RateLow: 10})
		}
		return heatpage.Round{Report: heat.Report{Source: heat.Live, To: time.Now(), Resources: []heat.ResourceReport{{Resource: heat.Resource{Table: "t"}, Writes: flow}}}}, nil
	}})
	if err != nil {
		t.Fatal(err)
	}
	server := follow(t, page)
	b := open(t)
	b.do(t, chromedp.Navigate(server.URL))
	b.showsHostileKeys(t, len(keys))
	b.noFaults(t, server.URL)

	file := filepath.Join(t.TempDir(), "saved.html")
	out, err := os.Create(file)
	if err != nil {
		t.Fatal(err)
	}
	if err := page.Export(out); err != nil {
		t.Fatal(err)
	}
	if err := out.Close(); err != nil {
		t.Fatal(err)
	}
	saved := open(t)
	saved.do(t, chromedp.Navigate("file://"+file))
	saved.showsHostileKeys(t, len(keys))
	saved.noFaults(t, "file://"+file)
}

// showsHostileKeys looks at all keys, by the picture and by keyboard.
func (b *tab) showsHostileKeys(t *testing.T, keys int) {
	t.Helper()
	b.until(t, `heatpage.times().length > 0 && heatpage.lines().length > 0`)
	b.do(t, chromedp.Evaluate[chromedp.Void](`{ const all = document.getElementById("cold"); all.checked = true; all.dispatchEvent(new Event("change")); }`))
	b.until(t, fmt.Sprintf(`heatpage.lines().filter((l) => l.key !== undefined).length === %d`, keys))
	texts := ask[[]string](t, b, `heatpage.lines().slice(0, 60).map((l) => {
		const canvas = document.getElementById("canvas");
		heatpage.view.chosen = { id: l.id, t: heatpage.times().at(-1).t };
		canvas.dispatchEvent(new KeyboardEvent("keydown", { key: "ArrowUp" }));
		return document.getElementById("cell").textContent;
	})`)
	for _, text := range texts {
		if strings.ContainsAny(text, "\x1b\x00\u202e\u2028\n") {
			t.Errorf("the cell says %q", text)
		}
	}
	if ask[bool](t, b, `window.hacked !== undefined || document.querySelectorAll("main img, main b, main script").length > 0`) {
		t.Error("a key was taken for HTML")
	}
	if wide := ask[int](t, b, `document.documentElement.scrollWidth - innerWidth`); wide > 0 {
		t.Errorf("the page is %d pixels too wide", wide)
	}
}
