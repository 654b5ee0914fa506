package heat_test

import (
	"fmt"
	"hash/crc32"
	"io"
	"net/http"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/heatsink-go/heatsink/heat"
	"github.com/heatsink-go/heatsink/internal/bubble"
	"github.com/heatsink-go/heatsink/local"
)

// canned answers every request with one text.
type canned struct {
	text   string
	length int64  // as the header has it
	sum    uint32 // of the text, as the header has it
}

func cannedText(text string) canned {
	return canned{text: text, length: int64(len(text)), sum: crc32.ChecksumIEEE([]byte(text))}
}

func (c canned) Do(*http.Request) (*http.Response, error) {
	header := http.Header{}
	header.Set("X-Amz-Crc32", fmt.Sprint(c.sum))
	return &http.Response{StatusCode: http.StatusOK, Header: header, ContentLength: c.length, Body: io.NopCloser(strings.NewReader(c.text))}, nil
}

func (c canned) client(options ...func(*dynamodb.Options)) *dynamodb.Client {
	return dynamodb.New(dynamodb.Options{
		Region: "eu-west-1", HTTPClient: c, Retryer: aws.NopRetryer{}, Credentials: credentials.NewStaticCredentialsProvider("a", "b", ""),
	}, options...)
}

// A recorded write says what an unrecorded one says, however the answer is spelt, and the recorder counts what it says.
func TestAnswersInAnySpelling(t *testing.T) {
	long := strings.Repeat("t", 255)
	cut := cannedText(`{"ConsumedCapacity":{"CapacityUnits":3}}`)
	cut.length++
	unknown := cannedText(`{"ConsumedCapacity":{"CapacityUnits":3}}`)
	unknown.length = -1
	damaged := cannedText(`{"ConsumedCapacity":{"CapacityUnits":3}}`)
	damaged.sum++
	more := cannedText(`{"ConsumedCapacity":{"CapacityUnits":3}}{}`)
	more.length -= 2
	for name, test := range map[string]struct {
		answer canned
		units  float64
	}{
		"as the engine":        {cannedText(`{"ConsumedCapacity":{"CapacityUnits":3,"TableName":"views"}}`), 3},
		"the other way round":  {cannedText(`{"ConsumedCapacity":{"TableName":"views","CapacityUnits":2.5}}`), 2.5},
		"an exponent":          {cannedText(`{"ConsumedCapacity":{"CapacityUnits":1.5E1}}`), 15},
		"units only":           {cannedText(`{"ConsumedCapacity":{"CapacityUnits":3}}`), 3},
		"spaces":               {cannedText(` { "ConsumedCapacity" : { "CapacityUnits" : 3 } } `), 3},
		"spaces in the middle": {cannedText(`{"ConsumedCapacity":{"CapacityUnits":3, "TableName":"views"}}`), 3},
		"an escape":            {cannedText(`{"ConsumedCapacity":{"TableName":"vi\u0065ws","CapacityUnits":3}}`), 3},
		"an escaped quote":     {cannedText(`{"ConsumedCapacity":{"TableName":"\",","CapacityUnits":3}}`), 3},
		"the table apart":      {cannedText(`{"ConsumedCapacity":{"CapacityUnits":3,"Table":{"CapacityUnits":3},"TableName":"views"}}`), 3},
		"a long name":          {cannedText(`{"ConsumedCapacity":{"CapacityUnits":3,"TableName":"` + long + `"}}`), 3},
		"an old item":          {cannedText(`{"Attributes":{"pk":{"S":"a"}},"ConsumedCapacity":{"CapacityUnits":3}}`), 3},
		"a later old item":     {cannedText(`{"ConsumedCapacity":{"CapacityUnits":3},"Attributes":{"pk":{"S":"a"}}}`), 3},
		"nothing consumed":     {cannedText(`{"ConsumedCapacity":{}}`), 0},
		"nothing":              {cannedText(`{}`), 0},
		"no text":              {cannedText(``), 0},
		"no comma":             {cannedText(`{"ConsumedCapacity":{"CapacityUnits":3"TableName":"views"}}`), 0},
		"a comma too many":     {cannedText(`{"ConsumedCapacity":{,"CapacityUnits":3}}`), 0},
		"not a number":         {cannedText(`{"ConsumedCapacity":{"CapacityUnits":three}}`), 0},
		"an endless string":    {cannedText(`{"ConsumedCapacity":{"TableName":"views}}`), 0},
		"an endless number":    {cannedText(`{"ConsumedCapacity":{"CapacityUnits":3`), 0},
		"no end":               {cannedText(`{"ConsumedCapacity":{"CapacityUnits":3}`), 0},
		"more than its length": {more, 3},
		"less than its length": {cut, 3},
		"of unknown length":    {unknown, 3},
		"damaged":              {damaged, 3},
	} {
		t.Run(name, func(t *testing.T) {
			recorder := newRecorder(t, heat.Options{NoDescribe: true, Keys: map[string][]string{"views": {"pk"}}})
			input := &dynamodb.PutItemInput{TableName: aws.String("views"), Item: key("a", "1")}
			plain, plainErr := test.answer.client().PutItem(t.Context(), input)
			recorded, err := test.answer.client(recorder.Option).PutItem(t.Context(), input)
			if (err == nil) != (plainErr == nil) {
				t.Fatalf("recorded: %v; unrecorded: %v", err, plainErr)
			}
			units := 0.0
			if err == nil {
				units = test.units
				plain.ConsumedCapacity = nil // nobody asked
				if !reflect.DeepEqual(recorded.Attributes, plain.Attributes) || recorded.ConsumedCapacity != nil {
					t.Errorf("got %+v, want %+v", recorded, plain)
				}
			}
			if got := resource(t, recorder.Report(), "views").Writes.Units; got != units {
				t.Errorf("counted %v units, want %v (%v)", got, units, err)
			}
		})
	}
}

