package heat_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"pgregory.net/rapid"

	"github.com/heatsink-go/heatsink"
	"github.com/heatsink-go/heatsink/heat"
	"github.com/heatsink-go/heatsink/heat/heatcloudwatch"
	"github.com/heatsink-go/heatsink/internal/bubble"
	"github.com/heatsink-go/heatsink/layout"
	"github.com/heatsink-go/heatsink/local"
)

// shardedTable is a table that a collection has written to, and how to look at it.
type shardedTable struct {
	db       *local.DB
	recorder *heat.Recorder
	redact   func(dst, key []byte) []byte
	layouts  []heat.Layout
}

// writeSharded has the library write items of these ids under a key. The layouts are those that heat is told of.
func writeSharded(t *testing.T, l layout.Layout, key string, ids []string, redact func(dst, key []byte) []byte, layouts ...heat.Layout) *shardedTable {
	t.Helper()
	s := &shardedTable{db: startOrdersWith(t, local.Physics{OnDemandPartitions: 64, NoSplits: true}), redact: redact, layouts: layouts}
	s.recorder = newRecorder(t, heat.Options{Layouts: layouts, Redact: redact})
	client := s.db.Client(s.recorder.Option)
	if err := s.recorder.Describe(t.Context(), client, "orders"); err != nil { // else calls made beside the first have no key
		t.Fatal(err)
	}
	orders, err := heatsink.Open[heatsink.Item](client, heatsink.Options{
		Table: "orders", PartitionKey: "pk", SortKey: "sk", Layout: l, Retry: heatsink.Retry{Attempts: 50, Budget: 100},
	})
	if err != nil {
		t.Fatal(err)
	}
	for chunk := range slices.Chunk(ids, 500) {
		var items []heatsink.Item
		for _, id := range chunk {
			items = append(items, heatsink.Item{"pk": text(key), "sk": text(id)})
		}
		if err := orders.BatchPut(t.Context(), items); err != nil {
			t.Fatal(err)
		}
	}
	return s
}

// inBubble returns a test that runs in time of its own.
func inBubble(test func(t *testing.T)) func(t *testing.T) {
	return func(t *testing.T) { bubble.Test(t, test) }
}

