package local_test

import (
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/heatsink-go/heatsink/local"
)

// A port that a test opens answers clients, and no web page that happens to be open beside it.
func TestHandlerKeepsPagesOut(t *testing.T) {
	db := local.Start(t)
	server := httptest.NewServer(db.Handler())
	defer server.Close()
	overPort := db.Client(func(o *dynamodb.Options) { o.BaseEndpoint, o.HTTPClient = aws.String(server.URL), server.Client() })
	for name, c := range map[string]*dynamodb.Client{"in process": db.Client(), "over a port": overPort} {
		if _, err := c.ListTables(t.Context(), &dynamodb.ListTablesInput{}); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	for _, c := range []struct {
		name, path, host, origin string
		status                   int
	}{
		{"client", "/", "", "", http.StatusOK},
		{"rebound", "/", "evil.example", "", http.StatusForbidden},
		{"the clients' own name", "/", "dynamodb.local.heatsink", "", http.StatusOK},
		{"page", "/", "", "http://evil.example", http.StatusForbidden},
		{"page, metrics", "/service/GraniteServiceVersion20100801/operation/GetMetricData", "", "null", http.StatusForbidden},
	} {
		r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, server.URL+c.path, nil)
		if err != nil {
			t.Fatal(err)
		}
		r.Host = c.host
		if c.origin != "" {
			r.Header.Set("Origin", c.origin)
		}
		response, err := server.Client().Do(r)
		if err != nil {
			t.Fatal(err)
		}
		response.Body.Close()
		if response.StatusCode != c.status {
			t.Errorf("%s: got %s, want %d", c.name, response.Status, c.status)
		}
	}
}
