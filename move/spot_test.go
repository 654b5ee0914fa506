package move

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"pgregory.net/rapid"

	"github.com/heatsink-go/heatsink/internal/passage"
	"github.com/heatsink-go/heatsink/internal/place"
	"github.com/heatsink-go/heatsink/layout"
)

func arranged(shards int, edit ...func(*passage.Arrangement)) passage.Arrangement {
	a := passage.Arrangement{Layout: layout.Layout{Strategy: layout.Calculated, Shards: shards}}
	for _, e := range edit {
		e(&a)
	}
	return a
}

func spelt(f layout.Format) func(*passage.Arrangement) {
	return func(a *passage.Arrangement) { a.Layout.Format = f }
}

func wide(key string, n int) func(*passage.Arrangement) {
	return func(a *passage.Arrangement) {
		a.Layout.Format.BareZero = true
		if a.Widths == nil {
			a.Widths = map[string]int{}
		}
		a.Widths[key] = n
	}
}

func begins(prefix string, n int) func(*passage.Arrangement) {
	return func(a *passage.Arrangement) {
		a.Layout.Format.BareZero = true
		a.Prefixes = merged(a.Prefixes, map[string]int{prefix: n})
	}
}

func stored(pk, sk string) place.Item { return place.Item{"pk": text(pk), "sk": text(sk)} }

// Where an item lies follows from its key, the arrangement of before and the one of after.
func TestLocate(t *testing.T) {
	four, sixteen := arranged(4), arranged(16)
	home := func(a passage.Arrangement, key, id string) string {
		l := a.For(key)
		text, err := l.ShardKey(key, time.Time{}, l.Shard(id))
		if err != nil {
			t.Fatal(err)
		}
		return text
	}
	other := func(a passage.Arrangement, key, id string) string { // a shard that the id does not have
		l := a.For(key)
		text, err := l.ShardKey(key, time.Time{}, (l.Shard(id)+1)%l.Shards)
		if err != nil {
			t.Fatal(err)
		}
		return text
	}
	plain := arranged(0)
	hot := arranged(0, wide("HOT", 8))
	posts := arranged(0, begins("P#2026", 8), wide("P#2026-cold", 1))
	seconds := arranged(0, func(a *passage.Arrangement) { a.Layout.Bucket, a.Clock = layout.Day, place.UnixSeconds })
	millis := arranged(0, func(a *passage.Arrangement) { a.Layout.Bucket, a.Clock = layout.Day, place.UnixMilliseconds })
	numbered := func(pk string, sk int64) place.Item {
		return place.Item{"pk": text(pk), "sk": &types.AttributeValueMemberN{Value: fmt.Sprint(sk)}}
	}
	noon := time.Date(2026, 11, 14, 12, 0, 0, 0, time.UTC)
	for name, test := range map[string]struct {
		now  passage.Arrangement
		next *passage.Arrangement
		item place.Item
		want spot
		key  string
		why  string
	}{
		"unsharded, still":                     {plain, nil, stored("K", "a"), atBoth, "K", ""},
		"unsharded, old home":                  {plain, &sixteen, stored("K", "a"), atOld, "K", ""},
		"new home of an unsharded one":         {plain, &sixteen, stored(home(sixteen, "K", "a"), "a"), atNew, "K", ""},
		"another shard of the new ones":        {plain, &sixteen, stored(other(sixteen, "K", "a"), "a"), astray, "K", "belongs to"},
		"a shard beyond the new ones":          {plain, &sixteen, stored("K#SHARD_16", "a"), astray, "K", "belongs to"},
		"old home in shards":                   {four, &sixteen, stored(home(four, "K", "a"), "a"), atOldOrBoth(home(four, "K", "a") == home(sixteen, "K", "a")), "K", ""},
		"a shard of neither":                   {four, nil, stored(other(four, "K", "a"), "a"), astray, "K", "belongs to"},
		"a bare key where all have shards":     {four, &sixteen, stored("K", "a"), atUnknown, "", "does not end in a shard"},
		"a key that the new one refuses":       {plain, new(arranged(4, spelt(layout.PlainNumber()))), stored("TENANT#1", "b"), astray, "TENANT", "belongs to"},
		"a key that the old one refuses":       {plain, nil, stored("K#SHARD_3", "a"), atUnknown, "", "has no shard 3"},
		"a control item":                       {plain, &sixteen, stored("_hs#P#table", "-"), atControl, "", ""},
		"a number for a partition key":         {plain, nil, place.Item{"pk": &types.AttributeValueMemberN{Value: "1"}, "sk": text("a")}, atUnknown, "", "want a string"},
		"one wide key, another one":            {plain, &hot, stored("COLD", "a"), atBoth, "COLD", ""},
		"one wide key, itself":                 {plain, &hot, stored("HOT", "a"), atOldOrBoth(home(hot, "HOT", "a") == "HOT"), "HOT", ""},
		"one wide key, its shard":              {plain, &hot, stored(home(hot, "HOT", "a"), "a"), atNew, "HOT", ""},
		"one wide key, a shard of another one": {plain, &hot, stored("COLD#SHARD_3", "a"), astray, "COLD", "belongs to"},
		"a prefix, another key":                {plain, &posts, stored("P#2025", "a"), atBoth, "P#2025", ""},
		"a prefix, a shorter key":              {plain, &posts, stored("P#202", "a"), atBoth, "P#202", ""},
		"a prefix, a key that it is":           {plain, &posts, stored("P#2026", "a"), atOldOrBoth(home(posts, "P#2026", "a") == "P#2026"), "P#2026", ""},
		"a prefix, a key with it":              {plain, &posts, stored("P#2026-01", "a"), atOldOrBoth(home(posts, "P#2026-01", "a") == "P#2026-01"), "P#2026-01", ""},
		"a prefix, a shard of such a key":      {plain, &posts, stored(home(posts, "P#2026-01", "a"), "a"), atNew, "P#2026-01", ""},
		"a prefix, a key of its own":           {plain, &posts, stored("P#2026-cold", "a"), atBoth, "P#2026-cold", ""},
		"days of seconds, still":               {seconds, nil, numbered("K#2026-11-14", noon.Unix()), atBoth, "K", ""},
		"days of seconds, another day":         {seconds, nil, numbered("K#2026-11-15", noon.Unix()), astray, "K", "belongs to"},
		"to days of seconds, old home":         {plain, &seconds, numbered("K", noon.Unix()), atOld, "K", ""},
		"to days of seconds, new home":         {plain, &seconds, numbered("K#2026-11-14", noon.Unix()), atNew, "K", ""},
		"to days of milliseconds, new home":    {plain, &millis, numbered("K#2026-11-14", noon.UnixMilli()), atNew, "K", ""},
		"from days of milliseconds, old home":  {millis, &plain, numbered("K#2026-11-14", noon.UnixMilli()), atOld, "K", ""},
		"another spelling":                     {four, new(arranged(4, spelt(layout.SharpNumber()))), stored(home(four, "K", "a"), "a"), atOld, "K", ""},
	} {
		t.Run(name, func(t *testing.T) {
			at := newAtlas("pk", "sk", test.now, test.next).locate("", test.item)
			if at.spot != test.want || at.key != test.key || !strings.Contains(at.why, test.why) || (test.why == "") != (at.why == "") {
				t.Errorf("got %v of key %q because %q, want %v of %q because %q", at.spot, at.key, at.why, test.want, test.key, test.why)
			}
		})
	}
}

