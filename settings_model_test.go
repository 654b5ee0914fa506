package heatsink

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"pgregory.net/rapid"

	"github.com/heatsink-go/heatsink/layout"
	"github.com/heatsink-go/heatsink/local"
)

// TestAnySettings opens collections with random settings and gives them odd keys. Whatever they are: an operation that
// returns no error did what it says. What was put is found by Get, listed once and in order by Query, by pages of any size
// and by Count; what was changed or deleted is; and nothing else is there.
func TestAnySettings(t *testing.T) {
	client := startWith(t, local.Options{}).Client()
	makeTable(t, client, "items")
	run, refused, inputs := 0, 0, 0
	rapid.Check(t, func(rt *rapid.T) {
		run++
		m := &settingsModel{T: rt, prefix: fmt.Sprintf("%d|", run), items: map[string]map[string]int{}, times: map[string]time.Time{}}
		options := m.settings()
		var err error
		if m.collection, err = Open[Item](client, options); err != nil {
			if !errors.Is(err, ErrOptions) && !errors.Is(err, layout.ErrInvalid) {
				rt.Fatalf("%+v: got %v, want an error of a known kind", options, err)
			}
			refused++
			return
		}
		m.options = options
		m.run()
		inputs += m.inputs
	})
	t.Logf("settings attack: %d settings, %d of them refused, %d operations", run, refused, inputs)
}

type settingsModel struct {
	*rapid.T
	prefix     string // keeps the keys of one run apart from those of others
	options    Options
	collection *Collection[Item]
	items      map[string]map[string]int // n by sort key by key
	times      map[string]time.Time      // by sort key
	inputs     int
}

// settings draws options, most of which go together.
func (m *settingsModel) settings() Options {
	spread := func(name string) layout.Layout {
		return layout.Layout{
			Shards:   rapid.SampledFrom([]int{0, 1, 2, 4, 7, 16}).Draw(m.T, name+" shards"),
			Strategy: rapid.SampledFrom([]layout.Strategy{layout.Random, layout.Calculated}).Draw(m.T, name+" strategy"),
			Hash:     rapid.SampledFrom([]layout.Hash{layout.XXHash, layout.FNV, layout.CRC32, layout.MD5, layout.Product}).Draw(m.T, name+" hash"),
			Format: rapid.SampledFrom([]layout.Format{
				{}, {BareZero: true}, layout.SharpNumber(), layout.PlainNumber(), layout.DotFromOne(), {Width: 3}, {ShardPrefix: "-", BareZero: true, First: 1},
			}).Draw(m.T, name+" format"),
		}
	}
	o := Options{Table: "items", PartitionKey: "pk", SortKey: "sk", Layout: spread("layout"), TTL: "ttl"}
	o.Layout.Bucket = rapid.SampledFrom([]layout.Bucket{layout.NoBucket, layout.NoBucket, layout.Hour, layout.Day, layout.Month}).Draw(m.T, "bucket")
	o.EventTime = EventTime{Attribute: "at", Unit: TimeUnit(rapid.IntRange(0, 2).Draw(m.T, "unit"))}
	if rapid.Bool().Draw(m.T, "versions") {
		o.Version = "v"
	}
	for i := range rapid.IntRange(0, 2).Draw(m.T, "older layouts") {
		o.Older = append(o.Older, spread(fmt.Sprint("older ", i)))
	}
	if rapid.IntRange(0, 3).Draw(m.T, "widths") == 0 {
		write := 1 << rapid.IntRange(0, 3).Draw(m.T, "written")
		o.Widths = &growing{width: layout.Width{Write: write, Read: write << rapid.IntRange(0, 2).Draw(m.T, "read")}}
	}
	return o
}

// oddKeys are keys that look like something else.
var oddKeys = []string{
	"a", "a#", "a#1", "a.7", "A#SHARD_3", "A#SHARD#3", "#SHARD_", "a#2024-01-01", "a#2024", "a-0", "日本", " ", "a\x00b", "{key}",
	strings.Repeat("k", 1990), strings.Repeat("k", 2047), "a\xff", "",
}

var oddSorts = []string{"0", "00", "a", "é", "\x00", "#", "a#b", strings.Repeat("s", 1024), strings.Repeat("s", 1025), "", "~"}

