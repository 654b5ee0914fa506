package wire

import (
	"bufio"
	"errors"
	"io"
	"net/http"
	"slices"
	"unsafe"

	"github.com/heatsink-go/heatsink/internal/engine"
)

// maxBody is how long a request may be: DynamoDB's 16 MB for what a request
// holds and a megabyte for how it is written.
const maxBody = 17 << 20

var (
	errTooLarge = &engine.Error{Type: typeTooLarge, Message: "Request size exceeded 16 MB"}
	errNoBody   = &engine.Error{Type: engine.TypeSerialization}
)

// readBody appends a request's body to dst. Of one that is large only the first
// is read before there is room for all of it on link k. A length that the client
// announces but does not send takes no memory and no room.
func readBody(dst []byte, r *http.Request, k *link) (body []byte, err error) {
	if r.ContentLength > maxBody {
		return dst, errTooLarge
	}
	if r.Body == nil {
		return dst, errNoBody
	}
	// One byte more than announced, so that the end is found without growing.
	dst = slices.Grow(dst, int(min(max(r.ContentLength, 0)+1, keptCapacity)))
	for claimed := false; ; {
		if len(dst) == cap(dst) {
			if !claimed && len(dst) >= keptCapacity {
				if err := k.receive(r.Context(), roomOf(r)); err != nil {
					return dst, err
				}
				claimed = true
			}
			dst = grow(dst, int(r.ContentLength)+1)
		}
		n, err := r.Body.Read(dst[len(dst):cap(dst)])
		dst = dst[:len(dst)+n]
		if claimed {
			k.received(n)
		}
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

// roomOf returns what reading a large body takes. One without a length may be of
// any, and is copied when it grows.
func roomOf(r *http.Request) int {
	if r.ContentLength < 0 {
		return 2 * maxBody
	}
	return int(r.ContentLength)
}

// grow makes place for more bytes: for all that come, if it is known how many.
func grow(dst []byte, length int) []byte {
	if length <= len(dst) {
		length = min(max(2*len(dst), minGrow), max(maxBody+1, len(dst)+1))
	}
	grown := make([]byte, len(dst), length)
	copy(grown, dst)
	return grown
}

const minGrow = 512

// bodyText returns a body as a string. What is read from it shares its memory and may
// be kept by anybody. So it is a copy, unless it is too large for the buffer to
// be used again.
func bodyText(body []byte) string {
	if cap(body) <= keptCapacity {
		return string(body)
	}
	return unsafe.String(unsafe.SliceData(body), len(body))
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
