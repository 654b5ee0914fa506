package heatsink

import (
	"context"
	"errors"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/heatsink-go/heatsink/layout"
)

// TestTokensStayGood pages on from tokens that were issued before package pagetoken came to be: callers keep tokens for as
// long as they like, so the same query is to issue and to accept the very same ones.
func TestTokensStayGood(t *testing.T) {
	store, base := tenants(t)
	base.TTL = "ttl"
	plain := store.item
	store.item = func(shardKey, sk string) Item {
		item := plain(shardKey, sk)
		item["range"] = &types.AttributeValueMemberB{Value: []byte(sk)}
		return item
	}
	with := func(edit func(*Options)) Options {
		o := base
		edit(&o)
		return o
	}
	byIndex := func(o *Options) {
		o.Index = Index{Name: "by-day", PartitionKey: o.PartitionKey, SortKey: o.SortKey}
		o.PartitionKey, o.SortKey, o.Older, o.Layout.Strategy = "id", "", nil, layout.Calculated
	}
	inDays := Query{Key: "k", From: firstDay, To: firstDay.AddDate(0, 0, 3)}
	everyValue := Item{
		":s": text("s"), ":n": number("1.50"), ":b": &types.AttributeValueMemberB{Value: []byte{0, 255}},
		":ss": &types.AttributeValueMemberSS{Value: []string{"y", "x"}}, ":ns": &types.AttributeValueMemberNS{Value: []string{"2", "10"}},
		":bs": &types.AttributeValueMemberBS{Value: [][]byte{{2}, {1}}}, ":t": &types.AttributeValueMemberBOOL{Value: true},
		":f": &types.AttributeValueMemberBOOL{}, ":null": &types.AttributeValueMemberNULL{Value: true},
		":l": &types.AttributeValueMemberL{Value: []types.AttributeValue{text("a"), number("1")}},
		":m": &types.AttributeValueMemberM{Value: Item{"b": text("b"), "a": number("2")}},
	}
	for _, test := range []struct {
		name             string
		options          Options
		query            Query
		limit            int
		unsigned, signed string
	}{
		{
			"one shard", with(func(o *Options) { o.Layout.Shards, o.Older = 0, nil }),
			Query{Key: "k"},
			5,
			"AkiIxbA4vpSgAAEAAQp0ZW5hbnQtYiMwAJxiBks",
			"AkiIxbA4vpSgAAEAAQp0ZW5hbnQtYiMwANQS68FePifFsMPBHbdmoYw",
		},
		{
			"older layouts", base,
			Query{Key: "k"},
			7,
			"AiaeDH1S78n0AAKAgAgBCnRlbmFudC1hIzEAIOwwyg",
			"AiaeDH1S78n0AAKAgAgBCnRlbmFudC1hIzEAKkXzUvKvAU4kzUwTt8qLMA",
		},
		{
			"reverse", base,
			Query{Key: "k", Reverse: true, Sort: AtMost("tenant-b#9")},
			6,
			"AjxjXPI5rp3oAAKAgAgBCnRlbmFudC1iIzIAmuwoug",
			"AjxjXPI5rp3oAAKAgAgBCnRlbmFudC1iIzIAM_nd-aGUJ2erQt1-bC6DEg",
		},
		{
			"widths", with(func(o *Options) { o.Layout.Shards, o.Widths = 0, layout.Width{Write: 1, Read: 3} }),
			Query{Key: "k", IncludeExpired: true},
			8,
			"AsfnNqpYEafDAAMCAQp0ZW5hbnQtYSMxAH_ULSE",
			"AsfnNqpYEafDAAMCAQp0ZW5hbnQtYSMxAP425X1Eg0lYcV0BreMD1DU",
		},
		{
			"buckets", with(func(o *Options) { o.Layout.Bucket, o.Older = layout.Day, nil }), inDays, 25,
			"AusadEYKVs5x8MC7CAIAAQp0ZW5hbnQtYSMwACzHtI0",
			"AusadEYKVs5x8MC7CAIAAQp0ZW5hbnQtYSMwAObRMsGNuS8h7HGB6Gf4O-o",
		},
		{
			"buckets by the hour", with(func(o *Options) {
				o.Layout.Bucket, o.Older = layout.Hour, nil
				o.Layout.Format = layout.Format{BucketPrefix: "/", HourMark: "h", ShardPrefix: ".", First: 1, Width: 3}
			}),
			Query{Key: "k", From: firstDay, To: firstDay.Add(3 * time.Hour), Sort: Between("tenant-a#2", "tenant-c#1")},
			9,
			"Aj72D_iGGdIF2MC7CAIAAQp0ZW5hbnQtYiMyACyZH9Y",
			"Aj72D_iGGdIF2MC7CAIAAQp0ZW5hbnQtYiMyANsRGi4pGk7H7i0RFxeU8Fo",
		},
		{
			"buckets and older layouts", with(func(o *Options) { o.Layout.Bucket = layout.Day }), inDays, 8,
			"Am5gC7NFrlR_2MC7CAKBgAgBCnRlbmFudC1hIzEAgYAIAQp0ZW5hbnQtYSMxAM4kJ_w",
			"Am5gC7NFrlR_2MC7CAKBgAgBCnRlbmFudC1hIzEAgYAIAQp0ZW5hbnQtYSMxAFtstwIwOeGDibGGTUy2iWQ",
		},
		{
			"behind an older item", with(func(o *Options) { o.Layout.Bucket = layout.Day }), inDays, 5,
			"Am5gC7NFrlR_2MC7CAIAAQp0ZW5hbnQtYSMxAIGACAEKdGVuYW50LWEjMABLl6t2",
			"Am5gC7NFrlR_2MC7CAIAAQp0ZW5hbnQtYSMxAIGACAEKdGVuYW50LWEjMACSx6HfPXMYKnIoHd1a_KEV",
		},
		{
			"index", with(byIndex),
			Query{Key: "k", Sort: Greater("tenant-a#1")},
			5,
			"AkpkCkXlU-oLAAIAAQp0ZW5hbnQtYiMwAQEUayNTSEFSRF8wfHRlbmFudC1iIzDhL8vo",
			"AkpkCkXlU-oLAAIAAQp0ZW5hbnQtYiMwAQEUayNTSEFSRF8wfHRlbmFudC1iIzC0Y2IjSDHoFP08s4pfptau",
		},
		{
			"shard attribute", with(func(o *Options) {
				byIndex(o)
				o.Index.ShardAttribute, o.SortKey = "shard", "range"
			}),
			Query{Key: "k", Projection: "id, other", Sort: Less("tenant-c#2")},
			4,
			"AnyWaAqEkSdRAAIBAQp0ZW5hbnQtYSMxAgEOayMxfHRlbmFudC1hIzEDCnRlbmFudC1hIzEoJrhr",
			"AnyWaAqEkSdRAAIBAQp0ZW5hbnQtYSMxAgEOayMxfHRlbmFudC1hIzEDCnRlbmFudC1hIzEZOwQwrnlWj9P7f_FCbP8e",
		},
		{
			"filter", base,
			Query{
				Key: "k", Sort: BeginsWith("tenant-b#"), Filter: "#a <> :s", Projection: "id, #b",
				Names: map[string]string{"#a": "a", "#b": "b"}, Values: everyValue,
			},
			3,
			"Ah0wGTZf4JfUAAKAgAgBCnRlbmFudC1iIzAAQyyKVg",
			"Ah0wGTZf4JfUAAKAgAgBCnRlbmFudC1iIzAAiyh-CTanFbYfxPBNT6oEJA",
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			for name, want := range map[string]string{"unsigned": test.unsigned, "signed": test.signed} {
				options, q := test.options, test.query
				options.TokenKeys = tokenKeys[name]
				items := collection(t, byNumber{store}, options)
				whole, err := all(t.Context(), items, q, "id")
				if err != nil {
					t.Fatal(err)
				}
				q.Limit = test.limit
				page, err := items.Page(t.Context(), q, "")
				if err != nil || page.Next != want {
					t.Errorf("%s: got the token\n%q, %v, want\n%q", name, page.Next, err, want)
				}
				q.Limit = 1000
				rest, err := items.Page(t.Context(), q, want)
				if err != nil {
					t.Fatalf("%s: %q: %v", name, want, err)
				}
				var got []string
				for _, item := range slices.Concat(page.Items, rest.Items) {
					got = append(got, str(item, "id"))
				}
				if !slices.Equal(got, whole) || len(page.Items) != test.limit || len(rest.Items) == 0 {
					t.Errorf("%s: in pages of %d and %d\n%q, want\n%q", name, len(page.Items), len(rest.Items), got, whole)
				}
			}
		})
	}
}

