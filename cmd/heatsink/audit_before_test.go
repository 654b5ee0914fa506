package main

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/heatsink-go/heatsink/heat"
)

// hourOf is what CloudWatch and a stream show of a table with a hot key.
func hourOf(from time.Time, capacity, throttled int64, key string) []heat.Report {
	orders, rate := heat.Resource{Table: "orders"}, 990.0
	if throttled == 0 {
		rate = 90
	}
	return []heat.Report{{
		Source: heat.CloudWatch, From: from, To: from.Add(time.Hour), Resources: []heat.ResourceReport{{
			Resource: orders, Capacity: &heat.Capacity{WriteUnits: capacity},
			Writes: heat.Flow{Units: 3600 * 900, Throttled: throttled, Requests: 3600 * 1000, Throttles: []heat.ThrottleCount{{Reason: "TableWriteKeyRangeThroughputExceeded", Count: throttled}}},
		}},
	}, {
		Source: heat.Stream, From: from, To: from.Add(time.Hour), Ended: true, Resources: []heat.ResourceReport{{
			Resource: orders, Writes: heat.Flow{Units: 3600 * 900, Requests: 3600 * 900, Keys: []heat.KeyHeat{{Key: key, Units: 3600 * 800, RateLow: 0.8 * rate, Rate: 0.8 * rate, Busiest: rate, Share: 0.9, Requests: 3600 * 800}}},
		}},
	}}
}

var monday = time.Date(2026, 11, 16, 9, 0, 0, 0, time.UTC)

// More capacity for the same key and as many throttles: it did not help. Where throttles are gone, it is not said.
func TestAuditChange(t *testing.T) {
	for _, c := range []struct {
		name      string
		from      time.Time
		capacity  int64
		throttled int64
		key       string
		want      string // in the evidence of the finding that it did not help; "" if there is none
		note      string
	}{
		{"no help", monday.Add(2 * time.Hour), 4000, 36_000, "EVENTS", "'EVENTS' is the hottest key in both reports", ""},
		{"no help, another key", monday.Add(2 * time.Hour), 4000, 36_000, "ORDERS", "10.0 throttled requests a second before, 10.0 after", ""},
		{"helped", monday.Add(2 * time.Hour), 4000, 0, "EVENTS", "", ""},
		{"not raised", monday.Add(2 * time.Hour), 1000, 36_000, "EVENTS", "", ""},
		{"overlap", monday.Add(10 * time.Minute), 4000, 36_000, "EVENTS", "", "cloudwatch: the reports share 50m, so their rates are not compared: give --last less than the time since the earlier one, 9m at most"},
		{"a bit of overlap", monday.Add(time.Hour - 22*time.Second), 4000, 36_000, "EVENTS", "'EVENTS' is the hottest key in both reports", "cloudwatch: the reports share 22s, whose throttles are counted in both"},
		{"at once", monday.Add(20 * time.Second), 4000, 36_000, "EVENTS", "", "so their rates are not compared: repeat it two minutes after the earlier one at the soonest, with --last 1m"},
	} {
		t.Run(c.name, func(t *testing.T) {
			before := hourOf(monday, 1000, 36_000, "EVENTS")
			was := heat.ExplainAll(heat.Rules{}, before...)
			after := hourOf(c.from, c.capacity, c.throttled, c.key)
			findings, change := (&earlier{reports: before, findings: was}).compare(after, heat.ExplainAll(heat.Rules{}, after...))
			at := slices.IndexFunc(findings, func(f heat.Finding) bool { return f.Kind == heat.NoHelp })
			if (at >= 0) != (c.want != "") {
				t.Fatalf("got %v", findings)
			}
			if at >= 0 && !strings.Contains(strings.Join(findings[at].Evidence, "\n"), c.want) {
				t.Errorf("no %q in %q", c.want, findings[at].Evidence)
			}
			if got := strings.Join(change.Notes, "\n"); !strings.Contains(got, c.note) || c.note == "" && got != "" {
				t.Errorf("got notes %q, want %q", got, c.note)
			}
			if len(change.New)+len(change.Still) != len(findings) || len(change.Gone)+len(change.Still) < len(was) {
				t.Errorf("%d findings, of which %d are new and %d stay; of %d before %d are gone", len(findings), len(change.New), len(change.Still), len(was), len(change.Gone))
			}
			var b bytes.Buffer
			change.write(newScreen(&b))
			if c.name == "no help" {
				for _, want := range []string{
					"since the earlier report", "orders, writes: capacity 1,000, then 4,000; 900.0 units a second, then 900.0; 10.0 throttled a second, then 10.0",
					"still  ", "new    critical: orders: More write capacity did not help",
				} {
					if !strings.Contains(b.String(), want) {
						t.Errorf("no %q in\n%s", want, b.String())
					}
				}
			}
			if c.name == "helped" && (len(change.Gone) == 0 || !strings.Contains(b.String(), "gone   ")) {
				t.Errorf("nothing is gone:\n%s", b.String())
			}
		})
	}
}

