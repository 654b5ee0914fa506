package charter

import (
	"encoding/json"
	"errors"
	"reflect"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/heatsink-go/heatsink/layout"
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

func TestChangesNamesWhatDiffers(t *testing.T) {
	before := made(t, full())
	if got := Changes(before, before); got != nil {
		t.Errorf("got %q", got)
	}
	after := edited(t, full(), func(c *Charter) { c.Layout.Shards, c.By, c.SortKey = 32, "else", "seq" })
	want := []string{"widths changes from fixed 16 to fixed 32", `sort_key changes from "rev" to "seq"`}
	if got := Changes(before, after); !reflect.DeepEqual(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

// A warning comes where items would be missed, and not where the new layout reads them.
func TestMissed(t *testing.T) {
	random := func(shards int, format layout.Format) Charter {
		return made(t, Charter{Layout: layout.Layout{Shards: shards, Format: format}, PartitionKey: "pk", SortKey: "sk"})
	}
	plain, bare := layout.Format{}, layout.Format{BareZero: true}
	adapts := made(t, adaptive())
	with := func(c Charter, older ...layout.Layout) Charter {
		return edited(t, c, func(c *Charter) { c.Older = older })
	}
	calculated := func(shards int) Charter {
		return edited(t, random(shards, plain), func(c *Charter) { c.Layout.Strategy = layout.Calculated })
	}
	for _, c := range []struct {
		name          string
		before, after Charter
		want          string // "": nothing is missed
	}{
		{"the same", random(16, plain), random(16, plain), ""},
		{"more shards", random(16, plain), random(32, plain), ""},
		{"fewer shards", random(16, plain), random(8, plain), "random 16 {key}#SHARD_{shard}"},
		{"fewer shards, and the old layout", random(16, plain), with(random(8, plain), layout.Layout{Shards: 16}), ""},
		{"other calculated shards", calculated(16), calculated(32), "calculated 16 xxhash"},
		{"an unsharded key that adapts", random(0, plain), adapts, ""},
		{"an unsharded key with a suffix", random(0, plain), random(4, plain), "not sharded"},
		{"an unsharded key with a bare shard 0", random(0, plain), random(4, bare), ""},
		{"a fixed layout that adapts", random(16, plain), adapts, "random 16"},
		{"a fixed layout that adapts, and is read", random(16, plain), with(adapts, layout.Layout{Shards: 16}), ""},
		{"an older layout", with(adapts, layout.Layout{Shards: 4}), adapts, "older layout \"random 4"},
		{"no ledgers any more", adapts, random(64, bare), "that keys have grown to"},
		{"another bucket", edited(t, full(), func(c *Charter) { c.Layout.Bucket = layout.Day }), made(t, full()), "the bucket changes"},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := strings.Join(Missed(c.before, c.after), "; ")
			if c.want == "" && got != "" || !strings.Contains(got, c.want) {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}
