package main

import (
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A browser gets the page, and everybody else what DynamoDB answers.
func TestServeAnswersBrowsers(t *testing.T) {
	t.Parallel()
	s := serve(t, "--physics")
	if status, kind, body := askFor(t, http.MethodGet, s.url+"/", "text/html,*/*"); status != 200 || !strings.HasPrefix(kind, "text/html") || !strings.Contains(body, "heat map") {
		t.Errorf("a browser gets %d %s %.100s", status, kind, body)
	}
	if _, _, body := askFor(t, http.MethodGet, s.url+"/", "*/*"); !strings.HasPrefix(body, "healthy: dynamodb.") {
		t.Errorf("curl gets %.100s", body)
	}
	if _, kind, body := askFor(t, http.MethodGet, s.url+"/export.html", "*/*"); !strings.HasPrefix(kind, "text/html") || !strings.Contains(body, `"whole":true`) {
		t.Errorf("the file is %s %.100s", kind, body)
	}
	plain := serve(t)
	if _, _, body := askFor(t, http.MethodGet, plain.url+"/", "text/html,*/*"); !strings.HasPrefix(body, "healthy: dynamodb.") {
		t.Errorf("without physics a browser gets %.100s", body)
	}
}

// What top saves has the keys that it saw, and hashes where they are hidden.
func TestTopSavesAPage(t *testing.T) {
	t.Parallel()
	url := serveHotKey(t)
	for _, hidden := range []bool{false, true} {
		file := filepath.Join(t.TempDir(), "page.html")
		args := []string{"top", "things", "--endpoint", url, "--last", "300ms", "--every", "100ms", "--save-page", file}
		if hidden {
			args = append(args, "--hash-keys", "secret")
		}
		if _, stderr, code := command(t, args...); code != 0 {
			t.Fatalf("exit %d: %s", code, stderr)
		}
		page, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if has := strings.Contains(string(page), "PAGE#viral"); has == hidden || !strings.Contains(string(page), "things writes") {
			t.Errorf("hidden %t: the page has the key: %t", hidden, has)
		}
	}
}

func TestPageRefusesWhatIsWrong(t *testing.T) {
	for args, want := range map[string]string{
		"top t --web 127.0.0.1:0 --json": "leave --json, --plain and --once out",
		"top t --save-page x.html":       "give --last, or --web",
		"demo --web 0.0.0.0:0":           "other machines could read the keys: set HEATSINK_PAGE_TOKEN",
		"demo --web nowhere":             "give a host and a port",
		"demo --web 127.0.0.1:99999":     "give a host and a port",
	} {
		if _, stderr, code := command(t, strings.Fields(args)...); code == 0 || !strings.Contains(stderr, want) {
			t.Errorf("%s: exit %d: %s", args, code, stderr)
		}
	}
}
