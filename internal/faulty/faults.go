package faulty

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/smithy-go"
	"github.com/aws/smithy-go/middleware"
)

// Faults are what goes wrong with the requests of the clients that have its [Faults.Option], and a record of them.
// All methods may be called while requests are under way.
type Faults struct {
	mu     sync.Mutex
	decide Decide
	delay  Delay
	sent   []*Request

	// How many requests will still arrive late. A WaitGroup would not do: nothing orders their start and the wait for them.
	late    int
	arrived sync.Cond
}

// New returns faults that a function decides about; nil: nothing goes wrong.
func New(decide Decide) *Faults {
	f := &Faults{decide: decide}
	f.arrived.L = &f.mu
	return f
}

// Decide changes what goes wrong from now on. Nil: nothing does.
func (f *Faults) Decide(decide Decide) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.decide = decide
}

// Delay changes how long requests take from now on: half of it before they arrive, half before their answer does, or all
// of it before if they are [Late]. A context that ends first ends the wait. Nil: requests take as long as they take.
func (f *Faults) Delay(delay Delay) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.delay = delay
}

// Count returns how many requests of an operation were sent, such as "PutItem", and also those that went wrong.
func (f *Faults) Count(operation string) int {
	f.mu.Lock()
	defer f.mu.Unlock()
	n := 0
	for _, r := range f.sent {
		if r.Operation == operation {
			n++
		}
	}
	return n
}

// Wrong returns how many requests went wrong.
func (f *Faults) Wrong() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	n := 0
	for _, r := range f.sent {
		if r.Fault != None {
			n++
		}
	}
	return n
}

// Keys returns [Request.Key] of all requests of an operation, in the order in which they were sent.
func (f *Faults) Keys(operation, attribute string) []string {
	var keys []string
	for _, r := range f.Requests() {
		if r.Operation == operation {
			keys = append(keys, r.Key(attribute))
		}
	}
	return keys
}

// Requests returns all requests so far, in the order in which they were sent, and what became of them.
func (f *Faults) Requests() []Request {
	f.mu.Lock()
	defer f.mu.Unlock()
	all := make([]Request, len(f.sent))
	for i, r := range f.sent {
		all[i] = *r
	}
	return all
}

// Wait returns when no request is [Late] any more.
func (f *Faults) Wait() {
	f.mu.Lock()
	defer f.mu.Unlock()
	for f.late > 0 {
		f.arrived.Wait()
	}
}

// Option is for a client: db.Client(faults.Option). A client may have several, of which the last is the first to see a
// request. Call [Faults.Wait] before the engine is closed, or leave that to [On].
func (f *Faults) Option(o *dynamodb.Options) {
	o.APIOptions = slices.Insert(slices.Clone(o.APIOptions), 0, f.intercept)
}

func (f *Faults) intercept(stack *middleware.Stack) error {
	handle := func(ctx context.Context, in middleware.InitializeInput, next middleware.InitializeHandler) (
		middleware.InitializeOutput, middleware.Metadata, error,
	) {
		a := f.handle(&Request{Operation: stack.ID(), Input: copied(in.Parameters), At: time.Now(), ctx: ctx, next: next})
		return a.out, a.metadata, a.err
	}
	// After what checks parameters and fills in tokens: a request that is repeated has the same token.
	return stack.Initialize.Add(middleware.InitializeMiddlewareFunc(fmt.Sprintf("faults %p", f), handle), middleware.After)
}

// handle sends a request, or what its fault leaves of it.
func (f *Faults) handle(r *Request) answer {
	delay := f.begin(r)
	if r.Fault == Late {
		go f.arrive(r, delay)
		return answer{err: r.Fault.err(r.Operation, r.Input)}
	}
	if err := sleep(r.ctx, delay/2); err != nil {
		return answer{err: err}
	}
	a := f.suffer(r)
	if err := sleep(r.ctx, delay-delay/2); err != nil {
		return answer{err: err}
	}
	return a
}

// begin notes a request and decides about it.
func (f *Faults) begin(r *Request) (delay time.Duration) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.sent = append(f.sent, r)
	if f.decide != nil {
		r.Fault = f.decide(*r)
	}
	if f.delay != nil {
		delay = f.delay(*r)
	}
	if r.Fault == Late {
		f.late++
	}
	return delay
}

// arrive carries a request out that its sender has given up, after a while.
func (f *Faults) arrive(r *Request, delay time.Duration) {
	time.Sleep(delay)
	f.do(r, context.WithoutCancel(r.ctx), r.Input)
	f.mu.Lock()
	defer f.mu.Unlock()
	f.late--
	f.arrived.Broadcast()
}

// suffer carries a request out as far as its fault lets it be, without delays.
func (f *Faults) suffer(r *Request) answer {
	switch r.Fault {
	case None:
		return f.do(r, r.ctx, r.Input)
	case Partly:
		half, leave, ok := halve(r.Input)
		if !ok {
			return answer{err: Throttled.err(r.Operation, r.Input)}
		}
		a := f.do(r, r.ctx, half)
		if a.err == nil {
			leave(a.out.Result)
		}
		return a
	case LostAnswer, BrokeDown, UnansweredDone:
		a := f.do(r, context.WithoutCancel(r.ctx), r.Input)
		refused := errors.As(a.err, new(smithy.APIError))
		if a.err != nil && (!refused || r.Fault == BrokeDown) {
			return a
		}
	}
	if r.Fault == Unanswered || r.Fault == UnansweredDone {
		<-r.ctx.Done()
		return answer{err: &smithy.CanceledError{Err: r.ctx.Err()}}
	}
	return answer{err: r.Fault.err(r.Operation, r.Input)}
}

// do lets DynamoDB do what a request asks for.
func (f *Faults) do(r *Request, ctx context.Context, input any) answer {
	a := r.send(ctx, input)
	f.mu.Lock()
	defer f.mu.Unlock()
	r.Done = a.err == nil
	return a
}

// sleep waits, and returns the SDK's error if ctx ends first.
func sleep(ctx context.Context, d time.Duration) error {
	if d <= 0 {
		return nil
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return &smithy.CanceledError{Err: ctx.Err()}
	}
}
