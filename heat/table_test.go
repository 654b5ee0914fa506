package heat_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/smithy-go/middleware"

	"github.com/heatsink-go/heatsink/heat"
	"github.com/heatsink-go/heatsink/internal/bubble"
	"github.com/heatsink-go/heatsink/local"
)

// create makes a table with string keys and global indexes, "byOwner:owner" say.
func create(t *testing.T, client *dynamodb.Client, table string, keys []string, indexes ...string) {
	t.Helper()
	in := &dynamodb.CreateTableInput{TableName: &table, BillingMode: types.BillingModePayPerRequest, KeySchema: keySchema(keys...)}
	attributes := slices.Clone(keys)
	for _, index := range indexes {
		name, attribute, _ := strings.Cut(index, ":")
		attributes = append(attributes, attribute)
		in.GlobalSecondaryIndexes = append(in.GlobalSecondaryIndexes, types.GlobalSecondaryIndex{
			IndexName: &name, KeySchema: keySchema(attribute), Projection: &types.Projection{ProjectionType: types.ProjectionTypeAll},
		})
	}
	slices.Sort(attributes)
	for _, attribute := range slices.Compact(attributes) {
		in.AttributeDefinitions = append(in.AttributeDefinitions, types.AttributeDefinition{AttributeName: &attribute, AttributeType: types.ScalarAttributeTypeS})
	}
	if _, err := client.CreateTable(t.Context(), in); err != nil {
		t.Fatal(err)
	}
}

func drop(t *testing.T, client *dynamodb.Client, table string) {
	t.Helper()
	if _, err := client.DeleteTable(t.Context(), &dynamodb.DeleteTableInput{TableName: &table}); err != nil {
		t.Fatal(err)
	}
}

func putItem(t *testing.T, client *dynamodb.Client, table string, it item) error {
	t.Helper()
	_, err := client.PutItem(t.Context(), &dynamodb.PutItemInput{TableName: &table, Item: it})
	return err
}

// lookups counts the DescribeTable calls of a client.
func lookups(n *int) func(*dynamodb.Options) {
	var mu sync.Mutex
	return func(o *dynamodb.Options) {
		o.APIOptions = append(o.APIOptions, func(stack *middleware.Stack) error {
			return stack.Initialize.Add(middleware.InitializeMiddlewareFunc("lookups",
				func(ctx context.Context, in middleware.InitializeInput, next middleware.InitializeHandler) (
					middleware.InitializeOutput, middleware.Metadata, error,
				) {
					if _, ok := in.Parameters.(*dynamodb.DescribeTableInput); ok {
						mu.Lock()
						*n++
						mu.Unlock()
					}
					return next.HandleInitialize(ctx, in)
				}), middleware.Before)
		})
	}
}

