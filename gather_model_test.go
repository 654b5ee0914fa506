package heatsink

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"pgregory.net/rapid"

	"github.com/heatsink-go/heatsink/internal/attr"
	"github.com/heatsink-go/heatsink/internal/enginetest"
	"github.com/heatsink-go/heatsink/internal/expr/compose"
	"github.com/heatsink-go/heatsink/internal/sortkey"
	"github.com/heatsink-go/heatsink/layout"
)

// shape is a kind of table that the model is run on.
type shape struct {
	name   string
	sort   attr.Kind // of the sort key, attr.Invalid for none
	index  bool      // listed by an index
	number bool      // whose shard is an attribute of its own
}

var shapes = []shape{
	{name: "text", sort: attr.S},
	{name: "number", sort: attr.N},
	{name: "binary", sort: attr.B},
	{name: "hashonly"},
	{name: "index", sort: attr.S, index: true},
	{name: "indexnumber", sort: attr.N, index: true},
	{name: "indexhashonly", index: true},
	{name: "indexshard", sort: attr.S, index: true, number: true},
}

// calculated reports whether the layout must be.
func (s shape) calculated() bool { return s.index || s.sort == attr.Invalid }

// create creates the shape's table, and returns options for a collection on it.
func (s shape) create(t *testing.T, client *dynamodb.Client) Options {
	t.Helper()
	options := Options{Table: s.name, PartitionKey: "pk"}
	if s.sort != attr.Invalid {
		options.SortKey = "sk"
	} else if !s.index {
		options.OnePerShard, options.ShardBy = true, []string{"id"}
	}
	defined := map[string]types.ScalarAttributeType{"pk": types.ScalarAttributeTypeS}
	keys := []types.KeySchemaElement{{AttributeName: aws.String("pk"), KeyType: types.KeyTypeHash}}
	if s.number {
		options.Index.ShardAttribute = "shard"
		defined["shard"] = types.ScalarAttributeTypeN
		keys = append(keys, types.KeySchemaElement{AttributeName: aws.String("shard"), KeyType: types.KeyTypeHash})
	}
	if s.sort != attr.Invalid {
		defined["sk"] = types.ScalarAttributeType(map[attr.Kind]string{attr.S: "S", attr.N: "N", attr.B: "B"}[s.sort])
		keys = append(keys, types.KeySchemaElement{AttributeName: aws.String("sk"), KeyType: types.KeyTypeRange})
	}
	in := &dynamodb.CreateTableInput{
		TableName: &options.Table, BillingMode: types.BillingModePayPerRequest, KeySchema: keys,
	}
	if s.index {
		options.Index.Name, options.Index.PartitionKey, options.Index.SortKey = "listing", options.PartitionKey, options.SortKey
		options.PartitionKey, options.SortKey = "id", ""
		defined["id"] = types.ScalarAttributeTypeS
		in.KeySchema = []types.KeySchemaElement{{AttributeName: aws.String("id"), KeyType: types.KeyTypeHash}}
		in.GlobalSecondaryIndexes = []types.GlobalSecondaryIndex{{
			IndexName: aws.String("listing"), KeySchema: keys,
			Projection: &types.Projection{ProjectionType: types.ProjectionTypeAll},
		}}
	}
	for name, kind := range defined {
		in.AttributeDefinitions = append(in.AttributeDefinitions,
			types.AttributeDefinition{AttributeName: aws.String(name), AttributeType: kind})
	}
	if _, err := client.CreateTable(t.Context(), in); err != nil {
		t.Fatal(err)
	}
	enginetest.DropTable(t, client, options.Table)
	return options
}

