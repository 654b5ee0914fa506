package peer

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"sync"
	"time"
)

const (
	loopback     = "127.0.0.1"
	readyTimeout = 30 * time.Second
	stopTimeout  = 10 * time.Second
)

// A Server is a program that runs and answers DynamoDB requests. Whoever starts it must stop it.
type Server struct {
	Addr    string        // host and port, on loopback
	Started time.Duration // from starting the process to its first answer
	Process *os.Process

	cmd    *exec.Cmd
	exited chan struct{} // closed once the process has been waited for
	output tail
}

// errEnded is wrapped when the program ended by itself.
var errEnded = errors.New("ended before it answered")

// Serve runs argv(port), with a port that is free, and returns once it has answered a ListTables. ctx bounds only the
// wait for that. Should somebody else be quicker to take the port, another one is tried.
func Serve(ctx context.Context, argv func(port string) []string) (*Server, error) {
	const tries = 3
	for try := 1; ; try++ {
		port, err := freePort()
		if err != nil {
			return nil, err
		}
		s, err := serve(ctx, port, argv(port))
		if try == tries || !errors.Is(err, errEnded) {
			return s, err
		}
	}
}

func serve(ctx context.Context, port string, argv []string) (*Server, error) {
	s := &Server{
		Addr:   net.JoinHostPort(loopback, port),
		cmd:    exec.Command(argv[0], argv[1:]...),
		exited: make(chan struct{}),
	}
	s.cmd.Stdout, s.cmd.Stderr = &s.output, &s.output
	s.cmd.SysProcAttr = childAttributes()
	s.cmd.WaitDelay = time.Second // in case a grandchild keeps the output open

	begin := time.Now()
	if err := s.cmd.Start(); err != nil {
		return nil, err
	}
	s.Process = s.cmd.Process
	go func() {
		s.cmd.Wait()
		close(s.exited)
	}()
	if err := s.awaitAnswer(ctx); err != nil {
		return nil, errors.Join(err, s.Stop())
	}
	s.Started = time.Since(begin)
	return s, nil
}

// Stop kills the process, which holds nothing worth keeping, and waits until it is gone.
func (s *Server) Stop() error {
	s.Process.Kill() // fails only if the process has ended already
	select {
	case <-s.exited:
		return nil
	case <-time.After(stopTimeout):
		return fmt.Errorf("process %d survives SIGKILL", s.Process.Pid)
	}
}

func (s *Server) awaitAnswer(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, readyTimeout)
	defer cancel()
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	for {
		err := listTables(ctx, client, s.Addr)
		if err == nil {
			return nil
		}
		select {
		case <-s.exited:
			return fmt.Errorf("%w (%v): %s", errEnded, s.cmd.ProcessState, s.output.String())
		case <-ctx.Done():
			return fmt.Errorf("no answer from %s: %w; it printed: %s", s.Addr, err, s.output.String())
		case <-time.After(500 * time.Microsecond):
		}
	}
}

func listTables(ctx context.Context, client *http.Client, addr string) error {
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://"+addr, strings.NewReader("{}"))
	if err != nil {
		return err
	}
	Sign(request, "ListTables")
	response, err := client.Do(request)
	if err != nil {
		return err
	}
	response.Body.Close()
	if response.StatusCode != http.StatusOK {
		return fmt.Errorf("ListTables: %s", response.Status)
	}
	return nil
}

// Sign makes a request one of DynamoDB: with the name of its operation, and a signature that is well-formed but made up. Engines on
// loopback take any.
func Sign(request *http.Request, operation string) {
	now := time.Now().UTC()
	request.Header.Set("Content-Type", "application/x-amz-json-1.0")
	request.Header.Set("X-Amz-Target", "DynamoDB_20120810."+operation)
	request.Header.Set("X-Amz-Date", now.Format("20060102T150405Z"))
	request.Header.Set("Authorization", fmt.Sprintf("AWS4-HMAC-SHA256 "+
		"Credential=AKIDEXAMPLE/%s/us-east-1/dynamodb/aws4_request, "+
		"SignedHeaders=content-type;host;x-amz-date;x-amz-target, Signature=%s",
		now.Format("20060102"), strings.Repeat("0f", 32)))
}

// freePort asks the kernel for a port that nobody listens on.
func freePort() (string, error) {
	l, err := net.Listen("tcp", net.JoinHostPort(loopback, "0"))
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
