package main

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

	"github.com/heatsink-go/heatsink/internal/peer"
	"github.com/heatsink-go/heatsink/internal/proof/scenario"
)

// suiteTests is how many tests the suite has. With fewer, something did not run.
const suiteTests = 601

// suiteResult is how the public suite ended.
type suiteResult struct {
	Commit string   `json:"commit"` // of the checkout, if it is one
	Tests  int      `json:"tests"`
	Passed int      `json:"passed"`
	Failed []string `json:"failed"` // those that did not pass, skipped ones included
}

// showSuite runs the public suite on the engine.
func showSuite(ctx context.Context, p *proof) (err error) {
	vitest, err := findVitest(p.suite)
	if err != nil {
		p.Must("tests that pass", "not run: "+err.Error(), fmt.Sprintf("%d of %d", suiteTests, suiteTests), false)
		return nil
	}
	engine, err := p.heatsink(ctx)
	if err != nil {
		return err
	}
	server, err := peer.Serve(ctx, engine.Argv)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, server.Stop()) }()
	ctx, cancel := context.WithTimeout(ctx, 20*time.Minute)
	defer cancel()
	file := filepath.Join(p.work, "suite.json")
	cmd := exec.CommandContext(ctx, "node", vitest, "run", "--reporter=json", "--outputFile="+file)
	cmd.Dir = p.suite
	cmd.Env = append(os.Environ(), "DYNAMODB_ENDPOINT=http://"+server.Addr)
	out, failed := cmd.CombinedOutput() // fails if a test does; the report says more
	text, err := os.ReadFile(file)
	if err != nil {
		return fmt.Errorf("the suite wrote no report: %w:\n%s", errors.Join(failed, err), scenario.End(string(out)))
	}
	r, err := readSuite(text)
	if err != nil {
		return err
	}
	r.Commit = commitOf(ctx, p.suite)
	p.Suite = r
	p.Tell("the suite", "nubo-db/dynamodb-conformance at "+r.Commit)
	p.Must("tests that pass", fmt.Sprintf("%d of %d", r.Passed, r.Tests), fmt.Sprintf("%d of %d", suiteTests, suiteTests),
		r.Passed == r.Tests && r.Tests >= suiteTests)
	for _, name := range r.Failed {
		p.Must("does not pass", name, "it passes", false)
	}
	return nil
}

var errNoSuite = errors.New("no suite; set SUITE to a checkout of https://github.com/nubo-db/dynamodb-conformance in which npm install has run")

// findVitest returns the program that runs the suite's tests. Its path is absolute, as the suite runs in a directory of its own.
func findVitest(suite string) (string, error) {
	if suite == "" {
		return "", errNoSuite
	}
	program, err := filepath.Abs(filepath.Join(suite, "node_modules", "vitest", "vitest.mjs"))
	if err == nil {
		_, err = os.Stat(program)
	}
	if err != nil {
		return "", fmt.Errorf("SUITE=%s: %w; run npm install in that directory", suite, err)
	}
	if _, err := exec.LookPath("node"); err != nil {
		return "", fmt.Errorf("the suite needs Node.js: %w", err)
	}
	return program, nil
}

// readSuite reads vitest's report.
func readSuite(text []byte) (*suiteResult, error) {
	var report struct {
		TestResults []struct {
			Name, Message    string
			AssertionResults []struct{ FullName, Status string }
		}
	}
	if err := json.Unmarshal(text, &report); err != nil {
		return nil, fmt.Errorf("the report of the suite: %w", err)
	}
	r := &suiteResult{Failed: []string{}}
	for _, file := range report.TestResults {
		if len(file.AssertionResults) == 0 {
			r.Failed = append(r.Failed, file.Name+": "+file.Message)
		}
		for _, test := range file.AssertionResults {
			r.Tests++
			if test.Status == "passed" {
				r.Passed++
				continue
			}
			r.Failed = append(r.Failed, test.FullName+": "+test.Status)
		}
	}
	return r, nil
}

func commitOf(ctx context.Context, dir string) string {
	out, err := exec.CommandContext(ctx, "git", "-C", dir, "rev-parse", "--short", "HEAD").Output()
	if err != nil {
		return "an unknown commit"
	}
	return strings.TrimSpace(string(out))
}
