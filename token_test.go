package heatsink

import (
	"bytes"
	"encoding/base64"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"pgregory.net/rapid"

	"github.com/heatsink-go/heatsink/internal/attr"
	"github.com/heatsink-go/heatsink/local"
)

var tokenKeys = map[string][]byte{"unsigned": nil, "signed": []byte("0123456789abcdef0123456789abcdef")}

func drawPosition(t *rapid.T) position {
	value := func(label string) sortValue {
		return drawSort(t, rapid.SampledFrom([]attr.Kind{attr.S, attr.N, attr.B}).Draw(t, "kind"), label)
	}
	p := position{source: newOrdinal(rapid.IntRange(0, maxOlder).Draw(t, "layout"), rapid.IntRange(0, MaxShards-1).Draw(t, "shard"))}
	if rapid.Bool().Draw(t, "buckets") {
		bucket := rapid.SampledFrom([]Bucket{Hour, Day, Week, Month, Year}).Draw(t, "bucket")
		p.bucket = bucket.Start(time.Unix(rapid.Int64Range(yearOne+40e6, 253402300799).Draw(t, "time"), 0))
	}
	rest := func(p *position) {
		if rapid.Bool().Draw(t, "sorted") {
			p.sort = value("sort")
		}
		for range rapid.IntRange(0, 2).Draw(t, "table key") {
			p.table = append(p.table, value("key"))
		}
	}
	rest(&p)
	if rapid.Bool().Draw(t, "older") {
		p.older = &position{source: newOrdinal(rapid.IntRange(1, maxOlder).Draw(t, "older layout"), 0)}
		rest(p.older)
	}
	return p
}

func TestTokenRoundTrip(t *testing.T) {
	for name, key := range tokenKeys {
		t.Run(name, func(t *testing.T) {
			rapid.Check(t, func(t *rapid.T) {
				p, fingerprint := drawPosition(t), rapid.Uint64().Draw(t, "fingerprint")
				token := p.token(fingerprint, key)
				got, err := parseToken(token, fingerprint, key)
				if err != nil || !reflect.DeepEqual(got, p) {
					t.Fatalf("got %+v, %v, want %+v", got, err, p)
				}
				if again := got.token(fingerprint, key); again != token {
					t.Fatalf("%q became %q", token, again)
				}
				if len(token) > maxToken {
					t.Fatalf("%d characters", len(token))
				}
				if _, err := parseToken(token, fingerprint+1, key); !errors.Is(err, ErrToken) {
					t.Fatalf("as another query's: %v", err)
				}
			})
		})
	}
}

// However it is bent, a token is refused; only what token wrote is read.
func TestTokenBitFlips(t *testing.T) {
	p := position{
		bucket: firstDay, source: newOrdinal(1, 12345),
		sort:  sortValue{attr.S, "2026-02-27T12:00:00Z#user-12345"},
		table: []sortValue{{attr.B, "\x00\xff"}, {attr.N, string(attr.Zero)}},
	}
	for name, key := range tokenKeys {
		t.Run(name, func(t *testing.T) {
			token := p.token(42, key)
			raw, err := base64.RawURLEncoding.DecodeString(token)
			if err != nil {
				t.Fatal(err)
			}
			refused := func(what, token string) {
				t.Helper()
				if _, err := parseToken(token, 42, key); !errors.Is(err, ErrToken) {
					t.Errorf("%s: got %v, want %v", what, err, ErrToken)
				}
			}
			for bit := range 8 * len(raw) {
				bent := bytes.Clone(raw)
				bent[bit/8] ^= 1 << (bit % 8)
				refused(fmt.Sprintf("bit %d", bit), base64.RawURLEncoding.EncodeToString(bent))
			}
			for i := range token {
				refused(fmt.Sprintf("without character %d", i), token[:i]+token[i+1:])
				refused(fmt.Sprintf("cut at %d", i), token[:i])
				refused(fmt.Sprintf("a newline at %d", i), token[:i]+"\n"+token[i:])
				refused(fmt.Sprintf("a carriage return at %d", i), token[:i]+"\r"+token[i:])
			}
			refused("padded", token+"=")
			refused("doubled", token+token)
			refused("too long", strings.Repeat("A", maxToken+1))
			for other, key := range tokenKeys {
				if other != name {
					if _, err := parseToken(token, 42, key); !errors.Is(err, ErrToken) {
						t.Errorf("read as %s: %v", other, err)
					}
				}
			}
		})
	}
	if _, err := parseToken(p.token(42, tokenKeys["signed"]), 42, []byte("another key of 16 bytes")); !errors.Is(err, ErrToken) {
		t.Errorf("signed with another key: %v", err)
	}
}

