package counter

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/heatsink-go/heatsink"
	"github.com/heatsink-go/heatsink/layout"
	"github.com/heatsink-go/heatsink/local"
)

// network is an engine with physics behind a network that is as bad as can be: requests are refused, lost on the way,
// lost on the way back, delayed, or carried out long after their senders have given up.
type network struct {
	url     string // through the network
	direct  *dynamodb.Client
	handler http.Handler

	// The requests that are carried out late. A WaitGroup would not do: nothing orders their start and the wait for them.
	mu   sync.Mutex
	late int
	idle sync.Cond

	requests, refused, lostBefore, lostAfter, delayed atomic.Int64
}

func newNetwork(t *testing.T) *network {
	t.Helper()
	db, err := local.New(local.Options{Physics: &local.Physics{}})
	if err != nil {
		t.Fatal(err)
	}
	n := &network{direct: db.Client(), handler: db.Handler()}
	n.idle.L = &n.mu
	if err := Setup(t.Context(), n.direct, Options{Table: "counters"}); err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(n)
	n.url = server.URL
	t.Cleanup(func() {
		server.Close()
		n.wait()
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	})
	return n
}

func (n *network) String() string {
	return fmt.Sprintf("%d requests %d were throttled, %d lost, %d lost on the way back, %d carried out late",
		n.requests.Load(), n.refused.Load(), n.lostBefore.Load(), n.lostAfter.Load(), n.delayed.Load())
}

// ServeHTTP treats one request in six badly.
func (n *network) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return // the sender was killed
	}
	n.requests.Add(1)
	switch luck := rand.IntN(100); {
	case luck < 5:
		n.refused.Add(1)
		w.Header().Set("Content-Type", "application/x-amz-json-1.0")
		w.WriteHeader(http.StatusBadRequest)
		_, _ = io.WriteString(w, `{"__type":"com.amazonaws.dynamodb.v20120810#ProvisionedThroughputExceededException","message":"too fast"}`)
	case luck < 8:
		n.lostBefore.Add(1)
		panic(http.ErrAbortHandler)
	case luck < 13:
		n.lostAfter.Add(1)
		n.do(r, body)
		panic(http.ErrAbortHandler)
	case luck < 16:
		n.delayed.Add(1)
		n.later(1)
		go func() {
			defer n.later(-1)
			time.Sleep(rand.N(800 * time.Millisecond))
			n.do(r, body)
		}()
		panic(http.ErrAbortHandler)
	default:
		time.Sleep(rand.N(5 * time.Millisecond))
		answer := n.do(r, body)
		maps.Copy(w.Header(), answer.Header())
		w.WriteHeader(answer.Code)
		_, _ = w.Write(answer.Body.Bytes())
	}
}

func (n *network) later(requests int) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.late += requests
	n.idle.Broadcast()
}

// wait waits until no request is late any more.
func (n *network) wait() {
	n.mu.Lock()
	defer n.mu.Unlock()
	for n.late > 0 {
		n.idle.Wait()
	}
}

// do carries a request out, whatever became of its sender.
func (n *network) do(r *http.Request, body []byte) *httptest.ResponseRecorder {
	again := r.Clone(context.WithoutCancel(r.Context()))
	again.Body = io.NopCloser(bytes.NewReader(body))
	answer := httptest.NewRecorder()
	n.handler.ServeHTTP(answer, again)
	return answer
}

// The documents' counter, ADD on a random shard with the SDK's own retries, through the same network: it counts
// increments twice whose answer is lost, and reports failures that were counted.
func TestDocumentedCounterMiscounts(t *testing.T) {
	t.Parallel()
	network := newNetwork(t)
	client := clientOf(network.url) // with the SDK's retryer
	const workers, each = 160, 3
	var acknowledged, failed atomic.Int64
	var all sync.WaitGroup
	for range workers {
		all.Go(func() {
			for range each {
				_, err := client.UpdateItem(t.Context(), &dynamodb.UpdateItemInput{
					TableName:                 aws.String("counters"),
					Key:                       heatsink.Item{"pk": text(fmt.Sprintf("COUNTER#VIEWS#SHARD#%d", rand.IntN(10))), "sk": text("COUNT")},
					UpdateExpression:          aws.String("ADD #count :one"),
					ExpressionAttributeNames:  map[string]string{"#count": "count"},
					ExpressionAttributeValues: map[string]types.AttributeValue{":one": &types.AttributeValueMemberN{Value: "1"}},
				})
				if err == nil {
					acknowledged.Add(1)
				} else {
					failed.Add(1)
				}
			}
		})
	}
	all.Wait()
	network.wait()
	tally := openTally(t, network.direct, TallyOptions{Table: "counters", SortKey: "sk", Format: layout.SharpNumber()})
	total, err := tally.Total(t.Context(), "COUNTER#VIEWS")
	if err != nil {
		t.Fatal(err)
	}
	over := total - acknowledged.Load()
	t.Logf("%d increments, %d acknowledged, %d failed, %d counted: %+.1f%%; of %s",
		workers*each, acknowledged.Load(), failed.Load(), total, 100*float64(over)/float64(acknowledged.Load()), network)
	if over <= 0 {
		t.Errorf("%d counted of %d acknowledged: nothing went wrong, so nothing is shown", total, acknowledged.Load())
	}
}
