package charter

import (
	"errors"
	"reflect"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/heatsink-go/heatsink/internal/ledger"
	"github.com/heatsink-go/heatsink/layout"
)

// adaptive is the charter of a Random layout that adapts.
func adaptive() Charter {
	return Charter{
		Widths: Adaptive, Layout: layout.Layout{Format: layout.Format{BareZero: true}},
		PartitionKey: "pk", SortKey: "sk", By: "host-1", At: 1767323045000,
	}
}

// full is a charter in which every field says something.
func full() Charter {
	return Charter{
		Widths: Fixed,
		Layout: layout.Layout{
			Shards: 16, Strategy: layout.Calculated, Hash: layout.FNV, Bucket: layout.Hour,
			Format: layout.Format{BucketPrefix: "/", HourMark: "-", ShardPrefix: ".", First: 1, Width: 3, BareZero: true},
		},
		Older:     []layout.Layout{{}, {Shards: 4}, {Shards: 8, Strategy: layout.Calculated, Hash: layout.MD5, Format: layout.PlainNumber()}},
		ShardBy:   []string{"user", "a,\"b\" <c>"},
		EventTime: EventTime{"at", UnixSeconds},
		Table:     "orders", PartitionKey: "id", SortKey: "rev",
		Index:            Index{Name: "byDay", PartitionKey: "day", SortKey: "time", ShardAttribute: ""},
		VersionAttribute: "ver", By: "host-1", At: 1767323045000,
	}
}