func TestTokenVersion(t *testing.T) {
	token := position{}.token(1, nil)
	raw, _ := base64.RawURLEncoding.DecodeString(token)
	if raw[0] != tokenVersion {
		t.Errorf("the first byte is %d, want the version", raw[0])
	}
	body := append([]byte{tokenVersion + 1}, raw[1:len(raw)-4]...)
	_, err := parseToken(base64.RawURLEncoding.EncodeToString(append(body, seal(body, nil)...)), 1, nil)
	if !errors.Is(err, ErrToken) || !strings.Contains(err.Error(), "version 2") {
		t.Errorf("got %v, want that the version is 2", err)
	}
}

// The target is 120 characters for ordinary sort keys, whatever the shard count.
func TestTokenIsShort(t *testing.T) {
	sorts := map[string]sortValue{
		"ulid":         {attr.S, "01ARZ3NDEKTSV4RRFFQ69G5FAV"},
		"uuid":         {attr.S, "f81d4fae-7dec-11d0-a765-00a0c91e6bf6"},
		"time":         {attr.S, "2026-06-22T01:00:00.123456789Z"},
		"time#user":    {attr.S, "2026-06-22T01:00:00.123Z#user-12345678"},
		"milliseconds": {attr.N, numberText(t, "1782090000123")},
		"long number":  {attr.N, numberText(t, "-12345678.901234567890123456789012345678")},
		"binary":       {attr.B, strings.Repeat("\x80", 16)},
	}
	for name, sort := range sorts {
		for _, shards := range []int{1, 8, 1000, MaxShards} {
			p := position{bucket: firstDay, source: newOrdinal(0, shards-1), sort: sort}
			token := p.token(1<<63, tokenKeys["signed"])
			if len(token) > 120 {
				t.Errorf("%s in shard %d: %d characters", name, shards-1, len(token))
			}
			if shards == MaxShards {
				t.Logf("%s: %d characters signed, %d unsigned", name, len(token), len(p.token(1, nil)))
			}
		}
	}
}

func numberText(t *testing.T, s string) string {
	n, err := attr.ParseNumber(s)
	if err != nil {
		t.Fatal(err)
	}
	return string(n)
}

