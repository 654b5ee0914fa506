package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"
)

// rebinding asks a server without credentials as a web page would whose name leads to this machine, and as a web page of
// another origin would.
func rebinding(ctx context.Context, p *proof) error {
	s, err := p.serve(ctx, launch{args: []string{"--physics"}})
	if err != nil {
		return err
	}
	defer s.kill()
	if err := createTable(ctx, client(s.url, 1), table); err != nil {
		return err
	}
	port := s.addr()[strings.LastIndexByte(s.addr(), ':'):]
	strangers := []sender{
		{host: "evil.example"},
		{host: "evil.example" + port},
		{host: "attacker.localhost.evil.example" + port},
		{host: "localhost.evil.example" + port},
		{host: "127.0.0.1.evil.example" + port},
		{host: "127.0.0.1" + port, origin: "http://evil.example"},
		{host: "127.0.0.1" + port, origin: "http://evil.example" + port},
		{host: "127.0.0.1" + port, origin: "null"},
		{host: "evil.example" + port, origin: "http://evil.example" + port}, // same origin, to a browser
	}
	asked, answered, err := s.ask(ctx, strangers)
	if err != nil {
		return err
	}
	p.figure("4 strangers who get data, or a table deleted", "72 of 72", of(answered, asked), "0", answered == 0 && asked > 0)

	friends := []sender{{host: "127.0.0.1" + port}, {host: "127.0.0.1"}, {host: "localhost" + port}, {host: "localhost"}, {host: "[::1]" + port}, {host: "tables.localhost" + port}}
	asked, answered, err = s.ask(ctx, friends)
	if err != nil {
		return err
	}
	p.figure("4 addresses and localhost that get data", "48 of 48", of(answered, asked), "all", answered == asked)

	blind := []sender{{host: "127.0.0.1" + port, kind: "text/plain"}, {host: "127.0.0.1" + port, kind: "application/x-www-form-urlencoded"}}
	asked, answered, err = s.askAll(ctx, blind, operationsOnly)
	if err != nil {
		return err
	}
	p.figure("4 forms that reach an operation without a preflight", "0 of 8", of(answered, asked), "0", answered == 0)
	response, _, err := exchange(ctx, s.addr(), preflight("127.0.0.1"+port, "http://evil.example"), 5*time.Second)
	if err != nil {
		return err
	}
	allowed := response.Header.Get("Access-Control-Allow-Origin")
	p.figure("4 preflight of a foreign origin", `404, allows ""`, fmt.Sprintf("%d, allows %q", response.StatusCode, allowed), `>= 400, allows ""`, allowed == "" && response.StatusCode >= 400)
	return p.allowed(ctx)
}

// allowed starts a server with a host and an origin that it is to let in.
func (p *proof) allowed(ctx context.Context) error {
	const host, origin = "db.internal.example", "http://app.example"
	s, err := p.serve(ctx, launch{args: []string{"--physics", "--allow-host", host, "--cors", origin}})
	if err != nil {
		p.figure("4 --allow-host and --cors", "no such flags", firstLine(err), "start", false)
		return ctx.Err()
	}
	defer s.kill()
	if err := createTable(ctx, client(s.url, 1), table); err != nil {
		return err
	}
	port := s.addr()[strings.LastIndexByte(s.addr(), ':'):]
	asked, answered, err := s.ask(ctx, []sender{{host: host}, {host: host + port}, {host: "127.0.0.1" + port, origin: origin}, {host: host + port, origin: origin}})
	if err != nil {
		return err
	}
	p.figure("4 allowed hosts and origins that get data", "no such flags", of(answered, asked), "all", answered == asked)
	asked, answered, err = s.ask(ctx, []sender{{host: "evil.example"}, {host: "x" + host}, {host: "127.0.0.1" + port, origin: "http://evil.example"}, {host: host, origin: "https://app.example"}, {host: host, origin: "null"}})
	if err != nil {
		return err
	}
	p.figure("4 others that get data beside them", "no such flags", of(answered, asked), "0", answered == 0)
	response, _, err := exchange(ctx, s.addr(), preflight("127.0.0.1"+port, origin), 5*time.Second)
	if err != nil {
		return err
	}
	allowed := response.Header.Get("Access-Control-Allow-Origin")
	p.figure("4 preflight of the allowed origin", "no such flags", fmt.Sprintf("%d, allows %q", response.StatusCode, allowed), fmt.Sprintf("2xx, allows %q", origin), response.StatusCode/100 == 2 && allowed == origin)
	ask := sender{host: "127.0.0.1" + port, origin: origin}
	response, _, err = exchange(ctx, s.addr(), ask.post("ListTables", "{}", ""), 5*time.Second)
	if err != nil {
		return err
	}
	allowed = response.Header.Get("Access-Control-Allow-Origin")
	p.figure("4 answer that the allowed origin may read", "no such flags", fmt.Sprintf("%d, allows %q", response.StatusCode, allowed), fmt.Sprintf("200, allows %q", origin), response.StatusCode == http.StatusOK && allowed == origin)
	return nil
}

