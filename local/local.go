// Package local runs DynamoDB inside your process. It gives you a real
// *dynamodb.Client on an engine of its own, and needs no port, network, Docker
// or AWS account. It is to DynamoDB what httptest is to HTTP servers:
//
//	func TestOrders(t *testing.T) {
//		db := local.Start(t) // closed when the test ends
//		store := NewOrderStore(db.Client())
//		…
//	}
//
// An engine keeps its tables in memory, or in the directory Options.Dir. Any
// number of engines can run at a time; they share nothing. Inside a
// testing/synctest bubble an engine runs on virtual time, so a test need not
// wait an hour for a TTL. An engine that is started in a bubble must be closed in
// it, which Start and StartWith do.
//
// The page https://github.com/heatsink-go/heatsink/blob/main/docs/compatibility.md
// lists what the engine supports.
package local

import (
	"cmp"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
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
	// Dir is the directory for the data. New creates it if it does not exist. A
	// write is on disk before it is acknowledged. Default: the data is kept in
	// memory.
	Dir string

	// Reserve is the disk space in bytes that writes leave free on the disk of
	// Dir. When less is free, the engine answers writes with ServiceUnavailable
	// (HTTP 503), which clients retry; reads still succeed. Default: 256 MB, or
	// an eighth of a smaller disk. Negative: no reserve, and a full disk may
	// end the process.
	Reserve int64

	// Region is the region of the clients and in ARNs. Default: us-east-1.
	Region string

	// TTLInterval is the time between two searches for expired items, and so
	// the longest time that an item outlives its TTL. DynamoDB may take days: with
	// a long interval, a test can show that code tolerates expired items.
	// Default: one second.
	TTLInterval time.Duration

	// StatusDelay is the time that a new table is CREATING, a changed one
	// UPDATING and a deleted one DELETING. It also holds for the indexes that
	// UpdateTable changes and removes. A new global index waits that long before
	// its backfill. DynamoDB takes seconds to minutes. Default: no time; a new
	// index is then ACTIVE as soon as it is filled.
	StatusDelay time.Duration

	// ShardDuration is the time after which a child replaces the open shard of
	// a stream, at least 10 ms. Default: four hours, as in DynamoDB.
	ShardDuration time.Duration

	// IteratorLife is the time that a shard iterator can be used. Default: 15
	// minutes, as in DynamoDB.
	IteratorLife time.Duration

	// TokenLife is the time that the engine recognizes the ClientRequestToken of
	// a transaction. Default: ten minutes, as in DynamoDB.
	TokenLife time.Duration

	// TransactionTime is the time that a transaction holds its items, as one of
	// DynamoDB does for milliseconds: others who want to write them meanwhile get a
	// TransactionConflict. If its context ends meanwhile, it is done all the same,
	// and who sends it again with its token learns so. Who changes the table waits
	// for it, and others wait for that change. At most a minute. Default:
	// the microseconds that the engine needs.
	TransactionTime time.Duration

	// Signatures makes the engine check that requests are signed by its own
	// clients, and within the last quarter of an hour, as DynamoDB does. The
	// end of a move relies on that: see heatsink.Options.Movable. Default:
	// nobody looks.
	Signatures bool

	// Physics makes partitions throttle. Default: the engine counts and reports
	// capacity, and throttles nothing.
	Physics *Physics

	// Lag makes eventually consistent reads return older data, as DynamoDB
	// sometimes does. Default: every read is consistent.
	Lag *Lag

	// Logger gets errors that no response can carry. Default: they are
	// discarded.
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

// New starts an engine, which runs until Close. It returns an error that names
// each setting that cannot be used, or the reason why Dir cannot be opened.
func New(options Options) (*DB, error) {
	options.Region = cmp.Or(options.Region, "us-east-1")
	if err := options.Physics.validate(); err != nil {
		return nil, fmt.Errorf("heatsink: %w", err)
	}
	if err := options.checkTimes(); err != nil {
		return nil, fmt.Errorf("heatsink: %w", err)
	}
	guard, err := wire.NewGuard(wire.GuardOptions{Hosts: []string{endpointHost}})
	if err != nil {
		return nil, fmt.Errorf("heatsink: %w", err)
	}
	e, err := engine.Open(engine.Options{
		Dir:             options.Dir,
		Reserve:         options.Reserve,
		Region:          options.Region,
		TTLInterval:     options.TTLInterval,
		StatusDelay:     options.StatusDelay,
		ShardDuration:   options.ShardDuration,
		IteratorLife:    options.IteratorLife,
		TokenLife:       options.TokenLife,
		TransactionTime: options.TransactionTime,
		Physics:         options.Physics.options(),
		Lag:             options.Lag.options(),
		Logger:          options.Logger,
	})
	if err != nil {
		return nil, fmt.Errorf("heatsink: %w", err)
	}
	how := wire.Options{Unsigned: true, Region: options.Region, Logger: options.Logger}
	if options.Signatures {
		how.Credentials = &wire.Credentials{AccessKeyID: accessKey, SecretAccessKey: secretKey}
	}
	metrics := wire.NewCloudWatchHandler(e)
	if options.Physics == nil {
		metrics = wire.NewNoCloudWatchHandler("metrics need physics: set local.Options.Physics")
	}
	return &DB{
		engine:  e,
		handler: wire.Services(wire.NewHandler(e, how), metrics),
		guard:   guard,
		region:  options.Region,
	}, nil
}

// checkTimes returns an error that names every time that is negative or too long.
func (o *Options) checkTimes() error {
	var faults []error
	for _, t := range []struct {
		name        string
		value       time.Duration
		least, most time.Duration
	}{
		{"TTLInterval", o.TTLInterval, 0, engine.LongestTime},
		{"StatusDelay", o.StatusDelay, 0, engine.LongestTime},
		{"ShardDuration", o.ShardDuration, engine.ShortestShard, engine.LongestTime},
		{"IteratorLife", o.IteratorLife, 0, engine.LongestTime},
		{"TokenLife", o.TokenLife, 0, engine.LongestTime},
		{"TransactionTime", o.TransactionTime, 0, engine.LongestTransaction},
	} {
		switch {
		case t.value < 0:
			faults = append(faults, fmt.Errorf("option %s is %v: give a positive time, or zero for the default", t.name, t.value))
		case t.value > 0 && t.value < t.least:
			faults = append(faults, fmt.Errorf("option %s is %v: give a time of at least %v", t.name, t.value, t.least))
		case t.value > t.most:
			faults = append(faults, fmt.Errorf("option %s is %v: give a time of at most %v", t.name, t.value, t.most))
		}
	}
	return errors.Join(faults...)
}

// TB is the part of testing.TB that Start needs.
type TB interface {
	Helper()
	Cleanup(func())
	Fatalf(format string, args ...any)
}

// Start starts an empty engine in memory for a test or benchmark, and closes it
// when the test ends.
func Start(t TB) *DB {
	t.Helper()
	return StartWith(t, Options{})
}

// StartWith starts an engine with options for a test or benchmark, and closes it
// when the test ends.
func StartWith(t TB, options Options) *DB {
	t.Helper()
	db, err := New(options)
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

// Close waits for running requests and background work, and stops the engine.
// Data in memory is lost. Later requests fail.
func (db *DB) Close() error {
	db.closed.Store(true)
	return db.engine.Close()
}

// Client returns a DynamoDB client for the engine. It applies optFns after its
// own settings.
func (db *DB) Client(optFns ...func(*dynamodb.Options)) *dynamodb.Client {
	return dynamodb.New(dynamodb.Options{
		BaseEndpoint: aws.String(endpoint),
		Region:       db.region,
		Credentials:  credentials,
		HTTPClient:   transport{db},
	}, optFns...)
}

// StreamsClient returns a DynamoDB Streams client for the engine. It applies
// optFns after its own settings.
func (db *DB) StreamsClient(optFns ...func(*dynamodbstreams.Options)) *dynamodbstreams.Client {
	return dynamodbstreams.New(dynamodbstreams.Options{
		BaseEndpoint: aws.String(endpoint),
		Region:       db.region,
		Credentials:  credentials,
		HTTPClient:   transport{db},
	}, optFns...)
}

// CloudWatchClient returns a CloudWatch client for the engine. GetMetricData
// and GetMetricStatistics return the sums per minute of an engine with Physics,
// in the namespace AWS/DynamoDB. Of an engine without Physics every request is
// refused. It applies optFns after its own settings.
func (db *DB) CloudWatchClient(optFns ...func(*cloudwatch.Options)) *cloudwatch.Client {
	return cloudwatch.New(cloudwatch.Options{
		BaseEndpoint: aws.String(endpoint),
		Region:       db.region,
		Credentials:  credentials,
		HTTPClient:   transport{db},
	}, optFns...)
}

// Handler returns an HTTP handler for the engine, for clients that need a port:
//
//	server := httptest.NewServer(db.Handler())
//
// The handler checks no credentials: keep it on loopback. It refuses requests
// that a web page may have sent, with status 403. These are requests with the
// Origin of another address, and requests to a Host that is neither an IP
// address nor localhost.
func (db *DB) Handler() http.Handler { return db.guard.Handler(db.handler) }
