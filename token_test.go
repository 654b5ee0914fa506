package heatsink

import (
	"bytes"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"pgregory.net/rapid"

	"github.com/heatsink-go/heatsink/internal/attr"
	"github.com/heatsink-go/heatsink/internal/pagetoken"
	"github.com/heatsink-go/heatsink/internal/sortkey"
	"github.com/heatsink-go/heatsink/layout"
	"github.com/heatsink-go/heatsink/local"
)

var tokenKeys = map[string][][]byte{"unsigned": nil, "signed": {[]byte("0123456789abcdef0123456789abcdef")}}

// fingerprints of queries that would return something else, or in another order, differ; of others they do not.
func TestFingerprint(t *testing.T) {
	open := func(o Options) *core {
		o.Table, o.PartitionKey, o.SortKey = "t", "pk", "sk"
		c, err := newCore(nil, o)
		if err != nil {
			t.Fatal(err)
		}
		return c
	}
	of := func(c *core, q Query) pagetoken.Fingerprints {
		r, err := c.prepare(t.Context(), q)
		if err != nil {
			t.Fatal(err)
		}
		return fingerprintsOf(r)
	}
	c := open(Options{Layout: layout.Layout{Shards: 8}, EventTime: EventTime{Attribute: "at"}})
	names := map[string]string{"#a": "a", "#b": "b"}
	base := Query{Key: "k", Filter: "#a = :a", Names: names, Values: Item{":a": text("x")}, Limit: 10}
	edit := func(edit func(*Query)) Query {
		q := base
		edit(&q)
		return q
	}
	values := func(v Item) Query { return edit(func(q *Query) { q.Values = v }) }
	different := map[string]Query{
		"base":       base,
		"key":        edit(func(q *Query) { q.Key = "k2" }),
		"reverse":    edit(func(q *Query) { q.Reverse = true }),
		"expired":    edit(func(q *Query) { q.IncludeExpired = true }),
		"filter":     edit(func(q *Query) { q.Filter = "#a <> :a" }),
		"projection": edit(func(q *Query) { q.Projection = "#b" }),
		"names":      edit(func(q *Query) { q.Names = map[string]string{"#a": "b", "#b": "a"} }),
		"less":       edit(func(q *Query) { q.Sort = Less("m") }),
		"at most":    edit(func(q *Query) { q.Sort = AtMost("m") }),
		"greater":    edit(func(q *Query) { q.Sort = Greater("m") }),
		"begins":     edit(func(q *Query) { q.Sort = BeginsWith("m") }),
		"equal":      edit(func(q *Query) { q.Sort = Equal("m") }),
		"between":    edit(func(q *Query) { q.Sort = Between("m", "n") }),
		"N":          values(Item{":a": number("1")}),
		"S":          values(Item{":a": text("1")}),
		"B":          values(Item{":a": &types.AttributeValueMemberB{Value: []byte("1")}}),
		"SS":         values(Item{":a": &types.AttributeValueMemberSS{Value: []string{"1"}}}),
		"SS 2":       values(Item{":a": &types.AttributeValueMemberSS{Value: []string{"1", "2"}}}),
		"NS":         values(Item{":a": &types.AttributeValueMemberNS{Value: []string{"1"}}}),
		"BS":         values(Item{":a": &types.AttributeValueMemberBS{Value: [][]byte{[]byte("1")}}}),
		"L":          values(Item{":a": &types.AttributeValueMemberL{Value: []types.AttributeValue{text("1")}}}),
		"M":          values(Item{":a": &types.AttributeValueMemberM{Value: Item{"1": text("1")}}}),
		"true":       values(Item{":a": &types.AttributeValueMemberBOOL{Value: true}}),
		"false":      values(Item{":a": &types.AttributeValueMemberBOOL{}}),
		"null":       values(Item{":a": &types.AttributeValueMemberNULL{Value: true}}),
		// these two look the same unless the set says how many it has
		"BS and S": values(Item{":a": &types.AttributeValueMemberBS{Value: [][]byte{[]byte("x")}}, ":b": text("y")}),
		"long BS":  values(Item{":a": &types.AttributeValueMemberBS{Value: [][]byte{[]byte("x"), []byte(":b"), []byte("S"), []byte("y")}}}),
	}
	seen := map[uint64]string{}
	for name, q := range different {
		f := of(c, q).One
		if other, ok := seen[f]; ok {
			t.Errorf("%s and %s have the same fingerprint", name, other)
		}
		seen[f] = name
	}
	for name, q := range map[string]Query{
		"time":       edit(func(q *Query) { q.From, q.To = firstDay, firstDay.AddDate(0, 0, 1) }), // may move
		"limit":      edit(func(q *Query) { q.Limit = 99 }),
		"consistent": edit(func(q *Query) { q.Consistent = true }),
		"ahead":      edit(func(q *Query) { q.Prefetch = 3 }),
		"hedge":      edit(func(q *Query) { q.Hedge = true }),
		"partial":    edit(func(q *Query) { q.Partial = true }),
	} {
		if of(c, q) != of(c, base) {
			t.Errorf("%s changes the fingerprint", name)
		}
	}
	if of(open(Options{Layout: layout.Layout{Shards: 64}, EventTime: EventTime{Attribute: "at"}}), base) != of(c, base) {
		t.Error("more shards change the fingerprint")
	}
	if of(open(Options{Layout: layout.Layout{Shards: 8, Format: layout.SharpNumber()}, EventTime: EventTime{Attribute: "at"}}), base) == of(c, base) {
		t.Error("another format does not change the fingerprint")
	}
	set := func(elements ...string) Query {
		return values(Item{":a": &types.AttributeValueMemberSS{Value: elements}})
	}
	if of(c, set("x", "y")) != of(c, set("y", "x")) {
		t.Error("the order of a set changes the fingerprint")
	}
	elements := []string{"y", "x"}
	of(c, set(elements...))
	if !slices.Equal(elements, []string{"y", "x"}) {
		t.Error("the caller's set was sorted")
	}
}

