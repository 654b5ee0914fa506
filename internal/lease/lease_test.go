package lease

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	v4 "github.com/aws/aws-sdk-go-v2/aws/signer/v4"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/heatsink-go/heatsink/internal/bubble"
	"github.com/heatsink-go/heatsink/internal/dispatch"
	"github.com/heatsink-go/heatsink/internal/engine"
	"github.com/heatsink-go/heatsink/internal/wire"
)

// late sends requests to a handler that checks signatures, each after a while.
type late struct {
	handler http.Handler
	after   time.Duration
	sent    int
}

func (l *late) Do(r *http.Request) (*http.Response, error) {
	l.sent++
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return nil, err
	}
	time.Sleep(l.after)
	in := httptest.NewRequest(r.Method, r.URL.String(), bytes.NewReader(body))
	in.Header, in.Host = r.Header, r.URL.Host
	out := httptest.NewRecorder()
	l.handler.ServeHTTP(out, in)
	return out.Result(), nil
}

var credentials = aws.CredentialsProviderFunc(func(context.Context) (aws.Credentials, error) {
	return aws.Credentials{AccessKeyID: "key", SecretAccessKey: "secret"}, nil
})

// start returns a client of an engine that checks signatures.
func start(t *testing.T) (*dynamodb.Client, *late) {
	t.Helper()
	e, err := engine.Open(engine.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = e.Close() })
	way := &late{handler: wire.NewHandler(e, wire.Options{Credentials: &wire.Credentials{AccessKeyID: "key", SecretAccessKey: "secret"}})}
	client := dynamodb.New(dynamodb.Options{
		BaseEndpoint: aws.String("http://localhost"), Region: "eu-west-1", HTTPClient: way,
		Credentials: credentials,
	})
	_, err = client.CreateTable(t.Context(), &dynamodb.CreateTableInput{
		TableName: aws.String("items"), BillingMode: types.BillingModePayPerRequest,
		AttributeDefinitions: []types.AttributeDefinition{{AttributeName: aws.String("pk"), AttributeType: "S"}},
		KeySchema:            []types.KeySchemaElement{{AttributeName: aws.String("pk"), KeyType: "HASH"}},
	})
	if err != nil {
		t.Fatal(err)
	}
	return client, way
}

var key = map[string]types.AttributeValue{"pk": &types.AttributeValueMemberS{Value: "k"}}

func get(t *testing.T, c *dynamodb.Client, options ...func(*dynamodb.Options)) error {
	t.Helper()
	_, err := c.GetItem(t.Context(), &dynamodb.GetItemInput{TableName: aws.String("items"), Key: key}, append(options, dispatch.Once)...)
	return err
}

func put(t *testing.T, c *dynamodb.Client, options ...func(*dynamodb.Options)) error {
	t.Helper()
	_, err := c.PutItem(t.Context(), &dynamodb.PutItemInput{TableName: aws.String("items"), Item: key}, append(options, dispatch.Once)...)
	return err
}

// Requests are sent as long as the lease runs, and not a second longer.
func TestLease(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		c, way := start(t)
		var read Stamp
		if err := get(t, c, read.Note); err != nil {
			t.Fatal(err)
		}
		lease, err := New(&read)
		if err != nil {
			t.Fatal(err)
		}
		time.Sleep(Term)
		if err := put(t, c, lease.Bind); err != nil || lease.Over(time.Now()) {
			t.Errorf("got %v, and over %v, within the lease", err, lease.Over(time.Now()))
		}
		time.Sleep(time.Second)
		sent := way.sent
		err = put(t, c, lease.Bind)
		if !errors.Is(err, ErrOver) || dispatch.Judge(err) != dispatch.NotSent || way.sent != sent || !lease.Over(time.Now()) {
			t.Errorf("got %v, which is %v, and %d requests, want ErrOver and none", err, dispatch.Judge(err), way.sent-sent)
		}
	})
}

// A process that stops between the signature and the server is refused there. So nothing that was built on what a lease is for
// takes effect after Wait, even if all that is allowed to be late is.
func TestLateRequestsExpire(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		c, way := start(t)
		var read Stamp
		if err := get(t, c, read.Note); err != nil {
			t.Fatal(err)
		}
		changed := time.Now() // the read was just before
		lease, err := New(&read)
		if err != nil {
			t.Fatal(err)
		}
		time.Sleep(Term)
		way.after = Lateness
		if err := put(t, c, lease.Bind); err != nil || time.Since(changed) > Wait {
			t.Errorf("got %v after %v, want the last moment to be good", err, time.Since(changed))
		}
		way.after = Lateness + 2*time.Second
		if err := put(t, c); err == nil || !strings.Contains(err.Error(), "Signature expired") {
			t.Errorf("got %v for a request that was on its way for %v, want it refused", err, way.after)
		}
	})
}

// A second attempt is signed anew, and the lease counts from the first.
func TestLeaseCountsFromTheFirstSignature(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		c, _ := start(t)
		var read Stamp
		if _, err := read.Time(); !errors.Is(err, ErrUnsigned) {
			t.Errorf("got %v before the request, want ErrUnsigned", err)
		}
		if err := get(t, c, read.Note); err != nil {
			t.Fatal(err)
		}
		first, err := read.Time()
		if err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Hour)
		if err := get(t, c, read.Note); err != nil {
			t.Fatal(err)
		}
		if again, _ := read.Time(); !again.Equal(first) {
			t.Errorf("the stamp went from %v to %v", first, again)
		}
	})
}

// unsigned signs nothing.
type unsigned struct{}

func (unsigned) SignHTTP(context.Context, aws.Credentials, *http.Request, string, string, string, time.Time, ...func(*v4.SignerOptions)) error {
	return nil
}

// A client that does not sign is noticed, and nothing is sent.
func TestUnsigned(t *testing.T) {
	way := &late{}
	c := dynamodb.New(dynamodb.Options{
		BaseEndpoint: aws.String("http://localhost"), Region: "eu-west-1", HTTPClient: way, HTTPSignerV4: unsigned{}, Credentials: credentials,
	})
	var read Stamp
	if err := get(t, c, read.Note); !errors.Is(err, ErrUnsigned) || way.sent != 0 {
		t.Errorf("got %v and %d requests, want ErrUnsigned and none", err, way.sent)
	}
	if _, err := New(&read); !errors.Is(err, ErrUnsigned) {
		t.Errorf("got %v, want ErrUnsigned", err)
	}
	if err := put(t, c, Lease{time.Now().Add(Term)}.Bind); !errors.Is(err, ErrUnsigned) || way.sent != 0 {
		t.Errorf("got %v and %d requests, want ErrUnsigned and none", err, way.sent)
	}
}

// A request that is built on two reads has the lease that ends first.
func TestEarlier(t *testing.T) {
	first, second := Lease{time.Unix(10, 0)}, Lease{time.Unix(20, 0)}
	if first.Earlier(second) != first || second.Earlier(first) != first || first.Earlier(first) != first {
		t.Error("want the lease that ends first")
	}
}

// The wait is longer than the worst chain of signatures. The change is noted Lateness too early. The last read of before is signed
// Lateness after it, and its lease lasts a Term. The last request with it takes effect Lateness later. Who waits has a clock that is
// Lateness ahead.
func TestWaitIsLongEnough(t *testing.T) {
	const worst = 15*time.Minute + 15*time.Minute + time.Minute + 15*time.Minute + 15*time.Minute
	if Wait <= worst || Wait != 62*time.Minute {
		t.Errorf("the wait is %v, want 62 minutes, and more than %v", Wait, worst)
	}
}
