package wire

import (
	"hash/crc32"
	"math/rand/v2"
	"net/http"
	"strconv"
	"time"
)

// unknownAnswer is what AWS answers to what is no operation at all.
var unknownAnswer = []byte("<UnknownOperationException/>\n")

const requestIDLength = 52

// serverName is what AWS calls itself.
var serverName = []string{"Server"}

// send writes an answer with the headers of one from AWS: a request id and the
// body's checksum, which the SDKs verify. A nil contentType is left to net/http.
// The link may be nil, and an empty encoded says that the body is not compressed.
func send(w http.ResponseWriter, status int, contentType []string, encoded string, body []byte, k *link) {
	// All values in one string, all slices in one array: two allocations. Names
	// are in canonical form, so that they need not be made so.
	var text [requestIDLength + 10 + 20]byte
	b := appendRequestID(text[:0])
	b = strconv.AppendUint(b, uint64(crc32.ChecksumIEEE(body)), 10)
	checksum := len(b)
	b = strconv.AppendInt(b, int64(len(body)), 10)
	values := string(b)
	headers := &[3]string{values[:requestIDLength], values[requestIDLength:checksum], values[checksum:]}

	h := w.Header()
	h["Server"] = serverName
	h["X-Amzn-Requestid"] = headers[0:1:1]
	h["X-Amz-Crc32"] = headers[1:2:2]
	h["Content-Length"] = headers[2:3:3]
	if contentType != nil {
		h["Content-Type"] = contentType
	}
	if encoded != "" {
		h["Content-Encoding"] = []string{encoded}
	}
	w.WriteHeader(status)
	if len(body) <= keptCapacity || k == nil {
		_, _ = w.Write(body) // the client is gone if this fails
		return
	}
	// net/http counts from when the head was read.
	_ = k.SetWriteDeadline(time.Now().Add(k.server.limits.write))
	_ = k.sendLarge(body, func(part []byte) error {
		_, err := w.Write(part)
		return err
	})
}

// appendHead appends the head of an answer, the same that net/http makes of what
// send tells it.
func appendHead(dst []byte, status int, contentType, encoded string, body, date []byte, last bool) []byte {
	dst = append(dst, "HTTP/1.1 "...)
	dst = strconv.AppendInt(dst, int64(status), 10)
	dst = append(dst, ' ')
	dst = append(dst, http.StatusText(status)...)
	if encoded != "" {
		dst = append(dst, "\r\nContent-Encoding: "...)
		dst = append(dst, encoded...)
	}
	dst = append(dst, "\r\nContent-Length: "...)
	dst = strconv.AppendInt(dst, int64(len(body)), 10)
	dst = append(dst, "\r\nContent-Type: "...)
	dst = append(dst, contentType...)
	dst = append(dst, "\r\nServer: Server\r\nX-Amz-Crc32: "...)
	dst = strconv.AppendUint(dst, uint64(crc32.ChecksumIEEE(body)), 10)
	dst = append(dst, "\r\nX-Amzn-Requestid: "...)
	dst = appendRequestID(dst)
	dst = append(dst, "\r\nDate: "...)
	dst = append(dst, date...)
	if last {
		dst = append(dst, "\r\nConnection: close"...)
	}
	return append(dst, "\r\n\r\n"...)
}

// appendRequestID appends 52 capital letters and digits at random.
func appendRequestID(dst []byte) []byte {
	const alphabet = "0123456789ABCDEFGHIJKLMNOPQRSTUV"
	var bits uint64
	for i := range requestIDLength {
		if i%12 == 0 { // 12 characters of 5 bits
			bits = rand.Uint64()
		}
		dst = append(dst, alphabet[bits%32])
		bits /= 32
	}
	return dst
}

// date is the Date header's value, made once a second.
type date struct {
	text   []byte
	second int64 // since 1970
}

func (d *date) at(t time.Time) []byte {
	if second := t.Unix(); second != d.second {
		d.text = t.UTC().AppendFormat(d.text[:0], http.TimeFormat)
		d.second = second
	}
	return d.text
}
