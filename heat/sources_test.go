package heat_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/heatsink-go/heatsink/heat"
	"github.com/heatsink-go/heatsink/internal/bubble"
	"github.com/heatsink-go/heatsink/local"
)

// createWithStream creates a table (pk, sk) with an index by "status" and a stream.
func createWithStream(t *testing.T, client *dynamodb.Client, name string) {
	t.Helper()
	_, err := client.CreateTable(t.Context(), &dynamodb.CreateTableInput{
		TableName: aws.String(name), BillingMode: types.BillingModePayPerRequest,
		AttributeDefinitions: []types.AttributeDefinition{
			{AttributeName: aws.String("pk"), AttributeType: types.ScalarAttributeTypeS},
			{AttributeName: aws.String("sk"), AttributeType: types.ScalarAttributeTypeS},
			{AttributeName: aws.String("status"), AttributeType: types.ScalarAttributeTypeS},
		},
		KeySchema: []types.KeySchemaElement{
			{AttributeName: aws.String("pk"), KeyType: types.KeyTypeHash},
			{AttributeName: aws.String("sk"), KeyType: types.KeyTypeRange},
		},
		GlobalSecondaryIndexes: []types.GlobalSecondaryIndex{{
			IndexName:  aws.String("byStatus"),
			KeySchema:  []types.KeySchemaElement{{AttributeName: aws.String("status"), KeyType: types.KeyTypeHash}},
			Projection: &types.Projection{ProjectionType: types.ProjectionTypeAll},
		}},
		StreamSpecification: &types.StreamSpecification{StreamEnabled: aws.Bool(true), StreamViewType: types.StreamViewTypeNewAndOldImages},
	})
	if err != nil {
		t.Fatal(err)
	}
}

func topKeys(flow heat.Flow, n int) []string {
	var keys []string
	for _, k := range flow.Keys[:min(n, len(flow.Keys))] {
		keys = append(keys, k.Key)
	}
	return keys
}

// The keys of an index are the same to live calls, the stream and a scan.
func TestSourcesAgreeOnAnIndex(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		db := local.Start(t)
		recorder := newRecorder(t, heat.Options{})
		client := db.Client(recorder.Option)
		createWithStream(t, client, "orders")
		for i := range 400 {
			order := key(fmt.Sprintf("CUSTOMER#%d", i%50), fmt.Sprintf("ORDER#%05d", i))
			order["status"] = text([]string{"OPEN", "DONE", "DONE", "DONE"}[i%4])
			if _, err := client.PutItem(t.Context(), &dynamodb.PutItemInput{TableName: aws.String("orders"), Item: order}); err != nil {
				t.Fatal(err)
			}
			time.Sleep(time.Millisecond)
		}
		for _, report := range []heat.Report{recorder.Report(), readStream(t, db)} {
			got := resource(t, report, "orders/byStatus").Writes
			if keys := topKeys(got, 5); !slices.Equal(keys, []string{"DONE", "OPEN"}) || got.Keys[0].Units != 300 || got.Units != 400 {
				t.Errorf("%s: %+v", report.Source, got)
			}
		}
		if got := resource(t, readScan(t, db), "orders/byStatus").Stored; got.Keys[0].Key != "DONE" || got.Keys[0].Items != 300 || got.Items != 400 {
			t.Errorf("scan: %+v", got)
		}
	})
}

// 001-01, 001-02, 001-03, 001-19: the table of an anti-counterfeiting platform: 700 items, a few writes a minute. Exactly
// three findings, none about a rate, and the brand under attack is named.
func TestAuditOfThreePatterns(t *testing.T) {
	db := local.Start(t)
	if err := db.CreateTable(t.Context(), "brands", "pk", "sk"); err != nil {
		t.Fatal(err)
	}
	client := db.Client()
	put := func(pk string, i int) {
		t.Helper()
		if _, err := client.PutItem(t.Context(), &dynamodb.PutItemInput{TableName: aws.String("brands"), Item: key(pk, fmt.Sprintf("2026-06-%02dT10:00:00Z#%d", 1+i%28, i))}); err != nil {
			t.Fatal(err)
		}
	}
	for i := range 250 {
		put("OPS_LOG", i)
	}
	for i := range 150 {
		put("BRAND_INDEX", i)
	}
	for brand := range 15 {
		for i := range 6 {
			put(fmt.Sprintf("THREAT#brand-%c", 'a'+brand), i)
		}
	}
	for i := range 210 {
		put("THREAT#brand-under-attack", i)
	}
	report, err := heat.ScanTable(t.Context(), client, "brands", heat.ScanOptions{})
	if err != nil {
		t.Fatal(err)
	}
	got := kinds(heat.Explain(report, heat.Rules{}))
	want := "warning low-cardinality OPS_LOG; warning low-cardinality BRAND_INDEX; warning skewed-tenant THREAT#brand-under-attack"
	if got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	if shapes := resource(t, report, "brands").Patterns; len(shapes) != 3 || shapes[0].Shape != "THREAT#{id}" || shapes[0].Distinct.Keys < 14 || shapes[0].Distinct.Keys > 18 || shapes[0].Items != 300 {
		t.Errorf("got %+v", shapes)
	}
}