// reports returns what every source that knows keys sees of the table.
func (s *shardedTable) reports(t *testing.T) []heat.Report {
	t.Helper()
	scan, err := heat.ScanTable(t.Context(), s.db.Client(), "orders", heat.ScanOptions{MaxRCU: 1e6, Layouts: s.layouts, Redact: s.redact})
	if err != nil {
		t.Fatal(err)
	}
	options := heat.Options{Layouts: s.layouts, Redact: s.redact}
	stream, err := heat.OpenStream(t.Context(), s.db.Client(), s.db.StreamsClient(), "orders",
		heat.StreamOptions{FromStart: true, UntilNow: true, Recorder: options})
	if err != nil {
		t.Fatal(err)
	}
	if err := stream.Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	options.Keys = map[string][]string{"orders": {"pk"}}
	export, err := heat.NewExportReader("orders", options)
	if err != nil {
		t.Fatal(err)
	}
	if err := export.Read("data.json", s.export(t)); err != nil {
		t.Fatal(err)
	}
	insights, err := heatcloudwatch.Insights(t.Context(), s.db.CloudWatchClient(), s.db.Client(), "orders", heatcloudwatch.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if err := insights.Fold(s.layouts...); err != nil {
		t.Fatal(err)
	}
	if s.redact != nil {
		insights.Redact(s.redact)
	}
	return []heat.Report{s.recorder.Report(), stream.Report(), scan, export.Report(), insights}
}

// export returns the items as an export has them.
func (s *shardedTable) export(t *testing.T) *bytes.Buffer {
	t.Helper()
	lines := new(bytes.Buffer)
	pages := dynamodb.NewScanPaginator(s.db.Client(), &dynamodb.ScanInput{TableName: aws.String("orders")})
	for pages.HasMorePages() {
		page, err := pages.NextPage(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		for _, item := range page.Items {
			fmt.Fprintf(lines, `{"Item":{"pk":{"S":%q},"sk":{"S":%q}}}`+"\n",
				item["pk"].(*types.AttributeValueMemberS).Value, item["sk"].(*types.AttributeValueMemberS).Value)
		}
	}
	return lines
}

// of returns the findings of a kind.
func of(kind heat.Kind, findings []heat.Finding) []heat.Finding {
	return slices.DeleteFunc(findings, func(f heat.Finding) bool { return f.Kind != kind })
}

func orderIDs(n int) []string {
	var ids []string
	for i := range n {
		ids = append(ids, fmt.Sprintf("order-%05d", i))
	}
	return ids
}

// The hash of an old guide puts 10,000 orders into one of 200 shards. Every source that knows keys shows it, also if keys
// are hidden.
func TestProductOfOrdersIsUneven(t *testing.T) {
	spread := layout.Layout{Shards: 200, Strategy: layout.Calculated, Hash: layout.Product, Format: layout.DotFromOne()}
	for name, redact := range map[string]func(dst, key []byte) []byte{"plain": nil, "hidden": heat.Hashed([]byte("secret"))} {
		t.Run(name, inBubble(func(t *testing.T) {
			s := writeSharded(t, spread, "2014-07-09", orderIDs(10_000), redact, heat.Layout{Layout: spread})
			fullest := "2014-07-09.1"
			if redact != nil {
				fullest = string(redact(nil, []byte(fullest)))
			}
			reports := s.reports(t)
			for _, report := range reports {
				found := of(heat.UnevenShards, heat.Explain(report, heat.Rules{}))
				if len(found) != 1 || found[0].Key != fullest || found[0].Severity < heat.Warning {
					t.Errorf("%s: %+v", report.Source, found)
					continue
				}
				evidence := strings.Join(found[0].Evidence, "\n")
				for _, want := range []string{"100.0%; a fair share of 200 shards is 0.5%", "1 of 200 shards seen"} {
					if !strings.Contains(evidence, want) {
						t.Errorf("%s: no %q in\n%s", report.Source, want, evidence)
					}
				}
			}
			all := heat.ExplainAll(heat.Rules{}, reports...)
			if len(of(heat.UnevenShards, slices.Clone(all))) != 1 || len(of(heat.HotKey, all)) != 0 {
				t.Errorf("all together: %s", kinds(all))
			}
		}))
	}
}

// A hash that spreads the same orders is not found, and neither is the key of each shard.
func TestGoodHashesAreNotUneven(t *testing.T) {
	for _, hash := range []layout.Hash{layout.XXHash, layout.FNV, layout.MD5} {
		t.Run(hash.String(), inBubble(func(t *testing.T) {
			spread := layout.Layout{Shards: 200, Strategy: layout.Calculated, Hash: hash, Format: layout.DotFromOne()}
			s := writeSharded(t, spread, "2014-07-09", orderIDs(10_000), nil, heat.Layout{Layout: spread})
			for _, report := range s.reports(t) {
				found := heat.Explain(report, heat.Rules{})
				if len(of(heat.UnevenShards, slices.Clone(found))) > 0 || len(of(heat.StrayShard, found)) > 0 {
					t.Errorf("%s: %+v", report.Source, found)
				}
			}
		}))
	}
}

// Keys that say themselves that they are shards need no layout to be found uneven. Insights counts units, of which these
// are too few.
func TestShardsThatSayThatTheyAre(t *testing.T) {
	for _, format := range []layout.Format{{}, layout.SharpNumber()} {
		t.Run(format.String(), inBubble(func(t *testing.T) {
			spread := layout.Layout{Shards: 4, Strategy: layout.Calculated, Hash: layout.Product, Format: format}
			ids := orderIDs(600)
			for i := range 60 {
				ids = append(ids, fmt.Sprintf("%c%c", 'a'+i%26, 'A'+i/26)) // some that are not in the first shard
			}
			for _, report := range writeSharded(t, spread, "ORDERS", ids, nil).reports(t) {
				found := of(heat.UnevenShards, heat.Explain(report, heat.Rules{}))
				if report.Source == heat.Insights {
					if len(found) > 0 {
						t.Errorf("insights: %+v", found)
					}
				} else if len(found) != 1 || !strings.HasPrefix(found[0].Key, "ORDERS#SHARD") {
					t.Errorf("%s: %+v", report.Source, found)
				}
			}
		}))
	}
}

// Writers with 16 shards, readers with 4: every source that knows keys shows what readers miss.
func TestWritersWithMoreShardsThanReaders(t *testing.T) {
	writers := layout.Layout{Shards: 16, Strategy: layout.Calculated}
	for name, redact := range map[string]func(dst, key []byte) []byte{"plain": nil, "hidden": heat.Hashed([]byte("secret"))} {
		t.Run(name, inBubble(func(t *testing.T) {
			s := writeSharded(t, writers, "VIEWS", orderIDs(400), redact, heat.Layout{Layout: writers.WithShards(4)})
			reports := s.reports(t)
			for _, report := range reports {
				found := of(heat.StrayShard, heat.Explain(report, heat.Rules{}))
				if len(found) != 1 || found[0].Severity != heat.Critical || found[0].Pattern != "{key}#SHARD_{shard}" {
					t.Errorf("%s: %+v", report.Source, found)
					continue
				}
				evidence := strings.Join(found[0].Evidence, "\n")
				if redact == nil && !strings.Contains(evidence, "'VIEWS#SHARD_") ||
					!strings.Contains(evidence, "beyond the 4 shards, 0 to 3, that readers of {key}#SHARD_{shard} ask for") ||
					!strings.Contains(evidence, "more such keys") {
					t.Errorf("%s: %s", report.Source, evidence)
				}
				if !strings.Contains(found[0].Cause, "a writer uses more shards than the readers") || !strings.Contains(found[0].Remedy, "readers first") {
					t.Errorf("%s: %+v", report.Source, found[0])
				}
			}
			if all := of(heat.StrayShard, heat.ExplainAll(heat.Rules{}, reports...)); len(all) != 1 {
				t.Errorf("all together: %+v", all)
			}
			s.layouts = []heat.Layout{{Layout: writers}}
			for _, report := range s.reports(t)[1:] { // the recorder was told when it was made
				if found := of(heat.StrayShard, heat.Explain(report, heat.Rules{})); len(found) > 0 {
					t.Errorf("%s, readers of 16: %+v", report.Source, found)
				}
			}
		}))
	}
}

// A reader with more shards than was told is no loss, but worth a warning.
func TestReadersWithMoreShardsThanTold(t *testing.T) {
	recorder := newRecorder(t, heat.Options{Keys: map[string][]string{"views": {"pk"}}, Layouts: []heat.Layout{{Layout: layout.Layout{Shards: 4}}}})
	for i := range 16 {
		heat.Observe(recorder, "views", heat.Read, fmt.Appendf(nil, "VIEWS#SHARD_%d", i), 1)
	}
	found := heat.Explain(recorder.Report(), heat.Rules{})
	if len(found) != 1 || found[0].Kind != heat.StrayShard || found[0].Severity != heat.Warning || found[0].Direction != heat.Read {
		t.Errorf("got %+v", found)
	}
}

// Of a hundred thousand keys, a stray that was written once is found, although no list of hot keys has it.
func TestOneStrayOfManyKeys(t *testing.T) {
	recorder := newRecorder(t, heat.Options{Keys: map[string][]string{"views": {"pk"}}, Layouts: []heat.Layout{{Layout: layout.Layout{Shards: 4}}}})
	for i := range 100_000 {
		heat.Observe(recorder, "views", heat.Write, fmt.Appendf(nil, "user-%d#SHARD_%d", i, i%4), 1)
		if i == 50_000 {
			heat.Observe(recorder, "views", heat.Write, []byte("user-1#SHARD_4"), 1)
		}
	}
	found := of(heat.StrayShard, heat.Explain(recorder.Report(), heat.Rules{}))
	if len(found) != 1 || !strings.Contains(found[0].Message, "'user-1#SHARD_4' is shard 4") || !strings.Contains(found[0].Evidence[0], "it has 1 write request") {
		t.Errorf("got %+v", found)
	}
}

// Of a thousand days with all orders in one shard each, that is found, although no list of keys has them all.
func TestThousandUnevenDays(t *testing.T) {
	spread := heat.Layout{Layout: layout.Layout{Shards: 200, Format: layout.DotFromOne()}}
	recorder := newRecorder(t, heat.Options{Keys: map[string][]string{"orders": {"pk"}}, Layouts: []heat.Layout{spread}})
	for day := range 1500 {
		for range 150 {
			heat.Observe(recorder, "orders", heat.Write, fmt.Appendf(nil, "day-%d.1", day), 1)
		}
	}
	found := of(heat.UnevenShards, heat.Explain(recorder.Report(), heat.Rules{}))
	if len(found) != 1 || !slices.Contains(found[0].Evidence, "64 of 64 keys with enough data are spread like this") {
		t.Errorf("got %+v", found)
	}
}

// What the library writes with any layout is known to heat as what it is: the same key and bucket for all shards, none of
// them a stray; and one shard more is a stray.
func TestLayoutsOfTheLibraryAreKnown(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		l := layout.Layout{
			Shards: rapid.IntRange(1, 300).Draw(t, "shards"),
			Bucket: rapid.SampledFrom([]layout.Bucket{
				layout.NoBucket, layout.Hour, layout.Day, layout.Week, layout.Month, layout.Year,
			}).Draw(t, "bucket"),
			Format: layout.Format{
				ShardPrefix:  rapid.SampledFrom([]string{"", "#SHARD#", "#", ".", "-", "/s"}).Draw(t, "prefix"),
				BucketPrefix: rapid.SampledFrom([]string{"", "|", "-"}).Draw(t, "bucket prefix"),
				HourMark:     rapid.SampledFrom([]string{"", "-", " "}).Draw(t, "hour mark"),
				First:        rapid.IntRange(0, 1).Draw(t, "first"),
				Width:        rapid.IntRange(0, 9).Draw(t, "width"),
				BareZero:     rapid.Bool().Draw(t, "bare"),
			},
		}
		key := rapid.StringN(1, 20, 80).Draw(t, "key")
		at := time.Unix(rapid.Int64Range(0, 4e9).Draw(t, "at"), 0)
		recorder := newRecorder(t, heat.Options{Keys: map[string][]string{"views": {"pk"}}, Layouts: []heat.Layout{{Layout: l}}})
		observe := func(stored string) {
			heat.Observe(recorder, "views", heat.Write, []byte(stored), 1)
		}
		shard := rapid.IntRange(0, l.Shards-1).Draw(t, "shard")
		stored, err := l.ShardKey(key, at, shard)
		if err != nil {
			return // no key of this layout
		}
		observe(stored)
		writes := recorder.Report().Resources[0].Writes
		if len(writes.Sharded) != 1 || writes.Sharded[0].Count != 1 || writes.Sharded[0].Stray != 0 {
			t.Fatalf("%s: %q: %+v", l, stored, writes.Sharded)
		}
		beyond, err := l.WithShards(l.Shards+1).ShardKey(key, at, l.Shards)
		if err != nil {
			return
		}
		observe(beyond)
		writes = recorder.Report().Resources[0].Writes
		if got := writes.Sharded[0]; got.Count != 1 || got.Stray != 1 || got.Strays[0].Number != fmt.Sprintf("%0*d", l.Format.Width, l.Shards+l.Format.First) {
			t.Fatalf("%s: %q: %+v", l, beyond, got)
		}
		if whole, _ := l.ShardKey(key, at, 0); l.Shards > 1 && !l.Format.BareZero && len(writes.Sharded[0].Keys) != 1 {
			t.Fatalf("%s: %q: %+v", l, whole, writes.Sharded[0])
		}
	})
}

