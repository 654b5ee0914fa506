package wire

import (
	"cmp"
	"context"
	"errors"
	"net"
	"net/http"
	"sync"
	"sync/atomic"
	"time"
)

// Server serves DynamoDB on a port. It has two lanes. What SDKs send, a plain
// POST with a length, is read and answered by a loop of our own (conn), which
// does for a request what is needed and no more: net/http, which must be ready
// for anything, takes longer over one than the engine. A connection on which
// anything else arrives is handed over to net/http, with all that was read of
// it, and stays there.
//
// A client that goes away does not end its request on the first lane. No
// operation waits for anything or reads more than a page, so all are over soon.
type Server struct {
	// MaxConns is how many connections there may be at a time, on both lanes.
	// With as many, one that waits for a request makes place for another; those
	// that never authenticated come first. It is set before Serve. Zero: 1024.
	MaxConns int

	handler *Handler
	rest    http.Server // the second lane
	handed  *handover   // the way there
	limits  limits
	budget  *budget
	links   *links

	running sync.WaitGroup  // all goroutines, and net/http's for connections handed over
	ctx     context.Context // of all requests on the first lane
	cancel  context.CancelFunc
	closing atomic.Bool   // connections end after the answer under way
	hungUp  chan struct{} // closed once closing

	mu       sync.Mutex
	listener net.Listener
	conns    map[*conn]struct{} // on the first lane
	drained  chan struct{}      // closed once closing and without conns
}

// limits are how long a client may take. A little more does not matter.
type limits struct {
	header   time.Duration // for a request's head, from its first byte
	body     time.Duration // for its body, however short it is
	rate     int           // of a longer one, in bytes a second; 0: it has no more time
	write    time.Duration // for taking the answer
	idle     time.Duration // until the next request
	stranger time.Duration // the same, of one that is not authenticated
}

// bodyTime returns how long a body may take.
func (l *limits) bodyTime(bytes int) time.Duration {
	if l.rate == 0 {
		return l.body
	}
	return l.body + time.Duration(bytes)*time.Second/time.Duration(l.rate)
}

// NewServer returns a server that answers the first lane's requests with h and
// all others with rest, which may be h as well. The guard of h is rest's, too.
func NewServer(h *Handler, rest http.Handler) *Server {
	s := &Server{
		handler: h,
		handed:  newHandover(),
		budget:  newBudget(),
		hungUp:  make(chan struct{}),
		conns:   make(map[*conn]struct{}),
		drained: make(chan struct{}),
	}
	s.ctx, s.cancel = context.WithCancel(context.Background())
	s.rest.Handler = s.bounded(h.options.Guard.Handler(rest))
	s.rest.MaxHeaderBytes = 16 << 10 // as a header they take twenty times as much
	s.rest.BaseContext = func(net.Listener) context.Context { return s.ctx }
	s.rest.ConnContext = func(ctx context.Context, c net.Conn) context.Context {
		return context.WithValue(ctx, linkKey{}, linkOf(c))
	}
	s.rest.ConnState = s.follow
	s.limit(limits{
		header:   5 * time.Second,
		body:     10 * time.Second,
		rate:     300 << 10,
		write:    time.Minute,
		idle:     5 * time.Minute,
		stranger: 5 * time.Second,
	})
	return s
}

func (s *Server) limit(l limits) {
	s.limits = l
	s.rest.ReadHeaderTimeout = l.header
	s.rest.ReadTimeout = l.bodyTime(maxBody)
	s.rest.WriteTimeout = l.write
	s.rest.IdleTimeout = l.idle
}

// Serve answers who connects, until Shutdown or Close: then it returns
// http.ErrServerClosed, once all that it started is over. It may be called once.
func (s *Server) Serve(l net.Listener) error {
	s.mu.Lock()
	s.listener = l
	s.mu.Unlock()
	if s.closing.Load() {
		_ = l.Close()
		return http.ErrServerClosed
	}
	s.links = newLinks(cmp.Or(max(s.MaxConns, 0), defaultMaxConns))
	defer s.cancel()
	defer s.running.Wait()
	s.running.Go(func() { _ = s.rest.Serve(s.handed) }) // until Shutdown or Close
	for delay := time.Duration(0); ; {
		accepted, err := l.Accept()
		switch {
		case err == nil:
			delay = 0
			s.start(newLink(s, accepted))
			continue
		case s.closing.Load():
			return http.ErrServerClosed
		case !temporary(err):
			return errors.Join(err, s.Close())
		}
		delay = min(max(2*delay, 5*time.Millisecond), time.Second) // too many open files, most likely
		time.Sleep(delay)
	}
}

func temporary(err error) bool {
	var e interface{ Temporary() bool }
	return errors.As(err, &e) && e.Temporary()
}

// Shutdown takes no more requests, and waits until those under way are answered
// or ctx ends.
func (s *Server) Shutdown(ctx context.Context) error {
	err := s.hangUp()
	s.rest.SetKeepAlivesEnabled(false)
	s.each(func(c *conn) { c.net.retire(stateIdle) })
	grace := time.After(time.Second) // the first request of a new connection may be on its way
	for {
		select { // net/http comes second: connections may be handed over until here
		case <-s.drained:
			return errors.Join(err, s.rest.Shutdown(ctx))
		case <-grace:
			s.each(func(c *conn) { c.net.retire(stateNew) })
		case <-ctx.Done():
			return errors.Join(err, ctx.Err())
		}
	}
}

// Close ends the server without waiting for answers.
func (s *Server) Close() error {
	err := s.hangUp()
	s.cancel()
	s.each(func(c *conn) { _ = c.net.Close() })
	return errors.Join(err, s.rest.Close())
}

// hangUp makes sure that nobody connects any more.
func (s *Server) hangUp() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closing.Swap(true) {
		return nil
	}
	close(s.hungUp)
	s.checkDrained()
	if s.listener == nil {
		return nil
	}
	return s.listener.Close()
}

// start begins the life of a connection, once there is a place for it.
func (s *Server) start(k *link) {
	if !s.links.enter(k, s.hungUp) {
		_ = k.Close()
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closing.Load() {
		_ = k.Close()
		s.links.leave(k)
		return
	}
	c := newConn(s, k)
	s.conns[c] = struct{}{}
	s.running.Go(c.serve)
}

// end notes that a connection left the first lane.
func (s *Server) end(c *conn) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.conns, c)
	if s.closing.Load() {
		s.checkDrained()
	}
}

// checkDrained is called when closing, and whenever a connection ends after that.
func (s *Server) checkDrained() {
	if len(s.conns) == 0 {
		close(s.drained)
	}
}

func (s *Server) each(f func(*conn)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for c := range s.conns {
		f(c)
	}
}

// linkKey is what a request's context has its connection under.
type linkKey struct{}

// linkOf returns the link that was handed over to net/http.
func linkOf(c net.Conn) *link { return c.(*begun).Conn.(*link) }

// follow keeps up with what net/http does about a connection.
func (s *Server) follow(c net.Conn, state http.ConnState) {
	k := linkOf(c)
	switch state {
	case http.StateActive:
		k.state.Store(stateActive)
	case http.StateIdle:
		k.idle(time.Now())
	case http.StateClosed: // the last thing that net/http does about a connection
		s.links.leave(k)
		s.running.Done()
	}
}
