package wholebody_test

import (
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/aws/aws-sdk-go-v2/aws"

	"github.com/heatsink-go/heatsink/internal/wholebody"
)

// sender is a client that answers by a function.
type sender func(*http.Request) (*http.Response, error)

func (s sender) Do(r *http.Request) (*http.Response, error) { return s(r) }

var _ aws.HTTPClient = wholebody.Client{}

// watched is a body that knows whether it is over.
type watched struct {
	io.Reader
	ended, closed bool
}

func (w *watched) Read(p []byte) (int, error) {
	if w.closed {
		return 0, errors.New("read after close")
	}
	n, err := w.Reader.Read(p)
	w.ended = w.ended || errors.Is(err, io.EOF)
	return n, err
}

func (w *watched) Close() error {
	w.closed = true
	return nil
}

// What is sent does not depend on when the SDK closes its body.
func TestBodiesAreReadBeforeTheyAreSent(t *testing.T) {
	const text = "a body in small pieces"
	body := &watched{Reader: iotest.OneByteReader(strings.NewReader(text))}
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "http://localhost", body)
	if err != nil {
		t.Fatal(err)
	}
	c := wholebody.Client{HTTPClient: sender(func(r *http.Request) (*http.Response, error) {
		if !body.ended {
			t.Error("it is sent before its body was read")
		}
		_ = body.Close() // as the SDK does, at any time
		got, err := io.ReadAll(r.Body)
		if err != nil || string(got) != text {
			t.Errorf("got %q, %v, want %q", got, err, text)
		}
		return &http.Response{StatusCode: http.StatusTeapot}, nil
	})}
	if res, err := c.Do(r); err != nil || res.StatusCode != http.StatusTeapot {
		t.Errorf("got %v, %v", res, err)
	}
}

func TestRequestsWithoutBody(t *testing.T) {
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://localhost", nil)
	if err != nil {
		t.Fatal(err)
	}
	c := wholebody.Client{HTTPClient: sender(func(r *http.Request) (*http.Response, error) {
		if r.Body != nil {
			t.Errorf("it has a body, %v", r.Body)
		}
		return &http.Response{StatusCode: http.StatusTeapot}, nil
	})}
	if res, err := c.Do(r); err != nil || res.StatusCode != http.StatusTeapot {
		t.Errorf("got %v, %v", res, err)
	}
}

func TestBodiesThatCannotBeRead(t *testing.T) {
	broken := errors.New("disk on fire")
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "http://localhost", iotest.ErrReader(broken))
	if err != nil {
		t.Fatal(err)
	}
	c := wholebody.Client{HTTPClient: sender(func(*http.Request) (*http.Response, error) {
		t.Error("it was sent")
		return nil, nil
	})}
	if _, err := c.Do(r); !errors.Is(err, broken) {
		t.Errorf("got %v, want %v", err, broken)
	}
}
