package heat

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

// Recorder counts the calls of the clients that it is an option of. It takes a fraction of a microsecond of a call, and
// memory that depends on the number of tables and indexes, not of keys. Its methods may be called concurrently.
type Recorder struct {
	options Options
	started time.Time

	mu     sync.RWMutex
	tables map[string]*table
	notes  map[string]string // by table: why it could not be looked up
}

// NewRecorder returns a recorder that has seen nothing. It panics if the options contradict themselves, as they are
// written down in the program.
func NewRecorder(options Options) *Recorder {
	if err := options.validate(); err != nil {
		panic(fmt.Sprintf("heat: invalid options: %v", err))
	}
	r := &Recorder{options: options.withDefaults(), started: time.Now(), tables: make(map[string]*table), notes: make(map[string]string)}
	for name, partition := range options.Keys {
		name, index, _ := strings.Cut(name, "/")
		r.table(name).setKey(index, slices.Clone(partition))
	}
	return r
}

// Describe looks tables up, to know their partition keys, indexes and capacity. A recorder does so itself at the first call
// of a table, unless Options.NoDescribe is set.
func (r *Recorder) Describe(ctx context.Context, client Describer, tables ...string) error {
	var faults []error
	for _, name := range tables {
		out, err := client.DescribeTable(ctx, &dynamodb.DescribeTableInput{TableName: aws.String(name)})
		if err != nil {
			faults = append(faults, fmt.Errorf("describe table %q: %w", name, err))
			continue
		}
		r.learn(out)
	}
	return errors.Join(faults...)
}

// Describer is the part of the SDK's client that tables are looked up with.
type Describer interface {
	DescribeTable(context.Context, *dynamodb.DescribeTableInput, ...func(*dynamodb.Options)) (*dynamodb.DescribeTableOutput, error)
}

// Report returns what was seen up to now. Totals are since the recorder was made, rates are of late.
func (r *Recorder) Report() Report {
	now := r.now()
	report := Report{Source: Live, From: r.started.UTC(), To: now.UTC()}
	r.mu.RLock()
	tables := slices.SortedFunc(maps.Values(r.tables), func(a, b *table) int { return strings.Compare(a.name, b.name) })
	for _, name := range slices.Sorted(maps.Keys(r.notes)) {
		report.Notes = append(report.Notes, r.notes[name])
	}
	r.mu.RUnlock()
	for _, t := range tables {
		view := t.view.Load()
		indexes := slices.SortedFunc(slices.Values(view.indexes), func(a, b resourceView) int { return strings.Compare(a.Index, b.Index) })
		for _, v := range append([]resourceView{view.own}, indexes...) {
			if resource, seen := v.report(now.UnixNano(), r.options.Top); seen {
				report.Resources = append(report.Resources, resource)
			}
		}
	}
	return report
}

// now returns the time, which never goes back.
func (r *Recorder) now() time.Time { return r.started.Add(time.Since(r.started)) }

// report returns what was seen of a table or index, and whether that is anything.
func (v resourceView) report(now int64, top int) (ResourceReport, bool) {
	report := ResourceReport{Resource: v.Resource, Key: v.names.partition, Capacity: v.capacity}
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

// table returns what is known of a table by its name, or its ARN, which DynamoDB takes as well.
func (r *Recorder) table(name string) *table {
	if _, after, ok := strings.Cut(name, ":table/"); ok {
		name = after
	}
	r.mu.RLock()
	t := r.tables[name]
	r.mu.RUnlock()
	if t != nil {
		return t
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if t = r.tables[name]; t == nil {
		t = newTable(name)
		r.tables[name] = t
	}
	return t
}

func (r *Recorder) view(name string) *tableView { return r.table(name).view.Load() }

// noteLookup remembers that a table could not be looked up.
func (r *Recorder) noteLookup(table string, err error) {
	if err == nil {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.notes[table] = fmt.Sprintf("table %s could not be described (%v): calls that do not tell its partition key are counted without", table, err)
}

// tablesOf returns the tables that an input is about.
func tablesOf(input any) []string {
	switch in := input.(type) {
	case *dynamodb.GetItemInput:
		return named(in.TableName)
	case *dynamodb.QueryInput:
		return named(in.TableName)
	case *dynamodb.ScanInput:
		return named(in.TableName)
	case *dynamodb.PutItemInput:
		return named(in.TableName)
	case *dynamodb.UpdateItemInput:
		return named(in.TableName)
	case *dynamodb.DeleteItemInput:
		return named(in.TableName)
	case *dynamodb.BatchGetItemInput:
		return slices.Collect(maps.Keys(in.RequestItems))
	case *dynamodb.BatchWriteItemInput:
		return slices.Collect(maps.Keys(in.RequestItems))
	case *dynamodb.TransactGetItemsInput:
		return transactGetTables(in.TransactItems)
	case *dynamodb.TransactWriteItemsInput:
		return transactWriteTables(in.TransactItems)
	}
	return nil
}

func named(name *string) []string {
	if name == nil {
		return nil
	}
	return []string{*name}
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
