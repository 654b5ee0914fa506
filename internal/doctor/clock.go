package doctor

import (
	"fmt"
	"net/http"
	"sync"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/heatsink-go/heatsink/internal/lease"
)

// clock compares this machine's clock with the server's, by the Date of its answers. A Date has whole seconds, and was written
// between request and answer. So each answer gives an interval that the difference is in, and several narrow it down. Its
// methods may be called concurrently.
type clock struct {
	dynamodb.HTTPClient

	mu        sync.Mutex
	answers   int  // that came at all
	dated     bool // one of them had a Date
	low, high time.Duration
}

// Do sends a request and looks at the Date of the answer.
func (c *clock) Do(r *http.Request) (*http.Response, error) {
	sent := time.Now()
	answer, err := c.HTTPClient.Do(r)
	if err == nil {
		c.see(answer.Header.Get("Date"), sent.Round(0), time.Now().Round(0))
	}
	return answer, err
}

// mostOff is the largest difference of clocks that is told apart.
const mostOff = 100 * 366 * 24 * time.Hour

// see takes the Date of an answer. The difference is how far this machine is ahead.
func (c *clock) see(date string, sent, received time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.answers++
	at, err := http.ParseTime(date)
	if err != nil {
		return
	}
	// A difference of centuries is as large as a duration can be, so that to add to it overflows.
	between := func(t time.Time) time.Duration { return max(-mostOff, min(mostOff, t.Sub(at))) }
	low, high := between(sent)-time.Second, between(received)
	if !c.dated {
		c.dated, c.low, c.high = true, low, high
		return
	}
	c.low, c.high = max(c.low, low), min(c.high, high)
	if c.low > c.high { // one of the clocks was set meanwhile: the last answer counts
		c.low, c.high = low, high
	}
}

// tolerance is the difference from which on it is worth a word. Leases of movable collections last for a minute.
const tolerance = lease.Term

// result says how far the clocks are apart.
func (c *clock) result() Result {
	c.mu.Lock()
	defer c.mu.Unlock()
	r := Result{Check: "clock"}
	if !c.dated {
		r.Outcome, r.Found = Unknown, "the server's answers have no Date to compare with"
		r.Remedy = "compare the clocks of both machines by hand; see docs/doctor.md"
		return r
	}
	off := c.low + (c.high-c.low)/2 // the sum may be too large
	if c.low <= 0 && c.high >= 0 {
		off = 0
	}
	direction := "ahead of"
	if off < 0 {
		direction, off = "behind", -off
	}
	text := fmt.Sprintf("this machine's clock is about %s %s the server's", off.Round(time.Second), direction)
	if off >= mostOff-time.Second {
		text = fmt.Sprintf("this machine's clock is more than a century %s the server's", direction)
	}
	switch {
	case off < tolerance:
		r.Found = fmt.Sprintf("this machine's clock agrees with the server's, to about %s", max(time.Second, off.Round(time.Second)))
		return r
	case off < lease.Lateness:
		r.Outcome = Warning
		r.Found = text + ": times to live, buckets and versions that programs here write are off by as much"
	default:
		r.Outcome = Problem
		r.Found = text + fmt.Sprintf(": DynamoDB refuses signatures that are %.0f minutes off, and times to live, buckets and versions are wrong", lease.Lateness.Minutes())
	}
	r.Remedy = "synchronize the clock: timedatectl set-ntp true, or chronyc makestep"
	return r
}
