package wire

import (
	"net"
	"sync"
)

// handover is the listener through which net/http gets its connections.
type handover struct {
	conns  chan net.Conn
	closed chan struct{}
	once   sync.Once
}

func newHandover() *handover {
	return &handover{conns: make(chan net.Conn), closed: make(chan struct{})}
}

// give hands a connection over, of which read was read already. It reports
// whether there was somebody to take it.
func (h *handover) give(c net.Conn, read []byte) bool {
	select {
	case h.conns <- &begun{Conn: c, read: read}:
		return true
	case <-h.closed:
		return false
	}
}

func (h *handover) Accept() (net.Conn, error) {
	select {
	case c := <-h.conns:
		return c, nil
	case <-h.closed:
		return nil, net.ErrClosed
	}
}

func (h *handover) Close() error {
	h.once.Do(func() { close(h.closed) })
	return nil
}

// Addr is of no use to anybody.
func (h *handover) Addr() net.Addr { return &net.TCPAddr{} }

// begun is a connection whose first bytes were read by somebody else.
type begun struct {
	net.Conn
	read []byte // and not yet read again
}

func (b *begun) Read(p []byte) (int, error) {
	if len(b.read) == 0 {
		return b.Conn.Read(p)
	}
	n := copy(p, b.read)
	b.read = b.read[n:]
	return n, nil
}

// CloseWrite is what net/http ends a connection with, so that a client that still
// sends gets to read the last answer.
func (b *begun) CloseWrite() error {
	if c, ok := b.Conn.(interface{ CloseWrite() error }); ok {
		return c.CloseWrite()
	}
	return nil
}
