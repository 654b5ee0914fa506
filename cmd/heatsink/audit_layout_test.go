package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/heatsink-go/heatsink/heat"
	"github.com/heatsink-go/heatsink/layout"
)

var eventDay = time.Date(2024, 12, 2, 15, 0, 0, 0, time.UTC)

// writeExport writes an export of items that a layout spreads, and returns the file's name.
func writeExport(t *testing.T, l layout.Layout, key string, ids int) string {
	t.Helper()
	var lines bytes.Buffer
	for i := range ids {
		id := fmt.Sprintf("order-%05d", i)
		stored, err := l.ShardKey(key, eventDay, l.Shard(id))
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(&lines, `{"Item":{"pk":{"S":%q},"sk":{"S":%q}}}`+"\n", stored, id)
	}
	name := filepath.Join(t.TempDir(), "data.json")
	if err := os.WriteFile(name, lines.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	return name
}

// Both findings about shards, as text and as JSON, for every way to spell shards.
func TestAuditOfShards(t *testing.T) {
	noAccount(t)
	for _, test := range []struct {
		template string
		bucket   layout.Bucket
		first    string // beyond four shards
	}{
		{"{key}#SHARD_{shard}", layout.NoBucket, "4"},
		{"{key}#SHARD#{shard}", layout.NoBucket, "4"},
		{"{key}#{shard}", layout.NoBucket, "4"},
		{"{key}.{shard1}", layout.NoBucket, "5"},
		{"{key}.{shard:03}", layout.NoBucket, "004"},
		{"{key}[#SHARD_{shard}]", layout.NoBucket, "4"},
		{"{key}#{bucket}#SHARD_{shard}", layout.Day, "4"},
		{"{key}#{bucket:-}#{shard}", layout.Hour, "4"},
		{"{key}#{bucket}[#{shard1:02}]", layout.Year, "05"},
	} {
		t.Run(test.template, func(t *testing.T) {
			format, err := layout.ParseFormat(test.template)
			if err != nil {
				t.Fatal(err)
			}
			spread := layout.Layout{Shards: 16, Bucket: test.bucket, Format: format}
			name := writeExport(t, spread, "VIEWS", 400)
			args := []string{"audit", "orders", "--export", name, "--key", "pk", "--layout", test.template, "--shards"}
			stdout, stderr, code := command(t, append(args, "4", "--fail-on", "critical")...)
			for _, want := range []string{"critical  orders: Partition key 'VIEWS", "is shard ", "ask for 4 shards: they miss it", "do:  raise the number of shards of all readers first"} {
				if code != 1 || !strings.Contains(stdout, want) {
					t.Errorf("exit %d, no %q in\n%s%s", code, want, stdout, stderr)
				}
			}
			stdout, _, code = command(t, append(args, "4", "--json")...)
			var document auditDocument
			if err := json.Unmarshal([]byte(stdout), &document); err != nil || code != 0 {
				t.Fatalf("exit %d, %v", code, err)
			}
			stray := document.Reports[0].Resources[0].Stored.Sharded[0]
			if len(stray.Strays) != 12 || !slices.ContainsFunc(stray.Strays, func(s heat.Stray) bool { return s.Number == test.first }) {
				t.Errorf("got %+v", stray)
			}
			if stdout, _, code = command(t, append(args, "16", "--fail-on", "info")...); code != 0 {
				t.Errorf("16 shards: exit %d\n%s", code, stdout)
			}
		})
	}
}

// The hash of an old guide, as audit shows it.
func TestAuditOfAnUnevenKey(t *testing.T) {
	noAccount(t)
	spread := layout.Layout{Shards: 200, Hash: layout.Product, Format: layout.DotFromOne()}
	name := writeExport(t, spread, "2014-07-09", 10_000)
	args := []string{"audit", "orders", "--export", name, "--key", "pk"}
	stdout, stderr, code := command(t, append(args, "--layout", "{key}.{shard1}", "--shards", "200", "--fail-on", "warning")...)
	for _, want := range []string{
		"Partition key '2014-07-09.1' takes 100% of what 200 shards of '2014-07-09' should share",
		"the fullest shard has 10,000 of at most 10,000 items, 100.0%; a fair share of 200 shards is 0.5%",
		"1 of 200 shards seen", "layout.Product", "XXHash, FNV or MD5",
	} {
		if code != 1 || !strings.Contains(stdout, want) {
			t.Errorf("exit %d, no %q in\n%s%s", code, want, stdout, stderr)
		}
	}
	if stdout, _, _ = command(t, args...); strings.Contains(stdout, "200 shards") {
		t.Errorf("a plain number is no shard unless that is said:\n%s", stdout)
	}
}

// Layouts that mean nothing are refused, each with what is wrong.
func TestAuditRefusesLayouts(t *testing.T) {
	noAccount(t)
	name := writeExport(t, layout.Layout{Shards: 2}, "A", 10)
	for _, test := range []struct {
		args []string
		want string
	}{
		{[]string{"--layout", "{key}.{shard}"}, "--layout does nothing without --shards N"},
		{[]string{"--widths"}, "--widths does nothing without --shards N"},
		{[]string{"--unsharded"}, "--unsharded does nothing without --shards N"},
		{[]string{"--shards", "0"}, "Shards is 0: it must be between 1 and 65536"},
		{[]string{"--shards", "-3"}, "Shards is -3: it must be between 1 and 65536"},
		{[]string{"--shards", "70000"}, "Shards is 70000: it must be between 1 and 65536"},
		{[]string{"--shards", "x"}, "x"},
		{[]string{"--shards", "4", "--layout", "{shard}"}, "does not begin with {key}"},
		{[]string{"--shards", "4", "--layout", "{key}"}, "has no {shard}"},
		{[]string{"--shards", "4", "--layout", "{key}#{bucket}"}, "has no {shard}"},
		{[]string{"--shards", "4,8", "--layout", "{key}#{shard}"}, "--shards has 2 numbers for 1 layout: give one number for all, or one for each"},
		{[]string{"--shards", "4,8", "--layout", "{key}#{shard}", "--layout", "{key}#{shard}"}, "two layouts spell shards alike"},
		{[]string{"--shards", "4", "--layout", "={key}#{shard}"}, "INDEX=TEMPLATE"},
	} {
		_, stderr, code := command(t, append([]string{"audit", "orders", "--export", name, "--key", "pk"}, test.args...)...)
		if code != 2 || !strings.Contains(stderr, test.want) {
			t.Errorf("%q: exit %d, %q, want %q", test.args, code, stderr, test.want)
		}
	}
}

// A layout can be an index's.
func TestAuditOfAShardedIndex(t *testing.T) {
	noAccount(t)
	name := filepath.Join(t.TempDir(), "data.json")
	if err := os.WriteFile(name, []byte(`{"Item":{"pk":{"S":"A#9"},"status":{"S":"OPEN#9"}}}`), 0o600); err != nil {
		t.Fatal(err)
	}
	stdout, stderr, _ := command(t, "audit", "orders", "--export", name, "--key", "pk", "--key", "byStatus=status",
		"--layout", "byStatus={key}#{shard}", "--shards", "4")
	if !strings.Contains(stdout, "critical  orders/byStatus: Partition key 'OPEN#9' is shard 9") || strings.Contains(stdout, "'A#9' is shard") {
		t.Errorf("%s%s", stdout, stderr)
	}
}

// A layout of an index that nothing looks at is refused, with the indexes that there are.
func TestAuditRefusesIndexes(t *testing.T) {
	endpoint := serveHot(t)
	name := writeExport(t, layout.Layout{Shards: 2}, "A", 10)
	for _, source := range [][]string{nil, {"--insights"}, {"--stream", "--from-start"}, {"--scan", "--export", name, "--key", "pk"}} {
		args := append([]string{"audit", "brands", "--endpoint", endpoint, "--shards", "4", "--layout", "byStatsu={key}#SHARD_{shard}"}, source...)
		_, stderr, code := command(t, args...)
		if want := `table "brands" does not have index "byStatsu": its global indexes are byStatus`; code != 2 || !strings.Contains(stderr, want) {
			t.Errorf("%q: exit %d, %q, want %q", source, code, stderr, want)
		}
	}
	args := []string{"audit", "brands", "--endpoint", endpoint, "--shards", "4", "--layout", "byStatus={key}#SHARD_{shard}"}
	if _, stderr, code := command(t, args...); code != 0 {
		t.Errorf("an index that there is: exit %d, %q", code, stderr)
	}
	noAccount(t)
	args = []string{"audit", "orders", "--export", name, "--key", "pk", "--shards", "4", "--layout", "byStatus={key}#SHARD_{shard}"}
	if _, stderr, code := command(t, args...); code != 2 || !strings.Contains(stderr, "--key byStatus=NAME") {
		t.Errorf("of an export: exit %d, %q", code, stderr)
	}
}

// Items that were there before a table was sharded are found, unless readers are said to read them.
func TestAuditOfAnAdoption(t *testing.T) {
	noAccount(t)
	var lines bytes.Buffer
	for i := range 700 {
		key := "ACTIVE"
		if i >= 300 {
			key = fmt.Sprintf("ACTIVE#SHARD_%d", i%4)
		}
		fmt.Fprintf(&lines, `{"Item":{"pk":{"S":%q},"sk":{"S":"%d"}}}`+"\n", key, i)
	}
	name := filepath.Join(t.TempDir(), "data.json")
	if err := os.WriteFile(name, lines.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	args := []string{"audit", "orders", "--export", name, "--key", "pk", "--shards", "4", "--fail-on", "critical"}
	stdout, stderr, code := command(t, args...)
	for _, want := range []string{"'ACTIVE' has no shard number, but numbered shards of it were seen; it has 300 items", "Options.Older: []layout.Layout{{}}", "Format.BareZero"} {
		if code != 1 || !strings.Contains(stdout, want) {
			t.Errorf("exit %d, no %q in\n%s%s", code, want, stdout, stderr)
		}
	}
	if stdout, stderr, code = command(t, append(args, "--unsharded")...); code != 0 || strings.Contains(stdout, "hot by design") {
		t.Errorf("--unsharded: exit %d\n%s%s", code, stdout, stderr)
	}
}