// Shards that readers do not ask for, for every reason, and keys that are no shards at all.
func TestStrays(t *testing.T) {
	for _, test := range []struct {
		layout heat.Layout
		key    string
		want   string // of the evidence; "" if it is none
	}{
		{heat.Layout{Layout: layout.Layout{Shards: 4}}, "A#SHARD_3", ""},
		{heat.Layout{Layout: layout.Layout{Shards: 4}}, "A#SHARD_4", "is shard 4, beyond the 4 shards, 0 to 3,"},
		{heat.Layout{Layout: layout.Layout{Shards: 1}}, "A#SHARD_1", "beyond the 1 shard, 0 to 0,"},
		{heat.Layout{Layout: layout.Layout{Shards: 4}}, "A#SHARD_03", "with other padding than readers of {key}#SHARD_{shard} use"},
		{heat.Layout{Layout: layout.Layout{Shards: 4, Format: layout.Format{Width: 3}}}, "A#SHARD_3", "with other padding than readers of {key}#SHARD_{shard:03} use"},
		{heat.Layout{Layout: layout.Layout{Shards: 4, Format: layout.Format{Width: 3}}}, "A#SHARD_004", "is shard 004, beyond"},
		{heat.Layout{Layout: layout.Layout{Shards: 4, Format: layout.DotFromOne()}}, "A.4", ""},
		{heat.Layout{Layout: layout.Layout{Shards: 4, Format: layout.DotFromOne()}}, "A.5", "beyond the 4 shards, 1 to 4,"},
		{heat.Layout{Layout: layout.Layout{Shards: 4, Format: layout.DotFromOne()}}, "A.0", "below the first: readers of {key}.{shard1} count from 1"},
		{heat.Layout{Layout: layout.Layout{Shards: 4, Format: layout.Format{BareZero: true}}}, "A#SHARD_0", "but readers of {key}[#SHARD_{shard}] write the first shard without a number"},
		{heat.Layout{Layout: layout.Layout{Shards: 4, Format: layout.Format{BareZero: true}}}, "A", ""},
		{heat.Layout{Layout: layout.Layout{Shards: 4}}, "A", ""},
		{heat.Layout{Layout: layout.Layout{Shards: 4}}, "A#SHARD_", ""},
		{heat.Layout{Layout: layout.Layout{Shards: 4}}, "#SHARD_9", ""},
		{heat.Layout{Layout: layout.Layout{Shards: 4}}, "A#SHARD_x9", ""},
		{heat.Layout{Layout: layout.Layout{Shards: 4, Format: layout.PlainNumber()}}, "EVENT#1733151600", ""}, // a time: no layout has so many shards
		{heat.Layout{Layout: layout.Layout{Shards: 4, Format: layout.PlainNumber()}}, "EVENT#70000", ""},
		{heat.Layout{Layout: layout.Layout{Shards: 4, Format: layout.PlainNumber()}}, "EVENT#65535", "is shard 65535"},
		{heat.Layout{Layout: layout.Layout{Shards: 4, Format: layout.PlainNumber()}, AnyBucket: true}, "A#2024", ""},
		{heat.Layout{Layout: layout.Layout{Shards: 4, Format: layout.Format{ShardPrefix: "#", BareZero: true}}, AnyBucket: true}, "A#2024", ""},
		{heat.Layout{Layout: layout.Layout{Shards: 4, Format: layout.PlainNumber()}, AnyBucket: true}, "A#2024#9", "is shard 9, beyond"},
		{heat.Layout{Layout: layout.Layout{Shards: 4}, AnyBucket: true}, "A#2024-12-02T15#SHARD_9", "is shard 9, beyond"},
		{heat.Layout{Layout: layout.Layout{Shards: 4, Format: layout.Format{HourMark: "-"}}, AnyBucket: true}, "A#2024-12-02-15#SHARD_9", "is shard 9, beyond"},
		{heat.Layout{Layout: layout.Layout{Shards: 4}, AnyBucket: true}, "A#2024-W49#SHARD_9", "is shard 9, beyond"},
		{heat.Layout{Layout: layout.Layout{Shards: 4}, AnyBucket: true}, "A#SHARD_9", ""},
		{heat.Layout{Layout: layout.Layout{Shards: 4, Bucket: layout.Day, Format: layout.Format{ShardPrefix: "-"}}}, "A#2024-12-02", ""},
		{heat.Layout{Layout: layout.Layout{Shards: 4, Bucket: layout.Day, Format: layout.Format{ShardPrefix: "-"}}}, "A#2024-12-02-9", "is shard 9, beyond"},
		{heat.Layout{Resource: heat.Resource{Table: "others"}, Layout: layout.Layout{Shards: 4}}, "A#SHARD_9", ""},
		{heat.Layout{Resource: heat.Resource{Table: "views", Index: "byStatus"}, Layout: layout.Layout{Shards: 4}}, "A#SHARD_9", ""},
		{heat.Layout{Resource: heat.Resource{Table: "views"}, Layout: layout.Layout{Shards: 4}}, "A#SHARD_9", "is shard 9, beyond"},
		{heat.Layout{Layout: layout.Layout{Shards: 4}}, strings.Repeat("a", 2000) + "#SHARD_9", "is shard 9, beyond"},
		{heat.Layout{Layout: layout.Layout{Shards: 4}}, "\xff\x1b[2J#SHARD_9", "is shard 9, beyond"},
	} {
		recorder := newRecorder(t, heat.Options{Keys: map[string][]string{"views": {"pk"}}, Layouts: []heat.Layout{test.layout}})
		heat.Observe(recorder, "views", heat.Write, []byte(test.key), 1)
		found := heat.Explain(recorder.Report(), heat.Rules{})
		if test.want == "" && len(found) == 0 {
			continue
		}
		if len(found) != 1 || test.want == "" || !strings.Contains(found[0].Evidence[0], test.want) {
			t.Errorf("%s of %d, %q: got %+v, want %q", test.layout, test.layout.Layout.Shards, test.key, found, test.want)
		}
	}
}