// sender is who a request says that it comes from, and for whom.
type sender struct{ host, origin, kind string }

// head is a request's head without its first line and its end.
func (s sender) head() string {
	head := "Host: " + s.host + "\r\n"
	if s.origin != "" {
		head += "Origin: " + s.origin + "\r\n"
	}
	return head
}

// post is a whole request for an operation, with more fields.
func (s sender) post(operation, body, more string) string {
	kind := cmp.Or(s.kind, "application/x-amz-json-1.0")
	return "POST / HTTP/1.1\r\n" + s.head() + "Content-Type: " + kind + "\r\nX-Amz-Target: DynamoDB_20120810." + operation + "\r\n" +
		"X-Amz-Date: 20260101T000000Z\r\nAuthorization: AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/20260101/us-east-1/dynamodb/aws4_request, " +
		"SignedHeaders=host;x-amz-date;x-amz-target, Signature=" + strings.Repeat("0f", 32) + "\r\n" +
		more + fmt.Sprintf("Content-Length: %d\r\n\r\n%s", len(body), body)
}

func (s sender) get(path string) string {
	return "GET " + path + " HTTP/1.1\r\n" + s.head() + "\r\n"
}

func preflight(host, origin string) string {
	return "OPTIONS / HTTP/1.1\r\nHost: " + host + "\r\nOrigin: " + origin +
		"\r\nAccess-Control-Request-Method: POST\r\nAccess-Control-Request-Headers: authorization,content-type,x-amz-date,x-amz-target\r\n\r\n"
}

// operationsOnly and everyPath make the requests of a sender: the first lane's, net/http's (which is asked to close), and
// those of the other paths.
func operationsOnly(s sender) map[string]string {
	list, remove := "ListTables", "DeleteTable"
	return map[string]string{
		"ListTables": s.post(list, "{}", ""), "ListTables by net/http": s.post(list, "{}", "Connection: close\r\n"),
		"DeleteTable": s.post(remove, `{"TableName":"victim"}`, ""), "DeleteTable by net/http": s.post(remove, `{"TableName":"victim"}`, "Connection: close\r\n"),
	}
}

func everyPath(s sender) map[string]string {
	all := operationsOnly(s)
	for _, path := range []string{"/", "/heat?table=" + table + "&last=3s", "/partitions?table=" + table} {
		all["GET "+path] = s.get(path)
	}
	// An empty map asks for no time, which is an error of its own: that CloudWatch gives it shows that it was asked.
	all["CloudWatch"] = "POST /service/GraniteServiceVersion20100801/operation/GetMetricData HTTP/1.1\r\n" + s.head() +
		"Smithy-Protocol: rpc-v2-cbor\r\nContent-Type: application/cbor\r\nContent-Length: 1\r\n\r\n\xa0"
	return all
}

func (s *process) ask(ctx context.Context, senders []sender) (asked, answered int, err error) {
	return s.askAll(ctx, senders, everyPath)
}

// askAll sends the requests of all senders, and counts those that are answered with data.
func (s *process) askAll(ctx context.Context, senders []sender, requests func(sender) map[string]string) (asked, answered int, err error) {
	owner := client(s.url, 1)
	for _, sender := range senders {
		for name, request := range requests(sender) {
			if strings.HasPrefix(name, "DeleteTable") {
				if err := createTable(ctx, owner, "victim"); err != nil && !strings.Contains(err.Error(), "ResourceInUse") {
					return asked, answered, err
				}
			}
			asked++
			response, body, err := exchange(ctx, s.addr(), request, 10*time.Second)
			switch {
			case err != nil && ctx.Err() != nil:
				return asked, answered, errors.Join(err, ctx.Err())
			case err != nil: // the server hung up on it
			case response.StatusCode == http.StatusOK, strings.HasPrefix(name, "CloudWatch") && strings.Contains(body, "StartTime"):
				answered++
			default:
				progress("    %s for %q from %q: %d %.150q", name, sender.host, sender.origin, response.StatusCode, body)
			}
		}
	}
	return asked, answered, nil
}
