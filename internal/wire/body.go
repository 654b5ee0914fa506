package wire

import (
	"bufio"
	"errors"
	"io"
	"net/http"
	"slices"

	"github.com/heatsink-go/heatsink/internal/engine"
)

// maxBody is how long a request may be: DynamoDB's 16 MB for what a request
// holds and a megabyte for how it is written.
const maxBody = 17 << 20

var (
	errTooLarge = &engine.Error{Type: typeTooLarge, Message: "Request size exceeded 16 MB"}
	errNoBody   = &engine.Error{Type: engine.TypeSerialization}
)

// readBody appends a request's body to dst. A length that the client announces
// but does not send takes no memory.
func readBody(dst []byte, r *http.Request) ([]byte, error) {
	if r.ContentLength > maxBody {
		return dst, errTooLarge
	}
	if r.Body == nil {
		return dst, errNoBody
	}
	// One byte more than announced, so that the end is found without growing.
	dst = slices.Grow(dst, int(min(max(r.ContentLength, 0)+1, keptCapacity)))
	for {
		if len(dst) == cap(dst) {
			dst = slices.Grow(dst, 1)
		}
		n, err := r.Body.Read(dst[len(dst):cap(dst)])
		dst = dst[:len(dst)+n]
		switch {
		case len(dst) > maxBody:
			return dst, errTooLarge
		case errors.Is(err, io.EOF):
			if len(dst) == 0 {
				return dst, errNoBody
			}
			return dst, nil
		case err != nil:
			return dst, errNoBody // there is hardly anybody left to answer
		}
	}
}

// body is the body of a request on the first lane.
type body struct {
	reader *bufio.Reader
	left   int // bytes
}

func (b *body) Close() error { return nil }

func (b *body) Read(p []byte) (int, error) {
	if b.left == 0 {
		return 0, io.EOF
	}
	n, err := b.reader.Read(p[:min(len(p), b.left)])
	b.left -= n
	if err == io.EOF { // nothing is left to discard, so the answer does not hang up: net/http's does not
		b.left, err = 0, io.ErrUnexpectedEOF
	}
	return n, err
}

// discard reads what nobody wanted, so that the next request can be read.
func (b *body) discard() error {
	if b.left == 0 {
		return nil
	}
	n, err := b.reader.Discard(b.left)
	b.left -= n
	return err
}
