package main

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

const (
	soakClients = 64
	soakWriters = 48 // of the clients; the others read
)

// soakTest has many clients do everything to two servers on failing disks: one that is killed again and again, and one
// that lives through it all and must not grow.
func soakTest(ctx context.Context, p *proof) error {
	long := p.pick(p.soak, min(p.soak, 20*time.Second))
	harsh := newSoak(p, filepath.Join(p.work, "soak-killed"), "harsh", 0)
	gentle := newSoak(p, filepath.Join(p.work, "soak-steady"), "gentle", 20*time.Millisecond)
	var memory []int64
	err := each(2, func(i int) error {
		if i == 0 {
			return harsh.run(ctx, long, harsh.killNowAndThen)
		}
		return gentle.run(ctx, long, func(ctx context.Context) error {
			var err error
			memory, err = gentle.watch(ctx)
			return err
		})
	})
	if err != nil {
		return err
	}
	for _, s := range []*soak{harsh, gentle} {
		name := "9 soak of " + long.String() + ", server " + map[string]string{"harsh": "killed", "gentle": "never killed"}[s.failure] + ": "
		p.figure(name+"acknowledged", s.before().acked, fmt.Sprintf("%d writes, %d reads, %d refused", s.acked.Load(), s.reads.Load(), s.refused.Load()), "some", s.acked.Load() > 0 && s.reads.Load() > 0)
		p.figure(name+"kills and failures", s.before().kills, fmt.Sprintf("%d kills, %d ends by itself, %d starts; failures: %s", s.kills, s.deaths, s.starts, s.faults()), "some", len(s.failures) > 0 && (s.failure == "gentle" || s.kills > 0))
		p.figure(name+"lost", s.before().lost, fmt.Sprint(s.lost.Load()), "0", s.lost.Load() == 0)
	}
	p.figure("9 the server that is never killed ends", "0", fmt.Sprint(gentle.deaths), "0", gentle.deaths == 0)
	if early, late, ok := ages(memory); ok {
		p.figure("9 its memory, minute one and last", "120 MB, 129 MB: x 1.07", fmt.Sprintf("%s, %s: x %.2f", megabytes(early), megabytes(late), float64(late)/float64(early)), "<= x 1.10", float64(late) <= 1.1*float64(early))
	} else {
		p.skip("9 its memory, minute one and last", "the soak takes less than three minutes")
	}
	return nil
}

// soak is one server and its clients.
type soak struct {
	proof        *proof
	dir, failure string
	pause        time.Duration // between the requests of a client
	histories    []*history
	total        history // which all writers add to

	mu     sync.Mutex
	server *process
	up     chan struct{} // closed when there is a server to talk to

	acked, reads, refused, lost atomic.Int64
	kills, deaths, starts       int
	failures                    map[string]int
}

func newSoak(p *proof, dir, failure string, pause time.Duration) *soak {
	return &soak{
		proof: p, dir: dir, failure: failure, pause: pause, histories: newHistories(soakWriters),
		total: history{kind: "count", ids: []string{"total"}}, up: make(chan struct{}), failures: map[string]int{},
	}
}

// soakFigures are what the soak showed before.
type soakFigures struct{ acked, kills, lost string }

func (s *soak) before() soakFigures {
	if s.failure == "harsh" {
		return soakFigures{"24632 writes, 10862 reads", "55 kills, 22 ends by itself, 79 starts; failures: 6 of log, 23 of manifest, 4601 of table file", "0"}
	}
	return soakFigures{"38845 writes, 14111 reads", "0 kills, 0 ends by itself, 2 starts; failures: 0 of log, 0 of manifest, 3821 of table file", "0"}
}

