package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"strings"
	"testing"
)

// asCommand, in the environment, makes the test binary be the command: a child
// process with everything the tests are built with, the race detector included.
const asCommand = "HEATSINK_TEST_AS_COMMAND"

// onTerminal is the value of asCommand for a command that reads its keys from a terminal.
const onTerminal = "terminal"

func TestMain(m *testing.M) {
	if how := os.Getenv(asCommand); how != "" {
		if how != onTerminal { // that one's end is a signal
			go func() { // end with the parent, however that ends
				_, _ = io.Copy(io.Discard, os.Stdin)
				os.Exit(1)
			}()
		}
		main()
	}
	if told := os.Getenv(asMember); told != "" {
		err := runMember(told)
		fmt.Fprintln(os.Stderr, "member:", err)
		os.Exit(1)
	}
	// The user's own settings are not the tests'.
	os.Unsetenv(accessKeyEnv)
	os.Unsetenv(secretKeyEnv)
	os.Exit(m.Run())
}

// command runs a command that ends by itself.
func command(t *testing.T, args ...string) (stdout, stderr string, code int) {
	t.Helper()
	var out, err bytes.Buffer
	code = run(t.Context(), args, &out, &err)
	return out.String(), err.String(), code
}

func TestHelp(t *testing.T) {
	for _, c := range []struct {
		args []string
		want []string
	}{
		{[]string{}, []string{"keeps DynamoDB partitions cool", "demo", "serve", "heatsink serve --data ./dynamo"}},
		{[]string{"--help"}, []string{"demo", "serve", "--version", "heatsink demo"}},
		{[]string{"help", "serve"}, []string{"--addr", "127.0.0.1:8000"}},
		{[]string{"serve", "--help"}, []string{
			"--addr", "--data", "--region", "--access-key", "--secret-key", accessKeyEnv, secretKeyEnv, "AWS_ENDPOINT_URL", "boto3",
		}},
		{[]string{"demo", "--help"}, []string{"--json", "opens no port"}},
	} {
		t.Run(strings.Join(c.args, " "), func(t *testing.T) {
			stdout, stderr, code := command(t, c.args...)
			if code != 0 || stderr != "" {
				t.Errorf("exit %d, stderr %q", code, stderr)
			}
			for _, want := range c.want {
				if !strings.Contains(stdout, want) {
					t.Errorf("no %q in:\n%s", want, stdout)
				}
			}
		})
	}
}

func TestVersion(t *testing.T) {
	stdout, stderr, code := command(t, "--version")
	if code != 0 || stderr != "" || !strings.HasPrefix(stdout, "heatsink version ") {
		t.Errorf("exit %d, stdout %q, stderr %q", code, stdout, stderr)
	}
	stdout, stderr, code = command(t, "version")
	if code != 0 || stderr != "" || !strings.HasPrefix(stdout, "heatsink ") || !strings.Contains(stdout, runtime.GOOS+"/"+runtime.GOARCH) {
		t.Errorf("exit %d, stdout %q, stderr %q", code, stdout, stderr)
	}
}

// What is wrong is said in one line on stderr, and the exit code is 2.
func TestMistakes(t *testing.T) {
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"sreve"}, `unknown command "sreve"`},
		{[]string{"--wat"}, "unknown flag: --wat"},
		{[]string{"serve", "--port", "8000"}, "unknown flag: --port"},
		{[]string{"serve", "--data"}, "flag needs an argument: --data"},
		{[]string{"serve", "8000"}, `unknown command "8000" for "heatsink serve"`},
		{[]string{"demo", "now"}, `unknown command "now" for "heatsink demo"`},
		{[]string{"demo", "--json=perhaps"}, `invalid argument "perhaps"`},
	} {
		t.Run(strings.Join(c.args, " "), func(t *testing.T) {
			stdout, stderr, code := command(t, c.args...)
			if code != 2 || stdout != "" {
				t.Errorf("exit %d, stdout %q", code, stdout)
			}
			if !strings.HasPrefix(stderr, "heatsink: ") || !strings.Contains(stderr, c.want) {
				t.Errorf("got %q, want %q", stderr, c.want)
			}
		})
	}
}

// A command that is interrupted does not complain about it.
func TestInterrupt(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	var stdout, stderr bytes.Buffer
	if code := run(ctx, []string{"demo", "--json"}, &stdout, &stderr); code != 2 || stdout.Len()+stderr.Len() > 0 {
		t.Errorf("exit %d, stdout %q, stderr %q; want 1 and silence", code, &stdout, &stderr)
	}
}

// full is a disk without space.
type full struct{}

func (full) Write([]byte) (int, error) { return 0, errors.New("no space left on device") }

// Results that cannot be written fail the command, also where each line is written by itself.
func TestResultsThatAreNotWritten(t *testing.T) {
	for _, args := range [][]string{
		{"plan", "--writes", "5000", "--item-size", "1KB"},
		{"plan", "--writes", "5000", "--item-size", "1KB", "--json"},
		{"lab", "ls"},
		{"version"},
	} {
		var stderr bytes.Buffer
		if code := run(t.Context(), args, full{}, &stderr); code != 2 || !strings.Contains(stderr.String(), "no space left on device") {
			t.Errorf("%q: got exit code %d and %q", args, code, &stderr)
		}
	}
}