// A table that is deleted and made again with other keys: a call that fails shows that what is known of it may be out of
// date, and it is looked up again, once a minute at most. What was counted of an index that is gone stays.
func TestTableThatIsMadeAgainWithOtherKeys(t *testing.T) {
	owned := item{"customer": text("c"), "owner": text("ann"), "pk": text("a"), "sk": text("1")}
	for name, fail := range map[string]func(*testing.T, *local.DB, *dynamodb.Client){
		"key that does not match": func(t *testing.T, db *local.DB, client *dynamodb.Client) {
			create(t, db.Client(), "orders", []string{"customer"})
			_, err := client.GetItem(t.Context(), &dynamodb.GetItemInput{TableName: aws.String("orders"), Key: key("a", "1")})
			wantError(t, err, "The provided key element does not match the schema")
		},
		"item without the key": func(t *testing.T, db *local.DB, client *dynamodb.Client) {
			create(t, db.Client(), "orders", []string{"customer"})
			wantError(t, putItem(t, client, "orders", key("a", "1")), "Missing the key customer in the item")
		},
		"transaction": func(t *testing.T, db *local.DB, client *dynamodb.Client) {
			create(t, db.Client(), "orders", []string{"customer"})
			_, err := client.TransactGetItems(t.Context(), &dynamodb.TransactGetItemsInput{TransactItems: []types.TransactGetItem{
				{Get: &types.Get{TableName: aws.String("orders"), Key: key("a", "1")}},
			}})
			wantError(t, err, "")
		},
		"no such index": func(t *testing.T, db *local.DB, client *dynamodb.Client) {
			create(t, db.Client(), "orders", []string{"customer"})
			_, err := client.Query(t.Context(), &dynamodb.QueryInput{
				TableName: aws.String("orders"), IndexName: aws.String("byOwner"), KeyConditionExpression: aws.String("#o = :o"),
				ExpressionAttributeNames: map[string]string{"#o": "owner"}, ExpressionAttributeValues: item{":o": text("ann")},
			})
			wantError(t, err, "does not have the specified index")
		},
		"no such table": func(t *testing.T, db *local.DB, client *dynamodb.Client) {
			wantError(t, putItem(t, client, "orders", key("a", "1")), "Requested resource not found")
			create(t, db.Client(), "orders", []string{"customer"})
		},
	} {
		t.Run(name, func(t *testing.T) {
			bubble.Test(t, func(t *testing.T) {
				db := start(t, nil)
				create(t, db.Client(), "orders", []string{"pk", "sk"}, "byOwner:owner")
				asked := 0
				recorder := newRecorder(t, heat.Options{})
				client := db.Client(lookups(&asked), recorder.Option)
				if err := putItem(t, client, "orders", owned); err != nil {
					t.Fatal(err)
				}
				drop(t, db.Client(), "orders")
				fail(t, db, client)
				if err := putItem(t, client, "orders", owned); err != nil {
					t.Fatal(err)
				}
				// A key of one attribute is a partition key, whatever is known.
				if _, err := client.GetItem(t.Context(), &dynamodb.GetItemInput{TableName: aws.String("orders"), Key: item{"customer": text("c")}}); err != nil {
					t.Fatal(err)
				}
				if reads := resource(t, recorder.Report(), "orders").Reads; !slices.ContainsFunc(reads.Keys, func(k heat.KeyHeat) bool { return k.Key == "c" && k.Units == 0.5 }) {
					t.Errorf("got %+v", reads.Keys)
				}
				if asked != 1 {
					t.Errorf("looked up %d times within the minute", asked)
				}
				time.Sleep(time.Minute)
				if err := putItem(t, client, "orders", owned); err != nil {
					t.Fatal(err)
				}
				if asked != 2 {
					t.Errorf("looked up %d times, a minute later", asked)
				}
				report := recorder.Report()
				if r := resource(t, report, "orders"); !slices.Equal(r.Key, []string{"customer"}) || keyUnits(report, "orders")["c"] != 1 {
					t.Errorf("got %v with %v", r.Key, keyUnits(report, "orders"))
				}
				if r := resource(t, report, "orders/byOwner"); r.Key != nil || r.Capacity != nil || keyUnits(report, "orders/byOwner")["ann"] != 1 {
					t.Errorf("got an index with %v, %+v, %v", r.Key, r.Capacity, keyUnits(report, "orders/byOwner"))
				}
			})
		})
	}
}

func wantError(t *testing.T, err error, text string) {
	t.Helper()
	if err == nil || !strings.Contains(err.Error(), text) {
		t.Fatalf("got %v, want %q", err, text)
	}
}

