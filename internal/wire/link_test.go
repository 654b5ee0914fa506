package wire

import (
	"errors"
	"net"
	"testing"
	"time"

	"github.com/heatsink-go/heatsink/internal/bubble"
)

// timed is a connection that notes its deadline for reads.
type timed struct {
	net.Conn
	read time.Time
}

func (c *timed) SetReadDeadline(t time.Time) error {
	c.read = t
	return nil
}

func (*timed) Close() error { return nil }

// full takes all of a room until it is released.
func full(t *testing.T, r *room) *claim {
	t.Helper()
	c := &claim{drop: func() {}}
	if err := c.take(t.Context(), r, r.size, noLimit); err != nil {
		t.Fatal(err)
	}
	return c
}

// A body takes of the room for its size and for what is known of its client, as
// many bytes as it has. Its client has the time for all of it from then on.
func TestRoomForBodies(t *testing.T) {
	for _, c := range []struct {
		name   string
		proven bool
		bytes  int
		room   func(*budget) *room
	}{
		{"stranger, small", false, smallBody, func(b *budget) *room { return &b.strange.small }},
		{"stranger, large", false, smallBody + 1, func(b *budget) *room { return &b.strange.large }},
		{"authenticated, small", true, smallBody, func(b *budget) *room { return &b.proven.small }},
		{"authenticated, large", true, smallBody + 1, func(b *budget) *room { return &b.proven.large }},
	} {
		t.Run(c.name, func(t *testing.T) {
			bubble.Test(t, func(t *testing.T) {
				s := NewServer(NewHandler(nil, Options{}), nil)
				conn := &timed{}
				k := newLink(s, conn)
				k.proven.Store(c.proven)
				r := c.room(s.budget)
				before := full(t, r)
				got := make(chan error, 1)
				go func() { got <- k.receive(t.Context(), c.bytes) }()
				time.Sleep(3 * time.Second)
				if len(got) != 0 || !conn.read.IsZero() {
					t.Fatal("it did not wait for its room")
				}
				before.release()
				if err := <-got; err != nil {
					t.Fatal(err)
				}
				if k.body.room != r || r.used != c.bytes || !k.body.client {
					t.Errorf("%d bytes are taken, want %d; watched: %v", r.used, c.bytes, k.body.client)
				}
				if want := time.Now().Add(s.limits.bodyTime(c.bytes)); !conn.read.Equal(want) {
					t.Errorf("read until %v, want %v", conn.read, want)
				}
				k.release()
				if n := s.used(); n != 0 {
					t.Errorf("%d bytes are taken still", n)
				}
			})
		})
	}
}

// An operation takes room for its answer and for what is decoded from a large
// body, whose client has done its part by then.
func TestRoomForWork(t *testing.T) {
	for _, c := range []struct {
		operation  string
		body, want int
	}{
		{"PutItem", keptCapacity, 0},
		{"PutItem", keptCapacity + 1, bodyWork * (keptCapacity + 1)},
		{"BatchWriteItem", maxBody, bodyWork * maxBody},
		{"Query", 100, pageWeight},
		{"Scan", keptCapacity + 1, pageWeight + bodyWork*(keptCapacity+1)},
		{"BatchGetItem", 100, pageWeight},
		{"TransactGetItems", 100, transactWeight},
		{"ExecuteStatement", 100, 2 * pageWeight},
		{"BatchExecuteStatement", 100, pageWeight},
		{"ExecuteTransaction", 100, transactWeight},
	} {
		s := NewServer(NewHandler(nil, Options{}), nil)
		k := newLink(s, &timed{})
		if err := k.receive(t.Context(), c.body); err != nil {
			t.Fatal(err)
		}
		if err := k.begin(t.Context(), dynamoDB+c.operation, c.body, 0); err != nil {
			t.Fatal(err)
		}
		if got := s.used() - c.body; got != c.want {
			t.Errorf("%s with %d bytes: takes %d, want %d", c.operation, c.body, got, c.want)
		}
		if k.body.client {
			t.Errorf("%s with %d bytes: still waits for its client", c.operation, c.body)
		}
	}
}