// value returns the nth of the sort keys that the model draws: few, so that they collide, and in order.
func (s shape) value(n int) types.AttributeValue {
	switch s.sort {
	case attr.S:
		return &types.AttributeValueMemberS{Value: []string{"\x00", "A", "A\x00", "AB", "a", "ab", "abc", "é", "\uFFFD", "\U0010FFFF"}[n]}
	case attr.N:
		return &types.AttributeValueMemberN{Value: []string{
			"-9.9999999999999999999999999999999999999E+125", "-10", "-9", "-1E-130", "0", "1E-130", "9", "10",
			"12345678901234567890123456789012345678", "9.9999999999999999999999999999999999999E+125",
		}[n]}
	case attr.B:
		return &types.AttributeValueMemberB{Value: [][]byte{{0}, {0, 0}, {1}, {1, 0xFF}, {0x7F}, {0x80}, {0xFE, 1}, {0xFF}, {0xFF, 0}, {0xFF, 0xFF}}[n]}
	}
	return nil
}

const sortValues = 10

// stored is an item of the model.
type stored struct {
	id     string
	day    int
	sort   int // of sortValues
	older  bool
	shard  int
	even   bool // passes the filter
	hour   int
	string // the partition key it is stored under
}

// growing is a key's width, which tests change.
type growing struct {
	mu    sync.Mutex
	width layout.Width
}

func (g *growing) Width(context.Context, string, time.Time) (layout.Width, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.width, nil
}

func (g *growing) set(w layout.Width) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.width = w
}

var firstDay = time.Date(2026, 2, 27, 0, 0, 0, 0, time.UTC)

// TestGatherModel reads what was stored in random layouts in every way, and compares it with a sorted list: whole, in
// pages of random sizes, forwards and back, with filters, ranges, projections and ties, while the layout grows and items
// come and go between the pages.
func TestGatherModel(t *testing.T) {
	enginetest.Each(t, func(t *testing.T, client *dynamodb.Client) {
		ours := strings.HasSuffix(t.Name(), "/local")
		for _, s := range shapes {
			if !ours && (s.sort == attr.Invalid || s.number) {
				continue // dynoxide's pages without a sort key never end, and its keys have one attribute
			}
			t.Run(s.name, func(t *testing.T) {
				options := s.create(t, client)
				var run int
				rapid.Check(t, func(rt *rapid.T) {
					if run++; run > 20 && !ours {
						return // engines behind a port are slow
					}
					m := newModel(rt, s, client, options, run)
					m.ours = ours
					m.fill()
					m.check()
				})
			})
		}
	})
}

// model is one run: what is stored, and the collection to read it with.
type model struct {
	*rapid.T
	shape
	ours    bool // the engine is
	client  *dynamodb.Client
	options Options
	widths  *growing
	items   *Collection[Item]
	key     string
	stored  map[string]stored
	ids     int
}

func newModel(rt *rapid.T, s shape, client *dynamodb.Client, options Options, run int) *model {
	m := &model{T: rt, shape: s, client: client, options: options, key: fmt.Sprintf("key-%d", run), stored: make(map[string]stored)}
	width := rapid.IntRange(1, 9).Draw(rt, "width")
	if s.calculated() {
		width = rapid.SampledFrom([]int{1, 2, 4, 8}).Draw(rt, "power of two")
	}
	m.widths = &growing{width: layout.Width{Write: width, Read: width}}
	m.options.Widths = m.widths
	m.options.Layout = layout.Layout{Shards: width}
	m.options.EventTime = EventTime{Attribute: "at"}
	m.options.ReadMemory = rapid.SampledFrom([]int{1, 1 << 12, 64 << 20}).Draw(rt, "memory")
	if s.calculated() {
		m.options.Layout.Strategy = layout.Calculated
	}
	if !s.number {
		m.options.Layout.Format.BareZero = rapid.Bool().Draw(rt, "bare zero")
		if rapid.Bool().Draw(rt, "buckets") {
			m.options.Layout.Bucket = layout.Day
		} else if rapid.Bool().Draw(rt, "older") {
			m.options.Older = []layout.Layout{{}, {Shards: 2, Format: layout.SharpNumber()}}
		}
	}
	var err error
	if m.items, err = Open[Item](client, m.options); err != nil {
		rt.Fatal(err)
	}
	return m
}

