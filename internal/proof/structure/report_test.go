package main

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"
)

// The real program cannot be built in the tree small. That is said, and misses the goals.
func TestRun(t *testing.T) {
	var out, errOut strings.Builder
	if code := run(t.Context(), []string{"-tree", "testdata/small"}, &out, &errOut); code != 1 {
		t.Errorf("got exit code %d, want 1; %s", code, errOut.String())
	}
	lines := strings.Split(strings.TrimSpace(out.String()), "\n")
	var got report
	if err := json.Unmarshal([]byte(lines[len(lines)-1]), &got); err != nil {
		t.Fatalf("the last line is no JSON: %v", err)
	}
	if got.RootFiles != 4 || got.Commit != "" || got.Before == nil || got.Before.RootFiles != 54 || got.Seconds <= 0 {
		t.Errorf("got %+v, want 4 files of no commit, and 54 before", got)
	}
	same(t, "missed", got.Missed, []string{
		"root files on the way of a Put: got not measured, want at most 8",
		"root files on the way of a Query: got not measured, want at most 10",
		"the library links internal/jsonpull: got yes, want no",
	})
	for _, want := range []string{
		"before (f1b77ff894ec) and now (unknown commit)", "3 goals are missed:\n  " + strings.Join(got.Missed, "\n  "), "not measured: go build",
	} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("the output does not contain %q:\n%s", want, out.String())
		}
	}

	out.Reset()
	if code := run(t.Context(), []string{"-tree", "testdata/small", "-json"}, &out, &errOut); code != 1 {
		t.Errorf("with -json: got exit code %d, want 1; %s", code, errOut.String())
	}
	var only report
	if err := json.Unmarshal([]byte(out.String()), &only); err != nil {
		t.Fatalf("with -json: the output is no JSON: %v\n%s", err, out.String())
	}
	if only.RootFiles != 4 || only.Before != nil || only.Seconds != 0 {
		t.Errorf("with -json: got %+v, want 4 files, nothing of before and no time", only)
	}
}

func TestRunRefuses(t *testing.T) {
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"-tree", "testdata"}, "name the root of a checkout"},
		{[]string{"-trees"}, "flag provided but not defined"},
		{[]string{"testdata/small"}, `"testdata/small" is no flag`},
	} {
		var out, errOut strings.Builder
		if code := run(t.Context(), c.args, &out, &errOut); code != 2 || !strings.Contains(errOut.String(), c.want) {
			t.Errorf("%q: got exit code %d and %q, want 2 and %q", c.args, code, errOut.String(), c.want)
		}
	}
}

func TestRecordedBenchmarks(t *testing.T) {
	for _, c := range []struct {
		name  string
		files fstest.MapFS
		want  string
	}{
		{"none", fstest.MapFS{}, "not recorded"},
		{"as they are", fstest.MapFS{"testdata/benchmarks.txt": {Data: []byte("name  sec/op\nPut   1µs\n\n")}}, "name  sec/op\nPut   1µs"},
	} {
		if got, err := recordedBenchmarks(c.files); err != nil || got != c.want {
			t.Errorf("%s: got %q, %v, want %q", c.name, got, err, c.want)
		}
	}
}

func TestCommit(t *testing.T) {
	dir := t.TempDir()
	git := func(args ...string) {
		t.Helper()
		cmd := exec.CommandContext(t.Context(), "git", append([]string{"-C", dir, "-c", "user.name=a", "-c", "user.email=a@example.com"}, args...)...)
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("git %v: %v\n%s", args, err, out)
		}
	}
	write := func(text string) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(dir, "sub", "a"), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Mkdir(filepath.Join(dir, "sub"), 0o755); err != nil {
		t.Fatal(err)
	}
	git("init", "-q")
	write("1")
	git("add", ".")
	git("commit", "-qm", "one")
	name, modified := commit(t.Context(), dir)
	if len(name) != 40 || modified {
		t.Errorf("got %q, modified %t, want a commit that is not", name, modified)
	}
	write("2")
	if again, modified := commit(t.Context(), dir); again != name || !modified {
		t.Errorf("after a change: got %q, modified %t, want %q and true", again, modified, name)
	}
	if name, _ := commit(t.Context(), filepath.Join(dir, "sub")); name != "" {
		t.Errorf("inside a checkout: got %q, want none", name)
	}
}
