package ratelimit

import (
	"fmt"
	"sync"
	"time"
)

// outage keeps checks from waiting for answers that do not come. After outageAfter checks in a row that got none, one
// check in outagePause is sent; the others fail at once. The first answer ends it.
type outage struct {
	mu     sync.Mutex
	silent int       // checks in a row without an answer
	next   time.Time // when the next may be sent
	last   error
}

const (
	outageAfter = 5
	outagePause = 100 * time.Millisecond
)

// begin returns an error if a check shall not be sent.
func (o *outage) begin(now time.Time) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.silent < outageAfter {
		return nil
	}
	if now.Before(o.next) {
		return fmt.Errorf("request not sent, because the last %d checks got no answer: %w", o.silent, o.last)
	}
	o.next = now.Add(outagePause)
	return nil
}

// answered says that DynamoDB answered, whatever it said.
func (o *outage) answered() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.silent, o.last = 0, nil
}

// unanswered says that a check got no answer.
func (o *outage) unanswered(now time.Time, err error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.silent++
	o.next, o.last = now.Add(outagePause), err
}
