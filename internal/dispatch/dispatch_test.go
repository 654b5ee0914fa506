package dispatch

import (
	"context"
	"errors"
	"io"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/smithy-go"

	"github.com/heatsink-go/heatsink/internal/attempt"
	"github.com/heatsink-go/heatsink/internal/bubble"
	"github.com/heatsink-go/heatsink/internal/faulty"
	"github.com/heatsink-go/heatsink/internal/meter"
)

// newTest returns a dispatcher whose waits are the same in every run.
func newTest(retry Retry) *Dispatcher {
	return New(retry, nil, rand.New(rand.NewPCG(1, 2)).Uint64N)
}

func TestAttemptsUntilDone(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		d := newTest(Retry{})
		var m meter.Meter
		errs := []error{faulty.Throttled.Err(), faulty.BrokeDown.Err(), faulty.Unreached.Err(), nil}
		sent, err := d.Do(meter.With(context.Background(), &m), Request{Send: func(_ context.Context, attempt int) error { return errs[attempt-1] }})
		if sent != 4 || err != nil {
			t.Errorf("got %d attempts and %v, want 4 and success", sent, err)
		}
		if want := (meter.Cost{Requests: 3, Retries: 2, Throttles: 1}); m.Cost() != want {
			t.Errorf("got %+v, want %+v", m.Cost(), want)
		}
	})
}

// Who sees a request on its way is told which attempt it is. The first has the context of the caller, with nothing added.
func TestAttemptsAreMarked(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		own := t.Context()
		var seen []int
		_, err := newTest(Retry{}).Do(own, Request{Send: func(ctx context.Context, n int) error {
			seen = append(seen, attempt.Of(ctx))
			if n == 1 && ctx != own {
				t.Error("the first attempt has a context of its own")
			}
			if n < 3 {
				return faulty.Throttled.Err()
			}
			return nil
		}})
		if err != nil || !slices.Equal(seen, []int{1, 2, 3}) {
			t.Errorf("got attempts %v and %v, want 1, 2 and 3", seen, err)
		}
	})
}

func TestAttemptsEnd(t *testing.T) {
	for _, c := range []struct {
		name  string
		err   error
		again func(Verdict) bool
		want  int
	}{
		{"rejected", &types.ConditionalCheckFailedException{}, nil, 1},
		{"all attempts throttled", faulty.Throttled.Err(), nil, 6},
		{"all attempts unknown", faulty.LostAnswer.Err(), nil, 6},
		{"not again", faulty.LostAnswer.Err(), func(v Verdict) bool { return v != Unknown }, 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			bubble.Test(t, func(t *testing.T) {
				d := newTest(Retry{})
				sent, err := d.Do(context.Background(), Request{Send: func(context.Context, int) error { return c.err }, Again: c.again})
				if sent != c.want || !errors.Is(err, c.err) {
					t.Errorf("got %d attempts and %v, want %d and %v", sent, err, c.want, c.err)
				}
			})
		})
	}
}

// Waits are a random part of 20, 40, 80, 160 and 320 ms, and of no more than the maximum from then on.
func TestBackoff(t *testing.T) {
	d := newTest(Retry{Max: 500 * time.Millisecond})
	for n := 1; n <= 70; n++ {
		want := 500 * time.Millisecond
		if n <= 5 {
			want = 20 * time.Millisecond << (n - 1)
		}
		var longest, total time.Duration
		const draws = 2000
		for range draws {
			wait := d.backoff(n)
			longest = max(longest, wait)
			total += wait
		}
		if mean := total / draws; longest > want || mean < want*46/100 || mean > want*54/100 {
			t.Errorf("retry %d waits %s at most and %s on average, want up to %s and half of it", n, longest, mean, want)
		}
	}
}

