package heat

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/heatsink-go/heatsink/internal/figure"
)

// Recorder counts the calls of clients that were made with its Option. It adds two to three microseconds to a call of one item, which
// is 4 to 5 % of a call to the in-process engine of package local, and up to four allocations. Its memory depends on the number of
// tables and indexes, not on the number of keys. It counts up to 1,000 tables and indexes; a report has a note if there are more.
// Its methods may be called concurrently.
type Recorder struct {
	options   Options
	started   time.Time
	tables    catalogue
	decisions decisions
	unkeyed   atomic.Int64 // statements of PartiQL whose key is not known
}

// NewRecorder returns a new recorder. An error names all faults of the options.
func NewRecorder(options Options) (*Recorder, error) {
	if err := options.validate(); err != nil {
		return nil, fmt.Errorf("new recorder: invalid options: %w", err)
	}
	r := &Recorder{options: options.withDefaults(), started: time.Now()}
	r.tables.init()
	for name, partition := range options.Keys {
		name, index, _ := strings.Cut(name, "/")
		r.table(name).setKey(index, slices.Clone(partition))
	}
	return r, nil
}

// Describe looks up the partition keys, indexes and capacity of tables. A recorder does so itself at the first call for a
// table, unless Options.NoDescribe is set. Describe also returns an error if a table lacks the index of one of
// Options.Layouts. It costs one DescribeTable for each table.
func (r *Recorder) Describe(ctx context.Context, client Describer, tables ...string) error {
	var faults []error
	for _, name := range tables {
		d, err := describe(ctx, client, name)
		if err != nil {
			faults = append(faults, err)
			continue
		}
		r.table(name).learn(d)
		faults = append(faults, checkIndexes(name, r.options.Layouts, d))
	}
	return errors.Join(faults...)
}

// Describer is the part of the SDK's client that looks up tables.
type Describer interface {
	DescribeTable(context.Context, *dynamodb.DescribeTableInput, ...func(*dynamodb.Options)) (*dynamodb.DescribeTableOutput, error)
}

// describe looks up a table.
func describe(ctx context.Context, client Describer, table string) (*types.TableDescription, error) {
	out, err := client.DescribeTable(ctx, &dynamodb.DescribeTableInput{TableName: aws.String(table)})
	if err == nil && out.Table == nil {
		err = errors.New("the response has no table")
	}
	if err != nil {
		return nil, fmt.Errorf("describe table %q: %w", table, err)
	}
	return out.Table, nil
}

// Report returns what the recorder has counted. Totals are since it was made; rates are of the last seconds, see
// Options.Decay.
func (r *Recorder) Report() Report {
	now := r.now()
	report := Report{Source: Live, From: r.started.UTC(), To: now.UTC(), Limits: r.options.Limits}
	var notes []string
	for _, t := range r.tables.all() {
		if note := t.lookupNote(); note != "" {
			notes = append(notes, note)
		}
		view := t.view.Load()
		indexes := slices.SortedFunc(slices.Values(view.indexes), func(a, b resourceView) int { return strings.Compare(a.Index, b.Index) })
		for _, v := range append([]resourceView{view.own}, indexes...) {
			if resource, seen := v.report(now.UnixNano(), r.options.Top); seen {
				report.Resources = append(report.Resources, resource)
			}
		}
	}
	report.Notes = r.notes(notes)
	report.Decisions, report.Decided = r.decisions.report(now)
	return report
}

// mostNotes is the most failed lookups that a report names.
const mostNotes = 10

// notes returns a report's notes about what it does not show, given those of failed lookups.
func (r *Recorder) notes(lookups []string) []string {
	notes := lookups[:min(len(lookups), mostNotes)]
	if more := len(lookups) - len(notes); more > 0 {
		notes = append(notes, fmt.Sprintf("%d more tables could not be described", more))
	}
	if n := r.unkeyed.Load(); n > 0 {
		notes = append(notes, fmt.Sprintf("%s of PartiQL did not name one partition key: they count for their table or index, without a key",
			figure.Count(n, "statement")))
	}
	if left := r.tables.left(); left > 0 {
		notes = append(notes, fmt.Sprintf(
			"%d tables and indexes are counted, the most possible: %d requests of others are not", mostResources, left))
	}
	return notes
}

// now returns the time. It never goes back.
func (r *Recorder) now() time.Time { return r.started.Add(time.Since(r.started)) }

// report returns the counts of a table or index, and whether there are any.
func (v resourceView) report(now int64, top int) (ResourceReport, bool) {
	report := ResourceReport{Resource: v.Resource, Key: v.names.partition, Sort: v.names.sort, Capacity: v.capacity}
	seen := false
	var patterns [2][]Pattern
	for _, d := range [...]Direction{Read, Write} {
		if f := v.flows[d].Load(); f != nil {
			*report.Flow(d), patterns[d] = f.report(now, top, d)
			seen = true
		}
	}
	report.Patterns = mergePatterns(patterns[Read], patterns[Write])
	return report, seen
}

func (r *Recorder) table(name string) *table { return r.tables.get(name) }

// tableOf returns the table of an input that is about one, nil for all others.
func tableOf(input any) *string {
	switch in := input.(type) {
	case *dynamodb.GetItemInput:
		return in.TableName
	case *dynamodb.QueryInput:
		return in.TableName
	case *dynamodb.ScanInput:
		return in.TableName
	case *dynamodb.PutItemInput:
		return in.TableName
	case *dynamodb.UpdateItemInput:
		return in.TableName
	case *dynamodb.DeleteItemInput:
		return in.TableName
	}
	return nil
}

func transactGetTables(items []types.TransactGetItem) []string {
	var names []string
	for _, item := range items {
		if item.Get != nil {
			names = append(names, aws.ToString(item.Get.TableName))
		}
	}
	return names
}

func transactWriteTables(items []types.TransactWriteItem) []string {
	var names []string
	for _, item := range items {
		switch {
		case item.Put != nil:
			names = append(names, aws.ToString(item.Put.TableName))
		case item.Update != nil:
			names = append(names, aws.ToString(item.Update.TableName))
		case item.Delete != nil:
			names = append(names, aws.ToString(item.Delete.TableName))
		case item.ConditionCheck != nil:
			names = append(names, aws.ToString(item.ConditionCheck.TableName))
		}
	}
	return names
}
