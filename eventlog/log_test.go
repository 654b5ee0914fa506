package eventlog_test

import (
	"cmp"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/heatsink-go/heatsink"
	"github.com/heatsink-go/heatsink/eventlog"
	"github.com/heatsink-go/heatsink/internal/enginetest"
	"github.com/heatsink-go/heatsink/layout"
	"github.com/heatsink-go/heatsink/local"
)

// op is what most tests log.
type op struct {
	Agent string `dynamodbav:"agent,omitempty"`
	N     int    `dynamodbav:"n,omitempty"`
}

type event = eventlog.Event[op]

// setup creates the table for options, and opens it.
func setup(t testing.TB, client *dynamodb.Client, options eventlog.Options) *eventlog.Log[op] {
	t.Helper()
	options.Table = cmp.Or(options.Table, "logs")
	if err := eventlog.Setup(t.Context(), client, options); err != nil {
		t.Fatal(err)
	}
	if t, ok := t.(*testing.T); ok {
		enginetest.DropTable(t, client, options.Table)
	}
	return open(t, client, options)
}

// open opens the logs of a table that is there.
func open(t testing.TB, client eventlog.Client, options eventlog.Options) *eventlog.Log[op] {
	t.Helper()
	options.Table = cmp.Or(options.Table, "logs")
	log, err := eventlog.Open[op](client, options)
	if err != nil {
		t.Fatal(err)
	}
	return log
}

// every returns n events of a log, one every step, with ids of their own.
func every(step time.Duration, start time.Time, log string, n int) []event {
	events := make([]event, n)
	for i := range events {
		events[i] = event{Log: log, At: start.UTC().Add(time.Duration(i) * step), ID: "agent-" + string(rune('a'+i%26)), Body: op{N: i}}
	}
	return events
}

func appendAll(t testing.TB, log *eventlog.Log[op], events []event) {
	t.Helper()
	if _, err := log.AppendAll(t.Context(), events); err != nil {
		t.Fatal(err)
	}
}

// read returns all of a query, and what it cost.
func read(t testing.TB, log *eventlog.Log[op], q eventlog.Query) ([]event, heatsink.Cost) {
	t.Helper()
	var meter heatsink.Meter
	var events []event
	for e, err := range log.Events(heatsink.WithMeter(t.Context(), &meter), q) {
		if err != nil {
			t.Fatal(err)
		}
		events = append(events, e)
	}
	cost := meter.Cost()
	t.Logf("%d events for %d requests, %d items read, %.1f read units", len(events), cost.Requests, cost.Items, cost.ReadUnits)
	return events, cost
}

// inPages returns all of a query, page by page.
func inPages(t testing.TB, log *eventlog.Log[op], q eventlog.Query) (events []event) {
	t.Helper()
	for token := ""; ; {
		page, err := log.Page(t.Context(), q, token)
		if err != nil {
			t.Fatal(err)
		}
		events = append(events, page.Events...)
		if token = page.Next; token == "" {
			return events
		}
	}
}

// reversed returns the events from the last to the first.
func reversed(events []event) []event {
	events = slices.Clone(events)
	slices.Reverse(events)
	return events
}

