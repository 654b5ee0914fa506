package wire

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/heatsink-go/heatsink/internal/engine"
)

// tight makes a budget in which each room has place for one.
func (s *Server) tight(bytes int) {
	for _, r := range []*room{
		&s.budget.strange.small, &s.budget.strange.large, &s.budget.proven.small, &s.budget.proven.large,
		&s.budget.work.small, &s.budget.work.large,
	} {
		r.size = bytes
	}
}

// used returns what is taken of the whole budget.
func (s *Server) used() (used int) {
	b := s.budget
	for _, r := range []*room{&b.strange.small, &b.strange.large, &b.proven.small, &b.proven.large, &b.work.small, &b.work.large, &b.other} {
		r.mu.Lock()
		used += r.used
		r.mu.Unlock()
	}
	return used
}

func postOf(target string, length int) string {
	return fmt.Sprintf("POST / HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nX-Amz-Target: %s%s\r\nContent-Length: %d\r\n\r\n", dynamoDB, target, length)
}

// A body of which the rest never comes keeps no other out, on neither lane.
func TestUnfinishedBodies(t *testing.T) {
	t.Parallel()
	for name, size := range map[string]int{"first lane": 200 << 10, "second lane": 2 << 20} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, h := getStub(t, Options{Unsigned: true})
			s := NewServer(h, h)
			s.tight(size)
			addr := listen(t, s)
			for range 3 {
				stuck := dial(t, addr)
				go func() { _, _ = io.WriteString(stuck, postOf("GetItem", size)+strings.Repeat(" ", size-1)) }()
			}
			for s.used() == 0 {
				time.Sleep(time.Millisecond)
			}
			conn := dial(t, addr)
			go func() {
				_, _ = io.WriteString(conn, postOf("GetItem", size)+getBody+strings.Repeat(" ", size-len(getBody)))
			}()
			if res, got := response(t, bufio.NewReader(conn)); res.StatusCode != http.StatusOK || got != getAnswer {
				t.Errorf("got %d %s", res.StatusCode, got)
			}
			small := dial(t, addr)
			io.WriteString(small, getRequest(""))
			if res, got := response(t, bufio.NewReader(small)); res.StatusCode != http.StatusOK || got != getAnswer {
				t.Errorf("a small request: got %d %s", res.StatusCode, got)
			}
		})
	}
}

// An answer that its client does not read keeps no other back, on neither lane.
func TestUnreadAnswers(t *testing.T) {
	t.Parallel()
	const size = 12 << 20 // more than the kernel takes
	for name, more := range map[string]string{"first lane": "", "second lane": "Pragma: x\r\n"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := NewHandler(nil, Options{Unsigned: true})
			h.operations = map[string]operation{dynamoDB + "GetItem": func(_ context.Context, _ *engine.Engine, x *exchange) error {
				x.answer.buf = append(x.answer.buf, make([]byte, size)...)
				return nil
			}}
			s := NewServer(h, h)
			s.tight(size)
			addr := listen(t, s)
			for range 2 {
				io.WriteString(dial(t, addr), getRequest(more))
			}
			for s.used() == 0 {
				time.Sleep(time.Millisecond)
			}
			conn := dial(t, addr)
			io.WriteString(conn, getRequest(more))
			if res, got := response(t, bufio.NewReader(conn)); res.StatusCode != http.StatusOK || len(got) != size {
				t.Errorf("got %d and %d bytes", res.StatusCode, len(got))
			}
		})
	}
}

