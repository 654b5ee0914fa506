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

// Retry says how requests are repeated. The library's type of that name has the same fields, and documents them.
type Retry struct {
	Attempts  int
	Budget    float64
	Burst     int
	Base, Max time.Duration
	Timeout   time.Duration
}

// What a Retry has that leaves everything out.
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
		errs = append(errs, errors.New("Retry.Budget is not a number"))
	}
	if r.Attempts < 0 || r.Burst < 0 || r.Base < 0 || r.Max < 0 || r.Timeout < 0 {
		errs = append(errs, fmt.Errorf("Retry has negative values: %+v", r))
	}
	return errors.Join(errs...)
}

// WithDefaults fills in what the caller left out.
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

// Dispatcher sends requests that share a budget for retries. It may be used concurrently.
type Dispatcher struct {
	retry  Retry
	budget *budget
	gate   *Limiter
	draw   func(n uint64) uint64
}

// New returns a dispatcher. Requests wait for their turn at gate, unless it is nil. draw returns a random number below n;
// nil is the process's own generator.
func New(retry Retry, gate *Limiter, draw func(n uint64) uint64) *Dispatcher {
	if draw == nil {
		draw = rand.Uint64N
	}
	retry = retry.WithDefaults()
	return &Dispatcher{retry: retry, budget: newBudget(retry), gate: gate, draw: draw}
}

// Request is one request, however often it is sent.
type Request struct {
	// Send sends it once. It is told which attempt this is, the first being 1. It adds what the answer consumed to the
	// meters of the context, and leaves requests, retries and throttles to the dispatcher.
	Send func(ctx context.Context, attempt int) error

	// Again reports whether to repeat it after a verdict that allows it: NotSent, Refused or Unknown. Nil: always. It is
	// not asked once the context has ended, as nothing is repeated then.
	Again func(Verdict) bool
}

// Do sends a request until it is done, or it makes no sense to go on: it was rejected; Again says no; it was sent as often
// as Retry.Attempts allows; the budget for retries is spent; or ctx ends. It returns how many attempts there were and the
// last one's error, together with ctx's if that was the reason to stop.
//
// It adds the attempts to the meters of ctx, except for those that never left the process.
func (d *Dispatcher) Do(ctx context.Context, r Request) (attempts int, err error) {
	var cost meter.Cost
	attempts, err = d.repeat(ctx, &cost, r)
	meter.Add(ctx, cost)
	return attempts, err
}

// Write is Do for a request that changes something: one that is not repeatable is not sent again after its answer was
// lost. lost is set at the moment that an answer is, for send to look at. It says in the end whether an attempt may have
// happened that the error does not tell of.
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
		err = fmt.Errorf("not repeated, as a second attempt could do it twice or not return what was asked for: %w", err)
	}
	return attempts, err
}

// repeat is Do, with what it took.
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
			return attempts, fmt.Errorf("not repeated, the retry budget is spent: %w", err)
		}
		if Sleep(ctx, d.backoff(attempts)) != nil {
			return attempts, withContext(ctx, err)
		}
	}
}

// attempt sends a request once, within the time that an attempt may take. Waiting for one's turn is not part of it.
func (d *Dispatcher) attempt(ctx context.Context, n int, send func(ctx context.Context, attempt int) error) (err error) {
	if d.gate != nil {
		pass, err := d.gate.acquire(ctx)
		if err != nil {
			return &NotSentError{err}
		}
		throttled := false // also if send panics: the pass is given back
		defer func() { d.gate.release(pass, throttled) }()
		err = d.timed(ctx, n, send)
		throttled = Judge(err).Harmless()
		return err
	}
	return d.timed(ctx, n, send)
}

// timed sends a request once. Only an attempt that repeats one needs a mark in its context.
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

// backoff returns how long to wait after n attempts: any time up to Base × 2ⁿ⁻¹, which keeps those that were throttled
// together from coming back together.
func (d *Dispatcher) backoff(n int) time.Duration {
	longest := d.retry.Max
	if n-1 < 32 && d.retry.Base <= d.retry.Max>>(n-1) {
		longest = d.retry.Base << (n - 1)
	}
	return time.Duration(d.draw(uint64(longest) + 1))
}

// Once turns the SDK's own retries off: it would repeat a request without knowing whether that is harmless.
func Once(o *dynamodb.Options) { o.Retryer = aws.NopRetryer{} }

// Sleep waits for d, or returns ctx's error if that ends first.
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
