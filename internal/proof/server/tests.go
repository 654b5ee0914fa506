package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// shown is something that a test of this repository shows better than an attack from outside can. The count is what the
// first group of its pattern finds in what the test prints.
type shown struct {
	what, before string
	pkg, test    string
	args         []string
	count        *regexp.Regexp // nil: the test's subtests are counted
	least        int            // that the count must be
}

// locked are the tests about locks and waits.
var locked = []shown{
	{"5 panics in the engine that leave nothing behind", "no such test", "./internal/engine", "^TestPanics", nil, nil, 10},
	{"5 panics in the partitions that leave nothing locked", "no such test", "./internal/partition", "^TestPanics", nil, nil, 1},
	{"5 waits that end with their context, or with Close", "no such test", "./internal/engine", "^(TestWaitsEndWithTheirContext|TestNoTurnIsLost|TestWaitersLeaveTheQueue|TestCloseEndsWhileRequestsWait)$", nil, nil, 4},
}

// locks runs the tests about panics and waits.
func locks(ctx context.Context, p *proof) error {
	for _, s := range locked {
		p.run1(ctx, s)
	}
	return nil
}

// run1 runs one test and notes its count.
func (p *proof) run1(ctx context.Context, s shown) {
	out, err := goTest(ctx, append([]string{s.pkg, "-v", "-run", s.test}, s.args...)...)
	n := strings.Count(out, "--- PASS")
	if s.count != nil {
		n = 0
		for _, found := range s.count.FindAllStringSubmatch(out, -1) {
			if counted, err := strconv.Atoi(strings.ReplaceAll(found[1], ",", "")); err == nil {
				n += counted
			}
		}
	}
	after := strconv.Itoa(n)
	if err != nil {
		after += ", " + firstLine(err)
		progress("%v", err)
	}
	p.figure(s.what, s.before, after, fmt.Sprintf(">= %d", s.least), err == nil && n >= s.least)
}

// goTest runs go test, and returns what it printed.
func goTest(ctx context.Context, args ...string) (string, error) {
	args = append([]string{"test", "-count=1", "-timeout", "120m"}, args...)
	cmd := exec.CommandContext(ctx, "go", args...)
	// The go command ends its test when it is interrupted, and would leave it running when killed.
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	cmd.WaitDelay = 10 * time.Second
	out, err := cmd.CombinedOutput()
	switch {
	case err != nil:
		lines := strings.Split(strings.TrimSpace(string(out)), "\n")
		return string(out), fmt.Errorf("go %s: %w:\n%s", strings.Join(args, " "), err, strings.Join(lines[max(0, len(lines)-20):], "\n"))
	case strings.Contains(string(out), "no tests to run"):
		return string(out), fmt.Errorf("go %s: there is no such test", strings.Join(args, " "))
	}
	return string(out), nil
}