func TestAttemptsContext(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		d := newTest(Retry{Base: time.Hour, Max: time.Hour})
		ctx, cancel := context.WithTimeout(context.Background(), time.Second)
		defer cancel()
		start := time.Now()
		sent, err := d.Do(ctx, Request{Send: func(context.Context, int) error { return faulty.Throttled.Err() }})
		if sent != 1 || !errors.Is(err, context.DeadlineExceeded) || !errors.As(err, new(*types.ProvisionedThroughputExceededException)) {
			t.Errorf("got %d attempts and %v, want one and both reasons", sent, err)
		}
		if took := time.Since(start); took != time.Second {
			t.Errorf("the wait ended after %s, want the second that the context has", took)
		}

		sent, err = d.Do(ctx, Request{Send: func(context.Context, int) error { t.Error("sent"); return nil }})
		if sent != 0 || !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("after the deadline: got %d attempts and %v, want none", sent, err)
		}

		ctx, cancel = context.WithCancel(context.Background())
		sent, err = d.Do(ctx, Request{Send: func(context.Context, int) error {
			cancel()
			return faulty.LostAnswer.Err()
		}, Again: func(Verdict) bool { t.Error("asked whether to go on"); return true }})
		if sent != 1 || !errors.Is(err, context.Canceled) || !errors.Is(err, io.ErrUnexpectedEOF) {
			t.Errorf("cancelled: got %d attempts and %v, want one and both reasons", sent, err)
		}
	})
}

// An attempt that takes too long is given up and repeated, its outcome being unknown.
func TestAttemptTimeout(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		d := newTest(Retry{Attempts: 3, Timeout: time.Second, Base: time.Nanosecond, Max: time.Nanosecond})
		start, verdicts := time.Now(), 0
		sent, err := d.Do(context.Background(), Request{Send: func(ctx context.Context, attempt int) error {
			if attempt == 3 {
				return nil
			}
			<-ctx.Done()
			return &smithy.CanceledError{Err: ctx.Err()}
		}, Again: func(v Verdict) bool {
			if v == Unknown {
				verdicts++
			}
			return true
		}})
		if sent != 3 || err != nil || verdicts != 2 || time.Since(start).Round(time.Second) != 2*time.Second {
			t.Errorf("got %d attempts, %d of them unknown, and %v after %s; want 3, 2 and success after two seconds", sent, verdicts, err, time.Since(start))
		}
	})
}

// What never left the process is no request: neither one that waited for its turn in vain, nor one that the SDK could not
// write down, nor one that reached nobody.
func TestMeterCountsWhatWasSent(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		gate := NewLimiter(1)
		d := New(Retry{}, gate, rand.New(rand.NewPCG(1, 2)).Uint64N)
		pass, err := gate.acquire(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithTimeout(context.Background(), time.Second)
		defer cancel()
		var waited meter.Meter
		_, err = d.Do(meter.With(ctx, &waited), Request{Send: func(context.Context, int) error { t.Error("sent out of turn"); return nil }})
		if !errors.Is(err, context.DeadlineExceeded) || waited.Cost() != (meter.Cost{}) {
			t.Errorf("in the queue: got %+v, %v, want nothing sent before the deadline", waited.Cost(), err)
		}
		gate.release(pass, false)

		for _, never := range []error{smithy.InvalidParamsError{}, faulty.Unreached.Err()} {
			var m meter.Meter
			_, err := d.Do(meter.With(context.Background(), &m), Request{Send: func(context.Context, int) error { return never }})
			if err == nil || m.Cost() != (meter.Cost{}) {
				t.Errorf("%v: got %+v, %v, want no request", never, m.Cost(), err)
			}
		}
	})
}

// Waiting for one's turn is not part of the time that an attempt may take, and a request that panics gives its turn back.
func TestGate(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		gate := NewLimiter(1)
		d := New(Retry{Timeout: time.Second}, gate, nil)
		pass, _ := gate.acquire(t.Context())
		go func() {
			time.Sleep(time.Minute)
			gate.release(pass, false)
		}()
		start := time.Now()
		if _, err := d.Do(context.Background(), Request{Send: func(ctx context.Context, _ int) error { return ctx.Err() }}); err != nil || time.Since(start) != time.Minute {
			t.Errorf("got %v after %s, want success when its turn came", err, time.Since(start))
		}
		func() {
			defer func() { _ = recover() }()
			_, _ = d.Do(context.Background(), Request{Send: func(context.Context, int) error { panic("send") }})
		}()
		if full(gate) {
			t.Error("a panic kept its turn")
		}
	})
}

func TestNegativeBudgetRetriesNothing(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		sent, err := newTest(Retry{Budget: -1}).Do(t.Context(), Request{Send: func(context.Context, int) error { return faulty.Throttled.Err() }})
		if sent != 1 || err == nil {
			t.Errorf("got %d attempts and %v, want 1 and an error", sent, err)
		}
	})
}
