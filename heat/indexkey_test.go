package heat_test

import (
	"context"
	"fmt"
	"maps"
	"math"
	"reflect"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"pgregory.net/rapid"

	"github.com/heatsink-go/heatsink/heat"
	"github.com/heatsink-go/heatsink/internal/bubble"
	"github.com/heatsink-go/heatsink/local"
)

func number(n int) types.AttributeValue { return &types.AttributeValueMemberN{Value: fmt.Sprint(n)} }

// createJobs creates a table (pk, sk) with indexes: byStatus (status), byTime (status, at), byNumber (n), inverted (sk, pk)
// and a byOwner (owner) of keys only.
func createJobs(t testing.TB, client *dynamodb.Client) {
	t.Helper()
	index := func(name string, projection types.ProjectionType, keys ...string) types.GlobalSecondaryIndex {
		return types.GlobalSecondaryIndex{
			IndexName: aws.String(name), KeySchema: keySchema(keys...), Projection: &types.Projection{ProjectionType: projection},
		}
	}
	in := &dynamodb.CreateTableInput{
		TableName: aws.String("jobs"), BillingMode: types.BillingModePayPerRequest, KeySchema: keySchema("pk", "sk"),
		GlobalSecondaryIndexes: []types.GlobalSecondaryIndex{
			index("byStatus", types.ProjectionTypeAll, "status"), index("byTime", types.ProjectionTypeAll, "status", "at"),
			index("byNumber", types.ProjectionTypeAll, "n"), index("inverted", types.ProjectionTypeAll, "sk", "pk"),
			index("byOwner", types.ProjectionTypeKeysOnly, "owner"),
		},
	}
	for _, name := range []string{"pk", "sk", "status", "at", "owner", "n"} {
		kind := types.ScalarAttributeTypeS
		if name == "n" {
			kind = types.ScalarAttributeTypeN
		}
		in.AttributeDefinitions = append(in.AttributeDefinitions, types.AttributeDefinition{AttributeName: aws.String(name), AttributeType: kind})
	}
	if _, err := client.CreateTable(t.Context(), in); err != nil {
		t.Fatal(err)
	}
}

func keySchema(names ...string) []types.KeySchemaElement {
	schema := []types.KeySchemaElement{{AttributeName: aws.String(names[0]), KeyType: types.KeyTypeHash}}
	for _, name := range names[1:] {
		schema = append(schema, types.KeySchemaElement{AttributeName: aws.String(name), KeyType: types.KeyTypeRange})
	}
	return schema
}

// keyUnits returns the units of the keys of a table or index, those without a key as "".
func keyUnits(report heat.Report, name string) map[string]float64 {
	units := make(map[string]float64)
	for i := range report.Resources {
		if r := &report.Resources[i]; r.String() == name {
			rest := r.Writes.Units
			for _, k := range r.Writes.Keys {
				units[k.Key] = k.Units
				rest -= k.Units
			}
			if rest != 0 {
				units[""] = rest
			}
		}
	}
	return units
}

type write = func(context.Context, *dynamodb.Client) error

var placeholder = regexp.MustCompile(`[#:]\w+`)

// update is an UpdateItem of item a, 1. In its expression #status is the attribute of that name, and :done a value below.
func update(expression string, returned types.ReturnValue) write {
	in := &dynamodb.UpdateItemInput{TableName: aws.String("jobs"), Key: key("a", "1"), UpdateExpression: &expression, ReturnValues: returned}
	values := item{":done": text("DONE"), ":open": text("OPEN"), ":ann": text("ann"), ":late": text("9"), ":one": number(1), ":seven": number(7)}
	for _, name := range placeholder.FindAllString(expression, -1) {
		switch {
		case name[0] == ':' && in.ExpressionAttributeValues == nil:
			in.ExpressionAttributeValues = item{name: values[name]}
		case name[0] == ':':
			in.ExpressionAttributeValues[name] = values[name]
		case in.ExpressionAttributeNames == nil:
			in.ExpressionAttributeNames = map[string]string{name: name[1:]}
		default:
			in.ExpressionAttributeNames[name] = name[1:]
		}
	}
	return func(ctx context.Context, c *dynamodb.Client) error { _, err := c.UpdateItem(ctx, in); return err }
}

