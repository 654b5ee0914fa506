package wire

import (
	"context"
	"net"
	"sync/atomic"
	"time"
)

// link is a client's connection, on whichever lane it is.
type link struct {
	net.Conn
	server *Server
	state  atomic.Int32
	since  atomic.Int64 // when it last began to wait for a request, in nanoseconds since 1970
	proven atomic.Bool  // the last request was authenticated, or needed no more than to be well-formed

	// What its request takes of the budget: for its body, for working on it, and
	// for an answer that became large.
	body, work, bulk claim
}

// The states of a connection. It is retired if it is neither in use nor may be.
const (
	stateNew    = iota // waits for its first request
	stateIdle          // waits for another
	stateActive        // from the first byte of a request to the last of its answer
	stateRetired
)

func newLink(s *Server, accepted net.Conn) *link {
	k := &link{Conn: accepted, server: s}
	k.body.drop, k.work.drop, k.bulk.drop = k.drop, k.drop, k.drop
	k.since.Store(time.Now().UnixNano())
	return k
}

func (k *link) drop() { _ = k.Close() }

// retire ends a connection that is in a state of waiting, and reports whether it
// was.
func (k *link) retire(waiting int32) bool {
	if !k.state.CompareAndSwap(waiting, stateRetired) {
		return false
	}
	k.drop()
	return true
}

// idle notes that the connection waits for another request.
func (k *link) idle(now time.Time) {
	k.since.Store(now.UnixNano())
	k.state.Store(stateIdle)
}

// patience is how long the connection may wait for another request.
func (k *link) patience() time.Duration {
	if k.proven.Load() {
		return k.server.limits.idle
	}
	return min(k.server.limits.stranger, k.server.limits.idle)
}

// prove notes whether a request was authenticated.
func (k *link) prove(proven bool) {
	if k != nil && k.proven.Load() != proven {
		k.proven.Store(proven)
	}
}

// SetReadDeadline is how net/http says how long it waits. It has one time for
// all that idle.
func (k *link) SetReadDeadline(t time.Time) error {
	if k.state.Load() == stateIdle {
		if soon := time.Now().Add(k.patience()); t.IsZero() || soon.Before(t) {
			t = soon
		}
	}
	return k.Conn.SetReadDeadline(t)
}

// CloseWrite is what net/http ends a connection with, so that a client that still
// sends gets to read the last answer.
func (k *link) CloseWrite() error {
	if c, ok := k.Conn.(interface{ CloseWrite() error }); ok {
		return c.CloseWrite()
	}
	return nil
}

// receive waits for room for a body, and gives its client time to send it. A nil
// link has all the room there is, as that of a client in the same process.
func (k *link) receive(ctx context.Context, bytes int) error {
	if k == nil {
		return nil
	}
	rooms := &k.server.budget.strange
	if k.proven.Load() {
		rooms = &k.server.budget.proven
	}
	if err := k.body.take(ctx, rooms.roomFor(bytes, smallBody), bytes, noLimit); err != nil {
		return err
	}
	_ = k.Conn.SetReadDeadline(time.Now().Add(k.server.limits.bodyTime(bytes)))
	k.body.await()
	return nil
}

const (
	noLimit  = 1 << 30
	moreWait = 2 * time.Second // a table cannot be deleted meanwhile
)

// received notes what came of a body.
func (k *link) received(bytes int) {
	if k != nil {
		k.body.move(bytes)
	}
}

// begin waits for the room that an operation needs besides its body as it came:
// that of a compressed one is unzipped.
func (k *link) begin(ctx context.Context, target string, body, unzipped int) error {
	if k == nil {
		return nil
	}
	k.body.rest()
	weight := weightOf(target)
	if body > keptCapacity {
		weight += bodyWork*body + unzipped
	}
	if weight == 0 {
		return nil
	}
	return k.work.take(ctx, k.server.budget.work.roomFor(weight, smallWork), weight, noLimit)
}

// weightOf returns what the answer of an operation takes, 0 if that is known soon
// enough when it is there.
func weightOf(target string) int {
	switch target {
	case dynamoDB + "Query", dynamoDB + "Scan", streams + "GetRecords", dynamoDB + "BatchGetItem", dynamoDB + "BatchExecuteStatement":
		return pageWeight
	case dynamoDB + "ExecuteStatement":
		return 2 * pageWeight // the read that fills a page may be as large
	case dynamoDB + "TransactGetItems", dynamoDB + "ExecuteTransaction":
		return transactWeight
	}
	return 0
}

// more waits for the room that the whole answer of a BatchGetItem or of a
// BatchExecuteStatement may need, after the first of it was counted. It reports whether there is room.
func (k *link) more(ctx context.Context) bool {
	large := &k.server.budget.work.large
	if k.work.room == large { // for the body, which is much longer than keys need
		return true
	}
	ctx, cancel := context.WithTimeout(ctx, moreWait)
	defer cancel()
	return k.bulk.take(ctx, large, batchWeight, noLimit) == nil
}

// finish corrects what is counted to what the answer takes. What was counted for
// the body is free then.
func (k *link) finish(ctx context.Context, answer int) error {
	if k == nil {
		return nil
	}
	k.body.release()
	switch {
	case answer <= keptCapacity:
		k.work.release()
		k.bulk.release()
	case k.bulk.room != nil:
		k.work.release()
		k.bulk.set(answer)
	case k.work.room != nil:
		k.work.set(answer)
	default:
		return k.work.take(ctx, k.server.budget.work.roomFor(answer, smallWork), answer, fullQueue)
	}
	return nil
}

// release gives back all that a request took.
func (k *link) release() {
	k.body.release()
	k.work.release()
	k.bulk.release()
}

// answering returns the claim that the answer's client holds, nil if it holds
// none that matters.
func (k *link) answering() *claim {
	switch {
	case k == nil:
		return nil
	case k.bulk.room != nil:
		return &k.bulk
	case k.work.room != nil:
		return &k.work
	}
	return nil
}

// sendChunk is how much of a large answer is written at a time: that much is
// progress.
const sendChunk = 256 << 10

// sendLarge writes a large answer, as long as its client takes it.
func (k *link) sendLarge(answer []byte, write func([]byte) error) error {
	c := k.answering()
	if c == nil {
		return write(answer)
	}
	c.await()
	defer c.rest()
	for len(answer) > 0 {
		n := min(len(answer), sendChunk)
		if err := write(answer[:n]); err != nil {
			return err
		}
		c.move(n)
		answer = answer[n:]
	}
	return nil
}
