// Package traffic is a sale at the shop: requests of several kinds, each at its own rate, whatever the answers are. Most are
// about one product, as in a sale.
package traffic

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"time"
)

// Sale is what the shop gets to do.
type Sale struct {
	URL    string        // of the shop, such as http://127.0.0.1:8080
	Client *http.Client  // default: one with enough connections
	Scale  float64       // of all rates. Default: 1
	Skip   time.Duration // the first part, which is not counted
	For    time.Duration // with Skip. Default: until the context ends

	// Progress, if set, gets what has come of the sale so far, once a second after Skip.
	Progress func(Result)

	// Problem, if set, gets why the first request failed, once. Requests that are throttled or limited have not failed.
	Problem func(error)
}

// Reach returns an error if nothing answers at the URL. It sends one request, whatever the answer is.
func (s Sale) Reach(ctx context.Context) error {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, strings.TrimSuffix(s.URL, "/")+"/shoppers", nil)
	if err != nil {
		return err
	}
	client := s.Client
	if client == nil {
		client = &http.Client{Timeout: 5 * time.Second}
		defer client.CloseIdleConnections()
	}
	_, _, err = ask(client, r)
	return err
}

// inFlight is how many requests may wait for their answers at a time. What would be more is not sent, and counted as such: a
// machine that is too slow shows in that number.
const inFlight = 512

// Run sends requests until the sale is over, and waits for the last answers.
func (s Sale) Run(ctx context.Context) Result {
	if s.Client == nil {
		transport := &http.Transport{MaxIdleConns: inFlight, MaxIdleConnsPerHost: inFlight}
		defer transport.CloseIdleConnections()
		s.Client = &http.Client{Transport: transport, Timeout: 10 * time.Second}
	}
	if s.Scale == 0 {
		s.Scale = 1
	}
	if s.For > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, s.For)
		defer cancel()
	}
	running := &sale{Sale: s, start: time.Now(), places: make(chan struct{}, inFlight), orders: make(chan string, 10_000)}
	for range kinds {
		running.tallies = append(running.tallies, newTally())
	}
	var all sync.WaitGroup
	for i := range kinds {
		all.Go(func() { running.pace(ctx, &all, i) })
	}
	if s.Progress != nil {
		all.Go(func() { running.tell(ctx) })
	}
	all.Wait()
	return running.result()
}

// sale is one that is under way.
type sale struct {
	Sale
	start   time.Time
	places  chan struct{} // one for each request under way
	orders  chan string   // ids of orders that can be paid
	tallies []*tally      // of kinds
	problem sync.Once     // the first has been told
}

// failed tells why a request failed, if it is the first.
func (s *sale) failed(err error) {
	s.problem.Do(func() {
		if s.Problem != nil {
			s.Problem(err)
		}
	})
}

// pace sends the requests of a kind, as many as are due.
func (s *sale) pace(ctx context.Context, all *sync.WaitGroup, kind int) {
	ticks := time.NewTicker(10 * time.Millisecond)
	defer ticks.Stop()
	for sent := 0; ; {
		select {
		case <-ticks.C:
		case <-ctx.Done():
			return
		}
		for due := int(kinds[kind].rate * s.Scale * time.Since(s.start).Seconds()); sent < due; sent++ {
			select {
			case s.places <- struct{}{}:
				all.Go(func() {
					defer func() { <-s.places }()
					s.send(kind)
				})
			default:
				s.note(kind, time.Now(), (*tally).unsent)
			}
		}
	}
}

// send sends a request and notes what came of it. It does not end with the sale, so that no answer is left open.
func (s *sale) send(kind int) {
	method, path, body := kinds[kind].request(s)
	if path == "" {
		return // there is nothing to ask about yet
	}
	start := time.Now()
	r, err := http.NewRequest(method, strings.TrimSuffix(s.URL, "/")+path, strings.NewReader(body))
	if err != nil {
		s.failed(err)
		s.note(kind, start, (*tally).lost)
		return
	}
	r.Header.Set("X-Client", "app")
	r.Header.Set("Referer", campaign)
	status, text, err := ask(s.Client, r)
	took := time.Since(start)
	if err != nil {
		s.failed(err)
		s.note(kind, start, (*tally).lost)
		return
	}
	if outcomeOf(status) == failed {
		s.failed(fmt.Errorf("%s %s: %s: %.300s", method, path, http.StatusText(status), text))
	}
	s.note(kind, start, func(t *tally) { t.answered(status, took) })
	if learn := kinds[kind].learn; learn != nil && status < 300 {
		learn(s, text)
	}
}

// ask sends a request and reads the whole answer.
func ask(client *http.Client, r *http.Request) (status int, body []byte, err error) {
	answer, err := client.Do(r)
	if err != nil {
		return 0, nil, err
	}
	defer answer.Body.Close()
	body, err = io.ReadAll(answer.Body)
	return answer.StatusCode, body, err
}

// note counts a request, unless it began too early.
func (s *sale) note(kind int, began time.Time, count func(*tally)) {
	if began.Sub(s.start) >= s.Skip {
		count(s.tallies[kind])
	}
}

// tell reports once a second.
func (s *sale) tell(ctx context.Context) {
	ticks := time.NewTicker(time.Second)
	defer ticks.Stop()
	for {
		select {
		case <-ticks.C:
			if r := s.result(); r.Elapsed > 0 {
				s.Progress(r)
			}
		case <-ctx.Done():
			return
		}
	}
}