func made(t testing.TB, c Charter) Charter {
	t.Helper()
	c, err := New(c)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// edited returns a charter after a change.
func edited(t testing.TB, c Charter, edit func(*Charter)) Charter {
	t.Helper()
	c.Older, c.ShardBy = slices.Clone(c.Older), slices.Clone(c.ShardBy)
	edit(&c)
	return made(t, c)
}

// Two processes that mean the same layout have the same charter, however they say it.
func TestNewHasOneFormOfALayout(t *testing.T) {
	base := adaptive()
	for _, c := range []struct {
		name string
		edit func(*Charter)
		same func(*Charter)
	}{
		{"default prefixes written out", func(c *Charter) { c.Layout.Format = c.Layout.Format.WithDefaults() }, nil},
		{"shards that have no effect", func(c *Charter) { c.Layout.Shards = 8 }, nil},
		{"ShardBy written out", func(c *Charter) { c.ShardBy = []string{"sk"} }, nil},
		{"an event time without buckets", func(c *Charter) { c.EventTime = EventTime{"at", UnixSeconds} }, nil},
		{"needs that New knows itself", func(c *Charter) { c.Needs = []string{"x"} }, nil},
		{
			"older layouts with what has no effect",
			func(c *Charter) {
				c.Older = []layout.Layout{
					{Strategy: layout.Calculated, Hash: layout.FNV, Format: layout.PlainNumber()},
					{Shards: 4, Hash: layout.MD5, Format: layout.Format{BucketPrefix: "/", ShardPrefix: "#SHARD_"}},
				}
			},
			func(c *Charter) { c.Older = []layout.Layout{{}, {Shards: 4}} },
		},
		{
			"the table by its ARN",
			func(c *Charter) { c.Table = "arn:aws:dynamodb:eu-west-1:123456789012:table/orders" },
			func(c *Charter) { c.Table = "orders" },
		},
		{
			"ShardBy of an index",
			func(c *Charter) { c.Index = Index{Name: "i", PartitionKey: "day"} },
			func(c *Charter) {
				c.Index = Index{Name: "i", PartitionKey: "day"}
				c.ShardBy = []string{"pk", "sk"}
			},
		},
		{
			"ShardBy of an index on a table without a sort key",
			func(c *Charter) { c.Index, c.SortKey = Index{Name: "i", PartitionKey: "day"}, "" },
			func(c *Charter) {
				c.Index, c.SortKey = Index{Name: "i", PartitionKey: "day"}, ""
				c.ShardBy = []string{"pk"}
			},
		},
	} {
		want := made(t, base)
		if c.same != nil {
			want = edited(t, base, c.same)
		}
		if got := edited(t, base, c.edit); !reflect.DeepEqual(got, want) {
			t.Errorf("%s: got %+v, want %+v", c.name, got, want)
		}
	}
	const odd = "arn:aws:dynamodb:eu-west-1:123456789012:orders"
	if got := edited(t, base, func(c *Charter) { c.Table = odd }).Table; got != odd {
		t.Errorf("got the table %q, want %q: it is no ARN of a table", got, odd)
	}
	if got := edited(t, base, func(c *Charter) { c.Widths, c.Needs = Fixed, []string{NeedLedger} }).Needs; got != nil {
		t.Errorf("a collection with fixed shards needs %q, want nothing", got)
	}
	if got := made(t, base).Needs; !slices.Equal(got, []string{NeedLedger}) {
		t.Errorf("an adaptive collection needs %q, want the ledger", got)
	}
}

// New leaves what its caller gave as it was.
func TestNewCopies(t *testing.T) {
	given := full()
	c := made(t, given)
	c.ShardBy[0], c.Older[0] = "changed", layout.Layout{Shards: 2}
	if want := full(); !reflect.DeepEqual(given, want) {
		t.Errorf("got %+v, want %+v", given, want)
	}
}

func TestNewRefuses(t *testing.T) {
	for _, c := range []struct {
		name, says string
		edit       func(*Charter)
	}{
		{"no partition key", "PartitionKey is empty", func(c *Charter) { c.PartitionKey = "" }},
		{"one name for both keys", `both "id"`, func(c *Charter) { c.SortKey = c.PartitionKey }},
		{"too many shards", "Layout.Shards", func(c *Charter) { c.Layout.Shards = layout.MaxShards + 1 }},
		{"unknown widths", "Widths(3)", func(c *Charter) { c.Widths = ByProgram + 1 }},
		{"a format that is wrong", "ShardPrefix", func(c *Charter) { c.Layout.Format.ShardPrefix = "{" }},
		{"an older layout with a bucket", "Older[0] has buckets", func(c *Charter) { c.Older[0].Bucket = layout.Day }},
		{"an older layout that is wrong", "Older[1]", func(c *Charter) { c.Older[1].Shards = -1 }},
		{"a bucket without a time", "event time", func(c *Charter) { c.EventTime.Attribute = "" }},
		{"an unknown unit", "fortnights", func(c *Charter) { c.EventTime.Unit = "fortnights" }},
		{"an index without a name", "no name", func(c *Charter) { c.Index.Name = "" }},
		{"an index without a key", "Index.PartitionKey", func(c *Charter) { c.Index.PartitionKey = "" }},
		{"ShardBy twice", "ShardBy", func(c *Charter) { c.ShardBy = []string{"a", "a"} }},
		{"ShardBy of nothing", "ShardBy", func(c *Charter) { c.ShardBy = []string{""} }},
		{"a name that is no text", `"\xff" is not valid UTF-8`, func(c *Charter) { c.VersionAttribute = "\xff" }},
	} {
		given := full()
		c.edit(&given)
		if _, err := New(given); !errors.Is(err, ErrCharter) || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: got %v, want ErrCharter that says %q", c.name, err, c.says)
		}
	}

	// An author is for people: whatever it is, it is stored as well as it can be.
	if c := edited(t, full(), func(c *Charter) { c.By = strings.Repeat("é", 300) + "\xff" }); c.By != strings.Repeat("é", ledger.MaxAudit/2) {
		t.Errorf("got by %q", c.By)
	}

	// All faults are told at once.
	_, err := New(Charter{Widths: 7, Layout: layout.Layout{Bucket: layout.Day}})
	for _, want := range []string{"Widths(7)", "event time", "PartitionKey"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want it to tell of %s", err, want)
		}
	}
}

