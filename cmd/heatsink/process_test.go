package main

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodbstreams"
)

// process is a heatsink serve in a process of its own.
type process struct {
	cmd     *exec.Cmd
	stdin   io.Closer
	stderr  bytes.Buffer
	banner  chan string // closed without one if it ends first
	mayTell string      // lines with it may be on stderr; empty: none may
	client  *dynamodb.Client
	streams *dynamodbstreams.Client
}

// launch starts a server on a directory and does not wait for it to be up.
func launch(t *testing.T, dir string) *process {
	t.Helper()
	return launchAt(t, "127.0.0.1:0", dir)
}

// launchAt is launch at an address, with more flags.
func launchAt(t *testing.T, address, dir string, flags ...string) *process {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	p := &process{cmd: exec.Command(self, append([]string{"serve", "--addr", address, "--data", dir}, flags...)...), banner: make(chan string, 1)}
	p.cmd.Env = append(os.Environ(), asCommand+"=1", "GORACE=atexit_sleep_ms=0 "+os.Getenv("GORACE"))
	p.cmd.Stderr = &p.stderr
	if p.stdin, err = p.cmd.StdinPipe(); err != nil {
		t.Fatal(err)
	}
	stdout, err := p.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := p.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if p.cmd.ProcessState == nil { // the test gave up before
			p.kill(t)
		}
	})
	go func() {
		defer close(p.banner)
		if line, err := bufio.NewReader(stdout).ReadString('\n'); err == nil {
			p.banner <- line
		}
	}()
	return p
}

// waitForURL waits until the server is up.
func (p *process) waitForURL(t *testing.T) string {
	t.Helper()
	found := urlPattern.FindStringSubmatch(<-p.banner)
	if found == nil {
		t.Fatalf("the server does not start: %v %s", p.cmd.Wait(), &p.stderr)
	}
	return found[1]
}

// kill ends the process as a power cut would, and waits until it is gone. It
// must not have had anything to say.
func (p *process) kill(t *testing.T) {
	t.Helper()
	if err := p.cmd.Process.Kill(); err != nil {
		t.Errorf("kill: %v", err)
	}
	var exit *exec.ExitError
	if err := p.wait(t); !errors.As(err, &exit) || exit.ExitCode() != -1 {
		t.Errorf("the server ended by itself: %v", err)
	}
}

// end ends the process as users do.
func (p *process) end(t *testing.T) {
	t.Helper()
	if err := p.cmd.Process.Signal(os.Interrupt); err != nil {
		t.Errorf("interrupt: %v", err)
	}
	if err := p.wait(t); err != nil {
		t.Errorf("interrupted, the server ended with %v", err)
	}
}

func (p *process) wait(t *testing.T) error {
	t.Helper()
	for range p.banner { // or Wait would close the pipe under its reader
	}
	err := p.cmd.Wait()
	for line := range strings.Lines(p.stderr.String()) {
		if p.mayTell == "" || !strings.Contains(line, p.mayTell) {
			t.Errorf("the server said:\n%s", line)
		}
	}
	return err
}