// Strays can be excluded; where there are too many to name, that is said.
func TestExcludedStrays(t *testing.T) {
	users := heat.Rules{Exclude: func(key string) bool { return strings.HasPrefix(key, "USER#") }}
	for keys, want := range map[int]string{10: "", 60: "info stray-shard "} {
		recorder := newRecorder(t, heat.Options{Keys: map[string][]string{"views": {"pk"}}, Layouts: []heat.Layout{{Layout: layout.Layout{Shards: 4, Format: layout.PlainNumber()}}}})
		for i := range keys {
			heat.Observe(recorder, "views", heat.Write, fmt.Appendf(nil, "USER#%d", 100+i), 1)
		}
		if got := kinds(heat.Explain(recorder.Report(), users)); got != want {
			t.Errorf("%d keys: got %q, want %q", keys, got, want)
		}
	}
}

// What contradicts itself is refused, with all that is wrong.
func TestLayoutsAreValidated(t *testing.T) {
	for _, test := range []struct {
		layouts []heat.Layout
		want    string
	}{
		{[]heat.Layout{{}}, "Shards is 0: it must be between 1 and 65536"},
		{[]heat.Layout{{Layout: layout.Layout{Shards: 65537}}}, "Shards is 65537: it must"},
		{[]heat.Layout{{Layout: layout.Layout{Shards: 1, Format: layout.Format{First: 2}}}}, "First is 2"},
		{[]heat.Layout{{Layout: layout.Layout{Shards: 1, Format: layout.Format{Width: 10}}}}, "Width is 10"},
		{[]heat.Layout{{Layout: layout.Layout{Shards: 1, Bucket: 9}}}, "Bucket is Bucket(9)"},
		{[]heat.Layout{{Layout: layout.Layout{Shards: 1, Format: layout.Format{ShardPrefix: "#1"}}}}, "ends in a digit"},
		{[]heat.Layout{{Layout: layout.Layout{Shards: 1, Format: layout.Format{ShardPrefix: "\xff"}}}}, "not valid UTF-8"},
		{[]heat.Layout{{Layout: layout.Layout{Shards: 1, Format: layout.Format{ShardPrefix: strings.Repeat("#", 65)}}}}, "65 bytes, want at most 64"},
		{[]heat.Layout{{Layout: layout.Layout{Shards: 1, Bucket: layout.Day}, AnyBucket: true}}, "AnyBucket is set, but Bucket is day: leave one of them out"},
		{[]heat.Layout{{Resource: heat.Resource{Index: "byStatus"}, Layout: layout.Layout{Shards: 1}}}, "name the table of the index"},
		{[]heat.Layout{{Layout: layout.Layout{Shards: 4}}, {Layout: layout.Layout{Shards: 16, Format: layout.Format{ShardPrefix: "#SHARD_"}}}}, "two layouts spell shards alike: {key}#SHARD_{shard} of 4 shards"},
		{[]heat.Layout{{Layout: layout.Layout{Shards: -1, Format: layout.Format{First: -1}}}}, "First is -1"},
	} {
		err := heat.Options{Layouts: test.layouts}.Validate()
		if err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%+v: got %v, want %q", test.layouts, err, test.want)
		}
		if strings.Count(err.Error(), "Shards is ") > 1 {
			t.Errorf("%+v: it is said twice: %v", test.layouts, err)
		}
		if _, err := heat.ScanTable(t.Context(), nil, "views", heat.ScanOptions{Layouts: test.layouts}); err == nil {
			t.Errorf("scan, %+v: no error", test.layouts)
		}
		if err := new(heat.Report).Fold(test.layouts...); err == nil {
			t.Errorf("fold, %+v: no error", test.layouts)
		}
	}
}

