package main

import (
	"bytes"
	"context"
	"fmt"
	"net"
	"os/exec"
	"sync"
	"time"
)

const (
	readyTimeout = 30 * time.Second
	stopTimeout  = 10 * time.Second
)

// A process is a running server. Whoever starts it must stop it.
type process struct {
	addr    string
	started time.Duration // from starting the process to its first answer
	cmd     *exec.Cmd
	exited  chan struct{} // closed once the process has been waited for
	output  tail
}

// startProcess runs argv(port) and returns once the server has answered a ListTables.
func startProcess(ctx context.Context, argv func(port string) []string) (*process, error) {
	port, err := freePort()
	if err != nil {
		return nil, err
	}
	args := argv(port)
	p := &process{
		addr:   net.JoinHostPort("127.0.0.1", port),
		cmd:    exec.Command(args[0], args[1:]...),
		exited: make(chan struct{}),
	}
	p.cmd.Stdout, p.cmd.Stderr = &p.output, &p.output
	p.cmd.SysProcAttr = childAttributes()
	p.cmd.WaitDelay = time.Second // in case a grandchild keeps the output open

	begin := time.Now()
	if err := p.cmd.Start(); err != nil {
		return nil, err
	}
	go func() {
		p.cmd.Wait()
		close(p.exited)
	}()
	if err := p.awaitAnswer(ctx); err != nil {
		p.stop()
		return nil, err
	}
	p.started = time.Since(begin)
	return p, nil
}

func (p *process) awaitAnswer(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, readyTimeout)
	defer cancel()
	for {
		err := call(ctx, p.addr, "ListTables", `{}`, `{`)
		if err == nil {
			return nil
		}
		select {
		case <-p.exited:
			return fmt.Errorf("ended before it answered (%v): %s", p.cmd.ProcessState, p.output.String())
		case <-ctx.Done():
			return fmt.Errorf("no answer from %s: %w; it printed: %s", p.addr, err, p.output.String())
		case <-time.After(500 * time.Microsecond):
		}
	}
}

// stop kills the process, which holds nothing worth keeping, and waits until it is gone.
func (p *process) stop() error {
	p.cmd.Process.Kill() // fails only if the process has ended already
	select {
	case <-p.exited:
		return nil
	case <-time.After(stopTimeout):
		return fmt.Errorf("process %d survives SIGKILL", p.cmd.Process.Pid)
	}
}

// freePort asks the kernel for a port that nobody listens on.
func freePort() (string, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	defer l.Close()
	_, port, err := net.SplitHostPort(l.Addr().String())
	return port, err
}

// A tail keeps the end of what is written to it.
type tail struct {
	mu   sync.Mutex
	text []byte
}

func (t *tail) Write(b []byte) (int, error) {
	const most = 4 << 10
	t.mu.Lock()
	defer t.mu.Unlock()
	t.text = append(t.text, b...)
	if over := len(t.text) - most; over > 0 {
		t.text = append(t.text[:0], t.text[over:]...)
	}
	return len(b), nil
}

func (t *tail) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return string(bytes.TrimSpace(t.text))
}
