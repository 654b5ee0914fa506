package heat_test

import (
	"bytes"
	"context"
	"encoding/json"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodbstreams"
	streamtypes "github.com/aws/aws-sdk-go-v2/service/dynamodbstreams/types"

	"github.com/heatsink-go/heatsink/heat"
	"github.com/heatsink-go/heatsink/layout"
	"github.com/heatsink-go/heatsink/local"
)

// oddStream answers DescribeStream as it is told.
type oddStream struct {
	heat.StreamClient
	answer *streamtypes.StreamDescription
}

func (s oddStream) DescribeStream(context.Context, *dynamodbstreams.DescribeStreamInput, ...func(*dynamodbstreams.Options)) (*dynamodbstreams.DescribeStreamOutput, error) {
	return &dynamodbstreams.DescribeStreamOutput{StreamDescription: s.answer}, nil
}

// A server that does not describe its stream, or describes the same part of it for ever, is an error: no panic, no hang.
func TestStreamThatIsNone(t *testing.T) {
	db := local.Start(t)
	createWithStream(t, db.Client(), "orders")
	for _, test := range []struct {
		answer *streamtypes.StreamDescription
		want   string
	}{
		{nil, `describe stream of table "orders": the response has no stream`},
		{&streamtypes.StreamDescription{LastEvaluatedShardId: aws.String("1")}, `describe stream of table "orders": the response repeats the same shards`},
	} {
		reader, err := heat.OpenStream(t.Context(), db.Client(), oddStream{answer: test.answer}, "orders", heat.StreamOptions{FromStart: true})
		if err != nil {
			t.Fatal(err)
		}
		if err := reader.Run(t.Context()); err == nil || err.Error() != test.want {
			t.Errorf("got %v, want %s", err, test.want)
		}
	}
}

// An item whose key cannot be a key is none of an export, and neither is a line that is longer than any item.
func TestExportsWithOddKeys(t *testing.T) {
	for name, test := range map[string]struct{ text, want string }{
		"empty string": {`{"Item":{"pk":{"S":""}}}`, `attribute "pk" is empty, but a partition key must have a value`},
		"no string":    {`{"Item":{"pk":{"S":null}}}`, `attribute "pk" is empty, but a partition key must have a value`},
		"empty bytes":  {`{"Item":{"pk":{"B":""}}}`, `attribute "pk" is empty, but a partition key must have a value`},
		"no number":    {`{"Item":{"pk":{"N":"ten"}}}`, `attribute "pk": "ten" is not a number`},
		"long line":    {`{"Item":{"pk":{"S":"` + strings.Repeat("a", 5<<20), "f, line 1: not an item of an export in DynamoDB JSON: the line is longer than 4 MB, more than any item"},
	} {
		reader, err := heat.NewExportReader("orders", heat.Options{Keys: map[string][]string{"orders": {"pk"}}})
		if err != nil {
			t.Fatal(err)
		}
		if err := reader.Read("f", strings.NewReader(test.text)); err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: got %.200v, want %q", name, err, test.want)
		}
	}
	reader, err := heat.NewExportReader("orders", heat.Options{Keys: map[string][]string{"orders": {"pk"}}})
	if err != nil {
		t.Fatal(err)
	}
	odd := []string{`{"S":"\u0000\u001b[2J"}`, `{"N":"-1.5e10"}`, `{"B":"/w=="}`, `{"S":"` + strings.Repeat("k", 2048) + `"}`, `{"S":"\udc00"}`}
	for _, key := range odd {
		if err := reader.Read("f", strings.NewReader(`{"Item":{"pk":`+key+`}}`)); err != nil {
			t.Errorf("%.80s: %v", key, err)
		}
	}
	if stored := reader.Report().Resources[0].Stored; stored.Items != int64(len(odd)) || stored.Distinct.Keys != int64(len(odd)) {
		t.Errorf("got %+v", stored)
	}
}

// A partition key of a table is one attribute: two would make every item a key of its own, and hide that one is hot.
func TestKeysOfOptions(t *testing.T) {
	for _, test := range []struct {
		keys map[string][]string
		want string
	}{
		{map[string][]string{"orders": {"pk", "sk"}}, `table "orders" has one partition key attribute, but Keys has 2: ["pk" "sk"]`},
		{map[string][]string{"orders/byStatus": {"a", "a"}}, `the key of "orders/byStatus" in Keys names attribute "a" twice`},
		{map[string][]string{"orders": {""}}, `the key of "orders" in Keys has an empty attribute name`},
	} {
		if err := (heat.Options{Keys: test.keys}).Validate(); err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%v: got %v, want %s", test.keys, err, test.want)
		}
	}
	if err := (heat.Options{Keys: map[string][]string{"orders/byStatus": {"a", "b"}}}).Validate(); err != nil {
		t.Error(err)
	}
}

// oddCapacity has the server say that calls consumed so many units.
type oddCapacity struct{ units float64 }

func (o oddCapacity) PutItem(client *dynamodb.Client, ctx context.Context) error {
	_, err := client.PutItem(ctx, &dynamodb.PutItemInput{TableName: aws.String("views"), Item: key("a", "1")}, func(options *dynamodb.Options) {
		options.APIOptions = append(options.APIOptions, answerUnits(o.units))
	})
	return err
}

