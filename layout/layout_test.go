package layout

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// noTime is for layouts without a bucket, which do not look at it.
var noTime time.Time

func TestShardKey(t *testing.T) {
	at := instant("2024-12-02T15:30:45Z")
	bare := Format{BareZero: true}
	for _, c := range []struct {
		name   string
		layout Layout
		key    string
		shard  int
		want   string
	}{
		{"zero layout", Layout{}, "PAGE_VIEWS", 0, "PAGE_VIEWS"},
		{"default format", Layout{Shards: 10}, "POPULAR_ITEM", 7, "POPULAR_ITEM#SHARD_7"},
		{"one shard has a suffix too", Layout{Shards: 1}, "ITEM", 0, "ITEM#SHARD_0"},
		{"key of several parts", Layout{Shards: 10}, "USER#123#POPULAR", 5, "USER#123#POPULAR#SHARD_5"},
		{"003-08: hash before the number", Layout{Shards: 10, Format: SharpNumber()}, "STATUS#ACTIVE", 7, "STATUS#ACTIVE#SHARD#7"},
		{"003-09: hour and shard", Layout{Shards: 10, Bucket: Hour, Format: SharpNumber()}, "HOUR", 9, "HOUR#2024-12-02T15#SHARD#9"},
		{"004-05: plain number", Layout{Shards: 10, Format: PlainNumber()}, "user-12345", 9, "user-12345#9"},
		{"004-10: day", Layout{Bucket: Day}, "user-12345", 0, "user-12345#2024-12-02"},
		{"004-10: hour", Layout{Bucket: Hour}, "user-12345", 0, "user-12345#2024-12-02T15"},
		{"004-12: day and plain number", Layout{Shards: 5, Bucket: Day, Format: PlainNumber()}, "user-12345", 4, "user-12345#2024-12-02#4"},
		{"002-01, X10: counted from one", Layout{Shards: 200, Format: DotFromOne()}, "2014-07-09", 0, "2014-07-09.1"},
		{"002-01, X10: the last of them", Layout{Shards: 200, Format: DotFromOne()}, "2014-07-09", 199, "2014-07-09.200"},
		{"hour with another mark", Layout{Bucket: Hour, Format: Format{HourMark: "-"}}, "LOG", 0, "LOG#2024-12-02-15"},
		{"week", Layout{Shards: 2, Bucket: Week}, "LOG", 1, "LOG#2024-W49#SHARD_1"},
		{"X01: padded", Layout{Shards: 100, Format: Format{Width: 3}}, "ITEM", 7, "ITEM#SHARD_007"},
		{"wider than padded", Layout{Shards: MaxShards, Format: Format{Width: 3}}, "ITEM", MaxShards - 1, "ITEM#SHARD_65535"},
		{"bare shard 0", Layout{Shards: 4, Format: bare}, "ITEM", 0, "ITEM"},
		{"beside bare shard 0", Layout{Shards: 4, Format: bare}, "ITEM", 1, "ITEM#SHARD_1"},
		{"bare shard 0 of a bucket", Layout{Shards: 4, Bucket: Day, Format: bare}, "ITEM", 0, "ITEM#2024-12-02"},
		{"bare shard 0 of a year", Layout{Shards: 4, Bucket: Year, Format: Format{ShardPrefix: "#", BareZero: true}}, "ITEM", 0, "ITEM#2024"},
		{"bucket of another kind in the key", Layout{Bucket: Month}, "LOG#2024-12-02", 0, "LOG#2024-12-02#2024-12"},
		{"shard of another format in the key", Layout{Shards: 4, Format: SharpNumber()}, "A#SHARD_1", 2, "A#SHARD_1#SHARD#2"},
		{"beginning of a suffix in the key", Layout{Shards: 4}, "A#SHARD_", 2, "A#SHARD_#SHARD_2"},
		{"the longest", Layout{Shards: 10}, strings.Repeat("x", 2040), 7, strings.Repeat("x", 2040) + "#SHARD_7"},
		{"not ASCII", Layout{Shards: 10}, "séance#日本", 7, "séance#日本#SHARD_7"},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, err := c.layout.ShardKey(c.key, at, c.shard)
			if got != c.want || err != nil {
				t.Fatalf("got %q, %v, want %q", got, err, c.want)
			}
			want := Place{c.key, c.layout.Bucket.Start(at), c.shard}
			if place, err := c.layout.Parse(got); place != want || err != nil {
				t.Errorf("parsed: got %+v, %v, want %+v", place, err, want)
			}
			if text, err := c.layout.AppendShardKey([]byte("before "), c.key, at, c.shard); string(text) != "before "+c.want || err != nil {
				t.Errorf("appended: got %q, %v", text, err)
			}
		})
	}
}