func (m *model) fill() {
	for range rapid.IntRange(0, 40).Draw(m.T, "items") {
		m.put(rapid.IntRange(0, sortValues-1).Draw(m.T, "sort"))
	}
	for _, id := range slices.Sorted(maps.Keys(m.stored)) {
		if rapid.IntRange(0, 9).Draw(m.T, "delete") == 0 {
			m.delete(id)
		}
	}
}

// put stores an item in a shard of its own choice, past the collection.
func (m *model) put(sort int) {
	m.ids++
	s := stored{id: fmt.Sprintf("%s-%03d", m.key, m.ids), sort: sort, even: m.ids%2 == 0}
	if m.sort == attr.Invalid {
		s.sort = 0
	}
	s.shard = rapid.IntRange(0, m.widths.width.Write-1).Draw(m.T, "shard")
	spread := m.options.Layout.WithShards(m.widths.width.Write)
	at := firstDay
	if spread.Bucket == layout.Day {
		s.day = rapid.IntRange(0, 3).Draw(m.T, "day")
		s.hour = rapid.IntRange(0, 23).Draw(m.T, "hour")
		at = firstDay.AddDate(0, 0, s.day).Add(time.Duration(s.hour) * time.Hour)
	}
	if len(m.options.Older) > 0 && rapid.Bool().Draw(m.T, "in older") {
		s.older, spread, s.shard = true, m.options.Older[1], s.shard%2
	}
	key, err := spread.ShardKey(m.key, at, s.shard)
	if err != nil {
		m.Fatal(err)
	}
	if m.number {
		key = m.key
	}
	s.string = key
	item := Item{
		"pk": &types.AttributeValueMemberS{Value: key},
		"id": &types.AttributeValueMemberS{Value: s.id},
		"at": &types.AttributeValueMemberS{Value: at.Format(time.RFC3339)},
		"n":  &types.AttributeValueMemberN{Value: strconv.Itoa(m.ids % 2)},
	}
	if m.number {
		item["shard"] = &types.AttributeValueMemberN{Value: strconv.Itoa(s.shard)}
	}
	if m.sort != attr.Invalid {
		item["sk"] = m.value(s.sort)
	}
	if !m.index { // the same key replaces
		maps.DeleteFunc(m.stored, func(_ string, o stored) bool { return o.string == s.string && o.sort == s.sort })
	}
	if _, err := m.client.PutItem(context.Background(), &dynamodb.PutItemInput{TableName: &m.options.Table, Item: item}); err != nil {
		m.Fatal(err)
	}
	m.stored[s.id] = s
}

func (m *model) delete(id string) {
	s := m.stored[id]
	key := Item{"id": &types.AttributeValueMemberS{Value: id}}
	if !m.index {
		key = Item{"pk": &types.AttributeValueMemberS{Value: s.string}}
		if m.sort != attr.Invalid {
			key["sk"] = m.value(s.sort)
		}
	}
	if _, err := m.client.DeleteItem(context.Background(), &dynamodb.DeleteItemInput{TableName: &m.options.Table, Key: key}); err != nil {
		m.Fatal(err)
	}
	delete(m.stored, id)
}

