package passage

import (
	"errors"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/heatsink-go/heatsink/internal/forward"
	"github.com/heatsink-go/heatsink/internal/place"
	"github.com/heatsink-go/heatsink/layout"
)

// timed is an arrangement with buckets.
func timed(shards int, bucket layout.Bucket, edit ...func(*layout.Format)) Arrangement {
	a := calculated(shards)
	a.Layout.Bucket = bucket
	for _, e := range edit {
		e(&a.Layout.Format)
	}
	return a
}

func shardPrefix(text string) func(*layout.Format) {
	return func(f *layout.Format) { f.ShardPrefix = text }
}

func bucketPrefix(text string) func(*layout.Format) {
	return func(f *layout.Format) { f.BucketPrefix = text }
}

func hourMark(text string) func(*layout.Format) {
	return func(f *layout.Format) { f.HourMark = text }
}

// Moves between buckets are taken if stored keys stay apart and a read can go through them in one order.
func TestMovesOfBuckets(t *testing.T) {
	unix := timed(4, layout.Day)
	unix.Clock = place.UnixSeconds
	for name, c := range map[string]struct {
		now, next Arrangement
		says      string // "" if it is taken
	}{
		"from none":                          {calculated(4), timed(4, layout.Day), ""},
		"to none":                            {timed(4, layout.Hour), calculated(0), ""},
		"without shards":                     {calculated(0), timed(0, layout.Month), ""},
		"to shorter ones":                    {timed(4, layout.Year), timed(8, layout.Hour), ""},
		"to longer ones":                     {timed(4, layout.Day), timed(8, layout.Week), ""},
		"to other shards":                    {timed(4, layout.Week), timed(8, layout.Week), ""},
		"from weeks to months":               {timed(4, layout.Week), timed(4, layout.Month), "a week may be in two months or years"},
		"from years to weeks":                {timed(4, layout.Year), timed(4, layout.Week), "a week may be in two months or years"},
		"another unit":                       {timed(4, layout.Hour), unix, "rfc3339 and in unix seconds"},
		"another shard prefix":               {calculated(4), timed(4, layout.Day, shardPrefix("/")), "one spelling of shards"},
		"a shard prefix like a day":          {timed(4, layout.Day, shardPrefix("-")), timed(8, layout.Day, shardPrefix("-")), `ends in "-"`},
		"a shard prefix like a week":         {timed(4, layout.Week, shardPrefix("W")), timed(8, layout.Week, shardPrefix("W")), `ends in "W"`},
		"a shard prefix like a year":         {timed(4, layout.Year, shardPrefix("#")), timed(8, layout.Year, shardPrefix("#")), `ends in "#"`},
		"a shard prefix unlike a day":        {timed(4, layout.Day, shardPrefix("#")), timed(8, layout.Day, shardPrefix("#")), ""},
		"a shard prefix like an hour":        {timed(4, layout.Hour, shardPrefix("T")), timed(8, layout.Hour, shardPrefix("T")), `ends in "T"`},
		"another bucket prefix":              {timed(4, layout.Day), timed(4, layout.Day, bucketPrefix("/")), "one spelling of buckets"},
		"another mark of hours":              {timed(4, layout.Hour), timed(4, layout.Hour, hourMark("-")), "one spelling of buckets"},
		"a bucket prefix like a bucket's":    {timed(4, layout.Day, bucketPrefix("-")), timed(4, layout.Month, bucketPrefix("-")), "ends like a part of a bucket"},
		"hours, and a prefix like a day's":   {timed(4, layout.Hour, bucketPrefix("-")), timed(4, layout.Day, bucketPrefix("-")), "ends like a part of a bucket"},
		"hours, and a prefix like their own": {timed(4, layout.Day, bucketPrefix("T")), timed(4, layout.Hour, bucketPrefix("T")), "ends like a part of a bucket"},
		"hours, and a prefix like their mark": {
			timed(4, layout.Day, bucketPrefix("/"), hourMark("/")), timed(4, layout.Hour, bucketPrefix("/"), hourMark("/")), "ends like a part of a bucket",
		},
		"the same hours with it":   {timed(4, layout.Hour, bucketPrefix("-")), timed(8, layout.Hour, bucketPrefix("-")), ""},
		"the same buckets with it": {timed(4, layout.Day, bucketPrefix("-")), timed(8, layout.Day, bucketPrefix("-")), ""},
	} {
		err := checkMove(c.now, c.next)
		if c.says == "" && err != nil || c.says != "" && (err == nil || !strings.Contains(err.Error(), c.says)) {
			t.Errorf("%s: got %v, want %q", name, err, c.says)
		}
	}
}