// Keys that are spread at random are never called uneven, however many items and shards there are, told or not.
func TestRandomShardsAreNotUneven(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	trials, alarms := 0, 0
	for _, shards := range []int{2, 3, 10, 200} {
		for _, items := range []int{10, 100, 300, 3000} {
			for range 1000 {
				counts := make([]int64, shards)
				for range items {
					counts[random.IntN(shards)]++
				}
				stored := &heat.Stored{Items: int64(items), Fraction: 1, Distinct: heat.Distinct{Keys: int64(shards)}}
				for shard, n := range counts {
					if n > 0 {
						stored.Keys = append(stored.Keys, heat.KeyItems{Key: fmt.Sprintf("A#SHARD_%d", shard), Items: n, Low: n})
					}
				}
				slices.SortFunc(stored.Keys, func(a, b heat.KeyItems) int { return int(b.Items - a.Items) })
				stored.Keys = stored.Keys[:min(len(stored.Keys), 50)]
				report := heat.Report{Source: heat.Scan, Resources: []heat.ResourceReport{{Resource: heat.Resource{Table: "views"}, Stored: stored}}}
				trials++
				if trials%2 == 0 {
					if err := report.Fold(heat.Layout{Layout: layout.Layout{Shards: shards}}); err != nil {
						t.Fatal(err)
					}
				}
				if found := of(heat.UnevenShards, heat.Explain(report, heat.Rules{})); len(found) > 0 {
					alarms++
					t.Errorf("%d items on %d shards: %+v", items, shards, found)
				}
			}
		}
	}
	t.Logf("%d alarms in %d trials", alarms, trials)
}

