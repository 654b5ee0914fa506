package console

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"github.com/heatsink-go/heatsink/heat"
	"github.com/heatsink-go/heatsink/internal/round"
	"github.com/heatsink-go/heatsink/layout"
	"github.com/heatsink-go/heatsink/local/partitions"
)

// screen is what somebody reads.
func screen(m *Model) string { return ansi.Strip(m.Frame()) }

func expect(t *testing.T, m *Model, when string, want, not []string) {
	t.Helper()
	text := screen(m)
	for _, w := range want {
		if !strings.Contains(text, w) {
			t.Errorf("%s: no %q in\n%s", when, w, text)
		}
	}
	for _, n := range not {
		if strings.Contains(text, n) {
			t.Errorf("%s: there is %q in\n%s", when, n, text)
		}
	}
}

// A pause stops the figures and not the reading: afterwards the latest are shown.
func TestPause(t *testing.T) {
	m := at(100, 40)
	press(m, "space")
	m.Update(scene(30))
	expect(t, m, "paused", []string{"12:00:20 UTC", "paused"}, []string{"12:00:31"})
	press(m, "space")
	expect(t, m, "resumed", []string{"12:00:31 UTC", "live"}, []string{"paused"})
}

// A server that is lost is named until it answers again; what was known stays on the screen.
func TestLostAndFound(t *testing.T) {
	m := at(100, 40)
	m.Update(Lost{errors.New("refused")})
	m.Update(Lost{errors.New("refused")})
	expect(t, m, "lost", []string{"connection lost, retrying", "attempt 2: refused", "PAGE#viral"}, []string{"live"})
	press(m, "space")
	m.Update(scene(30))
	m.Update(Lost{errors.New("again")})
	press(m, "space")
	expect(t, m, "lost while paused", []string{"connection lost, retrying", "12:00:31 UTC"}, nil)
	m.Update(scene(31))
	expect(t, m, "found", []string{"live", "12:00:32 UTC"}, []string{"lost"})
}

func TestFilter(t *testing.T) {
	m := at(120, 40)
	press(m, "/", "V", "I", "q")
	expect(t, m, "typing", []string{"filter: VIq_"}, []string{"PAGE#viral  "})
	press(m, "backspace", "enter")
	expect(t, m, "applied", []string{"filter: VI ", "PAGE#viral", "PAGE_VIEWS", "partition #3"}, []string{"TENANT#", "OPEN"})
	press(m, "esc")
	expect(t, m, "cleared", []string{"TENANT#", "OPEN"}, []string{"filter:"})
	m.Update(tea.PasteMsg{Content: "pasted"})
	press(m, "/")
	m.Update(tea.PasteMsg{Content: "SHARD_3\x1b[2J"})
	press(m, "backspace", "backspace", "backspace", "backspace", "enter")
	expect(t, m, "a shard", []string{"PAGE_VIEWS"}, []string{"PAGE#viral  "})
	press(m, "/", "z", "z", "enter")
	press(m, "g")
	expect(t, m, "nothing", nil, []string{"PAGE_VIEWS"})
}

func TestOneIndexAtATime(t *testing.T) {
	m := at(100, 40)
	press(m, "tab")
	expect(t, m, "first", []string{"only orders\n", "PAGE#viral"}, []string{"OPEN"})
	press(m, "tab")
	expect(t, m, "second", []string{"only orders/byStatus", "OPEN"}, []string{"PAGE#viral"})
	gone := scene(21)
	gone.Resources = gone.Resources[:1]
	m.Update(gone)
	expect(t, m, "its traffic ended", []string{"table and indexes", "PAGE#viral"}, nil)
	press(m, "tab", "tab")
	expect(t, m, "around", []string{"table and indexes"}, nil)
}

// Shards are one key, whose shards show on request; a full shard makes the key hot.
func TestShardsAreOneKey(t *testing.T) {
	m := at(140, 60)
	press(m, "g")
	expect(t, m, "folded", []string{"▸ PAGE_VIEWS", "8 shards, the fullest takes"}, []string{"PAGE_VIEWS#SHARD_1"})
	press(m, "down", "down", "enter")
	expect(t, m, "open", []string{"▾ PAGE_VIEWS", "PAGE_VIEWS#SHARD_0", "PAGE_VIEWS#SHARD_7"}, nil)
	press(m, "enter")
	expect(t, m, "closed", []string{"▸ PAGE_VIEWS"}, []string{"PAGE_VIEWS#SHARD_1"})
	press(m, "g")
	expect(t, m, "in partitions", []string{"4 of 8 shards"}, nil)
}

// folded folds entries by the names that a flow of their keys has.
func folded(entries []entry, layouts ...heat.Layout) []logical {
	var flow heat.Flow
	for _, e := range entries {
		flow.Keys = append(flow.Keys, heat.KeyHeat{Key: e.key, Units: e.rate, RateLow: e.rate})
	}
	name, _ := round.Names(&flow, layouts)
	return fold(entries, name)
}

