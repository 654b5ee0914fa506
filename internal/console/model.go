package console

import (
	"cmp"
	"slices"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/heatsink-go/heatsink/heat"
	"github.com/heatsink-go/heatsink/internal/round"
)

// Options configure a screen.
type Options struct {
	Table string

	// Keys is the most keys to list, of a partition or of a table or index. Default: 10.
	Keys int

	// Layouts are how shards are spelt, besides those that reports know by themselves, see heat.Flow.Folded.
	Layouts []heat.Layout

	// ASCII draws with characters of ASCII only, for terminals that know no others.
	ASCII bool
}

// Model is what the screen shows, and how.
type Model struct {
	table   string
	most    int
	layouts []heat.Layout
	ascii   bool

	width, height int

	round    round.Round
	have     bool // there was a round
	findings []heat.Finding
	past     past

	lost     string // why there are no new rounds; "" if there are
	attempts int    // to get one since

	paused  bool
	pending *round.Round // that came while paused

	order    order
	flat     bool   // keys alone, not inside their partitions
	only     string // the table or index that is shown; "" for all
	filter   string
	typing   bool // the filter
	help     bool
	open     map[string]bool
	selected string
}

var _ tea.Model = (*Model)(nil)

// order is how rows are sorted.
type order int

const (
	byRate order = iota
	byThrottles
	byKey
	orders // their number
)

func (o order) String() string { return [...]string{"units/s", "throttled/s", "key"}[o] }

// New returns the model of an empty screen.
func New(o Options) *Model {
	m := &Model{
		table: o.Table, most: cmp.Or(max(0, o.Keys), 10), layouts: o.Layouts, ascii: o.ASCII,
		width: 80, height: 24, past: make(past), open: make(map[string]bool),
	}
	return m
}

// Lost is a message: there is no new round.
type Lost struct{ Err error }

// Init implements tea.Model. Rounds come from outside, by Program.Send.
func (m *Model) Init() tea.Cmd { return nil }

// Update implements tea.Model. It takes a Round, a Lost, keystrokes and the size of the window.
func (m *Model) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	switch msg := msg.(type) {
	case round.Round:
		m.accept(msg)
	case Lost:
		m.lost, m.attempts = cmp.Or(msg.Err.Error(), "no answer"), m.attempts+1
	case tea.WindowSizeMsg:
		m.width, m.height = msg.Width, msg.Height
	case tea.PasteMsg:
		if m.typing {
			m.setFilter(m.filter + msg.Content)
		}
	case tea.KeyPressMsg:
		return m, m.press(msg)
	}
	return m, nil
}

// accept takes a round, or keeps it until the pause is over.
func (m *Model) accept(r round.Round) {
	m.lost, m.attempts = "", 0
	if m.paused {
		m.pending = &r
		return
	}
	m.round, m.have = r, true
	m.findings = heat.Explain(r.Report, heat.Rules{})
	m.past.push(m.values())
	if m.only != "" && !slices.Contains(m.resources(), m.only) {
		m.only = ""
	}
}

// press obeys a key. While a filter is typed, keys are its text.
func (m *Model) press(msg tea.KeyPressMsg) tea.Cmd {
	key := msg.String()
	switch {
	case key == "ctrl+c":
		return tea.Quit
	case m.typing:
		m.typed(msg)
		return nil
	case m.help:
		m.help = false
		if key == "q" {
			return tea.Quit // as the help says
		}
		return nil
	}
	switch key {
	case "q":
		return tea.Quit
	case "?", "h":
		m.help = true
	case "space", " ":
		m.pause()
	case "s":
		m.order = (m.order + 1) % orders
	case "g":
		m.flat = !m.flat
	case "/":
		m.typing = true
	case "esc":
		m.filter = ""
	case "tab":
		m.next(1)
	case "shift+tab":
		m.next(-1)
	default:
		m.steer(key)
	}
	return nil
}

// typed changes the filter.
func (m *Model) typed(msg tea.KeyPressMsg) {
	switch msg.String() {
	case "enter":
		m.typing = false
	case "esc":
		m.typing, m.filter = false, ""
	case "backspace":
		if letters := []rune(m.filter); len(letters) > 0 {
			m.filter = string(letters[:len(letters)-1])
		}
	default:
		m.setFilter(m.filter + msg.Text)
	}
}

// mostFilter is the most bytes of a filter.
const mostFilter = 1000

func (m *Model) setFilter(text string) {
	m.filter = strings.ToValidUTF8(text[:min(len(text), mostFilter)], "")
}

// pause stops the figures, or shows the latest.
func (m *Model) pause() {
	m.paused = !m.paused
	if r := m.pending; !m.paused && r != nil {
		m.pending = nil
		lost, attempts := m.lost, m.attempts
		m.accept(*r)
		m.lost, m.attempts = lost, attempts
	}
}

// resources returns the names of the tables and indexes with traffic.
func (m *Model) resources() []string {
	var names []string
	for _, f := range m.round.Flows() {
		names = append(names, f.Resource.String())
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// next shows the next table or index alone; behind the last, all of them.
func (m *Model) next(step int) {
	names := append([]string{""}, m.resources()...)
	i := max(0, slices.Index(names, m.only))
	m.only = names[(i+step+len(names))%len(names)]
}

// steer moves the selection, and opens and closes keys.
func (m *Model) steer(key string) {
	var rows []row
	for _, r := range m.list() {
		if !r.title {
			rows = append(rows, r)
		}
	}
	if len(rows) == 0 {
		return
	}
	at := slices.IndexFunc(rows, func(r row) bool { return r.id == m.selected })
	page := max(1, m.height/2)
	switch key {
	case "up", "k":
		at--
	case "down", "j":
		at++
	case "pgup":
		at -= page
	case "pgdown":
		at += page
	case "home":
		at = 0
	case "end":
		at = len(rows) - 1
	case "enter", "right", "left":
		if at >= 0 && rows[at].opens {
			m.toggle(rows[at].id, key)
		}
		return
	default:
		return
	}
	m.selected = rows[min(max(at, 0), len(rows)-1)].id
}

// toggle opens or closes a key.
func (m *Model) toggle(id, key string) {
	if m.open[id] || key == "left" {
		delete(m.open, id)
		return
	}
	m.open[id] = true
}

// clock is how the time of a round is shown.
func clock(t time.Time) string { return t.UTC().Format(time.TimeOnly) + " UTC" }
