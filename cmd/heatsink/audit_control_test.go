package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/heatsink-go/heatsink/heat"
	"github.com/heatsink-go/heatsink/layout"
)

// ledgerKey returns the key of the ledger of a brand.
func ledgerKey(brand string) string {
	return layout.ControlKey{Role: layout.RoleLedger, Collection: "brands", Key: brand}.String()
}

// The control items of an adaptive collection are in one line of an audit, and in nothing else that it says.
func TestAuditLeavesControlItemsOut(t *testing.T) {
	endpoint, client := serveTable(t)
	sources := [][]string{{"--scan"}, {"--stream", "--from-start"}}
	audit := func(source []string, more ...string) string {
		t.Helper()
		stdout, stderr, code := command(t, append(append([]string{"audit", "brands", "--endpoint", endpoint}, source...), more...)...)
		if code != 0 {
			t.Fatalf("exit %d: %s", code, stderr)
		}
		return stdout
	}
	var before []string
	for _, source := range sources {
		before = append(before, audit(source))
	}
	for i := range 150 { // one key with more items than any other, and many keys
		putBrand(t, client, ledgerKey("OPS_LOG"), i)
		putBrand(t, client, ledgerKey(strings.Repeat("x", i+1)), 0)
	}
	for i, source := range sources {
		got := audit(source)
		var rest, said []string
		for line := range strings.Lines(got) {
			if strings.Contains(line, "control items") {
				said = append(said, line)
			} else {
				rest = append(rest, line)
			}
		}
		if a, b := unhurried(before[i]), unhurried(strings.Join(rest, "")); a != b {
			t.Errorf("%v: before:\n%s\nwith control items:\n%s", source, a, b)
		}
		want := []string{"control items of adaptive collections, counted apart: 300 items, ", "control items of adaptive collections, counted apart: 300 write units in 300 requests"}[i]
		if len(said) != 1 || !strings.Contains(said[0], want) {
			t.Errorf("%v: got %q, want %q", source, said, want)
		}
		var document auditDocument
		written := audit(source, "--json")
		if err := json.Unmarshal([]byte(written), &document); err != nil || strings.Contains(written, layout.ControlPrefix) {
			t.Errorf("%v: %v: %s", source, err, written)
		}
		r := document.Reports[0].Resources[0]
		if r.Stored != nil && (r.Stored.Control.Items != 300 || r.Stored.Items != 240) || r.Stored == nil && (r.Writes.Control.Units != 300 || r.Writes.Units != 240) {
			t.Errorf("%v: got %+v and %+v", source, r.Stored, r.Writes)
		}
	}
}

// unhurried returns what an audit says without its times and rates, which depend on when it ran.
func unhurried(text string) string {
	var lines []string
	for line := range strings.Lines(text) {
		switch {
		case strings.HasPrefix(line, string(heat.Stream)+","), strings.HasPrefix(line, string(heat.Scan)+","), strings.Contains(line, " second"):
			continue
		case strings.Contains(line, "/s"):
			line = strings.Fields(line)[0] + "\n"
		}
		lines = append(lines, line)
	}
	return strings.Join(lines, "")
}

// An export of a table that has control items and nothing else is not empty.
func TestAuditOfAnExportOfControlItems(t *testing.T) {
	noAccount(t)
	file := filepath.Join(t.TempDir(), "export.json")
	if err := os.WriteFile(file, []byte(`{"Item":{"pk":{"S":"`+ledgerKey("OPS_LOG")+`"},"_hs_r":{"N":"4"}}}`+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	stdout, stderr, code := command(t, "audit", "brands", "--export", file, "--key", "pk")
	if code != 0 || !strings.Contains(stdout, "0 items (100%) under 0 keys") || !strings.Contains(stdout, "counted apart: 1 item, 30 bytes") || !strings.Contains(stdout, "no findings") {
		t.Errorf("exit %d: %s%s", code, stdout, stderr)
	}
}

// top has a line about control items, and no key of theirs.
func TestTopLeavesControlItemsOut(t *testing.T) {
	t.Parallel()
	s := serve(t, "--physics")
	c := client(s.url, "local", "local")
	if err := createTable(t.Context(), c, "things"); err != nil {
		t.Fatal(err)
	}
	look := func() string {
		t.Helper()
		stdout, stderr, code := command(t, "top", "things", "--endpoint", s.url, "--last", "300ms", "--every", "200ms")
		if code != 0 {
			t.Fatalf("exit %d: %s", code, stderr)
		}
		return stdout
	}
	const line = "things: control items of adaptive collections, counted apart: 3 write units in 3 requests"
	for range 3 {
		if err := putThing(t.Context(), c, ledgerKey("PAGE#viral"), ""); err != nil {
			t.Fatal(err)
		}
	}
	if got := look(); !strings.Contains(got, line) || strings.Contains(got, layout.ControlPrefix) || strings.Contains(got, "things writes") || strings.Contains(got, "no requests yet") {
		t.Errorf("got %s", got)
	}
	if err := putThing(t.Context(), c, "PAGE#1", ""); err != nil {
		t.Fatal(err)
	}
	if got := look(); !strings.Contains(got, line) || !strings.Contains(got, "total 1) on 1 key") {
		t.Errorf("got %s", got)
	}
}

// A key that has grown is one row with all of its items. Its older shards hold more, which is no finding, and nobody is told
// to shard it.
func TestAuditOfAKeyThatHasGrown(t *testing.T) {
	endpoint, client := serveTable(t)
	putBrand(t, client, ledgerKey("OPEN"), 0)
	stored := map[string]int{"OPEN": 300, "OPEN#SHARD_1": 150}
	for shard := 2; shard < 16; shard++ {
		stored["OPEN#SHARD_"+strconv.Itoa(shard)] = 20
	}
	for key, items := range stored {
		for i := range items {
			putBrand(t, client, key, i)
		}
	}
	stdout, stderr, code := command(t, "audit", "brands", "--endpoint", endpoint)
	if code != 0 {
		t.Fatalf("exit %d: %s", code, stderr)
	}
	rows, findings, _ := strings.Cut(stdout, "note:")
	if strings.Count(rows, "\n  OPEN ") != 1 || !regexp.MustCompile(`\n  OPEN +730 items +75\.3% +16 shards, the fullest takes 41 %\n`).MatchString(rows) {
		t.Errorf("the key is not one row with 730 items: %s", rows)
	}
	if strings.Contains(findings, "OPEN") {
		t.Errorf("a finding is about the key: %s", findings)
	}
}