// A token is good for its own query on any number of shards, and for no other.
func TestTokenBelongsToItsQuery(t *testing.T) {
	client := local.Start(t).Client()
	options := shapes[0].create(t, client)
	options.Layout, options.TokenKeys = layout.Layout{Shards: 3}, tokenKeys["signed"]
	stock(t, client, options.Table, shelves(options.Layout, "k", 30, 30, 30))
	stock(t, client, options.Table, shelves(options.Layout, "k2", 5, 5, 5))
	items := collection(t, client, options)
	q := Query{Key: "k", Limit: 10}
	page, err := items.Page(t.Context(), q, "")
	if err != nil || page.Next == "" {
		t.Fatalf("got %v, %v", page.Next, err)
	}
	raw, _ := base64.RawURLEncoding.DecodeString(page.Next)
	for n, key := 4, options.TokenKeys[0]; n <= len(key); n++ {
		if bytes.Contains(raw, key[:n]) || strings.Contains(page.Next, string(key[:n])) {
			t.Fatal("the token has the key that signs it in it")
		}
	}
	for name, other := range map[string]Query{
		"key":       {Key: "k2", Limit: 10},
		"direction": {Key: "k", Limit: 10, Reverse: true},
		"range":     {Key: "k", Limit: 10, Sort: AtLeast("0")},
		"filter":    {Key: "k", Limit: 10, Filter: "attribute_exists(n)"},
	} {
		if _, err := items.Page(t.Context(), other, page.Next); !errors.Is(err, ErrToken) {
			t.Errorf("another %s: got %v, want %v", name, err, ErrToken)
		}
	}
	options.Layout.Shards = 5
	wider := collection(t, client, options)
	if _, err := wider.Page(t.Context(), q, page.Next); err != nil {
		t.Errorf("with more shards: %v", err)
	}
	options.TokenKeys = [][]byte{[]byte("another key of 16 bytes")}
	if _, err := collection(t, client, options).Page(t.Context(), q, page.Next); !errors.Is(err, ErrToken) {
		t.Errorf("with another key: %v", err)
	}
	options.TokenKeys = nil
	if _, err := collection(t, client, options).Page(t.Context(), q, page.Next); !errors.Is(err, ErrToken) {
		t.Errorf("without a key: %v", err)
	}
	// one that fits the query, but not the collection
	r, err := items.core.prepare(t.Context(), q)
	if err != nil {
		t.Fatal(err)
	}
	sort := sortkey.Value{Kind: attr.S, Text: "a"}
	for name, p := range map[string]pagetoken.Position{
		"bucket":       {Width: 3, Bucket: firstDay, Sort: sort},
		"no sort key":  {Width: 3},
		"index":        {Width: 3, Sort: sort, Table: []sortkey.Value{{Kind: attr.S, Text: "a"}}},
		"no shards":    {Sort: sort},
		"no shard":     {Width: 3, Ordinal: pagetoken.NewOrdinal(0, 3), Sort: sort},
		"no older":     {Width: 3, Ordinal: pagetoken.NewOrdinal(1, 0), Sort: sort},
		"older beside": {Width: 3, Sort: sort, Older: &pagetoken.Position{Ordinal: pagetoken.NewOrdinal(1, 0), Sort: sort}},
		"another kind": {Width: 3, Sort: sortkey.Value{Kind: attr.N, Text: string(attr.Zero)}},
	} {
		_, err := items.Page(t.Context(), q, p.Token(fingerprintsOf(r), tokenKeys["signed"]))
		if err == nil || name != "another kind" && !errors.Is(err, ErrToken) {
			t.Errorf("%s: got %v, want %v", name, err, ErrToken)
		}
	}
}

