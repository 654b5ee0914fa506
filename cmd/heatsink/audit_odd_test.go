package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/heatsink-go/heatsink/heat"
	"github.com/heatsink-go/heatsink/layout"
	"github.com/heatsink-go/heatsink/local/partitions"
)

// evil is what a terminal would obey: a sequence that clears it, one in eight bits, and text that runs backwards.
const evil = "a\x1b[2J\x9b2J\u202eb"

// obeyed returns the first character that a terminal would obey, or that is no character, if there is any.
func obeyed(text string) (rune, bool) {
	for i, c := range text {
		if _, size := utf8.DecodeRuneInString(text[i:]); c == utf8.RuneError && size == 1 || c != '\n' && !unicode.IsPrint(c) {
			return c, true
		}
	}
	return 0, false
}

// Nothing that a key, an index or a server has in it is obeyed by the terminal.
func TestAuditAndTopPrintNoControlCharacters(t *testing.T) {
	now := time.Now()
	flow := heat.Flow{
		Units: 5000, Requests: 5000, Throttled: 50, Throttles: []heat.ThrottleCount{{Reason: evil, Count: 50}},
		Keys:     []heat.KeyHeat{{Key: evil + "#SHARD_9", Units: 5000, RateLow: 2000, Rate: 2000, Refused: 3, Reason: evil, Requests: 5000, Share: 1}},
		Distinct: heat.Distinct{Keys: 2},
	}
	report := heat.Report{
		Source: evil, From: now.Add(-time.Minute), To: now, Notes: []string{evil},
		Resources: []heat.ResourceReport{{
			Resource: heat.Resource{Table: evil, Index: evil}, Key: []string{evil}, Writes: flow, Reads: flow,
			Stored:   &heat.Stored{Items: 500, Fraction: 1, Keys: []heat.KeyItems{{Key: evil, Items: 500, Low: 500, Share: 1}}},
			Patterns: []heat.Pattern{{Shape: evil, Example: evil, Items: 500, Distinct: heat.Distinct{Keys: 1}}},
		}},
	}
	if err := report.Fold(heat.Layout{Layout: layout.Layout{Shards: 4}}); err != nil {
		t.Fatal(err)
	}
	findings := heat.Explain(report, heat.Rules{})
	if len(findings) < 3 {
		t.Fatalf("got %+v", findings)
	}
	var out strings.Builder
	writeReports(newScreen(&out), []heat.Report{report}, findings, 10)
	round := topRound{Report: report, Partitions: []partitions.Heat{{
		Table: evil, Index: evil, Partitions: []partitions.Partition{{Lower: evil}},
	}}}
	view := top{table: evil, keys: 10}
	for _, line := range view.lines(newScreen(&out), round) {
		out.WriteString(line + "\n")
	}
	for line := range strings.Lines(out.String()) {
		if c, found := obeyed(line); found {
			t.Errorf("%q has %q", line, c)
		}
	}
}

// A time of nothing, and a key that is none, are refused: they would be taken for the default, or hide a hot key.
func TestAuditRefusesWhatMeansNothing(t *testing.T) {
	for _, test := range []struct {
		args []string
		want string
	}{
		{[]string{"--stream", "--follow", "0s"}, "--follow 0s: want more than 0"},
		{[]string{"--cloudwatch", "--last", "0"}, "--last 0s: want more than 0"},
		{[]string{"--export", "a.json", "--key", "pk", "--key", "sk"}, `table "orders" has one partition key, but --key gives ["pk" "sk"]`},
		{[]string{"--export", "a.json", "--key", "pk", "--key", "byStatus=a", "--key", "byStatus=a"}, `--key names "a" twice for "orders/byStatus"`},
	} {
		_, stderr, code := command(t, append([]string{"audit", "orders", "--endpoint", "http://127.0.0.1:1"}, test.args...)...)
		if code != 2 || !strings.Contains(stderr, test.want) {
			t.Errorf("%q: exit %d, %q, want %q", test.args, code, stderr, test.want)
		}
	}
}

// The name of a file is no command to the terminal either.
func TestAuditOfAnOddlyNamedExport(t *testing.T) {
	noAccount(t)
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "a\x1b[2J.json"), []byte(`{"Item":{"pk":{"S":"a"}}}`), 0o600); err != nil {
		t.Fatal(err)
	}
	_, stderr, code := command(t, "audit", "orders", "--export", filepath.Join(dir, "*.json"), "--key", "pk")
	if c, found := obeyed(stderr); found || code != 0 {
		t.Errorf("exit %d, %q has %q", code, stderr, c)
	}
	if err := os.WriteFile(filepath.Join(dir, "b\x1b[2J.json"), []byte(`{`), 0o600); err != nil {
		t.Fatal(err)
	}
	_, stderr, code = command(t, "audit", "orders", "--export", filepath.Join(dir, "b*.json"), "--key", "pk")
	if c, found := obeyed(stderr); found || code != 2 {
		t.Errorf("exit %d, %q has %q", code, stderr, c)
	}
}
