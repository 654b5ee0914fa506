package wire

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

func corsGuard(t *testing.T, origins ...string) *Guard {
	t.Helper()
	guard, err := NewGuard(GuardOptions{Origins: origins})
	if err != nil {
		t.Fatal(err)
	}
	return guard
}

func preflightOf(origin string, headers map[string]string) *http.Request {
	r := httptest.NewRequest(http.MethodOptions, "http://localhost:8000/", nil)
	r.Header.Set("Origin", origin)
	r.Header.Set("Access-Control-Request-Method", "POST")
	for name, value := range headers {
		r.Header.Set(name, value)
	}
	return r
}

func wantHeaders(t *testing.T, got http.Header, want map[string]string) {
	t.Helper()
	for name, value := range want {
		if list := strings.Join(got.Values(name), ", "); list != value {
			t.Errorf("%s: got %q, want %q", name, list, value)
		}
	}
}

func TestPreflight(t *testing.T) {
	_, h := getStub(t, Options{Unsigned: true})
	const page, asked = "http://localhost:3000", "authorization,content-type,x-amz-target"
	w := do(corsGuard(t, "https://app.example", page).Handler(h), preflightOf(page, map[string]string{
		"Access-Control-Request-Headers": asked, "Access-Control-Request-Private-Network": "true",
	}))
	if w.Code != http.StatusNoContent || w.Body.Len() != 0 {
		t.Errorf("got %d %s", w.Code, w.Body)
	}
	wantHeaders(t, w.Header(), map[string]string{
		"Access-Control-Allow-Origin":          page,
		"Access-Control-Allow-Methods":         "GET, POST",
		"Access-Control-Allow-Headers":         asked,
		"Access-Control-Allow-Private-Network": "true",
		"Access-Control-Max-Age":               "7200",
		"Vary":                                 "Origin, Access-Control-Request-Headers",
	})

	w = do(corsGuard(t, "*").Handler(h), preflightOf("null", nil))
	if w.Code != http.StatusNoContent {
		t.Errorf("got %d %s", w.Code, w.Body)
	}
	wantHeaders(t, w.Header(), map[string]string{
		"Access-Control-Allow-Origin": "*", "Access-Control-Allow-Headers": "", "Access-Control-Allow-Private-Network": "",
	})

	for name, guard := range map[string]*Guard{"none": corsGuard(t), "another": corsGuard(t, "https://app.example")} {
		w = do(guard.Handler(h), preflightOf(page, nil))
		if w.Code != http.StatusForbidden || !strings.Contains(w.Body.String(), "--cors "+page) {
			t.Errorf("%s is allowed: got %d %s", name, w.Code, w.Body)
		}
		wantHeaders(t, w.Header(), map[string]string{"Access-Control-Allow-Origin": "", "Access-Control-Allow-Methods": ""})
	}
}

// A page that may ask may read the answer, also an error, and what the SDKs look at in its head.
func TestAnswersToPages(t *testing.T) {
	_, h := getStub(t, Options{Unsigned: true})
	for _, c := range []struct {
		name, allowed, origin, target string
		status                        int
		allow, expose, vary           string
	}{
		{"listed", "https://app.example", "https://app.example", "GetItem", 200, "https://app.example", corsExposed, "Origin"},
		{"listed, error", "https://app.example", "https://app.example", "Nothing", 400, "https://app.example", corsExposed, "Origin"},
		{"listed, no page", "https://app.example", "", "GetItem", 200, "", "", "Origin"},
		{"all", "*", "https://any.example", "GetItem", 200, "*", corsExposed, ""},
		{"all, no page", "*", "", "GetItem", 200, "", "", ""},
	} {
		r := post(dynamoDB+c.target, getBody)
		r.Host = "localhost:8000"
		if c.origin != "" {
			r.Header.Set("Origin", c.origin)
		}
		w := do(corsGuard(t, c.allowed).Handler(h), r)
		if w.Code != c.status {
			t.Errorf("%s: got %d %s", c.name, w.Code, w.Body)
		}
		wantHeaders(t, w.Header(), map[string]string{
			"Access-Control-Allow-Origin": c.allow, "Access-Control-Expose-Headers": c.expose, "Vary": c.vary,
		})
	}
}