func atOldOrBoth(same bool) spot {
	if same {
		return atBoth
	}
	return atOld
}

// drawn returns some arrangement whose keys are spelt in one of several ways.
func drawn(t *rapid.T, label string) passage.Arrangement {
	a := arranged(rapid.IntRange(0, 9).Draw(t, label+" shards"))
	a.Layout.Hash = rapid.SampledFrom([]layout.Hash{layout.XXHash, layout.FNV, layout.CRC32}).Draw(t, label+" hash")
	a.Layout.Format = rapid.SampledFrom([]layout.Format{
		{}, layout.SharpNumber(), layout.PlainNumber(), layout.DotFromOne(), {Width: 3}, {BareZero: true}, {ShardPrefix: "_"},
	}).Draw(t, label+" format")
	if rapid.Bool().Draw(t, label+" widths") {
		wide("K", rapid.IntRange(1, 12).Draw(t, label+" width"))(&a)
	}
	if rapid.Bool().Draw(t, label+" prefixes") {
		begins(rapid.SampledFrom([]string{"K", "K#", "K#S", "L"}).Draw(t, label+" prefix"), rapid.IntRange(1, 12).Draw(t, label+" of prefix"))(&a)
	}
	return a
}

// An item that is put in a home is located there, whatever the arrangements are, and its key is that which it was put with.
func TestLocateFindsWhatIsPut(t *testing.T) {
	counts := map[spot]int{}
	rapid.Check(t, func(t *rapid.T) {
		now, next := drawn(t, "now"), drawn(t, "next")
		key := rapid.SampledFrom([]string{"K", "L", "K#1", "K#SHARD", "K#SHARD_1", "K_2", "K.3", "#", "K#SHARD_01"}).Draw(t, "key")
		id := rapid.StringMatching(`[a-z]{1,4}`).Draw(t, "id")
		atlas := newAtlas("pk", "sk", now, &next)
		if atlas.takes(key) != nil {
			return // programs refuse it
		}
		old, new, err := atlas.homes(key, stored("", id))
		if err != nil {
			t.Fatal(err)
		}
		want := map[string]spot{old: atOld, new: atNew}
		if old == new {
			want = map[string]spot{old: atBoth}
		}
		for pk, spot := range want {
			counts[spot]++
			at := atlas.locate("", stored(pk, id))
			if at.spot != spot || at.key != key || at.old != old || at.new != new {
				t.Fatalf("%q of key %q and id %q is %+v, want %v: from %v to %v", pk, key, id, at, spot, now, next)
			}
		}
	})
	if len(counts) != 3 || counts[atBoth] == 0 {
		t.Errorf("drew %v, want all of them", counts)
	}
}