func FuzzParseToken(f *testing.F) {
	p := position{bucket: firstDay, source: newOrdinal(1, 7), sort: sortValue{attr.S, "a"}, table: []sortValue{{attr.B, "b"}}}
	for _, key := range tokenKeys {
		f.Add([]byte(p.token(1, key)), true)
	}
	f.Add(p.append(nil), false)
	f.Add(position{}.append(nil), false)
	f.Add([]byte{0x80, 0, 0, 0, 0, 0}, false) // zero, in two bytes
	f.Add([]byte{0, 0, byte(attr.N), 3, '1', '.', '0', 0}, false)
	f.Fuzz(func(t *testing.T, data []byte, whole bool) {
		for _, key := range tokenKeys {
			token := string(data)
			if !whole { // a position, sealed by us
				body := append([]byte{tokenVersion, 0, 0, 0, 0, 0, 0, 0, 1}, data...)
				token = base64.RawURLEncoding.EncodeToString(append(body, seal(body, key)...))
			}
			p, err := parseToken(token, 1, key)
			if err != nil {
				if !errors.Is(err, ErrToken) {
					t.Fatalf("%q: %v", token, err)
				}
				continue
			}
			if again := p.token(1, key); again != token {
				t.Fatalf("%q is read as %+v, which is %q", token, p, again)
			}
		}
	})
}

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
	of := func(c *core, q Query) uint64 {
		r, err := c.prepare(t.Context(), q)
		if err != nil {
			t.Fatal(err)
		}
		return r.fingerprint
	}
	c := open(Options{Layout: Layout{Shards: 8}, EventTime: EventTime{Attribute: "at"}})
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
		"expired":    edit(func(q *Query) { q.Expired = true }),
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
		f := of(c, q)
		if other, ok := seen[f]; ok {
			t.Errorf("%s and %s have the same fingerprint", name, other)
		}
		seen[f] = name
	}
	for name, q := range map[string]Query{
		"time":       edit(func(q *Query) { q.From, q.To = firstDay, firstDay.AddDate(0, 0, 1) }), // may move
		"limit":      edit(func(q *Query) { q.Limit = 99 }),
		"consistent": edit(func(q *Query) { q.Consistent = true }),
		"ahead":      edit(func(q *Query) { q.Ahead = 3 }),
		"hedge":      edit(func(q *Query) { q.Hedge = true }),
		"partial":    edit(func(q *Query) { q.Partial = true }),
	} {
		if of(c, q) != of(c, base) {
			t.Errorf("%s changes the fingerprint", name)
		}
	}
	if of(open(Options{Layout: Layout{Shards: 64}, EventTime: EventTime{Attribute: "at"}}), base) != of(c, base) {
		t.Error("more shards change the fingerprint")
	}
	if of(open(Options{Layout: Layout{Shards: 8, Format: ShardHash}, EventTime: EventTime{Attribute: "at"}}), base) == of(c, base) {
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
	options.Layout, options.TokenKey = Layout{Shards: 3}, tokenKeys["signed"]
	stock(t, client, options.Table, shelves(options.Layout, "k", 30, 30, 30))
	stock(t, client, options.Table, shelves(options.Layout, "k2", 5, 5, 5))
	items := collection(t, client, options)
	q := Query{Key: "k", Limit: 10}
	page, err := items.Page(t.Context(), q, "")
	if err != nil || page.Next == "" {
		t.Fatalf("got %v, %v", page.Next, err)
	}
	raw, _ := base64.RawURLEncoding.DecodeString(page.Next)
	for n := 4; n <= len(options.TokenKey); n++ {
		if bytes.Contains(raw, options.TokenKey[:n]) || strings.Contains(page.Next, string(options.TokenKey[:n])) {
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
	options.TokenKey = []byte("another key of 16 bytes")
	if _, err := collection(t, client, options).Page(t.Context(), q, page.Next); !errors.Is(err, ErrToken) {
		t.Errorf("with another key: %v", err)
	}
	options.TokenKey = nil
	if _, err := collection(t, client, options).Page(t.Context(), q, page.Next); !errors.Is(err, ErrToken) {
		t.Errorf("without a key: %v", err)
	}
	// one that fits the query, but not the collection
	r, err := items.core.prepare(t.Context(), q)
	if err != nil {
		t.Fatal(err)
	}
	for name, p := range map[string]position{
		"bucket":       {bucket: firstDay, sort: sortValue{attr.S, "a"}},
		"no sort key":  {},
		"index":        {sort: sortValue{attr.S, "a"}, table: []sortValue{{attr.S, "a"}}},
		"another kind": {sort: sortValue{attr.N, string(attr.Zero)}},
	} {
		_, err := items.Page(t.Context(), q, p.token(r.fingerprint, tokenKeys["signed"]))
		if err == nil || name != "another kind" && !errors.Is(err, ErrToken) {
			t.Errorf("%s: got %v, want %v", name, err, ErrToken)
		}
	}
}