// query draws a query and the test for what it asks for.
func (m *model) query() (Query, func(stored) bool) {
	q := Query{Key: m.key, Reverse: rapid.Bool().Draw(m.T, "reverse"), Hedge: rapid.Bool().Draw(m.T, "hedge")}
	tests := []func(stored) bool{}
	if m.options.Layout.Bucket == layout.Day {
		from := rapid.IntRange(0, 50).Draw(m.T, "from")
		to := rapid.IntRange(from, 100).Draw(m.T, "to")
		q.From, q.To = firstDay.Add(time.Duration(from)*time.Hour), firstDay.Add(time.Duration(to)*time.Hour)
		q.Prefetch = rapid.IntRange(0, 4).Draw(m.T, "ahead")
		tests = append(tests, func(s stored) bool { return s.day*24+s.hour >= from && s.day*24+s.hour < to })
	}
	if m.sort != attr.Invalid {
		lo := rapid.IntRange(0, sortValues-1).Draw(m.T, "lo")
		hi := rapid.IntRange(lo, sortValues-1).Draw(m.T, "hi")
		ranges := []struct {
			Range
			in func(n int) bool
		}{
			{Range{}, func(int) bool { return true }},
			{Equal(m.value(lo)), func(n int) bool { return n == lo }},
			{Less(m.value(lo)), func(n int) bool { return n < lo }},
			{AtMost(m.value(lo)), func(n int) bool { return n <= lo }},
			{Greater(m.value(lo)), func(n int) bool { return n > lo }},
			{AtLeast(m.value(lo)), func(n int) bool { return n >= lo }},
			{Between(m.value(lo), m.value(hi)), func(n int) bool { return n >= lo && n <= hi }},
			{BeginsWith(m.value(lo)), func(n int) bool {
				return strings.HasPrefix(m.text(n), m.text(lo))
			}},
		}
		if m.sort == attr.N {
			ranges = ranges[:len(ranges)-1]
		}
		r := rapid.SampledFrom(ranges).Draw(m.T, "range")
		q.Sort = r.Range
		tests = append(tests, func(s stored) bool { return r.in(s.sort) })
	}
	if rapid.Bool().Draw(m.T, "filter") {
		q.Filter, q.Names = "#n = :zero", map[string]string{"#n": "n"}
		q.Values = Item{":zero": &types.AttributeValueMemberN{Value: "0"}}
		tests = append(tests, func(s stored) bool { return s.even })
	}
	if rapid.Bool().Draw(m.T, "projection") {
		q.Projection = "n" + rapid.SampledFrom([]string{"", ", pk", ", sk", ", id"}).Draw(m.T, "projected")
		if m.sort == attr.Invalid || m.index {
			q.Projection = "n, id"
		}
		if !strings.Contains(q.Projection, "id") {
			q.Projection += ", id"
		}
	}
	return q, func(s stored) bool {
		for _, test := range tests {
			if !test(s) {
				return false
			}
		}
		return true
	}
}

func (m *model) text(n int) string {
	v, err := sortkey.Of(m.value(n))
	if err != nil {
		m.Fatal(err)
	}
	return v.Text
}

// before is the order of a query.
func (m *model) before(reverse bool) func(a, b stored) int {
	source := func(s stored) int {
		if s.older {
			return 1000 + s.shard
		}
		return s.shard
	}
	return func(a, b stored) int {
		c := cmp.Or(cmp.Compare(a.day, b.day), cmp.Compare(a.sort, b.sort), cmp.Compare(source(a), source(b)))
		if reverse {
			c = -c
		}
		return c
	}
}

func (m *model) check() {
	q, asked := m.query()
	order := m.before(q.Reverse)
	expected := func() []stored {
		var want []stored
		for _, s := range m.stored {
			if asked(s) {
				want = append(want, s)
			}
		}
		slices.SortFunc(want, func(a, b stored) int { return cmp.Or(order(a, b), cmp.Compare(a.id, b.id)) })
		return want
	}

	want := expected()
	var got []stored
	for item, err := range m.items.Query(context.Background(), q) {
		if err != nil {
			m.Fatal(err)
		}
		got = append(got, m.look(q, item))
	}
	m.same("Query", got, want, order)

	if limit := rapid.IntRange(1, 12).Draw(m.T, "limit"); len(want) > 0 {
		limited := q
		limited.Limit = limit
		got = nil
		for item, err := range m.items.Query(context.Background(), limited) {
			if err != nil {
				m.Fatal(err)
			}
			got = append(got, m.look(q, item))
		}
		if len(got) != min(limit, len(want)) {
			m.Fatalf("limit %d of %d items: got %d", limit, len(want), len(got))
		}
		if !m.index {
			m.same("limit", got, want[:len(got)], order)
		}
	}

	n, err := m.items.Count(context.Background(), q)
	if !m.ours && q.Sort.op == sortkey.BeginsWith {
		n = len(want) // dynoxide's begins_with ends at a NUL
	}
	if err != nil || n != len(want) {
		m.Fatalf("count: got %d, %v, want %d", n, err, len(want))
	}
	m.pages(q, asked, order)
}

