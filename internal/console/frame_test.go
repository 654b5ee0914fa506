package console

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"
	"pgregory.net/rapid"

	"github.com/heatsink-go/heatsink/heat"
	"github.com/heatsink-go/heatsink/internal/round"
	"github.com/heatsink-go/heatsink/local/partitions"
)

var update = flag.Bool("update", false, "write the golden frames anew")

var noon = time.Date(2026, 11, 15, 12, 0, 1, 0, time.UTC)

// evil are keys that would move the cursor, clear the screen, ring, turn the text around or be wider than they look.
var evil = []string{
	"\x1b[2J\x1b[H\x1b]0;owned\x07PAGE", "line\nbreak\r\ttab", "顧客#東京#二〇二六年度売上高の集計結果", "rtl\u202eoverride", "invalid\xff\xfeutf8",
	"family👨‍👩‍👧key", "heart❤️", strings.Repeat("TENANT#very-long-key#", 20), "e\u0301galite\u0301", "\u009b31mC1",
}

// scene is a round with everything in it: a full partition, shards, an index and odd keys.
func scene(tick int) round.Round {
	at := noon.Add(time.Duration(tick) * time.Second)
	const keyRange, provisioned = "TableWriteKeyRangeThroughputExceeded", "IndexWriteProvisionedThroughputExceeded"
	wave := float64(1 + tick%5)
	keys := []heat.KeyHeat{
		{Key: "PAGE#viral", Rate: 2258, RateLow: 2258, Consumed: 190 * wave, Share: 0.42, Requests: 9000, Throttled: 700, Refused: 1268, Reason: keyRange},
	}
	homes := map[string][]uint64{"PAGE#viral": {3}}
	for i := range 8 {
		key := fmt.Sprintf("PAGE_VIEWS#SHARD_%d", i)
		keys = append(keys, heat.KeyHeat{Key: key, Rate: 30, Consumed: 30 + float64(i)*wave, Share: 0.02})
		homes[key] = []uint64{uint64(2 + i%2)}
	}
	for i, key := range evil {
		keys = append(keys, heat.KeyHeat{Key: key, Rate: 9, Consumed: 9 - float64(i)/2, Share: 0.01})
		homes[key] = []uint64{2}
	}
	homes[evil[0]] = []uint64{2, 3}
	homes[evil[1]] = nil
	var trend []heat.Point
	for i := range 40 {
		trend = append(trend, heat.Point{From: at.Add(time.Duration(i-40) * time.Second), For: time.Second, Units: float64(i * i), Throttled: int64(i)})
	}
	second := func(units, throttled float64) []partitions.Second {
		return []partitions.Second{{Start: at.Truncate(time.Second).Add(-time.Second), WriteUnits: units, WriteThrottled: throttled}}
	}
	r := round.Round{
		Report: heat.Report{Source: heat.Engine, From: at.Add(-time.Minute), To: at, Notes: []string{"a note with \x1b[31mcolour"}, Resources: []heat.ResourceReport{
			{Resource: heat.Resource{Table: "orders"}, Key: []string{"pk"}, Writes: heat.Flow{
				Units: 90_000, Requests: 99_000, Throttled: 700, Peak: 1000, Distinct: heat.Distinct{Keys: 4123, Error: 0.01}, Keys: keys, Trend: trend,
				Throttles: []heat.ThrottleCount{{Reason: keyRange, Count: 700}}, Control: heat.Control{Units: 3, Requests: 4},
			}},
			{Resource: heat.Resource{Table: "orders", Index: "byStatus"}, Key: []string{"status"}, Writes: heat.Flow{
				Units: 100, Requests: 100, Distinct: heat.Distinct{Keys: 2},
				Keys: []heat.KeyHeat{{Key: "OPEN", Rate: 90, Consumed: 80, Share: 0.9, Refused: 3, Reason: provisioned}, {Key: "CLOSED", Rate: 10, Consumed: 10, Share: 0.1}},
			}},
		}},
		Partitions: []partitions.Heat{{Table: "orders", PartitionReads: 3000, PartitionWrites: 1000, Partitions: []partitions.Partition{
			{ID: 2, Upper: "40", Seconds: second(300, 0)},
			{ID: 3, Lower: "40", Upper: "80", Seconds: second(1000, 1268), Obstacle: "single item"},
			{ID: 4, Lower: "80"},
		}}},
		Homes: map[string]map[string][]uint64{"orders": homes},
	}
	return r
}

// at returns a model that has seen a few rounds of the scene.
func at(width, height int) *Model {
	m := New(Options{Table: "orders", Keys: 12})
	m.Update(tea.WindowSizeMsg{Width: width, Height: height})
	for tick := range 20 {
		m.Update(scene(tick))
	}
	return m
}

// press sends keys by their names.
func press(m *Model, keys ...string) {
	for _, key := range keys {
		named := map[string]rune{"enter": tea.KeyEnter, "down": tea.KeyDown, "up": tea.KeyUp, "tab": tea.KeyTab, "esc": tea.KeyEscape, "space": tea.KeySpace, "backspace": tea.KeyBackspace, "end": tea.KeyEnd}
		if code, ok := named[key]; ok {
			m.Update(tea.KeyPressMsg{Code: code})
			continue
		}
		m.Update(tea.KeyPressMsg{Code: []rune(key)[0], Text: key})
	}
}