func TestShardKeyRefuses(t *testing.T) {
	at := instant("2024-12-02T15:30:45Z")
	bareYear := Layout{Shards: 4, Bucket: Year, Format: Format{ShardPrefix: "#SHARD#", BareZero: true}}
	for _, c := range []struct {
		name   string
		layout Layout
		key    string
		at     time.Time
		shard  int
		kind   error
		says   string
	}{
		{"empty", Layout{Shards: 10}, "", at, 0, ErrKey, `"": it is empty`},
		{"empty and not spread", Layout{}, "", at, 0, ErrKey, "it is empty"},
		{"not UTF-8", Layout{Shards: 10}, "a\xff", at, 0, ErrKey, `"a\xff": it is not valid UTF-8`},
		{"sharded already", Layout{Shards: 10}, "A#SHARD_1", at, 0, ErrKey, `"A#SHARD_1": it already ends like a shard`},
		{"sharded beyond the shards there are", Layout{Shards: 10}, "A#SHARD_99999999999999999999", at, 0, ErrKey, "like a shard"},
		{"sharded, padded otherwise", Layout{Shards: 10}, "A#SHARD_007", at, 0, ErrKey, "like a shard"},
		{"sharded and not spread", Layout{}, "A#SHARD_1", at, 0, ErrKey, "like a shard"},
		{"only a shard", Layout{Shards: 10}, "#SHARD_1", at, 0, ErrKey, "like a shard"},
		{"a number where numbers are shards", Layout{Shards: 10, Format: PlainNumber()}, "USER#123", at, 0, ErrKey, "like a shard of {key}#{bucket}#{shard}"},
		{"bucketed already", Layout{Bucket: Day}, "A#2024-12-02", at, 0, ErrKey, "like a day"},
		{"bucketed and sharded already", Layout{Shards: 3, Bucket: Day}, "A#2024-12-02#SHARD_1", at, 0, ErrKey, "like a shard"},
		{"would be read as a shard of another key", bareYear, "A#2023#SHARD", at, 0, ErrKey, "would be parsed as a shard of another key"},
		{"so also in a shard that would not", bareYear, "A#2023#SHARD", at, 3, ErrKey, "would be parsed as a shard of another key"},
		{"too long with the suffix", Layout{Shards: 10}, strings.Repeat("x", 2041), at, 7, ErrKey, "2049 bytes"},
		{"far too long", Layout{Shards: 10}, strings.Repeat("x", 1<<20), at, 7, ErrKey, "… (1048576 bytes)"},
		{"no time for the bucket", Layout{Bucket: Day}, "A", noTime, 0, ErrTime, `key "A": time without a bucket: the time is zero`},
		{"year 10000", Layout{Bucket: Day}, "A", time.Date(10000, 1, 1, 0, 0, 0, 0, time.UTC), 0, ErrTime, "10000-01-01"},
		{"shard below", Layout{Shards: 10}, "A", at, -1, ErrShard, "shard -1, want 0 to 9"},
		{"shard above", Layout{Shards: 10}, "A", at, 10, ErrShard, "shard 10, want 0 to 9"},
		{"shard of a key that is not spread", Layout{}, "A", at, 1, ErrShard, "shard 1, want 0 to 0"},
		{"invalid layout", Layout{Shards: -1}, "A", at, 0, ErrInvalid, "Shards is -1, want 0 to 65536"},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, err := c.layout.ShardKey(c.key, c.at, c.shard)
			if got != "" || !errors.Is(err, c.kind) || !strings.Contains(err.Error(), c.says) {
				t.Errorf("got %q, %v, want %v that says %q", got, err, c.kind, c.says)
			}
			if err != nil && len(err.Error()) > 500 {
				t.Errorf("the error has %d bytes", len(err.Error()))
			}
			if text, err := c.layout.AppendShardKey([]byte("before"), c.key, c.at, c.shard); string(text) != "before" || err == nil {
				t.Errorf("appended: got %q, %v", text, err)
			}
		})
	}
}

