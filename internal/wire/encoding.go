package wire

import (
	"bytes"
	"compress/gzip"
	"compress/zlib"
	"io"
	"net/http"
	"strconv"
	"strings"
	"sync"

	"github.com/heatsink-go/heatsink/internal/engine"
)

// minEncoded is the length from which an answer is compressed if its client asks
// for that, as on the service.
const minEncoded = 4 << 10

// encoding is a way to compress answers.
type encoding struct {
	name    string // in headers
	writers sync.Pool
}

type compressor interface {
	io.WriteCloser
	Reset(io.Writer)
}

// encodings are those that DynamoDB answers with, the one it prefers first.
var encodings = [...]*encoding{
	{name: "gzip", writers: sync.Pool{New: func() any { return gzip.NewWriter(nil) }}},
	{name: "deflate", writers: sync.Pool{New: func() any { return zlib.NewWriter(nil) }}},
}

// encode returns the compressed text.
func (e *encoding) encode(text []byte) []byte {
	var out bytes.Buffer
	w := e.writers.Get().(compressor)
	w.Reset(&out)
	_, _ = w.Write(text) // a buffer takes everything
	_ = w.Close()
	e.writers.Put(w)
	return out.Bytes()
}

// encodingOf returns how to compress the answer to a request, nil for not at all.
// Of several Accept-Encoding headers the first one counts, as on the service.
func encodingOf(r *http.Request, length int) *encoding {
	if accepted := r.Header["Accept-Encoding"]; length >= minEncoded && len(accepted) > 0 {
		return accept(accepted[0])
	}
	return nil
}

// accept returns the encoding that an Accept-Encoding header likes best. Of those
// that it likes equally this is the first that it names, then DynamoDB's favourite.
// DynamoDB does not weigh them against "identity".
func accept(header string) (best *encoding) {
	var most float64
	rest := 0.0
	var named [len(encodings)]bool
	for entry := range strings.SplitSeq(header, ",") {
		name, parameters, _ := strings.Cut(entry, ";")
		name = strings.TrimSpace(name)
		q := quality(parameters)
		if name == "*" {
			rest = max(rest, q)
		}
		for i, e := range encodings {
			if strings.EqualFold(name, e.name) {
				if named[i] = true; q > most {
					best, most = e, q
				}
			}
		}
	}
	for i, e := range encodings {
		if !named[i] && rest > most {
			best, most = e, rest
		}
	}
	return best
}

// quality returns the weight of an entry, from 0 to 1: what comes after the first
// "q=", even if that ends another name. One that cannot be read counts as 1, as
// on the service.
func quality(parameters string) float64 {
	_, value, found := strings.Cut(parameters, "q=")
	if !found {
		return 1
	}
	value, _, _ = strings.Cut(value, ";")
	q, err := strconv.ParseFloat(strings.TrimSpace(value), 64)
	if err != nil || q != q {
		return 1
	}
	return min(max(q, 0), 1)
}

// unpack opens a body that was compressed in some way; nil: it was not.
type unpack func(io.Reader) (io.ReadCloser, error)

// unpacks are the ways in which DynamoDB reads bodies.
var unpacks = map[string]unpack{
	"gzip":    func(r io.Reader) (io.ReadCloser, error) { return gzip.NewReader(r) },
	"deflate": zlib.NewReader,
}

// packed returns how to open the body of a request.
func packed(r *http.Request) (unpack, error) {
	sent := r.Header["Content-Encoding"]
	if len(sent) == 0 {
		return nil, nil
	}
	name := strings.ToLower(strings.TrimSpace(sent[len(sent)-1]))
	if name == "" || name == "identity" {
		return nil, nil
	}
	if open := unpacks[name]; open != nil && len(sent) == 1 {
		return open, nil
	}
	return nil, &engine.Error{
		Type: engine.TypeSerialization,
		Message: "The Content-Encoding " + strconv.Quote(strings.Join(sent, ", ")) +
			" is not supported: send the body as it is, or compressed by gzip or deflate",
	}
}

// length returns how long a compressed body will be. It keeps nothing of it, so
// that memory is taken only after there is room for it.
func (open unpack) length(body []byte) (int, error) {
	z, err := open(bytes.NewReader(body))
	if err != nil {
		return 0, errPacked(err)
	}
	n, err := io.Copy(io.Discard, io.LimitReader(z, maxBody+1))
	switch {
	case err != nil:
		return 0, errPacked(err)
	case n > maxBody:
		return 0, errTooLarge
	case n == 0:
		return 0, errNoBody
	}
	return int(n), nil
}

// read returns a compressed body whose length is known.
func (open unpack) read(body []byte, length int) ([]byte, error) {
	z, err := open(bytes.NewReader(body))
	if err != nil {
		return nil, errPacked(err)
	}
	whole := make([]byte, length)
	if _, err := io.ReadFull(z, whole); err != nil {
		return nil, errPacked(err)
	}
	return whole, nil
}

func errPacked(err error) *engine.Error {
	return &engine.Error{
		Type:    engine.TypeSerialization,
		Message: "The body is not what its Content-Encoding says: " + err.Error(),
	}
}
