package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/heatsink-go/heatsink/internal/proof/scenario"
)

// walk does what somebody new does next: it follows docs/guide.md in a shell, and starts, loads and watches examples/shop. What must
// come out is said by the tests of both, which it runs. Here are the steps and their times.
func walk(ctx context.Context, p *proof) error {
	guide, err := tests(ctx, "./internal/docs", `^TestSessions$/^docs$/^guide\.md$`)
	if err != nil {
		return err
	}
	for _, s := range guide.steps {
		p.Tell("docs/guide.md, "+s.what, seconds(s.took))
	}
	p.Must("docs/guide.md, followed from its first command to its last", guide.outcome(), "ok, with its steps", guide.passed && len(guide.steps) > 3)
	if guide.busy {
		p.Skip("docs/guide.md: the key throttles with the SDK and is cool with heatsink", "this machine could not offer the guide's load")
	}
	shop, err := tests(ctx, "./examples/shop", "")
	if err != nil {
		return err
	}
	for _, s := range shop.tests {
		p.Tell("examples/shop, "+s.what, seconds(s.took))
	}
	p.Must("examples/shop, its own tests", shop.outcome(), "ok", shop.passed && len(shop.tests) > 0)
	return shopping(ctx, p)
}

// step is a part of a walk.
type step struct {
	what string
	took float64 // seconds
}

// tested is what came of the tests of a package.
type tested struct {
	passed bool
	busy   bool // the machine was too busy to judge what depends on its speed
	took   float64
	tests  []step // tests, but not their parts
	steps  []step // what tests log as such
	failed []string
}

func (t *tested) outcome() string {
	if t.passed {
		return fmt.Sprintf("ok in %s", seconds(t.took))
	}
	return "failed: " + strings.Join(t.failed, ", ")
}

// tests runs tests of a package. Their output goes to stderr if one fails.
func tests(ctx context.Context, dir, only string) (t tested, err error) {
	cmd := exec.CommandContext(ctx, "go", "test", "-json", "-count=1", "-v", "-vet=off", "-timeout", "20m", "-run", only, dir)
	out, failed := cmd.Output()
	if err := t.read(out); err != nil {
		return t, fmt.Errorf("go test %s: %w, %w", dir, failed, err)
	}
	if t.passed = failed == nil && len(t.failed) == 0; !t.passed {
		if _, err := os.Stderr.Write(out); err != nil {
			return t, err
		}
	}
	return t, nil
}

var logged = regexp.MustCompile(`step: ([\d.]+) s, (.*)`)

// read takes what go test -json prints.
func (t *tested) read(out []byte) error {
	lines := bufio.NewScanner(bytes.NewReader(out))
	lines.Buffer(nil, len(out)+1)
	for lines.Scan() {
		var e struct {
			Action, Test, Output string
			Elapsed              float64
		}
		if err := json.Unmarshal(lines.Bytes(), &e); err != nil {
			return fmt.Errorf("%q: %w", lines.Text(), err)
		}
		whole := e.Test != "" && !strings.Contains(e.Test, "/")
		switch {
		case e.Action == "fail" && e.Test != "":
			t.failed = append(t.failed, e.Test)
		case e.Action == "fail" && len(t.failed) == 0:
			t.failed = append(t.failed, "the package")
		case e.Action == "pass" && whole:
			t.tests = append(t.tests, step{e.Test, e.Elapsed})
		case e.Action == "pass" && e.Test == "":
			t.took = e.Elapsed
		case e.Action == "output":
			t.busy = t.busy || strings.Contains(e.Output, "too busy to judge the loads: true")
			if found := logged.FindStringSubmatch(e.Output); found != nil {
				took, err := strconv.ParseFloat(found[1], 64)
				if err != nil {
					return err
				}
				t.steps = append(t.steps, step{found[2], took})
			}
		}
	}
	return lines.Err()
}

// How long a sale of the walk is, and which part of it is not counted: in it the product's views are under one key in either way.
const (
	saleTime = 10 * time.Second
	saleSkip = 4 * time.Second
)