// Close ends all that waits for room or for clients, Serve waits for it, and
// nothing is left in the books.
func TestCloseEndsWaits(t *testing.T) {
	t.Parallel()
	const size = 2 << 20
	_, h := getStub(t, Options{Unsigned: true})
	s := NewServer(h, h)
	s.tight(size)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	served := make(chan error, 1)
	go func() { served <- s.Serve(l) }()
	busy := &claim{}
	if err := busy.take(t.Context(), &s.budget.strange.large, size, noLimit); err != nil {
		t.Fatal(err)
	}
	for range 3 {
		conn := dial(t, l.Addr().String())
		go func() { _, _ = io.WriteString(conn, postOf("GetItem", size)+strings.Repeat(" ", size)) }()
	}
	waiting := func() int {
		s.budget.strange.large.mu.Lock()
		defer s.budget.strange.large.mu.Unlock()
		return len(s.budget.strange.large.waiting)
	}
	for waiting() < 3 {
		time.Sleep(time.Millisecond)
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
	if err := <-served; !errors.Is(err, http.ErrServerClosed) {
		t.Error(err)
	}
	if n := waiting(); n != 0 {
		t.Errorf("%d wait still", n)
	}
	busy.release()
	if n := s.used(); n != 0 {
		t.Errorf("%d bytes are taken still", n)
	}
}

// A server with all its places taken by clients that say nothing, or that start
// requests and do not end them, answers another one nevertheless.
func TestCrowdOfStrangers(t *testing.T) {
	t.Parallel()
	_, h := getStub(t, Options{Unsigned: true})
	for name, text := range map[string]string{
		"silent":      "",
		"half a head": "POST / HTTP/1.1\r\nHost: x\r\n",
		"second lane": "GET / HTTP/1.1\r\nHost: x\r\n\r\n",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := NewServer(h, h)
			s.MaxConns = 4
			addr := listen(t, s)
			known := dial(t, addr)
			reader := bufio.NewReader(known)
			io.WriteString(known, getRequest(""))
			response(t, reader)
			for range 8 {
				io.WriteString(dial(t, addr), text)
			}
			conn := dial(t, addr)
			io.WriteString(conn, getRequest(""))
			if res, got := response(t, bufio.NewReader(conn)); res.StatusCode != http.StatusOK || got != getAnswer {
				t.Errorf("got %d %s", res.StatusCode, got)
			}
			io.WriteString(known, getRequest(""))
			if res, got := response(t, reader); res.StatusCode != http.StatusOK || got != getAnswer {
				t.Errorf("who was there before: got %d %s", res.StatusCode, got)
			}
		})
	}
}

// Who did not authenticate idles for a short time only, on either lane.
func TestStrangersIdleShortly(t *testing.T) {
	t.Parallel()
	_, h := getStub(t, Options{Credentials: &testCredentials})
	s := NewServer(h, h)
	l := s.limits
	l.stranger = 100 * time.Millisecond
	s.limit(l)
	addr := listen(t, s)
	for name, text := range map[string]string{"silent": "", "unsigned": getRequest(""), "second lane": getRequest("Pragma: x\r\n")} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			conn := dial(t, addr)
			io.WriteString(conn, text)
			if _, err := io.ReadAll(conn); err != nil {
				t.Errorf("the server did not hang up: %v", err)
			}
		})
	}
	t.Run("signed", func(t *testing.T) {
		t.Parallel()
		conn := dial(t, addr)
		reader := bufio.NewReader(conn)
		for range 2 {
			io.WriteString(conn, onTheWire(t, signed{}.request(t)))
			if res, got := response(t, reader); res.StatusCode != http.StatusOK {
				t.Fatalf("got %d %s", res.StatusCode, got)
			}
			time.Sleep(2 * (l.stranger + slack))
		}
	})
}

// A body's memory is not used again while what was read from it is.
func TestLargeBodiesAreNotCopied(t *testing.T) {
	large := make([]byte, keptCapacity+1)
	if n := testing.AllocsPerRun(10, func() { _ = bodyText(large) }); n != 0 {
		t.Errorf("a large body takes %v allocations, want 0", n)
	}
	small := []byte("small")
	text := bodyText(small)
	small[0] = 'S'
	if text != "small" {
		t.Error("the text of a small body changes with its buffer")
	}
	x := &exchange{body: large}
	x.release()
	for range 100 {
		if again := exchanges.Get().(*exchange); again == x {
			t.Fatal("the buffer of a large body is used again")
		}
	}
}
