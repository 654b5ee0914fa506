package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/iotest"
	"time"
)

// flood answers one path or operation with what never ends, and describes a table to whoever asks for one.
func flood(t *testing.T, path, start, more string) (url string) {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch operation := r.Header.Get("X-Amz-Target"); {
		case strings.HasSuffix(r.URL.Path+operation, path):
			w.Header().Set("Content-Type", "application/x-amz-json-1.0")
			_, err := io.WriteString(w, start)
			for chunk := strings.Repeat(more, 64<<10/len(more)); err == nil; {
				_, err = io.WriteString(w, chunk)
			}
		case strings.HasSuffix(operation, "DescribeTable"):
			fmt.Fprint(w, `{"Table":{"TableName":"t","TableStatus":"ACTIVE","ItemCount":5,"TableSizeBytes":100,"KeySchema":[{"AttributeName":"pk","KeyType":"HASH"}],`+
				`"AttributeDefinitions":[{"AttributeName":"pk","AttributeType":"S"}]}}`)
		default:
			fmt.Fprint(w, `{}`)
		}
	}))
	t.Cleanup(server.Close)
	return server.URL
}

// Commands end with an error that names the answer, whatever a server sends without end.
func TestCommandsReadNoFloods(t *testing.T) {
	const tooLong, tooMany = "exceeds 32 MB", "values; DynamoDB never sends that much"
	for _, c := range []struct{ name, path, start, more, command, want string }{
		{"heat", heatPath, `{"source":"`, "x", "top t --last 1s", tooLong},
		{"heat, resources", heatPath, `{"resources":[{}`, ",{}", "top t --last 1s", tooMany},
		{"description", "DescribeTable", `{"Table":{"TableName":"`, "x", "audit t", tooLong},
		{"description, indexes", "DescribeTable", `{"Table":{"GlobalSecondaryIndexes":[{}`, ",{}", "audit t", tooMany},
		{"items", ".Scan", `{"Items":[{}`, ",{}", "audit t", tooMany},
		{"spaces", ".Scan", "", " ", "audit t", tooLong},
		{"metrics", "GetMetricData", "\x9f", "\xa0", "audit t --cloudwatch", "exceeds 8 MB"},
	} {
		t.Run(c.name, func(t *testing.T) {
			url := flood(t, c.path, c.start, c.more)
			_, stderr, code := command(t, append(strings.Fields(c.command), "--endpoint", url)...)
			if code != 2 || !strings.Contains(stderr, c.want) || !strings.Contains(stderr, "the response of "+url) {
				t.Errorf("exit %d, %s; want %q", code, stderr, c.want)
			}
		})
	}
}

func TestAnswerLimits(t *testing.T) {
	read := func(l answerLimits, text string, how func(io.Reader) io.Reader) (string, error) {
		response := &http.Response{Body: io.NopCloser(how(strings.NewReader(text)))}
		l.limit(response)
		got, err := io.ReadAll(response.Body)
		if again, err2 := response.Body.Read(make([]byte, 1)); err != nil && (again != 0 || err2 == nil || err2 == io.EOF) {
			t.Errorf("%q: read on after its end: %d, %v", text, again, err2)
		}
		return string(got), err
	}
	for _, c := range []struct {
		text string
		l    answerLimits
		ok   bool
	}{
		{"1234", answerLimits{bytes: 4}, true},
		{"12345", answerLimits{bytes: 4}, false},
		{`[1,2,{}]`, answerLimits{bytes: 99, values: 4}, true},
		{`[1,2,{}]`, answerLimits{bytes: 99, values: 3}, false},
		{`{",{[":"[,","\"[,":"\\"}`, answerLimits{bytes: 99, values: 2}, true},
		{`{",{[":"[,","\"[,":"\\"},`, answerLimits{bytes: 99, values: 2}, false},
		{`[,,,,`, answerLimits{bytes: 99}, true},
	} {
		for name, how := range map[string]func(io.Reader) io.Reader{
			"in one piece": func(r io.Reader) io.Reader { return r },
			"byte by byte": iotest.OneByteReader,
			"with its end": iotest.DataErrReader,
		} {
			got, err := read(c.l, c.text, how)
			if c.ok && (err != nil || got != c.text) || !c.ok && !errors.As(err, new(*oversized)) {
				t.Errorf("%q within %+v, %s: got %q, %v", c.text, c.l, name, got, err)
			}
		}
	}
}

// Each client of an account has its limit, also of what is an answer otherwise.
func TestClientsReadNoFloods(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		chunk := bytes.Repeat([]byte{' '}, 1<<20)
		for range pageLimits.bytes>>20 + 1 {
			_, _ = w.Write(chunk)
		}
		_, _ = io.WriteString(w, "{}")
	}))
	defer server.Close()
	c, err := (&account{endpoint: server.URL}).clients(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for name, ask := range map[string]func() error{
		"tables":  func() error { _, err := c.tables.ListTables(t.Context(), nil); return err },
		"streams": func() error { _, err := c.streams.ListStreams(t.Context(), nil); return err },
	} {
		if err := ask(); !errors.As(err, new(*oversized)) {
			t.Errorf("%s: got %v, want an answer that is too long", name, err)
		}
	}
}

// An answer that trickles ends with the client's patience.
func TestAnswerThatTrickles(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		for tick := time.NewTicker(time.Millisecond); ; {
			select {
			case <-r.Context().Done():
				return
			case <-tick.C:
				_, _ = w.Write([]byte{' '})
				_ = http.NewResponseController(w).Flush()
			}
		}
	}))
	defer server.Close()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, server.URL, bytes.NewReader(nil))
	if err != nil {
		t.Fatal(err)
	}
	response, err := newHTTPClient(time.Minute, 50*time.Millisecond).Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	var timeout interface{ Timeout() bool }
	if _, err := io.ReadAll(response.Body); !errors.As(err, &timeout) || !timeout.Timeout() {
		t.Errorf("got %v, want a timeout", err)
	}
}
