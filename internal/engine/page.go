package engine

import (
	"sync"

	"github.com/heatsink-go/heatsink/internal/attr"
)

// page is the memory of an answer's items: a few large pieces. The first may be
// borrowed, and used again by other answers.
type page struct {
	borrowed *piece // nil: nothing is
	free     []byte
}

const pieceSize = 64 << 10

// piece is memory for items, and for what refers to them.
type piece struct {
	items [128]attr.Raw
	bytes [pieceSize]byte
}

var pieces = sync.Pool{New: func() any { return new(piece) }}

// borrow gives the answer its first piece. Without, it begins with a small one.
func (o *ReadOutput) borrow() {
	p := pieces.Get().(*piece)
	o.page = page{p, p.bytes[:0]}
	o.Items = p.items[:0]
}

// keep adds a copy of an item to the answer.
func (o *ReadOutput) keep(raw attr.Raw) {
	p := &o.page
	if len(raw) > cap(p.free)-len(p.free) {
		p.free = make([]byte, 0, max(len(raw), min(pieceSize, 4*cap(p.free)+1<<10)))
	}
	start := len(p.free)
	p.free = append(p.free, raw...)
	o.Items = append(o.Items, p.free[start:len(p.free):len(p.free)])
}

// Release returns what was borrowed. The items must not be used any more. Whoever
// does not call it leaves the memory to the garbage collector.
func (o *ReadOutput) Release() {
	if p := o.page.borrowed; p != nil {
		o.Items, o.page = nil, page{}
		clear(p.items[:]) // else they would keep other pieces
		pieces.Put(p)
	}
}
