package heat_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/heatsink-go/heatsink"
	"github.com/heatsink-go/heatsink/heat"
	"github.com/heatsink-go/heatsink/layout"
)

// adopt writes items without the library, as before it was adopted, and then items of other ids with a layout.
func adopt(t *testing.T, past, now layout.Layout, redact func(dst, key []byte) []byte, layouts ...heat.Layout) *shardedTable {
	t.Helper()
	ids := orderIDs(700)
	s := writeSharded(t, now, "ACTIVE", ids[300:], redact, layouts...)
	old, err := heatsink.Open[heatsink.Item](s.db.Client(s.recorder.Option), heatsink.Options{
		Table: "orders", PartitionKey: "pk", SortKey: "sk", Layout: past, Retry: heatsink.Retry{Attempts: 50, Budget: 100},
	})
	if err != nil {
		t.Fatal(err)
	}
	var items []heatsink.Item
	for _, id := range ids[:300] {
		items = append(items, heatsink.Item{"pk": text("ACTIVE"), "sk": text(id)})
	}
	if err := old.BatchPut(t.Context(), items); err != nil {
		t.Fatal(err)
	}
	return s
}

// count returns how many items a reader of some options finds.
func (s *shardedTable) count(t *testing.T, o heatsink.Options) int {
	t.Helper()
	o.Table, o.PartitionKey, o.SortKey = "orders", "pk", "sk"
	orders, err := heatsink.Open[heatsink.Item](s.db.Client(), o)
	if err != nil {
		t.Fatal(err)
	}
	n, err := orders.Count(t.Context(), heatsink.Query{Key: "ACTIVE"})
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// Items that were there before heatsink was adopted are missed by readers that do not declare them. Every source that knows
// keys shows it, and the remedy finds the items.
func TestAdoptionWithoutThePast(t *testing.T) {
	spread := layout.Layout{Shards: 4}
	for name, redact := range map[string]func(dst, key []byte) []byte{"plain": nil, "hidden": heat.Hashed([]byte("secret"))} {
		t.Run(name, inBubble(func(t *testing.T) {
			s := adopt(t, layout.Layout{}, spread, redact, heat.Layout{Layout: spread})
			key := "ACTIVE"
			if redact != nil {
				key = string(redact(nil, []byte(key)))
			}
			reports := s.reports(t)
			for _, report := range reports {
				all := heat.Explain(report, heat.Rules{})
				found := of(heat.StrayShard, slices.Clone(all))
				if len(found) != 1 || found[0].Severity != heat.Critical || !strings.Contains(found[0].Message, "'"+key+"' has no shard") {
					t.Errorf("%s: %+v", report.Source, found)
					continue
				}
				evidence := strings.Join(found[0].Evidence, "\n") // live calls count attempts, and Insights units
				if exact := report.Source != heat.Live && report.Source != heat.Insights; exact &&
					(!strings.Contains(evidence, "it has 300 ") || !strings.Contains(evidence, "400 ")) {
					t.Errorf("%s: %s", report.Source, evidence)
				}
				if !strings.Contains(found[0].Remedy, "Older: []layout.Layout{{}}") || strings.Contains(found[0].Remedy, "raise") {
					t.Errorf("%s: %s", report.Source, found[0].Remedy)
				}
				if other := of(heat.LowCardinality, slices.Clone(all)); len(other) > 0 {
					t.Errorf("%s advises to spread what is spread: %+v", report.Source, other)
				}
			}
			if all := of(heat.StrayShard, heat.ExplainAll(heat.Rules{}, reports...)); len(all) != 1 {
				t.Errorf("all together: %+v", all)
			}
			if got := s.count(t, heatsink.Options{Layout: spread}); got != 400 {
				t.Errorf("readers without the remedy find %d items, want the 400 in shards", got)
			}
			if got := s.count(t, heatsink.Options{Layout: spread, Older: []layout.Layout{{}}}); got != 700 {
				t.Errorf("readers with the remedy find %d of 700 items", got)
			}
			told := heat.Layout{Layout: spread}
			told.Unsharded = true
			s.layouts = []heat.Layout{told}
			for _, report := range s.reports(t)[1:] {
				if found := of(heat.StrayShard, heat.Explain(report, heat.Rules{})); len(found) > 0 {
					t.Errorf("%s, readers of the bare key: %+v", report.Source, found)
				}
			}
		}))
	}
}

// A first shard with a number is missed by readers with BareZero, and more shards do not help them.
func TestNumberedFirstShardWithBareZero(t *testing.T) {
	inBubble(func(t *testing.T) {
		past := layout.Layout{Shards: 4}
		now := layout.Layout{Shards: 4, Format: layout.Format{BareZero: true}}
		s := adopt(t, past, now, nil, heat.Layout{Layout: now})
		for _, report := range s.reports(t) {
			found := of(heat.StrayShard, heat.Explain(report, heat.Rules{}))
			if len(found) != 1 || !strings.Contains(found[0].Message, "'ACTIVE#SHARD_0' is shard 0, but readers of {key}[#SHARD_{shard}] spell it differently") {
				t.Errorf("%s: %+v", report.Source, found)
				continue
			}
			if remedy := found[0].Remedy; strings.Contains(remedy, "raise") || !strings.Contains(remedy, "Older") || !strings.Contains(remedy, "Format") {
				t.Errorf("%s: %s", report.Source, remedy)
			}
		}
		if got := s.count(t, heatsink.Options{Layout: now.WithShards(16)}); got == 700 {
			t.Error("more shards find all items, so the remedy should say so")
		}
		if got := s.count(t, heatsink.Options{Layout: now, Older: []layout.Layout{past}}); got != 700 {
			t.Errorf("readers with the remedy find %d of 700 items", got)
		}
	})(t)
}

// Bare keys are strays only beside numbered shards of theirs, whichever comes first.
func TestBareKeys(t *testing.T) {
	plain := heat.Layout{Layout: layout.Layout{Shards: 4}}
	for _, test := range []struct {
		name    string
		layouts []heat.Layout
		keys    []string
		bare    int64
		of      string
	}{
		{"bare first", []heat.Layout{plain}, []string{"A", "A", "A#SHARD_0", "A"}, 3, "A"},
		{"bare last", []heat.Layout{plain}, []string{"A#SHARD_0", "A"}, 1, "A"},
		{"beside a stray", []heat.Layout{plain}, []string{"A", "A#SHARD_9"}, 1, "A"},
		{"of another key", []heat.Layout{plain}, []string{"B", "A#SHARD_0"}, 0, ""},
		{"alone", []heat.Layout{plain}, []string{"A"}, 0, ""},
		{"read along", []heat.Layout{{Layout: layout.Layout{Shards: 4}, Unsharded: true}}, []string{"A", "A#SHARD_0"}, 0, ""},
		{"of BareZero", []heat.Layout{{Layout: layout.Layout{Shards: 4, Format: layout.Format{BareZero: true}}}}, []string{"A", "A#SHARD_1"}, 0, ""},
		{"in a bucket", []heat.Layout{{Layout: layout.Layout{Shards: 4, Bucket: layout.Day}}}, []string{"A#2024-12-02#SHARD_0", "A#2024-12-02"}, 1, "A#2024-12-02"},
		{"before buckets", []heat.Layout{{Layout: layout.Layout{Shards: 4, Bucket: layout.Hour}}}, []string{"A", "A#2024-12-02T15#SHARD_0"}, 1, "A"},
		{"beside BareZero", []heat.Layout{{Layout: layout.Layout{Shards: 4, Format: layout.Format{ShardPrefix: ".", BareZero: true}}}, plain}, []string{"A", "A#SHARD_0"}, 1, "A"},
		{"a table's ARN", []heat.Layout{{Resource: heat.Resource{Table: "arn:aws:dynamodb:eu-west-1:123456789012:table/views"}, Layout: layout.Layout{Shards: 4}}}, []string{"A", "A#SHARD_0"}, 1, "A"},
	} {
		t.Run(test.name, func(t *testing.T) {
			recorder := newRecorder(t, heat.Options{Keys: map[string][]string{"views": {"pk"}}, Layouts: test.layouts})
			for _, key := range test.keys {
				heat.Observe(recorder, "views", heat.Write, []byte(key), 1)
			}
			var bare int64
			var key string
			for _, s := range recorder.Report().Resources[0].Writes.Sharded {
				bare += s.Bare
				for _, b := range s.Bares {
					key = b.Key
				}
			}
			if bare != test.bare || key != test.of {
				t.Errorf("got %d of %q, want %d of %q", bare, key, test.bare, test.of)
			}
		})
	}
}

// A bare key of some weight is found among a hundred thousand keys that were never sharded, and one that was written last
// among a thousand that are.
func TestBareKeyOfMany(t *testing.T) {
	newRecorder := func() *heat.Recorder {
		return newRecorder(t, heat.Options{Keys: map[string][]string{"views": {"pk"}}, Layouts: []heat.Layout{{Layout: layout.Layout{Shards: 4}}}})
	}
	write := func(r *heat.Recorder, format string, args ...any) {
		heat.Observe(r, "views", heat.Write, fmt.Appendf(nil, format, args...), 1)
	}
	r := newRecorder()
	for i := range 100_000 {
		write(r, "user-%d", i)
		if i%250 == 0 {
			write(r, "ACTIVE")
		}
	}
	write(r, "ACTIVE#SHARD_0")
	found := of(heat.StrayShard, heat.Explain(r.Report(), heat.Rules{}))
	if len(found) != 1 || !strings.Contains(found[0].Message, "'ACTIVE' has no shard") {
		t.Errorf("unsharded keys: got %+v", found)
	}
	r = newRecorder()
	for i := range 1000 {
		write(r, "user-%d#SHARD_%d", i, i%4)
	}
	write(r, "user-7")
	found = of(heat.StrayShard, heat.Explain(r.Report(), heat.Rules{}))
	if len(found) != 1 || !strings.Contains(found[0].Message, "'user-7' has no shard") {
		t.Errorf("sharded keys: got %+v", found)
	}
	r = newRecorder()
	for i := range 100_000 {
		write(r, "user-%d#SHARD_%d", i, i%4)
		if i < 60 {
			write(r, "user-%d", i)
		}
	}
	s := r.Report().Resources[0].Writes.Sharded[0]
	if s.Bare != 60 || s.BareKeys.Keys < 55 || s.BareKeys.Keys > 65 || len(s.Bares) != 50 {
		t.Errorf("60 bare keys: got %d in %+v, %d named", s.Bare, s.BareKeys, len(s.Bares))
	}
}

// Readers of a bare key beside its shards are worth a warning: they may miss the shards.
func TestBareKeyThatIsRead(t *testing.T) {
	recorder := newRecorder(t, heat.Options{Keys: map[string][]string{"views": {"pk"}}, Layouts: []heat.Layout{{Layout: layout.Layout{Shards: 4}}}})
	for _, key := range []string{"A", "A#SHARD_0"} {
		heat.Observe(recorder, "views", heat.Read, []byte(key), 1)
	}
	found := heat.Explain(recorder.Report(), heat.Rules{})
	if len(found) != 1 || found[0].Kind != heat.StrayShard || found[0].Severity != heat.Warning || !strings.Contains(found[0].Remedy, "--unsharded") {
		t.Errorf("got %+v", found)
	}
	exclude := heat.Rules{Exclude: func(key string) bool { return key == "A" }}
	if found := heat.Explain(recorder.Report(), exclude); len(found) > 0 {
		t.Errorf("excluded: got %+v", found)
	}
}

// A random key that has grown from 4 to 16 shards is not blamed on its hash.
func TestGrownKeyIsNotTheHash(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	observe := func(widths ...int) heat.Report {
		recorder := newRecorder(t, heat.Options{Keys: map[string][]string{"views": {"pk"}}, Layouts: []heat.Layout{{Layout: layout.Layout{Shards: 16}}}})
		for _, width := range widths {
			for range 2000 {
				heat.Observe(recorder, "views", heat.Write, fmt.Appendf(nil, "A#SHARD_%d", random.IntN(width)), 1)
			}
		}
		return recorder.Report()
	}
	for _, test := range []struct {
		widths []int
		want   int
	}{{[]int{4, 16}, 4}, {[]int{4}, 4}, {[]int{2, 4, 4, 16}, 2}, {[]int{16}, 0}, {[]int{1, 16}, 0}} {
		keys := observe(test.widths...).Resources[0].Writes.Sharded[0].Keys
		if len(keys) != 1 || keys[0].Grown != test.want {
			t.Errorf("%v: got %+v, want %d", test.widths, keys, test.want)
		}
	}
	found := of(heat.UnevenShards, heat.Explain(observe(4, 4, 16), heat.Rules{}))
	if len(found) != 1 || !strings.Contains(found[0].Cause, "some writers seem to have only 4 shards") || strings.Contains(found[0].Cause, "Product") {
		t.Errorf("writers: got %+v", found)
	}
	inBubble(func(t *testing.T) {
		spread := layout.Layout{Shards: 16}
		s := adopt(t, spread.WithShards(4), spread, nil, heat.Layout{Layout: spread})
		for _, report := range s.reports(t)[2:4] { // what is stored
			found := of(heat.UnevenShards, heat.Explain(report, heat.Rules{}))
			if len(found) != 1 || found[0].Severity != heat.Info || !strings.Contains(found[0].Cause, "older") ||
				!strings.Contains(found[0].Remedy, "--widths") || strings.Contains(found[0].Cause+found[0].Remedy, "Product") {
				t.Errorf("%s: got %+v", report.Source, found)
			}
		}
	})(t)
}

// After an adoption with BareZero, nobody is told to spread what is spread.
func TestBareZeroIsNotAdvisedAgain(t *testing.T) {
	inBubble(func(t *testing.T) {
		spread := layout.Layout{Shards: 4, Format: layout.Format{BareZero: true}}
		s := adopt(t, layout.Layout{}, spread, nil, heat.Layout{Layout: spread})
		for _, report := range s.reports(t) {
			for _, f := range heat.Explain(report, heat.Rules{}) {
				if f.Kind == heat.LowCardinality || strings.Contains(f.Remedy, "shard the key") || strings.Contains(f.Remedy, "add shards") {
					t.Errorf("%s: %+v", report.Source, f)
				}
			}
		}
	})(t)
}

// Up to as many keys as are kept, the number of those of a shape is exact.
func TestKeysOfAShapeAreCounted(t *testing.T) {
	for _, keys := range []int{16, 23, 500} {
		recorder := newRecorder(t, heat.Options{Keys: map[string][]string{"views": {"pk"}}})
		for round := range 3 {
			for i := range keys {
				heat.Observe(recorder, "views", heat.Write, fmt.Appendf(nil, "A#SHARD_%d", i), float64(round+1))
			}
		}
		p := recorder.Report().Resources[0].Patterns
		if want := (heat.Distinct{Keys: int64(keys)}); len(p) != 1 || p[0].Distinct != want {
			t.Errorf("got %+v, want %+v", p, want)
		}
	}
}
