package wire

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"net"
	"net/http"
	"runtime/debug"
	"sync/atomic"
	"time"
)

// conn is a connection on the first lane: requests come one after another, and
// each is answered before the next is looked at.
type conn struct {
	server *Server
	net    net.Conn
	reader *bufio.Reader
	head   head
	body   body
	state  atomic.Int32

	answered bool // at least one request
	handed   bool // over to net/http

	began       time.Time // when the first byte of the last request was there
	ready       time.Time // when its answer was
	read, write deadline
	date        date
}

// The states of a connection. It is retired if it is neither in use nor may be.
const (
	stateNew    = iota // waits for its first request
	stateIdle          // waits for another
	stateActive        // from the first byte of a request to the last of its answer
	stateRetired
)

func newConn(s *Server, accepted net.Conn) *conn {
	c := &conn{
		server: s,
		net:    accepted,
		reader: bufio.NewReaderSize(accepted, maxHead),
		head:   newHead(s.ctx),
		read:   deadline{set: accepted.SetReadDeadline},
		write:  deadline{set: accepted.SetWriteDeadline},
	}
	c.body.reader = c.reader
	c.head.request.Body = &c.body
	return c
}

// serve is the life of a connection.
func (c *conn) serve() {
	defer func() {
		if p := recover(); p != nil && p != http.ErrAbortHandler {
			c.server.handler.options.Logger.Error("panic", "panic", p, "stack", string(debug.Stack()))
		}
		if !c.handed {
			_ = c.net.Close()
		}
		c.server.end(c)
	}()
	c.read.extend(time.Now(), c.server.limits.header)
	for c.await() && c.readHead() && c.answer() {
		c.answered = true
		c.state.Store(stateIdle)
		if c.server.closing.Load() { // Shutdown may have come by before it was idle
			return
		}
		c.read.extend(c.ready, c.server.limits.idle)
	}
}

// retire ends a connection that is in a state of waiting.
func (c *conn) retire(waiting int32) {
	if c.state.CompareAndSwap(waiting, stateRetired) {
		_ = c.net.Close()
	}
}

// nextBytes is how many bytes there have to be before anybody looks at a request
// that follows another. Of these, ends of lines do not count: old clients end a
// body with one that is not part of it. Both are net/http's rules.
const nextBytes = 4

// await waits for the beginning of a request.
func (c *conn) await() bool {
	n := 1
	if c.answered {
		n = nextBytes
	}
	if _, err := c.reader.Peek(n); err != nil {
		return false
	}
	c.began = time.Now()
	return c.state.CompareAndSwap(stateIdle, stateActive) || c.state.CompareAndSwap(stateNew, stateActive)
}

// readHead reads the head of a request. It returns false if there is none, or
// none for us: then the connection is net/http's.
func (c *conn) readHead() bool {
	if c.answered {
		c.skipLineEnds()
	}
	known := 0 // bytes of it that were looked at
	for {
		read := c.buffered()
		if end := bytes.Index(read, []byte("\r\n\r\n")); end >= 0 {
			if !c.head.parse(string(read[:end+2])) {
				c.handOver()
				return false
			}
			_, _ = c.reader.Discard(end + 4)
			return true
		}
		var ok bool
		if known, ok = begins(read, known); !ok || len(read) == maxHead {
			c.handOver()
			return false
		}
		c.read.extend(c.began, c.server.limits.header)
		if _, err := c.reader.Peek(len(read) + 1); err != nil {
			if errors.Is(err, io.EOF) && len(read) > 0 {
				c.handOver() // net/http says what it thinks of half a head
			}
			return false
		}
	}
}

// skipLineEnds leaves out the ends of lines before a request that follows another.
func (c *conn) skipLineEnds() {
	read, _ := c.reader.Peek(nextBytes) // there are that many, see await
	_, _ = c.reader.Discard(len(read) - len(bytes.TrimLeft(read, "\r\n")))
}

func (c *conn) buffered() []byte {
	read, _ := c.reader.Peek(c.reader.Buffered()) // what is buffered can be peeked at
	return read
}

// handOver gives the connection to net/http, with what was read of a request.
func (c *conn) handOver() {
	read := bytes.Clone(c.buffered())
	c.server.running.Add(1)
	if c.handed = c.server.handed.give(c.net, read); !c.handed {
		c.server.running.Done()
	}
}

// answer answers the request whose head was read. It reports whether another may
// follow.
func (c *conn) answer() bool {
	r := c.head.request
	if c.body.left = int(r.ContentLength); c.body.left > c.reader.Buffered() {
		c.read.extend(c.began, c.server.limits.body)
	}
	x := exchanges.Get().(*exchange)
	status := c.server.handler.answer(x, r)
	last := c.body.discard() != nil || c.server.closing.Load()
	c.ready = time.Now()
	x.head = appendHead(x.head[:0], status, contentTypeOf(r)[0], x.answer.buf, c.date.at(c.ready), last)
	c.write.extend(c.ready, c.server.limits.write)
	err := c.send(x)
	x.release()
	return err == nil && !last
}

// send writes an answer in one go.
func (c *conn) send(x *exchange) (err error) {
	if len(x.answer.buf) > keptCapacity { // too large to be copied
		_, err = (&net.Buffers{x.head, x.answer.buf}).WriteTo(c.net)
		return err
	}
	x.head = append(x.head, x.answer.buf...)
	_, err = c.net.Write(x.head)
	return err
}