// What New leaves out is refused in a charter that comes from elsewhere.
func TestValidateRefuses(t *testing.T) {
	for _, c := range []struct {
		name, says string
		edit       func(*Charter)
	}{
		{"an unknown need", `unknown need "compact"`, func(c *Charter) { c.Needs = []string{"compact", NeedLedger} }},
		{"needs out of order", "sorted", func(c *Charter) { c.Needs = []string{NeedLedger, NeedLedger} }},
		{"no need", `want "ledger" among them`, func(c *Charter) { c.Needs = nil }},
		{"fixed shards that have no effect", "adaptive, but there are 8 fixed shards", func(c *Charter) { c.Layout.Shards = 8 }},
		{"an event time that has no effect", "no bucket", func(c *Charter) { c.EventTime = EventTime{"at", RFC3339} }},
		{"a long author", "200 bytes", func(c *Charter) { c.By = strings.Repeat("x", 201) }},
	} {
		given := made(t, adaptive())
		c.edit(&given)
		if err := given.Validate(); !errors.Is(err, ErrCharter) || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: got %v, want ErrCharter that says %q", c.name, err, c.says)
		}
	}
}

// drawCharter draws any charter that New takes.
func drawCharter(t *rapid.T) Charter {
	name := rapid.SampledFrom([]string{"", "a", "b", "ünï", `q"[]`, " ", "\u2028"})
	must := name.Filter(func(s string) bool { return s != "" })
	format := rapid.SampledFrom([]layout.Format{{}, {BareZero: true}, layout.PlainNumber(), {ShardPrefix: " s ", BucketPrefix: "/", HourMark: "h", First: 1, Width: 3}})
	of := func(label string) layout.Layout {
		return layout.Layout{
			Shards:   rapid.SampledFrom([]int{0, 1, 2, 16, layout.MaxShards}).Draw(t, label+" shards"),
			Strategy: rapid.SampledFrom([]layout.Strategy{layout.Random, layout.Calculated}).Draw(t, label+" strategy"),
			Hash:     rapid.SampledFrom([]layout.Hash{layout.XXHash, layout.FNV, layout.Product}).Draw(t, label+" hash"),
			Format:   format.Draw(t, label+" format"),
		}
	}
	c := Charter{
		Widths: rapid.SampledFrom([]Widths{Fixed, Adaptive, ByProgram}).Draw(t, "widths"), Layout: of("layout"),
		ShardBy:   rapid.SliceOfNDistinct(must, 0, 3, rapid.ID).Draw(t, "shard by"),
		EventTime: EventTime{must.Draw(t, "time"), rapid.SampledFrom(units).Draw(t, "unit")},
		Table:     name.Draw(t, "table"), PartitionKey: must.Draw(t, "partition key"), SortKey: rapid.SampledFrom([]string{"", "sk"}).Draw(t, "sort key"),
		VersionAttribute: name.Draw(t, "version"), By: rapid.String().Draw(t, "by"), At: rapid.Int64().Draw(t, "at"),
	}
	c.Layout.Bucket = rapid.SampledFrom([]layout.Bucket{layout.NoBucket, layout.Hour, layout.Day}).Draw(t, "bucket")
	for range rapid.IntRange(0, 3).Draw(t, "older") {
		c.Older = append(c.Older, of("older"))
	}
	if rapid.Bool().Draw(t, "indexed") {
		c.Index = Index{must.Draw(t, "index"), must.Draw(t, "index key"), name.Draw(t, "index sort"), name.Draw(t, "index shard")}
	}
	if rapid.Bool().Draw(t, "frozen") {
		c.Frozen = Freeze{On: true, Why: rapid.String().Draw(t, "why"), By: name.Draw(t, "frozen by"), At: rapid.Int64().Draw(t, "frozen at")}
	}
	if rapid.IntRange(0, 3).Draw(t, "movable") == 0 {
		c.Movable, c.Widths, c.Layout.Bucket, c.Older = true, Fixed, layout.NoBucket, nil
	}
	c, err := New(c)
	if err != nil {
		t.Fatal(err)
	}
	return c
}