// Wherever in a key it is, a byte that is not UTF-8 is seen, and a letter that is not ASCII is no fault.
func TestKeysAreUTF8(t *testing.T) {
	l := Layout{Shards: 2}
	for n := range 33 {
		for before := range n + 1 {
			key := strings.Repeat("k", before) + "%s" + strings.Repeat("k", n-before)
			if got, err := l.ShardKey(fmt.Sprintf(key, "\x80"), noTime, 1); !errors.Is(err, ErrKey) {
				t.Errorf("%d bytes before \\x80 and %d behind: got %q, %v, want ErrKey", before, n-before, got, err)
			}
			if _, err := l.ShardKey(fmt.Sprintf(key, "é"), noTime, 1); err != nil {
				t.Errorf("%d bytes before é and %d behind: %v", before, n-before, err)
			}
		}
	}
}

func TestParseRefuses(t *testing.T) {
	padded := Layout{Shards: 10, Format: Format{Width: 3}}
	bare := Layout{Shards: 10, Format: Format{BareZero: true}}
	for _, c := range []struct {
		name   string
		layout Layout
		text   string
		says   string
	}{
		{"empty", Layout{Shards: 10}, "", "does not end in a shard"},
		{"no key", Layout{Shards: 10}, "#SHARD_3", "it is empty"},
		{"no suffix", Layout{Shards: 10}, "ITEM", "does not end in a shard"},
		{"no number", Layout{Shards: 10}, "ITEM#SHARD_", "does not end in a shard"},
		{"another format", Layout{Shards: 10}, "ITEM#SHARD#3", "does not end in a shard"},
		{"sign", Layout{Shards: 10}, "ITEM#SHARD_-1", "does not end in a shard"},
		{"other digits", Layout{Shards: 10}, "ITEM#SHARD_٣", "does not end in a shard"},
		{"leading zero", Layout{Shards: 10}, "ITEM#SHARD_07", "wrong number of digits"},
		{"padded too little", padded, "ITEM#SHARD_7", "wrong number of digits"},
		{"padded too much", padded, "ITEM#SHARD_0007", "wrong number of digits"},
		{"shard beyond", Layout{Shards: 10}, "ITEM#SHARD_10", "the layout has no shard 10"},
		{"overflow", Layout{Shards: 10}, "ITEM#SHARD_18446744073709551617", "too long"},
		{"below the first", Layout{Shards: 10, Format: DotFromOne()}, "ITEM.0", "the layout has no shard 0"},
		{"shard 0 spelt out", bare, "ITEM#SHARD_0", "shard 0 of this format has no number"},
		{"shard of a key that is not spread", Layout{}, "ITEM#SHARD_0", "the layout has no shard 0"},
		{"sharded twice", Layout{Shards: 10}, "ITEM#SHARD_1#SHARD_2", "already ends like a shard"},
		{"no bucket", Layout{Shards: 10, Bucket: Day}, "ITEM#SHARD_1", "does not end in a shard"},
		{"no bucket and bare", Layout{Bucket: Day}, "ITEM", "has no day"},
		{"no such day", Layout{Bucket: Day}, "ITEM#2023-02-29", "has no day"},
		{"shard before bucket", Layout{Shards: 10, Bucket: Day}, "ITEM#SHARD_1#2024-12-02", "does not end in a shard"},
		{"bucketed twice", Layout{Bucket: Day}, "ITEM#2024-12-01#2024-12-02", "already ends like a day"},
		{"only a bucket", Layout{Bucket: Day}, "#2024-12-02", "is empty"},
		{"not UTF-8", Layout{Shards: 10}, "\xff#SHARD_1", "not valid UTF-8"},
		{"too long", Layout{Shards: 10}, strings.Repeat("x", 2048) + "#SHARD_1", "it has 2056 bytes, but a partition key has at most 2048"},
	} {
		t.Run(c.name, func(t *testing.T) {
			place, err := c.layout.Parse(c.text)
			if place != (Place{}) || !errors.Is(err, ErrKey) || !strings.Contains(err.Error(), c.says) {
				t.Errorf("got %+v, %v, want ErrKey that says %q", place, err, c.says)
			}
		})
	}
	if _, err := (Layout{Bucket: 99}).Parse("ITEM"); !errors.Is(err, ErrInvalid) {
		t.Errorf("invalid layout: got %v, want ErrInvalid", err)
	}
}

// drawLayout draws a valid layout, in the presets' formats and in treacherous ones.
func drawLayout(t *rapid.T) Layout {
	l := Layout{
		Shards:   rapid.OneOf(rapid.IntRange(0, 3), rapid.IntRange(0, MaxShards)).Draw(t, "shards"),
		Strategy: rapid.SampledFrom([]Strategy{Random, Calculated}).Draw(t, "strategy"),
		Bucket:   rapid.SampledFrom(allBuckets).Draw(t, "bucket"),
		Hash:     rapid.SampledFrom(allHashes).Draw(t, "hash"),
	}
	if rapid.Bool().Draw(t, "preset") {
		l.Format = rapid.SampledFrom([]Format{{}, SharpNumber(), PlainNumber(), DotFromOne()}).Draw(t, "format")
		l.Format.BareZero = rapid.Bool().Draw(t, "bare zero")
	} else {
		l.Format = drawFormat(t)
	}
	return l
}

