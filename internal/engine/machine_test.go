package engine_test

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode/utf8"

	"pgregory.net/rapid"

	"github.com/heatsink-go/heatsink/internal/attr"
	"github.com/heatsink-go/heatsink/internal/engine"
)

// machine does the same to an engine and to a model. Its exported methods are the
// operations, and Check is what holds after each.
type machine struct {
	model
	engine  *engine.Engine
	table   string
	kind    string  // of the sort key; empty: none
	indexes []index // the table itself first

	replay   map[string]record // the table as its stream tells it
	iterator string            // where to go on reading the stream
}

func newMachine(t *rapid.T, e *engine.Engine, table string) *machine {
	m := &machine{engine: e, table: table, model: model{hash: "h", items: map[string]record{}}, replay: map[string]record{}}
	in := &engine.CreateTableInput{
		TableName: &table, BillingMode: new("PAY_PER_REQUEST"), HasKeySchema: true, HasDefinitions: true,
		KeySchema:            []engine.KeyElement{{AttributeName: "h", KeyType: "HASH"}},
		AttributeDefinitions: []engine.AttributeDefinition{{AttributeName: "h", AttributeType: "S"}, {AttributeName: "g", AttributeType: "S"}, {AttributeName: "n", AttributeType: "N"}},
		Stream:               &engine.StreamSpecification{Enabled: new(true), ViewType: new("NEW_AND_OLD_IMAGES")},
	}
	if m.kind = rapid.SampledFrom([]string{"", "S", "N", "B"}).Draw(t, "sort key"); m.kind != "" {
		m.sort = "s"
		in.KeySchema = append(in.KeySchema, engine.KeyElement{AttributeName: "s", KeyType: "RANGE"})
		in.AttributeDefinitions = append(in.AttributeDefinitions, engine.AttributeDefinition{AttributeName: "s", AttributeType: m.kind})
		in.LocalIndexes = []engine.IndexInput{m.newIndex(t, index{name: "lsi", hash: "h", sort: "n"})}
	}
	in.GlobalIndexes = []engine.IndexInput{m.newIndex(t, index{name: "gsi", hash: "g", sort: "n"})}
	m.indexes = append([]index{{hash: m.hash, sort: m.sort}}, m.indexes...)
	d, err := e.CreateTable(context.Background(), in)
	must(t, err)
	s, err := e.DescribeStream(context.Background(), &engine.DescribeStreamInput{StreamARN: &d.LatestStreamARN})
	must(t, err)
	m.iterator, err = e.GetShardIterator(context.Background(), &engine.GetShardIteratorInput{
		StreamARN: &s.ARN, ShardID: &s.Shards[0].ShardID, Type: new("TRIM_HORIZON"),
	})
	must(t, err)
	return m
}

func (m *machine) newIndex(t *rapid.T, x index) engine.IndexInput {
	p := &engine.Projection{Type: new(rapid.SampledFrom([]string{"ALL", "KEYS_ONLY", "INCLUDE"}).Draw(t, x.name))}
	if *p.Type != "ALL" {
		x.projected = append(m.keyNames(), x.hash, x.sort)
	}
	if *p.Type == "INCLUDE" {
		p.HasNonKey, p.NonKeyAttributes = true, []string{"v"}
		x.projected = append(x.projected, "v")
	}
	m.indexes = append(m.indexes, x)
	return engine.IndexInput{
		IndexName: &x.name, HasKeySchema: true, Projection: p,
		KeySchema: []engine.KeyElement{{AttributeName: x.hash, KeyType: "HASH"}, {AttributeName: x.sort, KeyType: "RANGE"}},
	}
}

