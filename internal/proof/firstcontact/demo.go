package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/heatsink-go/heatsink/internal/proof/scenario"
)

// demo does what the README tells first: it clones the repository and runs the demo, with a home and caches that are empty. What is
// not committed is not cloned.
func demo(ctx context.Context, p *proof) error {
	out, err := exec.CommandContext(ctx, "git", "rev-parse", "--show-toplevel").Output()
	if err != nil {
		return fmt.Errorf("git rev-parse: %w", err)
	}
	root := strings.TrimSpace(string(out))
	fresh := newcomer{ctx: ctx, home: filepath.Join(p.work, "home"), clone: filepath.Join(p.work, "clone")}
	if err := os.Mkdir(fresh.home, 0o700); err != nil {
		return err
	}
	cloned, text, err := fresh.do(p.work, "git", "clone", "--quiet", "--no-hardlinks", root, fresh.clone)
	if err != nil {
		return fmt.Errorf("git clone: %w: %s", err, scenario.End(text))
	}
	p.Tell("git clone", seconds(cloned.Seconds()))
	// go run does this first. Here it is a step of its own, so that it can be timed.
	built, text, err := fresh.do(fresh.clone, "go", "build", "-o", filepath.Join(fresh.home, "heatsink"), "./cmd/heatsink")
	if err != nil {
		return fmt.Errorf("go build: %w: %s", err, scenario.End(text))
	}
	p.Tell("fetching the modules and building, with empty caches", seconds(built.Seconds()))
	seen := &sights{began: time.Now()}
	ran, err := fresh.watch(seen, fresh.clone, "go", "run", "./cmd/heatsink", "demo")
	p.Must("go run ./cmd/heatsink demo", outcome(err), "exit code 0", err == nil)
	p.Must("a partition throttles on the screen, after", within(seen.hot), soon, seen.hot > 0 && seen.hot <= time.Minute)
	p.Must("the same load is spread and nothing is throttled, after", within(seen.cool), soon, seen.cool > 0 && seen.cool <= time.Minute)
	p.Tell("the demo, with linking it", seconds(ran.Seconds()))
	p.Tell("from nothing to the end of the demo", seconds((cloned + built + ran).Seconds()))
	fmt.Fprintf(p.Out, "%s\n", &seen.text)
	return nil
}

const soon = "a minute at most from go run, after the build"

func within(d time.Duration) string {
	if d == 0 {
		return "never"
	}
	return seconds(d.Seconds())
}

// sights is the screen of a demo, and when somebody who looks at it sees what it is about.
type sights struct {
	began     time.Time
	text      bytes.Buffer
	line      []byte        // that is being written
	hot, cool time.Duration // from the start: 0 is not yet
}

// second is a line of the demo about one second: what was offered, accepted and refused, and the requests that were throttled.
var second = regexp.MustCompile(`^ +\d+ s +([\d,]+) +([\d,]+) +([\d,]+) +([\d,]+) `)

// Write looks at what is printed.
func (s *sights) Write(text []byte) (int, error) {
	s.text.Write(text)
	for _, b := range text {
		if s.line = append(s.line, b); b == '\n' {
			s.look(string(s.line))
			s.line = nil
		}
	}
	return len(text), nil
}

// look looks at a line. It is hot when most of the load is refused, and cool when nothing is, of a load that one partition cannot take.
func (s *sights) look(line string) {
	found := second.FindStringSubmatch(line)
	if found == nil {
		return
	}
	var figures [4]float64
	for i := range figures {
		n, err := strconv.ParseFloat(strings.ReplaceAll(found[i+1], ",", ""), 64)
		if err != nil {
			return
		}
		figures[i] = n
	}
	offered, accepted, refused, throttled := figures[0], figures[1], figures[2], figures[3]
	switch {
	case s.hot == 0 && throttled > 0 && refused > offered/2:
		s.hot = time.Since(s.began)
	case s.hot > 0 && s.cool == 0 && refused == 0 && accepted > 2*partitionWrites:
		s.cool = time.Since(s.began)
	}
}

// outcome is how a command ended.
func outcome(err error) string {
	if err != nil {
		return err.Error()
	}
	return "exit code 0"
}

// newcomer is somebody who has Go and git, and nothing of ours.
type newcomer struct {
	ctx         context.Context
	home, clone string
}

// do runs a command in a directory, and returns how long it took and what it printed.
func (n *newcomer) do(dir, name string, args ...string) (took time.Duration, text string, err error) {
	var out bytes.Buffer
	took, err = n.watch(&out, dir, name, args...)
	return took, out.String(), err
}

// watch is do for somebody who looks at what is printed.
func (n *newcomer) watch(out io.Writer, dir, name string, args ...string) (took time.Duration, err error) {
	cmd := exec.CommandContext(n.ctx, name, args...)
	cmd.Dir = dir
	cmd.Env = n.environment(os.Environ())
	cmd.Stdout, cmd.Stderr = out, out
	began := time.Now()
	err = cmd.Run()
	return time.Since(began), err
}

// environment keeps how this machine reaches others, and leaves out what Go and git have been told otherwise.
func (n *newcomer) environment(all []string) []string {
	var env []string
	for _, e := range all {
		name, _, _ := strings.Cut(e, "=")
		switch {
		case name == "GOPROXY", name == "GONOSUMDB", name == "GOSUMDB", name == "GONOSUMCHECK", name == "GOTOOLCHAIN":
			env = append(env, e)
		case strings.HasPrefix(name, "GO"), strings.HasPrefix(name, "GIT_"), strings.HasPrefix(name, "XDG_"), strings.HasPrefix(name, "AWS_"), name == "HOME":
		default:
			env = append(env, e)
		}
	}
	// Go makes its module cache read-only unless it is told not to, and it would stay behind.
	return append(env, "HOME="+n.home, "GOMODCACHE="+filepath.Join(n.home, "mod"), "GOCACHE="+filepath.Join(n.home, "build"), "GOFLAGS=-modcacherw")
}