// drawKey draws texts that are made of what shard keys of the layout are made of.
func drawKey(t *rapid.T, l Layout) string {
	pieces := append([]string{
		"A", "SHARD", "#", "_", "-", "T", ".", "W", "0", "1", "7", "12", "2023", "2024", "2024-12", "2024-12-02", "2024-W49",
		"2024-12-02T15", "20", "24", "é", "\xff", "#SHARD_1", "#SHARD#1",
	}, l.Format.bucketPrefix(), l.Format.hourMark(), l.Format.shardPrefix())
	piece := rapid.OneOf(
		rapid.SampledFrom(pieces),
		rapid.SampledFrom([]string{l.Format.bucketPrefix(), l.Format.shardPrefix(), "2024", "1"}),
		rapid.Just("2024-12-02"+l.Format.hourMark()+"15"),
		rapid.String(),
	)
	key := strings.Join(rapid.SliceOfN(piece, 0, 7).Draw(t, "key"), "")
	if l.Bucket != NoBucket && rapid.Bool().Draw(t, "trap") {
		// The bucket that will follow may complete a suffix, and so lend its number to the bucket before.
		text, _ := l.Bucket.appendText(nil, instant("2023-05-06"), l.Format.hourMark())
		key += l.Format.bucketPrefix() + string(text) + strings.TrimSuffix(l.Format.shardPrefix(), l.Format.bucketPrefix())
	}
	return key
}

// Parse(ShardKey(key, time, shard)) gives the key, the bucket and the shard back, or ShardKey refuses the key.
func TestShardKeyLaw(t *testing.T) {
	taken := 0
	rapid.Check(t, func(t *rapid.T) {
		l := drawLayout(t)
		key, at := drawKey(t, l), drawInstant(t, "at")
		if rapid.Bool().Draw(t, "today") {
			at = instant("2024-12-02T15:30:00Z")
		}
		shard := rapid.IntRange(0, max(1, l.Shards)-1).Draw(t, "shard")

		text, err := l.ShardKey(key, at, shard)
		if err != nil {
			if !errors.Is(err, ErrKey) {
				t.Fatalf("%s: %q: got %v, want ErrKey", l, key, err)
			}
		} else {
			taken++
			want := Place{key, l.Bucket.Start(at), shard}
			if got, err := l.Parse(text); got != want || err != nil {
				t.Fatalf("%s: %q: got %+v, %v, want %+v", l, text, got, err, want)
			}
		}

		// Whether a key is taken does not depend on the shard, nor on how many there are.
		other := l.WithShards(rapid.IntRange(0, MaxShards).Draw(t, "other shards"))
		_, otherErr := other.ShardKey(key, at, rapid.IntRange(0, max(1, other.Shards)-1).Draw(t, "other shard"))
		if (err == nil) != (otherErr == nil) {
			t.Fatalf("%q: got %v with %s, %v with %s", key, err, l, otherErr, other)
		}
	})
	if taken == 0 {
		t.Error("all keys were refused: the law was not tested")
	}
}

// Whatever parses is what ShardKey writes, so no two places share a shard key.
func TestParseIsStrict(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		l := drawLayout(t)
		text := drawKey(t, l)
		if rapid.Bool().Draw(t, "suffix") {
			text += l.Format.shardPrefix() + rapid.StringMatching(`[0-9]{1,4}`).Draw(t, "number")
		}
		checkParse(t, l, text)
	})
}

func checkParse(t interface {
	Helper()
	Fatalf(format string, args ...any)
}, l Layout, text string,
) {
	t.Helper()
	place, err := l.Parse(text)
	if err != nil {
		if !errors.Is(err, ErrKey) || place != (Place{}) {
			t.Fatalf("%s: %q: got %+v, %v, want ErrKey", l, text, place, err)
		}
		return
	}
	if back, err := l.ShardKey(place.Key, place.Bucket, place.Shard); back != text || err != nil {
		t.Fatalf("%s: %q parses to %+v, which gives %q, %v", l, text, place, back, err)
	}
}