// drawTimed draws an arrangement whose stored keys are hard to tell from others.
func drawTimed(t *rapid.T, label string, like *Arrangement) Arrangement {
	a := Arrangement{Layout: layout.Layout{
		Strategy: layout.Calculated,
		Shards:   rapid.IntRange(0, 40).Draw(t, label+" shards"),
		Bucket:   rapid.SampledFrom([]layout.Bucket{layout.NoBucket, layout.Hour, layout.Day, layout.Week, layout.Month, layout.Year}).Draw(t, label+" bucket"),
	}}
	f := &a.Layout.Format
	if like != nil && rapid.IntRange(0, 9).Draw(t, label+" alike") > 0 { // others are refused mostly
		*f = like.Layout.Format
	} else {
		f.ShardPrefix = rapid.SampledFrom([]string{"", "#", "-", "T", "W", "_", "#W", "0-", "/"}).Draw(t, label+" shard prefix")
		f.BucketPrefix = rapid.SampledFrom([]string{"", "-", "T", "W", "/", "#-"}).Draw(t, label+" bucket prefix")
		f.HourMark = rapid.SampledFrom([]string{"", "-", "#", "_", "x-2026-11-"}).Draw(t, label+" mark")
	}
	f.BareZero = rapid.Bool().Draw(t, label+" bare zero")
	f.Width = rapid.SampledFrom([]int{0, 2}).Draw(t, label+" width")
	return a
}

// Whatever the arrangements of a move are, no item of a key is stored where one of another key is, before or after.
func TestKeysOfTwoBucketsStayApart(t *testing.T) {
	pieces := []string{"K", "#", "2026", "-11", "-14", "T05", "-W46", "#7", "_3", "/2026-11", "#2026-11-14", "-2026", "#SHARD_1", "T", "W"}
	taken := 0
	rapid.Check(t, func(t *rapid.T) {
		now := drawTimed(t, "now", nil)
		next := drawTimed(t, "next", &now)
		if !now.Timed() && !next.Timed() {
			return
		}
		r := Record{Generation: 2, Stage: forward.Stage{Phase: forward.Split}, Now: now, Next: &next, At: 1}
		if r.Validate() != nil {
			return
		}
		key := strings.Join(rapid.SliceOfN(rapid.SampledFrom(pieces), 1, 4).Draw(t, "key"), "")
		if r.Check(key) != nil {
			return
		}
		at := time.Date(2026, 11, rapid.IntRange(1, 30).Draw(t, "day"), rapid.IntRange(0, 23).Draw(t, "hour"), 0, 0, 0, time.UTC)
		shard := rapid.IntRange(0, 40).Draw(t, "shard")
		for _, in := range [][2]Arrangement{{now, next}, {next, now}} {
			stored, err := in[0].Layout.ShardKey(key, at, shard)
			if err != nil {
				continue
			}
			taken++
			other := in[1].Layout
			if other.Shards > 0 {
				other.Shards = layout.MaxShards
			}
			if also, err := other.Parse(stored); err == nil && also.Key != key && r.Check(also.Key) == nil {
				t.Fatalf("%q is of %q and of %q: from %v to %v", stored, key, also.Key, in[0], in[1])
			}
		}
	})
	if taken == 0 {
		t.Error("no key was compared")
	}
}