// The command compares with a report that it wrote, and refuses those of other tables.
func TestAuditBefore(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) string {
		file := filepath.Join(dir, name)
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return file
	}
	items := func(key func(i int) string) string {
		var b strings.Builder
		for i := range 200 {
			b.WriteString(`{"Item":{"pk":{"S":"` + key(i) + `"}}}` + "\n")
		}
		return b.String()
	}
	hot := write("hot.json", items(func(i int) string { return []string{"EVENTS", "A#1"}[min(i%20, 1)*(1-min(i%2, 1))] }))
	even := write("even.json", items(func(i int) string { return "CUSTOMER#" + string(rune('a'+i%26)) + string(rune('a'+i/26)) }))
	run := func(args ...string) (string, string, int) {
		return command(t, append([]string{"audit", "orders", "--key", "pk"}, args...)...)
	}
	stdout, stderr, code := run("--export", hot, "--json")
	if code != 0 {
		t.Fatalf("exit %d, %s", code, stderr)
	}
	before := write("before.json", stdout)
	stdout, stderr, code = run("--export", even, "--before", before, "--json")
	var document auditDocument
	if err := json.Unmarshal([]byte(stdout), &document); err != nil || code != 0 || document.Change == nil || len(document.Change.Gone) == 0 || len(document.Change.Still) != 0 {
		t.Errorf("exit %d, %v, %s: got %+v", code, err, stderr, document.Change)
	}
	if stdout, stderr, code = run("--export", even, "--before", before); code != 0 || !strings.Contains(stdout, "since the earlier report\n  gone ") {
		t.Errorf("exit %d, %s: %s", code, stderr, stdout)
	}
	if stdout, stderr, code = run("--export", hot, "--before", before); code != 0 || !strings.Contains(stdout, "  still ") || strings.Contains(stdout, "  gone ") {
		t.Errorf("exit %d, %s: %s", code, stderr, stdout)
	}
	if _, stderr, code = command(t, "audit", "customers", "--key", "pk", "--export", hot, "--before", before); code != 2 || !strings.Contains(stderr, `nothing about table "customers", only about ["orders"]`) {
		t.Errorf("of another table: exit %d, %s", code, stderr)
	}
	if _, stderr, code = run("--export", hot, "--before", filepath.Join(dir, "none.json")); code != 2 || !strings.Contains(stderr, "--before: ") {
		t.Errorf("no such file: exit %d, %s", code, stderr)
	}
	if _, stderr, code = run("--export", hot, "--before", hot); code != 2 || !strings.Contains(stderr, "not a report of heatsink audit") {
		t.Errorf("no report: exit %d, %s", code, stderr)
	}
	if stdout, _, _ := run("--export", hot, "--json"); strings.Contains(stdout, `"change"`) {
		t.Error("a change without --before")
	}
}

