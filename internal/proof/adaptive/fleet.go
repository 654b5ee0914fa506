package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"sync"
	"syscall"
	"time"

	"github.com/heatsink-go/heatsink"
)

// fleet is several processes that write and read the same keys, and what they told.
type fleet struct {
	like    membership // of all members, but for the number
	members []*runningMember
	last    int // the number of the last process

	mu     sync.Mutex
	events []event

	began time.Time // by both clocks of the machine
}

// runningMember is a process of the fleet.
type runningMember struct {
	cmd    *exec.Cmd
	stderr bytes.Buffer
	ended  chan struct{} // closed when all that it told is known
}

// newFleet starts a fleet.
func newFleet(like membership, size int) (*fleet, error) {
	f := &fleet{like: like, members: make([]*runningMember, size), began: time.Now()}
	for i := range f.members {
		if err := f.start(i); err != nil {
			f.kill()
			return nil, err
		}
	}
	return f, nil
}

// start starts a process in a place of the fleet.
func (f *fleet) start(i int) error {
	self, err := os.Executable()
	if err != nil {
		return err
	}
	f.last++
	is := f.like
	is.Writer = f.last
	told, err := json.Marshal(is)
	if err != nil {
		return err
	}
	m := &runningMember{cmd: exec.Command(self, memberMode, string(told)), ended: make(chan struct{})}
	m.cmd.Stderr = &m.stderr
	out, err := m.cmd.StdoutPipe()
	if err != nil {
		return err
	}
	if err := m.cmd.Start(); err != nil {
		return err
	}
	go func() { // stop and kill wait for it
		defer close(m.ended)
		lines := bufio.NewScanner(out)
		lines.Buffer(nil, 64<<20)
		for lines.Scan() {
			var e event
			if json.Unmarshal(lines.Bytes(), &e) != nil {
				continue // the last line of a process that was killed
			}
			f.mu.Lock()
			f.events = append(f.events, e)
			f.mu.Unlock()
		}
		_ = m.cmd.Wait() // its state says what became of it
	}()
	f.members[i] = m
	return nil
}

// signal sends a signal to a process, by its name for kill(1), which every Unix has. SIGSTOP and SIGCONT are not on all platforms.
func (m *runningMember) signal(ctx context.Context, name string) error {
	out, err := exec.CommandContext(ctx, "kill", "-"+name, strconv.Itoa(m.cmd.Process.Pid)).CombinedOutput()
	if err != nil {
		return fmt.Errorf("kill -%s: %w: %s", name, err, out)
	}
	return nil
}

// terminate ends a process as a deployment does.
func (f *fleet) terminate(m *runningMember) error {
	if err := m.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		return err
	}
	select {
	case <-m.ended:
	case <-time.After(time.Minute):
		_ = m.cmd.Process.Kill() // it may have ended now
		<-m.ended
		return fmt.Errorf("a process did not end within a minute: %s", m.stderr.String())
	}
	if !m.cmd.ProcessState.Success() {
		return fmt.Errorf("a process ended with %v: %s", m.cmd.ProcessState, m.stderr.String())
	}
	return nil
}

// restart replaces a process, as a deployment does or after it was killed.
func (f *fleet) restart(i int, killed bool) error {
	m := f.members[i]
	if killed {
		_ = m.cmd.Process.Kill() // a process that has ended is noticed below
		<-m.ended
		if m.cmd.ProcessState.Exited() {
			return fmt.Errorf("a process ended by itself: %v: %s", m.cmd.ProcessState, m.stderr.String())
		}
	} else if err := f.terminate(m); err != nil {
		return err
	}
	return f.start(i)
}

// end ends all processes.
func (f *fleet) end() error {
	for _, m := range f.members {
		if err := f.terminate(m); err != nil {
			return err
		}
	}
	// Times of several processes are compared, by the machine's clock. Nothing is shown if somebody has set it meanwhile.
	wall, steady := time.Now().Round(0).Sub(f.began.Round(0)), time.Since(f.began)
	if apart := (wall - steady).Abs(); apart > 50*time.Millisecond {
		return fmt.Errorf("the machine's clock was set by %v during the run: run it again", apart)
	}
	return nil
}

// kill ends what still runs.
func (f *fleet) kill() {
	for _, m := range f.members {
		if m != nil {
			_ = m.cmd.Process.Kill() // it may be gone already
			<-m.ended
		}
	}
}

// account is what a fleet came to.
type account struct {
	acked    int
	reads    map[string]int // by kind
	missed   map[string]int // reads by kind that miss an item which they must have
	twice    int            // reads with an item again, or out of order
	events   map[string]int // by kind
	first    map[string]string
	grown    map[string]int // by who made a key grow
	lost     int            // acknowledged items that are not there at the end
	doubled  int            // items that are there twice at the end
	disorder int
}

// acked is an item of a writer that was acknowledged.
type acked struct {
	number int
	at     int64
}

// account checks what the members told. keep is how old an item must be for eventual reads.
func (f *fleet) account(keep time.Duration) (account, map[string]map[int][]acked) {
	a := account{reads: map[string]int{}, missed: map[string]int{}, events: map[string]int{}, first: map[string]string{}, grown: map[string]int{}}
	acks := map[string]map[int][]acked{}
	for _, e := range f.events {
		a.events[e.Kind]++
		switch e.Kind {
		case ackEvent:
			a.acked++
			if acks[e.Key] == nil {
				acks[e.Key] = map[int][]acked{}
			}
			acks[e.Key][e.Writer] = append(acks[e.Key][e.Writer], acked{e.Number, e.At})
		case grownEvent:
			a.grown[e.Text]++
		case putError, readError, refusedEvent:
			if a.first[e.Kind] == "" {
				a.first[e.Kind] = e.Text
			}
		}
	}
	for _, e := range f.events {
		before := e.At
		switch e.Kind {
		case strongRead, pagedRead, countRead, causalRead:
		case eventualRead, eventualPages:
			before -= keep.Nanoseconds()
		default:
			continue
		}
		a.reads[e.Kind]++
		if e.misses(acks[e.Key], before) {
			a.missed[e.Kind]++
		}
		if e.Twice+e.Disorder > 0 {
			a.twice++
		}
	}
	return a, acks
}

// misses reports whether a read lacks an item that was acknowledged before a time.
func (e *event) misses(acks map[int][]acked, before int64) bool {
	due := 0
	for writer, list := range acks {
		if e.Kind == causalRead && writer != e.Writer {
			continue // it was not told of these
		}
		for _, item := range list {
			if item.at >= before {
				continue
			}
			due++
			if e.Kind != countRead && !e.Got[writer].has(item.number) {
				return true
			}
		}
	}
	return e.Kind == countRead && e.Number < due
}

// readBack reads everything once more, and compares it with what was acknowledged.
func (a *account) readBack(ctx context.Context, items *heatsink.Collection[heatsink.Item], acks map[string]map[int][]acked) error {
	for _, key := range fleetKeys {
		e := event{Kind: strongRead, Key: key}
		if err := readInto(ctx, items, heatsink.Query{Key: key, Consistent: true, Projection: "sk"}, &e); err != nil {
			return err
		}
		a.doubled += e.Twice
		a.disorder += e.Disorder
		for writer, list := range acks[key] {
			for _, item := range list {
				if !e.Got[writer].has(item.number) {
					a.lost++
				}
			}
		}
	}
	return nil
}

// sum adds up the numbers of some kinds.
func sum(of map[string]int, kinds ...string) (n int) {
	for kind, m := range of {
		if len(kinds) == 0 || slices.Contains(kinds, kind) {
			n += m
		}
	}
	return n
}