// tenants is a store with items of three tenants in three daily buckets and in older layouts, all under one key.
func tenants(t testing.TB) (*made, Options) {
	var list []string
	for _, tenant := range []string{"tenant-a", "tenant-b", "tenant-c"} {
		for i := range 4 {
			list = append(list, fmt.Sprintf("%s#%d", tenant, i))
		}
	}
	store := &made{TB: t, keys: func(string) []string { return list }}
	store.item = func(shardKey, sk string) Item {
		return Item{"id": text(shardKey + "|" + sk), "at": text(firstDay.Add(time.Hour).Format(time.RFC3339))}
	}
	options := sharded(2)
	options.EventTime = EventTime{Attribute: "at"}
	options.Older = []layout.Layout{{Shards: 2, Format: layout.SharpNumber()}}
	return store, options
}

// A token that somebody made up does not reach beyond the query's Sort.
func TestForgedTokenStaysInRange(t *testing.T) {
	store, options := tenants(t)
	items := collection(t, store, options)
	for _, sort := range []Range{BeginsWith("tenant-b#"), Between("tenant-b#0", "tenant-b#9"), AtLeast("tenant-b#"), Greater("tenant-b#0"), Equal("tenant-b#1")} {
		q := Query{Key: "k", Sort: sort, Limit: 100}
		r, err := items.core.prepare(t.Context(), q)
		if err != nil {
			t.Fatal(err)
		}
		for name, at := range map[string]sortkey.Value{
			"another tenant": {Kind: attr.S, Text: "tenant-a#0"}, "nothing": {Kind: attr.S, Text: ""}, "a number": {Kind: attr.N, Text: string(attr.Zero)}, "a binary": {Kind: attr.B, Text: "tenant-b#1"},
		} {
			for _, p := range []pagetoken.Position{
				{Width: 2, Sort: at},
				{Width: 2, Ordinal: pagetoken.NewOrdinal(1, 1), Sort: at},
			} {
				if page, err := items.Page(t.Context(), q, p.Token(fingerprintsOf(r), nil)); !errors.Is(err, ErrToken) {
					t.Errorf("%v, %s: got %d items, %v, want %v", sort, name, len(page.Items), err, ErrToken)
				}
			}
		}
	}
	options.Layout.Bucket = layout.Day
	items = collection(t, store, options)
	q := Query{Key: "k", Sort: BeginsWith("tenant-b#"), Limit: 100, From: firstDay, To: firstDay.AddDate(0, 0, 3)}
	r, err := items.core.prepare(t.Context(), q)
	if err != nil {
		t.Fatal(err)
	}
	inside, outside := sortkey.Value{Kind: attr.S, Text: "tenant-b#1"}, sortkey.Value{Kind: attr.S, Text: "tenant-a#1"}
	for name, p := range map[string]pagetoken.Position{
		"older":            {Width: 2, Bucket: firstDay, Sort: inside, Older: &pagetoken.Position{Ordinal: pagetoken.NewOrdinal(1, 0), Sort: outside}},
		"older of its own": {Width: 2, Bucket: firstDay, Sort: inside, Older: &pagetoken.Position{Ordinal: pagetoken.NewOrdinal(0, 0), Sort: inside}},
		"not so old":       {Width: 2, Bucket: firstDay, Ordinal: pagetoken.NewOrdinal(1, 0), Sort: inside},
		"within a bucket":  {Width: 2, Bucket: firstDay.Add(time.Hour), Sort: inside},
		"year 10000":       {Width: 2, Bucket: time.Date(10000, 1, 1, 0, 0, 0, 0, time.UTC), Sort: inside},
	} {
		if page, err := items.Page(t.Context(), q, p.Token(fingerprintsOf(r), nil)); !errors.Is(err, ErrToken) {
			t.Errorf("%s: got %d items, %v, want %v", name, len(page.Items), err, ErrToken)
		}
	}
}