// The whole answer of a BatchGetItem takes room of its own, and there is none of
// it while others have it.
func TestRoomForMore(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		s := NewServer(NewHandler(nil, Options{}), nil)
		large := &s.budget.work.large
		k := newLink(s, &timed{})
		if err := k.begin(t.Context(), dynamoDB+"BatchGetItem", 100, 0); err != nil {
			t.Fatal(err)
		}
		others, began := full(t, large), time.Now()
		if k.more(t.Context()) || time.Since(began) != moreWait {
			t.Errorf("there is more after %v, though others have all of it", time.Since(began))
		}
		others.release()
		if n := s.used(); n != pageWeight {
			t.Errorf("%d bytes are taken, want %d", n, pageWeight)
		}
		if !k.more(t.Context()) || large.used != batchWeight {
			t.Errorf("%d bytes are taken for more, want %d", large.used, batchWeight)
		}
		k.release()
		// Who has a large part already does not wait for another.
		if err := k.begin(t.Context(), dynamoDB+"BatchGetItem", maxBody, 0); err != nil {
			t.Fatal(err)
		}
		used := large.used
		others = &claim{drop: func() {}}
		if err := others.take(t.Context(), large, large.size-used, noLimit); err != nil {
			t.Fatal(err)
		}
		if !k.more(t.Context()) || large.used != large.size {
			t.Errorf("%d bytes are taken, want %d", large.used, large.size)
		}
		others.release()
		k.release()
		if n := s.used(); n != 0 {
			t.Errorf("%d bytes are taken after all", n)
		}
	})
}

// An answer that is ready takes what it is long, in the room where it was made,
// and nothing if it is small. Its request takes nothing any more.
func TestRoomForAnswers(t *testing.T) {
	const small, large = keptCapacity, smallWork + 1
	for _, c := range []struct {
		name       string
		operation  string
		more       bool
		answer     int
		work, bulk int // bytes
	}{
		{"small", "GetItem", false, small, 0, 0},
		{"small page", "Query", false, small, 0, 0},
		{"small batch", "BatchGetItem", true, small, 0, 0},
		{"large", "GetItem", false, large, large, 0},
		{"large page", "Query", false, large, large, 0},
		{"large batch", "BatchGetItem", true, large, 0, large},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := NewServer(NewHandler(nil, Options{}), nil)
			k := newLink(s, &timed{})
			if err := errors.Join(k.receive(t.Context(), smallBody), k.begin(t.Context(), dynamoDB+c.operation, 100, 0)); err != nil {
				t.Fatal(err)
			}
			if c.more && !k.more(t.Context()) {
				t.Fatal("there is no more")
			}
			if err := k.finish(t.Context(), c.answer); err != nil {
				t.Fatal(err)
			}
			if k.work.bytes != c.work || k.bulk.bytes != c.bulk || s.used() != c.work+c.bulk {
				t.Errorf("work %d, bulk %d, %d of all; want %d and %d", k.work.bytes, k.bulk.bytes, s.used(), c.work, c.bulk)
			}
			k.release()
			if n := s.used(); n != 0 {
				t.Errorf("%d bytes are taken after all", n)
			}
		})
	}
}

// A connection that idles does so no longer than it may, whatever net/http says.
// One that does not idle has the time that net/http gives it.
func TestReadDeadlinesOfTheSecondLane(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		s := NewServer(NewHandler(nil, Options{}), nil)
		now, never := time.Now(), time.Time{}
		stranger, idle := now.Add(s.limits.stranger), now.Add(s.limits.idle)
		for _, c := range []struct {
			name      string
			state     int32
			proven    bool
			set, want time.Time
		}{
			{"stranger, never", stateIdle, false, never, stranger},
			{"stranger, later", stateIdle, false, idle, stranger},
			{"stranger, sooner", stateIdle, false, now, now},
			{"authenticated, never", stateIdle, true, never, idle},
			{"authenticated, later", stateIdle, true, idle.Add(time.Hour), idle},
			{"authenticated, sooner", stateIdle, true, stranger, stranger},
			{"active, never", stateActive, false, never, never},
			{"active, later", stateActive, false, idle, idle},
		} {
			conn := &timed{}
			k := newLink(s, conn)
			k.state.Store(c.state)
			k.proven.Store(c.proven)
			if err := k.SetReadDeadline(c.set); err != nil || !conn.read.Equal(c.want) {
				t.Errorf("%s: got %v, %v, want %v", c.name, conn.read, err, c.want)
			}
		}
	})
}