// An arrangement with buckets is read as it was written, and other spellings of it are refused.
func TestBucketsAreStored(t *testing.T) {
	a := timed(4, layout.Day)
	a.Clock = place.UnixMilliseconds
	const want = `{"strategy":"calculated","shards":4,"hash":"xxhash","format":"{key}#{bucket}#SHARD_{shard}","bucket":"day","clock":"unix milliseconds"}`
	if got := a.text(); got != want {
		t.Errorf("stored as %s, want %s", got, want)
	}
	if got, err := parseArrangement(want); err != nil || !got.Equal(a) || got.Clock != a.Clock {
		t.Errorf("read %+v, %v", got, err)
	}
	for _, text := range []string{
		strings.Replace(want, `,"clock":"unix milliseconds"`, "", 1), strings.Replace(want, "unix milliseconds", "sundial", 1),
		strings.Replace(want, `"bucket":"day",`, "", 1), strings.Replace(want, "day", "decade", 1), strings.Replace(want, "#{bucket}", "", 1),
		strings.Replace(want, `,"bucket"`, `,"widths":{"a":2},"bucket"`, 1),
	} {
		if got, err := parseArrangement(text); !errors.Is(err, ErrArrangement) {
			t.Errorf("%s: got %+v, %v, want ErrArrangement", text, got, err)
		}
	}
	texts := map[string]place.TimeUnit{}
	for unit, name := range map[place.TimeUnit]string{place.RFC3339: "rfc3339", place.UnixSeconds: "unix seconds", place.UnixMilliseconds: "unix milliseconds"} {
		a.Clock = unit
		text := a.text()
		if other, ok := texts[text]; ok {
			t.Errorf("units %v and %v are both stored as %s", unit, other, text)
		}
		texts[text] = unit
		if text != strings.Replace(want, "unix milliseconds", name, 1) {
			t.Errorf("unit %v is stored as %s", unit, text)
		}
		if got, err := parseArrangement(text); err != nil || got.Clock != unit || !got.Equal(a) {
			t.Errorf("%s: read %+v, %v", text, got, err)
		}
	}
}

// The home of an id is in the bucket of its time, and an id without a time has none.
func TestHomesInBuckets(t *testing.T) {
	r := Record{Generation: 1, Now: timed(1, layout.Day), At: 1}
	c, err := NewCourse(&r, "K")
	if err != nil || !c.Timed() {
		t.Fatalf("%+v, %v", c, err)
	}
	for id, want := range map[string]string{
		"2026-11-14T23:59:59Z":          "K#2026-11-14#SHARD_0",
		"2026-11-14T23:59:59.999Z#x":    "K#2026-11-14#SHARD_0",
		"2026-11-15T00:00:00Z":          "K#2026-11-15#SHARD_0",
		"2026-11-14T23:59:59+00:00":     "K#2026-11-14#SHARD_0",
		"2026-11-14T23:59:59-01:00":     "", // it is of the next day, and before it in the order of sort keys
		"2026-11-14T1:00:00Z":           "",
		"2026-11-14":                    "",
		"profile":                       "",
		"ALERT#2026-11-14T00:00:00Z":    "",
		"2026-11-14T00:00:00Zjust text": "",
	} {
		if got := c.Old.Home(id); got != want {
			t.Errorf("%s is in %q, want %q", id, got, want)
		}
		role := OnlyHome
		if want == "" {
			role = NoHome
		}
		if got := c.Role(forward.Old, "K#2026-11-14#SHARD_0", id); want != "K#2026-11-15#SHARD_0" && got != role {
			t.Errorf("%s has role %v, want %v", id, got, role)
		}
	}
}

// An id without a time has no bucket to move to. It stays in its old home, which is its only one.
func TestRolesOfIDsWithoutATime(t *testing.T) {
	const timeless, at = "profile", "2026-11-14T23:59:59Z"
	for name, table := range map[string]string{"within a table": "", "into another table": "diaries"} {
		next := timed(1, layout.Day)
		next.Table = table
		r := Record{Generation: 2, Stage: forward.Stage{Phase: forward.Split}, Now: calculated(0), Next: &next, At: 1}
		c, err := NewCourse(&r, "K")
		if err != nil {
			t.Fatal(err)
		}
		for _, is := range []struct {
			of        forward.Home
			shard, id string
			want      Role
		}{
			{forward.Old, "K", timeless, OnlyHome},
			{forward.Old, "K", at, OldHome},
			{forward.New, "K#2026-11-14#SHARD_0", at, NewHome},
			{forward.New, "K#2026-11-14#SHARD_0", timeless, NoHome},
			{forward.New, "K#2026-11-15#SHARD_0", at, NoHome},
		} {
			if got := c.Role(is.of, is.shard, is.id); got != is.want {
				t.Errorf("%s: %s is role %v to %s, want %v", name, is.shard, got, is.id, is.want)
			}
		}
	}
}
