package heat

import (
	"fmt"
	"testing"

	"github.com/cespare/xxhash/v2"
)

func TestShape(t *testing.T) {
	for key, want := range map[string]string{
		"THREAT#brand-abc#2026-06":   "THREAT#{id}#{month}",
		"OPS_LOG":                    "OPS_LOG",
		"OPS_LOG#2026-06-22":         "OPS_LOG#{day}",
		"BRAND_INDEX":                "BRAND_INDEX",
		"STATUS#ACTIVE":              "STATUS#ACTIVE",
		"STATUS#ACTIVE#SHARD#7":      "STATUS#ACTIVE#SHARD#{n}",
		"PAGE_VIEWS#SHARD_7":         "PAGE_VIEWS#SHARD_{n}",
		"user-12345":                 "user-{n}",
		"user-12345#2024-01-15#3":    "user-{n}#{day}#{n}",
		"HOUR#2024-12-02T15#SHARD#4": "HOUR#{hour}#SHARD#{n}",
		"2014-07-09.200":             "{day}.{n}",
		"POST#viral":                 "POST#{id}",
		"COUNTER#GLOBAL":             "COUNTER#GLOBAL",
		"USER#7c9e6679-7425-40de-944b-e07fc1f90ae7": "USER#{uuid}",
		"MAIL#jo.doe@example.com":                   "MAIL#{email}",
		"LOG#2024-12-02T15:04:05.123Z#a1b2":         "LOG#{time}#{id}",
		"LOG#2024-12-02T15:04:05+02:00":             "LOG#{time}",
		"WEEK#2024-W49":                             "WEEK#{week}",
		"SHA#9f86d081884c7d659a2feaa0":              "SHA#{hex}",
		"tenant/42/orders":                          "tenant/{n}/{id}",
		"9999-99":                                   "{id}",
		"#":                                         "#",
		"KÖLN":                                      "KÖLN",
		"":                                          "",
		"RATE_LIMIT#key:2024-12-02-15":              "RATE_LIMIT#{id}:{hour}",
		"leaderboard#game-1#0":                      "leaderboard#game-{n}#{n}",
		"arn:aws:s3:::bucket":                       "arn:{id}:{id}:::{id}",
		"x" + string(make([]byte, 100)):             "{id}",
		"v1":                                        "{id}",
		"ORDER#2024-12-02#7c9e6679-7425-40de-944b-e0": "ORDER#{day}#{id}",
	} {
		if got := string(appendShape(nil, []byte(key))); got != want {
			t.Errorf("%q has shape %q, want %q", key, got, want)
		}
	}
}

func patternsOf(keys ...string) map[string]int64 {
	p := newPatternTable()
	for _, key := range keys {
		p.count(p.take([]byte(key), xxhash.Sum64String(key), 0, false), 1)
	}
	got := make(map[string]int64)
	for _, pattern := range p.report(Write, false) {
		got[pattern.Shape] = pattern.Distinct.Keys
	}
	return got
}

// A few words are words. Many with everything else alike are names.
func TestPatternsCountKeys(t *testing.T) {
	var keys []string
	for i := range 3000 {
		keys = append(keys, fmt.Sprint("USER#", i))
	}
	for i := range 40 {
		keys = append(keys, "TENANT#"+string(rune('A'+i%26))+string(rune('A'+i/26))+"#2026-01")
	}
	keys = append(keys, "STATUS#ACTIVE", "STATUS#BANNED", "OPS_LOG", "OPS_LOG")
	got := patternsOf(keys...)
	if len(got) != 5 || got["STATUS#ACTIVE"] != 1 || got["STATUS#BANNED"] != 1 || got["OPS_LOG"] != 1 {
		t.Errorf("got %v", got)
	}
	if n := got["TENANT#{id}#{month}"]; n < 35 || n > 45 {
		t.Errorf("%d tenants, want about 40", n)
	}
	if n := got["USER#{n}"]; n < 2400 || n > 3600 {
		t.Errorf("%d users, want about 3000", n)
	}
}

// Whatever keys look like, the table has a bound.
func TestPatternsAreBounded(t *testing.T) {
	var keys []string
	for i := range 5000 {
		word := string(rune('A'+i%26)) + string(rune('A'+i/26%26)) + string(rune('A'+i/676%26))
		keys = append(keys, word, word+"#X", "A#"+word+"#B", word+"/2024-01-01")
	}
	if got := patternsOf(keys...); len(got) > mostPatterns+1 {
		t.Errorf("%d patterns", len(got))
	}
}

func FuzzShape(f *testing.F) {
	f.Add([]byte("THREAT#brand-abc#2026-06"))
	f.Add([]byte("2024-12-02T15:04:05.Z"))
	f.Fuzz(func(t *testing.T, key []byte) {
		shape := appendShape(nil, key)
		if len(key) > 0 != (len(shape) > 0) {
			t.Errorf("%q has shape %q", key, shape)
		}
		if again := appendShape(nil, key); string(again) != string(shape) {
			t.Errorf("%q has shapes %q and %q", key, shape, again)
		}
		general(nil, shape, true)
	})
}