// What is uneven and what only looks so, by writes of each stored key.
func TestWhatIsUneven(t *testing.T) {
	spread := heat.Layout{Layout: layout.Layout{Shards: 8}}
	for _, test := range []struct {
		name   string
		layout heat.Layout
		writes map[string]int // by stored key
		items  int            // different ones of each key
		want   bool
	}{
		{"one shard of eight", spread, map[string]int{"A#SHARD_5": 200}, 100, true},
		{"one shard of eight, few", spread, map[string]int{"A#SHARD_5": 99}, 99, false},
		{"one item", spread, map[string]int{"A#SHARD_5": 2000}, 1, false},
		{"two of eight", spread, map[string]int{"A#SHARD_5": 200, "A#SHARD_1": 200}, 100, true},
		{"even", spread, map[string]int{"A#SHARD_0": 50, "A#SHARD_1": 50, "A#SHARD_2": 50, "A#SHARD_3": 50, "A#SHARD_4": 50, "A#SHARD_5": 50, "A#SHARD_6": 50, "A#SHARD_7": 50}, 50, false},
		{"a popular item among ids that are spread", heat.Layout{Layout: layout.Layout{Shards: 2}}, map[string]int{"A#SHARD_0": 1000, "A#SHARD_1": 50}, 50, false},
		{"not told, one shard", heat.Layout{Layout: layout.Layout{Shards: 8, Format: layout.Format{ShardPrefix: "@"}}}, map[string]int{"A#SHARD_5": 200}, 100, false},
		{"not told, plain number", heat.Layout{Layout: layout.Layout{Shards: 8, Format: layout.Format{ShardPrefix: "@"}}}, map[string]int{"A#5": 2000, "A#4": 3}, 100, false},
		{"not told, two shards", heat.Layout{Layout: layout.Layout{Shards: 8, Format: layout.Format{ShardPrefix: "@"}}}, map[string]int{"A#SHARD_3": 200, "A#SHARD_1": 10}, 100, true},
		{"narrower than the widest", heat.Layout{Layout: layout.Layout{Shards: 64}, Widths: true}, map[string]int{"A#SHARD_0": 200, "A#SHARD_1": 200}, 100, false},
		{"bare and never sharded", heat.Layout{Layout: layout.Layout{Shards: 8, Format: layout.Format{BareZero: true}}}, map[string]int{"USER": 2000}, 100, false},
		{"bare, beside shards", heat.Layout{Layout: layout.Layout{Shards: 8, Format: layout.Format{BareZero: true}}}, map[string]int{"A": 2000, "A#SHARD_1": 10}, 100, true},
		{"each bucket of its own", spread, map[string]int{"A#2024-12-01#SHARD_1": 200, "A#2024-12-02#SHARD_1": 3}, 100, true},
	} {
		t.Run(test.name, func(t *testing.T) {
			recorder := newRecorder(t, heat.Options{Layouts: []heat.Layout{test.layout}})
			for key, n := range test.writes {
				for i := range n {
					recorder.Observe(heat.Observation{
						Resource: heat.Resource{Table: "views"}, Direction: heat.Write, KeyNames: []string{"pk"}, Key: []string{key},
						Sort: []string{fmt.Sprint(i % test.items)}, Units: 1,
					})
				}
			}
			found := of(heat.UnevenShards, heat.Explain(recorder.Report(), heat.Rules{}))
			if got := len(found) == 1; got != test.want {
				t.Errorf("got %+v, want %v", found, test.want)
			}
		})
	}
}

