package main

import (
	"bufio"
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"
)

func TestReadResponse(t *testing.T) {
	for _, test := range []struct {
		name, text string
		status     int
		body       string
	}{
		{"length", "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello", 200, "hello"},
		{"lower case", "HTTP/1.1 200 OK\r\nserver: x\r\ncontent-length:5\r\n\r\nhello", 200, "hello"},
		{"no body", "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n", 200, ""},
		{"not ok", "HTTP/1.1 400 Bad Request\r\nContent-Length: 2\r\n\r\n{}", 400, "{}"},
		{"no reason", "HTTP/1.1 500\r\nContent-Length: 2\r\n\r\n{}", 500, "{}"},
		{"chunked", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nhel\r\n2\r\nlo\r\n0\r\n\r\n", 200, "hello"},
		{
			"chunked, with extension and trailer",
			"HTTP/1.1 200 OK\r\ntransfer-encoding: Chunked\r\n\r\nA;x=y\r\n0123456789\r\n0\r\nX-Sum: 1\r\n\r\n", 200, "0123456789",
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			// Two answers on one connection, which come in byte by byte: exactly one is read.
			r := bufio.NewReader(iotest.OneByteReader(strings.NewReader(test.text + "HTTP/1.1 201 next")))
			status, body, err := readResponse(r, nil)
			if err != nil {
				t.Fatal(err)
			}
			if status != test.status || string(body) != test.body {
				t.Errorf("got %d %q, want %d %q", status, body, test.status, test.body)
			}
			if rest, _ := io.ReadAll(r); string(rest) != "HTTP/1.1 201 next" {
				t.Errorf("left %q on the connection", rest)
			}
		})
	}
}

func TestReadResponseReusesBuffer(t *testing.T) {
	const answer = "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello"
	source := strings.NewReader(answer)
	r := bufio.NewReader(source)
	buf := make([]byte, 0, 64)
	allocs := testing.AllocsPerRun(100, func() {
		source.Reset(answer)
		r.Reset(source)
		if _, _, err := readResponse(r, buf); err != nil {
			t.Fatal(err)
		}
	})
	if allocs > 0 {
		t.Errorf("got %v allocations, want none", allocs)
	}
}

func TestReadResponseErrors(t *testing.T) {
	for _, test := range []struct{ name, text, want string }{
		{"closed", "", io.ErrUnexpectedEOF.Error()},
		{"cut in the header", "HTTP/1.1 200 OK\r\nContent-", io.ErrUnexpectedEOF.Error()},
		{"cut in the body", "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhel", io.ErrUnexpectedEOF.Error()},
		{"cut between chunks", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nhe\r\n", io.ErrUnexpectedEOF.Error()},
		{"not HTTP", "SSH-2.0-OpenSSH_9.6\r\n", "not an HTTP/1 status line"},
		{"no status", "HTTP/1.1 two hundred\r\n", "not an HTTP/1 status line"},
		{"no length", "HTTP/1.1 200 OK\r\n\r\n", errNoLength.Error()},
		{"bad length", "HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\n", "bad header"},
		{"huge length", "HTTP/1.1 200 OK\r\nContent-Length: 99999999999\r\n\r\n", "larger than"},
		{"bad chunk", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n", "bad chunk size"},
		{"long chunk", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nab\r\n", "chunk runs past"},
	} {
		t.Run(test.name, func(t *testing.T) {
			_, _, err := readResponse(bufio.NewReader(strings.NewReader(test.text)), nil)
			if err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("got error %v, want %q", err, test.want)
			}
			if errors.Is(err, io.EOF) {
				t.Error("io.EOF would look like a good end")
			}
		})
	}
}
