package charter

import (
	"encoding/json"
	"errors"
	"reflect"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// A document that nobody edits is the same layout.
func TestDocumentIsReadAsWritten(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := drawCharter(t)
		text, err := json.Marshal(c)
		if err != nil {
			t.Fatal(err)
		}
		want := c
		want.By, want.At, want.Frozen = "", 0, Freeze{}
		if got, err := ParseDocument(text); err != nil || !reflect.DeepEqual(got, want) {
			t.Fatalf("%s\ngot  %+v, %v\nwant %+v", text, got, err, want)
		}
	})
}

func TestDocument(t *testing.T) {
	c := edited(t, full(), func(c *Charter) { c.Frozen = frozen() })
	text, err := json.MarshalIndent(c, "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	const want = `{
  "widths": "fixed 16",
  "strategy": "calculated",
  "hash": "fnv",
  "format": "{key}/{bucket:-}[.{shard1:03}]",
  "bucket": "hour",
  "older": [
    "not sharded",
    "random 4 {key}#SHARD_{shard}",
    "calculated 8 md5 {key}#{shard}"
  ],
  "shard_by": [
    "user",
    "a,\"b\" \u003cc\u003e"
  ],
  "event_time": "at",
  "event_unit": "unix seconds",
  "table": "orders",
  "partition_key": "id",
  "sort_key": "rev",
  "index": {
    "name": "byDay",
    "partition_key": "day",
    "sort_key": "time"
  },
  "version_attribute": "ver",
  "by": "host-1",
  "at": "2026-01-02T03:04:05Z",
  "frozen": {
    "why": "incident 7",
    "by": "host-2/1",
    "at": "2026-01-02T03:04:10Z"
  }
}`
	if string(text) != want {
		t.Errorf("got %s\nwant %s", text, want)
	}
}

func TestParseDocumentRefuses(t *testing.T) {
	text, err := json.Marshal(made(t, adaptive()))
	if err != nil {
		t.Fatal(err)
	}
	base := string(text)
	for _, c := range []struct{ name, text, says string }{
		{"nothing", "", "EOF"},
		{"no object", "3", "cannot unmarshal"},
		{"two objects", base + base, "more behind"},
		{"an unknown name", strings.Replace(base, `"hash"`, `"hish"`, 1), `unknown field "hish"`},
		{"a missing name", strings.Replace(base, `"strategy":"random",`, "", 1), "strategy is missing: begin with the document of the stored charter"},
		{"unknown widths", strings.Replace(base, `"adaptive"`, `"guessed"`, 1), `widths is "guessed"`},
		{"an unknown strategy", strings.Replace(base, `"random"`, `"magic"`, 1), "magic"},
		{"an older layout that is none", strings.Replace(base, `"older":[]`, `"older":["random 4"]`, 1), `older has "random 4"`},
		{"a time without a bucket", strings.Replace(base, `"partition_key"`, `"event_time":"at","partition_key"`, 1), "event_time"},
		{"no partition key", strings.Replace(base, `"partition_key":"pk"`, `"partition_key":""`, 1), "PartitionKey is empty"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got, err := ParseDocument([]byte(c.text)); !errors.Is(err, ErrCharter) || !strings.Contains(err.Error(), c.says) {
				t.Errorf("got %+v, %v, want %q", got, err, c.says)
			}
		})
	}
}
