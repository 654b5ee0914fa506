package wire

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

func TestParseOrigin(t *testing.T) {
	for text, want := range map[string]string{
		"http://localhost:3000":     "http://localhost:3000",
		"http://localhost:3000/":    "http://localhost:3000",
		"HTTPS://App.Example":       "https://app.example",
		"https://app.example:443":   "https://app.example",
		"http://app.example:80":     "http://app.example",
		"https://app.example:80":    "https://app.example:80",
		"http://[::1]:80":           "http://[::1]",
		"http://[::1]:3000":         "http://[::1]:3000",
		"http://app.example:":       "http://app.example",
		"capacitor://localhost":     "capacitor://localhost",
		"":                          "",
		"null":                      "",
		"localhost:3000":            "",
		"app.example":               "",
		"http://":                   "",
		"http://*.example":          "",
		"http://a b":                "",
		"http://app.example/path":   "",
		"http://app.example?x":      "",
		"http://app.example#x":      "",
		"http://me:pw@app.example/": "",
		"http://app.example:port":   "",
	} {
		switch got, err := parseOrigin(text); {
		case want == "" && err == nil:
			t.Errorf("%q: got %q, want an error", text, got)
		case got != want:
			t.Errorf("%q: got %q, %v; want %q", text, got, err, want)
		}
	}
	if _, err := newOrigins([]string{"x", "null", "*"}); err == nil || !strings.Contains(err.Error(), `--cors "x"`) || !strings.Contains(err.Error(), `--cors "null"`) {
		t.Errorf("got %v, want both named", err)
	}
}

func TestOrigins(t *testing.T) {
	none, _ := newOrigins(nil)
	one, _ := newOrigins([]string{"http://localhost:3000"})
	all, _ := newOrigins([]string{"*"})
	const site, mode, dest = "Sec-Fetch-Site", "Sec-Fetch-Mode", "Sec-Fetch-Dest"
	for _, c := range []struct {
		name           string
		method         string
		header         http.Header
		none, one, all bool
	}{
		{"no page", "POST", http.Header{}, true, true, true},
		{"foreign", "POST", http.Header{"Origin": {"http://evil.example"}}, false, false, true},
		{"opaque", "POST", http.Header{"Origin": {"null"}}, false, false, true},
		{"empty", "POST", http.Header{"Origin": {""}}, false, false, true},
		{"listed", "POST", http.Header{"Origin": {"http://localhost:3000"}}, false, true, true},
		{"listed, across sites", "POST", http.Header{"Origin": {"http://localhost:3000"}, site: {"cross-site"}}, false, true, true},
		{"longer", "POST", http.Header{"Origin": {"http://localhost:30000"}}, false, false, true},
		{"other scheme", "POST", http.Header{"Origin": {"https://localhost:3000"}}, false, false, true},
		{"two", "POST", http.Header{"Origin": {"http://localhost:3000", "http://evil.example"}}, false, false, false},
		{"own", "POST", http.Header{"Origin": {"http://127.0.0.1:8000"}}, true, true, true},
		{"own, behind TLS", "POST", http.Header{"Origin": {"https://127.0.0.1:8000"}}, true, true, true},
		{"own, other port", "POST", http.Header{"Origin": {"http://127.0.0.1:3000"}}, false, false, true},
		{"own, other scheme", "POST", http.Header{"Origin": {"evil://127.0.0.1:8000"}}, false, false, true},
		{"image", "GET", http.Header{site: {"cross-site"}, mode: {"no-cors"}, dest: {"image"}}, false, false, true},
		{"image of a neighbour", "GET", http.Header{site: {"same-site"}, mode: {"no-cors"}, dest: {"image"}}, false, false, true},
		{"frame", "GET", http.Header{site: {"cross-site"}, mode: {"navigate"}, dest: {"iframe"}}, false, false, true},
		{"unknown site", "GET", http.Header{site: {"elsewhere"}}, false, false, true},
		{"link", "GET", http.Header{site: {"cross-site"}, mode: {"navigate"}, dest: {"document"}}, true, true, true},
		{"form", "POST", http.Header{site: {"cross-site"}, mode: {"navigate"}, dest: {"document"}}, false, false, true},
		{"typed", "GET", http.Header{site: {"none"}, mode: {"navigate"}, dest: {"document"}}, true, true, true},
		{"own page", "GET", http.Header{site: {"same-origin"}, mode: {"cors"}}, true, true, true},
	} {
		r := httptest.NewRequest(c.method, "http://127.0.0.1:8000/heat", nil)
		r.Header = c.header
		for _, o := range []struct {
			name    string
			origins *origins
			want    bool
		}{{"none", &none, c.none}, {"one", &one, c.one}, {"all", &all, c.all}} {
			if _, got := o.origins.allow(r); got != o.want {
				t.Errorf("%s, %s listed: got %v, want %v", c.name, o.name, got, o.want)
			}
		}
	}
}