func remove(returned types.ReturnValue) write {
	return func(ctx context.Context, c *dynamodb.Client) error {
		_, err := c.DeleteItem(ctx, &dynamodb.DeleteItemInput{TableName: aws.String("jobs"), Key: key("a", "1"), ReturnValues: returned})
		return err
	}
}

func replace(returned types.ReturnValue) write {
	done := key("a", "1")
	done["status"] = text("DONE")
	return func(ctx context.Context, c *dynamodb.Client) error {
		_, err := c.PutItem(ctx, &dynamodb.PutItemInput{TableName: aws.String("jobs"), Item: done, ReturnValues: returned})
		return err
	}
}

func transact(items ...types.TransactWriteItem) write {
	return func(ctx context.Context, c *dynamodb.Client) error {
		_, err := c.TransactWriteItems(ctx, &dynamodb.TransactWriteItemsInput{TransactItems: items})
		return err
	}
}

func transactSet(pk, status string) types.TransactWriteItem {
	return types.TransactWriteItem{Update: &types.Update{
		TableName: aws.String("jobs"), Key: key(pk, "1"), UpdateExpression: aws.String("SET #s = :s"),
		ExpressionAttributeNames: map[string]string{"#s": "status"}, ExpressionAttributeValues: item{":s": text(status)},
	}}
}

func batchWrite(requests ...types.WriteRequest) write {
	return func(ctx context.Context, c *dynamodb.Client) error {
		_, err := c.BatchWriteItem(ctx, &dynamodb.BatchWriteItemInput{RequestItems: map[string][]types.WriteRequest{"jobs": requests}})
		return err
	}
}

// openJob is an item that is in all indexes.
func openJob() item {
	return item{
		"pk": text("a"), "sk": text("1"), "status": text("OPEN"), "at": text("1"), "owner": text("ann"), "n": number(1),
		"list": &types.AttributeValueMemberL{Value: []types.AttributeValue{number(1)}}, "map": &types.AttributeValueMemberM{Value: item{"x": number(1)}},
	}
}

