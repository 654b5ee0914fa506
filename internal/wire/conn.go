package wire

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"net"
	"net/http"
	"runtime/debug"
	"time"
)

// conn is a connection on the first lane: requests come one after another, and
// each is answered before the next is looked at.
type conn struct {
	server *Server
	net    *link
	reader *bufio.Reader
	head   head
	body   body

	answered bool // at least one request
	handed   bool // over to net/http

	began       time.Time // when the first byte of the last request was there
	ready       time.Time // when its answer was
	read, write deadline
	date        date
}

func newConn(s *Server, k *link) *conn {
	c := &conn{
		server: s,
		net:    k,
		reader: bufio.NewReaderSize(k.Conn, maxHead),
		head:   newHead(s.ctx),
		read:   deadline{set: k.Conn.SetReadDeadline},
		write:  deadline{set: k.Conn.SetWriteDeadline},
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
			c.net.release()
			_ = c.net.Close()
			c.server.links.leave(c.net)
		}
		c.server.end(c)
	}()
	c.read.extend(time.Now(), c.net.patience())
	for c.await() && c.readHead() && c.answer() {
		c.answered = true
		c.net.idle(c.ready)
		if c.server.closing.Load() { // Shutdown may have come by before it was idle
			return
		}
		c.read.extend(c.ready, c.net.patience())
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
	return c.net.state.CompareAndSwap(stateIdle, stateActive) || c.net.state.CompareAndSwap(stateNew, stateActive)
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
		c.read.extend(c.began, c.server.limits.bodyTime(c.body.left))
	}
	x := exchanges.Get().(*exchange)
	x.link = c.net
	status := c.server.handler.answer(x, r)
	last := c.body.discard() != nil || c.server.closing.Load()
	c.ready = time.Now()
	x.head = appendHead(x.head[:0], status, contentTypeOf(r)[0], x.encoded, x.answer.buf, c.date.at(c.ready), last)
	c.write.extend(c.ready, c.server.limits.write)
	err := c.send(x)
	c.net.release()
	x.release()
	return err == nil && !last
}

// send writes an answer in one go, unless it is large.
func (c *conn) send(x *exchange) (err error) {
	if len(x.answer.buf) > keptCapacity { // too large to be copied
		head := x.head
		return c.net.sendLarge(x.answer.buf, func(part []byte) (err error) {
			_, err = (&net.Buffers{head, part}).WriteTo(c.net.Conn)
			head = nil
			return err
		})
	}
	x.head = append(x.head, x.answer.buf...)
	_, err = c.net.Conn.Write(x.head)
	return err
}
