package wire

import (
	"bufio"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/heatsink-go/heatsink/internal/engine"
	"github.com/heatsink-go/heatsink/internal/partition"
)

// guarded runs a server with all its paths and a table, and returns its address.
func guarded(t *testing.T, o GuardOptions) (addr string, e *engine.Engine) {
	t.Helper()
	guard, err := NewGuard(o)
	if err != nil {
		t.Fatal(err)
	}
	if e, err = engine.Open(engine.Options{Physics: &partition.Options{}}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := e.Close(); err != nil {
			t.Error(err)
		}
	})
	operations := NewHandler(e, Options{Unsigned: true, Guard: guard})
	create := `{"TableName":"orders","BillingMode":"PAY_PER_REQUEST","KeySchema":[{"AttributeName":"pk","KeyType":"HASH"}],` +
		`"AttributeDefinitions":[{"AttributeName":"pk","AttributeType":"S"}]}`
	r := post(dynamoDB+"CreateTable", create)
	r.Host = "localhost"
	if w := do(operations, r); w.Code != http.StatusOK {
		t.Fatalf("%d %s", w.Code, w.Body)
	}
	mux := http.NewServeMux()
	mux.Handle("/", operations)
	mux.Handle(PartitionsPath, NewPartitionsHandler(e))
	mux.Handle(CloudWatchPath, NewCloudWatchHandler(e))
	return listen(t, NewServer(operations, mux)), e
}

// deleteRequest deletes the table, with a first line's rest and headers.
func deleteRequest(line, host, more string) string {
	const body = `{"TableName":"orders"}`
	return fmt.Sprintf("POST %s\r\nHost: %s\r\nContent-Type: application/x-amz-json-1.0\r\nX-Amz-Target: %sDeleteTable\r\n"+
		"%sContent-Length: %d\r\n\r\n%s", line, host, dynamoDB, more, len(body), body)
}

