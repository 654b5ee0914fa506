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
	"strings"
	"time"
)

// lanes compares the two ways in which a server reads HTTP: its own, and net/http's.
func lanes(ctx context.Context, p *proof) error {
	inputs := p.inputs
	if p.quick {
		inputs = min(inputs, 20_000)
	}
	p.run1(ctx, shown{
		"7 inputs on which both lanes agree", "no such test", "./internal/wire", "^TestLanesAgree$",
		[]string{fmt.Sprintf("-lanes.inputs=%d", inputs)},
		regexp.MustCompile(`([0-9,]+) (?:inputs|heads|streams)`), inputs,
	})
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
		{"7 a head that ends in LF LF", "?", bare},
		{"7 three CRLFs between two requests", "?", ask + "\r\n\r\n\r\n" + ask},
		{"7 one CRLF between two requests", "?", ask + "\r\n" + ask},
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
