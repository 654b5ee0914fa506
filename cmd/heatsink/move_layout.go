package main

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/heatsink-go/heatsink"
	"github.com/heatsink-go/heatsink/layout"
)

// parseLayoutFlag reads a layout as the flags of move have it: words in any order, each at most once.
func parseLayoutFlag(text string) (layout.Layout, error) {
	l := layout.Layout{Strategy: layout.Calculated}
	seen := map[string]bool{}
	words := strings.Fields(text)
	for i := 0; i < len(words); i++ {
		word, what := words[i], ""
		n, err := strconv.Atoi(word)
		var hash layout.Hash
		var strategy layout.Strategy
		switch {
		case word == "unsharded" || word == "not" && i+1 < len(words) && words[i+1] == "sharded":
			what = "number of shards"
			if word == "not" {
				i++
			}
		case err == nil:
			what, l.Shards = "number of shards", n
			if n < 1 {
				return l, fmt.Errorf("%d shards: want 1 or more, or unsharded", n)
			}
		case strategy.UnmarshalText([]byte(word)) == nil:
			what, l.Strategy = "strategy", strategy
		case hash.UnmarshalText([]byte(word)) == nil:
			what, l.Hash = "hash", hash
		case strings.HasPrefix(word, "{key}"):
			what = "spelling"
			if l.Format, err = layout.ParseFormat(word); err != nil {
				return l, err
			}
		case word == "per" && i+1 < len(words):
			i++
			what = "bucket"
			if err := l.Bucket.UnmarshalText([]byte(words[i])); err != nil {
				return l, err
			}
		default:
			return l, fmt.Errorf("%q is not understood: want unsharded, or a number of shards, and perhaps a strategy (random, calculated), a hash (xxhash, fnv, crc32, md5, product), "+
				"a spelling such as {key}#SHARD_{shard}, and per hour, day, week, month or year", word)
		}
		if seen[what] {
			return l, fmt.Errorf("it gives the %s twice", what)
		}
		seen[what] = true
	}
	if !seen["number of shards"] {
		return l, errors.New("it gives no number of shards: want unsharded, or a number such as 16")
	}
	if l.Shards == 0 { // so that equal layouts are equal
		if seen["hash"] || seen["strategy"] {
			return l, errors.New("it is unsharded, but has a hash or a strategy: leave them out, or give a number of shards")
		}
		l.Strategy = layout.Random
	}
	return l, l.Validate()
}

// namesStrategy reports whether a layout of a flag has a strategy in it.
func namesStrategy(text string) bool {
	var s layout.Strategy
	return slices.ContainsFunc(strings.Fields(text), func(word string) bool { return s.UnmarshalText([]byte(word)) == nil })
}

// parseEventTime reads NAME, NAME=seconds or NAME=milliseconds.
func parseEventTime(text string) (heatsink.EventTime, error) {
	name, unit, given := strings.Cut(text, "=")
	e := heatsink.EventTime{Attribute: name}
	switch {
	case unit == "seconds":
		e.Unit = heatsink.UnixSeconds
	case unit == "milliseconds":
		e.Unit = heatsink.UnixMilliseconds
	case given:
		return e, fmt.Errorf("--event-time %q: want NAME, NAME=seconds or NAME=milliseconds", text)
	}
	return e, nil
}