func must(t *rapid.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// Write does a single write, with a condition or without.
func (m *machine) Write(t *rapid.T) {
	s := m.drawStep(t, map[string]bool{}, "put", "update", "delete")
	s.drawCondition(t, m)
	before, allowed := m.items[s.place], m.allows(s.change)
	out, err := m.write(s)
	var failed *engine.Error
	switch {
	case allowed:
		must(t, err)
		same(t, "the item before", recordOf(out.Attributes), before)
		m.do(s.change)
	case !errors.As(err, &failed) || failed.Type != engine.TypeConditionalCheckFailed:
		t.Fatalf("condition %s on %v: got %v", *s.x.Condition, before, err)
	default:
		same(t, "the item that failed the condition", recordOf(failed.Item), before)
	}
}

func (m *machine) write(s *step) (*engine.WriteOutput, error) {
	ctx := context.Background()
	returns := engine.Returns{ReturnValues: "ALL_OLD", OnConditionFailure: "ALL_OLD"}
	switch s.kind {
	case "put":
		return m.engine.PutItem(ctx, &engine.PutItemInput{
			TableName: &m.table, Item: s.item.item(), HasItem: true, Expressions: s.expressions(), Returns: returns,
		})
	case "update":
		return m.engine.UpdateItem(ctx, &engine.UpdateItemInput{
			TableName: &m.table, Key: s.item.item(), HasKey: true, Expressions: s.expressions(), Returns: returns,
		})
	default:
		return m.engine.DeleteItem(ctx, &engine.DeleteItemInput{
			TableName: &m.table, Key: s.item.item(), HasKey: true, Expressions: s.expressions(), Returns: returns,
		})
	}
}

// BatchWrite does several puts and deletes.
func (m *machine) BatchWrite(t *rapid.T) {
	b := engine.BatchWriteTable{TableName: m.table}
	taken := map[string]bool{}
	for range rapid.IntRange(1, 6).Draw(t, "writes") {
		s := m.drawStep(t, taken, "put", "delete")
		if s == nil {
			continue
		}
		w := engine.BatchWrite{Put: s.kind == "put", Delete: s.kind == "delete"}
		if w.Put {
			w.Item = s.item.item()
		} else {
			w.Key = s.item.item()
		}
		b.Writes = append(b.Writes, w)
		m.do(s.change)
	}
	out, err := m.engine.BatchWriteItem(context.Background(), &engine.BatchWriteItemInput{Tables: []engine.BatchWriteTable{b}})
	must(t, err)
	same(t, "unprocessed writes", len(out.Unprocessed), 0)
}

// TransactWrite does several writes, all or none.
func (m *machine) TransactWrite(t *rapid.T) {
	in := &engine.TransactWriteItemsInput{HasActions: true}
	taken := map[string]bool{}
	var steps []*step
	var want []string
	failed := false
	for range rapid.IntRange(1, 5).Draw(t, "actions") {
		s := m.drawStep(t, taken, "put", "update", "delete", "check")
		if s == nil {
			continue
		}
		s.drawCondition(t, m)
		in.Actions = append(in.Actions, m.action(s))
		steps = append(steps, s)
		code := "None"
		if !m.allows(s.change) {
			code, failed = "ConditionalCheckFailed", true
		}
		want = append(want, code)
	}
	_, err := m.engine.TransactWriteItems(context.Background(), in)
	if !failed {
		must(t, err)
		for _, s := range steps {
			m.do(s.change)
		}
		return
	}
	var answer *engine.Error
	if !errors.As(err, &answer) || answer.Type != engine.TypeTransactionCanceled {
		t.Fatalf("a transaction to be cancelled: got %v", err)
	}
	var got []string
	for _, r := range answer.Reasons {
		got = append(got, r.Code)
	}
	same(t, "reasons", got, want)
}

func (m *machine) action(s *step) (a engine.TransactWrite) {
	key := &engine.DeleteItemInput{TableName: &m.table, Key: s.item.item(), HasKey: true, Expressions: s.expressions()}
	switch s.kind {
	case "put":
		a.Put = &engine.PutItemInput{TableName: &m.table, Item: s.item.item(), HasItem: true, Expressions: s.expressions()}
	case "update":
		a.Update = &engine.UpdateItemInput{TableName: &m.table, Key: key.Key, HasKey: true, Expressions: s.expressions()}
	case "delete":
		a.Delete = key
	case "check":
		a.ConditionCheck = key
	}
	return a
}

// Get reads a few items, in all three ways.
func (m *machine) Get(t *rapid.T) {
	ctx := context.Background()
	batch := engine.BatchGetTable{TableName: m.table, ConsistentRead: true}
	transaction := &engine.TransactGetItemsInput{HasGets: true}
	taken := map[string]bool{}
	var want, found []record
	for range rapid.IntRange(1, 4).Draw(t, "keys") {
		s := m.drawStep(t, taken, "get")
		if s == nil {
			continue
		}
		get := &engine.GetItemInput{TableName: &m.table, Key: s.item.item(), HasKey: true, ConsistentRead: true}
		batch.Keys = append(batch.Keys, get.Key)
		transaction.Gets = append(transaction.Gets, get)
		r := m.items[s.place]
		want = append(want, r)
		if r != nil {
			found = append(found, r)
		}
		out, err := m.engine.GetItem(ctx, get)
		must(t, err)
		same(t, "item", recordOf(out.Item), r)
	}
	together, err := m.engine.TransactGetItems(ctx, transaction)
	must(t, err)
	same(t, "items of a transaction", records(together.Items), want)
	out, err := m.engine.BatchGetItem(ctx, &engine.BatchGetItemInput{Tables: []engine.BatchGetTable{batch}})
	must(t, err)
	same(t, "items of a batch", m.sorted(records(out.Responses[0].Items)), m.sorted(found))
}

func records(raws []attr.Raw) (out []record) {
	for _, raw := range raws {
		out = append(out, recordOf(raw))
	}
	return out
}

// sorted returns items in the order of their keys' text.
func (m *machine) sorted(list []record) []record {
	return slices.SortedFunc(slices.Values(list), func(a, b record) int { return cmp.Compare(m.place(a), m.place(b)) })
}

// term is a condition on a sort key.
type term struct {
	text   string
	values record
	holds  func(scalar) bool
}

func (m *machine) drawTerm(t *rapid.T, name string) term {
	a, b := m.drawOf(t, name), m.drawOf(t, name)
	if a.compare(b) > 0 {
		a, b = b, a
	}
	terms := []term{
		{" = :a", record{":a": a}, func(v scalar) bool { return v == a }},
		{" < :a", record{":a": a}, func(v scalar) bool { return v.compare(a) < 0 }},
		{" <= :a", record{":a": a}, func(v scalar) bool { return v.compare(a) <= 0 }},
		{" > :a", record{":a": a}, func(v scalar) bool { return v.compare(a) > 0 }},
		{" >= :a", record{":a": a}, func(v scalar) bool { return v.compare(a) >= 0 }},
		{" BETWEEN :a AND :b", record{":a": a, ":b": b}, func(v scalar) bool { return v.compare(a) >= 0 && v.compare(b) <= 0 }},
	}
	for i := range terms {
		terms[i].text = " AND " + name + terms[i].text
	}
	if a.kind != "N" {
		_, size := utf8.DecodeRuneInString(a.text)
		begin := scalar{a.kind, a.text[:size]}
		terms = append(terms, term{
			" AND begins_with(" + name + ", :a)",
			record{":a": begin},
			func(v scalar) bool { return strings.HasPrefix(v.text, begin.text) },
		})
	}
	return terms[rapid.IntRange(0, len(terms)-1).Draw(t, "comparison")]
}

// drawFilter draws a filter on an attribute that the index holds, or none.
func (m *machine) drawFilter(t *rapid.T, x index, in *engine.ReadInput, values record) func(record) bool {
	if x.projected != nil && !slices.Contains(x.projected, "v") || rapid.Bool().Draw(t, "no filter") {
		return func(record) bool { return true }
	}
	c := small(t, "filter")
	values[":f"] = c
	in.Filter = new("v >= :f")
	return func(r record) bool { v, ok := r["v"]; return ok && v.compare(c) >= 0 }
}

// Query reads a part of a collection, page by page.
func (m *machine) Query(t *rapid.T) {
	x := rapid.SampledFrom(m.indexes).Draw(t, "index")
	in := m.readInput(x)
	hash := m.drawOf(t, x.hash)
	values := record{":h": hash}
	of := func(r record) bool { return r[x.hash] == hash }
	text := x.hash + " = :h"
	if x.sort != "" && rapid.Bool().Draw(t, "sort key condition") {
		c := m.drawTerm(t, x.sort)
		text += c.text
		maps.Copy(values, c.values)
		of = func(r record) bool { return r[x.hash] == hash && c.holds(r[x.sort]) }
	}
	in.KeyCondition = &text
	keep := m.drawFilter(t, x, in, values)
	in.Values, in.HasValues = values.item(), true
	scanned := m.entries(x, of)
	want := m.entries(x, func(r record) bool { return of(r) && keep(r) })
	if rapid.Bool().Draw(t, "reverse") {
		in.ScanIndexForward = new(false)
		slices.Reverse(want)
	}
	got, read := m.pages(t, in, m.engine.Query)
	same(t, "scanned by "+text, read, len(scanned))
	same(t, "sort keys of "+text, column(got, x.sort), column(want, x.sort))
	same(t, "items of "+text, m.sorted(got), m.sorted(want))
}

func (m *machine) readInput(x index) *engine.ReadInput {
	in := &engine.ReadInput{TableName: &m.table}
	if x.name != "" {
		in.IndexName = &x.name
	}
	return in
}

func column(list []record, name string) (out []scalar) {
	for _, r := range list {
		out = append(out, r[name])
	}
	return out
}

// pages reads to the end, in pages of random size.
func (m *machine) pages(t *rapid.T, in *engine.ReadInput, read func(context.Context, *engine.ReadInput) (*engine.ReadOutput, error)) (got []record, scanned int) {
	for {
		in.Limit = nil
		if limit := rapid.Int64Range(0, 4).Draw(t, "limit"); limit > 0 {
			in.Limit = &limit
		}
		out, err := read(context.Background(), in)
		must(t, err)
		same(t, "count", out.Count, len(out.Items))
		got = append(got, records(out.Items)...)
		scanned += out.ScannedCount
		if in.Limit == nil {
			same(t, "last key without a limit", out.LastEvaluatedKey == nil, true)
		} else {
			single := in.KeyCondition != nil && in.IndexName == nil && m.sort == "" // at most one item: there is no next page
			same(t, "last key", out.LastEvaluatedKey != nil, int64(out.ScannedCount) == *in.Limit && !single)
		}
		if out.LastEvaluatedKey == nil {
			return got, scanned
		}
		in.ExclusiveStartKey, in.HasStartKey = out.LastEvaluatedKey, true
	}
}

// Scan reads all segments of a table or index, page by page.
func (m *machine) Scan(t *rapid.T) {
	x := rapid.SampledFrom(m.indexes).Draw(t, "index")
	total := rapid.Int64Range(0, 5).Draw(t, "segments")
	values := record{}
	filtered := m.readInput(x)
	keep := m.drawFilter(t, x, filtered, values)
	if filtered.HasValues = len(values) > 0; filtered.HasValues {
		filtered.Values = values.item()
	}
	var got []record
	scanned := 0
	for segment := range max(total, 1) {
		in := *filtered
		if total > 0 {
			in.Segment, in.TotalSegments = &segment, &total
		}
		part, read := m.pages(t, &in, m.engine.Scan)
		for i := 1; i < len(part); i++ {
			a, b := part[i-1], part[i]
			if x.sort != "" && a[x.hash] == b[x.hash] && a[x.sort].compare(b[x.sort]) > 0 {
				t.Fatalf("%v comes before %v", a, b)
			}
		}
		got = append(got, part...)
		scanned += read
	}
	same(t, "scanned", scanned, len(m.entries(x, func(record) bool { return true })))
	same(t, "items", m.sorted(got), m.sorted(m.entries(x, keep)))
}

// Check is what holds after every operation: the table counts its items, and its
// stream tells how they came to be.
func (m *machine) Check(t *rapid.T) {
	d, err := m.engine.DescribeTable(context.Background(), &engine.TableInput{TableName: &m.table})
	must(t, err)
	same(t, "item count", d.ItemCount, int64(len(m.items)))
	for _, x := range m.indexes[1:] {
		for _, described := range slices.Concat(d.LocalIndexes, d.GlobalIndexes) {
			if described.IndexName == x.name {
				same(t, x.name+" item count", described.ItemCount, int64(len(m.entries(x, func(record) bool { return true }))))
			}
		}
	}
	m.readRecords(t)
	same(t, "the table as its stream tells it", m.replay, m.items)
}

func (m *machine) readRecords(t *rapid.T) {
	for {
		out, err := m.engine.GetRecords(context.Background(), &engine.GetRecordsInput{ShardIterator: &m.iterator})
		must(t, err)
		if len(out.Records) == 0 {
			return
		}
		m.iterator = out.NextIterator
		for _, r := range out.Records {
			before, after := recordOf(r.OldImage), recordOf(r.NewImage)
			place := m.place(recordOf(r.Keys))
			same(t, "old image", before, m.replay[place])
			same(t, "a record without a change", maps.Equal(before, after), false)
			event := "MODIFY"
			if before == nil {
				event = "INSERT"
			} else if after == nil {
				event = "REMOVE"
			}
			same(t, "event", r.EventName, event)
			if after == nil {
				delete(m.replay, place)
			} else {
				m.replay[place] = after
			}
		}
	}
}

// same compares an answer with the model's.
func same(t *rapid.T, what string, got, want any) {
	t.Helper()
	if g, w := fmt.Sprintf("%#v", got), fmt.Sprintf("%#v", want); g != w {
		t.Fatalf("%s: got %s, want %s", what, g, w)
	}
}
