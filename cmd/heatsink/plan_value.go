package main

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/heatsink-go/heatsink/layout"
)

// byteSize is a flag for a number of bytes: 700, 700B, 2.5KB, 1MB; a KB has 1,024 of them.
type byteSize int

func (b *byteSize) Set(text string) error {
	number, unit := text, 1.0
	for _, u := range []struct {
		suffix string
		bytes  float64
	}{{"KB", 1 << 10}, {"MB", 1 << 20}, {"B", 1}} {
		if rest, ok := cutSuffixFold(text, u.suffix); ok {
			number, unit = rest, u.bytes
			break
		}
	}
	n, err := strconv.ParseFloat(strings.TrimSpace(number), 64)
	if err != nil || !(n > 0) || n*unit > math.MaxInt32 {
		return fmt.Errorf("want a size such as 700B, 2.5KB or 1MB")
	}
	*b = byteSize(math.Ceil(n * unit))
	return nil
}

func (b *byteSize) String() string { return "" } // the default is said in the usage

func (b *byteSize) Type() string { return "size" }

// part is a flag for a share: 30% or 0.3.
type part float64

func (p *part) Set(text string) error {
	number, percent := strings.CutSuffix(text, "%")
	n, err := strconv.ParseFloat(strings.TrimSpace(number), 64)
	if percent {
		n /= 100
	}
	if err != nil || !(n > 0 && n <= 1) {
		return fmt.Errorf("want a share such as 30%% or 0.3")
	}
	*p = part(n)
	return nil
}

func (p *part) String() string { return "" }

func (p *part) Type() string { return "part" }

// span is a flag for a duration: what Go writes, and days, as 90d.
type span time.Duration

func (s *span) Set(text string) error {
	if number, days := cutSuffixFold(text, "d"); days {
		n, err := strconv.ParseFloat(number, 64)
		if err != nil || math.Abs(n) > 100_000 {
			return fmt.Errorf("want a duration such as 90d, 24h or 50ms")
		}
		*s = span(n * 24 * float64(time.Hour))
		return nil
	}
	d, err := time.ParseDuration(text)
	if err != nil {
		return fmt.Errorf("want a duration such as 90d, 24h or 50ms")
	}
	*s = span(d)
	return nil
}

func (s *span) String() string { return "" }

func (s *span) Type() string { return "duration" }

func cutSuffixFold(text, suffix string) (string, bool) {
	if i := len(text) - len(suffix); i >= 0 && strings.EqualFold(text[i:], suffix) {
		return text[:i], true
	}
	return text, false
}

// spelling is a flag for the format of shard keys: a word for one that is in use elsewhere, or a template.
type spelling layout.Format

func (s *spelling) Set(text string) error {
	switch text {
	case "":
		*s = spelling{}
	case "shard-hash":
		*s = spelling(layout.SharpNumber())
	case "plain":
		*s = spelling(layout.PlainNumber())
	case "dot":
		*s = spelling(layout.DotFromOne())
	default:
		if !strings.Contains(text, "{") {
			return fmt.Errorf("want shard-hash, plain, dot or a template such as {key}/{shard:03}")
		}
		return (*layout.Format)(s).UnmarshalText([]byte(text))
	}
	return nil
}

func (s *spelling) String() string { return "" }

func (s *spelling) Type() string { return "string" }