// Shards are folded as in reports: by their layouts, and neither a bare key nor a shard that is alone is a shard.
func TestFold(t *testing.T) {
	entries := []entry{
		{key: "a#SHARD_0", rate: 1, share: 0.1},
		{key: "b", rate: 5},
		{key: "a#SHARD_1", rate: 3, refused: 2, reason: "why"},
		{key: "a", rate: 2},
		{key: "c.7", rate: 1},
		{key: "c.8", rate: 1},
		{key: "#SHARD_1", rate: 1},
		{key: "d#SHARD_3", rate: 1},
	}
	var text strings.Builder
	for _, k := range folded(entries, heat.Layout{Layout: layout.Layout{Shards: 10, Format: layout.DotFromOne()}}) {
		fmt.Fprintf(&text, "%s %v %v %d %s %.2f; ", k.key, k.rate, k.refused, len(k.shards), k.reason, k.fullest())
	}
	got := text.String()
	if want := "a 4 2 2 why 0.75; b 5 0 0  0.00; a 2 0 0  0.00; c 2 0 2  0.50; #SHARD_1 1 0 0  0.00; d#SHARD_3 1 0 0  0.00; "; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

// The order in which keys come changes neither how full the fullest shard is nor which reason counts most: that of the shard
// that is refused most and has one.
func TestFoldInAnyOrder(t *testing.T) {
	for want, refused := range map[string][3]entry{
		"two":  {{refused: 4}, {refused: 3, reason: "two"}, {refused: 2, reason: "three"}},
		"one":  {{refused: 3, reason: "one"}, {refused: 2, reason: "two"}, {refused: 2, reason: "three"}},
		"abc":  {{refused: 3, reason: "xyz"}, {refused: 3, reason: "abc"}, {refused: 2, reason: "aaa"}},
		"last": {{refused: 0}, {refused: 0}, {refused: 1, reason: "last"}},
		"":     {{refused: 1}, {refused: 2}, {refused: 0}},
	} {
		entries := refused[:]
		for i, rate := range []float64{900, 50, 50} {
			entries[i].key, entries[i].rate = fmt.Sprintf("a#SHARD_%d", i), rate
		}
		for _, order := range [][]int{{0, 1, 2}, {0, 2, 1}, {1, 0, 2}, {1, 2, 0}, {2, 0, 1}, {2, 1, 0}} {
			var turned []entry
			for _, i := range order {
				turned = append(turned, entries[i])
			}
			keys := folded(turned)
			if len(keys) != 1 || len(keys[0].shards) != 3 || keys[0].fullest() != 0.9 || keys[0].reason != want {
				t.Errorf("%q, %v: got %+v", want, order, keys)
			}
		}
	}
}

// A bare key and its shards are two rows, each with its own trend.
func TestBareKeyBesideShards(t *testing.T) {
	m := New(Options{Table: "t"})
	m.Update(tea.WindowSizeMsg{Width: 120, Height: 30})
	keys := []heat.KeyHeat{{Key: "POLL", Rate: 70, Consumed: 70, Units: 70}}
	for i := range 8 {
		keys = append(keys, heat.KeyHeat{Key: fmt.Sprint("POLL#SHARD_", i), Rate: 50, Consumed: 50, Units: 50})
	}
	m.Update(round.Round{Report: heat.Report{To: noon, Resources: []heat.ResourceReport{{Resource: heat.Resource{Table: "t"}, Writes: heat.Flow{Requests: 1, Keys: keys}}}}})
	expect(t, m, "both", []string{"8 shards, the fullest takes 12 %"}, nil)
	past := make(map[float64]bool)
	for _, r := range m.list() {
		if !r.title {
			past[r.past[len(r.past)-1]] = true
		}
	}
	if len(past) != 2 || !past[400] || !past[70] {
		t.Errorf("the trends end in %v, want 400 and 70", past)
	}
}

// A trend has the sixty whole seconds before now, whatever else a report has.
func TestSecondsOfATrend(t *testing.T) {
	at := func(ago time.Duration, units float64) heat.Point {
		return heat.Point{From: noon.Add(-ago), For: time.Second, Units: units}
	}
	long := at(2*time.Second, 99)
	long.For = time.Minute
	got := seconds([]heat.Point{at(61*time.Second, 8), at(60*time.Second, 7), at(2*time.Second, 6), long, at(time.Second, 5), at(0, 4), at(-time.Second, 3)}, noon.Add(300*time.Millisecond))
	want := make([]float64, 60)
	want[0], want[58], want[59] = 7, 6, 5
	if !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

func TestSortings(t *testing.T) {
	m := at(100, 60)
	press(m, "g")
	first := func() string {
		for _, r := range m.list() {
			if !r.title {
				return r.text
			}
		}
		return ""
	}
	r := scene(20)
	r.Resources[0].Writes.Keys[0].Consumed = 1
	m.Update(r)
	for _, want := range []string{"PAGE_VIEWS", "PAGE#viral", `"\u009b31mC1"`, "PAGE_VIEWS"} {
		if got := first(); got != want {
			t.Errorf("sorted by %s: got %s first, want %s", m.order, got, want)
		}
		press(m, "s")
	}
}

// Trends are bounded, in time and in the number of keys: what is idle for a minute is forgotten.
func TestTrendsAreBounded(t *testing.T) {
	m := New(Options{Table: "t"})
	for i := range 500 {
		r := round.Round{Report: heat.Report{To: noon, Resources: []heat.ResourceReport{{Resource: heat.Resource{Table: "t"}, Writes: heat.Flow{
			Requests: 1, Keys: []heat.KeyHeat{{Key: "steady", Rate: 9, Consumed: 9}, {Key: fmt.Sprint("key", i), Rate: 5, Consumed: 5}},
		}}}}}
		m.Update(r)
	}
	if n := len(m.past); n > pastRounds+2 {
		t.Errorf("%d trends after 500 keys that came and went, want %d at most", n, pastRounds+2)
	}
	for id, values := range m.past {
		if len(values) > pastRounds {
			t.Errorf("%s has %d values", id, len(values))
		}
	}
}

// A key is in the partition whose range has its place; a border within its collection makes that two.
func TestLocate(t *testing.T) {
	r := round.Round{Partitions: []partitions.Heat{{Table: "t", Partitions: []partitions.Partition{
		{ID: 1, Upper: "40"}, {ID: 2, Lower: "40", Upper: "70aa616263"}, {ID: 3, Lower: "70aa616263"},
	}}}}
	r.Locate(map[string]map[string]string{"t": {"low": "1000", "at": "40", "split": "70aa61", "above": "70ab61", "unknown table": ""}, "other": {"x": "10"}})
	for key, want := range map[string]string{"low": "[1]", "at": "[2]", "split": "[2 3]", "above": "[3]"} {
		if got := fmt.Sprint(r.Homes["t"][key]); got != want {
			t.Errorf("%s: got %s, want %s", key, got, want)
		}
	}
}

func TestReasonWords(t *testing.T) {
	for reason, want := range map[string]string{
		"TableWriteKeyRangeThroughputExceeded":   "throttled: its partition serves no more writes",
		"IndexReadKeyRangeThroughputExceeded":    "throttled: its partition serves no more reads",
		"TableReadProvisionedThroughputExceeded": "throttled: the table has used up its provisioned reads",
		"IndexWriteAccountLimitExceeded":         "throttled: the account has used up its quota of writes",
		"TableReadMaxOnDemandThroughputExceeded": "throttled: the table is at its on-demand maximum of reads",
		"":                                       "throttled for a reason that the server does not give",
		"Something\x1b[2J":                       `throttled: "Something\x1b[2J"`,
	} {
		if got := round.ReasonWords(reason); got != want {
			t.Errorf("%s: got %s, want %s", reason, got, want)
		}
	}
}

// A terminal that knows only ASCII gets nothing else, and can still tell keys apart.
func TestASCII(t *testing.T) {
	m := New(Options{Table: "orders", ASCII: true})
	m.Update(tea.WindowSizeMsg{Width: 100, Height: 40})
	m.Update(scene(1))
	text := screen(m)
	for _, c := range text {
		if c > 0x7e {
			t.Fatalf("%q in\n%s", c, text)
		}
	}
	expect(t, m, "quoted", []string{`"\u9867\u5ba2#`}, nil)
}

func TestKeysThatEnd(t *testing.T) {
	for _, key := range []tea.KeyPressMsg{{Code: 'q', Text: "q"}, {Code: 'c', Mod: tea.ModCtrl}} {
		if _, cmd := at(80, 24).Update(key); cmd == nil || cmd() != (tea.QuitMsg{}) {
			t.Errorf("%s does not quit", key)
		}
	}
	m := at(80, 24)
	press(m, "?")
	if _, cmd := m.Update(tea.KeyPressMsg{Code: 'q', Text: "q"}); cmd == nil || cmd() != (tea.QuitMsg{}) {
		t.Error("q does not quit from the help")
	}
	press(m, "/")
	if _, cmd := m.Update(tea.KeyPressMsg{Code: 'q', Text: "q"}); cmd != nil {
		t.Error("a q that is typed into the filter quits")
	}
	if _, cmd := m.Update(tea.KeyPressMsg{Code: 'c', Mod: tea.ModCtrl}); cmd == nil {
		t.Error("ctrl+c does not quit while a filter is typed")
	}
}
