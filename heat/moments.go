package heat

import "time"

// moments is the demand for a key at moments that all keys have in common, so that shards of one key add up: peaks of
// different times do not.
type moments struct {
	last  int64 // the number of the last moment that was noted, 0 for none
	rates [manyMoments]float32
}

const (
	manyMoments = 12 // that are kept: as long as busy
	momentEvery = int64(5 * time.Second)
)

// pass notes the moments since the last touch of a key. rate tells its demand at a time.
func (m *moments) pass(now int64, rate func(at int64) float64) {
	number := now / momentEvery
	if m.last == 0 {
		m.last = number // there was none before
		return
	}
	for n := max(m.last+1, number-manyMoments+1); n <= number; n++ {
		m.rates[n%manyMoments] = float32(rate(n * momentEvery))
	}
	m.last = max(m.last, number)
}

// addTo adds the demand of the last moments, and of now, to those of other shards.
func (m moments) addTo(sum *[manyMoments + 1]float64, now int64, rate func(at int64) float64) {
	m.pass(now, rate)
	number := now / momentEvery
	for i := range int64(manyMoments) {
		if n := number - i; n > m.last-manyMoments && n <= m.last && n >= 0 {
			sum[n%manyMoments] += float64(m.rates[n%manyMoments])
		}
	}
	sum[manyMoments] += rate(now)
}
