package charter

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/heatsink-go/heatsink/internal/ledger"
	"github.com/heatsink-go/heatsink/layout"
)

// The files in testdata are charters as tables hold them, in DynamoDB's JSON. Never change one: processes that ran before
// have stored them. A new version of the schema adds files, and reads the old ones or says what to do.
func TestStoredChartersStayReadable(t *testing.T) {
	cases := map[string]struct {
		charter Charter
		err     error // instead of a charter
		says    string
	}{
		"v1-adaptive.json": {charter: Charter{
			Needs: []string{NeedLedger}, Widths: Adaptive, Layout: layout.Layout{Format: layout.Format{BareZero: true}}, ShardBy: []string{"sk"},
			PartitionKey: "pk", SortKey: "sk", By: "host-1/4711", At: 1767323045000,
		}},
		"v1-frozen.json": {charter: Charter{
			Needs: []string{NeedLedger}, Widths: Adaptive, Layout: layout.Layout{Format: layout.Format{BareZero: true}}, ShardBy: []string{"sk"},
			PartitionKey: "pk", SortKey: "sk", By: "host-1/4711", At: 1767323045000,
			Frozen: Freeze{On: true, Why: "incident 7", By: "host-2/1", At: 1767323050000},
		}},
		"v1-adaptive-buckets.json": {charter: Charter{
			Needs: []string{NeedLedger}, Widths: Adaptive,
			Layout:  layout.Layout{Bucket: layout.Day, Format: layout.Format{BareZero: true}},
			Older:   []layout.Layout{{Shards: 16}},
			ShardBy: []string{"sk"}, EventTime: EventTime{"at", UnixMilliseconds}, PartitionKey: "pk", SortKey: "sk", By: "host-1/4711", At: 1767323045000,
		}},
		"v1-fixed.json": {charter: full()},
		"v1-index.json": {charter: Charter{
			Widths: ByProgram, Layout: layout.Layout{Strategy: layout.Calculated}, ShardBy: []string{"id"}, PartitionKey: "id",
			Index: Index{"byStatus", "status", "seen", "shard"}, VersionAttribute: "ver",
		}},
		"v2-version.json":   {err: ErrNewer, says: "written by a newer version of heatsink: it has version 2, and this process understands 1: upgrade heatsink in this process"},
		"v1-need.json":      {err: ErrNewer, says: `it needs ["compact"], and this process knows ["ledger"]: upgrade heatsink in this process`},
		"v1-attribute.json": {err: ErrCharter, says: `unknown attribute "_hs_mirrors": upgrade heatsink in this process if a newer version wrote it, else remove it`},
		"v1-widths.json":    {err: ErrCharter, says: `_hs_widths is "by the moon": want adaptive, by the program, or a number such as fixed 16`},
	}
	for _, file := range files(t) {
		want, ok := cases[file]
		if !ok {
			t.Errorf("%s is not in the table above", file)
			continue
		}
		delete(cases, file)
		values := stored(t, file)
		c, err := Parse(values)
		switch {
		case want.err != nil && (!errors.Is(err, want.err) || !strings.Contains(err.Error(), want.says)):
			t.Errorf("%s: got %+v, %v, want %v that says %s", file, c, err, want.err, want.says)
		case want.err == nil && (err != nil || !reflect.DeepEqual(c, want.charter)):
			t.Errorf("%s: got %+v, %v, want %+v", file, c, err, want.charter)
		}
		if got := sorted(c.Encode()); want.err == nil && !slices.Equal(got, values) { // as long as this is the version that is written
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

func sorted(values []ledger.Value) []ledger.Value {
	slices.SortFunc(values, func(a, b ledger.Value) int { return strings.Compare(a.Name, b.Name) })
	return values
}

// stored reads an item in DynamoDB's JSON, without its key, sorted by name.
func stored(t *testing.T, file string) (values []ledger.Value) {
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
			values = append(values, ledger.Value{Name: name, Number: true, Text: *v.N})
		case v.S != nil:
			values = append(values, ledger.Value{Name: name, Text: *v.S})
		default:
			t.Fatalf("%s: %s is neither a string nor a number", file, name)
		}
	}
	return sorted(values)
}
