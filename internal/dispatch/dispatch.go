package dispatch

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/heatsink-go/heatsink/internal/attempt"
	"github.com/heatsink-go/heatsink/internal/meter"
)

// Retry configures how requests are retried. The library's type of that name has the same fields and documents them.
type Retry struct {
	Attempts  int
	Budget    float64
	Burst     int
	Base, Max time.Duration
	Timeout   time.Duration
}

// The defaults of Retry.
const (
	DefaultAttempts = 6
	defaultBudget   = 0.2
	defaultBurst    = 100
	defaultBase     = 20 * time.Millisecond
	defaultMax      = 2 * time.Second
)

// Validate returns everything that is wrong with a Retry.
func (r Retry) Validate() error {
	var errs []error
	if math.IsNaN(r.Budget) {
		errs = append(errs, errors.New("Retry.Budget is NaN, want a number"))
	}
	if r.Attempts < 0 || r.Burst < 0 || r.Base < 0 || r.Max < 0 || r.Timeout < 0 {
		errs = append(errs, fmt.Errorf("Retry is %+v, want no negative values except for Budget", r))
	}
	return errors.Join(errs...)
}

// WithDefaults returns r with defaults for the fields that are zero.
func (r Retry) WithDefaults() Retry {
	r.Attempts = cmp.Or(r.Attempts, DefaultAttempts)
	if r.Budget >= 0 && r.Burst == 0 {
		r.Burst = defaultBurst
	}
	r.Budget = max(cmp.Or(r.Budget, defaultBudget), 0)
	r.Base = cmp.Or(r.Base, defaultBase)
	r.Max = cmp.Or(r.Max, defaultMax)
	return r
}

// Dispatcher sends requests that share a retry budget. It is safe for concurrent use.
type Dispatcher struct {
	retry  Retry
	budget *budget
	gate   *Limiter
	draw   func(n uint64) uint64
}

// New returns a dispatcher. Requests wait at gate, unless it is nil. draw returns a random number below n; nil uses the
// process's generator.
func New(retry Retry, gate *Limiter, draw func(n uint64) uint64) *Dispatcher {
	if draw == nil {
		draw = rand.Uint64N
	}
	retry = retry.WithDefaults()
	return &Dispatcher{retry: retry, budget: newBudget(retry), gate: gate, draw: draw}
}

// Request is one request, whatever its number of attempts.
type Request struct {
	// Send sends the request once. attempt is 1 for the first attempt. Send adds the consumed capacity to the meters of
	// the context. The dispatcher counts requests, retries and throttles.
	Send func(ctx context.Context, attempt int) error

	// Again reports whether to retry after the verdict NotSent, Refused or Unknown. Nil means always. It is not called
	// after the context has ended, because nothing is retried then.
	Again func(Verdict) bool
}

// Do sends a request and retries it until it succeeds. It stops if the request is rejected, Again returns false,
// Retry.Attempts is reached, the retry budget is spent, or ctx ends. It returns the number of attempts and the error of
// the last one, joined with ctx's error if ctx ended.
//
// Do adds the attempts to the meters of ctx, except for those that never left the process.
func (d *Dispatcher) Do(ctx context.Context, r Request) (attempts int, err error) {
	var cost meter.Cost
	attempts, err = d.repeat(ctx, &cost, r)
	meter.Add(ctx, cost)
	return attempts, err
}

// Write is Do for a request that changes something. After a lost response it retries only a repeatable request. It sets
// *lost as soon as a response is lost, so that send can check it. In the end, *lost means that an attempt may have
// happened although Write returns an error.
func (d *Dispatcher) Write(ctx context.Context, repeatable bool, lost *bool, send func(ctx context.Context, attempt int) error) (attempts int, err error) {
	attempts, err = d.Do(ctx, Request{
		Send: func(ctx context.Context, attempt int) error {
			err := send(ctx, attempt)
			if Judge(err) == Unknown {
				*lost = true
			}
			return err
		},
		Again: func(v Verdict) bool { return v.Harmless() || repeatable },
	})
	if err != nil && *lost && !repeatable && Judge(err) == Unknown {
		err = fmt.Errorf("not retried, because a second attempt could apply the write twice or could not return the requested values: %w", err)
	}
	return attempts, err
}

// repeat is Do without meters: it adds the cost to cost.
func (d *Dispatcher) repeat(ctx context.Context, cost *meter.Cost, r Request) (attempts int, err error) {
	if err := ctx.Err(); err != nil {
		return 0, err
	}
	d.budget.request()
	for {
		attempts++
		err = d.attempt(ctx, attempts, r.Send)
		if sent(err) {
			cost.Requests++
			if attempts > 1 {
				cost.Retries++
			}
		}
		v := Judge(err)
		if v == Done {
			return attempts, nil
		}
		if TooFast(err) {
			cost.Throttles++
		}
		if v == Rejected {
			return attempts, err
		}
		if ctx.Err() != nil {
			return attempts, withContext(ctx, err)
		}
		if r.Again != nil && !r.Again(v) || attempts >= d.retry.Attempts {
			return attempts, err
		}
		if !d.budget.retry() {
			return attempts, fmt.Errorf("not retried, because the retry budget is spent: %w", err)
		}
		if Sleep(ctx, d.backoff(attempts)) != nil {
			return attempts, withContext(ctx, err)
		}
	}
}

// attempt sends a request once, within Retry.Timeout. Waiting at the gate does not count.
func (d *Dispatcher) attempt(ctx context.Context, n int, send func(ctx context.Context, attempt int) error) (err error) {
	if d.gate != nil {
		pass, err := d.gate.acquire(ctx)
		if err != nil {
			return &NotSentError{err}
		}
		throttled := false // the pass is released even if send panics
		defer func() { d.gate.release(pass, throttled) }()
		err = d.timed(ctx, n, send)
		throttled = Judge(err).Harmless()
		return err
	}
	return d.timed(ctx, n, send)
}

// timed sends a request once. Only a retry needs a mark in its context.
func (d *Dispatcher) timed(ctx context.Context, n int, send func(ctx context.Context, attempt int) error) error {
	if n > 1 {
		ctx = attempt.With(ctx, n)
	}
	if d.retry.Timeout > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, d.retry.Timeout)
		defer cancel()
	}
	return send(ctx, n)
}

// backoff returns how long to wait after n attempts: a random time up to Base × 2ⁿ⁻¹, so that requests that were
// throttled together do not return together.
func (d *Dispatcher) backoff(n int) time.Duration {
	longest := d.retry.Max
	if n-1 < 32 && d.retry.Base <= d.retry.Max>>(n-1) {
		longest = d.retry.Base << (n - 1)
	}
	return time.Duration(d.draw(uint64(longest) + 1))
}

// Once turns off the SDK's own retries, because the SDK cannot know whether a retry is safe.
func Once(o *dynamodb.Options) { o.Retryer = aws.NopRetryer{} }

// Sleep waits for d, or returns ctx's error if ctx ends first.
func Sleep(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
