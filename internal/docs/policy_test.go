package docs

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
)

// The policy of the guide allows what heatsink audit sends, and nothing else.
func TestAuditPolicy(t *testing.T) {
	dir := binaries(t)
	guide := pageOf(t, "docs/guide.md")
	address := serve(t, dir, guide)
	shardedOrders(t, clientOf(address))
	var mu sync.Mutex
	var sent []string
	proxy := httputil.NewSingleHostReverseProxy(&url.URL{Scheme: "http", Host: address})
	front := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		sent = append(sent, action(r))
		mu.Unlock()
		proxy.ServeHTTP(w, r)
	}))
	defer front.Close()
	audit := exec.CommandContext(t.Context(), filepath.Join(dir, "heatsink"), "audit", "orders", "--cloudwatch", "--scan", "--stream", "--from-start", "--endpoint", front.URL)
	audit.Env = append(os.Environ(), "AWS_REGION=us-east-1", "AWS_ACCESS_KEY_ID=local", "AWS_SECRET_ACCESS_KEY=local")
	if out, err := audit.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	mu.Lock()
	defer mu.Unlock()
	sent = slices.DeleteFunc(sent, func(s string) bool { return s == "GET /heat" }) // asks whether the endpoint is a local engine: never of AWS
	slices.Sort(sent)
	if sent, allowed := slices.Compact(sent), allowed(t, guide); !slices.Equal(sent, allowed) {
		t.Errorf("the audit sends %q, and the policy allows %q", sent, allowed)
	}
}

// action returns the action of IAM that a request needs.
func action(r *http.Request) string {
	if target := r.Header.Get("X-Amz-Target"); target != "" {
		_, operation, _ := strings.Cut(target, ".")
		return "dynamodb:" + operation
	}
	if strings.Contains(r.URL.Path, "/operation/") { // as CloudWatch's client has it
		return "cloudwatch:" + path.Base(r.URL.Path)
	}
	return r.Method + " " + r.URL.Path
}

// allowed returns the actions of the first policy of a page, in order.
func allowed(t *testing.T, p page) []string {
	t.Helper()
	i := slices.IndexFunc(p.blocks, func(b block) bool { return b.lang == "json" })
	if i < 0 {
		t.Fatal(p.path, "has no policy")
	}
	var policy struct {
		Statement []struct{ Action any }
	}
	if err := json.Unmarshal([]byte(p.blocks[i].text), &policy); err != nil {
		t.Fatal(err)
	}
	var all []string
	for _, s := range policy.Statement {
		switch action := s.Action.(type) {
		case string:
			all = append(all, action)
		case []any:
			for _, a := range action {
				all = append(all, a.(string))
			}
		}
	}
	slices.Sort(all)
	return all
}