func (m *settingsModel) run() {
	for range rapid.IntRange(1, 25).Draw(m.T, "steps") {
		m.inputs++
		switch rapid.IntRange(0, 7).Draw(m.T, "step") {
		case 0:
			m.update()
		case 1:
			m.delete()
		case 2:
			m.read()
		case 3:
			m.create()
		default:
			m.put()
		}
	}
	for key := range m.items {
		m.readKey(key)
	}
}

func (m *settingsModel) key() string {
	key := rapid.SampledFrom(oddKeys).Draw(m.T, "key")
	if key == "" {
		return key
	}
	return m.prefix + key
}

// item draws an item: of a random layout with a sort key that is new, as Put appends then.
func (m *settingsModel) item() (key, sort string, item Item) {
	key, sort = m.key(), rapid.SampledFrom(oddSorts).Draw(m.T, "sort")
	if m.appends() && sort != "" {
		sort = fmt.Sprintf("%d-%s", m.inputs, sort)
	}
	at, ok := m.times[sort]
	if !ok {
		at = time.Unix(1_700_000_000+rapid.Int64Range(0, 200_000).Draw(m.T, "second"), 0).UTC()
		m.times[sort] = at
	}
	return key, sort, Item{"pk": text(key), "sk": text(sort), "at": m.time(at), "n": number(fmt.Sprint(m.inputs))}
}

func (m *settingsModel) time(at time.Time) types.AttributeValue {
	switch m.options.EventTime.Unit {
	case UnixSeconds:
		return number(fmt.Sprint(at.Unix()))
	case UnixMilliseconds:
		return number(fmt.Sprint(at.UnixMilli()))
	}
	return text(at.Format(time.RFC3339))
}

// appends reports whether Put may put an item beside one with the same key.
func (m *settingsModel) appends() bool {
	o := m.options
	return o.Layout.Strategy == layout.Random && (o.Layout.Shards > 1 || o.Widths != nil)
}

// fits checks that an error is one that odd input may have.
func (m *settingsModel) fits(what string, err error) {
	for _, kind := range []error{ErrItem, layout.ErrKey, ErrQuery, ErrScattered, ErrNotFound} {
		if errors.Is(err, kind) {
			return
		}
	}
	if failed, ok := errors.AsType[*ShardError](err); ok && strings.Contains(failed.Err.Error(), "ValidationException") {
		return // what DynamoDB itself does not take
	}
	m.Fatalf("%s: got %v, want an error that odd input may have", what, err)
}

func (m *settingsModel) put() {
	key, sort, item := m.item()
	if _, err := m.collection.Put(context.Background(), item); err != nil {
		m.fits("put", err)
		return
	}
	m.keep(key, sort)
	m.get(key, sort)
}

func (m *settingsModel) keep(key, sort string) {
	if m.items[key] == nil {
		m.items[key] = map[string]int{}
	}
	m.items[key][sort] = m.inputs
}

// create puts an item that must not be there.
func (m *settingsModel) create() {
	key, sort, item := m.item()
	_, err := m.collection.Put(context.Background(), item, func(in *dynamodb.PutItemInput) {
		in.ConditionExpression = aws.String("attribute_not_exists(sk)")
	})
	_, there := m.items[key][sort]
	switch failed := errors.As(err, new(*types.ConditionalCheckFailedException)); {
	case failed && !there:
		m.Fatalf("create %q %q: it is not there, but %v", key, sort, err)
	case err == nil && there:
		m.Fatalf("create %q %q: it was created twice", key, sort)
	case err == nil:
		m.keep(key, sort)
	case !failed:
		m.fits("create", err)
	}
}

// some draws an item that is there, mostly.
func (m *settingsModel) some() (key, sort string, like Item, there bool) {
	if len(m.items) == 0 || rapid.IntRange(0, 4).Draw(m.T, "absent") == 0 {
		key, sort, like = m.item()
		_, there = m.items[key][sort]
		return key, sort, like, there
	}
	key = rapid.SampledFrom(slices.Sorted(maps.Keys(m.items))).Draw(m.T, "some key")
	if len(m.items[key]) == 0 {
		key, sort, like = m.item()
		_, there = m.items[key][sort]
		return key, sort, like, there
	}
	sort = rapid.SampledFrom(slices.Sorted(maps.Keys(m.items[key]))).Draw(m.T, "some sort")
	return key, sort, m.like(key, sort), true
}

