package wire

import (
	"net/http"
	"testing"
)

// Which attempt it is follows from what the SDKs send, and is the first of anybody else.
func TestAttemptOf(t *testing.T) {
	for header, want := range map[string]int{
		"": 1, "attempt=1; max=3": 1, "attempt=2; max=3": 2, "attempt=12": 12, "ttl=20261118T000000Z; attempt=2; max=3": 2, "attempt=x; max=3": 1,
	} {
		r := &http.Request{Header: http.Header{}}
		if header != "" {
			r.Header.Set("Amz-Sdk-Request", header)
		}
		if got := attemptOf(r); got != want {
			t.Errorf("%q: got %d, want %d", header, got, want)
		}
	}
}