// run has the clients work for a time while something happens to the server, and then looks for everything that was
// acknowledged, on a server whose disk works.
func (s *soak) run(ctx context.Context, long time.Duration, happening func(context.Context) error) error {
	if err := s.start(ctx); err != nil {
		return err
	}
	working, stop := context.WithTimeout(ctx, long)
	defer stop()
	// What a client has begun when the time is over is waited for: ctx lasts longer than working.
	var clients sync.WaitGroup
	for _, h := range s.histories {
		clients.Go(func() { s.keepWriting(ctx, working, h) })
	}
	for range soakClients - soakWriters {
		clients.Go(func() { s.keepReading(ctx, working) })
	}
	err := happening(working)
	clients.Wait()
	s.halt()
	if err := errors.Join(err, ctx.Err()); err != nil {
		return err
	}
	return s.verify(ctx)
}

// start starts a server, over and over if its disk does not let it start.
func (s *soak) start(ctx context.Context) error {
	for range 100 {
		server, err := s.proof.launchChild(s.dir, s.failure)
		if err != nil {
			return err
		}
		s.starts++
		if err := server.up(ctx, time.Minute); err == nil {
			err := createTable(ctx, client(server.url, 1, once), table)
			if exists := (*types.ResourceInUseException)(nil); err == nil || errors.As(err, &exists) {
				s.mu.Lock()
				s.server = server
				close(s.up)
				s.mu.Unlock()
				return nil
			}
		} else if errors.Is(err, errTooLate) {
			return err
		}
		server.kill()
		s.note(server)
		s.deaths++
		if err := ctx.Err(); err != nil {
			return err
		}
	}
	return errors.New("the server did not start in a hundred attempts")
}

// halt kills the server and lets clients wait for the next.
func (s *soak) halt() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.server == nil {
		return
	}
	s.server.kill()
	s.note(s.server)
	s.server, s.up = nil, make(chan struct{})
}

// note counts the failures that a server had.
func (s *soak) note(server *process) {
	for what, n := range server.stderr.noted() {
		s.failures[what] += n
	}
}

func (s *soak) faults() string {
	var all []string
	for _, what := range []string{"log", "manifest", "table file"} {
		all = append(all, fmt.Sprintf("%d of %s", s.failures[what], what))
	}
	return strings.Join(all, ", ")
}

