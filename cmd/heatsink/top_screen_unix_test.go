//go:build unix

package main

import (
	"bytes"
	"os"
	"os/exec"
	"os/signal"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/charmbracelet/x/ansi"
	"github.com/creack/pty"
	"golang.org/x/term"
)

// terminal is a command that runs on a terminal of its own.
type terminal struct {
	*exec.Cmd
	keys   *os.File // the other end, where somebody types
	screen *os.File
	before *term.State

	mu    sync.Mutex
	shown bytes.Buffer // all that was sent
	mark  int          // how much of it waitFor has passed
	gone  chan struct{}
}

// onATerminal starts a command on a terminal of 100 columns and 30 lines.
func onATerminal(t *testing.T, env []string, args ...string) *terminal {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	master, slave, err := pty.Open()
	if err != nil {
		t.Fatal(err)
	}
	if err := pty.Setsize(slave, &pty.Winsize{Rows: 30, Cols: 100}); err != nil {
		t.Fatal(err)
	}
	p := &terminal{Cmd: exec.Command(self, args...), keys: master, screen: slave, gone: make(chan struct{})}
	if p.before, err = term.GetState(int(slave.Fd())); err != nil {
		t.Fatal(err)
	}
	p.Env = append(os.Environ(), asCommand+"="+onTerminal, "TERM=xterm-256color", "LANG=C.UTF-8", "GORACE=atexit_sleep_ms=0 "+os.Getenv("GORACE"))
	p.Env = append(p.Env, env...)
	p.Stdin, p.Stdout, p.Stderr = slave, slave, slave
	p.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	if err := p.Start(); err != nil {
		t.Fatal(err)
	}
	go func() {
		defer close(p.gone)
		buffer := make([]byte, 1<<16)
		for {
			n, err := master.Read(buffer)
			p.mu.Lock()
			p.shown.Write(buffer[:n])
			p.mu.Unlock()
			if err != nil {
				return
			}
		}
	}()
	t.Cleanup(func() {
		if p.ProcessState == nil { // the test gave up before
			_ = p.Process.Kill()
			_ = p.Wait()
		}
		_ = slave.Close()
		_ = master.Close()
		<-p.gone
	})
	return p
}

// all returns everything that was sent so far.
func (p *terminal) all() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.shown.String()
}

// waitFor waits until a text is sent, behind the last one that was waited for.
func (p *terminal) waitFor(t *testing.T, text string) {
	t.Helper()
	for deadline := time.Now().Add(30 * time.Second); ; time.Sleep(10 * time.Millisecond) {
		p.mu.Lock()
		rest := string(p.shown.Bytes()[p.mark:])
		found := strings.Contains(ansi.Strip(rest), text)
		if found {
			p.mark = p.shown.Len()
		}
		p.mu.Unlock()
		if found {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("no %q in %q", text, rest)
		}
	}
}

func (p *terminal) typed(t *testing.T, keys string) {
	t.Helper()
	if _, err := p.keys.WriteString(keys); err != nil {
		t.Fatal(err)
	}
}

// ends waits for the end, which must be a good one and leave the terminal as it was.
func (p *terminal) ends(t *testing.T, how string) {
	t.Helper()
	if err := p.Wait(); err != nil {
		t.Errorf("%s: %v", how, err)
	}
	after, err := term.GetState(int(p.screen.Fd()))
	if err != nil || *after != *p.before {
		t.Errorf("%s: the terminal is not as it was: %v", how, err)
	}
	const enter, leave, show = "\x1b[?1049h", "\x1b[?1049l", "\x1b[?25h"
	for deadline := time.Now().Add(30 * time.Second); ; time.Sleep(10 * time.Millisecond) { // the last bytes may still be on their way
		all := p.all()
		if strings.LastIndex(all, leave) > strings.LastIndex(all, enter) && strings.Contains(all, enter) && strings.LastIndex(all, show) > strings.Index(all, enter) {
			return
		}
		if time.Now().After(deadline) {
			t.Errorf("%s: the screen is not given back: …%q", how, all[max(0, len(all)-200):])
			return
		}
	}
}

