package eventlog

import (
	"crypto/rand"
	"sync/atomic"
)

// ids makes ids of events that have none: a number that counts up, so that events of the same time keep their order,
// and then a name that no other process has. Both have a fixed length.
type ids struct {
	writer string
	next   atomic.Uint64
}

const (
	sequenceDigits = 7 // of five bits: at a million events a second it starts again after nine hours, which are in order
	writerDigits   = 8
)

func newIDs() *ids {
	var name [8]byte
	_, _ = rand.Read(name[:]) // it never fails
	var n uint64
	for _, b := range name {
		n = n<<8 | uint64(b)
	}
	return &ids{writer: digits(n, writerDigits)}
}

// id returns the next id.
func (g *ids) id() string { return digits(g.next.Add(1)-1, sequenceDigits) + g.writer }

// digits returns the last digits of a number in base 32, whose texts have the numbers' order.
func digits(n uint64, count int) string {
	const alphabet = "0123456789abcdefghijklmnopqrstuv"
	text := make([]byte, count)
	for i := count - 1; i >= 0; i-- {
		text[i] = alphabet[n%32]
		n /= 32
	}
	return string(text)
}