// current waits until there is a server, and returns it.
func (s *soak) current(ctx context.Context) (*process, error) {
	for {
		s.mu.Lock()
		server, up := s.server, s.up
		s.mu.Unlock()
		if server != nil {
			return server, nil
		}
		select {
		case <-up:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}

// link is a client's connection to the server of the moment.
type link struct {
	server *process
	client *dynamodb.Client
}

// connect waits for a server and points the link at it, unless the time is over.
func (s *soak) connect(working context.Context, l *link) bool {
	server, err := s.current(working)
	if err != nil || working.Err() != nil {
		return false
	}
	if server != l.server {
		l.server, l.client = server, client(server.url, 1, once)
	}
	return true
}

// killNowAndThen kills the server every few seconds and starts it at once, also where it has ended by itself.
func (s *soak) killNowAndThen(ctx context.Context) error {
	for ctx.Err() == nil {
		s.mu.Lock()
		server := s.server
		s.mu.Unlock()
		select {
		case <-server.ended:
			s.deaths++
		case <-time.After(time.Duration(500+rand.IntN(5000)) * time.Millisecond):
			s.kills++
		case <-ctx.Done():
			return nil
		}
		s.halt()
		if err := s.start(context.WithoutCancel(ctx)); err != nil {
			return err
		}
	}
	return nil
}

// watch samples the memory of a server that must live, each second.
func (s *soak) watch(ctx context.Context) (memory []int64, err error) {
	server, err := s.current(ctx)
	if err != nil {
		return nil, err
	}
	for {
		select {
		case <-ctx.Done():
			return memory, nil
		case <-server.ended:
			s.deaths++
			return memory, fmt.Errorf("the server ended: %s", server.stderr.last())
		case <-time.After(time.Second):
			now, err := server.resident()
			if err == nil {
				memory = append(memory, now)
			} else if !server.wait(20 * time.Second) { // one that ends has no memory any more
				return memory, err
			}
		}
	}
}

// ages returns what the memory was at the end of minute one and at the end of all: the medians of half minutes.
func ages(memory []int64) (early, late int64, ok bool) {
	if len(memory) < 150 {
		return 0, 0, false
	}
	median := func(part []int64) int64 { return slices.Sorted(slices.Values(part))[len(part)/2] }
	return median(memory[40:70]), median(memory[len(memory)-30:]), true
}

// keepWriting takes a history from version to version until the time is over.
func (s *soak) keepWriting(ctx, working context.Context, h *history) {
	var l link
	for s.connect(working, &l) {
		version := h.begin()
		if err := h.write(ctx, l.client, version); err != nil {
			s.resume(ctx, working, h, &l)
			continue
		}
		h.settle(version)
		s.acked.Add(1)
		if version%10 == 0 {
			s.addToTotal(ctx, l.client)
		}
		_ = sleep(working, s.pause)
	}
}

// addToTotal adds one to the item that all writers add to.
func (s *soak) addToTotal(ctx context.Context, c *dynamodb.Client) {
	add := func(counter *int64) {
		s.total.mu.Lock()
		defer s.total.mu.Unlock()
		*counter++
	}
	add(&s.total.begun)
	if s.total.write(ctx, c, 1) == nil {
		add(&s.total.acked)
		s.acked.Add(1)
	}
}

// resume finds out what became of a write that was not acknowledged, on whichever server there is then.
func (s *soak) resume(ctx, working context.Context, h *history, l *link) {
	s.refused.Add(1)
	// If the time is over before, verify looks at it.
	for sleep(working, 50*time.Millisecond) == nil && s.connect(working, l) {
		found, err := h.read(ctx, l.client)
		if err != nil {
			continue
		}
		acked, begun := h.versions()
		version, why := h.wrong(found, acked, begun)
		if why != "" {
			s.lose(why)
			version = begun
		}
		h.settle(version)
		if h.kind == "batch" { // some of it may be a version ahead, which the next write overtakes
			h.mu.Lock()
			h.begun = begun
			h.mu.Unlock()
		}
		return
	}
}

// lose notes that something is not as it was acknowledged.
func (s *soak) lose(why string) {
	if s.lost.Add(1) <= 20 {
		progress("  lost: %s", why)
	}
}

// keepReading reads histories at random. What was acknowledged before a read began must be in it.
func (s *soak) keepReading(ctx, working context.Context) {
	var l link
	for s.connect(working, &l) {
		h := s.histories[rand.IntN(len(s.histories))]
		acked, _ := h.versions()
		found, err := h.read(ctx, l.client)
		if err != nil {
			_ = sleep(working, 50*time.Millisecond)
			continue
		}
		_, begun := h.versions() // since the read began, perhaps
		if _, why := h.wrong(found, acked, begun); why != "" {
			s.lose("read: " + why)
		}
		s.reads.Add(1)
		_ = sleep(working, s.pause)
	}
}

// verify looks for everything that was acknowledged, on a server whose disk works.
func (s *soak) verify(ctx context.Context) error {
	failure := s.failure
	s.failure = "none"
	err := s.start(ctx)
	s.failure = failure
	if err != nil {
		return err
	}
	defer s.halt()
	server, err := s.current(ctx)
	if err != nil {
		return err
	}
	c := client(server.url, 1)
	known := map[string]bool{"total": true}
	for _, h := range append(s.histories, &s.total) {
		found, err := h.read(ctx, c)
		if err != nil {
			return err
		}
		acked, begun := h.versions()
		if _, why := h.wrong(found, acked, begun); why != "" {
			s.lose("at the end: " + why)
		}
		for _, id := range h.ids {
			known[id] = true
		}
	}
	pages := dynamodb.NewScanPaginator(c, &dynamodb.ScanInput{TableName: aws.String(table), ConsistentRead: aws.Bool(true)})
	for pages.HasMorePages() {
		page, err := pages.NextPage(ctx)
		if err != nil {
			return err
		}
		for _, it := range page.Items {
			if id, ok := it["id"].(*types.AttributeValueMemberS); !ok || !known[id.Value] {
				s.lose(fmt.Sprintf("nobody wrote %v", it["id"]))
			}
		}
	}
	return nil
}
