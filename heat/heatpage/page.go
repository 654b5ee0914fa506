package heatpage

import (
	"context"
	"crypto/rand"
	"embed"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"
)

var (
	//go:embed page.html
	document string
	//go:embed page.css
	style string
	//go:embed js
	parts embed.FS
)

// script is the page's program: its parts in one scope, in this order.
var script = sync.OnceValue(func() string {
	var b strings.Builder
	b.WriteString("(() => {\n\"use strict\";\n")
	for _, name := range []string{
		"text", "store", "view", "lines", "times", "colours", "picture", "marks", "chart", "cell", "table", "findings", "panels", "feed", "controls",
	} {
		part, err := parts.ReadFile("js/" + name + ".js")
		if err != nil {
			panic(err) // it was there when this was compiled
		}
		b.Write(part)
	}
	b.WriteString("})();\n")
	return b.String()
})

// savedPolicy keeps a saved page from asking anybody for anything.
const savedPolicy = `<meta http-equiv="Content-Security-Policy" content="default-src 'none'; img-src data:; style-src 'unsafe-inline'; script-src 'unsafe-inline'; base-uri 'none'; form-action 'none'">` + "\n"

// mostViewers is how many browsers may follow a page at a time.
const mostViewers = 64

// Page is the page. It is an http.Handler for its own path and the paths below it. It is safe for concurrent use.
type Page struct {
	options  Options
	instance string

	mu      sync.Mutex
	history *history
	plans   planner
	ledgers ledgers              // only Run uses them
	known   map[string]flowPanel // by name
	frame   frame                // of the last round, without its columns
	encoded []byte               // the whole of the last round, once somebody has asked for it
	viewers map[chan []byte]struct{}
	ended   bool // there will be no more rounds
}

// New returns a page that has seen nothing yet. The error names every fault of the options.
func New(o Options) (*Page, error) {
	if err := o.validate(); err != nil {
		return nil, fmt.Errorf("heatpage: %w", err)
	}
	o.defaults()
	p := &Page{options: o, instance: rand.Text(), history: newHistory(o.Rows, o.Layouts), plans: make(planner), ledgers: ledgers{ask: o.Ledger}, known: make(map[string]flowPanel), viewers: make(map[chan []byte]struct{})}
	p.frame = frame{Instance: p.instance, Title: o.Title, Lost: "no round yet"}
	return p, nil
}

// Run takes rounds until ctx ends, and then lets all browsers go. A source that fails is asked again, and the page says why. Run is
// called once.
func (p *Page) Run(ctx context.Context) {
	defer p.end()
	for {
		p.step(ctx)
		// Rounds begin just after a whole interval, so that the last second is over when it is looked at.
		wait := time.Until(time.Now().Truncate(p.options.Every).Add(p.options.Every + 20*time.Millisecond))
		select {
		case <-time.After(wait):
		case <-ctx.Done():
			return
		}
	}
}

// step takes a round.
func (p *Page) step(ctx context.Context) {
	r, err := p.options.Source(ctx)
	if ctx.Err() != nil {
		return
	}
	if err == nil {
		p.ledgers.look(ctx, &r, &p.options)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.encoded = nil
	if err != nil {
		p.frame.Lost, p.frame.Ended = p.options.reason(err), errors.Is(err, ErrEnded)
		p.send(p.frame)
		return
	}
	if p.options.Redact != nil {
		r.Redact(p.options.Redact)
	}
	if n := possible(&r); n > 0 {
		r.Notes = append(slices.Clone(r.Notes), fmt.Sprintf("%d figures of the source are impossible: no number, or more than anybody serves; they are shown as 0 or as %g", n, mostShown))
	}
	changed := p.history.take(&r)
	p.frame = frame{
		Instance: p.instance, Title: p.options.Title, Now: r.To.UnixMilli(), Events: p.history.events.all,
		panels: newPanels(&r, &p.options, p.plans),
	}
	p.know(p.frame.Flows)
	if changed.anew {
		p.sendWhole()
		return
	}
	update := p.frame
	update.Rows, update.Gone, update.Columns = changed.rows, changed.gone, columnFrames(changed.columns)
	p.send(update)
}

// know keeps what is known of flows as long as the history has rows of them.
func (p *Page) know(flows []flowPanel) {
	for _, f := range flows {
		p.known[f.Name] = f
	}
	of := make(map[string]bool)
	for name := range p.history.rows {
		of[name.flow] = true
	}
	maps.DeleteFunc(p.known, func(name string, _ flowPanel) bool { return !of[name] })
}

// end lets all who follow go, so that a server can shut down.
func (p *Page) end() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.ended = true
	for viewer := range p.viewers {
		close(viewer)
	}
	clear(p.viewers)
}

// whole is the frame of a browser that comes.
func (p *Page) whole() ([]byte, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.wholeLocked()
}