func FuzzParse(f *testing.F) {
	var layouts []Layout
	for _, bucket := range allBuckets {
		for _, format := range []Format{
			{},
			{BareZero: true, Width: 3},
			{ShardPrefix: "#", BareZero: true},
			{ShardPrefix: ".", First: 1},
			{ShardPrefix: "-", HourMark: "-", BareZero: true},
			{ShardPrefix: "#SHARD#", First: 1, BareZero: true},
		} {
			layouts = append(layouts, Layout{Shards: 12, Bucket: bucket, Format: format}, Layout{Bucket: bucket, Format: format})
		}
	}
	for _, seed := range []string{
		"", "A", "A#SHARD_7", "A#SHARD_007", "A#2024-12-02T15#SHARD_1", "A#2024-12-02-11", "A#2023#2024", "A#2023#SHARD#2024",
		"A#2024-W49.12", "A#2024-12#3", "A#SHARD_99999999999999999999", "\xff#SHARD_1", "A#0001-01-01T00", "A#9999-12-31T23#0",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		for _, l := range layouts {
			checkParse(t, l, text)
		}
		if n, ok := ShardNumber(text); n < 0 || n > 999_999_999 || !ok && n != 0 {
			t.Fatalf("%q: got shard number %d, %v", text, n, ok)
		}
	})
}

// 000-01, 002-02, 002-06, 003-08, 004-05, 004-12: exactly these shard keys, in order.
func TestShardKeys(t *testing.T) {
	at := instant("2024-01-15T12:00:00Z")
	list := func(format string, first, last int) (keys []string) {
		for i := first; i <= last; i++ {
			keys = append(keys, fmt.Sprintf(format, i))
		}
		return keys
	}
	for _, c := range []struct {
		name     string
		layout   Layout
		key      string
		from, to time.Time
		want     []string
	}{
		{"000-01", Layout{Shards: 10}, "ACTIVE_USERS", noTime, noTime, list("ACTIVE_USERS#SHARD_%d", 0, 9)},
		{"002-02", Layout{Shards: 200, Format: DotFromOne()}, "2014-07-09", noTime, noTime, list("2014-07-09.%d", 1, 200)},
		{"002-06", Layout{Shards: 200, Strategy: Calculated, Hash: Product, Format: DotFromOne()}, "2014-07-09", noTime, noTime, list("2014-07-09.%d", 1, 200)},
		{"003-08", Layout{Shards: 10, Format: SharpNumber()}, "STATUS#ACTIVE", noTime, noTime, list("STATUS#ACTIVE#SHARD#%d", 0, 9)},
		{"003-09", Layout{Shards: 10, Bucket: Hour, Format: SharpNumber()}, "HOUR", at, at.Add(1), list("HOUR#2024-01-15T12#SHARD#%d", 0, 9)},
		{"004-05", Layout{Shards: 10, Format: PlainNumber()}, "user-12345", noTime, noTime, list("user-12345#%d", 0, 9)},
		{"004-12", Layout{Shards: 5, Bucket: Day, Format: PlainNumber()}, "user-12345", Day.Start(at), Day.Next(at), list("user-12345#2024-01-15#%d", 0, 4)},
		{"004-11 exclusive", Layout{Bucket: Day}, "u", instant("2024-01-01"), instant("2024-01-10"), list("u#2024-01-%02d", 1, 9)},
		{"004-11 inclusive", Layout{Bucket: Day}, "u", instant("2024-01-01"), Day.Next(instant("2024-01-10")), list("u#2024-01-%02d", 1, 10)},
		{"001-13: a quarter of months", Layout{Bucket: Month}, "THREAT#abc", instant("2026-04-01"), instant("2026-07-01"), list("THREAT#abc#2026-%02d", 4, 6)},
		{"001-07: a week of days", Layout{Bucket: Day}, "OPS_LOG", instant("2026-06-22"), instant("2026-06-29"), list("OPS_LOG#2026-06-%d", 22, 28)},
		{"buckets, then shards", Layout{Shards: 2, Bucket: Year, Format: Format{BareZero: true}}, "A", instant("2023-01-01"), instant("2025-01-01"), []string{"A#2023", "A#2023#SHARD_1", "A#2024", "A#2024#SHARD_1"}},
		{"not spread", Layout{}, "A", at, noTime, []string{"A"}},
		{"empty range", Layout{Shards: 3, Bucket: Day}, "A", at, at, []string{}},
		{"backwards", Layout{Shards: 3, Bucket: Day}, "A", at, noTime, []string{}},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, err := c.layout.ShardKeys(c.key, c.from, c.to)
			if !slices.Equal(got, c.want) || err != nil {
				t.Errorf("got %q, %v, want %q", got, err, c.want)
			}
			if n := c.layout.Requests(c.from, c.to); n != len(c.want) {
				t.Errorf("got %d requests, want %d", n, len(c.want))
			}
		})
	}
}

