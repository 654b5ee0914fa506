package wire

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"log"
	"maps"
	"net"
	"net/http"
	"os"
	"slices"
	"strconv"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/heatsink-go/heatsink/internal/bubble"
	"github.com/heatsink-go/heatsink/internal/engine"
)

var (
	laneInputs = flag.Uint64("lanes.inputs", 20_000, "how many random inputs TestLanesAgreeOnHeads and TestLanesAgreeOnStreams try")
	laneSeed   = flag.Uint64("lanes.seed", 1, "what they are made from")
	laneFrom   = flag.Uint64("lanes.from", 0, "the first of them")
)

// tap is the server's end of a connection in memory. It is in the hands of the
// test, which sees what the server sends.
type tap struct {
	mu      sync.Mutex
	changed sync.Cond
	in      []byte // sent by the client and not yet read
	eof     bool   // the client sends no more
	expired bool   // the read deadline has passed
	closed  bool
	out     []byte // sent by the server
	ended   bool   // by the server: it sends no more
}

func newTap() *tap {
	c := new(tap)
	c.changed.L = &c.mu
	return c
}

func (c *tap) Read(p []byte) (int, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for {
		switch {
		case c.closed:
			return 0, net.ErrClosed
		case c.expired:
			return 0, os.ErrDeadlineExceeded
		case len(c.in) > 0:
			n := copy(p, c.in)
			c.in = c.in[n:]
			return n, nil
		case c.eof:
			return 0, io.EOF
		}
		c.changed.Wait()
	}
}

func (c *tap) Write(p []byte) (int, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.ended {
		return 0, net.ErrClosed
	}
	c.out = append(c.out, p...)
	return len(p), nil
}

func (c *tap) CloseWrite() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.ended = true
	return nil
}

func (c *tap) Close() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.ended, c.closed = true, true
	c.changed.Broadcast()
	return nil
}

// SetReadDeadline knows the deadline that net/http interrupts its own reads with.
// No others pass while the test watches.
func (c *tap) SetReadDeadline(t time.Time) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.expired = !t.IsZero() && t.Before(time.Now()); c.expired {
		c.changed.Broadcast()
	}
	return nil
}

func (c *tap) SetWriteDeadline(time.Time) error { return nil }
func (c *tap) SetDeadline(time.Time) error      { return nil }
func (c *tap) LocalAddr() net.Addr              { return &net.TCPAddr{} }
func (c *tap) RemoteAddr() net.Addr             { return &net.TCPAddr{} }

// send is what the client does.
func (c *tap) send(piece []byte, eof bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.in = append(c.in, piece...)
	c.eof = c.eof || eof
	c.changed.Broadcast()
}

// sent is what the server has sent so far.
func (c *tap) sent() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return string(c.out)
}

// lingers reports whether the server sends no more but is not done.
func (c *tap) lingers() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.ended && !c.closed
}

// taps is a listener.
type taps chan net.Conn

func (l taps) Accept() (net.Conn, error) {
	c, ok := <-l
	if !ok {
		return nil, net.ErrClosed
	}
	return c, nil
}

func (l taps) Addr() net.Addr { return &net.TCPAddr{} }

// Close is called by the server alone, once.
func (l taps) Close() error {
	close(l)
	return nil
}

// twin is one of two servers that must not be told apart.
type twin struct {
	server   server
	listener taps
	done     chan struct{}

	tap    *tap // of the connection
	seen   []byte
	masked int // up to where the tap's output has no request ids
}

func (w *twin) serve(t *testing.T, s server) {
	w.server, w.listener, w.done = s, make(taps), make(chan struct{})
	go func() {
		defer close(w.done)
		if err := s.Serve(w.listener); !errors.Is(err, http.ErrServerClosed) {
			t.Errorf("Serve: got %v, want %v", err, http.ErrServerClosed)
		}
	}()
}

type requestKey struct{}

