package wire

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/heatsink-go/heatsink/internal/engine"
	"github.com/heatsink-go/heatsink/internal/partition"
	"github.com/heatsink-go/heatsink/local/partitions"
)

// heated returns the handler on an engine that has tables with some traffic, each
// with an index.
func heated(t *testing.T, physics *partition.Options, tables ...string) http.Handler {
	t.Helper()
	e, err := engine.Open(engine.Options{Physics: physics})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := e.Close(); err != nil {
			t.Error(err)
		}
	})
	operations := NewHandler(e, Options{Unsigned: true})
	for _, name := range tables {
		for _, r := range []struct{ operation, body string }{
			{"CreateTable", `{"TableName":"` + name + `","BillingMode":"PAY_PER_REQUEST","KeySchema":[{"AttributeName":"pk","KeyType":"HASH"}],
				"AttributeDefinitions":[{"AttributeName":"pk","AttributeType":"S"},{"AttributeName":"kind","AttributeType":"S"}],
				"GlobalSecondaryIndexes":[{"IndexName":"by-kind","KeySchema":[{"AttributeName":"kind","KeyType":"HASH"}],"Projection":{"ProjectionType":"KEYS_ONLY"}}]}`},
			{"PutItem", `{"TableName":"` + name + `","Item":{"pk":{"S":"a"},"kind":{"S":"b"}}}`},
		} {
			if w := do(operations, post(dynamoDB+r.operation, r.body)); w.Code != http.StatusOK {
				t.Fatalf("%s: %d %s", r.operation, w.Code, w.Body)
			}
		}
	}
	return NewPartitionsHandler(e)
}

func askPartitions(h http.Handler, query string) *httptest.ResponseRecorder {
	return do(h, httptest.NewRequest(http.MethodGet, PartitionsPath+query, nil))
}

func TestPartitionsAnswer(t *testing.T) {
	h := heated(t, &partition.Options{OnDemandPartitions: 3}, "orders", "users")
	for query, want := range map[string]string{
		"":                      "orders orders/by-kind users users/by-kind",
		"?last=5m":              "orders orders/by-kind users users/by-kind",
		"?table=users":          "users users/by-kind",
		"?table=orders&last=1h": "orders orders/by-kind",
	} {
		w := askPartitions(h, query)
		if w.Code != http.StatusOK || w.Header().Get("Content-Type") != "application/json" {
			t.Fatalf("%q: got %d, %s", query, w.Code, w.Header())
		}
		var heat []partitions.Heat
		if err := json.Unmarshal(w.Body.Bytes(), &heat); err != nil {
			t.Fatal(err)
		}
		var names []string
		for _, x := range heat {
			names = append(names, strings.TrimSuffix(x.Table+"/"+x.Index, "/"))
			units, consumed := 0.0, 0.0
			for _, p := range x.Partitions {
				for _, s := range p.Seconds {
					units += s.WriteUnits
				}
			}
			for _, m := range x.Minutes {
				consumed += m.Metrics["ConsumedWriteCapacityUnits"]
			}
			if len(x.Partitions) != 3 || units != 1 || consumed != 1 {
				t.Errorf("%q: %s%s has %d partitions that served %v units, %v by the minute; want 3, 1 and 1",
					query, x.Table, x.Index, len(x.Partitions), units, consumed)
			}
		}
		if got := strings.Join(names, " "); got != want {
			t.Errorf("%q: got %s, want %s", query, got, want)
		}
	}
}

// What there is none of is an empty list, never null.
func TestPartitionsAnswerHasNoNull(t *testing.T) {
	for name, h := range map[string]http.Handler{
		"a table":         heated(t, &partition.Options{}, "orders"),
		"no table":        heated(t, &partition.Options{}),
		"without physics": heated(t, nil, "orders"),
	} {
		w := askPartitions(h, "")
		if body := w.Body.String(); w.Code != http.StatusOK || !strings.HasPrefix(body, "[") || strings.Contains(body, "null") {
			t.Errorf("%s: got %d %s", name, w.Code, body)
		}
	}
}

func TestPartitionsMistakes(t *testing.T) {
	h := heated(t, &partition.Options{}, "orders")
	for _, c := range []struct {
		query  string
		status int
		want   string
	}{
		{"?table=ghost", http.StatusNotFound, "ghost"},
		{"?last=soon", http.StatusBadRequest, "soon"},
		{"?last=5", http.StatusBadRequest, "such as 5m"},
		{"?last=-5m", http.StatusBadRequest, "-5m"},
		{"?last=0s", http.StatusBadRequest, "0s"},
	} {
		if w := askPartitions(h, c.query); w.Code != c.status || !strings.Contains(w.Body.String(), c.want) {
			t.Errorf("%s: got %d %s, want %d and %q", c.query, w.Code, w.Body, c.status, c.want)
		}
	}
	for _, method := range []string{http.MethodPost, http.MethodPut, http.MethodDelete} {
		w := do(h, httptest.NewRequest(method, PartitionsPath, nil))
		if w.Code != http.StatusMethodNotAllowed || w.Header().Get("Allow") != http.MethodGet {
			t.Errorf("%s: got %d, Allow: %s", method, w.Code, w.Header().Get("Allow"))
		}
	}
}