// Four keys with a quarter each, as in the diagram of a healthy table, are no finding.
func TestAuditOfAnEvenTable(t *testing.T) {
	db := local.Start(t)
	if err := db.CreateTable(t.Context(), "even", "pk", "sk"); err != nil {
		t.Fatal(err)
	}
	recorder := newRecorder(t, heat.Options{})
	client := db.Client(recorder.Option)
	for i := range 1000 {
		if _, err := client.PutItem(t.Context(), &dynamodb.PutItemInput{TableName: aws.String("even"), Item: key(fmt.Sprintf("USER#%d", i%4), fmt.Sprint(i))}); err != nil {
			t.Fatal(err)
		}
	}
	scanned, err := heat.ScanTable(t.Context(), client, "even", heat.ScanOptions{})
	if err != nil {
		t.Fatal(err)
	}
	for _, report := range []heat.Report{recorder.Report(), scanned} {
		if findings := heat.Explain(report, heat.Rules{}); len(findings) != 0 {
			t.Errorf("%s: %s", report.Source, kinds(findings))
		}
	}
}

// A scan takes no more units a second than it may, says beforehand what it will cost, and can be stopped.
func TestScanIsPaced(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		db := start(t, nil)
		client := db.Client()
		for i := range 200 {
			big := key(fmt.Sprint("k", i%10), fmt.Sprint(i))
			big["body"] = text(strings.Repeat("x", 20_000))
			if _, err := client.PutItem(t.Context(), &dynamodb.PutItemInput{TableName: aws.String("views"), Item: big}); err != nil {
				t.Fatal(err)
			}
		}
		began := time.Now()
		var last heat.ScanProgress
		options := heat.ScanOptions{MaxRCU: 50, Progress: func(p heat.ScanProgress) { last = p }}
		report, err := heat.ScanTable(t.Context(), client, "views", options)
		if err != nil || resource(t, report, "views").Stored.Items != 200 {
			t.Fatalf("got %+v, %v", report, err)
		}
		took := time.Since(began)
		if rate := last.Units / took.Seconds(); rate > 60 || last.Units < 480 {
			t.Errorf("%v units in %v", last.Units, took)
		}

		few, err := heat.ScanTable(t.Context(), client, "views", heat.ScanOptions{Items: 50})
		if stored := resource(t, few, "views").Stored; err != nil || stored.Items < 50 || stored.Items > 60 || stored.Fraction == 1 || len(few.Notes) != 2 {
			t.Errorf("a sample: %+v, %v", few, err)
		}

		ctx, cancel := context.WithTimeout(t.Context(), 3*time.Second)
		defer cancel()
		part, err := heat.ScanTable(ctx, client, "views", options)
		if !errors.Is(err, context.DeadlineExceeded) || resource(t, part, "views").Stored.Items == 0 {
			t.Errorf("stopped: %+v, %v", part, err)
		}
		soon, cancel := context.WithTimeout(t.Context(), 3*time.Second)
		defer cancel()
		part, err = heat.ScanTable(soon, client, "views", heat.ScanOptions{Items: 100, MaxRCU: 5})
		if !errors.Is(err, context.DeadlineExceeded) || resource(t, part, "views").Stored.Items == 0 || resource(t, part, "views").Stored.Fraction == 1 {
			t.Errorf("a sample that was stopped: %+v, %v", part, err)
		}
	})
}