// Updates and deletions are attributed to the keys of the indexes that they write to, as far as request and answer tell.
func TestIndexKeysOfUpdatesAndDeletions(t *testing.T) {
	type units = map[string]float64
	const (
		none       = types.ReturnValue("")
		allOld     = types.ReturnValueAllOld
		allNew     = types.ReturnValueAllNew
		updatedNew = types.ReturnValueUpdatedNew
	)
	open := openJob()
	put := key("b", "1")
	put["status"] = text("DONE")
	for _, test := range []struct {
		name  string
		had   item
		write write
		index string
		want  units // "" is without a key
	}{
		{"set, new", nil, update("SET #status = :done", none), "byStatus", units{"DONE": 1}},
		{"set, bare name", nil, update("set n=:seven", none), "byNumber", units{"7": 1}},
		{"set among others", open, update("REMOVE #list[0], #owner SET #map.x = #map.x + :one, #status = :open, y = if_not_exists(y, :one) ADD n :one", none), "byStatus", units{"OPEN": 1}},
		{"set after a list", open, update("REMOVE z SET y = #list[0], #status = :open", none), "byStatus", units{"OPEN": 1}},
		{"removed after a list, old told", open, update("SET y = #list[0] REMOVE #status", allOld), "byStatus", units{"OPEN": 1}},
		{"set if there is none", nil, update("SET #status = if_not_exists(#status, :done)", none), "byStatus", units{"": 1}},
		{"set if there is none, but there is", open, update("SET #status = if_not_exists(#status, :done), y = :one", none), "byStatus", units{"": 1}},
		{"sum", nil, update("SET n = :seven + :one", none), "byNumber", units{"": 1}},
		{"difference without blanks", nil, update("SET n=:seven-:one", none), "byNumber", units{"": 1}},
		{"added", nil, update("ADD n :seven", none), "byNumber", units{"": 1}},
		{"moved", open, update("SET #status = :done", none), "byStatus", units{"DONE": 1, "": 1}},
		{"moved, old told", open, update("SET #status = :done", allOld), "byStatus", units{"DONE": 1, "OPEN": 1}},
		{"in place, old told", open, update("SET y = :one", allOld), "byStatus", units{"OPEN": 1}},
		{"new, old told", nil, update("SET #status = :done", allOld), "byStatus", units{"DONE": 1}},
		{"sum, old told", open, update("SET n = n + :one", allOld), "byNumber", units{"": 2}},
		{"sum, new told", open, update("SET n = n + :one", updatedNew), "byNumber", units{"2": 1, "": 1}},
		{"untouched, new told", open, update("ADD y :one", allNew), "byStatus", units{"OPEN": 1}},
		{"untouched, updates told", open, update("ADD y :one", updatedNew), "byStatus", units{"": 1}},
		{"moved within its key, new told", open, update("SET #at = :late", allNew), "byTime", units{"OPEN": 2}},
		{"moved within its key, old told", open, update("SET #at = :late", allOld), "byTime", units{"OPEN": 2}},
		{"sort key not told", open, update("SET #status = :open, y = :one", none), "byTime", units{"OPEN": 1}},
		{"removed", open, update("REMOVE #status", allNew), "byStatus", units{"": 1}},
		{"removed, old told", open, update("REMOVE #status", allOld), "byStatus", units{"OPEN": 1}},
		{"sort key removed, old told", open, update("SET #status = :done REMOVE #at", allOld), "byTime", units{"OPEN": 1}},
		{"index of the item's own key", open, update("ADD y :one", none), "inverted", units{"1": 1}},
		{"not charged", open, update("SET #owner = :ann, y = :one", none), "byOwner", units{}},
		{"deleted", open, remove(none), "byStatus", units{"": 1}},
		{"deleted, old told", open, remove(allOld), "byStatus", units{"OPEN": 1}},
		{"deleted, index of the item's own key", open, remove(none), "inverted", units{"1": 1}},
		{"replaced", open, replace(none), "byStatus", units{"DONE": 1, "": 1}},
		{"replaced, old told", open, replace(allOld), "byStatus", units{"DONE": 1, "OPEN": 1}},
		{"replaced by one outside the index, old told", open, replace(allOld), "byOwner", units{"ann": 1}},
		{"transaction", nil, transact(transactSet("a", "OPEN"), transactSet("b", "DONE")), "byStatus", units{"OPEN": 1, "DONE": 1}},
		{"transaction that moves", open, transact(transactSet("a", "DONE")), "byStatus", units{"DONE": 1, "": 1}},
		{
			"transaction with a deletion", open, transact(types.TransactWriteItem{Put: &types.Put{TableName: aws.String("jobs"), Item: put}},
				types.TransactWriteItem{Delete: &types.Delete{TableName: aws.String("jobs"), Key: key("a", "1")}}),
			"byStatus",
			units{"DONE": 1, "": 1},
		},
		{
			"batch with a deletion", open, batchWrite(types.WriteRequest{PutRequest: &types.PutRequest{Item: put}},
				types.WriteRequest{DeleteRequest: &types.DeleteRequest{Key: key("a", "1")}}),
			"byStatus",
			units{"DONE": 1, "": 1},
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			db := local.Start(t)
			createJobs(t, db.Client())
			if test.had != nil {
				if _, err := db.Client().PutItem(t.Context(), &dynamodb.PutItemInput{TableName: aws.String("jobs"), Item: test.had}); err != nil {
					t.Fatal(err)
				}
			}
			recorder := newRecorder(t, heat.Options{})
			if err := test.write(t.Context(), db.Client(recorder.Option)); err != nil {
				t.Fatal(err)
			}
			requests := int64(1) // whatever the number of keys
			if strings.Contains(test.name, "transaction") || strings.Contains(test.name, "batch") {
				requests = 2
			}
			report := recorder.Report()
			if got := keyUnits(report, "jobs/"+test.index); !maps.Equal(got, test.want) {
				t.Errorf("got %v, want %v", got, test.want)
			}
			for i := range report.Resources { // an index that was not charged was not asked
				r := &report.Resources[i]
				if r.Writes.Units == 0 || r.Writes.Requests > requests {
					t.Errorf("%s has %d requests", r.Resource, r.Writes.Requests)
				}
			}
		})
	}
}

