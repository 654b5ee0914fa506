package main

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// askAs sends a GET under another name and from a page, and returns status, header and body.
func askAs(t *testing.T, url, host, origin string) (int, http.Header, string) {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, nil)
	if err != nil {
		t.Fatal(err)
	}
	request.Host = host
	if origin != "" {
		request.Header.Set("Origin", origin)
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	return response.StatusCode, response.Header, string(body)
}

// Web pages get nothing from a server unless flags say so, whatever they ask for.
func TestServeKeepsPagesOut(t *testing.T) {
	t.Parallel()
	shut := serve(t, "--physics")
	open := serve(t, "--physics", "--allow-host", "dynamodb.test,db.test", "--allow-host", "third.test", "--cors", "http://localhost:3000/")
	verified := serve(t, "--access-key", testKey, "--secret-key", testSecret)
	strict := serve(t, "--access-key", testKey, "--secret-key", testSecret, "--allow-host", "dynamodb.test")
	for _, c := range []struct {
		name         string
		server       *served
		host, origin string
		want         string // "" if it is answered
	}{
		{"address", shut, "", "", ""},
		{"localhost", shut, "localhost:8000", "", ""},
		{"other name", shut, "dynamodb.test", "", "--allow-host dynamodb.test"},
		{"page", shut, "", "http://localhost:3000", "--cors http://localhost:3000"},
		{"allowed name", open, "dynamodb.test:8000", "", ""},
		{"next allowed name", open, "db.test", "", ""},
		{"allowed by another flag", open, "third.test", "", ""},
		{"name that is not allowed", open, "evil.example", "", "--allow-host evil.example"},
		{"allowed page", open, "", "http://localhost:3000", ""},
		{"page that is not allowed", open, "", "http://evil.example", "--cors http://evil.example"},
		{"any name, with credentials", verified, "dynamodb.test", "", ""},
		{"page, with credentials", verified, "", "http://evil.example", "--cors http://evil.example"},
		{"allowed name, with credentials", strict, "dynamodb.test", "", ""},
		{"other name, with credentials", strict, "evil.example", "", "--allow-host evil.example"},
	} {
		for _, path := range []string{"/", "/heat", "/partitions"} {
			status, header, body := askAs(t, c.server.url+path, c.host, c.origin)
			if refused := status == http.StatusForbidden; refused != (c.want != "") || refused && !strings.Contains(body, c.want) {
				t.Errorf("%s, %s: got %d %s, want %q", c.name, path, status, body, c.want)
			}
			if allowed := header.Get("Access-Control-Allow-Origin"); (c.name == "allowed page") != (allowed == "http://localhost:3000") {
				t.Errorf("%s, %s: pages of %q may read the answer", c.name, path, allowed)
			}
		}
	}
	if _, err := tables(t.Context(), client(shut.url, "local", "local")); err != nil {
		t.Error(err)
	}
}

// A name to listen on is a name to be called by.
func TestServeAnswersToItsAddress(t *testing.T) {
	found := http.HandlerFunc(func(http.ResponseWriter, *http.Request) {})
	for addr, want := range map[string]int{
		"db.test:8000": http.StatusOK, "127.0.0.1:8000": http.StatusForbidden, ":8000": http.StatusForbidden, "no such name:8000": http.StatusForbidden,
	} {
		guard, err := new(guardFlags).guard(addr, false)
		if err != nil {
			t.Fatal(err)
		}
		w := httptest.NewRecorder()
		guard.Handler(found).ServeHTTP(w, httptest.NewRequest(http.MethodGet, "http://db.test:8000/", nil))
		if w.Code != want {
			t.Errorf("--addr %s: got %d, want %d", addr, w.Code, want)
		}
	}
}

func TestServeGuardMistakes(t *testing.T) {
	t.Parallel()
	for args, want := range map[string]string{
		"--allow-host http://x":      "give the name alone",
		"--allow-host x:8000":        "leave the port out",
		"--allow-host *":             "give each host name",
		"--allow-host=":              `--allow-host "": want a host name`,
		"--allow-host a.test,":       `--allow-host "": want a host name`,
		"--cors localhost:3000":      "such as http://localhost:3000",
		"--cors null":                "every website can send the origin null",
		"--cors http://x.test/path":  "give http://x.test",
		"--cors=":                    `--cors "": want an origin, which is a scheme`,
		"--cors http://x.test,y.tes": `--cors "y.tes"`,
	} {
		stdout, stderr, code := command(t, append([]string{"serve", "--addr", "127.0.0.1:0"}, strings.Fields(args)...)...)
		if code != 2 || stdout != "" || !strings.Contains(stderr, want) {
			t.Errorf("%s: exit %d, stdout %q, stderr %q; want %q", args, code, stdout, stderr, want)
		}
	}
}