// Who gets keys wrong again and again does not keep the recorder from seeing others, nor has it look the table up more than
// once a minute.
func TestWrongKeysDoNotBlindTheRecorder(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		db := start(t, nil)
		asked := 0
		recorder := newRecorder(t, heat.Options{})
		client := db.Client(lookups(&asked), recorder.Option)
		wrong := []func() error{
			func() error { return putItem(t, client, "views", item{"pk": text("a")}) },
			func() error {
				_, err := client.GetItem(t.Context(), &dynamodb.GetItemInput{TableName: aws.String("views"), Key: item{"id": text("a")}})
				return err
			},
			func() error {
				_, err := client.BatchGetItem(t.Context(), &dynamodb.BatchGetItemInput{RequestItems: map[string]types.KeysAndAttributes{
					"views": {Keys: []map[string]types.AttributeValue{key("a", "1")}}, "zzz-made-up": {Keys: []map[string]types.AttributeValue{key("a", "1")}},
				}})
				return err
			},
		}
		for i := range 180 {
			wantError(t, wrong[i%len(wrong)](), "")
			if err := putItem(t, client, "views", key("k", fmt.Sprint(i))); err != nil {
				t.Fatal(err)
			}
			time.Sleep(time.Second)
		}
		if got := keyUnits(recorder.Report(), "views"); got["k"] != 180 || got[""] != 0 {
			t.Errorf("got %v", got)
		}
		if asked > 6 { // two tables, three minutes
			t.Errorf("looked up %d times", asked)
		}
	})
}

// A recorder that looks nothing up forgets what a table refuses, and what a program deletes.
func TestForgottenWithoutLookingUp(t *testing.T) {
	db := start(t, nil)
	recorder := newRecorder(t, heat.Options{NoDescribe: true})
	client := db.Client(recorder.Option)
	both := item{"customer": text("c"), "pk": text("a"), "sk": text("1")}
	put := func(want map[string]float64) {
		t.Helper()
		if err := putItem(t, client, "orders", both); err != nil {
			t.Fatal(err)
		}
		if got := keyUnits(recorder.Report(), "orders"); !maps.Equal(got, want) {
			t.Errorf("got %v, want %v", got, want)
		}
	}
	create(t, client, "orders", []string{"pk", "sk"}) // which teaches
	put(map[string]float64{"a": 1})
	drop(t, db.Client(), "orders")
	create(t, db.Client(), "orders", []string{"customer"})
	wantError(t, putItem(t, client, "orders", key("a", "1")), "Missing the key")
	put(map[string]float64{"a": 1, "": 1})

	drop(t, client, "orders")
	create(t, client, "orders", []string{"customer"})
	put(map[string]float64{"a": 1, "": 1, "c": 1})
	drop(t, client, "orders")
	create(t, db.Client(), "orders", []string{"pk", "sk"})
	put(map[string]float64{"a": 1, "": 2, "c": 1})
}

// An index that becomes a local one is the table's from then on. What was counted as an index stays.
func TestIndexThatBecomesLocal(t *testing.T) {
	db := local.Start(t)
	recorder := newRecorder(t, heat.Options{})
	client := db.Client(recorder.Option)
	query := func() {
		t.Helper()
		if _, err := client.Query(t.Context(), &dynamodb.QueryInput{
			TableName: aws.String("orders"), IndexName: aws.String("byPk"), KeyConditionExpression: aws.String("pk = :k"), ExpressionAttributeValues: item{":k": text("a")},
		}); err != nil {
			t.Fatal(err)
		}
	}
	create(t, client, "orders", []string{"pk", "sk"}, "byPk:pk")
	query()
	drop(t, db.Client(), "orders")
	attribute := func(name string) types.AttributeDefinition {
		return types.AttributeDefinition{AttributeName: &name, AttributeType: types.ScalarAttributeTypeS}
	}
	if _, err := client.CreateTable(t.Context(), &dynamodb.CreateTableInput{
		TableName: aws.String("orders"), BillingMode: types.BillingModePayPerRequest, KeySchema: keySchema("pk", "sk"),
		AttributeDefinitions: []types.AttributeDefinition{attribute("pk"), attribute("sk"), attribute("at")},
		LocalSecondaryIndexes: []types.LocalSecondaryIndex{{
			IndexName: aws.String("byPk"), KeySchema: keySchema("pk", "at"), Projection: &types.Projection{ProjectionType: types.ProjectionTypeAll},
		}},
	}); err != nil {
		t.Fatal(err)
	}
	query()
	query()
	report := recorder.Report()
	if own, index := resource(t, report, "orders").Reads, resource(t, report, "orders/byPk").Reads; own.Units != 1 || index.Units != 0.5 || own.Keys[0].Key != "a" {
		t.Errorf("got %+v and %+v", own, index)
	}
	drop(t, db.Client(), "orders")
	create(t, client, "orders", []string{"pk", "sk"}, "byPk:pk")
	query()
	report = recorder.Report()
	if index := resource(t, report, "orders/byPk"); index.Reads.Units != 1 || !slices.Equal(index.Key, []string{"pk"}) {
		t.Errorf("got %v with %+v", index.Key, index.Reads)
	}
}

