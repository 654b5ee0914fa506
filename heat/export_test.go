package heat

import "time"

// Observe counts a touch of a key as the middleware does, without the SDK around it.
func Observe(r *Recorder, table string, d Direction, key []byte, units float64) {
	c := newCall()
	defer c.free()
	c.direction = d
	c.attempts = 1
	view := r.view(table)
	c.texts = append(c.texts, key...)
	c.parts = append(c.parts, part{counters: view.own.counters, end: len(key), weight: 1, units: units})
	c.record(&r.options, time.Now(), time.Millisecond)
}