func (m *settingsModel) like(key, sort string) Item {
	return Item{"pk": text(key), "sk": text(sort), "at": m.time(m.times[sort])}
}

func (m *settingsModel) update() {
	key, sort, like, there := m.some()
	_, err := m.collection.Update(context.Background(), like, func(in *dynamodb.UpdateItemInput) {
		in.UpdateExpression = aws.String("SET n = :n, #at = :at")
		in.ExpressionAttributeNames = map[string]string{"#at": "at"}
		in.ExpressionAttributeValues = Item{":n": number(fmt.Sprint(m.inputs)), ":at": like["at"]}
	})
	switch {
	case errors.Is(err, ErrNotFound) && there:
		m.Fatalf("update %q %q: it is there, but %v", key, sort, err)
	case err != nil:
		m.fits("update", err)
	default:
		m.keep(key, sort)
		m.get(key, sort)
	}
}

func (m *settingsModel) delete() {
	key, sort, like, there := m.some()
	_, err := m.collection.Delete(context.Background(), like)
	switch {
	case errors.Is(err, ErrNotFound) && there:
		m.Fatalf("delete %q %q: it is there, but %v", key, sort, err)
	case err != nil:
		m.fits("delete", err)
	default:
		delete(m.items[key], sort)
		if _, err := m.collection.Get(context.Background(), like, strongly); !errors.Is(err, ErrNotFound) {
			m.Fatalf("after deleting %q %q: got %v", key, sort, err)
		}
	}
}

func strongly(in *dynamodb.GetItemInput) { in.ConsistentRead = aws.Bool(true) }

func (m *settingsModel) get(key, sort string) {
	got, err := m.collection.Get(context.Background(), m.like(key, sort), strongly)
	if err != nil || attrText(got, "pk") != key || attrText(got, "n") != fmt.Sprint(m.items[key][sort]) {
		m.Fatalf("get %q %q: got %s, %v, want n to be %d", key, sort, showItem(got), err, m.items[key][sort])
	}
}

func (m *settingsModel) read() {
	if len(m.items) > 0 {
		m.readKey(rapid.SampledFrom(slices.Sorted(maps.Keys(m.items))).Draw(m.T, "read"))
	}
}

// readKey compares what a key has with everything that can be asked of it.
func (m *settingsModel) readKey(key string) {
	ctx := context.Background()
	q := Query{Key: key, Consistent: true, Reverse: rapid.Bool().Draw(m.T, "reverse")}
	if m.options.Layout.Bucket != layout.NoBucket || rapid.Bool().Draw(m.T, "timed") {
		q.From = time.Unix(1_700_000_000+rapid.Int64Range(-10, 100_000).Draw(m.T, "from"), 0)
		q.To = q.From.Add(time.Duration(rapid.Int64Range(0, 200_000).Draw(m.T, "seconds")) * time.Second)
	}
	var want []string
	for sort := range m.items[key] {
		if at := m.times[sort]; q.From.IsZero() || !at.Before(q.From) && at.Before(q.To) {
			want = append(want, sort)
		}
	}
	slices.SortFunc(want, func(a, b string) int {
		c := m.options.Layout.Bucket.Start(m.times[a]).Compare(m.options.Layout.Bucket.Start(m.times[b]))
		if c == 0 {
			c = strings.Compare(a, b)
		}
		if q.Reverse {
			return -c
		}
		return c
	})
	got, err := all(ctx, m.collection, q, "sk")
	if err != nil || !slices.Equal(got, want) {
		m.Fatalf("query %q from %v to %v: got %q, %v, want %q", key, q.From, q.To, got, err, want)
	}
	if n, err := m.collection.Count(ctx, q); err != nil || n != len(want) {
		m.Fatalf("count %q: got %d, %v, want %d", key, n, err, len(want))
	}
	q.Limit = rapid.IntRange(1, 5).Draw(m.T, "limit")
	var paged []string
	for token := ""; ; {
		page, err := m.collection.Page(ctx, q, token)
		if err != nil || len(page.Items) > q.Limit {
			m.Fatalf("page of %q: got %d items, %v", key, len(page.Items), err)
		}
		for _, item := range page.Items {
			paged = append(paged, attrText(item, "sk"))
		}
		if token = page.Next; token == "" {
			break
		}
	}
	if !slices.Equal(paged, want) {
		m.Fatalf("pages of %q: got %q, want %q", key, paged, want)
	}
}