// shortReads are answers to a GetItem, and what the recorder counts of them.
var shortReads = map[string]struct {
	text  string
	units float64
}{
	"the capacity first":     {`{"ConsumedCapacity":{"CapacityUnits":3,"TableName":"views"},"Item":{"pk":{"S":"a"},"n":{"N":"1"}}}`, 3},
	"the capacity last":      {`{"Item":{"pk":{"S":"a"},"n":{"N":"1"}},"ConsumedCapacity":{"TableName":"views","CapacityUnits":0.5}}`, 0.5},
	"the capacity between":   {`{"Item":{"pk":{"S":"a"}},"ConsumedCapacity":{"CapacityUnits":3},"Other":{"a":1}}`, 3},
	"the capacity twice":     {`{"ConsumedCapacity":{"CapacityUnits":3},"Item":{"pk":{"S":"a"}},"ConsumedCapacity":{"CapacityUnits":2}}`, 2},
	"indexes apart":          {`{"Item":{"pk":{"S":"a"}},"ConsumedCapacity":{"CapacityUnits":3,"Table":{"CapacityUnits":2}}}`, 2},
	"no item":                {`{"ConsumedCapacity":{"CapacityUnits":3}}`, 3},
	"a null item":            {`{"ConsumedCapacity":{"CapacityUnits":3},"Item":null}`, 3},
	"an empty item":          {`{"Item":{},"ConsumedCapacity":{"CapacityUnits":3}}`, 3},
	"spaces":                 {`{"Item":{"pk":{"S":"a"}}, "ConsumedCapacity":{"CapacityUnits":3}}`, 3},
	"an attribute's name":    {`{"Item":{"pk":{"M":{}},"ConsumedCapacity":{"S":"a"}}}`, 0},
	"an attribute's members": {`{"Item":{"m":{"M":{"a":{"M":{}},"ConsumedCapacity":{"M":{"CapacityUnits":{"N":"1"}}}}}}}`, 0},
	"an attribute's text":    {`{"Item":{"pk":{"S":"},\"ConsumedCapacity\":{\"CapacityUnits\":1}}"}}}`, 0},
	"a comma too many":       {`{"ConsumedCapacity":{"CapacityUnits":3},}`, 0},
	"a comma too early":      {`{,"ConsumedCapacity":{"CapacityUnits":3}}`, 0},
	"an open item":           {`{"Item":{"pk":{"S":"a"},"ConsumedCapacity":{"CapacityUnits":3}}`, 0},
	"more":                   {`{"Item":{"pk":{"S":"a"}},"ConsumedCapacity":{"CapacityUnits":3}}}`, 3},
	"no number":              {`{"ConsumedCapacity":{"CapacityUnits":Inf},"Item":{"pk":{"S":"a"}}}`, 0},
	"as long as can be":      {`{"Item":{"pk":{"S":"` + strings.Repeat("x", 4096-63) + `"}},"ConsumedCapacity":{"CapacityUnits":3}}`, 3},
	"long":                   {`{"Item":{"pk":{"S":"` + strings.Repeat("x", 5000) + `"}},"ConsumedCapacity":{"CapacityUnits":3}}`, 3},
	"long, the other way":    {`{"ConsumedCapacity":{"CapacityUnits":3},"Item":{"pk":{"S":"` + strings.Repeat("x", 5000) + `"}}}`, 3},
}

