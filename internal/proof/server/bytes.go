package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
)

const (
	mostMemory = 600_000_000 // that a server may ever occupy during an attack
	fullBody   = 16 << 20
)

// flood is an attack by the bytes that requests and answers take while they are under way.
type flood struct {
	name   string
	before [2]floodFigures // in memory, and with a directory
	run    func(*attack, context.Context) error
}

// floodFigures are what a flood did to the server of before.
type floodFigures struct{ peak, polite, large string }

var floods = []flood{
	{"nothing", [2]floodFigures{{"85 MB", "p99 0.01 s, 0 failed", ""}, {"86 MB", "p99 0.03 s, 0 failed", ""}}, (*attack).nothing},
	{"60 unfinished bodies of 17 MB, wrongly signed", [2]floodFigures{{"1909 MB", "p99 0.02 s, 0 failed", "answered after 4.79 s"}, {"2229 MB", "p99 0.27 s, 0 failed", "answered after 8.51 s"}}, (*attack).unfinished},
	{"20 batches of 16 MB", [2]floodFigures{{"1301 MB", "p99 7.72 s, 0 failed", ""}, {"1262 MB", "p99 2.75 s, 0 failed", ""}}, (*attack).batches},
	{"20 bodies of 16 MB of garbage, signed", [2]floodFigures{{"1312 MB", "p99 0.61 s, 0 failed", ""}, {"1061 MB", "p99 0.42 s, 0 failed", ""}}, (*attack).garbage},
	{"50 answers of 16 MB that nobody reads", [2]floodFigures{{"3412 MB", "p99 2.90 s, 0 failed", ""}, {"2897 MB", "p99 4.94 s, 0 failed", ""}}, (*attack).unread},
	{"all at once", [2]floodFigures{{"5625 MB", "p99 4.95 s, 0 failed", "answered after 21.92 s"}, {"7061 MB", "p99 5.38 s, 0 failed", "answered after 18.34 s"}}, (*attack).everything},
}

// bytesInFlight floods servers, each with one flood, while a well-behaved client goes on.
func bytesInFlight(ctx context.Context, p *proof) error {
	for i, flood := range floods {
		for j, kind := range []string{"memory", "directory"} {
			if p.quick && j != i%2 {
				continue
			}
			var args []string
			if kind == "directory" {
				args = []string{"--data", filepath.Join(p.work, fmt.Sprint("flood-", i))}
			}
			if err := p.flood(ctx, flood, flood.before[j], "3 "+flood.name+", "+kind, args); err != nil {
				return fmt.Errorf("%s, %s: %w", flood.name, kind, err)
			}
		}
	}
	return nil
}

// attack is a flood under way.
type attack struct {
	server *process
	hold   time.Duration // how long what does not end is held
	small  bool

	batchesSent, batchesDone atomic.Int64
	large                    atomic.Int64 // nanoseconds that a signed batch of 16 MB took beside wrongly signed ones; 0: never answered
}

func (p *proof) flood(ctx context.Context, f flood, before floodFigures, name string, args []string) error {
	s, err := p.serve(ctx, launch{args: args, env: signed})
	if err != nil {
		return err
	}
	defer s.kill()
	c := client(s.url, 8)
	if err := createTable(ctx, c, table); err != nil {
		return err
	}
	a := &attack{server: s, hold: p.pick(8*time.Second, 2*time.Second), small: p.quick}
	if err := a.fill(ctx, c); err != nil {
		return err
	}
	polite, err := beside(ctx, c, func() error { return f.run(a, ctx) })
	if err != nil && s.alive() {
		return err
	}
	if !s.alive() {
		p.figure(name+": the server", before.peak, "ended: "+s.stderr.last(), "lives", false)
		return nil
	}
	peak, err := s.peak()
	if err != nil {
		return err
	}
	p.figure(name+": peak memory", before.peak, megabytes(peak), "<= "+megabytes(mostMemory), peak <= mostMemory)
	what := fmt.Sprintf("%d answered, %s, %d failed", len(polite.took), polite, polite.failed)
	if polite.firstErr != nil {
		progress("  a polite client got: %v", polite.firstErr)
	}
	p.figure(name+": a polite client", before.polite, what, "p99 <= 3 s, 0 failed", polite.failed == 0 && len(polite.took) > 0 && polite.at(0.99) <= 3*time.Second)
	if sent := a.batchesSent.Load(); sent > 0 {
		p.figure(name+": batches acknowledged", "20 of 20", of(a.batchesDone.Load(), sent), "all", a.batchesDone.Load() == sent)
	}
	if large := time.Duration(a.large.Load()); large != 0 {
		what := "not answered"
		if large > 0 {
			what = "answered after " + seconds(large)
		}
		p.figure(name+": a signed batch of 16 MB meanwhile", before.large, what, "answered in < 15 s", large > 0 && large < 15*time.Second)
	}
	return nil
}

