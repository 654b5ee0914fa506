package eventlog_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"time"

	"github.com/heatsink-go/heatsink"
	"github.com/heatsink-go/heatsink/eventlog"
	"github.com/heatsink-go/heatsink/layout"
	"github.com/heatsink-go/heatsink/local"
)

// An Op is what an agent did.
type Op struct {
	Agent    string `dynamodbav:"agent"`
	Severity string `dynamodbav:"severity,omitempty"`
}

// example returns logs in a table of their own, in memory.
func example(options eventlog.Options) (*eventlog.Log[Op], *local.DB) {
	db, err := local.New(local.Options{})
	if err != nil {
		log.Fatal(err)
	}
	options.Table = "logs"
	if err := eventlog.Setup(context.Background(), db.Client(), options); err != nil {
		log.Fatal(err)
	}
	logs, err := eventlog.Open[Op](db.Client(), options)
	if err != nil {
		log.Fatal(err)
	}
	return logs, db
}

// A log of operations: a bucket of keys for each day, four shards in each, kept for 90 days.
func Example() {
	ctx := context.Background()
	db, err := local.New(local.Options{}) // or a *dynamodb.Client of your own account
	if err != nil {
		log.Fatal(err)
	}
	defer db.Close()
	options := eventlog.Options{Table: "logs", Bucket: layout.Day, Shards: 4, Retention: 90 * 24 * time.Hour}
	if err := eventlog.Setup(ctx, db.Client(), options); err != nil { // creates the table, or checks it
		log.Fatal(err)
	}
	ops, err := eventlog.Open[Op](db.Client(), options)
	if err != nil {
		log.Fatal(err)
	}

	for _, agent := range []string{"scanner", "classifier", "threat_detector"} {
		if _, err := ops.Append(ctx, eventlog.Event[Op]{Log: "OPS_LOG", Body: Op{Agent: agent}}); err != nil {
			log.Fatal(err)
		}
	}

	newest, err := ops.Newest(ctx, "OPS_LOG", 2)
	if err != nil {
		log.Fatal(err)
	}
	for _, event := range newest {
		fmt.Println(event.Body.Agent)
	}
	// Output:
	// threat_detector
	// classifier
}

// An event with a time and an id of its own can be appended again and again: it is there once.
func ExampleLog_Append() {
	ctx := context.Background()
	ops, db := example(eventlog.Options{Bucket: layout.Day, Shards: 4})
	defer db.Close()
	event := eventlog.Event[Op]{
		Log: "OPS_LOG", At: time.Date(2026, 6, 22, 1, 0, 0, 0, time.UTC), ID: "request-4711", Body: Op{Agent: "scanner"},
	}
	for range 2 {
		receipt, err := ops.Append(ctx, event)
		fmt.Println(receipt.ID, receipt.Duplicate, err)
	}
	n, err := ops.Count(ctx, eventlog.Query{Log: "OPS_LOG", From: event.At, To: event.At.Add(time.Second)})
	fmt.Println(n, err)
	// Output:
	// request-4711 false <nil>
	// request-4711 true <nil>
	// 1 <nil>
}

// day appends an event every hour of a day.
func day(ctx context.Context, ops *eventlog.Log[Op], start time.Time) {
	var events []eventlog.Event[Op]
	for hour := range 24 {
		severity := []string{"LOW", "LOW", "HIGH"}[hour%3]
		events = append(events, eventlog.Event[Op]{
			Log: "OPS_LOG", At: start.Add(time.Duration(hour) * time.Hour), ID: fmt.Sprint("scan-", hour), Body: Op{"scanner", severity},
		})
	}
	if _, err := ops.AppendAll(ctx, events); err != nil {
		log.Fatal(err)
	}
}

