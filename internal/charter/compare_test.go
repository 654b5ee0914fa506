package charter

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/heatsink-go/heatsink/layout"
)

// lines returns what an error of Compare lists, without its beginning and its end.
func lines(t *testing.T, err error) []string {
	t.Helper()
	if !errors.Is(err, ErrIncompatible) {
		t.Fatalf("got %v, want ErrIncompatible", err)
	}
	const head = `layout differs from the charter that "host-1" wrote at 2026-01-02T03:04:05Z: `
	text, ok := strings.CutPrefix(err.Error(), head)
	if !ok {
		t.Errorf("got %v, want it to begin with %s", err, head)
	}
	const tail = "\nto keep this process's layout instead, deploy it to all processes, with the old layout in Older if items are stored under it; " +
		`then rewrite the charter with Ledgers.Rewrite or "heatsink ledger charter --from FILE --force", once no process with the old layout runs`
	text, ok = strings.CutSuffix(text, tail)
	if !ok {
		t.Errorf("got %v, want it to end with %s", err, tail)
	}
	return strings.Split(text, "\n")
}

// Each difference that matters is refused on its own, by an error that says what each side has and what to do.
func TestCompareRefuses(t *testing.T) {
	const otherCollection = "use the same name in all processes; if these are two collections, give each a name of its own"
	calculated := func(c *Charter) { c.Layout.Strategy = layout.Calculated }
	daily := func(c *Charter) { c.Layout.Bucket, c.EventTime = layout.Day, EventTime{"at", RFC3339} }
	fixed := func(n int) func(*Charter) { return func(c *Charter) { c.Widths, c.Layout.Shards = Fixed, n } }
	indexed := func(c *Charter) { c.Index = Index{Name: "byDay", PartitionKey: "day", SortKey: "time"} }
	older := func(layouts ...layout.Layout) func(*Charter) { return func(c *Charter) { c.Older = layouts } }
	for _, c := range []struct {
		name         string
		both         func(*Charter)
		mine, stored func(*Charter)
		want         string
	}{
		{"strategy", nil, nil, calculated, "Layout.Strategy is random in this process and calculated in the charter: items would be stored in shards in which others do not look for them; set it to calculated in this process"},
		{
			"strategy of two shards", fixed(2), nil, calculated,
			"Layout.Strategy is random in this process and calculated in the charter: items would be stored in shards in which others do not look for them; set it to calculated in this process",
		},
		{"hash", calculated, nil, func(c *Charter) { c.Layout.Hash = layout.FNV }, "Layout.Hash is xxhash in this process and fnv in the charter: an item would have another shard; set it to fnv in this process"},
		{"ShardBy", calculated, nil, func(c *Charter) { c.ShardBy = []string{"user"} }, `ShardBy is ["sk"] in this process and ["user"] in the charter: an item would have another shard, also if only the order differs; set it to ["user"] in this process`},
		{
			"the order of ShardBy", calculated, func(c *Charter) { c.ShardBy = []string{"a", "b"} }, func(c *Charter) { c.ShardBy = []string{"b", "a"} },
			`ShardBy is ["a" "b"] in this process and ["b" "a"] in the charter: an item would have another shard, also if only the order differs; set it to ["b" "a"] in this process`,
		},
		{"a longer bucket", daily, nil, func(c *Charter) { c.Layout.Bucket = layout.Week }, "Layout.Bucket is day in this process and week in the charter: an item would have another key; set it to week in this process"},
		{"event time", daily, nil, func(c *Charter) { c.EventTime.Attribute = "when" }, `EventTime.Attribute is "at" in this process and "when" in the charter: an item would have another bucket; set it to "when" in this process`},
		{"unit", daily, nil, func(c *Charter) { c.EventTime.Unit = UnixSeconds }, `EventTime.Unit is "rfc3339" in this process and "unix seconds" in the charter: an item would have another bucket; set it to "unix seconds" in this process`},
		{"shard prefix", nil, nil, func(c *Charter) { c.Layout.Format.ShardPrefix = "." }, `Layout.Format is "{key}#SHARD_{shard}" in this process and "{key}.{shard}" in the charter: an item would have another key; set it to "{key}.{shard}" in this process`},
		{"bucket prefix", daily, nil, func(c *Charter) { c.Layout.Format.BucketPrefix = "/" }, `Layout.Format is "{key}#{bucket}#SHARD_{shard}" in this process and "{key}/{bucket}#SHARD_{shard}" in the charter: an item would have another key; set it to "{key}/{bucket}#SHARD_{shard}" in this process`},
		{
			"hour mark", func(c *Charter) { daily(c); c.Layout.Bucket = layout.Hour }, nil, func(c *Charter) { c.Layout.Format.HourMark = "-" },
			`Layout.Format is "{key}#{bucket}#SHARD_{shard}" in this process and "{key}#{bucket:-}#SHARD_{shard}" in the charter: an item would have another key; set it to "{key}#{bucket:-}#SHARD_{shard}" in this process`,
		},
		{"bare zero", nil, nil, func(c *Charter) { c.Layout.Format.BareZero = false }, "Layout.Format.BareZero is true in this process and false in the charter: shard 0 would have another key; set it to false in this process"},

		{"fewer shards", nil, fixed(8), fixed(16), "the number of shards is fixed 8 in this process and fixed 16 in the charter: a process with fewer shards misses items, and a calculated shard is another one; set Layout.Shards to 16 in this process"},
		{"more shards", nil, fixed(16), fixed(8), "the number of shards is fixed 16 in this process and fixed 8 in the charter: a process with fewer shards misses items, and a calculated shard is another one; set Layout.Shards to 8 in this process"},
		{"more shards, calculated", calculated, fixed(16), fixed(8), "the number of shards is fixed 16 in this process and fixed 8 in the charter: a process with fewer shards misses items, and a calculated shard is another one; set Layout.Shards to 8 in this process"},
		{"adaptive beside fixed", nil, nil, fixed(16), "the number of shards is adaptive in this process and fixed 16 in the charter: processes without Adaptive do not read the shards that keys grow to; turn on Adaptive in all processes, and list the fixed layout in Older"},
		{"fixed beside adaptive", nil, fixed(16), nil, "the number of shards is fixed 16 in this process and adaptive in the charter: a process that does not read the ledgers misses items of keys that have grown; turn on Adaptive in this process"},
		{"a program beside adaptive", nil, func(c *Charter) { c.Widths = ByProgram }, nil, "the number of shards is by the program in this process and adaptive in the charter: a process that does not read the ledgers misses items of keys that have grown; turn on Adaptive in this process"},
		{
			"adaptive beside a program", nil, nil, func(c *Charter) { c.Widths = ByProgram },
			"the number of shards is adaptive in this process and by the program in the charter: processes without Adaptive do not read the shards that keys grow to; turn on Adaptive in all processes, and list every layout in Older that Widths stood for",
		},
		{"fixed beside a program", nil, fixed(16), func(c *Charter) { c.Widths = ByProgram }, "the number of shards is fixed 16 in this process and by the program in the charter: a process without Widths misses items of keys that are wider than its layout; set Widths in this process as in the others"},
		{"a program beside fixed", nil, func(c *Charter) { c.Widths = ByProgram }, fixed(16), "the number of shards is by the program in this process and fixed 16 in the charter: a process without Widths misses items of keys that are wider than its layout; leave out Widths in this process, and set Layout.Shards to 16"},

		{
			"an older layout that is missed", nil, older(layout.Layout{}), older(layout.Layout{}, layout.Layout{Shards: 4}),
			`Older has the layout "random 4 {key}#SHARD_{shard}" in the charter but not in this process: items that are stored under it would be missed; add it in this process`,
		},
		{
			"older layouts in another order", nil, older(layout.Layout{Shards: 4}, layout.Layout{Shards: 2}, layout.Layout{}), older(layout.Layout{}, layout.Layout{Shards: 4}),
			`Older is ["random 4 {key}#SHARD_{shard}","not sharded"] in this process and ["not sharded","random 4 {key}#SHARD_{shard}"] in the charter: Get returns the copy of the first layout that has the item, so the order must be the same; set it to ["not sharded","random 4 {key}#SHARD_{shard}"] in this process`,
		},

		{"table", nil, func(c *Charter) { c.Table = "a" }, func(c *Charter) { c.Table = "b" }, `Table is "a" in this process and "b" in the charter: ` + otherCollection},
		{"partition key", nil, nil, func(c *Charter) { c.PartitionKey = "id" }, `PartitionKey is "pk" in this process and "id" in the charter: ` + otherCollection},
		{"sort key", nil, nil, func(c *Charter) { c.SortKey = "" }, `SortKey is "sk" in this process and "" in the charter: ` + otherCollection},
		{"index", indexed, nil, func(c *Charter) { c.Index.Name = "byNight" }, `Index.Name is "byDay" in this process and "byNight" in the charter: ` + otherCollection},
		{"index key", indexed, nil, func(c *Charter) { c.Index.PartitionKey = "d" }, `Index.PartitionKey is "day" in this process and "d" in the charter: ` + otherCollection},
		{"index sort key", indexed, nil, func(c *Charter) { c.Index.SortKey = "" }, `Index.SortKey is "time" in this process and "" in the charter: ` + otherCollection},
		{
			"shard attribute", indexed, nil, func(c *Charter) { c.Index.ShardAttribute = "shard" },
			`Index.ShardAttribute is "" in this process and "shard" in the charter: an item would have another key in the index; name the same attribute in all processes`,
		},
		{
			"version", nil, nil, func(c *Charter) { c.VersionAttribute = "ver" },
			`Version is "" in this process and "ver" in the charter: a process that does not know the attribute takes the tombstone of a deleted item for an item; name the same attribute in all processes`,
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			side := func(edit func(*Charter)) Charter {
				return edited(t, adaptive(), func(to *Charter) {
					for _, edit := range []func(*Charter){c.both, edit} {
						if edit != nil {
							edit(to)
						}
					}
				})
			}
			got := lines(t, Compare(side(c.mine), side(c.stored)))
			if !slices.Equal(got, []string{c.want}) {
				t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), c.want)
			}
		})
	}
}