// fill stores what answers of 16 MB are made of.
func (a *attack) fill(ctx context.Context, c *dynamodb.Client) error {
	payload := strings.Repeat("y", 390<<10)
	for i := range 41 {
		_, err := c.PutItem(ctx, &dynamodb.PutItemInput{TableName: aws.String(table), Item: item("id", fmt.Sprint("large-", i), "payload", payload)})
		if err != nil {
			return err
		}
	}
	return nil
}

// each runs f so many times at once, and returns the first error.
func each(n int, f func(i int) error) error {
	faults := make([]error, n)
	var all sync.WaitGroup
	for i := range n {
		all.Go(func() { faults[i] = f(i) })
	}
	all.Wait()
	return errors.Join(faults...)
}

// unfinished sends all of a body but its last byte, under a signature that is wrong.
func (a *attack) unfinished(ctx context.Context) error {
	body := bytes.Repeat([]byte("x"), 17_000_000)
	head, err := rawRequest(ctx, a.server.url, "PutItem", body, true)
	if err != nil {
		return err
	}
	sent := make(chan error, 1)
	go func() {
		sent <- each(60, func(int) error { return a.hang(ctx, head, body[:len(body)-1], a.hold) })
	}()
	// Who is signed must get through meanwhile.
	if err := sleep(ctx, time.Second); err != nil {
		return errors.Join(err, <-sent)
	}
	began := time.Now()
	if err := a.batch(ctx, 100); err == nil {
		a.large.Store(int64(time.Since(began)))
	} else {
		progress("  a signed batch of 16 MB: %v", err)
		a.large.Store(-1)
	}
	return <-sent
}

// hang sends bytes and then neither sends nor reads, as long as the server lets it. That the server does not let it is
// no error.
func (a *attack) hang(ctx context.Context, head, body []byte, hold time.Duration) error {
	dialer := &net.Dialer{Timeout: 10 * time.Second}
	conn, err := dialer.DialContext(ctx, "tcp", a.server.addr())
	if err != nil {
		return nil
	}
	defer conn.Close()
	defer context.AfterFunc(ctx, func() { _ = conn.Close() })()
	if tcp, ok := conn.(*net.TCPConn); ok {
		_ = tcp.SetReadBuffer(4096)
	}
	_ = conn.SetWriteDeadline(time.Now().Add(hold + 5*time.Second))
	if _, err := conn.Write(head); err != nil {
		return nil
	}
	if _, err := conn.Write(body); err != nil {
		return nil
	}
	return sleep(ctx, hold)
}

// batchBody is a BatchWriteItem of 25 items that is 16 MB long, as every character is escaped. Stored it is a sixth of
// that, so that what is measured is what is under way.
func batchBody(n int) []byte {
	const items = 25
	value := strings.Repeat(`\u0078`, (fullBody-items*200)/items/6)
	var b bytes.Buffer
	b.WriteString(`{"RequestItems":{"` + table + `":[`)
	for i := range items {
		if i > 0 {
			b.WriteString(",")
		}
		fmt.Fprintf(&b, `{"PutRequest":{"Item":{"id":{"S":"batch-%d-%d"},"payload":{"S":"%s"}}}}`, n, i, value)
	}
	b.WriteString("]}}")
	return b.Bytes()
}

