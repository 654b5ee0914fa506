package main

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// runJSON runs the program, and reads the last line of what it prints.
func runJSON(t *testing.T, report any, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	var out, progress strings.Builder
	code = run(t.Context(), args, &out, &progress)
	lines := strings.Split(strings.TrimSpace(out.String()), "\n")
	if err := json.Unmarshal([]byte(lines[len(lines)-1]), report); err != nil {
		t.Fatalf("got %q, %q: %v", out.String(), progress.String(), err)
	}
	return code, out.String(), progress.String()
}

// The tiny package has breaks that its tests notice and breaks that they do not. What does not compile and what is the
// same program is neither.
func TestBreakPackage(t *testing.T) {
	before, err := os.ReadFile("testdata/tiny/tiny.go")
	if err != nil {
		t.Fatal(err)
	}
	var r packageReport
	code, out, progress := runJSON(t, &r, "-pkg", "./testdata/tiny", "-n", "100")
	if code != 0 || r.Breaks != 12 || r.Caught != 6 || len(r.Survivors) != 6 {
		t.Errorf("got code %d and %+v, want 0 and 12 breaks, 6 caught, 6 survivors\n%s", code, r, progress)
	}
	known := survivor{"tiny.go", 16, "arithmetic", "return n + 1", "return n - 1"}
	if !slices.Contains(r.Survivors, known) {
		t.Errorf("got the survivors %v without %v", r.Survivors, known)
	}
	if !strings.Contains(out, "tiny.go:16") || !strings.Contains(out, "+ return n - 1") {
		t.Errorf("got the table %s", out)
	}
	for _, s := range r.Survivors {
		if s.Line == 8 {
			t.Errorf("got the survivor %+v, which TestLimit notices", s)
		}
	}
	if !strings.Contains(progress, "100 breaks were wanted, and 12 were found") {
		t.Errorf("got %s", progress)
	}
	after, err := os.ReadFile("testdata/tiny/tiny.go")
	if err != nil || string(after) != string(before) {
		t.Errorf("the file changed: %v\n%s", err, after)
	}
}

// The same seed draws the same breaks, however many are tried at a time.
func TestBreakPackageIsRepeatable(t *testing.T) {
	var first, second packageReport
	runJSON(t, &first, "-pkg", "./testdata/tiny", "-n", "4", "-seed", "3", "-par", "1")
	runJSON(t, &second, "-pkg", "./testdata/tiny", "-n", "4", "-seed", "3", "-par", "4")
	if first.Breaks != 4 || first.Caught != second.Caught || !slices.Equal(first.Survivors, second.Survivors) {
		t.Errorf("got %+v, then %+v, want the same four", first, second)
	}
}

func TestBreakPackageRefuses(t *testing.T) {
	for _, c := range []struct {
		name string
		args []string
		want string
	}{
		{"nothing", nil, "say what to break"},
		{"both", []string{"-rows", "-pkg", "./testdata/tiny"}, "give one of them"},
		{"none", []string{"-pkg", "./testdata/tiny", "-n", "0"}, "-n 0 -par 2: both must be at least 1"},
		{"no such package", []string{"-pkg", "./testdata/nowhere"}, "go list ./testdata/nowhere"},
		{"several packages", []string{"-pkg", "../peer/..."}, "only one can be broken at a time"},
		{"no tests", []string{"-pkg", "../enginetest"}, "it has no tests"},
		{"failing tests", []string{"-pkg", "./testdata/failing"}, "its tests fail as it is"},
		{"a flag that is not there", []string{"-package", "."}, "not defined"},
	} {
		t.Run(c.name, func(t *testing.T) {
			var out, errs strings.Builder
			if code := run(t.Context(), c.args, &out, &errs); code != 2 || !strings.Contains(errs.String(), c.want) {
				t.Errorf("got %d, %q, want 2, %q", code, errs.String(), c.want)
			}
		})
	}
}

func TestBreakPackageIsInterrupted(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	var out strings.Builder
	if err := breakPackage(ctx, options{dir: ".", parallel: 2, progress: &out}, "./testdata/tiny", 3, 1, &out); err == nil {
		t.Errorf("got no error, and %s", out.String())
	}
}

// A break that makes the tests hang is caught by the time limit. What the tests started ends with them.
func TestTimeLimit(t *testing.T) {
	p, err := loadTests(t.Context(), ".", "./testdata/hanging")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	nothing, err := writeOverlay(dir, nil)
	if err != nil {
		t.Fatal(err)
	}
	binary := filepath.Join(dir, "hanging.test")
	if err := p.build(t.Context(), nothing, binary); err != nil {
		t.Fatal(err)
	}
	begin := time.Now()
	o, err := p.run(t.Context(), nothing, binary, "", 500*time.Millisecond)
	if err != nil || !o.timeout || o.passed {
		t.Errorf("got %+v, %v, want a timeout", o, err)
	}
	if took := time.Since(begin); took >= linger {
		t.Errorf("it took %v: the child was not killed, and kept the output open", took)
	}
}

func TestOverlay(t *testing.T) {
	p, err := loadTests(t.Context(), ".", "./testdata/tiny")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	build := func(text string) error {
		path, err := overlay(dir, p.files[0], []byte(text))
		if err != nil {
			t.Fatal(err)
		}
		err = p.build(t.Context(), path, filepath.Join(dir, "tiny.test"))
		return err
	}
	if err := build("package tiny\n\nfunc Limit(n int) error { return nil }\n"); err != nil {
		t.Errorf("got %v, want the tests of another program", err)
	}
	if err := build("package tiny\n\nfunc Limit(n int) bool { return true }\n"); !errors.Is(err, errCompile) || !strings.Contains(err.Error(), "tiny_test.go") {
		t.Errorf("got %v, want what does not compile", err)
	}
}

func TestTailKeepsTheEnd(t *testing.T) {
	out := tail{limit: 4}
	for _, text := range []string{"abc", "defgh", "i"} {
		if n, err := out.Write([]byte(text)); n != len(text) || err != nil {
			t.Errorf("got %d, %v", n, err)
		}
	}
	if got := out.text.String(); got != "fghi" {
		t.Errorf("got %q, want fghi", got)
	}
}