// A sample of a table has some shards and not others: that is not how they are spread.
func TestSampleIsNotUneven(t *testing.T) {
	stored := &heat.Stored{
		Items: 1000, Fraction: 0.1, Distinct: heat.Distinct{Keys: 1},
		Keys: []heat.KeyItems{{Key: "A#SHARD_3", Items: 1000, Low: 1000, Share: 1}},
	}
	report := heat.Report{Source: heat.Scan, Resources: []heat.ResourceReport{{Resource: heat.Resource{Table: "views"}, Stored: stored}}}
	if err := report.Fold(heat.Layout{Layout: layout.Layout{Shards: 8}}); err != nil {
		t.Fatal(err)
	}
	if found := of(heat.UnevenShards, heat.Explain(report, heat.Rules{})); len(found) > 0 {
		t.Errorf("got %+v", found)
	}
	stored.Fraction = 1
	if found := of(heat.UnevenShards, heat.Explain(report, heat.Rules{})); len(found) != 1 {
		t.Errorf("the whole table: got %+v", found)
	}
}

// What a report says of shards survives JSON, and hides keys when asked to.
func TestShardedReportsAreJSON(t *testing.T) {
	recorder := newRecorder(t, heat.Options{Layouts: []heat.Layout{{Layout: layout.Layout{Shards: 4, Format: layout.PlainNumber()}}}})
	for i := range 300 {
		recorder.Observe(heat.Observation{
			Resource: heat.Resource{Table: "views"}, Direction: heat.Write, KeyNames: []string{"pk"}, Key: []string{fmt.Sprintf("secret#%d", 3*(i%2)*2)}, Units: 1,
		})
	}
	report := recorder.Report()
	data, err := json.Marshal(report)
	if err != nil {
		t.Fatal(err)
	}
	var read heat.Report
	if err := json.Unmarshal(data, &read); err != nil {
		t.Fatal(err)
	}
	want := heat.Explain(report, heat.Rules{})
	if got := heat.Explain(read, heat.Rules{}); indented(got) != indented(want) || len(want) != 2 {
		t.Errorf("got %s, want %s", indented(got), indented(want))
	}
	read.Redact(heat.Hashed([]byte("secret")))
	if data, err = json.Marshal(read); err != nil || bytes.Contains(data, []byte("secret")) {
		t.Errorf("%v: %s", err, data)
	}
}