// fits fails if a line is wider than the window, there are more lines than it has, or anything but colours is sent.
func fits(t interface {
	Helper()
	Errorf(string, ...any)
}, frame string, width, height int,
) {
	t.Helper()
	lines := strings.Split(frame, "\n")
	if len(lines) > height {
		t.Errorf("%d lines in a window of %d", len(lines), height)
	}
	for i, line := range lines {
		if w := ansi.StringWidth(line); w > width {
			t.Errorf("line %d is %d columns wide, the window %d: %q", i, w, width, line)
		}
	}
	rest := frame
	for {
		_, after, found := strings.Cut(rest, "\x1b")
		if !found {
			break
		}
		end := strings.IndexFunc(after, func(c rune) bool { return c >= 0x40 && c != '[' })
		if !strings.HasPrefix(after, "[") || end < 0 || after[end] != 'm' {
			t.Errorf("an escape sequence other than a colour: %q", after[:min(len(after), 20)])
		}
		rest = after
	}
	for _, c := range ansi.Strip(frame) {
		if c != '\n' && (c < 0x20 || c >= 0x7f && c < 0xa0) {
			t.Errorf("control character %q is sent to the terminal", c)
		}
	}
}

// The screen at the widths of real terminals, as it has been read and found good. Run with -update after a change, and read
// the difference.
func TestGoldenFrames(t *testing.T) {
	for _, test := range []struct {
		name          string
		width, height int
		prepare       func(*Model)
	}{
		{"60", 60, 40, nil},
		{"80", 80, 40, nil},
		{"100", 100, 40, nil},
		{"140", 140, 40, nil},
		{"200", 200, 40, nil},
		{"60_open", 60, 60, func(m *Model) { press(m, "g", "down", "down", "enter") }},
		{"100_alone", 100, 40, func(m *Model) { press(m, "g", "s", "down", "down", "enter") }},
		{"140_filter", 140, 20, func(m *Model) { press(m, "/", "v", "i", "enter", "down", "down") }},
		{"80_index", 80, 20, func(m *Model) { press(m, "tab", "tab", "space") }},
		{"80_lost", 80, 20, func(m *Model) { m.Update(Lost{errors.New("dial tcp\x1b[2J: refused")}) }},
		{"80_help", 80, 30, func(m *Model) { press(m, "?") }},
		{"80_low", 80, 8, func(m *Model) { press(m, "end") }},
	} {
		t.Run(test.name, func(t *testing.T) {
			m := at(test.width, test.height)
			if test.prepare != nil {
				test.prepare(m)
			}
			frame := m.Frame()
			fits(t, frame, test.width, test.height)
			got := ansi.Strip(frame) + "\n"
			var trimmed strings.Builder
			for line := range strings.Lines(got) {
				trimmed.WriteString(strings.TrimRight(line, " \n") + "\n")
			}
			got = trimmed.String()
			file := filepath.Join("testdata", "frame_"+test.name+".txt")
			if *update {
				if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			if got != string(want) {
				t.Errorf("got\n%s\nwant\n%s", got, want)
			}
			if again := m.Frame(); again != frame {
				t.Error("the view changes the model")
			}
		})
	}
}

// Whatever the keys, the window and the keystrokes are, no line is too wide and nothing but colours reaches the terminal.
func TestFramesAlwaysFit(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		width, height := rapid.IntRange(1, 220).Draw(t, "width"), rapid.IntRange(1, 60).Draw(t, "height")
		m := New(Options{Table: rapid.String().Draw(t, "table"), Keys: rapid.IntRange(0, 20).Draw(t, "keys"), ASCII: rapid.Bool().Draw(t, "ascii")})
		m.Update(tea.WindowSizeMsg{Width: width, Height: height})
		for range rapid.IntRange(1, 12).Draw(t, "steps") {
			switch rapid.IntRange(0, 2).Draw(t, "step") {
			case 0:
				r := scene(rapid.IntRange(0, 50).Draw(t, "tick"))
				f := &r.Resources[0].Writes
				for i := range f.Keys {
					if rapid.IntRange(0, 4).Draw(t, "change") == 0 {
						f.Keys[i].Key = string(rapid.SliceOfN(rapid.Byte(), 0, 40).Draw(t, "key"))
						f.Keys[i].Consumed = rapid.Float64().Draw(t, "rate")
						f.Keys[i].Refused = rapid.Float64().Draw(t, "refused")
						f.Keys[i].Reason = rapid.String().Draw(t, "reason")
					}
				}
				m.Update(r)
			case 1:
				m.Update(Lost{errors.New(rapid.String().Draw(t, "error"))})
			case 2:
				press(m, rapid.SampledFrom([]string{"s", "g", "/", "tab", "enter", "down", "up", "end", "space", "?", "esc", "backspace", "x", "東"}).Draw(t, "press"))
			}
			fits(t, m.Frame(), width, height)
		}
	})
}