// On a terminal, top shows keys in their partitions, obeys keys and resizing, survives the loss of its server, and leaves the
// terminal as it was, however it ends.
func TestTopOnATerminal(t *testing.T) {
	t.Parallel()
	url := serveHotKey(t)
	for how, end := range map[string]func(p *terminal){
		"q":       func(p *terminal) { p.typed(t, "q") },
		"ctrl+c":  func(p *terminal) { p.typed(t, "\x03") },
		"SIGTERM": func(p *terminal) { _ = p.Process.Signal(syscall.SIGTERM) },
		"SIGHUP":  func(p *terminal) { _ = p.Process.Signal(syscall.SIGHUP) },
		"--last":  func(*terminal) {},
	} {
		if how == "SIGHUP" && signal.Ignored(syscall.SIGHUP) {
			continue // the tests run under nohup, and so would the command
		}
		args := []string{"top", "things", "--endpoint", url, "--every", "100ms"}
		if how == "--last" {
			args = append(args, "--last", "2s")
		}
		p := onATerminal(t, nil, args...)
		p.waitFor(t, "partition #")
		end(p)
		p.ends(t, how)
		if text := ansi.Strip(p.all()); !strings.Contains(text, "PAGE#viral") {
			t.Errorf("%s: the key is missing: %q", how, text)
		}
	}
}

func TestTopOnATerminalObeysKeys(t *testing.T) {
	t.Parallel()
	url := serveHotKey(t)
	p := onATerminal(t, []string{"NO_COLOR=1"}, "top", "things", "--endpoint", url, "--every", "100ms")
	p.waitFor(t, "partition #")
	p.typed(t, "?")
	p.waitFor(t, "any key closes this help")
	p.typed(t, "?")
	p.waitFor(t, "PAGE#viral")
	p.typed(t, "/zzz\r")
	p.waitFor(t, "filter")
	p.typed(t, "\x1b")
	p.waitFor(t, "PAGE#viral")
	p.typed(t, " ")
	p.waitFor(t, "pause")
	if err := pty.Setsize(p.screen, &pty.Winsize{Rows: 20, Cols: 60}); err != nil {
		t.Fatal(err)
	}
	_ = p.Process.Signal(syscall.SIGWINCH)
	p.waitFor(t, "PAGE#viral")
	p.typed(t, "q")
	p.ends(t, "q")
	for _, colour := range []string{"\x1b[31m", "\x1b[91m", "\x1b[38;"} {
		if strings.Contains(p.all(), colour) {
			t.Errorf("NO_COLOR is set, and %q was sent", colour)
		}
	}
}

// A server that goes away is waited for.
func TestTopOnATerminalLosesItsServer(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	first := launchAt(t, "127.0.0.1:0", dir, "--physics")
	url := first.waitForURL(t)
	if err := createTable(t.Context(), client(url, "local", "local"), "things"); err != nil {
		t.Fatal(err)
	}
	p := onATerminal(t, nil, "top", "things", "--endpoint", url, "--every", "100ms")
	p.waitFor(t, "live")
	first.end(t)
	p.waitFor(t, "connection lost, retrying")
	second := launchAt(t, strings.TrimPrefix(url, "http://"), dir, "--physics")
	second.waitForURL(t)
	p.waitFor(t, "live")
	p.typed(t, "q")
	p.ends(t, "q")
	second.end(t)
}

// Without a terminal that can draw, top prints plain lines.
func TestTopOnADumbTerminal(t *testing.T) {
	t.Parallel()
	url := serveHotKey(t)
	for _, env := range []string{"TERM=dumb", "TERM="} {
		p := onATerminal(t, []string{env}, "top", "things", "--endpoint", url, "--every", "100ms", "--last", "300ms")
		p.waitFor(t, "things, source: engine")
		if err := p.Wait(); err != nil {
			t.Error(err)
		}
		if text := p.all(); strings.Contains(text, "\x1b") {
			t.Errorf("%s: escape sequences in %q", env, text)
		}
	}
}

// --once prints one round, and no more.
func TestTopOnce(t *testing.T) {
	t.Parallel()
	url := serveHotKey(t)
	stdout, stderr, code := command(t, "top", "things", "--endpoint", url, "--once")
	if code != 0 || strings.Count(stdout, "source: engine") != 1 || !strings.Contains(stdout, "PAGE#viral") {
		t.Errorf("exit %d: %s%s", code, stdout, stderr)
	}
	stdout, stderr, code = command(t, "top", "things", "--endpoint", url, "--once", "--json")
	if code != 0 || strings.Count(stdout, "\n") != 1 || !strings.Contains(stdout, `"source":"engine"`) {
		t.Errorf("exit %d: %s%s", code, stdout, stderr)
	}
}
