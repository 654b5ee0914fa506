package heattest

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/heatsink-go/heatsink/heat"
	"github.com/heatsink-go/heatsink/local"
)

// Options configure Start. The zero value is ready to use.
type Options struct {
	// Engine configures the engine. Default: in memory, with the physics of DynamoDB. Without Physics nothing is ever
	// throttled, so Start adds it if it is nil.
	Engine local.Options

	// Heat configures the recorder. Tell it your Layouts, and findings about shards are exact. Its Limits are those of the
	// engine's Physics by default.
	Heat heat.Options

	// Rules are the thresholds of findings.
	Rules heat.Rules

	// Allow is the worst severity that does not fail the test. Default: heat.Info, so that warnings fail.
	Allow heat.Severity

	// Expected says that throttled requests and findings are not checked when the test ends. Call Check yourself.
	Expected bool
}

// DB is an engine whose clients are recorded. It is a local.DB otherwise.
type DB struct {
	*local.DB
	recorder *heat.Recorder
	redacted bool // keys are not as they are stored
}

// Start starts an engine for a test. When the test ends, it closes the engine. It fails the test if a partition has
// throttled a request. It also does if what the clients of DB.Client sent leads to a finding that is worse than Options.Allow.
//
// Traffic of clients that have other origins, such as db.DB.Client, is only checked for throttles.
func Start(t TB, options Options) *DB {
	t.Helper()
	if options.Engine.Physics == nil {
		options.Engine.Physics = &local.Physics{}
	}
	if err := options.Rules.Validate(); err != nil {
		t.Fatalf("heattest: rules: %v", err)
		return nil
	}
	if p := options.Engine.Physics; options.Heat.Limits == (heat.Limits{}) {
		options.Heat.Limits = heat.Limits{ReadUnits: float64(max(0, p.PartitionReads)), WriteUnits: float64(max(0, p.PartitionWrites))}
	}
	recorder, err := heat.NewRecorder(options.Heat)
	if err != nil {
		t.Fatalf("heattest: recorder: %v", err)
		return nil
	}
	engine, err := local.New(options.Engine)
	if err != nil {
		t.Fatalf("heattest: engine: %v", err)
		return nil
	}
	db := &DB{DB: engine, recorder: recorder, redacted: options.Heat.Redact != nil}
	t.Cleanup(func() {
		t.Helper()
		if !options.Expected {
			db.check(t, options)
		}
		if err := engine.Close(); err != nil {
			t.Errorf("heattest: engine: %v", err)
		}
	})
	return db
}

// Client is a client of the engine whose requests are recorded.
func (db *DB) Client(optFns ...func(*dynamodb.Options)) *dynamodb.Client {
	return db.DB.Client(append(slices.Clip(optFns), db.recorder.Option)...)
}

// Report returns what the clients have sent so far, with the partitions that the engine has put the keys in. Its findings are
// about the busiest time, not about the last moment.
func (db *DB) Report() heat.Report {
	report := db.recorder.Report()
	report.Ended = true
	db.locate(context.Background(), &report)
	return report
}

// check is what Start does when the test ends.
func (db *DB) check(t TB, options Options) {
	t.Helper()
	report := db.Report()
	Check(t, options.Allow, options.Rules, report)
	if recorded(&report) {
		return // and said so, with more than the engine knows
	}
	if text := db.throttles(); text != "" {
		t.Errorf("heattest: requests of clients that are not recorded were throttled; use the Client of heattest:\n%s", text)
	}
}

// recorded reports whether the recorder has seen throttles.
func recorded(r *heat.Report) bool {
	return slices.ContainsFunc(r.Resources, func(x heat.ResourceReport) bool { return x.Reads.Throttled+x.Writes.Throttled > 0 })
}

// throttles returns a line for each table and index whose partitions have throttled requests, of whatever client. Tables
// that the test has deleted count too.
func (db *DB) throttles() string {
	var b strings.Builder
	for _, t := range db.Throttled() {
		fmt.Fprintf(&b, "throttled: %s: %d requests\n", heat.Resource{Table: t.Table, Index: t.Index}, t.Requests)
	}
	return b.String()
}