// pages reads page by page, while things change.
func (m *model) pages(q Query, asked func(stored) bool, order func(a, b stored) int) {
	seen := make(map[string]bool)
	var last *stored
	var got []stored
	for token := ""; ; {
		q.Limit = rapid.IntRange(1, 12).Draw(m.T, "page size")
		page, err := m.items.Page(context.Background(), q, token)
		if err != nil {
			m.Fatal(err)
		}
		if len(page.Items) < q.Limit && page.Next != "" {
			m.Fatalf("a page of %d items instead of %d, but not the last", len(page.Items), q.Limit)
		}
		for _, item := range page.Items {
			s := m.look(q, item)
			if seen[s.id] {
				m.Fatalf("item %s twice", s.id)
			}
			seen[s.id] = true
			if last != nil && order(*last, s) > 0 {
				m.Fatalf("%v after %v", s, *last)
			}
			last = &s
			got = append(got, s)
		}
		if token = page.Next; token == "" {
			break
		}
		m.grow()
		if !m.index && last != nil { // ties at the position have no order in an index
			m.put(rapid.IntRange(0, sortValues-1).Draw(m.T, "sort"))
			for _, s := range m.stored { // what comes to be before the position is not seen
				if order(s, *last) <= 0 {
					seen[s.id] = true
				}
			}
		}
	}
	for _, s := range m.stored {
		if asked(s) && !seen[s.id] {
			m.Errorf("item %v was never returned; after %v", s, got)
		}
	}
}

// grow widens the layout, sometimes.
func (m *model) grow() {
	w := m.widths.width
	if rapid.Bool().Draw(m.T, "grow") {
		if m.calculated() { // powers of two
			w.Read *= rapid.SampledFrom([]int{1, 2, 4}).Draw(m.T, "times")
			w.Write = w.Read
		} else {
			w.Read += rapid.IntRange(0, 5).Draw(m.T, "by")
			w.Write = rapid.IntRange(1, w.Read).Draw(m.T, "write width")
		}
		m.widths.set(w)
	}
}

// look returns the model's item for one that was read, and checks what it looks like.
func (m *model) look(q Query, item Item) stored {
	id, ok := item["id"].(*types.AttributeValueMemberS)
	if !ok {
		m.Fatalf("item without id: %v", item)
	}
	if pk, ok := item["pk"].(*types.AttributeValueMemberS); ok && pk.Value != m.key {
		m.Fatalf("the key is %q, want %q", pk.Value, m.key)
	}
	if q.Projection != "" {
		asked := compose.TopLevel(q.Projection, q.Names)
		for name := range item {
			if !slices.Contains(asked, name) {
				m.Fatalf("attribute %q, which was not asked for", name)
			}
		}
	}
	if _, ok := item["shard"]; ok {
		m.Fatalf("the shard attribute is still there: %v", item)
	}
	s, ok := m.stored[id.Value]
	if !ok {
		m.Fatalf("item %v is not stored", item)
	}
	return s
}

func (m *model) same(what string, got, want []stored, order func(a, b stored) int) {
	if !slices.IsSortedFunc(got, order) {
		m.Fatalf("%s: out of order: %v", what, got)
	}
	ids := func(list []stored) []string {
		var ids []string
		for _, s := range list {
			ids = append(ids, s.id)
		}
		slices.Sort(ids)
		return ids
	}
	if !slices.Equal(ids(got), ids(want)) {
		m.Fatalf("%s:\ngot  %v\nwant %v", what, got, want)
	}
}
