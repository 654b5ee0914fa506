package console

import (
	"fmt"
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"
	"charm.land/lipgloss/v2"
	"github.com/charmbracelet/x/ansi"

	"github.com/heatsink-go/heatsink/heat"
	"github.com/heatsink-go/heatsink/internal/round"
)

// The styles. The program leaves colours out where the terminal has none, or NO_COLOR is set.
var (
	bold   = lipgloss.NewStyle().Bold(true)
	faint  = lipgloss.NewStyle().Faint(true)
	red    = lipgloss.NewStyle().Foreground(lipgloss.Red)
	alarm  = lipgloss.NewStyle().Foreground(lipgloss.Red).Bold(true)
	chosen = lipgloss.NewStyle().Reverse(true)
)

// View implements tea.Model. It depends on nothing but the model.
func (m *Model) View() tea.View {
	v := tea.NewView(m.Frame())
	v.AltScreen = true
	return v
}

// Frame is the screen as text: as many lines as the window has at most, and none wider than it.
func (m *Model) Frame() string {
	head, foot := m.head(), m.foot()
	room := m.height - len(head) - len(foot)
	if room < 3 { // of a low window the list is the last to go
		foot = nil
		room = m.height - len(head)
	}
	lines := append(head, m.body(max(1, room))...)
	lines = append(lines, foot...)
	lines = lines[:min(len(lines), max(1, m.height))]
	tail := "…"
	if m.ascii {
		tail = "~"
	}
	for i := range lines {
		if m.ascii {
			lines[i] = plainSigns(lines[i])
		}
		lines[i] = ansi.Truncate(lines[i], max(1, m.width), tail)
	}
	return strings.Join(lines, "\n")
}

// head are the lines above the list.
func (m *Model) head() []string {
	title := round.Safe(m.table)
	if m.have {
		title += " · " + round.Safe(string(m.round.Source)) + " · " + clock(m.round.To)
	}
	state := " · live"
	switch {
	case m.lost != "":
		state = " · " + alarm.Render("connection lost, retrying")
	case m.paused:
		state = " · " + bold.Render("paused")
	case !m.have:
		state = " · waiting for the first figures"
	}
	lines := []string{bold.Render("heatsink top "+title) + state, m.settings()}
	if m.lost != "" {
		lines = append(lines, red.Render(fmt.Sprintf("attempt %d: %s", m.attempts, round.Safe(m.lost))))
	}
	c := newColumns(m.width)
	return append(lines, faint.Render(c.heads()))
}

// settings say what is selected, and how it is sorted.
func (m *Model) settings() string {
	parts := []string{"sort " + m.order.String()}
	if m.flat {
		parts = append(parts, "keys alone")
	} else {
		parts = append(parts, "keys inside partitions")
	}
	if m.only == "" {
		parts = append(parts, "table and indexes")
	} else {
		parts = append(parts, "only "+round.Safe(m.only))
	}
	switch {
	case m.typing:
		parts = append([]string{"filter: " + round.Safe(m.filter) + "_"}, parts...)
	case m.filter != "":
		parts = append([]string{"filter: " + round.Safe(m.filter)}, parts...)
	}
	return strings.Join(parts, " · ")
}

// body is the list, or the help in its place.
func (m *Model) body(room int) []string {
	if m.help {
		return helpLines[:min(room, len(helpLines))]
	}
	rows := m.list()
	if len(rows) == 0 {
		text := "no requests yet"
		if m.filter != "" || m.only != "" {
			text = "nothing passes the filter: esc clears it"
		}
		return []string{"  " + text}
	}
	lines, at := m.lines(rows)
	return window(lines, at, room)
}

// lines draws rows, and says which line is the selected one.
func (m *Model) lines(rows []row) (lines []string, at int) {
	c := newColumns(m.width)
	for i := range rows {
		r := &rows[i]
		if r.title {
			lines = append(lines, m.titleLine(r))
			continue
		}
		mark, style := "  ", lipgloss.NewStyle()
		if r.hot {
			style = red
		}
		if r.id == m.selected {
			mark, style, at = "› ", chosen, len(lines)
		}
		lines = append(lines, style.Render(mark+c.line(r)))
		if c.words == 0 && r.words != "" {
			lines = append(lines, style.Render(strings.Repeat("  ", r.level+1)+"why: "+r.words))
		}
	}
	return lines, at
}

