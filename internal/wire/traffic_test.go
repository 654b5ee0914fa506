package wire

import (
	"math/rand/v2"
	"strconv"
)

// traffic makes what clients may send on one connection: requests one after
// another, most of them almost right. It is the same for the same seed and number.
type traffic struct {
	rng   *rand.Rand
	b     []byte
	plain bool // nothing is odd about a request
	huge  bool // a head is longer than anybody reads
}

// of starts over with input i of a seed.
func (g *traffic) of(seed, i uint64) {
	g.rng = rand.New(rand.NewPCG(seed, i))
	g.b = g.b[:0]
	g.huge = false
}

func (g *traffic) odd(n int) bool         { return !g.plain && g.oneIn(n) }
func (g *traffic) oneIn(n int) bool       { return g.rng.IntN(n) == 0 }
func (g *traffic) add(s string)           { g.b = append(g.b, s...) }
func (g *traffic) one(of []string) string { return of[g.rng.IntN(len(of))] }
func (g *traffic) usually(s string, of []string) {
	if g.odd(16) {
		s = g.one(of)
	}
	g.add(s)
}

var (
	oddBefore = []string{"\r\n", "\n", "\r", "\r\n\r\n", "\n\n\n\n", "\r\n\r\n\r\n", "\r\n\r\n\r\n\r\n", "\n\n\n\n\n", " ", "\r\n ", "\x00", "\r\n\r"}
	oddLines  = []string{
		"POST / HTTP/1.0", "post / HTTP/1.1", "GET / HTTP/1.1", "HEAD / HTTP/1.1", "PUT / HTTP/1.1", "OPTIONS * HTTP/1.1", "CONNECT x:1 HTTP/1.1",
		"POST  / HTTP/1.1", "POST / HTTP/1.1 ", "POST\t/ HTTP/1.1", " POST / HTTP/1.1", "POST / http/1.1", "POST / HTTP/1.2", "POST / HTTP/2.0", "POST / HTTP/01.1",
		"POST /?a=b HTTP/1.1", "POST //x HTTP/1.1", "POST /%2f HTTP/1.1", "POST http://u:p@h/ HTTP/1.1", "POST http://h HTTP/1.1", "POST h HTTP/1.1",
		"POST /\x00 HTTP/1.1", "POST /é HTTP/1.1", "POST /", "POST", "", "PRI * HTTP/2.0", "POST / HTTP/1.1\r", "POST / HTTP/1.1\x00", "P\xc3ST / HTTP/1.1", "GET /x HTTP/1.1", "GET / HTTP/1.0",
	}
	oddEnds   = []string{"\n", "\r", "\r\r\n", "\n\r", "\r\n\r\n", "", " \r\n", "\r\n ", "\r\n\t", "\t\r\n", "\x00\r\n", "\n\n"}
	oddColons = []string{":", ":  ", ":\t", " : ", "\t:", "", "::", " ", "=", ": \t ", ":\r\n ", ":\n\t", ": :"}
	oddNames  = []string{
		"host", "HOST", "Host ", " Host", "Ho st", "Höst", "Host\x00", "content-length", "Content-length", "Content_Length", "CONTENT-LENGTH", "Content-Length ",
		"Content-Type", "transfer-encoding", "Transfer-Encoding", "Connection", "connection", "Expect", "Upgrade", "Trailer", "Pragma", "TE", "Keep-Alive", "Cache-Control",
		"Proxy-Connection", "HTTP2-Settings", "X-Amz-Target", "x-amz-target", "", "-", "X-", "(X)", "X\x7f", "X@Y", "\xff", "Date", "Authorization", "Accept-Encoding",
	}
	oddValues = []string{
		"", " ", "a b", "a,b", "\t", "é", "\x80", "\x00", "\x7f", "\x01", "a\rb", "a\vb", "\"q\"", "a: b", "close", "keep-alive", "chunked", "100-continue", "h2c", "no-cache", "0", "x, y",
	}
	oddHosts = []string{
		"", "a b", "u@h", "u:p@h", "[::1]", "[::1]:8000", "::1", "h:", ":80", "h:x", "h,h", "h/", "h?", "h#", "hé", "h\x00", "%41", "h%00", "h\\", "<h>", "h\"", "localhost:8000", "(h)", "h;", "*", "h\t",
	}
	oddLengths = []string{
		"+5", "05", "5,5", "5, 5", "", "-1", "-0", "0", "00", "5 ", "5 5", "0x5", "5.0", "5e0", "1_0", "\t5", "٥", "99999999", "300000", "99999999999999999999", "9223372036854775807", "4294967301",
		"262143", "262144", "1048576", "1048577", "five", "5\r\n 5", "1", "2", "17", "18", "16",
	}
	oddTypes       = []string{"", "text/plain", "application/json", "APPLICATION/JSON", "application/json;charset=utf-8", "application/json ; x", " application/x-amz-json-1.0", "application/x-amz-json-1.1", "application/json,text/plain"}
	oddConnections = []string{"close", "Close", "keep-alive", "Keep-Alive", "KEEP-ALIVE", "keep-alive, close", "close, keep-alive", "keep-alive,", ",", "", "upgrade", "Upgrade, close", "keep-alive; close", "keep-alıve", "x", "clo se", "TE", "\tkeep-alive"}
	oddEncodings   = []string{"chunked", "Chunked", "chunked, chunked", "gzip", "gzip, chunked", "identity", "", "chunked;x=y", " chunked", "\x0bchunked", "chunked "}
	oddTargets     = []string{dynamoDB + "Nothing", "", "GetItem", dynamoDB + "getItem", dynamoDB + "Scan", dynamoDB + "GetItem "}
	oddChunks      = []string{"5\r\nabcde\r\n0\r\n\r\n", "5;x=y\r\nabcde\r\n0\r\n\r\n", "5\nabcde\n0\n\n", "05\r\nabcde\r\n0\r\nX: y\r\n\r\n", "5\r\nabc", "0\r\n\r\n", "-1\r\n", "ffffffffffffffff1\r\n", "5\r\nabcdef\r\n0\r\n\r\n"}
	bodies         = []string{`{}`, getBody, "x", `{"a":"` + "\r\n\r\n" + `"}`, requestLine + "Host: x\r\n\r\n", "\r\n\r\n", "GET / HTTP/1.1\r\nHost: y\r\n\r\n"}
)

