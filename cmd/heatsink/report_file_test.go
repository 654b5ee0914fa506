package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// report returns a report of one flow of writes.
func reportOf(flow string) string {
	return `{"source":"stream","from":"2026-11-19T10:00:00Z","to":"2026-11-19T10:01:00Z","resources":[{"table":"app","key":["pk"],"reads":{},"writes":` + flow + `}]}`
}

const soundFlow = `{"units":60000,"requests":60000,"keys":[{"key":"a","units":60000,"low":60000,"rate":1000,"rateLow":1000,"share":1,"requests":60000}],"trend":[]}`

// What no program has counted is refused by whatever reads reports, and so is what does not fit into memory.
func TestReportsThatNobodyWrote(t *testing.T) {
	sound := reportOf(soundFlow)
	for name, c := range map[string]struct{ text, want string }{
		"sound":             {sound, ""},
		"after a round":     {strings.Replace(sound, "60000", "-1", 1) + "\n" + sound, ""},
		"negative units":    {strings.Replace(sound, `"units":60000`, `"units":-1e9`, 1), `the report of source "stream" has for the writes of "app" units: -1e+09, want 0 to 1e+18`},
		"negative requests": {strings.Replace(sound, `"requests":60000`, `"requests":-60000`, 1), "requests: -60000, want 0"},
		"negative rate":     {strings.Replace(sound, `"rateLow":1000`, `"rateLow":-5000`, 1), `key "a" with rateLow: -5000, want 0 to 1e+12`},
		"huge rate":         {strings.Replace(sound, `"rateLow":1000`, `"rateLow":1e20`, 1), `key "a" with rateLow: 1e+20, want 0 to 1e+12`},
		"huge demand":       {strings.Replace(sound, `"share":1`, `"share":1e-200`, 1), `key "a" with rateLow by share: 1e+203`},
		"before its time":   {strings.Replace(sound, "10:01:00", "09:00:00", 1), "ends at 2026-11-19T09:00:00Z, before it begins"},
		"negative latency":  {strings.Replace(sound, `"trend":[]`, `"latency":{"p50":-1}`, 1), "a latency of -1ns, want 0 to 8784h0m0s"},
		"endless latency":   {strings.Replace(sound, `"trend":[]`, `"latency":{"p99":9223372036854775807}`, 1), "a latency of 2562047h47m16.854775807s"},
		"odd trend":         {strings.Replace(sound, `"trend":[]`, `"trend":[{"for":-1}]`, 1), "a point of its trend with 0 units and 0 throttled in -1ns"},
		"odd capacity":      {strings.Replace(sound, `"reads":{}`, `"reads":{},"capacity":{"warmWrites":-5}`, 1), `for the capacity of "app" warmWrites: -5`},
		"long trend":        {strings.Replace(sound, `"trend":[]`, `"trend":[{}`+strings.Repeat(",{}", maxElements+1)+"]", 1), `its lists, such as "trend", have more than 300,000 elements together`},
		"many tables":       {strings.Replace(sound, `"source"`, `"Re\u0073ources":[{}`+strings.Repeat(",{}", maxResources+1)+`],"source"`, 1), `"Resources" has more than 10,000 elements`},
		"long":              {strings.Replace(sound, `"a"`, `"`+strings.Repeat("a", maxReport)+`"`, 1), "one report has more than 67,108,864 bytes (64 MB)"},
	} {
		file := filepath.Join(t.TempDir(), "report.json")
		if err := os.WriteFile(file, []byte(c.text), 0o600); err != nil {
			t.Fatal(err)
		}
		for _, args := range [][]string{{"plan", "--report", file}, {"lab", "replay", file, "--yaml"}} {
			_, stderr, code := command(t, args...)
			if c.want == "" && code != 0 || c.want != "" && (code != 2 || !strings.Contains(stderr, c.want)) || len(stderr) > 1000 {
				t.Errorf("%s: %s: exit %d, %.1000s, want %q", name, args, code, stderr, c.want)
			}
		}
		if name == "long" {
			if _, stderr, _ := command(t, "plan", "--report", file); !strings.Contains(stderr, fmt.Sprintf("report.json: %d,%03d,%03d bytes: ", len(c.text)/1e6, len(c.text)/1000%1000, len(c.text)%1000)) {
				t.Errorf("got %.1000s", stderr)
			}
		}
	}
}

// A command that waits for its input ends with its context, as the first signal ends it.
func TestWaitingForInputEnds(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for _, args := range [][]string{{"plan", "--report", "-"}, {"lab", "replay", "-"}} {
		in, out := io.Pipe() // nobody writes
		defer out.Close()
		root := newRoot()
		root.SetArgs(args)
		root.SetIn(in)
		root.SetOut(&bytes.Buffer{})
		root.SetErr(&bytes.Buffer{})
		if err := root.ExecuteContext(ctx); err == nil || !strings.Contains(err.Error(), "context canceled") {
			t.Errorf("%s: got %v", args, err)
		}
	}
}