// record notes a request that is answered.
func (w *twin) record(r *http.Request, x *exchange) {
	b := fmt.Appendf(w.seen, "%s %q %s for %q, %d bytes, encodings %q, close %v\n", r.Method, r.RequestURI, r.Proto, r.Host, r.ContentLength, r.TransferEncoding, r.Close)
	for _, name := range slices.Sorted(maps.Keys(r.Header)) {
		b = strconv.AppendQuote(b, name)
		for _, v := range r.Header[name] {
			b = strconv.AppendQuote(append(b, ' '), v)
		}
		b = append(b, '\n')
	}
	w.seen = append(strconv.AppendQuote(b, string(x.body)), '\n')
}

// handler answers a known operation with how much it was sent.
func (w *twin) handler(first func() *http.Request) *Handler {
	h := NewHandler(nil, Options{Unsigned: true})
	h.operations = map[string]operation{dynamoDB + "GetItem": func(ctx context.Context, _ *engine.Engine, x *exchange) error {
		r, _ := ctx.Value(requestKey{}).(*http.Request)
		if r == nil {
			r = first()
		}
		w.record(r, x)
		x.answer.buf = fmt.Appendf(x.answer.buf, `{"Bytes":%d}`, len(x.body))
		return nil
	}}
	return h
}

// known puts the request where an operation finds it.
func known(h http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h.ServeHTTP(w, r.WithContext(context.WithValue(r.Context(), requestKey{}, r)))
	})
}

// answers returns what was answered so far, and whether that is all. Request ids,
// which are random, are overwritten.
func (w *twin) answers() (out []byte, ended bool) {
	const before = "X-Amzn-Requestid: "
	w.tap.mu.Lock()
	defer w.tap.mu.Unlock()
	for {
		i := bytes.Index(w.tap.out[w.masked:], []byte(before))
		if i < 0 {
			return w.tap.out, w.tap.ended
		}
		w.masked += i + len(before)
		id := w.tap.out[w.masked:]
		for i := range min(len(id), requestIDLength) {
			id[i] = '.'
		}
	}
}

// connect begins a connection.
func (w *twin) connect() {
	w.tap, w.seen, w.masked = newTap(), w.seen[:0], 0
	w.listener <- w.tap
}

func (w *twin) String() string {
	out, ended := w.answers()
	return fmt.Sprintf("handled\n%s\nanswered\n%s\nended %v", w.seen, out, ended)
}

// twins are our server and net/http's.
type twins struct {
	ours, theirs twin
	rest         counted // requests on our second lane
	first        int     // requests on our first lane
}

// newTwins starts both. It must be in a bubble, and end with close.
func newTwins(t *testing.T) *twins {
	p := new(twins)
	var ours *Server
	h := p.ours.handler(func() *http.Request {
		p.first++
		return ours.list()[0].head.request
	})
	p.rest.Handler = known(h)
	ours = NewServer(h, &p.rest)
	p.ours.serve(t, ours)
	p.theirs.serve(t, &http.Server{
		Handler:        known(p.theirs.handler(nil)),
		MaxHeaderBytes: ours.rest.MaxHeaderBytes,
		ErrorLog:       log.New(io.Discard, "", 0),
	})
	return p
}

func (p *twins) close() {
	for _, w := range []*twin{&p.ours, &p.theirs} {
		_ = w.server.Close()
		<-w.done
	}
}

// differ says how the servers differ on a connection, "" if they do not.
func (p *twins) differ(s sent) string {
	p.ours.connect()
	p.theirs.connect()
	defer func() { // whatever happened, the next connection is alone
		if p.ours.tap.lingers() || p.theirs.tap.lingers() {
			time.Sleep(time.Second) // net/http waits, to let clients read
		}
		_ = p.ours.tap.Close()
		_ = p.theirs.tap.Close()
		synctest.Wait()
	}()
	for i := range len(s.pieces) + 1 {
		var piece []byte
		if i < len(s.pieces) {
			piece = s.pieces[i]
		}
		eof := i == len(s.pieces) || s.eof && i == len(s.pieces)-1
		p.ours.tap.send(piece, eof)
		p.theirs.tap.send(piece, eof)
		synctest.Wait() // both servers wait, for more or for nothing
		out, ended := p.ours.answers()
		theirs, done := p.theirs.answers()
		switch {
		case !bytes.Equal(p.ours.seen, p.theirs.seen) || !bytes.Equal(out, theirs) || ended != done:
			return fmt.Sprintf("after %d of %d pieces, end of input %v:\n--- ours\n%v\n--- theirs\n%v", i+1, len(s.pieces), eof, &p.ours, &p.theirs)
		case ended:
			return ""
		case eof:
			return "both wait for a client that has gone"
		}
	}
	return ""
}

