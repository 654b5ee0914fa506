package peer

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"strings"
	"testing"
	"time"
)

// TestMain turns the test binary into the servers that the tests start.
func TestMain(m *testing.M) {
	if len(os.Args) != 3 || !strings.HasPrefix(os.Args[1], "serve-") {
		os.Exit(m.Run())
	}
	addr := loopback + ":" + os.Args[2]
	switch os.Args[1] {
	case "serve-well":
		http.ListenAndServe(addr, http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	case "serve-errors":
		http.ListenAndServe(addr, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			fmt.Fprintln(os.Stderr, "asked")
			http.Error(w, "not yet", http.StatusServiceUnavailable)
		}))
	}
	fmt.Fprintln(os.Stderr, "cannot serve")
	os.Exit(3)
}

func program(t *testing.T, command string, ports *[]string) func(string) []string {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return func(port string) []string {
		*ports = append(*ports, port)
		return []string{self, command, port}
	}
}

func TestStart(t *testing.T) {
	var addr string
	t.Run("while the test runs", func(t *testing.T) {
		endpoint := Start(t)
		addr = strings.TrimPrefix(endpoint, "http://")
		if err := listTables(t.Context(), http.DefaultClient, addr); err != nil {
			t.Error(err)
		}
	})
	if addr == "" {
		return // skipped or failed
	}
	if err := listTables(t.Context(), http.DefaultClient, addr); err == nil {
		t.Error("dynoxide answers after the end of its test")
	}
}

// Without the program a test is skipped, or fails if peers are required; either way it says what to do. Without a build
// for the platform it is always skipped.
func TestStartWithoutDynoxide(t *testing.T) {
	t.Setenv("HOME", t.TempDir())
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	t.Setenv("LocalAppData", t.TempDir())
	pin(t, release{name: "@dynoxide/none", version: "0.0.0"})
	pinned := dynoxides
	for _, c := range []struct {
		name, peers string
		unsupported bool
		begins      string
		holds       string
	}{
		{"plain go test", "", false, "skipped: dynoxide 0.0.0 is not installed", "make deps"},
		{"make test", "required", false, "failed: dynoxide 0.0.0 is not installed", "make deps"},
		{"a typing error", "require", false, `failed: HEATSINK_PEERS is "require"`, "set it to required"},
		{"another platform", "", true, "skipped: dynoxide on ", "no build is pinned"},
		{"make test on another platform", "required", true, "skipped: dynoxide on ", "no build is pinned"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Setenv(Peers, c.peers)
			dynoxides = pinned
			if c.unsupported {
				dynoxides = nil
			}
			if got := outcomeOfStart(); !strings.HasPrefix(got, c.begins) || !strings.Contains(got, c.holds) {
				t.Errorf("got %q, want %s … %s", got, c.begins, c.holds)
			}
		})
	}
}

// outcomeOfStart calls Start with a test that only notes how it ends.
func outcomeOfStart() (outcome string) {
	defer func() { outcome, _ = recover().(string) }()
	Start(bystander{})
	return ""
}

type bystander struct{ testing.TB }

func (bystander) Helper()                          {}
func (bystander) Skip(args ...any)                 { panic("skipped: " + fmt.Sprint(args...)) }
func (bystander) Skipf(format string, args ...any) { panic("skipped: " + fmt.Sprintf(format, args...)) }

func (bystander) Fatalf(format string, args ...any) { panic("failed: " + fmt.Sprintf(format, args...)) }

func TestServe(t *testing.T) {
	var ports []string
	s, err := Serve(t.Context(), program(t, "serve-well", &ports))
	if err != nil {
		t.Fatal(err)
	}
	if s.Addr != loopback+":"+ports[0] || s.Started <= 0 {
		t.Errorf("got %s after %v, with ports %q", s.Addr, s.Started, ports)
	}
	for range 2 { // a second time does no harm
		if err := s.Stop(); err != nil {
			t.Error(err)
		}
	}
	if s.cmd.ProcessState == nil {
		t.Error("the process was not waited for")
	}
}

func TestServeTriesOtherPorts(t *testing.T) {
	var ports []string
	_, err := Serve(t.Context(), program(t, "serve-nothing", &ports))
	if !errors.Is(err, errEnded) || !strings.Contains(err.Error(), "exit status 3") || !strings.Contains(err.Error(), "cannot serve") {
		t.Errorf("got %v, want its exit status and what it printed", err)
	}
	if len(ports) != 3 {
		t.Errorf("got ports %q, want three tries", ports)
	}
}

func TestServeGivesUp(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
	defer cancel()
	var ports []string
	_, err := Serve(ctx, program(t, "serve-errors", &ports))
	if err == nil || !strings.Contains(err.Error(), "no answer from "+loopback) {
		t.Errorf("got %v, want no answer", err)
	}
	if _, err := Serve(t.Context(), func(string) []string { return []string{"/nonexistent"} }); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("got %v, want ErrNotExist", err)
	}
}

func TestTail(t *testing.T) {
	var text tail
	for range 1000 {
		text.Write([]byte("0123456789"))
	}
	text.Write([]byte("end\n"))
	if got := text.String(); len(got) != 4095 || !strings.HasSuffix(got, "89end") {
		t.Errorf("got %d bytes that end in %q", len(got), got[len(got)-5:])
	}
}