// shopping starts the shop both ways, opens its page and holds a sale, as its README tells.
func shopping(ctx context.Context, p *proof) error {
	for _, name := range []string{"shop", "load"} {
		dir := map[string]string{"shop": "./examples/shop", "load": "./examples/shop/load"}[name]
		if out, err := exec.CommandContext(ctx, "go", "build", "-o", filepath.Join(p.work, name), dir).CombinedOutput(); err != nil {
			return fmt.Errorf("go build %s: %w: %s", dir, err, out)
		}
	}
	naive, err := sale(ctx, p, "-naive")
	if err != nil {
		return err
	}
	ours, err := sale(ctx, p)
	if err != nil {
		return err
	}
	p.Tell("examples/shop -naive, a sale", naive.String())
	p.Tell("examples/shop, the same sale", ours.String())
	p.None("requests of both that failed", naive.failed+ours.failed, naive.done+ours.done)
	if unsent := naive.unsent + ours.unsent; unsent > (naive.done+ours.done)/50 {
		p.Skip("examples/shop: the sale throttles with one key each, and not with heatsink", fmt.Sprintf("this machine could not send %d requests a second of it", unsent))
		return nil
	}
	p.Must("throttled with heatsink, of those throttled with one key each", fmt.Sprintf("%d of %d a second", ours.throttled, naive.throttled),
		"some, and less than a tenth of them", naive.throttled > 0 && ours.throttled*10 < naive.throttled)
	return nil
}

// sold is what became of a sale, a second.
type sold struct{ done, throttled, failed, unsent int }

func (s sold) String() string {
	return fmt.Sprintf("%d requests a second done, %d throttled, %d failed, %d unsent", s.done, s.throttled, s.failed, s.unsent)
}

var shopAddress = regexp.MustCompile(`shop=(http://\S+)`)

// sale starts the shop, holds a sale and ends the shop.
func sale(ctx context.Context, p *proof, args ...string) (total sold, err error) {
	shop := exec.CommandContext(ctx, filepath.Join(p.work, "shop"), append(args, "-addr", "127.0.0.1:0")...)
	shop.Env = append(os.Environ(), "SHOP_TOKEN_KEY=0123456789abcdef")
	shop.Cancel = func() error { return shop.Process.Signal(os.Interrupt) }
	shop.WaitDelay = 30 * time.Second
	log, err := shop.StderrPipe()
	if err == nil {
		err = shop.Start()
	}
	if err != nil {
		return total, fmt.Errorf("the shop does not start: %w", err)
	}
	began, url := time.Now(), ""
	lines := bufio.NewScanner(log)
	for url == "" && lines.Scan() {
		if found := shopAddress.FindStringSubmatch(lines.Text()); found != nil {
			url = found[1]
		}
	}
	read := make(chan struct{})
	go func() { // nobody waits for the rest of its log
		defer close(read)
		_, _ = io.Copy(io.Discard, log)
	}()
	defer func() {
		err = errors.Join(err, shop.Process.Signal(os.Interrupt))
		<-read
		err = errors.Join(err, shop.Wait())
	}()
	if url == "" {
		return total, errors.New("the shop told no address")
	}
	p.Tell(strings.TrimSpace("go run ./examples/shop "+strings.Join(args, " "))+", until it answers, built before", seconds(time.Since(began).Seconds()))
	if err := opens(ctx, url+"/heat/"); err != nil {
		return total, err
	}
	load := exec.CommandContext(ctx, filepath.Join(p.work, "load"), "-url", url, "-for", saleTime.String(), "-skip", saleSkip.String())
	out, err := load.CombinedOutput()
	if err != nil {
		return total, fmt.Errorf("the sale: %w: %s", err, scenario.End(string(out)))
	}
	fmt.Fprintf(p.Out, "%s\n", out)
	return soldIn(string(out))
}

// opens wants a page of HTML.
func opens(ctx context.Context, url string) error {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, url, http.NoBody)
	if err != nil {
		return err
	}
	r.Header.Set("Accept", "text/html")
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	if err != nil {
		return err
	}
	if answer.StatusCode != http.StatusOK || !bytes.Contains(text, []byte("<html")) {
		return fmt.Errorf("%s: %s, %d bytes: want a page", url, answer.Status, len(text))
	}
	return nil
}

// soldIn adds up the table of the load program: its second column is what was done, and so on.
func soldIn(text string) (total sold, err error) {
	rows := 0
	for line := range strings.Lines(text) {
		cells := strings.Split(strings.TrimSpace(line), "|")
		if len(cells) < 7 {
			continue
		}
		var figures [5]int // done, throttled, limited, failed, unsent
		for i := range figures {
			if figures[i], err = strconv.Atoi(strings.TrimSpace(cells[i+2])); err != nil {
				break // the head of the table
			}
		}
		if err != nil {
			continue
		}
		rows++
		total.done, total.throttled, total.failed, total.unsent = total.done+figures[0], total.throttled+figures[1], total.failed+figures[3], total.unsent+figures[4]
	}
	if rows == 0 {
		return total, fmt.Errorf("the sale prints no table: %s", scenario.End(text))
	}
	return total, nil
}
