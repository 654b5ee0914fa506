package counter

import (
	"context"
	"errors"
	"fmt"

	"github.com/heatsink-go/heatsink"
)

// errOvertaken is why a reset does not know whether it has happened.
var errOvertaken = errors.New("other processes have changed the counter since")

// Reset sets a counter to zero and returns its value before. A concurrent Add is either in the returned value or still
// in the counter: it is never lost, and never in both. Concurrent resets each return a part of the value. With an Origin,
// the attribute is part of the value, and stays as it is: what it has now is taken off the counter.
//
// If the error is a heatsink.UnknownOutcomeError, an answer was lost, and the counter may or may not be reset.
//
// Reset costs as much as Total, plus one write.
func (c *Counter) Reset(ctx context.Context, key string) (int64, error) {
	ctx = c.metered(ctx)
	if err := c.ready(key); err != nil {
		return 0, err
	}
	z := resetting{reading: c.begin(key), token: newToken()}
	for tries := 0; ; {
		r, more := z.next()
		if !more {
			break
		}
		a := c.store.do(ctx, key, r)
		z = z.step(r, a)
		switch {
		case a.outcome == unknown && ctx.Err() == nil && tries < maxTries:
			tries++ // it is safe to ask again
		case a.err != nil && z.lost:
			return 0, fmt.Errorf("reset counter %q: %w", key, &heatsink.UnknownOutcomeError{Err: a.err})
		case a.err != nil:
			return 0, fmt.Errorf("reset counter %q: %w", key, a.err)
		case z.reading.tries > maxTries:
			return 0, fmt.Errorf("reset counter %q: %w", key, ErrBusy)
		}
	}
	c.cache.Forget(key)
	c.remember(key, base{version: z.reading.base.version + 1, width: z.reading.base.width})
	if z.unknown {
		return 0, fmt.Errorf("reset counter %q: %w", key, &heatsink.UnknownOutcomeError{Err: errOvertaken})
	}
	return c.int64(key, z.reading.total().value())
}

// resetting is the machine that sets a counter back to zero: it reads the counter and takes what it read off the base,
// in a write that raises the version. What is counted meanwhile is not in what was read, and stays. A reader that has
// seen slots from before the reset finds the new version and starts over.
//
// The write needs the version that was read, so it happens once, however often it is sent.
type resetting struct {
	reading reading
	token   string // what this reset is called
	lost    bool   // an answer was: it may have happened
	ended   bool
	unknown bool // whether it has happened
}

// next returns the request to send, and false if the reset has ended.
func (z resetting) next() (request, bool) {
	if r, more := z.reading.next(); more || z.ended {
		return r, more && !z.ended
	}
	return request{
		operation: resetBase, version: z.reading.base.version, sum: z.reading.total().negative(), token: z.token,
	}, true
}

// step takes the answer to a request of next. If it has failed, the same request may be sent again.
func (z resetting) step(r request, a answer) resetting {
	if r.operation != resetBase {
		z.reading = z.reading.step(r, a)
		return z
	}
	switch {
	case a.outcome == failed:
	case a.outcome == unknown:
		z.lost = true
	case a.outcome == done || a.base.reset == z.token:
		z.ended = true
	case (z.lost || a.lost) && a.base.version != r.version+1:
		// Others have raised the version more than once, and the first of them may have been this reset.
		z.ended, z.unknown = true, true
	default: // the version went to somebody else, so this reset cannot happen any more
		return resetting{reading: z.reading.after(a.base, 0), token: z.token}
	}
	return z
}