// Descriptions that pass by replace what is known, but not what the options say.
func TestDescriptionsReplaceWhatWasLearned(t *testing.T) {
	db := local.Start(t)
	recorder := newRecorder(t, heat.Options{Keys: map[string][]string{"given": {"sk"}, "given/byOwner": {"status"}}})
	client := db.Client(recorder.Option)
	for _, table := range []string{"orders", "given"} {
		create(t, client, table, []string{"pk", "sk"}, "byOwner:owner", "byStatus:status")
		it := item{"pk": text("a"), "sk": text("1"), "owner": text("ann"), "status": text("OPEN")}
		if err := putItem(t, client, table, it); err != nil {
			t.Fatal(err)
		}
		drop(t, client, table)
		create(t, client, table, []string{"customer"}, "byOwner:customer")
		if err := putItem(t, client, table, item{"customer": text("c"), "pk": text("a"), "sk": text("1"), "owner": text("ann"), "status": text("OPEN")}); err != nil {
			t.Fatal(err)
		}
	}
	report := recorder.Report()
	for name, want := range map[string]string{
		"orders": "[customer] map[a:1 c:1]", "orders/byOwner": "[customer] map[ann:1 c:1]", "orders/byStatus": "[] map[OPEN:1]",
		"given": "[sk] map[1:2]", "given/byOwner": "[status] map[OPEN:2]", "given/byStatus": "[] map[OPEN:1]",
	} {
		if got := fmt.Sprint(resource(t, report, name).Key, keyUnits(report, name)); got != want {
			t.Errorf("%s: got %s, want %s", name, got, want)
		}
	}
}

// The capacity in a report is that of the last description that passed by.
func TestDescriptionsRefreshTheCapacity(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		db := start(t, nil)
		asked := 0
		recorder := newRecorder(t, heat.Options{})
		client := db.Client(lookups(&asked), recorder.Option)
		capacity := func() heat.Capacity {
			t.Helper()
			if err := putItem(t, client, "views", key("a", "1")); err != nil {
				t.Fatal(err)
			}
			return *resource(t, recorder.Report(), "views").Capacity
		}
		provision := func(client *dynamodb.Client, units int64) {
			t.Helper()
			if _, err := client.UpdateTable(t.Context(), &dynamodb.UpdateTableInput{
				TableName: aws.String("views"), BillingMode: types.BillingModeProvisioned,
				ProvisionedThroughput: &types.ProvisionedThroughput{ReadCapacityUnits: &units, WriteCapacityUnits: &units},
			}); err != nil {
				t.Fatal(err)
			}
		}
		if got := capacity(); !got.OnDemand {
			t.Errorf("at first: %+v", got)
		}
		provision(db.Client(), 70) // by somebody else
		if got := capacity(); !got.OnDemand {
			t.Errorf("nobody told: %+v", got)
		}
		if _, err := client.DescribeTable(t.Context(), &dynamodb.DescribeTableInput{TableName: aws.String("views")}); err != nil {
			t.Fatal(err)
		}
		if got := capacity(); got.OnDemand || got.WriteUnits != 70 {
			t.Errorf("after a description: %+v", got)
		}
		// The answer of UpdateTable describes the table before the change: it is looked up again later.
		time.Sleep(time.Minute)
		asked = 0
		provision(client, 90)
		if got := capacity(); got.WriteUnits != 90 || asked != 1 {
			t.Errorf("after an update: %+v, looked up %d times", got, asked)
		}
	})
}

