package replica

import (
	"context"
	"slices"
	"sync"
	"time"
)

// overtime is how long a change may keep the others of its item waiting. It reads, calls the caller's function and
// writes, which takes two requests. A function may call Change for the same item, and waits for itself that long.
const overtime = time.Second

// turns let the changes of an item in this process happen one after another. Without them, each change that is stored
// makes all others start over. They save requests only: that no change is lost is up to the condition of its write.
type turns struct {
	mu sync.Mutex
	by map[string]*line // by the id of the item
}

// line is the changes of one item: the one whose turn it is, and those that wait, in their order.
type line struct {
	now     *turn
	waiting []*turn
}

// turn is the place of one change in its line.
type turn struct {
	began time.Time     // once it has come
	come  chan struct{} // closed when it has come
}

// take waits until it is the caller's turn to change an item, and returns a function that ends the turn. A turn that
// takes longer than overtime is not waited for.
func (t *turns) take(ctx context.Context, id string) (end func(), err error) {
	mine := t.join(id)
	end = func() { t.leave(id, mine) }
	for {
		late := time.NewTimer(t.patience(id))
		select {
		case <-mine.come:
			late.Stop()
			return end, nil
		case <-late.C:
			t.overtake(id)
		case <-ctx.Done():
			late.Stop()
			end()
			return nil, context.Cause(ctx)
		}
	}
}

// join puts a change at the end of the line of its item.
func (t *turns) join(id string) *turn {
	t.mu.Lock()
	defer t.mu.Unlock()
	mine := &turn{come: make(chan struct{})}
	l := t.by[id]
	if l == nil {
		l = &line{}
		t.by[id] = l
	}
	l.waiting = append(l.waiting, mine)
	if l.now == nil {
		l.next()
	}
	return mine
}

// next lets the first who waits have its turn.
func (l *line) next() {
	l.now = nil
	if len(l.waiting) > 0 {
		l.now = l.waiting[0]
		l.waiting = slices.Delete(l.waiting, 0, 1)
		l.now.began = time.Now()
		close(l.now.come)
	}
}

// patience returns how long the turn of an item may still take.
func (t *turns) patience(id string) time.Duration {
	t.mu.Lock()
	defer t.mu.Unlock()
	if l := t.by[id]; l != nil && l.now != nil {
		return time.Until(l.now.began.Add(overtime))
	}
	return 0
}

// overtake goes on with the next turn if the present one takes too long.
func (t *turns) overtake(id string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if l := t.by[id]; l != nil && l.now != nil && time.Since(l.now.began) >= overtime {
		l.next()
	}
}

// leave ends a turn, whether it has come or not, and forgets a line that nobody is in. A turn that was overtaken has
// ended already.
func (t *turns) leave(id string, mine *turn) {
	t.mu.Lock()
	defer t.mu.Unlock()
	l := t.by[id]
	if l == nil {
		return
	}
	if l.now == mine {
		l.next()
	} else if i := slices.Index(l.waiting, mine); i >= 0 {
		l.waiting = slices.Delete(l.waiting, i, i+1)
	}
	if l.now == nil {
		delete(t.by, id)
	}
}