func TestShardKeysRefuses(t *testing.T) {
	from := instant("2024-01-01")
	for _, c := range []struct {
		name   string
		layout Layout
		key    string
		from   time.Time
		to     time.Time
		kind   error
		says   string
	}{
		{"too many", Layout{Shards: 1000, Bucket: Day}, "A", from, from.AddDate(0, 0, 101), ErrTooManyShardKeys, "101000 from 2024-01-01T00:00:00Z to 2024-04-11T00:00:00Z, want at most 100000"},
		{"beyond counting", Layout{Shards: MaxShards, Bucket: Hour}, "A", time.Unix(-1<<60, 0), time.Unix(1<<60, 0), ErrTooManyShardKeys, fmt.Sprint(math.MaxInt)},
		{"key", Layout{Shards: 10}, "A#SHARD_1", from, from, ErrKey, "A#SHARD_1"},
		{"key in no bucket", Layout{Shards: 10, Bucket: Day}, "", from, from, ErrKey, "empty"},
		{"time", Layout{Bucket: Year}, "A", noTime, from, ErrTime, "the time is zero"},
		{"layout", Layout{Shards: -1}, "A", from, from, ErrInvalid, "-1"},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, err := c.layout.ShardKeys(c.key, c.from, c.to)
			if got != nil || !errors.Is(err, c.kind) || !strings.Contains(err.Error(), c.says) {
				t.Errorf("got %d keys, %v, want %v that says %q", len(got), err, c.kind, c.says)
			}
		})
	}
	if got, err := (Layout{Shards: MaxShards}).ShardKeys("A", noTime, noTime); len(got) != MaxShards || err != nil {
		t.Errorf("all shards there can be: got %d, %v", len(got), err)
	}
}

// X14: at any moment a bucket alone is a single key. Only shards multiply what can be written.
func TestBucketAloneDoesNotSpread(t *testing.T) {
	now := instant("2024-12-02T15:30:00Z")
	for _, c := range []struct {
		layout Layout
		want   int
	}{{Layout{Bucket: Day}, 1}, {Layout{Shards: 8, Bucket: Day}, 8}} {
		keys, err := c.layout.ShardKeys("EVENTS", now, now.Add(time.Second))
		if len(keys) != c.want || err != nil {
			t.Errorf("%s: got %q, %v, want %d keys to write to within a second", c.layout, keys, err, c.want)
		}
	}
}

// X01: one layout writes one form, and each form is parsed by its own.
func TestPresetsReadTheirOwn(t *testing.T) {
	for text, format := range map[string]Format{
		"ITEM#SHARD_7": {}, "ITEM#SHARD#7": SharpNumber(), "ITEM#7": PlainNumber(), "ITEM.8": DotFromOne(), "ITEM#SHARD_007": {Width: 3},
	} {
		l := Layout{Shards: 10, Format: format}
		if got, err := l.Parse(text); got != (Place{Key: "ITEM", Shard: 7}) || err != nil {
			t.Errorf("%s: got %+v, %v, want shard 7 of ITEM", text, got, err)
		}
		if got, err := l.ShardKey("ITEM", noTime, 7); got != text || err != nil {
			t.Errorf("got %s, %v, want %s", got, err, text)
		}
	}
}

// 000-05, X01.
func TestShardNumber(t *testing.T) {
	const none = -1
	for text, want := range map[string]int{
		"ACTIVE_USERS#SHARD_7": 7, "ITEM#SHARD_7": 7, "ITEM#SHARD_0": 0, "ITEM#SHARD_99": 99, "ITEM#SHARD_999": 999,
		"USER#123#ITEM#SHARD_5": 5, "#SHARD_3": 3, "A#SHARD_007": 7, "STATUS#ACTIVE#SHARD#7": 7, "A#SHARD_1#SHARD_0": 0,
		"A#SHARD_999999999": 999_999_999,

		"REGULAR_KEY": none, "USER#123": none, "ITEM#SHARD": none, "SHARD_5#ITEM": none, "A#SHARD_7#x": none, "SHARD_3": none,
		"A#SHARD_-1": none, "A#SHARD_": none, "": none, "A#shard_1": none, "A#SHARD_1 ": none, "A#SHARD_٣": none,
		"A#SHARD_1000000000": none, "A#SHARD_100000000000000000000": none,
	} {
		n, ok := ShardNumber(text)
		if !ok {
			n = none
		}
		if n != want {
			t.Errorf("%q: got %d, want %d", text, n, want)
		}
	}
}

