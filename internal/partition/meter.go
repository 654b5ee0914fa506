package partition

import (
	"iter"
	"math/bits"
	"time"
)

// second is what happened to a partition within a second, in units. Units are
// multiples of a half, so that a float32 is exact to eight million of them.
type second struct {
	consumed  [directions]float32
	throttled [directions]float32
}

// seconds is a partition's recent past: a ring of the last seconds, the place of
// second n being n modulo its length. It has no memory until it is used.
type seconds struct {
	ring []second
	at   int64 // the latest second
}

// turn makes now the latest second. Those in between were empty.
func (s *seconds) turn(now int64, length int) *second {
	if s.ring == nil {
		s.ring = make([]second, length)
		s.at = now
	}
	n := int64(len(s.ring))
	for i := max(s.at+1, now-n+1); i <= now; i++ {
		s.ring[i%n] = second{}
	}
	s.at = max(s.at, now)
	return s.latest()
}

func (s *seconds) latest() *second { return &s.ring[s.at%int64(len(s.ring))] }

// between yields the seconds from first to last that are remembered.
func (s *seconds) between(first, last int64) iter.Seq2[int64, second] {
	return func(yield func(int64, second) bool) {
		n := int64(len(s.ring))
		for i := max(first, s.at-n+1, 0); i <= min(last, s.at); i++ {
			if !yield(i, s.ring[i%n]) {
				return
			}
		}
	}
}

// Minute is what happened to a table or an index within a minute, under the
// names that CloudWatch has for it in the namespace AWS/DynamoDB. The figures are
// sums: divide consumed units by 60 for a rate.
type Minute struct {
	Start time.Time

	ConsumedReadCapacityUnits  float64
	ConsumedWriteCapacityUnits float64

	// Requests refused, each counted once, then by limit: one request can
	// exceed several.
	ReadThrottleEvents                       int64
	WriteThrottleEvents                      int64
	ReadProvisionedThroughputThrottleEvents  int64
	WriteProvisionedThroughputThrottleEvents int64
	ReadMaxOnDemandThroughputThrottleEvents  int64
	WriteMaxOnDemandThroughputThrottleEvents int64
	ReadAccountLimitThrottleEvents           int64
	WriteAccountLimitThrottleEvents          int64
	ReadKeyRangeThroughputThrottleEvents     int64
	WriteKeyRangeThroughputThrottleEvents    int64
}

// Metrics yields the minute's figures by name.
func (m Minute) Metrics() iter.Seq2[string, float64] {
	return func(yield func(string, float64) bool) {
		for _, f := range []struct {
			name  string
			value float64
		}{
			{"ConsumedReadCapacityUnits", m.ConsumedReadCapacityUnits},
			{"ConsumedWriteCapacityUnits", m.ConsumedWriteCapacityUnits},
			{"ReadThrottleEvents", float64(m.ReadThrottleEvents)},
			{"WriteThrottleEvents", float64(m.WriteThrottleEvents)},
			{"ReadProvisionedThroughputThrottleEvents", float64(m.ReadProvisionedThroughputThrottleEvents)},
			{"WriteProvisionedThroughputThrottleEvents", float64(m.WriteProvisionedThroughputThrottleEvents)},
			{"ReadMaxOnDemandThroughputThrottleEvents", float64(m.ReadMaxOnDemandThroughputThrottleEvents)},
			{"WriteMaxOnDemandThroughputThrottleEvents", float64(m.WriteMaxOnDemandThroughputThrottleEvents)},
			{"ReadAccountLimitThrottleEvents", float64(m.ReadAccountLimitThrottleEvents)},
			{"WriteAccountLimitThrottleEvents", float64(m.WriteAccountLimitThrottleEvents)},
			{"ReadKeyRangeThroughputThrottleEvents", float64(m.ReadKeyRangeThroughputThrottleEvents)},
			{"WriteKeyRangeThroughputThrottleEvents", float64(m.WriteKeyRangeThroughputThrottleEvents)},
		} {
			if !yield(f.name, f.value) {
				return
			}
		}
	}
}

// minute is a Minute as it is counted.
type minute struct {
	consumed  [directions]float64
	throttled [directions]int64
	exceeded  [directions][limits]int64
}

// throttle counts a refused request.
func (m *minute) throttle(e exceeded) {
	for d := range directions {
		left := e.of(d)
		if left != 0 {
			m.throttled[d]++
		}
		for ; left != 0; left &= left - 1 {
			m.exceeded[d][bits.TrailingZeros8(left)]++
		}
	}
}

func (m *minute) export(start time.Time) Minute {
	return Minute{
		Start:                                    start,
		ConsumedReadCapacityUnits:                m.consumed[read],
		ConsumedWriteCapacityUnits:               m.consumed[write],
		ReadThrottleEvents:                       m.throttled[read],
		WriteThrottleEvents:                      m.throttled[write],
		ReadProvisionedThroughputThrottleEvents:  m.exceeded[read][provisionedThroughput],
		WriteProvisionedThroughputThrottleEvents: m.exceeded[write][provisionedThroughput],
		ReadMaxOnDemandThroughputThrottleEvents:  m.exceeded[read][maxOnDemandThroughput],
		WriteMaxOnDemandThroughputThrottleEvents: m.exceeded[write][maxOnDemandThroughput],
		ReadAccountLimitThrottleEvents:           m.exceeded[read][accountLimit],
		WriteAccountLimitThrottleEvents:          m.exceeded[write][accountLimit],
		ReadKeyRangeThroughputThrottleEvents:     m.exceeded[read][keyRangeThroughput],
		WriteKeyRangeThroughputThrottleEvents:    m.exceeded[write][keyRangeThroughput],
	}
}

// minutes is a set's recent past, like seconds.
type minutes struct {
	ring []minute
	at   int64
}

func (m *minutes) turn(now int64) {
	n := int64(len(m.ring))
	for i := max(m.at+1, now-n+1); i <= now; i++ {
		m.ring[i%n] = minute{}
	}
	m.at = max(m.at, now)
}

func (m *minutes) latest() *minute { return &m.ring[m.at%int64(len(m.ring))] }