// Whatever is written and told: all units of an index are counted, and no key gets more than it took.
func TestIndexKeysNeverGetMoreThanTheyTook(t *testing.T) {
	db := local.Start(t)
	plain := db.Client()
	createJobs(t, plain)
	clauses := []string{
		"SET #status = :done", "SET #status = :open", "SET #status = if_not_exists(#status, :done)", "REMOVE #status", "SET y = :one", "ADD y :one",
		"SET #at = :late, #status = :open", "SET #at = :late", "REMOVE #at", "SET n = :seven", "ADD n :one", "SET n = :seven - :one", "REMOVE n, #owner",
		"SET #owner = :ann REMOVE #status ADD n :one", "SET #status = :done, #owner = :done REMOVE #at", "SET #status=#owner", "remove #at set #owner=(:ann)",
	}
	returns := []types.ReturnValue{
		"", types.ReturnValueAllOld, types.ReturnValueAllNew, types.ReturnValueUpdatedNew, types.ReturnValueUpdatedOld,
	}
	indexes := map[string][]string{"byStatus": {"status"}, "byTime": {"status", "at"}, "byNumber": {"n"}, "inverted": {"sk", "pk"}, "byOwner": {"owner"}}
	keyed := 0.0
	rapid.Check(t, func(rt *rapid.T) {
		if err := remove("")(t.Context(), plain); err != nil {
			rt.Fatal(err)
		}
		for range rapid.IntRange(1, 6).Draw(rt, "writes") {
			var w write
			returned := rapid.SampledFrom(returns).Draw(rt, "return")
			switch rapid.IntRange(0, 9).Draw(rt, "kind") {
			case 0:
				w = remove(allOldOnly(returned))
			case 1:
				w = replace(allOldOnly(returned))
			default:
				w = update(rapid.SampledFrom(clauses).Draw(rt, "update"), returned)
			}
			before := storedJob(t, plain)
			recorder := newRecorder(t, heat.Options{})
			if err := w(t.Context(), db.Client(recorder.Option)); err != nil {
				continue // such as a sum with what is not there
			}
			report, after := recorder.Report(), storedJob(t, plain)
			for index, names := range indexes {
				took := indexTook(names, before, after, index != "byOwner")
				total := 0.0
				for k, units := range keyUnits(report, "jobs/"+index) {
					if total += units; k != "" && units > took[k] {
						rt.Fatalf("%s: %q got %v, took %v; from %v to %v", index, k, units, took[k], before, after)
					}
					if k != "" {
						keyed += units
					}
				}
				if want := sum(took); total != want {
					rt.Fatalf("%s: %v units counted, %v taken; from %v to %v", index, total, want, before, after)
				}
			}
		}
	})
	if keyed == 0 {
		t.Error("no unit was attributed to a key")
	}
}

func allOldOnly(r types.ReturnValue) types.ReturnValue {
	if r == types.ReturnValueAllOld {
		return r
	}
	return ""
}

func storedJob(t *testing.T, client *dynamodb.Client) item {
	out, err := client.GetItem(t.Context(), &dynamodb.GetItemInput{TableName: aws.String("jobs"), Key: key("a", "1"), ConsistentRead: aws.Bool(true)})
	if err != nil {
		t.Fatal(err)
	}
	return out.Item
}

// indexTook returns the units that each key of an index takes for a write of a small item. all: the index has all attributes.
func indexTook(names []string, before, after item, all bool) map[string]float64 {
	in := func(it item) string {
		var keys []string
		for _, name := range names {
			switch value := it[name].(type) {
			case *types.AttributeValueMemberS:
				keys = append(keys, value.Value)
			case *types.AttributeValueMemberN:
				keys = append(keys, value.Value)
			default:
				return ""
			}
		}
		return strings.Join(keys, "|")
	}
	partition := func(key string) string { first, _, _ := strings.Cut(key, "|"); return first }
	took := make(map[string]float64)
	then, now := in(before), in(after)
	switch {
	case then == now && (then == "" || !all || reflect.DeepEqual(before, after)):
	case then == now:
		took[partition(now)]++
	default:
		if then != "" {
			took[partition(then)]++
		}
		if now != "" {
			took[partition(now)]++
		}
	}
	return took
}

func sum(units map[string]float64) float64 {
	total := 0.0
	for _, n := range units {
		total += n
	}
	return total
}