// wholeLocked encodes it once for all who come between two rounds.
func (p *Page) wholeLocked() (data []byte, err error) {
	if p.encoded != nil {
		return p.encoded, nil
	}
	f := p.frame
	f.Whole, f.Rows, f.Columns = true, p.history.all(), columnFrames(p.history.columns)
	f.Known = slices.SortedFunc(maps.Values(p.known), func(a, b flowPanel) int { return strings.Compare(a.Name, b.Name) })
	p.encoded, err = json.Marshal(f)
	return p.encoded, err
}

// send gives a frame to all who follow.
func (p *Page) send(f frame) {
	if len(p.viewers) == 0 {
		return
	}
	data, err := json.Marshal(f)
	p.giveOrSay(data, err)
}

// sendWhole lets all who follow begin anew.
func (p *Page) sendWhole() {
	data, err := p.wholeLocked()
	p.giveOrSay(data, err)
}

// giveOrSay hands a frame out, or why there is none: a page that says nothing looks as if nothing happened.
func (p *Page) giveOrSay(data []byte, err error) {
	if err != nil {
		lost := frame{Instance: p.instance, Title: p.options.Title, Now: p.frame.Now, Lost: "the round cannot be shown: " + p.options.reason(err)}
		if data, err = json.Marshal(lost); err != nil {
			return // text has a form always
		}
	}
	p.give(data)
}

// give hands a frame out. One who has not taken the last ones is let go: it comes again and gets everything.
func (p *Page) give(data []byte) {
	for viewer := range p.viewers {
		select {
		case viewer <- data:
		default:
			delete(p.viewers, viewer)
			close(viewer)
		}
	}
}

// ServeHTTP answers the page itself, /events and /export.html.
func (p *Page) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if p.refuse(w, r) {
		return
	}
	h := w.Header()
	h.Set("Cache-Control", "no-store")
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Referrer-Policy", "no-referrer")
	switch r.URL.Path {
	case "", "/":
		nonce := rand.Text()
		h.Set("Content-Type", "text/html; charset=utf-8")
		h.Set("Content-Security-Policy", "default-src 'none'; connect-src 'self'; img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; "+
			"script-src 'nonce-"+nonce+"'; style-src 'nonce-"+nonce+"'")
		_ = write(w, nonce, "", []byte("null")) // the browser has gone
	case "/events":
		p.follow(w, r)
	case "/export.html":
		data, err := p.whole()
		if err != nil {
			http.Error(w, "the page cannot be saved: "+p.options.reason(err), http.StatusInternalServerError)
			return
		}
		h.Set("Content-Disposition", `attachment; filename="heatsink.html"`)
		h.Set("Content-Type", "text/html; charset=utf-8")
		_ = write(w, "", savedPolicy, data) // the browser has gone
	default:
		http.NotFound(w, r)
	}
}

// Export writes the page as one HTML file that shows what was seen so far, and follows nothing.
func (p *Page) Export(w io.Writer) error {
	data, err := p.whole()
	if err != nil {
		return err
	}
	return write(w, "", savedPolicy, data)
}

// write writes the document with what it shows at first. JSON from encoding/json has no "<", so that it cannot end the script that
// holds it.
func write(w io.Writer, nonce, policy string, data []byte) error {
	_, err := strings.NewReplacer("{{nonce}}", nonce, "{{policy}}", policy, "{{style}}", style, "{{script}}", script(), "{{data}}", string(data)).WriteString(w, document)
	return err
}

// follow sends frames until the browser goes away.
func (p *Page) follow(w http.ResponseWriter, r *http.Request) {
	frames := make(chan []byte, 16)
	p.mu.Lock()
	if len(p.viewers) >= mostViewers || p.ended {
		p.mu.Unlock()
		http.Error(w, "the page has ended, or too many browsers follow it", http.StatusServiceUnavailable)
		return
	}
	first, err := p.wholeLocked()
	p.viewers[frames] = struct{}{}
	p.mu.Unlock()
	defer func() {
		p.mu.Lock()
		defer p.mu.Unlock()
		delete(p.viewers, frames)
	}()
	if err != nil {
		http.Error(w, "the page cannot be shown: "+p.options.reason(err), http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "text/event-stream")
	if r.Method == http.MethodHead {
		return
	}
	out := http.NewResponseController(w)
	_ = out.SetReadDeadline(time.Time{}) // a server's time for a whole request is not meant for this one
	if writeEvent(w, out, first) != nil {
		return
	}
	for {
		select {
		case data, open := <-frames:
			if !open || writeEvent(w, out, data) != nil {
				return
			}
		case <-r.Context().Done():
			return
		}
	}
}

// writeTime is how long a browser may take to receive a frame, and slowest how many bytes of a long one it must take each second.
const (
	writeTime = 15 * time.Second
	slowest   = 128 << 10
)

// writeEvent writes one server-sent event. JSON has no line breaks.
func writeEvent(w http.ResponseWriter, out *http.ResponseController, data []byte) error {
	_ = out.SetWriteDeadline(time.Now().Add(writeTime + time.Duration(len(data)/slowest)*time.Second)) // a writer without deadlines waits as it does
	if _, err := fmt.Fprintf(w, "retry: 1000\ndata: %s\n\n", data); err != nil {
		return err
	}
	return out.Flush()
}