// A web page whose name leads to the server, and a web page of another origin, get
// nothing done and nothing told, on no path and no lane.
func TestGuardRefusesPages(t *testing.T) {
	addr, e := guarded(t, GuardOptions{Hosts: []string{"dynamodb.test"}, Origins: []string{"http://localhost:3000"}})
	get := func(path, host, more string) string {
		return "GET " + path + " HTTP/1.1\r\nHost: " + host + "\r\n" + more + "\r\n"
	}
	const slash = "/ HTTP/1.1"
	const cloudWatch = "POST " + CloudWatchPath + "GetMetricData HTTP/1.1\r\nSmithy-Protocol: rpc-v2-cbor\r\nContent-Length: 1\r\n"
	for _, c := range []struct{ name, text, want string }{
		{"rebound", deleteRequest(slash, "evil.example:8000", ""), `AccessDeniedException","message":"this server does not answer requests for host \"evil.example:8000\"`},
		{"rebound, second lane", deleteRequest(slash, "evil.example", "Connection: close\r\n"), `--allow-host evil.example"`},
		{"rebound, whole URL", deleteRequest("http://evil.example/ HTTP/1.1", "localhost", ""), `--allow-host evil.example"`},
		{"rebound, query", deleteRequest("/?x=y HTTP/1.1", "evil.example", ""), `--allow-host evil.example"`},
		{"rebound, HTTP/1.0", deleteRequest("/ HTTP/1.0", "evil.example", ""), `--allow-host evil.example"`},
		{"rebound, own origin", deleteRequest(slash, "evil.example", "Origin: http://evil.example\r\n"), `--allow-host evil.example"`},
		{"rebound, allowed origin", deleteRequest(slash, "evil.example", "Origin: http://localhost:3000\r\n"), `--allow-host evil.example"`},
		{"foreign", deleteRequest(slash, "localhost", "Origin: http://evil.example\r\n"), `origin \"http://evil.example\"`},
		{"foreign, in lower case", deleteRequest(slash, "localhost", "origin: http://evil.example\r\n"), `--cors http://evil.example"`},
		{"opaque", deleteRequest(slash, "localhost", "Origin: null\r\n"), `origin \"null\"`},
		{"without an origin", deleteRequest(slash, "localhost", "Sec-Fetch-Site: cross-site\r\n"), "Sec-Fetch-Site"},
		{"health", get("/", "evil.example", ""), "--allow-host evil.example\n"},
		{"health, foreign", get("/", "localhost", "Origin: http://evil.example\r\n"), "--cors http://evil.example\n"},
		{"partitions", get("/partitions", "evil.example", ""), "--allow-host evil.example\n"},
		{"partitions, foreign", get("/partitions", "localhost", "Origin: null\r\n"), "--cors ORIGIN\n"},
		{"partitions, image", get("/partitions", "localhost", "Sec-Fetch-Site: same-site\r\n"), "Sec-Fetch-Site"},
		{"CloudWatch", cloudWatch + "Host: evil.example\r\n\r\n\xa0", "cloudwatch#AccessDeniedException"},
		{"CloudWatch, foreign", cloudWatch + "Host: localhost\r\nOrigin: null\r\n\r\n\xa0", "cloudwatch#AccessDeniedException"},
		{"nothing", get("/nothing", "evil.example", ""), "--allow-host evil.example\n"},
		{
			"preflight", "OPTIONS / HTTP/1.1\r\nHost: localhost\r\nOrigin: http://evil.example\r\nAccess-Control-Request-Method: POST\r\n\r\n",
			"--cors http://evil.example\n",
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			conn := dial(t, addr)
			if _, err := io.WriteString(conn, c.text); err != nil {
				t.Fatal(err)
			}
			res, body := response(t, bufio.NewReader(conn))
			if res.StatusCode != http.StatusForbidden || !strings.Contains(body, c.want) {
				t.Errorf("got %s %s, want 403 and %s", res.Status, body, c.want)
			}
			if got := res.Header.Get("Access-Control-Allow-Origin"); got != "" && got != "http://localhost:3000" {
				t.Errorf("the page may read it: %s", got)
			}
			if got := e.TableNames(); !slices.Equal(got, []string{"orders"}) {
				t.Fatalf("tables left: %q", got)
			}
		})
	}
	for _, c := range []struct{ name, text string }{ // last the one that deletes the table
		{"health", get("/", "dynamodb.test:8000", "")},
		{"health of a probe", "GET / HTTP/1.0\r\n\r\n"},
		{"partitions", get("/partitions", "[::1]:8000", "")},
		{"partitions, allowed page", get("/partitions", "localhost", "Origin: http://localhost:3000\r\n")},
		{"partitions, visited", get("/partitions", "localhost", "Sec-Fetch-Site: none\r\n")},
		{"table", deleteRequest(slash, "127.0.0.1:8000", "")},
	} {
		conn := dial(t, addr)
		if _, err := io.WriteString(conn, c.text); err != nil {
			t.Fatal(err)
		}
		if res, body := response(t, bufio.NewReader(conn)); res.StatusCode != http.StatusOK {
			t.Errorf("%s: got %s %s", c.name, res.Status, body)
		}
	}
	if got := e.TableNames(); len(got) != 0 {
		t.Errorf("tables left: %q", got)
	}
}

// A host is refused on the first lane as it is on the second, to the byte.
func TestGuardOnBothLanes(t *testing.T) {
	guard, err := NewGuard(GuardOptions{})
	if err != nil {
		t.Fatal(err)
	}
	_, h := getStub(t, Options{Unsigned: true, Guard: guard})
	rest := &counted{Handler: h}
	ours, theirs := listen(t, NewServer(h, rest)), listen(t, &http.Server{Handler: guard.Handler(h)})
	for _, host := range []string{"localhost:8000", "evil.example:8000"} {
		for _, more := range []string{"", "Origin: http://evil.example\r\n", "Origin: http://evil.example:8000\r\n", "Sec-Fetch-Site: cross-site\r\n"} {
			text := strings.Replace(getRequest(more), "localhost:8000", host, 1)
			if got, want := talk(t, ours, text), talk(t, theirs, text); got != want || want == "" {
				t.Errorf("%s:\ngot\n%s\nwant\n%s", text, got, want)
			}
			if accepted := parses(text); accepted != (more == "") {
				t.Errorf("on the first lane: %v: %s", accepted, text)
			}
		}
	}
	if n := rest.requests.Load(); n != 0 {
		t.Errorf("%d requests passed the guard", n)
	}
}

// What a page makes a browser send without asking first is no operation.
func TestSimpleRequestsAreNoOperations(t *testing.T) {
	s, h := getStub(t, Options{Unsigned: true})
	for _, kind := range []string{"text/plain", "text/plain;charset=UTF-8", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x", ""} {
		r := post(dynamoDB+"GetItem", getBody)
		r.Header.Set("Content-Type", kind)
		if w := do(h, r); w.Code != http.StatusNotFound || s.in != nil {
			t.Errorf("%q: got %d %s", kind, w.Code, w.Body)
		}
	}
}
