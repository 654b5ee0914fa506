package main

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"net"
	"time"
)

// A client is one keep-alive connection to a server.
type client struct {
	conn    net.Conn
	reader  *bufio.Reader
	body    []byte
	release func() bool
}

// dial connects. The context's end interrupts whatever the client is doing: one deadline for the life of the
// connection, because one per request would be work done while measuring.
func dial(ctx context.Context, addr string) (*client, error) {
	conn, err := (&net.Dialer{}).DialContext(ctx, "tcp", addr)
	if err != nil {
		return nil, err
	}
	return &client{
		conn:    conn,
		reader:  bufio.NewReaderSize(conn, 64<<10), // a page of 50 items in one read
		release: context.AfterFunc(ctx, func() { conn.SetDeadline(time.Unix(1, 0)) }),
	}, nil
}

func (c *client) close() {
	c.release()
	c.conn.Close()
}

// do sends the request and checks that the answer is good: status 200 and a body that contains want.
func (c *client) do(r *request, want []byte) error {
	if _, err := c.conn.Write(r.wire); err != nil {
		return fmt.Errorf("%s: %w", r.op, err)
	}
	status, body, err := readResponse(c.reader, c.body)
	if err != nil {
		return fmt.Errorf("%s: %w", r.op, err)
	}
	c.body = body
	if status != 200 {
		return fmt.Errorf("%s: status %d: %s", r.op, status, excerpt(body))
	}
	if !bytes.Contains(body, want) {
		return fmt.Errorf("%s: no %s in the answer: %s", r.op, want, excerpt(body))
	}
	return nil
}

// call sends a single request on a connection of its own.
func call(ctx context.Context, addr, op, body, want string) error {
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	c, err := dial(ctx, addr)
	if err != nil {
		return fmt.Errorf("%s: %w", op, err)
	}
	defer c.close()
	return c.do(newRequest(addr, op, body), []byte(want))
}

// excerpt is as much of an answer as an error message can carry.
func excerpt(body []byte) string {
	const most = 1000
	if len(body) > most {
		return fmt.Sprintf("%s... (%d bytes)", body[:most], len(body))
	}
	return string(body)
}