// forge returns an unsigned token with these bytes as its position: its seal is a checksum that anybody can work out.
func forge(fingerprint uint64, position []byte) string {
	b := binary.BigEndian.AppendUint64([]byte{pagetoken.Version}, fingerprint)
	b = append(b, position...)
	return base64.RawURLEncoding.EncodeToString(binary.BigEndian.AppendUint32(b, crc32.ChecksumIEEE(b)))
}

// positionBytes returns the bytes that forge makes the same position's token of.
func positionBytes(t testing.TB, p pagetoken.Position) []byte {
	token, err := base64.RawURLEncoding.DecodeString(p.Token(pagetoken.Fingerprints{}, nil))
	if err != nil {
		t.Fatal(err)
	}
	return token[1+8 : len(token)-4]
}

// FuzzForgedToken pages on from a made-up position, sealed as the collection would, or a made-up token: it is refused, or
// nothing comes that is not in the query's Sort, and nothing comes twice.
func FuzzForgedToken(f *testing.F) {
	sort := sortkey.Value{Kind: attr.S, Text: "tenant-b#1"}
	for _, p := range []pagetoken.Position{
		{Width: 2, Sort: sort},
		{Width: 1, Ordinal: pagetoken.NewOrdinal(1, 1), Sort: sort},
		{Width: 2, Sort: sortkey.Value{Kind: attr.S, Text: "tenant-a#1"}},
		{Width: 2, Bucket: firstDay.AddDate(0, 0, 1), Ordinal: pagetoken.NewOrdinal(0, 1), Sort: sort},
		{Width: 2, Bucket: firstDay, Ordinal: pagetoken.NewOrdinal(1, 0), Sort: sort, Older: &pagetoken.Position{Ordinal: pagetoken.NewOrdinal(1, 0), Sort: sort}},
		{Width: 2, Bucket: firstDay, Sort: sort, Older: &pagetoken.Position{Ordinal: pagetoken.NewOrdinal(1, 1), Sort: sortkey.Value{Kind: attr.S, Text: "tenant-c#1"}}},
	} {
		f.Add(positionBytes(f, p), p.Width > 1, false, !p.Bucket.IsZero())
		f.Add(positionBytes(f, p), p.Width > 1, true, !p.Bucket.IsZero())
	}
	f.Fuzz(func(t *testing.T, data []byte, many, reverse, buckets bool) {
		store, options := tenants(t)
		q := Query{Key: "k", Sort: BeginsWith("tenant-b#"), Reverse: reverse, Limit: 3}
		if buckets {
			options.Layout.Bucket = layout.Day
			q.From, q.To = firstDay, firstDay.AddDate(0, 0, 3)
		}
		items := collection(t, store, options)
		r, err := items.core.prepare(t.Context(), q)
		if err != nil {
			t.Fatal(err)
		}
		token := forge(fingerprintsOf(r).One, data)
		if many {
			token = forge(fingerprintsOf(r).Many, data)
		}
		seen := map[string]bool{}
		for token != "" {
			page, err := items.Page(t.Context(), q, token)
			if err != nil {
				if !errors.Is(err, ErrToken) || len(seen) > 0 {
					t.Fatalf("after %d items: %v", len(seen), err)
				}
				return
			}
			for _, item := range page.Items {
				id := str(item, "id")
				if seen[id] || !strings.HasPrefix(str(item, "sk"), "tenant-b#") {
					t.Fatalf("%q; twice: %t", id, seen[id])
				}
				seen[id] = true
			}
			token = page.Next
		}
	})
}