// Names that a program makes up take no memory to speak of, and no flows: a table or an index counts once there is something
// to count, or somebody says that it exists.
func TestNamesThatDoNotExist(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		db := start(t, nil)
		asked := 0
		recorder := newRecorder(t, heat.Options{})
		client := db.Client(lookups(&asked), recorder.Option)
		query := func(index string) {
			_, err := client.Query(t.Context(), &dynamodb.QueryInput{
				TableName: aws.String("views"), IndexName: &index, KeyConditionExpression: aws.String("pk = :k"), ExpressionAttributeValues: item{":k": text("a")},
			})
			wantError(t, err, "does not have the specified index")
		}
		if err := putItem(t, client, "views", key("a", "1")); err != nil {
			t.Fatal(err)
		}
		before := heapBytes()
		for i := range 1500 {
			wantError(t, putItem(t, client, fmt.Sprint("made-up-", i), key("a", "1")), "Requested resource not found")
			if i%10 == 0 {
				query(fmt.Sprint("made-up-", i))
			}
		}
		if grown := heapBytes() - before; grown > 4<<20 { // as many flows would be half a gigabyte
			t.Errorf("%d bytes for names that do not exist", grown)
		}
		if asked > 1000 {
			t.Errorf("%d tables were looked up", asked)
		}
		if err := putItem(t, client, "views", key("a", "2")); err != nil {
			t.Fatal(err)
		}
		report := recorder.Report()
		if len(report.Resources) != 1 || report.Resources[0].Writes.Units != 2 || len(report.Notes) > 20 {
			t.Errorf("got %+v", report)
		}
	})
}

func heapBytes() int64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

// Names that a program made up do not keep those of tables out that exist: they are dropped a minute later.
func TestNamesThatDoNotExistAreDropped(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		db := start(t, nil)
		recorder := newRecorder(t, heat.Options{Entries: 1, Keys: map[string][]string{"given": {"pk"}}})
		client := db.Client(recorder.Option)
		for i := range 1010 {
			wantError(t, putItem(t, client, fmt.Sprint("made-up-", i), key("a", "1")), "Requested resource not found")
		}
		if err := putItem(t, client, "views", key("a", "1")); err != nil { // there is no room now
			t.Fatal(err)
		}
		report := recorder.Report()
		if last := report.Notes[len(report.Notes)-1]; !strings.Contains(last, "1 requests of others are not") || len(report.Resources) != 0 {
			t.Errorf("got %q and %d resources", last, len(report.Resources))
		}
		time.Sleep(time.Minute)
		if err := putItem(t, client, "views", key("a", "1")); err != nil {
			t.Fatal(err)
		}
		if got := keyUnits(recorder.Report(), "views"); got["a"] != 1 {
			t.Errorf("a minute later: %v", got)
		}
	})
}

