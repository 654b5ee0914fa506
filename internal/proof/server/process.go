package main

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"
)

// process is a command that the proof has started, mostly heatsink serve.
type process struct {
	cmd    *exec.Cmd
	stdout *journal
	stderr *journal
	begun  time.Time
	ended  chan struct{} // closed when it is gone
	took   time.Duration // until it was gone
	url    string        // once it is up
}

// launch says how a process is started.
type launch struct {
	args   []string
	env    []string // beside the proof's own
	files  int      // limit of open files; zero: the proof's own
	binary string   // empty: the command under attack
}

// credentials are those that every server with credentials is given.
const (
	accessKey = "PROOFACCESSKEY"
	secretKey = "a secret of the proof"
)

// signed makes a server verify signatures.
var signed = []string{"HEATSINK_ACCESS_KEY_ID=" + accessKey, "HEATSINK_SECRET_ACCESS_KEY=" + secretKey}

// launch starts a process and does not wait for it. It is killed when the proof ends.
func (p *proof) launch(l launch) (*process, error) {
	binary := cmp.Or(l.binary, p.binary)
	cmd := exec.Command(binary, l.args...)
	if l.files > 0 {
		// The shell lowers the limit and becomes the command, which keeps its process id.
		cmd = exec.Command("sh", append([]string{"-c", fmt.Sprintf(`ulimit -n %d && exec "$0" "$@"`, l.files), binary}, l.args...)...)
	}
	cmd.Env = append(os.Environ(), l.env...)
	cmd.Dir = p.work // where whatever it makes by mistake is removed with the rest
	s := &process{cmd: cmd, stdout: newJournal(), stderr: newJournal(), begun: time.Now(), ended: make(chan struct{})}
	cmd.Stdout, cmd.Stderr = s.stdout, s.stderr
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	go func() {
		defer close(s.ended)
		_ = cmd.Wait() // the state says what became of it
		s.took = time.Since(s.begun)
	}()
	p.atEnd(s.kill)
	return s, nil
}

// serve starts heatsink serve with more arguments and waits until it is up.
func (p *proof) serve(ctx context.Context, l launch) (*process, error) {
	l.args = append([]string{"serve", "--addr", "127.0.0.1:0"}, l.args...)
	s, err := p.launch(l)
	if err != nil {
		return nil, err
	}
	return s, s.up(ctx, time.Minute)
}

var urlPattern = regexp.MustCompile(`http://[0-9.:]+`)

// up waits until a server says where it is.
func (s *process) up(ctx context.Context, within time.Duration) error {
	select {
	case <-s.stdout.line:
		if s.url = urlPattern.FindString(s.stdout.last()); s.url != "" {
			return nil
		}
		return fmt.Errorf("the server says %q, which names no address", s.stdout.last())
	case <-s.ended:
		return fmt.Errorf("the server does not start: exit code %d: %s", s.code(), s.stderr.last())
	case <-time.After(within):
		s.kill()
		return fmt.Errorf("the server is not up after %s: %w: %s", within, errTooLate, s.stderr.last())
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (s *process) addr() string { return strings.TrimPrefix(s.url, "http://") }

// alive reports whether the process runs.
func (s *process) alive() bool {
	select {
	case <-s.ended:
		return false
	default:
		return true
	}
}

// wait reports whether the process ends within a time.
func (s *process) wait(within time.Duration) bool {
	select {
	case <-s.ended:
		return true
	case <-time.After(within):
		return false
	}
}

// kill ends the process as a power cut would, and waits until it is gone.
func (s *process) kill() {
	_ = s.cmd.Process.Kill() // it may be gone already
	<-s.ended
}

// terminate ends the process as users do, and reports how long that took.
func (s *process) terminate(within time.Duration) (time.Duration, bool) {
	began := time.Now()
	_ = s.cmd.Process.Signal(syscall.SIGTERM) // it may be gone already
	ended := s.wait(within)
	took := time.Since(began)
	if !ended {
		s.kill()
	}
	return took, ended
}

// code is the exit code of a process that is gone, -1 for one that was killed.
func (s *process) code() int {
	<-s.ended
	return s.cmd.ProcessState.ExitCode()
}

var errNoProc = errors.New("this system does not tell what a process takes: there is no /proc")

// status returns a line of /proc/PID/status in bytes.
func (s *process) status(name string) (int64, error) {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", s.cmd.Process.Pid))
	if err != nil {
		return 0, errors.Join(errNoProc, err)
	}
	_, rest, _ := bytes.Cut(text, []byte(name+":"))
	fields := bytes.Fields(rest)
	if len(fields) < 2 {
		return 0, fmt.Errorf("process %d: no %s", s.cmd.Process.Pid, name)
	}
	kilobytes, err := strconv.ParseInt(string(fields[0]), 10, 64)
	return kilobytes << 10, err
}

// peak is the most memory that the process has ever occupied.
func (s *process) peak() (int64, error) { return s.status("VmHWM") }

// resident is the memory that the process occupies.
func (s *process) resident() (int64, error) { return s.status("VmRSS") }

// cpu is the processor time that the process has used, to the tick of 10 ms.
func (s *process) cpu() (time.Duration, error) {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", s.cmd.Process.Pid))
	if err != nil {
		return 0, errors.Join(errNoProc, err)
	}
	// The second field is the command in parentheses and may hold anything: count from behind it.
	fields := bytes.Fields(text[bytes.LastIndexByte(text, ')')+1:])
	if len(fields) < 13 {
		return 0, fmt.Errorf("process %d: its stat is too short", s.cmd.Process.Pid)
	}
	user, err := strconv.ParseInt(string(fields[11]), 10, 64)
	system, err2 := strconv.ParseInt(string(fields[12]), 10, 64)
	return time.Duration(user+system) * 10 * time.Millisecond, errors.Join(err, err2)
}

// journal counts what a process says and keeps the end of it: a broken server says hundreds of thousands of lines.
type journal struct {
	mu    sync.Mutex
	lines int
	tail  []byte
	notes map[string]int // the texts of notes, which are no lines
	line  chan struct{}  // closed at the first line
}

const (
	journalTail = 2000
	noteMark    = "proof-note: " // begins what the proof's own child tells the proof
)

func newJournal() *journal { return &journal{line: make(chan struct{}), notes: map[string]int{}} }

func (j *journal) Write(text []byte) (int, error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	for line := range bytes.Lines(text) {
		if note, ok := bytes.CutPrefix(line, []byte(noteMark)); ok {
			j.notes[string(bytes.TrimSpace(note))]++
			continue
		}
		j.tail = append(j.tail, line...)
		if bytes.HasSuffix(line, []byte("\n")) {
			if j.lines++; j.lines == 1 {
				close(j.line)
			}
		}
	}
	if len(j.tail) > 2*journalTail {
		j.tail = append([]byte(nil), j.tail[len(j.tail)-journalTail:]...)
	}
	return len(text), nil
}

// count is how many lines there were.
func (j *journal) count() int {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.lines
}

// text is the end of what was said.
func (j *journal) text() string {
	j.mu.Lock()
	defer j.mu.Unlock()
	return string(j.tail)
}

// last is the last line that says something.
func (j *journal) last() string {
	lines := strings.Split(strings.TrimSpace(j.text()), "\n")
	return lines[len(lines)-1]
}

// noted returns how often each note came.
func (j *journal) noted() map[string]int {
	j.mu.Lock()
	defer j.mu.Unlock()
	return maps.Clone(j.notes)
}
