package main

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/heatsink-go/heatsink/internal/lab/simulate"
)

func TestLabLs(t *testing.T) {
	stdout, stderr, code := command(t, "lab", "ls")
	if code != 0 || !strings.Contains(stdout, "throughput ") || !strings.Contains(stdout, "million ") {
		t.Errorf("exit %d, %s%s", code, stdout, stderr)
	}
}

// What show prints can be changed and run.
func TestLabShowThenRun(t *testing.T) {
	stdout, _, code := command(t, "lab", "show", "cost")
	if code != 0 {
		t.Fatal(stdout)
	}
	dir := t.TempDir()
	file, page := filepath.Join(dir, "mine.yaml"), filepath.Join(dir, "mine.html")
	if err := os.WriteFile(file, []byte(strings.Replace(stdout, "duration: 20s", "duration: 5s", 1)), 0o600); err != nil {
		t.Fatal(err)
	}
	stdout, stderr, code := command(t, "lab", "run", file, "--html", page)
	if code != 0 || !strings.Contains(stdout, "mine: 5s of virtual time") || !strings.Contains(stdout, "heatsink, 64 shards") {
		t.Errorf("exit %d, %s%s", code, stdout, stderr)
	}
	if text, err := os.ReadFile(page); err != nil || !strings.Contains(string(text), "<svg") {
		t.Errorf("got %v", err)
	}
	t.Chdir(dir)
	stdout, stderr, code = command(t, "lab", "run", file, "--html", "-")
	if _, err := os.Stat("-"); code != 0 || !strings.HasPrefix(stdout, "<!doctype html>") || strings.Contains(stderr, "wrote") || err == nil {
		t.Errorf("exit %d, %.200s%s, a file named -: %v", code, stdout, stderr, err == nil)
	}
	first, _, _ := command(t, "lab", "run", file, "--csv", "--seed", "3")
	second, _, _ := command(t, "lab", "run", file, "--csv", "--seed", "3")
	if first != second || !strings.HasPrefix(first, "scenario,layout,second,") {
		t.Errorf("the same seed gives\n%.200s\nand\n%.200s", first, second)
	}
	aggregate, _, code := command(t, "lab", "run", file, "--aggregate", "--json")
	var result simulate.Result
	if err := json.Unmarshal([]byte(aggregate), &result); err != nil || code != 0 || result.Runs[0].Latency != nil || result.Runs[0].ServedUnits < 900 {
		t.Errorf("exit %d, %v, %+v", code, err, result.Runs)
	}
}

func TestLabErrors(t *testing.T) {
	dir := t.TempDir()
	wrong, large := filepath.Join(dir, "wrong.yaml"), filepath.Join(dir, "large.yaml")
	for name, text := range map[string]string{
		wrong: "title: t\nlaod: []\n",
		large: "title: t\nduration: 1h\nload: [{per-second: 1000000, keys: {one: a}}]\nlayouts: [{kind: none}]\n",
	} {
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"run", "nothing"}, `there is no scenario "nothing"; there are adaptive,`},
		{[]string{"run", wrong}, `line 2: a scenario has no field "laod"; its fields are`},
		{[]string{"run", large}, "set mode: aggregate"},
		{[]string{"run", filepath.Join(dir, "none.yaml")}, "no such file"},
		{[]string{"run", "cost", "--json", "--csv"}, "--csv and --json write to stdout: give one of them"},
		{[]string{"run", "cost", "--json", "--html", "-"}, "--html - and --json write to stdout: give one of them"},
		{[]string{"show", "nothing"}, "there is no scenario"},
		{[]string{"replay", wrong}, "not a report"},
	} {
		stdout, stderr, code := command(t, append([]string{"lab"}, c.args...)...)
		if code != 2 || !strings.Contains(stderr, c.want) || stdout != "" {
			t.Errorf("%v: exit %d, %s%s, want %q", c.args, code, stdout, stderr, c.want)
		}
	}
}

// A report that was recorded is replayed with other layouts.
func TestLabReplay(t *testing.T) {
	file := filepath.Join(t.TempDir(), "report.json")
	const report = `{"source":"live","from":"2026-11-18T10:00:00Z","to":"2026-11-18T10:00:20Z","resources":[{"table":"orders","reads":{},
"writes":{"units":40000,"requests":40000,"keys":[{"key":"HOT","units":36000,"requests":36000}],"distinct":{"keys":100}}}]}`
	if err := os.WriteFile(file, []byte(report), 0o600); err != nil {
		t.Fatal(err)
	}
	stdout, stderr, code := command(t, "lab", "replay", file, "--shards", "16", "--adaptive")
	for _, want := range []string{"Recorded traffic of orders", "without shards", "heatsink, 16 shards", "heatsink, adaptive"} {
		if code != 0 || !strings.Contains(stdout, want) {
			t.Errorf("exit %d, no %q in %s%s", code, want, stdout, stderr)
		}
	}
	stdout, _, code = command(t, "lab", "replay", file, "--yaml")
	if code != 0 || !strings.Contains(stdout, "key: HOT") {
		t.Errorf("exit %d, %s", code, stdout)
	}
}

// A run that is interrupted says so, and prints nothing that could be taken for a result.
func TestLabRunInterrupted(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for _, args := range [][]string{{"lab", "run", "cost"}, {"lab", "results"}} {
		var stdout, stderr bytes.Buffer
		if code := run(ctx, args, &stdout, &stderr); code != 2 || stdout.Len() > 0 || !strings.Contains(stderr.String(), "interrupted") {
			t.Errorf("%v: exit %d, stdout %q, stderr %q", args, code, &stdout, &stderr)
		}
	}
}