// A range of time has its beginning and not its end. A Meter tells what reading it cost.
func ExampleLog_Events() {
	ctx := context.Background()
	ops, db := example(eventlog.Options{Bucket: layout.Day, Shards: 4})
	defer db.Close()
	start := time.Date(2026, 6, 22, 0, 0, 0, 0, time.UTC)
	day(ctx, ops, start)

	var meter heatsink.Meter
	morning := eventlog.Query{Log: "OPS_LOG", From: start.Add(6 * time.Hour), To: start.Add(9 * time.Hour)}
	for event, err := range ops.Events(heatsink.WithMeter(ctx, &meter), morning) {
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(event.At.Format(time.TimeOnly), event.Body.Severity)
	}
	fmt.Println(meter.Cost().Requests, "requests,", meter.Cost().ReadUnits, "read units")
	// Output:
	// 06:00:00 LOW
	// 07:00:00 LOW
	// 08:00:00 HIGH
	// 4 requests, 2 read units
}

// Events by what they have in common, the most frequent first.
func ExampleCountBy() {
	ctx := context.Background()
	ops, db := example(eventlog.Options{Bucket: layout.Day, Shards: 4})
	defer db.Close()
	start := time.Date(2026, 6, 22, 0, 0, 0, 0, time.UTC)
	day(ctx, ops, start)

	groups, err := eventlog.CountBy(ctx, ops, eventlog.Query{Log: "OPS_LOG", From: start, To: start.AddDate(0, 0, 1)},
		func(event eventlog.Event[Op]) string { return event.Body.Severity })
	fmt.Println(groups, err)
	// Output:
	// [{LOW 16} {HIGH 8}] <nil>
}

// A consumer that stores the position of each event it is done with goes on there after a restart.
func ExampleLog_Tail() {
	ctx := context.Background()
	ops, db := example(eventlog.Options{Bucket: layout.Day, Shards: 4})
	defer db.Close()
	start := time.Date(2026, 6, 22, 0, 0, 0, 0, time.UTC)
	day(ctx, ops, start)

	position := "" // as it was stored; nothing yet
	for range 2 {  // the second time, after a restart
		tail, err := ops.Tail("OPS_LOG", eventlog.TailOptions{After: position, From: start})
		if err != nil {
			log.Fatal(err)
		}
		handled := 0
		for event, err := range tail.Events(ctx) { // until ctx ends
			if err != nil {
				log.Fatal(err)
			}
			fmt.Println(event.At.Format(time.TimeOnly), event.ID)
			position = event.Position // to be stored
			if handled++; handled == 2 {
				break
			}
		}
	}
	// Output:
	// 00:00:00 scan-0
	// 01:00:00 scan-1
	// 02:00:00 scan-2
	// 03:00:00 scan-3
}

// What is wrong with a table is told all at once.
func ExampleSetup() {
	ctx := context.Background()
	db, err := local.New(local.Options{})
	if err != nil {
		log.Fatal(err)
	}
	defer db.Close()
	if err := db.CreateTable(ctx, "logs", "PK", "SK:N"); err != nil {
		log.Fatal(err)
	}
	err = eventlog.Setup(ctx, db.Client(), eventlog.Options{Table: "logs", PartitionKey: "PK", SortKey: "SK", Index: eventlog.Index{Name: "GSI1"}})
	fmt.Println(errors.Is(err, eventlog.ErrTable))
	fmt.Println(err)
	// Output:
	// true
	// set up event log: the table is not set up as required: table "logs": its key is (PK S, SK N), want (PK S, SK S)
	// it has no index "GSI1"
}

// A log that had 16 shards becomes adaptive: each of its buckets gets a ledger before anybody reads it that way.
func ExampleLog_Ledgers() {
	ctx := context.Background()
	logs, db := example(eventlog.Options{Bucket: layout.Day, Shards: 16, Adaptive: &heatsink.Adaptive{}})
	defer db.Close()
	oldest := time.Now().AddDate(0, 0, -2)
	for start := range layout.Day.Starts(oldest, time.Now().AddDate(0, 0, 7)) {
		if _, err := logs.Ledgers().Grow(ctx, "OPS_LOG", start, 16, "it had 16 shards"); err != nil {
			log.Fatal(err)
		}
	}
	today, err := logs.Ledgers().Show(ctx, "OPS_LOG", time.Now())
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(today.Width.Read, "shards:", today.Why)
	// Output:
	// 16 shards: it had 16 shards
}