// There is room for a thousand tables and indexes. A report says that there were more.
func TestMoreTablesThanThereIsRoomFor(t *testing.T) {
	recorder := newRecorder(t, heat.Options{Entries: 1, NoDescribe: true})
	for i := range 1000 {
		heat.Observe(recorder, fmt.Sprint("t", i), heat.Write, []byte("a"), 1)
	}
	if report := recorder.Report(); len(report.Resources) != 1000 || len(report.Notes) != 0 {
		t.Fatalf("%d resources, notes %q", len(report.Resources), report.Notes)
	}
	for i := range 7 {
		heat.Observe(recorder, fmt.Sprint("more", i), heat.Read, []byte("a"), 1)
	}
	heat.Observe(recorder, "t0", heat.Read, []byte("a"), 1) // has room already
	report := recorder.Report()
	want := "1000 tables and indexes are counted, the most possible: 7 requests of others are not"
	if len(report.Resources) != 1000 || !slices.Equal(report.Notes, []string{want}) {
		t.Errorf("%d resources, notes %q", len(report.Resources), report.Notes)
	}
	if got := resource(t, report, "t0").Reads.Units; got != 1 {
		t.Errorf("t0 took %v", got)
	}
}

// A call that fails counts where the table is known to exist: a condition that does not hold shows that it does.
func TestFailuresOfTablesThatExist(t *testing.T) {
	db := start(t, nil)
	recorder := newRecorder(t, heat.Options{NoDescribe: true})
	client := db.Client(recorder.Option)
	for range 3 {
		_, err := client.PutItem(t.Context(), &dynamodb.PutItemInput{
			TableName: aws.String("views"), Item: key("a", "1"), ConditionExpression: aws.String("attribute_exists(pk)"),
		})
		if failed := (*types.ConditionalCheckFailedException)(nil); !errors.As(err, &failed) {
			t.Fatal(err)
		}
	}
	wantError(t, putItem(t, client, "views", item{"pk": text("a")}), "Missing the key")
	if w := resource(t, recorder.Report(), "views").Writes; w.Requests != 4 || w.Errors != 1 || w.Units != 0 {
		t.Errorf("got %+v", w)
	}
}

// A lookup that fails is tried again, and its note goes once it succeeds.
func TestNoteOfALookupGoes(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		db := start(t, nil)
		recorder := newRecorder(t, heat.Options{})
		client := db.Client(recorder.Option)
		wantError(t, putItem(t, client, "late", key("a", "1")), "not found")
		if notes := recorder.Report().Notes; len(notes) != 1 || !strings.Contains(notes[0], "table late could not be described") {
			t.Errorf("got %q", notes)
		}
		create(t, db.Client(), "late", []string{"pk", "sk"})
		time.Sleep(time.Minute)
		if err := putItem(t, client, "late", key("a", "1")); err != nil {
			t.Fatal(err)
		}
		if notes := recorder.Report().Notes; len(notes) != 0 {
			t.Errorf("got %q", notes)
		}
	})
}

// Tables that are described, doubted, forgotten and reported while others count: nothing is lost but keys.
func TestTablesChangeWhileTheyAreCounted(t *testing.T) {
	db := start(t, nil)
	createJobs(t, db.Client())
	recorder := newRecorder(t, heat.Options{})
	client := db.Client(recorder.Option)
	const each = 60
	var all sync.WaitGroup
	for g := range 3 {
		all.Go(func() {
			for i := range each {
				job := item{"pk": text(fmt.Sprint("job-", g)), "sk": text(fmt.Sprint(i)), "status": text("OPEN")}
				if err := putItem(t, client, "jobs", job); err != nil {
					t.Error(err)
				}
				if _, err := client.DescribeTable(t.Context(), &dynamodb.DescribeTableInput{TableName: aws.String("jobs")}); err != nil {
					t.Error(err)
				}
				wantFailure(t, putItem(t, client, "jobs", item{"pk": text("a")}))
				wantFailure(t, putItem(t, client, fmt.Sprint("made-up-", i), job))
				recorder.Report()
			}
		})
	}
	all.Wait()
	report := recorder.Report()
	if own, index := resource(t, report, "jobs").Writes.Units, resource(t, report, "jobs/byStatus").Writes.Units; own != 3*each || index != 3*each {
		t.Errorf("the table took %v, the index %v", own, index)
	}
}

func wantFailure(t *testing.T, err error) {
	if err == nil {
		t.Error("it succeeded")
	}
}
