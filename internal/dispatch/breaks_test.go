package dispatch

import (
	"context"
	"errors"
	"fmt"
	"net"
	"testing"
	"testing/synctest"

	"github.com/heatsink-go/heatsink/internal/bubble"
)

// The tests of this file were written for breaks of a line that no other test noticed.

// Who gives up at the very moment when its turn comes hands the turn on: to the next who waits, or back.
func TestTurnThatComesTooLateIsHandedOn(t *testing.T) {
	for _, next := range []bool{false, true} {
		bubble.Test(t, func(t *testing.T) {
			l := NewLimiter(1)
			passes(t, l, 1)
			ctx, cancel := context.WithCancel(context.Background())
			gaveUp := make(chan error, 1)
			go func() { _, err := l.acquire(ctx); gaveUp <- err }()
			synctest.Wait()
			served := make(chan pass, 1)
			if next {
				go func() {
					p, err := l.acquire(context.Background())
					if err != nil {
						t.Error(err)
					}
					served <- p
				}()
				synctest.Wait()
			}
			l.mu.Lock() // so that the first cannot leave before its turn comes
			cancel()
			l.busy--
			l.admit()
			l.mu.Unlock()
			if err := <-gaveUp; err != context.Canceled {
				t.Fatalf("got %v, want it to have given up", err)
			}
			synctest.Wait()
			if next {
				select {
				case p := <-served:
					l.release(p, false)
				default:
					l.mu.Lock()
					defer l.mu.Unlock()
					t.Errorf("the next still waits, with %d under way", l.busy)
					close(l.waiting[0])
					return
				}
			}
			if full(l) {
				t.Errorf("the pass is lost: %d are under way, want 0", l.busy)
			}
		})
	}
}

// One request pays no more in than the burst has room for, however large the budget is.
func TestLargeBudgetKeepsToItsBurst(t *testing.T) {
	b := newBudget(Retry{Budget: 10, Burst: 2})
	for range 5 {
		b.retry()
		b.request()
	}
	taken := 0
	for b.retry() {
		taken++
	}
	if taken != 2 {
		t.Errorf("%d retries are saved up, want 2", taken)
	}
}

// Only a request that had no connection was surely not sent: one whose connection broke may have happened.
func TestJudgeBrokenConnections(t *testing.T) {
	for op, want := range map[string]Verdict{"dial": NotSent, "proxyconnect": NotSent, "read": Unknown, "write": Unknown, "close": Unknown} {
		err := fmt.Errorf("operation error: %w", &net.OpError{Op: op, Net: "tcp", Err: errors.New("connection reset by peer")})
		if got := Judge(err); got != want {
			t.Errorf("%s: got %v, want %v", op, got, want)
		}
	}
}
