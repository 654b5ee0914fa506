package scenario

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

// Bubble runs tests of a proof's own package: a bubble of testing/synctest needs a test. Such a test writes what it has measured to the
// file of its flag -result, as JSON.
type Bubble struct {
	Package string // such as ./internal/proof/adaptive
	Work    string // a directory for everything that is written

	tests string // the built tests, once there are any
}

// Run runs a test and reads its result. It returns the CPU time that this took.
func (b *Bubble) Run(ctx context.Context, into any, test string, args ...string) (cpu time.Duration, err error) {
	if err := b.Build(ctx); err != nil {
		return 0, err
	}
	result, err := os.CreateTemp(b.Work, "result-")
	if err != nil {
		return 0, err
	}
	file := result.Name()
	if err := result.Close(); err != nil {
		return 0, err
	}
	args = append([]string{"-test.run", "^" + test + "$", "-test.timeout", "60m", "-result", file}, args...)
	cmd := exec.CommandContext(ctx, b.tests, args...)
	cmd.Dir = b.Work
	out, failed := cmd.CombinedOutput()
	if cmd.ProcessState != nil {
		cpu = cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()
	}
	text, err := os.ReadFile(file)
	if err == nil && len(text) > 0 { // a test that fails may have a result, which says more
		return cpu, json.Unmarshal(text, into)
	}
	return cpu, errors.Join(err, fmt.Errorf("%s %s: %w:\n%s", test, strings.Join(args, " "), failed, End(string(out))))
}

// Build builds the tests, once. Call it before several calls of Run at the same time.
func (b *Bubble) Build(ctx context.Context) error {
	if b.tests != "" {
		return nil
	}
	file := filepath.Join(b.Work, filepath.Base(b.Package)+".test")
	out, err := exec.CommandContext(ctx, "go", "test", "-c", "-o", file, b.Package).CombinedOutput()
	if err != nil {
		return fmt.Errorf("go test -c %s: %w: %s", b.Package, err, out)
	}
	b.tests = file
	return nil
}

// End returns the last lines of an output.
func End(out string) string {
	lines := strings.Split(strings.TrimSpace(out), "\n")
	return strings.Join(lines[max(0, len(lines)-10):], "\n")
}
