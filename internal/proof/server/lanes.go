package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// lanes compares the two ways in which a server reads HTTP: its own, and net/http's.
func lanes(ctx context.Context, p *proof) error {
	inputs := p.inputs
	if p.quick {
		inputs = min(inputs, 20_000)
	}
	for _, compared := range []struct{ what, test, count string }{
		{"7 heads that both lanes read alike", "^TestLanesAgreeOnHeads$", `([0-9]+) heads, seed`},
		{"7 streams that both lanes answer alike", "^TestLanesAgreeOnStreams$", `([0-9]+) streams, seed`},
	} {
		p.agree(ctx, compared.what, compared.test, regexp.MustCompile(compared.count), inputs)
	}
	s, err := p.serve(ctx, launch{})
	if err != nil {
		return err
	}
	defer s.kill()
	plain := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		w.WriteHeader(http.StatusOK)
	}))
	defer plain.Close()
	reference := strings.TrimPrefix(plain.URL, "http://")

	ask := sender{host: "127.0.0.1"}.post("ListTables", "{}", "")
	bare := strings.ReplaceAll(ask, "\r\n", "\n")
	for _, known := range []struct{ what, before, text string }{
		{"7 a head of bare LFs", "200, waits", bare},
		{"7 a GET that ends in LF LF", "200, waits", "GET / HTTP/1.1\nHost: 127.0.0.1\n\n"},
		{"7 a head that ends in LF LF", "waits", strings.Replace(ask, "\r\n\r\n", "\n\n", 1)},
		{"7 three CRLFs between two requests", "200, 200, waits", ask + "\r\n\r\n\r\n" + ask},
		{"7 one CRLF between two requests", "200, 200, waits", ask + "\r\n" + ask},
	} {
		want, err := converse(ctx, reference, known.text)
		if err != nil {
			return err
		}
		got, err := converse(ctx, s.addr(), known.text)
		if err != nil {
			return err
		}
		p.figure(known.what, known.before, got, want, got == want)
	}
	return nil
}

// agree compares the lanes on so many inputs, some at a time: a test that takes long keeps all that it has allocated.
func (p *proof) agree(ctx context.Context, what, test string, count *regexp.Regexp, inputs int) {
	const portion = 500_000
	agreed, after := 0, ""
	for from := 0; from < inputs && after == ""; from += portion {
		out, err := goTest(ctx, "./internal/wire", "-v", "-run", test, fmt.Sprintf("-lanes.from=%d", from), fmt.Sprintf("-lanes.inputs=%d", min(portion, inputs-from)))
		if err != nil {
			progress("%v", err)
			after = ", " + firstLine(err)
		}
		if found := count.FindStringSubmatch(out); found != nil && err == nil {
			n, _ := strconv.Atoi(found[1]) // digits, as the pattern says
			agreed += n
			progress("  %s: %d", what, agreed)
		} else if after == "" {
			after = ", the test does not say how many"
		}
	}
	p.figure(what, "no such test", fmt.Sprint(agreed, after), fmt.Sprint(inputs), agreed == inputs)
}

// converse sends text, leaves the connection open, and tells how it is answered: each status, and whether the server
// hangs up or waits for more. An answer that takes a second is late.
func converse(ctx context.Context, addr, text string) (string, error) {
	conn, err := new(net.Dialer).DialContext(ctx, "tcp", addr)
	if err != nil {
		return "", err
	}
	defer conn.Close()
	if _, err := io.WriteString(conn, text); err != nil {
		return "", err
	}
	var said []string
	reader := bufio.NewReader(conn)
	for {
		began := time.Now()
		if err := conn.SetReadDeadline(began.Add(3 * time.Second)); err != nil {
			return "", err
		}
		response, err := http.ReadResponse(reader, nil)
		var late net.Error
		switch {
		case err == nil:
			_, _ = io.Copy(io.Discard, response.Body)
			_ = response.Body.Close()
			status := response.Status[:3]
			if time.Since(began) > time.Second {
				status += " late"
			}
			said = append(said, status)
			continue
		case errors.As(err, &late) && late.Timeout():
			said = append(said, "waits")
		default:
			said = append(said, "closes")
		}
		return strings.Join(said, ", "), ctx.Err()
	}
}
