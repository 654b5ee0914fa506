package lease

import (
	"context"
	"errors"
	"net/http"
	"sync/atomic"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/heatsink-go/heatsink/internal/bubble"
	"github.com/heatsink-go/heatsink/local"
)

func probe(t *testing.T, c Getter, table string) (bool, error) {
	t.Helper()
	return Probe(t.Context(), c, &dynamodb.GetItemInput{TableName: aws.String(table), Key: key})
}

func TestProbe(t *testing.T) {
	checks, _ := start(t)
	if checked, err := probe(t, checks, "items"); err != nil || !checked {
		t.Errorf("a server that checks signatures: got %v, %v", checked, err)
	}

	db := local.Start(t)
	if err := db.CreateTable(t.Context(), "items", "pk"); err != nil {
		t.Fatal(err)
	}
	if checked, err := probe(t, db.Client(), "items"); err != nil || checked {
		t.Errorf("a server that does not: got %v, %v", checked, err)
	}
	if checked, err := probe(t, db.Client(), "elsewhere"); !errors.As(err, new(*types.ResourceNotFoundException)) || checked {
		t.Errorf("a table that is not there: got %v, %v", checked, err)
	}
	unsigned := db.Client(func(o *dynamodb.Options) { o.HTTPSignerV4 = unsigned{} })
	if checked, err := probe(t, unsigned, "items"); !errors.Is(err, ErrUnsigned) || checked {
		t.Errorf("a client that does not sign: got %v, %v", checked, err)
	}
}

// deaf passes on the options of the first request, and of others only those that note signatures.
type deaf struct {
	*dynamodb.Client
	sent int
}

func (d *deaf) GetItem(ctx context.Context, in *dynamodb.GetItemInput, options ...func(*dynamodb.Options)) (*dynamodb.GetItemOutput, error) {
	if d.sent++; d.sent > 1 {
		options = options[1:]
	}
	return d.Client.GetItem(ctx, in, options...)
}

// A request that is not signed as it should be shows nothing about the server.
func TestProbeOfADeafClient(t *testing.T) {
	c, _ := start(t)
	if checked, err := probe(t, &deaf{Client: c}, "items"); !errors.Is(err, ErrUnsigned) || checked {
		t.Errorf("got %v, %v, want ErrUnsigned", checked, err)
	}
}

// A refusal for another reason is no proof.
func TestProbeRefusedOtherwise(t *testing.T) {
	c, way := start(t)
	way.handler = &second{Handler: way.handler, code: "ResourceNotFoundException"}
	if checked, err := probe(t, c, "items"); err == nil || checked {
		t.Errorf("got %v, %v, want the refusal", checked, err)
	}
	c, way = start(t)
	way.handler = &second{Handler: way.handler, code: "InvalidSignatureException"} // without a word about the time
	if checked, err := probe(t, c, "items"); err == nil || checked {
		t.Errorf("got %v, %v, want the refusal", checked, err)
	}
}

// A request that carries a time is signed at that time, or within the minute after it.
func TestNear(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		c, way := start(t)
		time.Sleep(300 * time.Millisecond)
		for _, x := range []struct {
			ago  time.Duration
			sent bool
		}{{0, true}, {Slack, true}, {Slack + time.Second, false}, {-time.Second, false}, {-time.Hour, false}} {
			sent := way.sent
			err := put(t, c, Near(time.Now().Add(-x.ago)))
			if (err == nil) != x.sent || err != nil && !errors.Is(err, ErrOff) || (way.sent > sent) != x.sent {
				t.Errorf("%v ago: got %v and %d requests, want it sent: %v", x.ago, err, way.sent-sent, x.sent)
			}
		}
	})
}

// second answers all requests but the first with an error.
type second struct {
	http.Handler
	code   string
	passed atomic.Bool
}

func (s *second) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if s.passed.Swap(true) {
		w.WriteHeader(http.StatusBadRequest)
		_, _ = w.Write([]byte(`{"__type":"com.amazonaws.dynamodb.v20120810#` + s.code + `","message":"no"}`))
		return
	}
	s.Handler.ServeHTTP(w, r)
}
