// Server prints what make proof-server shows: that heatsink serve stays up, bounded and closed. It runs each attack of an
// outside trial against the built command, over real sockets and on a disk that is really full, and measures what happens.
// It ends with one JSON object, and exits with 1 if a number that must hold does not.
//
// The figures under "before" are of commit f1b77ff, each of one run on two cores that others kept busy. They were measured
// by this program with -binary; where it runs a server of its own (1d, the missing log, 8 and 9), with that commit's packages.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/heatsink-go/heatsink/internal/proof/scenario"
)

func main() {
	if len(os.Args) > 1 && os.Args[1] == childMode {
		os.Exit(child(os.Args[2:]))
	}
	p := &proof{Board: scenario.New(os.Stdout)}
	p.Numbered = true
	binary := flag.String("binary", "", "a heatsink to attack; none: it is built from this source")
	only := flag.String("only", "", "scenarios to run, such as 1,3; none: all")
	flag.BoolVar(&p.quick, "quick", false, "small sizes and short times: shows that the proof works, not that the server does")
	flag.IntVar(&p.inputs, "inputs", 10_000_000, "inputs on which the two HTTP lanes are compared")
	flag.DurationVar(&p.soak, "soak", 5*time.Minute, "how long the soak takes")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	// Who no longer reads what the proof prints must not keep it from unmounting its disk.
	signal.Notify(make(chan os.Signal, 1), syscall.SIGPIPE)
	ok := p.run(ctx, *binary, *only)
	stop()
	if !ok {
		os.Exit(1)
	}
}

// proof collects what was shown.
type proof struct {
	binary string // the command under attack
	work   string // a directory for everything that is written
	quick  bool
	inputs int
	soak   time.Duration
	mu     sync.Mutex
	ending []func() // undo what was done to the machine, the last first; guarded by mu

	Quick bool `json:"quick,omitempty"`
	scenario.Board
}

var scenarios = []scenario.Scenario[*proof]{
	{Name: "1", Title: "a full disk", Run: fullDisk},
	{Name: "2", Title: "idle connections at the limit of file descriptors", Run: connections},
	{Name: "3", Title: "bytes in flight", Run: bytesInFlight},
	{Name: "4", Title: "names that are rebound, and foreign origins", Run: rebinding},
	{Name: "5", Title: "locks after a panic", Run: locks},
	{Name: "6", Title: "smaller attacks", Run: smaller},
	{Name: "7", Title: "two HTTP lanes that agree", Run: lanes},
	{Name: "8", Title: "virtual time in which nothing happens", Run: idleTime},
	{Name: "9", Title: "a soak with kills and failing disks", Run: soakTest},
}

// run shows the scenarios that were chosen, and reports whether everything holds.
func (p *proof) run(ctx context.Context, binary, only string) bool {
	p.Quick = p.quick
	defer p.cleanUp() // also if something panics
	chosen, err := scenario.Choose(&p.Board, scenarios, only)
	if err == nil {
		err = p.prepare(ctx, binary)
	}
	p.Check(err == nil, "prepare: %v", err)
	if err == nil {
		for _, s := range chosen {
			scenario.Show(ctx, &p.Board, p, s)
		}
	}
	p.cleanUp()
	return p.End(p.Out, p)
}

// prepare builds the command unless there is one.
func (p *proof) prepare(ctx context.Context, binary string) (err error) {
	if p.work, err = os.MkdirTemp("", "heatsink-proof-"); err != nil {
		return err
	}
	work := p.work
	p.atEnd(func() { _ = os.RemoveAll(work) })
	if binary != "" {
		p.binary, err = filepath.Abs(binary)
		return err
	}
	p.binary = filepath.Join(p.work, "heatsink")
	progress("building cmd/heatsink")
	if out, err := exec.CommandContext(ctx, "go", "build", "-o", p.binary, "./cmd/heatsink").CombinedOutput(); err != nil {
		return fmt.Errorf("go build ./cmd/heatsink: %w: %s", err, out)
	}
	return nil
}

// figure notes a number that must hold.
func (p *proof) figure(what, before, after, want string, holds bool) {
	p.Note(scenario.Figure{What: what, Before: &before, After: after, Want: want, Holds: holds})
	progress("  %s: %s (before: %s)", what, after, before)
}

// tell notes a number that nothing is asked of.
func (p *proof) tell(what, before, after string) { p.figure(what, before, after, "", true) }

// skip notes what could not be shown on this machine, which is no failure.
func (p *proof) skip(what, why string) {
	p.tell(what, "", "skipped: "+why)
	p.Skip(what, why)
}

// atEnd has something undone when the proof ends, however it ends.
func (p *proof) atEnd(f func()) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.ending = append(p.ending, f)
}

// cleanUp undoes what was done to the machine, once.
func (p *proof) cleanUp() {
	p.mu.Lock()
	undo := p.ending
	p.ending = nil
	p.mu.Unlock()
	for _, f := range slices.Backward(undo) {
		f()
	}
}

// of returns "n of m".
func of[N int | int64](n, m N) string { return fmt.Sprintf("%d of %d", n, m) }

// seconds writes a time so that people can compare it.
func seconds(d time.Duration) string { return fmt.Sprintf("%.2f s", d.Seconds()) }

// megabytes writes a number of bytes likewise.
func megabytes(n int64) string { return fmt.Sprintf("%d MB", n/1_000_000) }

// sleep waits, or returns the context's error.
func sleep(ctx context.Context, d time.Duration) error {
	select {
	case <-time.After(d):
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// firstLine is what an error says first.
func firstLine(err error) string {
	line, _, _ := strings.Cut(err.Error(), "\n")
	return line
}

var errTooLate = errors.New("it takes too long")

// progress tells people that something is going on.
func progress(format string, args ...any) { scenario.Progress(format, args...) }
