package ledger

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/heatsink-go/heatsink/layout"
)

// The files in testdata are records as tables hold them, in DynamoDB's JSON. Never change one: processes that ran before
// have stored them. A new version of the schema adds files, and reads the old ones or says what to do.
func TestStoredRecordsStayReadable(t *testing.T) {
	large := largest()
	large.Why, large.By = "hot", "host"
	cases := map[string]struct {
		record Record
		err    error // instead of a record
		says   string
	}{
		"v1-first.json": {record: Record{
			Generation: 1, Read: 2, Write: 2, State: Active, Why: "throttled 120 times in 5s", By: "host-1/4711", At: 1767323045000, History: []Past{{0, 1, 1}},
		}},
		"v1-grown.json":     {record: grown()},
		"v1-largest.json":   {record: large},
		"v1-no-reason.json": {record: Record{Generation: 1, Read: 1, Write: 1, State: Active, Strategy: layout.Calculated, Hash: layout.CRC32}},
		"v2-version.json":   {err: ErrNewer, says: "it has version 2, and this process understands 1: upgrade heatsink in this process"},
		"v2-states.json":    {err: ErrNewer, says: "it has version 2, and this process understands 1: upgrade heatsink in this process"},
		"v1-attribute.json": {err: ErrRecord, says: `unknown attribute "_hs_k": upgrade heatsink in this process if a newer version wrote it, else remove it`},
		"v1-state.json":     {err: ErrRecord, says: `state "D": this version knows "A" only: upgrade heatsink in this process if a newer version wrote it`},
	}
	for _, file := range files(t) {
		want, ok := cases[file]
		if !ok {
			t.Errorf("%s is not in the table above", file)
			continue
		}
		delete(cases, file)
		values := stored(t, file)
		r, err := Parse(values)
		switch {
		case want.err != nil && (!errors.Is(err, want.err) || !strings.Contains(err.Error(), want.says)):
			t.Errorf("%s: got %+v, %v, want %v that says %s", file, r, err, want.err, want.says)
		case want.err == nil && (err != nil || !r.Equal(want.record)):
			t.Errorf("%s: got %+v, %v, want %+v", file, r, err, want.record)
		}
		if got := sorted(r.Encode()); want.err == nil && !slices.Equal(got, values) { // as long as this is the version that is written
			t.Errorf("%s: %+v is written, want %+v", file, got, values)
		}
	}
	for file := range cases {
		t.Errorf("%s is gone", file)
	}
}

// files returns the names of the files in testdata.
func files(t *testing.T) (names []string) {
	t.Helper()
	paths, err := filepath.Glob("testdata/*.json")
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range paths {
		names = append(names, filepath.Base(path))
	}
	return names
}

func sorted(values []Value) []Value {
	slices.SortFunc(values, func(a, b Value) int { return strings.Compare(a.Name, b.Name) })
	return values
}

// stored reads an item in DynamoDB's JSON, without its key, sorted by name.
func stored(t *testing.T, file string) (values []Value) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("testdata", file))
	if err != nil {
		t.Fatal(err)
	}
	var item map[string]struct{ S, N *string }
	if err := json.Unmarshal(text, &item); err != nil {
		t.Fatalf("%s: %v", file, err)
	}
	for name, v := range item {
		switch {
		case v.N != nil:
			values = append(values, Value{Name: name, Number: true, Text: *v.N})
		case v.S != nil:
			values = append(values, Value{Name: name, Text: *v.S})
		default:
			t.Fatalf("%s: %s is neither a string nor a number", file, name)
		}
	}
	return sorted(values)
}