// What has no effect may differ.
func TestCompareAccepts(t *testing.T) {
	fixed := func(n int, edit func(*Charter)) func(*Charter) {
		return func(c *Charter) {
			c.Widths, c.Layout.Shards = Fixed, n
			if edit != nil {
				edit(c)
			}
		}
	}
	for _, c := range []struct {
		name         string
		mine, stored func(*Charter)
	}{
		{"who wrote it, and when", func(c *Charter) { c.By, c.At = "me", 1 }, nil},
		{"the hash of a Random layout", func(c *Charter) { c.Layout.Hash = layout.MD5 }, nil},
		{"ShardBy of a Random layout", func(c *Charter) { c.ShardBy = []string{"user"} }, nil},
		{"the bucket's prefix without buckets", func(c *Charter) { c.Layout.Format.BucketPrefix, c.Layout.Format.HourMark = "/", "-" }, nil},
		{"the strategy of one shard", fixed(1, func(c *Charter) { c.Layout.Strategy = layout.Calculated }), fixed(1, nil)},
		{"the format of keys as they are", fixed(0, func(c *Charter) { c.Layout.Format = layout.DotFromOne() }), fixed(0, nil)},
		{
			"the format with a shard attribute",
			func(c *Charter) {
				c.Index = Index{Name: "i", PartitionKey: "k", ShardAttribute: "n"}
				c.Layout.Format = layout.DotFromOne()
			},
			func(c *Charter) { c.Index = Index{Name: "i", PartitionKey: "k", ShardAttribute: "n"} },
		},
		{
			"the hour mark of days",
			func(c *Charter) {
				c.Layout.Bucket, c.EventTime = layout.Day, EventTime{"at", RFC3339}
				c.Layout.Format.HourMark = "-"
			},
			func(c *Charter) { c.Layout.Bucket, c.EventTime = layout.Day, EventTime{"at", RFC3339} },
		},
		{
			"more older layouts than stored",
			func(c *Charter) { c.Older = []layout.Layout{{Shards: 2}, {}, {Shards: 8}, {Shards: 4}} },
			func(c *Charter) { c.Older = []layout.Layout{{}, {Shards: 4}} },
		},
		{"an older layout twice", func(c *Charter) { c.Older = []layout.Layout{{}, {Shards: 4}, {}} }, func(c *Charter) { c.Older = []layout.Layout{{}, {Shards: 4}} }},
	} {
		t.Run(c.name, func(t *testing.T) {
			mine, stored := made(t, adaptive()), made(t, adaptive())
			if c.mine != nil {
				mine = edited(t, adaptive(), c.mine)
			}
			if c.stored != nil {
				stored = edited(t, adaptive(), c.stored)
			}
			if err := Compare(mine, stored); err != nil {
				t.Error(err)
			}
			if strings.HasPrefix(c.name, "more older") {
				return // the only one that has a direction
			}
			if err := Compare(stored, mine); err != nil {
				t.Errorf("the other way round: %v", err)
			}
		})
	}
}

