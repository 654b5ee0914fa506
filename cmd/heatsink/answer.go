package main

import (
	"fmt"
	"io"
	"net/http"

	"github.com/aws/aws-sdk-go-v2/aws"

	"github.com/heatsink-go/heatsink/internal/figure"
)

// answerLimits bound how much of a response is read, so that no server at an endpoint can fill the memory.
type answerLimits struct {
	bytes  int64
	values int64 // of JSON, which take memory also where they are short; 0: they are not counted
}

// What servers answer at most. Compare the largest answers that there are.
var (
	// A page of DynamoDB, or of a stream, holds 1 MB. As JSON that is up to 16 MB and a million values.
	pageLimits = answerLimits{bytes: 32 << 20, values: 2_000_000}
	// A report of CloudWatch holds 100,000 points, 7 MB of CBOR.
	metricLimits = answerLimits{bytes: 8 << 20}
	// An engine lists up to 1000 keys for reads and for writes of a table and 20 indexes: 17 MB.
	heatLimits = answerLimits{bytes: 32 << 20, values: 1_000_000}
)

// limitedClient is an HTTP client that reads so much of an answer.
type limitedClient struct {
	aws.HTTPClient
	limits answerLimits
}

func (c limitedClient) Do(r *http.Request) (*http.Response, error) {
	response, err := c.HTTPClient.Do(r)
	if err == nil {
		c.limits.limit(response)
	}
	return response, err
}

// limit makes the body of an answer end with an error where it becomes too much.
func (l answerLimits) limit(response *http.Response) {
	body := &limitedBody{ReadCloser: response.Body, limits: l}
	if r := response.Request; r != nil {
		body.from = r.URL.Redacted()
	}
	response.Body = body
}

// limitedBody is the body of an answer, up to its limits.
type limitedBody struct {
	io.ReadCloser
	limits answerLimits
	from   string // a URL

	bytes, values   int64 // that were read
	quoted, escaped bool  // in a string, behind its backslash
}

func (b *limitedBody) Read(p []byte) (int, error) {
	if err := b.exceeded(); err != nil {
		return 0, err
	}
	n, err := b.ReadCloser.Read(p)
	b.bytes += int64(n)
	if b.limits.values > 0 {
		b.count(p[:n])
	}
	if tooMuch := b.exceeded(); tooMuch != nil {
		return 0, tooMuch
	}
	return n, err
}

// count counts where values of JSON begin, more or less: at brackets and commas.
func (b *limitedBody) count(text []byte) {
	for _, c := range text {
		switch {
		case b.escaped:
			b.escaped = false
		case c == '\\':
			b.escaped = b.quoted
		case c == '"':
			b.quoted = !b.quoted
		case !b.quoted && (c == ',' || c == '{' || c == '['):
			b.values++
		}
	}
}

func (b *limitedBody) exceeded() error {
	switch {
	case b.bytes > b.limits.bytes:
		return &oversized{b.from, fmt.Sprintf("%d MB", b.limits.bytes>>20)}
	case b.limits.values > 0 && b.values > b.limits.values:
		return &oversized{b.from, figure.Thousands(b.limits.values) + " values"}
	}
	return nil
}

// oversized is an answer that was not read to its end.
type oversized struct{ from, limit string }

func (e *oversized) Error() string {
	return fmt.Sprintf("the response of %s exceeds %s; DynamoDB never sends that much: check which server runs at this address", printable(e.from), e.limit)
}

// RetryableError spares the SDK's retries: the next answer will hardly be shorter.
func (e *oversized) RetryableError() bool { return false }