// Tokens that were issued with more shards than are read now would leave out what the others hold.
func TestTokenOfMoreShards(t *testing.T) {
	for _, bucket := range []layout.Bucket{layout.NoBucket, layout.Day} {
		store := &made{TB: t, keys: func(string) []string { return ranks(10) }}
		options := sharded(8)
		options.Layout.Bucket, options.EventTime = bucket, EventTime{Attribute: "at"}
		q := Query{Key: "k", Limit: 20}
		if bucket == layout.Day {
			q.From, q.To = firstDay, firstDay.AddDate(0, 0, 2)
		}
		page, err := collection(t, store, options).Page(bg, q, "")
		if err != nil || page.Next == "" {
			t.Fatal(page, err)
		}
		for shards, ok := range map[int]bool{1: false, 4: false, 7: false, 8: true, 9: true} {
			fixed, adaptive := options, options
			fixed.Layout.Shards = shards
			adaptive.Widths = &growing{width: layout.Width{Write: 1, Read: shards}}
			for _, options := range []Options{fixed, adaptive} {
				_, err := collection(t, store, options).Page(bg, q, page.Next)
				if ok && err != nil {
					t.Errorf("%v: %d shards: %v", bucket, shards, err)
				}
				if !ok && (!errors.Is(err, ErrToken) || !errors.Is(err, ErrTooNarrow) || !strings.Contains(err.Error(), "when 8 shards were read, but now only "+fmt.Sprint(shards))) {
					t.Errorf("%v: %d shards: got %v, want %v and %v", bucket, shards, err, ErrToken, ErrTooNarrow)
				}
			}
		}
	}
}

// TestTokenOutlivesSharding gives a key that has no shards some, in the midst of reading it page by page, and more later:
// what there is comes once, and of what is added what lies behind the page.
func TestTokenOutlivesSharding(tb *testing.T) {
	rapid.Check(tb, func(t *rapid.T) {
		options := sharded(0)
		options.EventTime = EventTime{Attribute: "at"}
		if rapid.Bool().Draw(t, "spelt out") {
			options.Layout.Format = rapid.SampledFrom([]layout.Format{layout.SharpNumber(), {Width: 3}, {BareZero: true}}).Draw(t, "format before")
		}
		days := 1
		q := Query{Key: "k", Reverse: rapid.Bool().Draw(t, "reverse"), From: firstDay, To: firstDay.AddDate(0, 0, 3)}
		if rapid.Bool().Draw(t, "buckets") {
			options.Layout.Bucket, days = layout.Day, 3
		}
		if rapid.Bool().Draw(t, "older") {
			options.Older = []layout.Layout{{Shards: 2, Format: layout.PlainNumber()}}
		}
		keys, day := map[string][]string{}, map[string]int{}
		add := func(spread layout.Layout) (shardKey, sk string) {
			d := rapid.IntRange(0, days-1).Draw(t, "day")
			shardKey, err := spread.ShardKey("k", firstDay.AddDate(0, 0, d), rapid.IntRange(0, max(spread.Shards, 1)-1).Draw(t, "shard"))
			if err != nil {
				t.Fatal(err)
			}
			sk = fmt.Sprintf("%02d", rapid.IntRange(0, 9).Draw(t, "sort"))
			if i, there := slices.BinarySearch(keys[shardKey], sk); !there {
				keys[shardKey] = slices.Insert(keys[shardKey], i, sk)
			}
			day[shardKey] = d
			return shardKey, sk
		}
		due := map[string]bool{} // what has to come
		for range rapid.IntRange(0, 25).Draw(t, "items") {
			shardKey, sk := add(options.Layout)
			due[shardKey+"|"+sk] = true
		}
		for range rapid.IntRange(0, 10*len(options.Older)).Draw(t, "older items") {
			shardKey, sk := add(options.Older[0])
			due[shardKey+"|"+sk] = true
		}
		store := &made{TB: tb, keys: func(shardKey string) []string { return keys[shardKey] }}
		store.item = func(shardKey, sk string) Item {
			return Item{"id": text(shardKey + "|" + sk), "at": text(firstDay.AddDate(0, 0, day[shardKey]).Format(time.RFC3339))}
		}
		// place is where an item is in the order, without its shard; "" for older items, which go along with some bucket
		place := func(id string) string {
			shardKey, sk, _ := strings.Cut(id, "|")
			if !strings.HasPrefix(shardKey, "k#2026") {
				return ""
			}
			return fmt.Sprint(day[shardKey], sk)
		}
		if days == 1 {
			place = func(id string) string { _, sk, _ := strings.Cut(id, "|"); return sk }
		}
		seen := map[string]bool{}
		for token := ""; ; {
			q.Limit = rapid.IntRange(1, 6).Draw(t, "page size")
			page, err := collection(tb, store, options).Page(tb.Context(), q, token)
			if err != nil {
				t.Fatalf("%v: %v", options.Layout, err)
			}
			last := ""
			for _, item := range page.Items {
				if last = str(item, "id"); seen[last] {
					t.Fatalf("%q twice", last)
				}
				seen[last] = true
			}
			if token = page.Next; token == "" {
				break
			}
			if options.Layout.Shards == 0 {
				options.Layout.Format = layout.Format{BareZero: true}
			}
			options.Layout.Shards += rapid.IntRange(0, 4).Draw(t, "more shards")
			if options.Layout.Shards == 0 {
				continue
			}
			for range rapid.IntRange(0, 3).Draw(t, "new items") {
				shardKey, sk := add(options.Layout)
				id := shardKey + "|" + sk
				if at, from := place(id), place(last); at != "" && from != "" && at != from && (at > from) != q.Reverse {
					due[id] = true
				}
			}
		}
		for id := range due {
			if !seen[id] {
				t.Errorf("%q never came", id)
			}
		}
	})
}