// Short reports that share a part of a minute are not compared either.
func TestAuditChangeOfShortReports(t *testing.T) {
	ends := time.Date(2026, 11, 16, 21, 19, 22, 0, time.UTC)
	var change auditChange
	before := heat.Report{From: ends.Add(-time.Minute), To: ends}
	after := heat.Report{Source: heat.CloudWatch, From: ends.Truncate(time.Minute), To: ends.Add(time.Minute)}
	if !change.overlaps(&before, &after) || len(change.Notes) != 1 || !strings.Contains(change.Notes[0], "the reports share 22s, so their rates are not compared: repeat it two minutes after") {
		t.Errorf("got %q", change.Notes)
	}
	change.Notes = nil
	if after.From = ends; change.overlaps(&before, &after) || change.Notes != nil {
		t.Errorf("one after the other: got %q", change.Notes)
	}
}

// A finding that a flag, a source or another table hides is not gone. A note says what is not compared.
func TestAuditBeforeComparesWhatBothShow(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) string {
		file := filepath.Join(dir, name)
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return file
	}
	var items strings.Builder
	for i := range 200 {
		items.WriteString(`{"Item":{"pk":{"S":"` + []string{"EVENTS", "EVENTS", "A#1", "B#2"}[i%4] + `"}}}` + "\n")
	}
	export := write("items.json", items.String())
	run := func(args ...string) (string, auditDocument) {
		t.Helper()
		stdout, stderr, code := command(t, append([]string{"audit", "orders", "--key", "pk", "--export", export, "--json"}, args...)...)
		var document auditDocument
		if err := json.Unmarshal([]byte(stdout), &document); code != 0 || err != nil {
			t.Fatalf("exit %d, %s, %v", code, stderr, err)
		}
		return stdout, document
	}
	text, plain := run()
	if len(plain.Findings) == 0 {
		t.Fatal("no findings")
	}
	hashed, _ := run("--hash-keys", "secret")
	excluding, _ := run("--exclude", "EVENTS")
	strict, _ := run("--excess", "0.9")
	two := plain
	two.Reports = append(slices.Clone(plain.Reports), hourOf(monday, 1000, 36_000, "EVENTS")[1])
	two.Reports[1].Resources[0].Table = "customers"
	two.Findings = heat.ExplainAll(heat.Rules{}, two.Reports...)
	streamed := plain
	streamed.Reports = append(slices.Clone(plain.Reports), hourOf(monday, 1000, 36_000, "EVENTS")[1])
	streamed.Findings = heat.ExplainAll(heat.Rules{}, streamed.Reports...)
	marshal := func(d auditDocument) string {
		b, err := json.Marshal(d)
		if err != nil {
			t.Fatal(err)
		}
		return string(b)
	}
	for _, c := range []struct {
		name, before string
		args         []string
		still        bool
		note         string // "" for none
	}{
		{"the same", text, nil, true, ""},
		{"hashed both times", hashed, []string{"--hash-keys", "secret"}, true, ""},
		{"excluded now", text, []string{"--exclude", "EVENTS"}, false, "--exclude leaves out"},
		{"excluded then", excluding, nil, true, ""},
		{"other rules then", strict, nil, true, ""},
		{"hashed now", text, []string{"--hash-keys", "secret"}, false, "keys are hashed now and were not then"},
		{"hashed then", hashed, nil, false, "keys were hashed then and are not now"},
		{"another secret", hashed, []string{"--hash-keys", "other"}, false, "as if the secrets differed"},
		{"another table", marshal(two), nil, true, `also about ["customers"]`},
		{"a source more", marshal(streamed), nil, true, "only the earlier report has read stream"},
	} {
		_, got := run(append(c.args, "--before", write("before.json", c.before))...)
		notes := strings.Join(got.Change.Notes, "\n")
		if len(got.Change.Gone)+len(got.Change.New) > 0 || c.still != (len(got.Change.Still) > 0) {
			t.Errorf("%s: gone %v, new %v, still %v", c.name, got.Change.Gone, got.Change.New, got.Change.Still)
		}
		if !strings.Contains(notes, c.note) || c.note == "" && notes != "" {
			t.Errorf("%s: got notes %q, want %q", c.name, notes, c.note)
		}
	}
}