// getBoth makes a GetItem with a recorder and without, and compares what the caller sees.
func getBoth(t *testing.T, recorder *heat.Recorder, answer canned) (recordedErr, plainErr error) {
	t.Helper()
	input := &dynamodb.GetItemInput{TableName: aws.String("views"), Key: key("a", "1")}
	plain, plainErr := answer.client().GetItem(t.Context(), input)
	recorded, err := answer.client(recorder.Option).GetItem(t.Context(), input)
	if err == nil && plainErr == nil && (!reflect.DeepEqual(recorded.Item, plain.Item) || recorded.ConsumedCapacity != nil) {
		t.Errorf("got %+v, want the item %+v", recorded, plain.Item)
	}
	return err, plainErr
}

// A recorded read says what an unrecorded one says, wherever the response has the capacity.
func TestReadsInAnySpelling(t *testing.T) {
	for name, test := range shortReads {
		t.Run(name, func(t *testing.T) {
			recorder := newRecorder(t, heat.Options{NoDescribe: true, Keys: map[string][]string{"views": {"pk"}}})
			err, plainErr := getBoth(t, recorder, cannedText(test.text))
			if (err == nil) != (plainErr == nil) {
				t.Fatalf("recorded: %v; unrecorded: %v", err, plainErr)
			}
			if err != nil {
				test.units = 0
			}
			if got := resource(t, recorder.Report(), "views").Reads.Units; got != test.units {
				t.Errorf("counted %v units, want %v (%v)", got, test.units, err)
			}
		})
	}
}

// No response breaks a recorded call, or makes it see another item.
func FuzzReadsInAnySpelling(f *testing.F) {
	for _, seed := range shortReads {
		f.Add(seed.text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		getBoth(t, newRecorder(t, heat.Options{NoDescribe: true}), cannedText(text))
	})
}

// A table that gets an index after it was looked up has most of the index's units counted at the index.
func TestIndexThatComesLater(t *testing.T) {
	const writes = 64 // five milliseconds apart
	bubble.Test(t, func(t *testing.T) { testIndexThatComesLater(t, writes) })
}

func testIndexThatComesLater(t *testing.T, writes int) {
	recorder := newRecorder(t, heat.Options{})
	db := local.Start(t)
	if err := db.CreateTable(t.Context(), "views", "pk", "sk"); err != nil {
		t.Fatal(err)
	}
	client := db.Client(recorder.Option)
	put := func(n int) {
		t.Helper()
		item := key("a", fmt.Sprint(n))
		item["day"] = &types.AttributeValueMemberS{Value: "monday"}
		if _, err := client.PutItem(t.Context(), &dynamodb.PutItemInput{TableName: aws.String("views"), Item: item}); err != nil {
			t.Fatal(err)
		}
	}
	put(0)
	unseen := db.Client()
	if _, err := unseen.DeleteTable(t.Context(), &dynamodb.DeleteTableInput{TableName: aws.String("views")}); err != nil {
		t.Fatal(err)
	}
	text := types.ScalarAttributeTypeS
	if _, err := unseen.CreateTable(t.Context(), &dynamodb.CreateTableInput{
		TableName: aws.String("views"), BillingMode: types.BillingModePayPerRequest,
		AttributeDefinitions: []types.AttributeDefinition{
			{AttributeName: aws.String("pk"), AttributeType: text},
			{AttributeName: aws.String("sk"), AttributeType: text},
			{AttributeName: aws.String("day"), AttributeType: text},
		},
		KeySchema: []types.KeySchemaElement{
			{AttributeName: aws.String("pk"), KeyType: types.KeyTypeHash}, {AttributeName: aws.String("sk"), KeyType: types.KeyTypeRange},
		},
		GlobalSecondaryIndexes: []types.GlobalSecondaryIndex{{
			IndexName: aws.String("byDay"), Projection: &types.Projection{ProjectionType: types.ProjectionTypeAll},
			KeySchema: []types.KeySchemaElement{{AttributeName: aws.String("day"), KeyType: types.KeyTypeHash}},
		}},
	}); err != nil {
		t.Fatal(err)
	}
	for n := range writes {
		time.Sleep(5 * time.Millisecond)
		put(n)
	}
	index := units(recorder.Report(), "views", "byDay")
	if own := units(recorder.Report(), "views", ""); index < float64(writes-10) || own+index != float64(1+2*writes) {
		t.Errorf("the table has %v units and the index %v, want %v in all and at least %v for the index", own, index, 1+2*writes, writes-10)
	}
}

func units(report heat.Report, table, index string) float64 {
	for _, r := range report.Resources {
		if r.Table == table && r.Index == index {
			return r.Writes.Units
		}
	}
	return 0
}
