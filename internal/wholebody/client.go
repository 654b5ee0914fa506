// Package wholebody sends the AWS SDK's requests in one piece.
//
// The SDK closes a request's body as soon as the answer comes. If net/http has not
// yet read that body to its end, it takes the close for a failure and closes the
// connection on the rest of the answer (aws-sdk-go-v2, issue 2737). Servers on the
// same machine answer fast enough for that.
package wholebody

import (
	"bytes"
	"io"
	"net/http"

	"github.com/aws/aws-sdk-go-v2/aws"
)

// Client is an HTTP client for the SDK that has a request's body in memory before
// another client sends it.
type Client struct {
	aws.HTTPClient // sends the requests; required
}

// Do sends a request. If its body cannot be read, that is the error, and nothing is
// sent. It takes as much memory as the body is long.
func (c Client) Do(r *http.Request) (*http.Response, error) {
	if r.Body == nil {
		return c.HTTPClient.Do(r)
	}
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return nil, err
	}
	r.Body = io.NopCloser(bytes.NewReader(body))
	return c.HTTPClient.Do(r)
}
