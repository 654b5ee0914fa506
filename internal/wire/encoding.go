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
// Of several Accept-Encoding headers the last one counts, as on the service.
func encodingOf(r *http.Request, length int) *encoding {
	if accepted := r.Header["Accept-Encoding"]; length >= minEncoded && len(accepted) > 0 {
		return accept(accepted[len(accepted)-1])
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

// quality returns the weight of an entry, from 0 to 1. One that cannot be read
// counts as 1, as on the service.
func quality(parameters string) float64 {
	for p := range strings.SplitSeq(parameters, ";") {
		name, value, _ := strings.Cut(p, "=")
		if strings.TrimSpace(name) != "q" {
			continue
		}
		q, err := strconv.ParseFloat(strings.TrimSpace(value), 64)
		if err != nil || q != q {
			return 1
		}
		return min(max(q, 0), 1)
	}
	return 1
}

// zipped reports whether the body of a request is compressed. DynamoDB reads gzip
// only.
func zipped(r *http.Request) (bool, error) {
	sent := r.Header["Content-Encoding"]
	if len(sent) == 0 {
		return false, nil
	}
	switch name := strings.TrimSpace(sent[len(sent)-1]); {
	case name == "", strings.EqualFold(name, "identity"):
		return false, nil
	case len(sent) == 1 && strings.EqualFold(name, "gzip"):
		return true, nil
	}
	return false, &engine.Error{
		Type:    engine.TypeSerialization,
		Message: "The Content-Encoding " + strconv.Quote(strings.Join(sent, ", ")) + " is not supported: send the body as it is, or compressed by gzip",
	}
}

// unzippedLength returns how long a compressed body will be. It keeps nothing of
// it, so that memory is taken only after there is room for it.
func unzippedLength(body []byte) (int, error) {
	z, err := gzip.NewReader(bytes.NewReader(body))
	if err != nil {
		return 0, errZipped(err)
	}
	n, err := io.Copy(io.Discard, io.LimitReader(z, maxBody+1))
	switch {
	case err != nil:
		return 0, errZipped(err)
	case n > maxBody:
		return 0, errTooLarge
	case n == 0:
		return 0, errNoBody
	}
	return int(n), nil
}

// unzip returns a compressed body whose length is known.
func unzip(body []byte, length int) ([]byte, error) {
	z, err := gzip.NewReader(bytes.NewReader(body))
	if err != nil {
		return nil, errZipped(err)
	}
	whole := make([]byte, length)
	if _, err := io.ReadFull(z, whole); err != nil {
		return nil, errZipped(err)
	}
	return whole, nil
}

func errZipped(err error) *engine.Error {
	return &engine.Error{
		Type:    engine.TypeSerialization,
		Message: "The body is not what its Content-Encoding gzip says: " + err.Error(),
	}
}
