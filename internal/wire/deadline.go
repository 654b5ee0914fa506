package wire

import "time"

// deadline is a connection's for reads or for writes. Since it takes time to set
// one, it is left alone for as long as it is at most slack later than it has to be.
type deadline struct {
	at  time.Time
	set func(time.Time) error
}

const slack = time.Second

func (d *deadline) extend(from time.Time, by time.Duration) {
	if left := d.at.Sub(from); left < by || left > by+slack {
		d.at = from.Add(by + slack)
		_ = d.set(d.at) // fails if the connection is closed, as reads and writes do
	}
}
