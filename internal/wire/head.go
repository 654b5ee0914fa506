package wire

import (
	"bytes"
	"context"
	"net/http"
	"net/textproto"
	"net/url"
	"strconv"
	"strings"
)

const (
	// maxHead is how long the head of a request may be that we parse ourselves.
	maxHead = 8 << 10
	// maxFields is how many fields it may have. The memory for them stays with the
	// connection.
	maxFields = 64
	// maxFastBody is how long its body may be. If it is not wanted, because
	// something is wrong with the head, it is read nevertheless, so that the next
	// request can be. Of longer ones net/http does not do that: it answers at once
	// and hangs up.
	maxFastBody = 256<<10 - 1
)

const requestLine = "POST / HTTP/1.1\r\n"

// head parses the heads of a connection's requests into an http.Request, which
// is the same for all.
type head struct {
	request *http.Request
	values  []string // what the slices in the header are made of
}

func newHead(ctx context.Context) head {
	r := &http.Request{
		Method:     http.MethodPost,
		URL:        &url.URL{Path: "/"},
		Proto:      "HTTP/1.1",
		ProtoMajor: 1,
		ProtoMinor: 1,
		Header:     make(http.Header),
		RequestURI: "/",
	}
	return head{request: r.WithContext(ctx)}
}

// begins reports whether read, in which there is no end of a head, may be the
// beginning of one that parse reads. It looks at whole lines, as net/http does,
// which complains about one without waiting for the next. Of read, the first
// known bytes were looked at before; it returns how many are known now.
func begins(read []byte, known int) (int, bool) {
	if known == 0 {
		n := min(len(read), len(requestLine))
		if string(read[:n]) != requestLine[:n] {
			return 0, false
		}
		if n < len(requestLine) {
			return 0, true
		}
		known = n
	}
	for {
		end := bytes.IndexByte(read[known:], '\n')
		if end < 0 {
			return known, true
		}
		line, ok := bytes.CutSuffix(read[known:known+end], []byte("\r"))
		if !ok {
			return known, false // net/http takes this for the end of a line, too
		}
		if _, _, ok := cutField(string(line)); !ok {
			return known, false
		}
		known += end + 1
	}
}

// cutField cuts a line of a head, without its end. It reports whether everybody
// would cut it like that.
func cutField(line string) (name, value string, ok bool) {
	name, value, ok = strings.Cut(line, ":")
	value = strings.Trim(value, " \t")
	return name, value, ok && isToken(name) && isText(value)
}

// parse reads a head up to, without, the empty line. It reports whether it is
// one that we can answer, and that nobody could read in another way: what is
// unusual in any respect is net/http's.
func (h *head) parse(text string) bool {
	lines, ok := strings.CutPrefix(text, requestLine)
	if !ok {
		return false
	}
	r := h.request
	clear(r.Header)
	h.values = h.values[:0]
	r.Host, r.ContentLength = "", 0
	for lines != "" {
		var line string
		line, lines, _ = strings.Cut(lines, "\r\n")
		name, value, ok := cutField(line)
		if !ok || !h.field(textproto.CanonicalMIMEHeaderKey(name), value) {
			return false
		}
	}
	return r.Host != "" && r.ContentLength > 0 && contentTypeOf(r) != nil
}

// field takes a header in and reports whether it is one we understand.
func (h *head) field(name, value string) bool {
	r := h.request
	switch name {
	case "Host":
		if r.Host != "" || !isHost(value) {
			return false
		}
		r.Host = value
		return true // net/http, too, does not leave it in the header
	case "Content-Length":
		n, err := strconv.ParseUint(value, 10, 32)
		if err != nil || n == 0 || n > maxFastBody || r.ContentLength != 0 {
			return false
		}
		r.ContentLength = int64(n)
	case "Connection":
		if !strings.EqualFold(value, "keep-alive") {
			return false
		}
	case "Transfer-Encoding", "Trailer", "Expect", "Upgrade", "Pragma":
		return false // net/http does something about them
	case "X-Amz-Target":
		if strings.HasPrefix(value, cloudWatchTarget) {
			return false // another service's
		}
	case "Origin", "Sec-Fetch-Site":
		return false // a browser sends it: the guard, on the other lane, looks at more than the host
	}
	if old := r.Header[name]; old != nil {
		r.Header[name] = append(old, value)
		return true
	}
	n := len(h.values)
	if n == maxFields {
		return false
	}
	h.values = append(h.values, value)
	r.Header[name] = h.values[n : n+1 : n+1]
	return true
}

// The characters of names, hosts and values.
const (
	tokenChar = 1 << iota
	hostChar
	textChar
)

var chars = func() (table [256]uint8) {
	for c := ' '; c <= '~'; c++ {
		table[c] = textChar
	}
	table['\t'] = textChar
	const alphanumeric = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
	for _, c := range alphanumeric {
		table[c] |= tokenChar | hostChar
	}
	for _, c := range "!#$%&'*+-.^_`|~" {
		table[c] |= tokenChar
	}
	for _, c := range "-._:[]" {
		table[c] |= hostChar
	}
	return table
}()

func isToken(s string) bool { return s != "" && consists(s, tokenChar) }
func isHost(s string) bool  { return s != "" && consists(s, hostChar) }
func isText(s string) bool  { return consists(s, textChar) }

func consists(s string, of uint8) bool {
	for i := range len(s) {
		if chars[s[i]]&of == 0 {
			return false
		}
	}
	return true
}