// A reader that goes on from a checkpoint sees what is new and nothing twice; one from the latest sees nothing old.
func TestStreamCheckpoints(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		db := local.Start(t)
		client := db.Client()
		createWithStream(t, client, "orders")
		put := func(from, to int) {
			for i := from; i < to; i++ {
				if _, err := client.PutItem(t.Context(), &dynamodb.PutItemInput{TableName: aws.String("orders"), Item: key("a", fmt.Sprint(i))}); err != nil {
					t.Fatal(err)
				}
			}
		}
		read := func(options heat.StreamOptions) *heat.StreamReader {
			t.Helper()
			options.UntilNow = true
			r, err := heat.OpenStream(t.Context(), client, db.StreamsClient(), "orders", options)
			if err != nil {
				t.Fatal(err)
			}
			if err := r.Run(t.Context()); err != nil {
				t.Fatal(err)
			}
			return r
		}
		put(0, 40)
		first := read(heat.StreamOptions{FromStart: true})
		if first.Records() != 40 {
			t.Errorf("first: %d records", first.Records())
		}
		if n := read(heat.StreamOptions{}).Records(); n != 0 {
			t.Errorf("from the latest: %d records", n)
		}
		put(40, 65)
		kept, err := json.Marshal(first.Checkpoint())
		if err != nil {
			t.Fatal(err)
		}
		var checkpoint heat.Checkpoint
		if err := json.Unmarshal(kept, &checkpoint); err != nil {
			t.Fatal(err)
		}
		if n := read(heat.StreamOptions{Checkpoint: checkpoint}).Records(); n != 25 {
			t.Errorf("from the checkpoint: %d records, want 25", n)
		}

		follow, err := heat.OpenStream(t.Context(), client, db.StreamsClient(), "orders", heat.StreamOptions{})
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan error)
		go func() { ended <- follow.Run(ctx) }()
		time.Sleep(2 * time.Second)
		put(65, 70)
		time.Sleep(2 * time.Second)
		if n := follow.Records(); n != 5 {
			t.Errorf("followed %d records, want 5", n)
		}
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
}

// halfZipped is an export that breaks off in its second item.
func halfZipped(t *testing.T) string {
	t.Helper()
	var b bytes.Buffer
	zipped := gzip.NewWriter(&b)
	_, err := zipped.Write([]byte(`{"Item":{"pk":{"S":"a"}}}` + "\n" + `{"Item":{"pk"`))
	if err := errors.Join(err, zipped.Flush()); err != nil { // and never closed
		t.Fatal(err)
	}
	return b.String()
}

// Broken exports are refused by line, whatever is wrong with them.
func TestExportErrorsNameTheLine(t *testing.T) {
	for name, test := range map[string]struct{ text, want string }{
		"no JSON":      {"{\"Item\":{\"pk\":{\"S\":\"a\"}}}\n{", "f, line 2: "},
		"no item":      {`{}`, "f, line 1: not an item of an export in DynamoDB JSON: no Item"},
		"no key":       {`{"Item":{"id":{"S":"a"}}}`, `f, line 1: not an item of an export in DynamoDB JSON: the item has no attribute "pk"`},
		"map as key":   {`{"Item":{"pk":{"M":{"S":{"S":"a"}}}}}`, `attribute "pk" is not a string, number or binary`},
		"CSV":          {"pk,sk\na,b\n", "f, line 1: not an item of an export in DynamoDB JSON: invalid character"},
		"half a gzip":  {halfZipped(t), "f, line 2: not an item of an export in DynamoDB JSON: the file is truncated: unexpected EOF"},
		"two types":    {`{"Item":{"pk":{"S":"a","N":"1"}}}`, `attribute "pk": a value must have one type, but has 2`},
		"unknown type": {`{"Item":{"pk":{"X":"a"}}}`, `unknown type "X"`},
		"bad base64":   {`{"Item":{"pk":{"B":"%"}}}`, "illegal base64"},
		"bad gzip":     {"\x1f\x8bxxxxxxxxxxxxxxxxxxxxx", "gzip"},
	} {
		reader, err := heat.NewExportReader("orders", heat.Options{Keys: map[string][]string{"orders": {"pk"}}})
		if err != nil {
			t.Fatal(err)
		}
		if err := reader.Read("f", strings.NewReader(test.text)); err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: got %v, want %q", name, err, test.want)
		}
	}
	reader, err := heat.NewExportReader("orders", heat.Options{Keys: map[string][]string{"orders": {"pk"}}})
	if err != nil {
		t.Fatal(err)
	}
	line := func(n int) io.Reader {
		return strings.NewReader("\n" + `{"Item":{"pk":{"S":"a"},"body":{"S":"` + strings.Repeat("x", n) + `"}}}`)
	}
	if err := reader.Read("f", line(400<<10)); err != nil || reader.Report().Resources[0].Stored.Bytes != 2+1+4+400<<10 {
		t.Errorf("the largest item: got %+v, %v", reader.Report().Resources[0].Stored, err)
	}
	const tooLong = "f, line 2: not an item of an export in DynamoDB JSON: the line is longer than 4 MB, more than any item"
	if err := reader.Read("f", line(5<<20)); err == nil || err.Error() != tooLong {
		t.Errorf("a line of 5 MB: got %v", err)
	}
	if _, err := heat.NewExportReader("orders", heat.Options{}); err == nil || !strings.Contains(err.Error(), "name it in Options.Keys") {
		t.Errorf("no keys: got %v", err)
	}
}