// field adds a line of a head.
func (g *traffic) field(name, value string, odd []string) {
	if g.odd(24) {
		name = g.one(oddNames)
	}
	g.add(name)
	g.usually(": ", oddColons)
	g.usually(value, odd)
	if g.odd(40) {
		g.add(g.one(oddValues))
	}
	g.end()
}

// end ends a line.
func (g *traffic) end() {
	if g.odd(40) {
		g.add(g.one(oddEnds))
		return
	}
	g.add("\r\n")
}

// request adds a request.
func (g *traffic) request() {
	g.plain = g.oneIn(2)
	if g.odd(8) {
		g.add(g.one(oddBefore))
	}
	if g.odd(12) {
		g.add(g.one(oddLines))
		g.end()
	} else {
		g.add(requestLine)
	}
	body := g.one(bodies)
	chunks := ""
	for i := range 4 {
		if g.odd(60) {
			continue
		}
		switch i {
		case 0:
			g.field("Host", "localhost:8000", oddHosts)
		case 1:
			g.field("Content-Type", amzJSON[0], oddTypes)
		case 2:
			g.field("X-Amz-Target", dynamoDB+"GetItem", oddTargets)
		case 3:
			g.field("Content-Length", strconv.Itoa(len(body)), oddLengths)
		}
		if !g.odd(5) {
			continue
		}
		switch g.rng.IntN(9) {
		case 0:
			g.field("Connection", "keep-alive", oddConnections)
		case 1:
			g.field("Connection", g.one(oddConnections), oddConnections)
		case 2:
			g.field("Transfer-Encoding", "chunked", oddEncodings)
			chunks = g.one(oddChunks)
		case 3:
			g.field("Expect", "100-continue", oddValues)
		case 4:
			g.field("Host", "localhost:8000", oddHosts)
		case 5:
			g.field("Content-Length", strconv.Itoa(len(body)), oddLengths)
		case 6:
			g.field(g.one(oddNames), g.one(oddValues), oddValues)
		default:
			g.field("X-Custom", "a b", oddValues)
		}
	}
	if g.odd(300) {
		g.padding()
	}
	if g.odd(30) {
		g.add(g.one(oddEnds))
	} else {
		g.add("\r\n")
	}
	if chunks != "" && !g.odd(4) {
		g.add(chunks)
		return
	}
	switch {
	case g.odd(15):
		body = body[:g.rng.IntN(len(body))]
	case g.odd(15):
		body += g.one(oddBefore)
	}
	g.add(body)
}

// padding adds a long field: longer than what the first lane reads, or than what
// anybody does. Where between the two net/http gives up depends on how much it
// happens to have buffered, so nothing ends or is cut there.
func (g *traffic) padding() {
	size := maxHead - len(g.b)%maxHead + g.rng.IntN(200) - 100
	if g.oneIn(8) {
		size, g.huge = 60<<10, true
	}
	g.add("X-Padding: ")
	for range size {
		g.b = append(g.b, 'x')
	}
	g.end()
}

// damage changes a few bytes.
func (g *traffic) damage() {
	const interesting = "\r\n\r\n :\t,;\x00\x7f\x80\xc3/0159aA-"
	for range 1 + g.rng.IntN(4) {
		if len(g.b) == 0 {
			return
		}
		at := g.rng.IntN(len(g.b))
		n := min(1+g.rng.IntN(4), len(g.b)-at)
		switch g.rng.IntN(5) {
		case 0:
			g.b = append(g.b[:at], g.b[at+n:]...)
		case 1:
			g.b[at] = interesting[g.rng.IntN(len(interesting))]
		case 2:
			g.b[at] ^= 1 << g.rng.IntN(8)
		case 3:
			g.b = append(g.b, 0)
			copy(g.b[at+1:], g.b[at:])
			g.b[at] = interesting[g.rng.IntN(len(interesting))]
		case 4:
			from := g.rng.IntN(len(g.b))
			copy(g.b[at:at+n], g.b[from:])
		}
	}
}

// sent is what a client sends on a connection, a piece after the server was done
// with the one before, and whether it ends with the last piece or later.
type sent struct {
	pieces [][]byte
	eof    bool
}

// sent returns what a client may send on a connection. It is good until the next.
func (g *traffic) sent() (s sent) {
	for range 1 + min(g.rng.IntN(3), g.rng.IntN(4)) {
		g.request()
	}
	s.eof = g.oneIn(2)
	if g.huge {
		s.pieces = [][]byte{g.b}
		return s
	}
	if g.oneIn(3) {
		g.damage()
	}
	if g.oneIn(30) {
		g.b = g.b[:g.rng.IntN(len(g.b)+1)]
	}
	rest := g.b
	if g.oneIn(300) && len(rest) < 2000 {
		for i := range rest {
			s.pieces = append(s.pieces, rest[i:i+1])
		}
		return s
	}
	for g.oneIn(2) && len(rest) > 1 {
		n := 1 + g.rng.IntN(len(rest)-1)
		s.pieces = append(s.pieces, rest[:n])
		rest = rest[n:]
	}
	s.pieces = append(s.pieces, rest)
	return s
}
