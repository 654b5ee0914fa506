package local

import (
	"context"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/heatsink-go/heatsink/internal/bubble"
)

// TestSignatures shows that the engine checks when requests were signed if it is told to, and only then.
func TestSignatures(t *testing.T) {
	for _, checks := range []bool{false, true} {
		bubble.Test(t, func(t *testing.T) {
			db, err := New(Options{Signatures: checks})
			if err != nil {
				t.Fatal(err)
			}
			defer func() { _ = db.Close() }()
			for _, by := range []time.Duration{0, 14 * time.Minute, 16 * time.Minute} {
				client := db.Client(func(o *dynamodb.Options) { o.HTTPClient = delayed{o.HTTPClient, by} })
				_, err := client.ListTables(context.Background(), &dynamodb.ListTablesInput{}, func(o *dynamodb.Options) { o.RetryMaxAttempts = 1 })
				refused := err != nil && strings.Contains(err.Error(), "Signature expired")
				if want := checks && by > 15*time.Minute; refused != want || err != nil && !refused {
					t.Errorf("Signatures %t, a request that arrives after %v: got %v", checks, by, err)
				}
			}
		})
	}
}

// delayed is an HTTP client whose requests arrive late.
type delayed struct {
	dynamodb.HTTPClient
	by time.Duration
}

func (d delayed) Do(r *http.Request) (*http.Response, error) {
	time.Sleep(d.by)
	return d.HTTPClient.Do(r)
}