// stored returns the items of a table, by partition key and then sort key, without heatsink's control items.
func stored(t testing.TB, client *dynamodb.Client, table string) []heatsink.Item {
	t.Helper()
	var items []heatsink.Item
	pages := dynamodb.NewScanPaginator(client, &dynamodb.ScanInput{TableName: &table, ConsistentRead: aws.Bool(true)})
	for pages.HasMorePages() {
		page, err := pages.NextPage(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		items = append(items, page.Items...)
	}
	items = slices.DeleteFunc(items, func(item heatsink.Item) bool { return layout.IsControl(attribute(item, "pk")) })
	slices.SortFunc(items, func(a, b heatsink.Item) int {
		return strings.Compare(attribute(a, "pk")+"\x00"+attribute(a, "sk"), attribute(b, "pk")+"\x00"+attribute(b, "sk"))
	})
	return items
}

// attribute returns the text of a string or number.
func attribute(item heatsink.Item, name string) string {
	switch v := item[name].(type) {
	case *types.AttributeValueMemberS:
		return v.Value
	case *types.AttributeValueMemberN:
		return v.Value
	}
	return ""
}

// partitions returns the partition keys of a table and how many items each has.
func partitions(t testing.TB, client *dynamodb.Client, table string) map[string]int {
	counts := map[string]int{}
	for _, item := range stored(t, client, table) {
		counts[attribute(item, "pk")]++
	}
	return counts
}

func TestOpenNamesEveryFault(t *testing.T) {
	client := local.Start(t).Client()
	day := time.Date(2026, 6, 22, 0, 0, 0, 0, time.UTC)
	for _, c := range []struct {
		name    string
		options eventlog.Options
		want    []string
	}{
		{"no table", eventlog.Options{}, []string{"Table is empty"}},
		{"names twice", eventlog.Options{Table: "t", SortKey: "pk"}, []string{`two attributes are named "pk"`}},
		{"name of the index", eventlog.Options{Table: "t", Index: eventlog.Index{Name: "i", SortKey: "sk"}}, []string{`two attributes are named "sk"`}},
		{"precision", eventlog.Options{Table: "t", Precision: time.Minute}, []string{"Precision is 1m0s"}},
		{"prefix", eventlog.Options{Table: "t", Prefix: "\xff"}, []string{"Prefix has 1 bytes"}},
		{"negative times", eventlog.Options{Table: "t", Retention: -1, Settle: -1}, []string{"Retention is -1ns, want 0 or more", "Settle is -1ns, want 0 or more"}},
		{"years", eventlog.Options{Table: "t", Begin: time.Date(1, 1, 2, 0, 0, 0, 0, time.UTC)}, []string{"Begin: ", "years 1970 to 9998"}},
		{"until without older", eventlog.Options{Table: "t", OlderUntil: day}, []string{"OlderUntil is set without Older"}},
		{"older with buckets", eventlog.Options{Table: "t", Older: []layout.Layout{{Bucket: layout.Day}}}, []string{"Older[0] has buckets"}},
		{"shards", eventlog.Options{Table: "t", Shards: -1}, []string{"Shards is -1, want 0 to 65536"}},
		{"adaptive with a number in shard 0", eventlog.Options{Table: "t", Format: layout.SharpNumber(), Adaptive: &heatsink.Adaptive{}}, []string{"BareZero"}},
		{"adaptive that is wrong", eventlog.Options{Table: "t", Adaptive: &heatsink.Adaptive{Keep: -1, MaxWidth: 5000}}, []string{"Adaptive.Keep is -1ns"}},
		{"name of the wrong form", eventlog.Options{Table: "t", Adaptive: &heatsink.Adaptive{}, Name: "a#b"}, []string{"Name: "}},
		{"name without adaptive", eventlog.Options{Table: "t", Name: "ops"}, []string{`Name is "ops" without Adaptive`}},
		{"index without a name", eventlog.Options{Table: "t", Index: eventlog.Index{Prefix: "THREAT#"}}, []string{"Index.Name is empty"}},
		{"key of no index", eventlog.Options{Table: "t", Index: eventlog.Index{Key: strings.ToUpper}}, []string{"Index.Key is set without a Name"}},
		{"budget", eventlog.Options{Table: "t", Index: eventlog.Index{Name: "i", MaxRequests: -1}}, []string{"Index.MaxRequests is -1, want 0 or more"}},
		{"token key", eventlog.Options{Table: "t", TokenKeys: [][]byte{[]byte("short")}}, []string{"TokenKeys[0] has 5 bytes"}},
	} {
		_, err := eventlog.Open[op](client, c.options)
		if !errors.Is(err, eventlog.ErrOptions) && !errors.Is(err, layout.ErrInvalid) && !errors.Is(err, heatsink.ErrOptions) {
			t.Errorf("%s: got %v", c.name, err)
			continue
		}
		for _, want := range c.want {
			if !strings.Contains(err.Error(), want) {
				t.Errorf("%s: got %q, want %q in it", c.name, err, want)
			}
		}
	}
	if _, err := eventlog.Open[op](nil, eventlog.Options{Table: "t"}); !errors.Is(err, eventlog.ErrOptions) {
		t.Errorf("without a client: got %v", err)
	}
}