// byNumber is a made store that has its shards' numbers in an attribute as well, for an index with one.
type byNumber struct{ *made }

func (b byNumber) Query(ctx context.Context, in *dynamodb.QueryInput, options ...func(*dynamodb.Options)) (*dynamodb.QueryOutput, error) {
	if n, ok := in.ExpressionAttributeValues[":hs_sh"].(*types.AttributeValueMemberN); ok {
		request := *in
		request.KeyConditionExpression = aws.String(strings.Replace(*in.KeyConditionExpression, " AND #hs_sh = :hs_sh", "", 1))
		request.ExpressionAttributeValues = maps.Clone(in.ExpressionAttributeValues)
		request.ExpressionAttributeValues[":hs_pk"] = text(str(in.ExpressionAttributeValues, ":hs_pk") + "#" + n.Value)
		in = &request
	}
	return b.made.Query(ctx, in, options...)
}

// What is wrong with a token is said in the words of package pagetoken, as an ErrToken.
func TestTokenErrorsSayWhatIsWrong(t *testing.T) {
	items := collection(t, &made{TB: t, keys: func(string) []string { return ranks(10) }}, sharded(2))
	q := Query{Key: "k", Limit: 3}
	page, err := items.Page(t.Context(), q, "")
	if err != nil {
		t.Fatal(err)
	}
	other := q
	other.Reverse = true
	for name, test := range map[string]struct {
		query Query
		token string
		want  string
	}{
		"long":          {q, strings.Repeat("A", 9000), "it has 9000 characters, want at most 8192"},
		"no base64":     {q, "*", "it is not valid base64url"},
		"short":         {q, "AAAA", "it is too short"},
		"version":       {q, strings.Repeat("A", 40), "it has version 0, want version 2: begin with the first page"},
		"newer version": {q, "Aw" + page.Next[2:], "it has the newer version 3, and this process understands version 2: upgrade heatsink in this process, or begin with the first page"},
		"changed":       {q, page.Next[:len(page.Next)-2] + "AA", "it was changed after it was issued, or was signed with another key"},
		"malformed":     {q, forge(1, nil), "its position is malformed"},
		"another query": {other, page.Next, "it belongs to another query, or to another format of shard keys"},
	} {
		if _, err := items.Page(t.Context(), test.query, test.token); !errors.Is(err, ErrToken) || err.Error() != ErrToken.Error()+": "+test.want {
			t.Errorf("%s: got %v, want %v: %s", name, err, ErrToken, test.want)
		}
	}
}