// A key of an index that is hot because updates set it: the recorder names it, with its throttles.
func TestUpdatesMakeAnIndexKeyHot(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		db := start(t, &local.Physics{})
		createJobs(t, db.Client())
		recorder := newRecorder(t, heat.Options{})
		client := db.Client(recorder.Option, func(o *dynamodb.Options) { o.Retryer = aws.NopRetryer{} })
		for tick := range 150 {
			for i := range 20 {
				_, _ = client.UpdateItem(t.Context(), &dynamodb.UpdateItemInput{
					TableName: aws.String("jobs"), Key: key(fmt.Sprint("job-", 20*tick+i), fmt.Sprint(i)), UpdateExpression: aws.String("SET #s = :s"),
					ExpressionAttributeNames: map[string]string{"#s": "status"}, ExpressionAttributeValues: item{":s": text("RUNNING")},
				})
			}
			time.Sleep(10 * time.Millisecond)
		}
		report := recorder.Report()
		hot := resource(t, report, "jobs/byStatus").Writes.Keys[0]
		if hot.Key != "RUNNING" || hot.Reason != "IndexWriteKeyRangeThroughputExceeded" || math.Abs(hot.RateLow-2000) > 100 {
			t.Errorf("got %+v", hot)
		}
		if got := kinds(heat.Explain(report, heat.Rules{})); !strings.Contains(got, "critical low-cardinality RUNNING") {
			t.Errorf("got %s", got)
		}
	})
}

// A table without indexes costs an update nothing more than it did.
func BenchmarkUpdateItem(b *testing.B) {
	for _, recorded := range []bool{false, true} {
		for _, indexed := range []bool{false, true} {
			b.Run(fmt.Sprintf("recorded=%v,indexes=%v", recorded, indexed), func(b *testing.B) {
				db := local.Start(b)
				if indexed {
					createJobs(b, db.Client())
				} else if err := db.CreateTable(b.Context(), "jobs", "pk", "sk"); err != nil {
					b.Fatal(err)
				}
				var options []func(*dynamodb.Options)
				if recorded {
					options = append(options, newRecorder(b, heat.Options{}).Option)
				}
				client := db.Client(options...)
				set := update("SET #status = :done ADD y :one", "")
				b.ReportAllocs()
				for b.Loop() {
					if err := set(b.Context(), client); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}

// An answer that tells no units of an index does not count the key that the item had there before.
func TestIndexThatIsNotCharged(t *testing.T) {
	db := local.Start(t)
	createJobs(t, db.Client())
	if _, err := db.Client().PutItem(t.Context(), &dynamodb.PutItemInput{TableName: aws.String("jobs"), Item: openJob()}); err != nil {
		t.Fatal(err)
	}
	recorder := newRecorder(t, heat.Options{})
	client := db.Client(recorder.Option, func(o *dynamodb.Options) { o.APIOptions = append(o.APIOptions, answerUnits(2)) })
	moved := with(openJob(), item{"status": text("DONE")})
	if _, err := client.PutItem(t.Context(), &dynamodb.PutItemInput{
		TableName: aws.String("jobs"), Item: moved, ReturnValues: types.ReturnValueAllOld, ReturnConsumedCapacity: types.ReturnConsumedCapacityIndexes,
	}); err != nil {
		t.Fatal(err)
	}
	if got := keyUnits(recorder.Report(), "jobs"); !maps.Equal(got, map[string]float64{"a": 2}) {
		t.Errorf("got %v of the table, want 2 units of a", got)
	}
	if _, counted := keyUnits(recorder.Report(), "jobs/byStatus")["OPEN"]; counted {
		t.Error("OPEN is counted, of which the answer tells nothing")
	}
}

// A cancelled transaction says of each item whether it was throttled. The keys of indexes are none of its items.
func TestTransactionThatIsThrottledInPart(t *testing.T) {
	db := local.Start(t)
	createJobs(t, db.Client())
	recorder := newRecorder(t, heat.Options{})
	refused := &types.TransactionCanceledException{CancellationReasons: []types.CancellationReason{
		{Code: aws.String("None")}, {Code: aws.String("ThrottlingError")},
	}}
	client := db.Client(recorder.Option, func(o *dynamodb.Options) { o.APIOptions = append(o.APIOptions, answerError(refused)) })
	if err := transact(transactSet("a", "OPEN"), transactSet("b", "DONE"))(t.Context(), client); err == nil {
		t.Fatal("got no error")
	}
	throttled := make(map[string]int64)
	for _, k := range resource(t, recorder.Report(), "jobs").Writes.Keys {
		throttled[k.Key] = k.Throttled
	}
	if want := map[string]int64{"a": 0, "b": 1}; !maps.Equal(throttled, want) {
		t.Errorf("got %v, want %v", throttled, want)
	}
}