// Which changes of the layout a token survives.
func TestTokenAndLayouts(t *testing.T) {
	bare := layout.Format{BareZero: true}
	wide := func(n int, f layout.Format) layout.Layout { return layout.Layout{Shards: n, Format: f} }
	for _, test := range []struct {
		name          string
		before, after layout.Layout
		ok            bool
	}{
		{"more shards", wide(4, layout.Format{}), wide(8, layout.Format{}), true},
		{"the first shards", layout.Layout{}, wide(10, bare), true},
		{"the first shards, spelt otherwise", layout.Layout{}, wide(10, layout.Format{ShardPrefix: ".", First: 1, Width: 3, BareZero: true}), true},
		{"one shard, still bare", wide(1, bare), wide(10, layout.Format{ShardPrefix: "-", BareZero: true}), true},
		{"from one shard to more", wide(1, layout.Format{}), wide(10, layout.Format{}), true},
		{"the default spelt out", wide(4, layout.Format{}), wide(4, layout.Format{ShardPrefix: "#SHARD_"}), true},
		{"another strategy", wide(4, layout.Format{}), layout.Layout{Shards: 4, Strategy: layout.Calculated}, true},
		{"the bare key is no longer read", layout.Layout{}, wide(10, layout.Format{}), false},
		{"the first shard has another key", wide(1, layout.Format{}), wide(10, bare), false},
		{"shards spelt otherwise", wide(2, bare), wide(10, layout.Format{ShardPrefix: ".", BareZero: true}), false},
		{"with zeros in front", wide(2, bare), wide(10, layout.Format{Width: 3, BareZero: true}), false},
		{"fewer shards", wide(4, layout.Format{}), wide(3, layout.Format{}), false},
		{"no shards", wide(4, bare), layout.Layout{}, false},
	} {
		store := &made{TB: t, keys: func(string) []string { return ranks(10) }}
		options := sharded(0)
		options.Layout = test.before
		q := Query{Key: "k", Limit: 3}
		page, err := collection(t, store, options).Page(bg, q, "")
		if err != nil || page.Next == "" {
			t.Fatal(page, err)
		}
		options.Layout = test.after
		if _, err := collection(t, store, options).Page(bg, q, page.Next); (err == nil) != test.ok || err != nil && !errors.Is(err, ErrToken) {
			t.Errorf("%s: got %v", test.name, err)
		}
	}
}

