package main

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
)

// maxBody bounds what one answer may hold; DynamoDB's largest is 16 MB.
const maxBody = 32 << 20

var errNoLength = errors.New("answer has neither Content-Length nor a chunked body")

// readResponse reads one HTTP/1.1 response, no byte more, and returns its status and its body, which is stored in
// buf if it fits. net/http would do, but costs the client more than some of the servers need to answer.
func readResponse(r *bufio.Reader, buf []byte) (status int, body []byte, err error) {
	line, err := readLine(r)
	if err != nil {
		return 0, nil, err
	}
	if len(line) < 12 || !bytes.HasPrefix(line, []byte("HTTP/1.")) {
		return 0, nil, fmt.Errorf("not an HTTP/1 status line: %q", line)
	}
	if status, err = strconv.Atoi(string(line[9:12])); err != nil {
		return 0, nil, fmt.Errorf("not an HTTP/1 status line: %q", line)
	}
	length, chunked, err := readHeader(r)
	switch {
	case err != nil:
		return 0, nil, err
	case chunked:
		body, err = readChunks(r, buf[:0])
	case length >= 0:
		body, err = readN(r, buf[:0], length)
	default:
		err = errNoLength
	}
	return status, body, err
}

// readHeader reads up to the empty line. length is -1 if none was given.
func readHeader(r *bufio.Reader) (length int64, chunked bool, err error) {
	length = -1
	for {
		line, err := readLine(r)
		if err != nil {
			return 0, false, err
		}
		if len(line) == 0 {
			return length, chunked, nil
		}
		name, value, _ := bytes.Cut(line, []byte(":"))
		switch {
		case bytes.EqualFold(name, []byte("Content-Length")):
			length, err = strconv.ParseInt(string(bytes.TrimSpace(value)), 10, 64)
			if err != nil || length < 0 {
				return 0, false, fmt.Errorf("bad header: %q", line)
			}
		case bytes.EqualFold(name, []byte("Transfer-Encoding")):
			chunked = bytes.EqualFold(bytes.TrimSpace(value), []byte("chunked"))
		}
	}
}

func readChunks(r *bufio.Reader, body []byte) ([]byte, error) {
	for {
		line, err := readLine(r)
		if err != nil {
			return nil, err
		}
		digits, _, _ := bytes.Cut(line, []byte(";"))
		size, err := strconv.ParseUint(string(bytes.TrimSpace(digits)), 16, 31)
		if err != nil {
			return nil, fmt.Errorf("bad chunk size: %q", line)
		}
		if size == 0 {
			_, _, err := readHeader(r) // trailers
			return body, err
		}
		if body, err = readN(r, body, int64(size)); err != nil {
			return nil, err
		}
		if line, err = readLine(r); err != nil {
			return nil, err
		}
		if len(line) > 0 {
			return nil, fmt.Errorf("chunk runs past its size: %q", line)
		}
	}
}

// readN appends n bytes to body.
func readN(r *bufio.Reader, body []byte, n int64) ([]byte, error) {
	old := len(body)
	if n > maxBody-int64(old) {
		return nil, fmt.Errorf("answer is larger than %d bytes", maxBody)
	}
	body = slices.Grow(body, int(n))[:old+int(n)]
	if _, err := io.ReadFull(r, body[old:]); err != nil {
		return nil, noEOF(err)
	}
	return body, nil
}

// readLine reads a line without its end. The result is valid until the next read.
func readLine(r *bufio.Reader) ([]byte, error) {
	line, err := r.ReadSlice('\n')
	if err != nil {
		return nil, noEOF(err)
	}
	return bytes.TrimSuffix(line[:len(line)-1], []byte("\r")), nil
}

// noEOF: a server that closes the connection before its answer is complete is never a good end.
func noEOF(err error) error {
	if err == io.EOF {
		return io.ErrUnexpectedEOF
	}
	return err
}
