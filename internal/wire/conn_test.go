package wire

import (
	"errors"
	"io"
	"net"
	"net/http"
	"testing"
	"time"

	"github.com/heatsink-go/heatsink/internal/bubble"
)

// inMemory runs a server whose connections come from the function that it
// returns. All is over when end returns.
func inMemory(t *testing.T, s *Server) (connect func() net.Conn, end func()) {
	t.Helper()
	l, served := make(taps), make(chan error, 1)
	go func() { served <- s.Serve(l) }()
	var ends []net.Conn
	connect = func() net.Conn {
		ours, theirs := net.Pipe()
		l <- ours
		ends = append(ends, theirs)
		return theirs
	}
	end = func() {
		for _, c := range ends {
			_ = c.Close()
		}
		if err := s.Close(); err != nil {
			t.Error(err)
		}
		if err := <-served; !errors.Is(err, http.ErrServerClosed) {
			t.Error(err)
		}
	}
	return connect, end
}

// A client of the first lane has its time for a head from the first byte on,
// however long it may wait before, and however often it sends a byte more.
func TestTimeForHeads(t *testing.T) {
	for name, more := range map[string]string{"silent": "", "byte by byte": "x"} {
		t.Run(name, func(t *testing.T) {
			bubble.Test(t, func(t *testing.T) {
				_, h := getStub(t, Options{Unsigned: true})
				s := NewServer(h, h)
				l := s.limits
				l.idle, l.stranger = time.Hour, time.Hour
				s.limit(l)
				connect, end := inMemory(t, s)
				defer end()
				conn := connect()
				time.Sleep(time.Minute)
				if _, err := io.WriteString(conn, "POST / HTTP/1.1\r\nHost: x"); err != nil {
					t.Fatal(err)
				}
				over := make(chan time.Time, 1)
				began := time.Now()
				go func() {
					_, _ = io.Copy(io.Discard, conn)
					over <- time.Now()
				}()
				for len(over) == 0 && time.Since(began) < time.Minute {
					if more != "" { // an empty write would be a read of nothing
						_, _ = io.WriteString(conn, more)
					}
					time.Sleep(100 * time.Millisecond)
				}
				if len(over) == 0 {
					t.Fatal("the server did not hang up")
				}
				if took := (<-over).Sub(began); took < l.header || took > l.header+slack {
					t.Errorf("the server hung up after %v, want %v", took, l.header)
				}
			})
		})
	}
}