// An operator mends everything at once, so everything is told at once.
func TestCompareListsEveryDifference(t *testing.T) {
	mine := edited(t, full(), func(c *Charter) {
		*c = Charter{
			Widths: Adaptive, Layout: layout.Layout{Bucket: layout.Day}, EventTime: EventTime{"when", RFC3339},
			Table: "t", PartitionKey: "p", SortKey: "s", Index: Index{Name: "i", PartitionKey: "ip", SortKey: "is", ShardAttribute: "n"}, VersionAttribute: "v",
		}
	})
	stored := made(t, full())
	got := lines(t, Compare(mine, stored))
	want := []string{
		"the number of shards", "Layout.Strategy", "Layout.Hash", "ShardBy", "Layout.Bucket", "EventTime.Attribute", "EventTime.Unit", "Layout.Format",
		"Older", "Older", "Older", "Table", "PartitionKey", "SortKey", "Index.Name", "Index.PartitionKey", "Index.SortKey", "Index.ShardAttribute", "Version",
	}
	for i, line := range got {
		if i >= len(want) || !strings.HasPrefix(line, want[i]+" ") {
			t.Errorf("line %d: got %s, want the lines about %q", i, line, want)
		}
	}
	if len(got) != len(want) {
		t.Errorf("got %d lines, want %d", len(got), len(want))
	}
}