// Keys that sign tokens can be changed without a token becoming invalid.
func TestTokenKeysRotate(t *testing.T) {
	store := &made{TB: t, keys: func(string) []string { return ranks(10) }}
	q := Query{Key: "k", Limit: 3}
	old, young := []byte("the old key has 24 bytes"), []byte("the new key has 24 bytes")
	with := func(keys ...[]byte) *Collection[Item] {
		options := sharded(2)
		options.TokenKeys = keys
		return collection(t, store, options)
	}
	page, err := with(old).Page(bg, q, "")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []*Collection[Item]{with(old, young), with(young, old)} {
		if _, err := c.Page(bg, q, page.Next); err != nil {
			t.Errorf("with both keys: %v", err)
		}
	}
	if _, err := with(young).Page(bg, q, page.Next); !errors.Is(err, ErrToken) {
		t.Errorf("without the key: got %v, want %v", err, ErrToken)
	}
	if page, err = with(young, old).Page(bg, q, page.Next); err != nil {
		t.Fatal(err)
	}
	if _, err := with(young).Page(bg, q, page.Next); err != nil {
		t.Errorf("the first key does not sign: %v", err)
	}
	options := sharded(2)
	options.TokenKeys = [][]byte{slices.Clone(old)}
	c := collection(t, store, options)
	clear(options.TokenKeys[0])
	if page, err = c.Page(bg, q, ""); err != nil {
		t.Fatal(err)
	}
	if _, err := with(old).Page(bg, q, page.Next); err != nil {
		t.Errorf("the caller's key was changed, and with it the collection's: %v", err)
	}
	options.TokenKeys = [][]byte{old, []byte("short")}
	if _, err := Open[Item](store, options); !errors.Is(err, ErrOptions) || !strings.Contains(err.Error(), "TokenKeys[1] has 5 bytes") {
		t.Errorf("got %v, want that the second key is too short", err)
	}
}

// Shards that an older layout had before the layout grew to have them come once, at a sort key that all have.
func TestTokenOfAnOlderLayoutsShard(t *testing.T) {
	store := &made{TB: t, keys: func(string) []string { return []string{"a", "b"} }}
	store.item = func(shardKey, sk string) Item { return Item{"id": text(shardKey + "|" + sk)} }
	narrow, grown := sharded(4), sharded(8)
	narrow.Older = []layout.Layout{{Shards: 8}, {Shards: 2, Format: layout.SharpNumber()}}
	grown.Older = narrow.Older
	for _, reverse := range []bool{false, true} {
		for limit := 1; limit < 20; limit++ {
			q := Query{Key: "k", Limit: limit, Reverse: reverse}
			first, err := collection(t, store, narrow).Page(bg, q, "")
			if err != nil {
				t.Fatal(err)
			}
			q.Limit = 3
			seen := map[string]bool{}
			for token, items := first.Next, first.Items; ; {
				for _, item := range items {
					if id := str(item, "id"); seen[id] {
						t.Errorf("reverse %t, first page of %d: %s twice", reverse, limit, id)
					}
					seen[str(item, "id")] = true
				}
				if token == "" {
					break
				}
				page, err := collection(t, store, grown).Page(bg, q, token)
				if err != nil {
					t.Fatal(err)
				}
				token, items = page.Next, page.Items
			}
			if len(seen) != 20 {
				t.Errorf("reverse %t, first page of %d: %d items, want 20", reverse, limit, len(seen))
			}
		}
	}
	// behind another older layout, their place in the order changes
	narrow.Older = []layout.Layout{{Shards: 2, Format: layout.SharpNumber()}, {Shards: 8}}
	grown.Older = narrow.Older
	q := Query{Key: "k", Limit: 3}
	page, err := collection(t, store, narrow).Page(bg, q, "")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := collection(t, store, grown).Page(bg, q, page.Next); !errors.Is(err, ErrToken) {
		t.Errorf("got %v, want %v", err, ErrToken)
	}
}