func TestLayoutValidate(t *testing.T) {
	for _, l := range []Layout{{}, {Shards: MaxShards}, {Shards: 3, Strategy: Calculated, Bucket: Year, Hash: Product, Format: DotFromOne()}} {
		if err := l.Validate(); err != nil {
			t.Errorf("%s: %v", l, err)
		}
	}
	l := Layout{
		Shards: MaxShards + 1, Strategy: 2, Bucket: 6, Hash: 5,
		Format: Format{BucketPrefix: "1", HourMark: "{", ShardPrefix: "\xff", First: 2, Width: 10},
	}
	err := l.Validate()
	if !errors.Is(err, ErrInvalid) {
		t.Fatalf("got %v, want ErrInvalid", err)
	}
	for _, fault := range []string{
		"Shards is 65537, want 0 to 65536", "Strategy(2)", "Bucket(6)", "Hash(5)", `BucketPrefix is "1", which ends in a digit`,
		`HourMark is "{"`, `ShardPrefix is "\xff", which is not valid UTF-8`, "First is 2", "Width is 10",
	} {
		if !strings.Contains(err.Error(), fault) {
			t.Errorf("%q is missing in: %v", fault, err)
		}
	}
}

func TestLayoutString(t *testing.T) {
	for want, l := range map[string]Layout{
		"not sharded: {key}":                                                        {},
		"not sharded per day: {key}#{bucket}":                                       {Bucket: Day},
		"random over 1 shard: {key}#SHARD_{shard}":                                  {Shards: 1},
		"calculated by xxhash over 10 shards per day: {key}#{bucket}#SHARD_{shard}": {Shards: 10, Strategy: Calculated, Bucket: Day},
		"random over 4 shards: {key}[.{shard1:02}]":                                 {Shards: 4, Format: Format{ShardPrefix: ".", First: 1, Width: 2, BareZero: true}},
	} {
		if got := l.String(); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

// 000-04: every shard and no other, evenly, and again with the same seed.
func TestDraw(t *testing.T) {
	for _, shards := range []int{1, 10, 100} {
		l := Layout{Shards: shards}
		r, again := rand.New(rand.NewPCG(7, 7)), rand.New(rand.NewPCG(7, 7))
		counts := make([]int, shards)
		for range 1000 * shards {
			shard := l.Draw(r)
			counts[shard]++
			if got := l.Draw(again); got != shard {
				t.Fatalf("got %d with the same seed, want %d", got, shard)
			}
		}
		if e := NewEvenness(counts); e.Skewed() || e.Min == 0 {
			t.Errorf("got %s", e)
		}
	}
	if got := (Layout{}).Draw(nil); got != 0 {
		t.Errorf("not spread: got %d, want 0", got)
	}
	if got := (Layout{Shards: 3}).Draw(nil); got < 0 || got > 2 {
		t.Errorf("got %d of 3", got)
	}
}

// 000-25: in turn, shards get the same; at random some get more, so a shard that is full on average is too full.
func TestTurnsAndDraws(t *testing.T) {
	l := Layout{Shards: 10}
	r := rand.New(rand.NewPCG(25, 0))
	turns, draws := make([]int, 10), make([]int, 10)
	for n := range uint64(10_000) {
		turns[l.Turn(n)]++
		draws[l.Draw(r)]++
		if e := NewEvenness(turns); e.Max-e.Min > 1 {
			t.Fatalf("after %d turns: %v", n+1, e)
		}
	}
	if in := NewEvenness(turns); in.Min != 1000 || in.Max != 1000 {
		t.Errorf("in turn: %v, want 1000 each", in)
	}
	at := NewEvenness(draws)
	if at.Min < 880 || at.Max > 1120 || at.Skewed() {
		t.Errorf("at random: %v, want 1000 ± 120 each", at)
	}
	if at.Max <= 1000 {
		t.Errorf("at random: %v, so chance needs no head room", at)
	}
	for _, shards := range []int{0, 1} {
		if got := l.WithShards(shards).Turn(7); got != 0 {
			t.Errorf("%d shards: got shard %d, want 0", shards, got)
		}
	}
	if got := l.Turn(1<<64 - 1); got != 5 {
		t.Errorf("the last number of all: got shard %d, want 5", got)
	}
}

// 004-09: an id has one place, the same every time, and half of the ids keep it when the shards double.
func TestShardOfID(t *testing.T) {
	l := Layout{Shards: 8, Strategy: Calculated}
	stayed := 0
	for i := range 1000 {
		id := fmt.Sprintf("event-%d", i)
		shard, doubled := l.Shard(id), l.WithShards(16).Shard(id)
		if shard != l.Shard(id) || doubled%8 != shard {
			t.Fatalf("%s: got shard %d of 8 and %d of 16", id, shard, doubled)
		}
		if doubled == shard {
			stayed++
		}
	}
	if stayed < 437 || stayed > 563 { // 4σ
		t.Errorf("%d of 1000 stayed, want about half", stayed)
	}
	if got := (Layout{Strategy: Calculated}).Shard("id"); got != 0 {
		t.Errorf("not spread: got shard %d, want 0", got)
	}
}

var keyPathLayouts = []struct {
	name   string
	layout Layout
}{
	{"random", Layout{Shards: 16}},
	{"bare", Layout{Shards: 16, Format: Format{BareZero: true}}},
	{"day", Layout{Shards: 16, Bucket: Day}},
	{"hour", Layout{Shards: 16, Bucket: Hour, Format: SharpNumber()}},
	{"week", Layout{Shards: 16, Bucket: Week}},
	{"year", Layout{Shards: 16, Bucket: Year, Format: Format{ShardPrefix: "#", BareZero: true}}},
	{"calculated", Layout{Shards: 16, Strategy: Calculated, Format: Format{Width: 3}}},
	{"long prefixes", Layout{Shards: 16, Bucket: Hour, Format: Format{BucketPrefix: sixty, HourMark: sixty, ShardPrefix: sixty, Width: 9}}},
}

var sixty = strings.Repeat("=", 60)

func TestKeyPathAllocations(t *testing.T) {
	at := instant("2024-12-02T15:30:00Z")
	dst := make([]byte, 0, maxKeyBytes)
	for _, c := range keyPathLayouts {
		for _, key := range []string{"PAGE_VIEWS", strings.Repeat("k", 128), strings.Repeat("k", 1500)} {
			if got := testing.AllocsPerRun(100, func() { _, _ = c.layout.AppendShardKey(dst, key, at, 7) }); got != 0 {
				t.Errorf("%s: AppendShardKey of %d bytes: got %v allocations, want 0", c.name, len(key), got)
			}
			if got := testing.AllocsPerRun(100, func() { _, _ = c.layout.ShardKey(key, at, 7) }); got > 1 {
				t.Errorf("%s: ShardKey of %d bytes: got %v allocations, want 1", c.name, len(key), got)
			}
			text, err := c.layout.ShardKey(key, at, 7)
			if err != nil {
				t.Fatal(err)
			}
			if got := testing.AllocsPerRun(100, func() { _, _ = c.layout.Parse(text) }); got != 0 {
				t.Errorf("%s: Parse of %d bytes: got %v allocations, want 0", c.name, len(key), got)
			}
		}
	}
}

// Choosing the shard and building its key, with a layout alone. With a collection: BenchmarkChooseAndBuild.
func BenchmarkShardKey(b *testing.B) {
	at := instant("2024-12-02T15:30:00Z")
	for _, c := range keyPathLayouts {
		b.Run(c.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				shard := 0
				if c.layout.Strategy == Calculated {
					shard = c.layout.Shard("0b5a3f6e-9d3c-4a52-8a3e-0d1f6f0f8f3a")
				} else {
					shard = c.layout.Draw(nil)
				}
				if _, err := c.layout.ShardKey("PAGE_VIEWS", at, shard); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkAppendShardKey(b *testing.B) {
	at := instant("2024-12-02T15:30:00Z")
	dst := make([]byte, 0, 256)
	for _, c := range keyPathLayouts {
		b.Run(c.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, err := c.layout.AppendShardKey(dst, "PAGE_VIEWS", at, 7); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkParse(b *testing.B) {
	at := instant("2024-12-02T15:30:00Z")
	for _, c := range keyPathLayouts {
		b.Run(c.name, func(b *testing.B) {
			text, err := c.layout.ShardKey("PAGE_VIEWS", at, 7)
			if err != nil {
				b.Fatal(err)
			}
			b.ReportAllocs()
			for b.Loop() {
				if _, err := c.layout.Parse(text); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func TestDrawWithoutGeneratorDrawsAllShards(t *testing.T) {
	var counts [2]int
	for range 1000 {
		counts[Layout{Shards: 2}.Draw(nil)]++
	}
	if counts[0] == 0 || counts[1] == 0 {
		t.Errorf("got %v of 1000 draws, want both shards", counts)
	}
}