// shrink returns the smallest input it finds on which they still differ.
func (p *twins) shrink(s sent) sent {
	tries := 20_000
	for smaller := true; smaller; {
		smaller = false
		try := func(pieces [][]byte) {
			if tries--; tries < 0 {
				return
			}
			if t := (sent{pieces, s.eof}); !smaller && p.differ(t) != "" {
				s, smaller = t, true
			}
		}
		for i := 1; i < len(s.pieces); i++ {
			joined := slices.Concat(s.pieces[i-1], s.pieces[i])
			try(slices.Concat(s.pieces[:i-1], [][]byte{joined}, s.pieces[i+1:]))
		}
		for i, piece := range s.pieces {
			for n := len(piece); n > 0; n /= 2 {
				for at := 0; at+n <= len(piece); at += n {
					if smaller {
						break
					}
					changed := slices.Clone(s.pieces)
					changed[i] = slices.Concat(piece[:at], piece[at+n:])
					try(changed)
				}
			}
		}
	}
	return s
}

// Whatever a client sends, in whatever pieces: both lanes make of it what
// net/http alone does, at the same moment.
func TestLanesAgreeOnStreams(t *testing.T) {
	const batch = 2000 // connections of one pair of servers
	var first, second int
	for from := uint64(0); from < *laneInputs && !t.Failed(); from += batch {
		bubble.Test(t, func(t *testing.T) {
			p := newTwins(t)
			defer p.close()
			var g traffic
			for i := *laneFrom + from; i < *laneFrom+min(from+batch, *laneInputs); i++ {
				g.of(*laneSeed, i)
				s := g.sent()
				if why := p.differ(s); why != "" {
					small := p.shrink(s)
					t.Errorf("-lanes.seed=%d -lanes.from=%d -lanes.inputs=1: they differ %s\nshrunk: %q, end of input with the last piece %v: %s",
						*laneSeed, i, why, small.pieces, small.eof, p.differ(small))
					return
				}
			}
			first += p.first
			second += int(p.rest.requests.Load())
		})
	}
	if t.Failed() {
		return
	}
	t.Logf("%d streams, seed %d: the lanes agree; operations on the first %d, requests on the second %d", *laneInputs, *laneSeed, first, second)
	if uint64(first) < *laneInputs/4 || uint64(second) < *laneInputs/20 {
		t.Error("a lane is hardly used")
	}
}

func FuzzLanes(f *testing.F) {
	var g traffic
	for i := range uint64(100) {
		g.of(1, i)
		s := g.sent()
		f.Add(bytes.Join(s.pieces, nil), uint16(len(s.pieces[0])), uint16(0), s.eof)
	}
	f.Fuzz(func(t *testing.T, stream []byte, first, second uint16, eof bool) {
		if len(stream) > maxHead*2 { // see traffic.padding
			return
		}
		a := min(int(first), len(stream))
		b := min(a+int(second), len(stream))
		bubble.Test(t, func(t *testing.T) {
			p := newTwins(t)
			defer p.close()
			if why := p.differ(sent{pieces: [][]byte{stream[:a], stream[a:b], stream[b:]}, eof: eof}); why != "" {
				t.Errorf("%q, %q, %q: they differ %s", stream[:a], stream[a:b], stream[b:], why)
			}
		})
	})
}