// titleLine is a heading over the whole line, with its trend at the end if there is room.
func (m *Model) titleLine(r *row) string {
	text := strings.Repeat("  ", r.level) + r.text
	if r.level > 0 {
		return faint.Render("  " + text)
	}
	const trend = 30
	if room := m.width - ansi.StringWidth(text) - 1; r.past != nil && room >= trend {
		text += " " + strings.TrimLeft(sparkline(r.past, min(room, pastRounds)), " ")
	}
	if r.hot {
		return alarm.Render(text)
	}
	return bold.Render(text)
}

// window returns the lines around one of them, as many as there is room for.
func window(lines []string, at, room int) []string {
	if len(lines) <= room {
		return lines
	}
	from := min(max(0, at-room/2), len(lines)-room)
	shown := slices.Clone(lines[from : from+room])
	if more := len(lines) - from - room; more > 0 && room > 1 {
		shown[room-1] = faint.Render(fmt.Sprintf("  … %d more lines below", more+1))
	}
	return shown
}

// mostFindings is how many findings there are below the list.
const mostFindings = 3

// foot are the lines below the list: what is wrong, the legend, and the keys.
func (m *Model) foot() []string {
	var lines []string
	for i := range m.findings {
		f := &m.findings[i]
		if m.only != "" && m.only != f.Resource.String() || len(lines) == mostFindings {
			continue
		}
		line := fmt.Sprintf("%s: %s: %s", f.Severity, round.Safe(f.Resource.String()), round.Safe(f.Message))
		if f.Severity == heat.Critical {
			line = red.Render(line)
		}
		lines = append(lines, line)
	}
	for _, note := range m.round.Notes {
		lines = append(lines, faint.Render("note: "+round.Safe(note)))
		break
	}
	legend := "load: part of the units/s that one partition serves. trend: the last rounds. ▸ has shards, enter shows them."
	for _, text := range [...]string{legend, "q quit  ? help  ↑↓ select  enter shards  s sort  g group  / filter  tab index  space pause"} {
		for line := range strings.Lines(ansi.Wordwrap(text, max(20, m.width), "")) {
			lines = append(lines, faint.Render(strings.TrimSpace(line)))
		}
	}
	return lines
}

// helpLines are the help.
var helpLines = []string{
	"  q, ctrl+c         quit",
	"  space             stop the figures, and go on",
	"  s                 sort by units/s, throttled/s or key",
	"  g                 keys inside their partitions, or keys alone",
	"  /                 filter keys by a text; enter keeps it, esc clears it",
	"  tab, shift+tab    only the next table or index; behind the last, all",
	"  up, down, k, j    select a key; page up, page down, home, end",
	"  enter             show or hide the shards of a key",
	"",
	"  UNITS/S           capacity units consumed in a second",
	"  THROTL/S          throttled attempts, or units of a partition, in a second",
	"  SHARE             the key's share of all demand",
	"  LOAD              the part of what one partition serves; of shards, the fullest",
	"  TREND             units/s over the last rounds, beside their highest",
	"  WHY               why DynamoDB throttles, or will",
	"",
	"  any key closes this help",
}

// plainSigns replaces what is not ASCII.
func plainSigns(line string) string {
	var b strings.Builder
	for _, c := range line {
		switch {
		case c < 0x80:
			b.WriteRune(c)
		case strings.ContainsRune(levels, c):
			b.WriteByte(" ..::==##"[len([]rune(levels[:strings.IndexRune(levels, c)]))])
		case strings.ContainsRune("·…", c):
			b.WriteByte('.')
		case strings.ContainsRune("›▸▾", c):
			b.WriteByte('>')
		case c == '↑':
			b.WriteString("up/")
		case c == '↓':
			b.WriteString("down")
		default:
			b.WriteByte('?')
		}
	}
	return b.String()
}
