package scenario

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"

	"github.com/heatsink-go/heatsink/internal/quote"
)

// Duration is a time.Duration that is written as Go writes it: 30s, 1h30m.
type Duration time.Duration

// wellFormed are durations, also those that are too long for one.
var wellFormed = regexp.MustCompile(`^[-+]?([0-9]+(\.[0-9]*)?(ns|us|µs|μs|ms|s|m|h))+$`)

// UnmarshalText reads a duration.
func (d *Duration) UnmarshalText(text []byte) error {
	v, err := time.ParseDuration(string(text))
	if err != nil && wellFormed.Match(text) {
		return fmt.Errorf("%s is too long: want %v at most", quote.Text(string(text)), Duration(MaxDuration))
	}
	if err != nil {
		return fmt.Errorf("%s is not a duration: write it as 500ms, 30s or 1h30m", quote.Text(string(text)))
	}
	*d = Duration(v)
	return nil
}

// MarshalText writes a duration.
func (d Duration) MarshalText() ([]byte, error) { return []byte(d.String()), nil }

// String returns the duration without the zeros of its end: 1h instead of 1h0m0s.
func (d Duration) String() string {
	text := time.Duration(d).String()
	if strings.HasSuffix(text, "m0s") {
		text = strings.TrimSuffix(text, "0s")
	}
	if strings.HasSuffix(text, "h0m") {
		text = strings.TrimSuffix(text, "0m")
	}
	return text
}

// Moment is a time in RFC 3339.
type Moment struct{ time.Time }

// MarshalYAML writes the moment as text.
func (m Moment) MarshalYAML() (any, error) { return m.Format(time.RFC3339), nil }

// UnmarshalYAML reads a moment.
func (m *Moment) UnmarshalYAML(node *yaml.Node) error {
	at, err := time.Parse(time.RFC3339, node.Value)
	if err != nil {
		return fmt.Errorf("%s is not a time: write it as 2026-11-18T23:59:30Z", quote.Text(node.Value))
	}
	m.Time = at.UTC()
	return nil
}

// IsZero reports whether no time was given.
func (m Moment) IsZero() bool { return m.Time.IsZero() }

// Bytes is a size. It is written as 300, 1KB or 2MB, of 1,024 bytes each.
type Bytes int64

var byteUnits = []struct {
	suffix string
	size   int64
}{{"KB", 1 << 10}, {"MB", 1 << 20}, {"B", 1}, {"", 1}}

// UnmarshalText reads a size.
func (b *Bytes) UnmarshalText(text []byte) error {
	for _, u := range byteUnits {
		number, ok := strings.CutSuffix(string(text), u.suffix)
		if !ok {
			continue
		}
		n, err := strconv.ParseInt(strings.TrimSpace(number), 10, 32)
		if err != nil || n < 0 {
			break
		}
		*b = Bytes(n * u.size)
		return nil
	}
	return fmt.Errorf("%s is not a size: write it as 300B, 1KB or 2MB", quote.Text(string(text)))
}

// MarshalText writes a size.
func (b Bytes) MarshalText() ([]byte, error) { return []byte(b.String()), nil }

// String returns the size in its largest whole unit.
func (b Bytes) String() string {
	switch {
	case b > 0 && b%(1<<20) == 0:
		return fmt.Sprintf("%dMB", b>>20)
	case b > 0 && b%(1<<10) == 0:
		return fmt.Sprintf("%dKB", b>>10)
	}
	return fmt.Sprintf("%dB", int64(b))
}
