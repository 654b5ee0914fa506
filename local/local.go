// Package local is DynamoDB inside your process: a real *dynamodb.Client on an
// engine of its own, without a port, a network, Docker or an AWS account. What
// httptest is to HTTP servers, local is to DynamoDB:
//
//	func TestOrders(t *testing.T) {
//		db := local.Start(t) // gone when the test ends
//		store := NewOrderStore(db.Client())
//		…
//	}
//
// An engine keeps its tables in memory, or in a directory if Options name one.
// Any number of engines can run at a time; they share nothing. Everything also
// works inside a testing/synctest bubble, where an hour of waiting for a TTL
// takes no time at all.
//
// What the engine does and does not do is listed in docs/compatibility.md.
package local

import (
	"cmp"
	"fmt"
	"log/slog"
	"net/http"
	"strings"
	"sync/atomic"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/cloudwatch"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodbstreams"

	"github.com/heatsink-go/heatsink/internal/engine"
	"github.com/heatsink-go/heatsink/internal/wire"
)

// Options configure an engine. The zero value is an empty engine in memory.
type Options struct {
	// Dir is the directory that holds the data; it is created if it does not
	// exist. A write is on disk before it is acknowledged. Empty: in memory.
	Dir string

	// Reserve is how many bytes writes leave free on the disk of Dir. Below it
	// they are answered with ServiceUnavailable (HTTP 503), which clients retry,
	// until there is space again; reads go on. Default: 256 MB, or an eighth of a
	// smaller disk. Negative: none: a full disk may then end the process.
	Reserve int64

	// Region is the region that the clients and ARNs name. Default: us-east-1.
	Region string

	// TTLInterval is how long an expired item may still be there: between two
	// searches for them. DynamoDB takes up to days. Default: one second.
	TTLInterval time.Duration

	// Physics makes partitions throttle. Default: capacity is counted and
	// reported, never refused.
	Physics *Physics

	// Logger is told about trouble that no answer can tell of. Default: nobody
	// is told.
	Logger *slog.Logger
}

// DB is a running engine. Its methods may be called concurrently.
type DB struct {
	engine  *engine.Engine
	handler http.Handler // for clients in this process
	guard   *wire.Guard  // of all others
	region  string
	closed  atomic.Bool
}

// New starts an engine. Close ends it.
func New(options Options) (*DB, error) {
	options.Region = cmp.Or(options.Region, "us-east-1")
	if err := options.Physics.validate(); err != nil {
		return nil, fmt.Errorf("heatsink: %w", err)
	}
	guard, err := wire.NewGuard(wire.GuardOptions{Hosts: []string{endpointHost}})
	if err != nil {
		return nil, fmt.Errorf("heatsink: %w", err)
	}
	e, err := engine.Open(engine.Options{
		Dir:         options.Dir,
		Reserve:     options.Reserve,
		Region:      options.Region,
		TTLInterval: options.TTLInterval,
		Physics:     options.Physics.options(),
		Logger:      options.Logger,
	})
	if err != nil {
		return nil, fmt.Errorf("heatsink: %w", err)
	}
	return &DB{
		engine: e,
		handler: services{
			tables:  wire.NewHandler(e, wire.Options{Unsigned: true, Region: options.Region, Logger: options.Logger}),
			metrics: wire.NewCloudWatchHandler(e),
		},
		guard:  guard,
		region: options.Region,
	}, nil
}

// services are what the engine answers for: DynamoDB with its streams, and
// CloudWatch.
type services struct{ tables, metrics http.Handler }

func (s services) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if strings.HasPrefix(r.URL.Path, wire.CloudWatchPath) {
		s.metrics.ServeHTTP(w, r)
		return
	}
	s.tables.ServeHTTP(w, r)
}

// TB is the part of testing.TB that Start needs.
type TB interface {
	Helper()
	Cleanup(func())
	Fatalf(format string, args ...any)
}

// Start starts an empty engine in memory for a test or benchmark, and ends it
// when that ends.
func Start(t TB) *DB {
	t.Helper()
	db, err := New(Options{})
	if err != nil {
		t.Fatalf("%v", err)
	}
	t.Cleanup(func() {
		if err := db.Close(); err != nil {
			t.Fatalf("%v", err)
		}
	})
	return db
}

// Close ends the engine: it waits for the requests under way and for everything
// in the background. Data in memory is gone.
func (db *DB) Close() error {
	db.closed.Store(true)
	return db.engine.Close()
}

// Client returns a DynamoDB client on the engine. Options passed in are applied
// last.
func (db *DB) Client(optFns ...func(*dynamodb.Options)) *dynamodb.Client {
	return dynamodb.New(dynamodb.Options{
		BaseEndpoint: aws.String(endpoint),
		Region:       db.region,
		Credentials:  credentials,
		HTTPClient:   transport{db},
	}, optFns...)
}

// StreamsClient returns a DynamoDB Streams client on the engine. Options passed
// in are applied last.
func (db *DB) StreamsClient(optFns ...func(*dynamodbstreams.Options)) *dynamodbstreams.Client {
	return dynamodbstreams.New(dynamodbstreams.Options{
		BaseEndpoint: aws.String(endpoint),
		Region:       db.region,
		Credentials:  credentials,
		HTTPClient:   transport{db},
	}, optFns...)
}

// CloudWatchClient returns a CloudWatch client on the engine: GetMetricData has the
// sums by the minute that an engine with Physics counts, under AWS/DynamoDB.
// Options passed in are applied last.
func (db *DB) CloudWatchClient(optFns ...func(*cloudwatch.Options)) *cloudwatch.Client {
	return cloudwatch.New(cloudwatch.Options{
		BaseEndpoint: aws.String(endpoint),
		Region:       db.region,
		Credentials:  credentials,
		HTTPClient:   transport{db},
	}, optFns...)
}

// Handler returns the engine's HTTP side, for clients that need a port:
//
//	server := httptest.NewServer(db.Handler())
//
// It asks for no credentials: keep it on loopback. It refuses, with status 403,
// requests that a web page may have sent: those with the Origin of another
// address, and those to a Host that is neither an IP address nor localhost.
func (db *DB) Handler() http.Handler { return db.guard.Handler(db.handler) }