// A server that says a call consumed less than nothing does not make a report nonsense.
func TestOddUnits(t *testing.T) {
	db := start(t, nil)
	recorder := newRecorder(t, heat.Options{})
	client := db.Client(recorder.Option)
	for _, units := range []float64{-5, math.NaN(), math.Inf(1), 2} {
		if err := (oddCapacity{units}).PutItem(client, t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	report := recorder.Report()
	if writes := resource(t, report, "views").Writes; writes.Units != 2 || writes.Requests != 4 {
		t.Errorf("got %+v", writes)
	}
	if _, err := json.Marshal(report); err != nil {
		t.Error(err)
	}
}

// Any report that can be read can be explained, told of layouts, hidden and written again.
func FuzzReports(f *testing.F) {
	recorder := newRecorder(f, heat.Options{Layouts: []heat.Layout{{Layout: layout.Layout{Shards: 2}}}})
	for _, k := range []string{"A#SHARD_0", "A#SHARD_5", "B#SHARD_0", "plain"} {
		recorder.Observe(heat.Observation{Resource: heat.Resource{Table: "views"}, Direction: heat.Write, KeyNames: []string{"pk"}, Key: []string{k}, Units: 2})
	}
	seed, err := json.Marshal(recorder.Report())
	if err != nil {
		f.Fatal(err)
	}
	f.Add(seed)
	f.Add(bytes.ReplaceAll(seed, []byte(":1"), []byte(":-1")))
	f.Add(bytes.ReplaceAll(seed, []byte(":2"), []byte(":1e308")))
	f.Add([]byte(`{"resources":[{"writes":{"requests":-9,"sharded":[{"layout":{"shards":-4,"width":-1},"stray":-1,"strays":[{"number":"x"}],"keys":[{"shards":2,"count":200,"most":300}]}]}}]}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		var r heat.Report
		if json.Unmarshal(data, &r) != nil {
			return
		}
		again := r
		again.Source = heat.Insights
		again.Resources = slices.Clone(again.Resources)
		for _, found := range [][]heat.Finding{heat.Explain(r, heat.Rules{}), heat.ExplainAll(heat.Rules{}, r, again)} {
			for _, finding := range found {
				if strings.Contains(finding.Message, "-,") || finding.String() == "" {
					t.Errorf("%+v", finding)
				}
			}
		}
		if err := r.Fold(heat.Layout{Layout: layout.Layout{Shards: 4, Format: layout.Format{ShardPrefix: "#", BareZero: true}}}); err != nil {
			t.Error(err)
		}
		r.Redact(heat.Hashed([]byte("secret")))
		heat.Explain(r, heat.Rules{})
		if _, err := json.Marshal(r); err != nil {
			t.Error(err)
		}
	})
}

// Whatever a file has in it, an export is read or refused, and what was read can be reported.
func FuzzExport(f *testing.F) {
	f.Add([]byte(`{"Item":{"pk":{"S":"a#SHARD_7"},"sk":{"N":"1"},"b":{"B":"/w=="}}}`))
	f.Add([]byte(`{"NewImage":{"pk":{"S":"a"}},"Keys":{}}` + "\n" + `{"Keys":{}}`))
	f.Add([]byte("\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\xff"))
	f.Fuzz(func(t *testing.T, data []byte) {
		reader, err := heat.NewExportReader("orders", heat.Options{Keys: map[string][]string{"orders": {"pk"}}, Layouts: []heat.Layout{{Layout: layout.Layout{Shards: 4}}}})
		if err != nil {
			t.Fatal(err)
		}
		if err := reader.Read("f", bytes.NewReader(data)); err != nil && !strings.HasPrefix(err.Error(), "f") {
			t.Errorf("the error does not name the file: %v", err)
		}
		report := reader.Report()
		heat.Explain(report, heat.Rules{})
		if _, err := json.Marshal(report); err != nil {
			t.Error(err)
		}
	})
}

// What the library reads as a shard key of a layout is one to heat: in its place, or a stray if readers have fewer shards.
func FuzzShardKeys(f *testing.F) {
	buckets := []layout.Bucket{layout.NoBucket, layout.Hour, layout.Day, layout.Week, layout.Month, layout.Year}
	f.Add("A#2024-12-02T15#SHARD_7", 4, "", uint8(1), 0, 0, false)
	f.Add("A#2024#007", 200, "#", uint8(5), 1, 3, true)
	f.Add("A#2024-12-02", 9, "-", uint8(2), 1, 2, true)
	f.Fuzz(func(t *testing.T, key string, shards int, prefix string, bucket uint8, first, width int, bare bool) {
		l := layout.Layout{
			Shards: shards, Bucket: buckets[int(bucket)%len(buckets)],
			Format: layout.Format{ShardPrefix: prefix, First: first, Width: width, BareZero: bare},
		}
		if l.Validate() != nil || shards < 1 || key == "" {
			return
		}
		recorder := newRecorder(t, heat.Options{Keys: map[string][]string{"views": {"pk"}}, Layouts: []heat.Layout{{Layout: l}}})
		heat.Observe(recorder, "views", heat.Write, []byte(key), 1)
		var got heat.Sharded
		for _, s := range recorder.Report().Resources[0].Writes.Sharded {
			got = s
		}
		heat.Explain(recorder.Report(), heat.Rules{})
		place, err := l.WithShards(layout.MaxShards).Parse(key)
		if asked := place.Shard < shards; err == nil && (got.Count != 1 == asked || got.Stray != 1 != asked) {
			t.Errorf("%s: %q is shard %d: %+v", l, key, place.Shard, got)
		}
		if _, err := l.Parse(key); err == nil && got.Stray > 0 {
			t.Errorf("%s: readers ask for %q: %+v", l, key, got)
		}
	})
}