// batch sends a batch of 16 MB until it is acknowledged, as an SDK does: up to five times.
func (a *attack) batch(ctx context.Context, n int) (err error) {
	body := batchBody(n)
	web := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}, Timeout: time.Minute}
	for attempt := range 5 {
		var r *http.Request
		if r, err = signRequest(ctx, a.server.url, "BatchWriteItem", body); err != nil {
			return err
		}
		var response *http.Response
		if response, err = web.Do(r); err == nil {
			text, readErr := io.ReadAll(io.LimitReader(response.Body, 1000))
			_ = response.Body.Close()
			if response.StatusCode == http.StatusOK && readErr == nil {
				return nil
			}
			if err = fmt.Errorf("batch %d: %s: %s", n, response.Status, text); response.StatusCode < 500 {
				return err
			}
		}
		if err := sleep(ctx, time.Duration(rand.IntN(200<<attempt))*time.Millisecond); err != nil {
			return err
		}
	}
	return err
}

func (a *attack) batches(ctx context.Context) error {
	n := 20
	if a.small {
		n = 6
	}
	return each(n, func(i int) error {
		a.batchesSent.Add(1)
		if err := a.batch(ctx, i); err != nil {
			progress("  %v", err)
			return ctx.Err()
		}
		a.batchesDone.Add(1)
		return nil
	})
}

// garbage sends what is signed and is no request: bytes, and JSON that is expensive to skip.
func (a *attack) garbage(ctx context.Context) error {
	noise := make([]byte, fullBody)
	_, _ = rand.NewChaCha8([32]byte{}).Read(noise)
	shapes := [][]byte{
		noise,
		[]byte(`{"RequestItems":{"x":[` + strings.Repeat("{},", fullBody/3-20) + `{}]}}`),
		[]byte(`{"Item":` + strings.Repeat(`{"L":[`, fullBody/6-20)),
		[]byte(`{"Key":{"id":{"SS":[` + strings.Repeat(`"",`, fullBody/3-20) + `""]}}}`),
	}
	operations := []string{"PutItem", "BatchWriteItem", "PutItem", "GetItem"}
	n := 20
	if a.small {
		n = 8
	}
	web := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}, Timeout: time.Minute}
	return each(n, func(i int) error {
		r, err := signRequest(ctx, a.server.url, operations[i%4], shapes[i%4])
		if err != nil {
			return err
		}
		response, err := web.Do(r)
		if err != nil {
			return ctx.Err() // whatever the server does with it
		}
		defer response.Body.Close()
		if response.StatusCode == http.StatusOK {
			return fmt.Errorf("garbage %d was taken for a request", i%4)
		}
		return nil
	})
}

// unread asks for answers of 16 MB and does not read them.
func (a *attack) unread(ctx context.Context) error {
	var keys []string
	for i := range 41 {
		keys = append(keys, fmt.Sprintf(`{"id":{"S":"large-%d"}}`, i))
	}
	body := []byte(`{"RequestItems":{"` + table + `":{"Keys":[` + strings.Join(keys, ",") + `]}}}`)
	head, err := rawRequest(ctx, a.server.url, "BatchGetItem", body, false)
	if err != nil {
		return err
	}
	return each(50, func(int) error { return a.hang(ctx, head, body, a.hold) })
}

func (a *attack) everything(ctx context.Context) error {
	all := []func(context.Context) error{a.unfinished, a.batches, a.garbage, a.unread}
	return each(len(all), func(i int) error { return all[i](ctx) })
}

// nothing is what a server takes by itself.
func (a *attack) nothing(ctx context.Context) error { return sleep(ctx, 3*time.Second) }