// Whether two charters are compatible does not depend on who stored its own first, older layouts aside.
func TestCompareIsFair(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a, b := drawCharter(t), drawCharter(t)
		if rapid.Bool().Draw(t, "alike") { // two that were drawn are hardly ever
			keep := b.Layout
			b = a
			b.Layout = keep
			b.Layout.Bucket = a.Layout.Bucket
			if rapid.Bool().Draw(t, "as wide") {
				b.Layout.Shards = a.Layout.Shards
			} else if b.Widths != Fixed {
				b.Layout.Shards = 0
			}
		}
		if err := Compare(a, a); err != nil {
			t.Fatalf("not compatible with itself: %v", err)
		}
		b.Older = a.Older
		there, back := Compare(a, b), Compare(b, a)
		if (there == nil) != (back == nil) {
			t.Fatalf("got %v, and the other way round %v", there, back)
		}
	})
}

// A charter without an author has a readable error all the same.
func TestCompareWithoutAuthor(t *testing.T) {
	err := Compare(made(t, adaptive()), edited(t, full(), func(c *Charter) { c.By = "" }))
	if err == nil || !strings.HasPrefix(err.Error(), `layout differs from the charter that "somebody" wrote at 2026-01-02T03:04:05Z: `) {
		t.Errorf("got %v", err)
	}
}

// A need that both know may yet be that of one of them alone.
func TestCompareNeeds(t *testing.T) {
	mine, stored := made(t, full()), made(t, full())
	stored.Needs = []string{NeedLedger}
	got := lines(t, Compare(mine, stored))
	if want := `what a process needs to know is [] in this process and ["ledger"] in the charter: use the same version of heatsink in all processes`; !slices.Equal(got, []string{want}) {
		t.Errorf("got %q, want %q", got, want)
	}
}
