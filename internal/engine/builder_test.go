package engine

import (
	"bytes"
	"errors"
	"fmt"
	"log/slog"
	"math"
	"reflect"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/heatsink-go/heatsink/internal/attr"
	"github.com/heatsink-go/heatsink/internal/bubble"
	"github.com/heatsink-go/heatsink/internal/partition"
	"github.com/heatsink-go/heatsink/internal/store"
)

// addInput asks for an index, described as in withGlobal, on an existing table.
func addInput(table, name, key string) *UpdateTableInput {
	defined := &CreateTableInput{}
	x := newIndexInput(defined, name, key)
	return &UpdateTableInput{
		TableName: &table, AttributeDefinitions: defined.AttributeDefinitions,
		HasIndexUpdates: true, IndexUpdates: []IndexUpdate{{Create: &x}},
	}
}

func removeInput(table, name string) *UpdateTableInput {
	return &UpdateTableInput{TableName: &table, HasIndexUpdates: true, IndexUpdates: []IndexUpdate{{Delete: &IndexInput{IndexName: &name}}}}
}

func updateTable(t *testing.T, e *Engine, in *UpdateTableInput) *TableDescription {
	t.Helper()
	d, err := e.UpdateTable(t.Context(), in)
	if err != nil {
		t.Fatalf("update table %s: %v", *in.TableName, err)
	}
	return d
}

// states shows a table's status and those of its global indexes.
func states(d *TableDescription) string {
	var text strings.Builder
	text.WriteString(d.Status)
	for _, x := range d.GlobalIndexes {
		text.WriteString(" " + x.IndexName + "=" + x.Status)
		if x.Backfilling != nil {
			fmt.Fprintf(&text, "/%t", *x.Backfilling)
		}
	}
	return text.String()
}

func wantStates(t *testing.T, d *TableDescription, want string) {
	t.Helper()
	if got := states(d); got != want {
		t.Errorf("got states %q, want %q", got, want)
	}
}

// waitActive waits until a table's index is whole.
func waitActive(t *testing.T, e *Engine, table, index string) {
	t.Helper()
	for {
		x := describeTable(t, e, table).global(index)
		if x == nil {
			t.Fatalf("table %s has no index %s", table, index)
		}
		if x.Status == "ACTIVE" {
			return
		}
		time.Sleep(time.Millisecond)
	}
}

func scanIndex(t *testing.T, e *Engine, table, index string) (*ReadOutput, error) {
	return e.Scan(t.Context(), &ReadInput{TableName: &table, IndexName: &index})
}

// stored returns what lies in a table's index, by place.
func stored(t testing.TB, e *Engine, table, index string) map[string]string {
	t.Helper()
	tab := e.tables[table]
	entries := map[string]string{}
	if err := each(e.store.View, store.Index(tab.record.ID, tab.record.IndexIDs[index]), func(key, value []byte) error {
		entries[string(store.Place(key))] = string(value)
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	return entries
}

func TestAddIndexShowsItsStates(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		e := openEngine(t, Options{StatusDelay: 30 * time.Second, Physics: &partition.Options{}})
		createTable(t, e, newTableInput("tab", "pk:S").provisioned(1000, 1000))
		time.Sleep(time.Minute)
		for i := range 500 {
			putItem(t, e, "tab", fields("pk", fmt.Sprint(i), "a", "x"))
			time.Sleep(10 * time.Millisecond)
		}
		in := addInput("tab", "idx", "a:S b:N")
		in.IndexUpdates[0].Create.ProvisionedThroughput = units(5, 1)
		in.IndexUpdates[0].Create.KeySchema = in.IndexUpdates[0].Create.KeySchema[:1]
		d := updateTable(t, e, in)
		wantStates(t, d, "UPDATING idx=CREATING/false")
		if x := d.global("idx"); x.Provisioned.Write != 1 || x.ARN != d.ARN+"/index/idx" || x.ItemCount != 0 {
			t.Errorf("got %+v", x)
		}
		if want := []AttributeDefinition{{"a", "S"}, {"pk", "S"}}; !slices.Equal(d.AttributeDefinitions, want) {
			t.Errorf("got %v, want %v", d.AttributeDefinitions, want)
		}
		time.Sleep(29 * time.Second)
		wantStates(t, describeTable(t, e, "tab"), "UPDATING idx=CREATING/false")
		_, err := scanIndex(t, e, "tab", "idx")
		wantError(t, err, TypeValidation, "Cannot read from backfilling global secondary index: idx")
		time.Sleep(2 * time.Second)
		d = describeTable(t, e, "tab")
		wantStates(t, d, "ACTIVE idx=CREATING/true")
		if n := d.global("idx").ItemCount; n == 0 || n == 500 {
			t.Errorf("got %d of 500 items in the index", n)
		}
		time.Sleep(250 * time.Second)
		heat, err := e.Heat(t.Context(), "tab", time.Minute)
		if err != nil || len(heat) != 2 || len(heat[1].Minutes) == 0 {
			t.Fatalf("got %+v, %v", heat, err)
		}
		done, there := float64(describeTable(t, e, "tab").global("idx").ItemCount)/5, heat[1].Minutes[len(heat[1].Minutes)-1].Metrics["OnlineIndexPercentageProgress"]
		if math.Abs(done-there) > 10 || done < 40 || done > 60 {
			t.Errorf("got a progress of %.0f %%, want %.0f %%", there, done)
		}
		_, err = scanIndex(t, e, "tab", "idx")
		wantError(t, err, TypeValidation, "Cannot read from backfilling global secondary index: idx")
		time.Sleep(260 * time.Second)
		d = describeTable(t, e, "tab")
		wantStates(t, d, "ACTIVE idx=ACTIVE")
		if out, err := scanIndex(t, e, "tab", "idx"); err != nil || out.Count != 500 || d.global("idx").ItemCount != 500 {
			t.Errorf("got %+v, %v; want 500 items", out, err)
		}
		wantStates(t, updateTable(t, e, removeInput("tab", "idx")), "UPDATING idx=DELETING")
		wantStates(t, describeTable(t, e, "tab"), "UPDATING idx=DELETING")
		_, err = scanIndex(t, e, "tab", "idx")
		wantError(t, err, TypeValidation, "The table does not have the specified index: idx")
		time.Sleep(31 * time.Second)
		d = describeTable(t, e, "tab")
		wantStates(t, d, "ACTIVE")
		if want := []AttributeDefinition{{"pk", "S"}}; !slices.Equal(d.AttributeDefinitions, want) {
			t.Errorf("got %v, want %v", d.AttributeDefinitions, want)
		}
	})
}

// Without a delay an index is there once it is filled, and gone at once.
func TestAddAndRemoveIndexAtOnce(t *testing.T) {
	e := openEngine(t, Options{})
	createTable(t, e, newTableInput("tab", "pk:S").withGlobal("old", "o:S"))
	putItem(t, e, "tab", fields("pk", "p", "a", "x", "o", "y"))
	wantStates(t, updateTable(t, e, addInput("tab", "idx", "a:S")), "UPDATING old=ACTIVE idx=CREATING/false")
	waitActive(t, e, "tab", "idx")
	wantStates(t, describeTable(t, e, "tab"), "ACTIVE old=ACTIVE idx=ACTIVE")
	_, err := e.PutItem(t.Context(), &PutItemInput{TableName: new("tab"), Item: fields("pk", "q", "a", 7), HasItem: true})
	wantError(t, err, TypeValidation, "One or more parameter values were invalid: Type mismatch for Index Key a Expected: S Actual: N IndexName: idx")
	id := e.tables["tab"].record.IndexIDs["idx"]
	wantStates(t, updateTable(t, e, removeInput("tab", "idx")), "UPDATING old=ACTIVE idx=DELETING")
	wantStates(t, describeTable(t, e, "tab"), "ACTIVE old=ACTIVE")
	putItem(t, e, "tab", fields("pk", "q", "a", 7))
	if err := each(e.store.View, store.Index(e.tables["tab"].record.ID, id), func(key, _ []byte) error { return fmt.Errorf("entry %x is left", key) }); err != nil {
		t.Error(err)
	}
	_, err = scanIndex(t, e, "tab", "idx")
	wantError(t, err, TypeValidation, "The table does not have the specified index: idx")
	updateTable(t, e, addInput("tab", "idx", "a:N"))
	waitActive(t, e, "tab", "idx")
	if e.tables["tab"].record.IndexIDs["idx"] == id {
		t.Error("the number of a removed index is used again")
	}
	if out, err := scanIndex(t, e, "tab", "idx"); err != nil || out.Count != 1 {
		t.Errorf("got %+v, %v; want the one item with a number", out, err)
	}
	deleteTable(t, e, "tab")
	if err := each(e.store.View, store.Items(1), func(key, _ []byte) error { return fmt.Errorf("%x is left", key) }); err != nil {
		t.Error(err)
	}
}

// Items that are older than an index and do not fit it are not in it, and do not
// keep others out. They can be deleted and replaced, but not updated.
func TestBackfillSkipsWhatDoesNotFit(t *testing.T) {
	e := openEngine(t, Options{})
	createTable(t, e, newTableInput("tab", "pk:S"))
	long := func(n int) string { return strings.Repeat("x", n) }
	for pk, it := range map[string]attr.Item{
		"fits":           fields("pk", "fits", "a", "x", "b", "y"),
		"longest":        fields("pk", "longest", "a", long(2048), "b", long(1024)),
		"no hash":        fields("pk", "no hash", "b", "y"),
		"no sort":        fields("pk", "no sort", "a", "x"),
		"number":         fields("pk", "number", "a", 1, "b", "y"),
		"number as sort": fields("pk", "number as sort", "a", "x", "b", 1),
		"empty":          fields("pk", "empty", "a", "", "b", "y"),
		"empty sort":     fields("pk", "empty sort", "a", "x", "b", ""),
		"long":           fields("pk", "long", "a", long(2049), "b", "y"),
		"long sort":      fields("pk", "long sort", "a", "x", "b", long(1025)),
	} {
		if it.Get("pk").Str != pk {
			t.Fatalf("item %v is not %s", it, pk)
		}
		putItem(t, e, "tab", it)
	}
	updateTable(t, e, addInput("tab", "idx", "a:S b:S"))
	waitActive(t, e, "tab", "idx")
	indexed := func() string {
		out, err := scanIndex(t, e, "tab", "idx")
		if err != nil {
			t.Fatal(err)
		}
		var names []string
		for _, it := range out.Items {
			names = append(names, it.Get("pk").Str)
		}
		slices.Sort(names)
		return strings.Join(names, ", ")
	}
	if got := indexed(); got != "fits, longest" {
		t.Errorf("got %q in the index, want fits, longest", got)
	}
	update := func(pk string) error {
		_, err := e.UpdateItem(t.Context(), &UpdateItemInput{TableName: new("tab"), Key: fields("pk", pk), HasKey: true, Expressions: Expressions{
			Update: new("SET v = :v"), Values: fields(":v", 1), HasValues: true,
		}})
		return err
	}
	wantError(t, update("number"), TypeValidation, "The update expression attempted to update the secondary index key to unsupported type")
	wantError(t, update("empty"), TypeValidation, "One or more parameter values are not valid. The update expression attempted to update a secondary index key to a value that is not supported. "+
		"The AttributeValue for a key attribute cannot contain an empty string value.")
	wantError(t, update("long"), TypeValidation, "The update expression attempted to update the secondary index key beyond allowed size limits")
	for _, pk := range []string{"number", "empty sort", "long"} {
		deleteItem(t, e, "tab", fields("pk", pk))
	}
	putItem(t, e, "tab", fields("pk", "empty", "a", "x", "b", "y"))
	if got := indexed(); got != "empty, fits, longest" {
		t.Errorf("got %q in the index, want empty, fits, longest", got)
	}
	if x := describeTable(t, e, "tab").global("idx"); x.ItemCount != 3 {
		t.Errorf("the index counts %d items, want 3", x.ItemCount)
	}
}

// While an index is filled, writes that it could not hold are refused.
func TestWritesThatViolateAnIndexBeingFilled(t *testing.T) {
	e, release := openHalted(t, Options{})
	defer release()
	set := func(expression string, values attr.Item) error {
		return errorOf(e.UpdateItem(t.Context(), &UpdateItemInput{TableName: new("tab"), Key: fields("pk", "0"), HasKey: true, Expressions: Expressions{
			Update: &expression, Values: values, HasValues: values != nil,
		}}))
	}
	for what, err := range map[string]error{
		"put":                 errorOf(e.PutItem(t.Context(), &PutItemInput{TableName: new("tab"), Item: fields("pk", "new", "a", 7), HasItem: true})),
		"put empty":           errorOf(e.PutItem(t.Context(), &PutItemInput{TableName: new("tab"), Item: fields("pk", "new", "a", ""), HasItem: true})),
		"update with a value": set("SET a = :v", fields(":v", 7)),
		"update with a copy":  set("SET a = n", nil),
	} {
		t.Run(what, func(t *testing.T) {
			wantError(t, err, TypeValidation, "One or more parameter values were invalid: Schema violation against backfilling index")
		})
	}
}

func errorOf[T any](_ T, err error) error { return err }

// openHalted opens an engine with the table tab of ten items and an index idx of
// it, whose backfill has handled one item and waits until it is released.
func openHalted(t *testing.T, options Options) (*Engine, func()) {
	t.Helper()
	halted, released := make(chan struct{}), make(chan struct{})
	var once, end sync.Once
	options.fillBatch = 1
	options.reached = func(s stage) {
		if s == filled {
			once.Do(func() { close(halted) })
			<-released
		}
	}
	e, err := Open(options)
	if err != nil {
		t.Fatal(err)
	}
	release := func() { end.Do(func() { close(released) }) }
	t.Cleanup(func() {
		release()
		if err := e.Close(); err != nil {
			t.Errorf("close engine: %v", err)
		}
	})
	createTable(t, e, newTableInput("tab", "pk:S").withGlobal("old", "o:S"))
	for i := range 10 {
		putItem(t, e, "tab", fields("pk", fmt.Sprint(i), "a", "x", "n", i))
	}
	updateTable(t, e, addInput("tab", "idx", "a:S"))
	<-halted
	return e, release
}

// What may be changed while an index is added or removed, and what is answered to
// the rest.
func TestChangesBesideAnIndex(t *testing.T) {
	const limit = "Subscriber limit exceeded: Only 1 online index can be created or deleted simultaneously per table"
	const used = "Attempt to change a resource which is still in use: "
	stream := &StreamSpecification{Enabled: new(true), ViewType: new("KEYS_ONLY")}
	update := func(name string) *UpdateTableInput {
		return &UpdateTableInput{HasIndexUpdates: true, IndexUpdates: []IndexUpdate{{Update: &IndexInput{IndexName: &name, OnDemandThroughput: units(5, 5)}}}}
	}
	provisioned := &UpdateTableInput{BillingMode: new("PROVISIONED"), ProvisionedThroughput: units(1, 1)}
	type answer struct{ typ, text string }
	fine := answer{}
	for _, c := range []struct {
		what                          string
		in                            *UpdateTableInput
		allocating, filling, removing answer
	}{
		{"the same index", addInput("", "idx", "a:S"), answer{TypeValidation, "Attempting to create an index which already exists"}, answer{TypeValidation, "Attempting to create an index which already exists"}, answer{TypeResourceInUse, used + "Index is being deleted.  Table: tab Index: idx"}},
		{"another index", addInput("", "more", "b:S"), answer{TypeLimitExceeded, limit}, answer{TypeLimitExceeded, limit}, answer{TypeLimitExceeded, limit}},
		{"an index that is there", addInput("", "old", "b:S"), answer{TypeValidation, "Attempting to create an index which already exists"}, answer{TypeValidation, "Attempting to create an index which already exists"}, answer{TypeValidation, "Attempting to create an index which already exists"}},
		{"remove another", removeInput("", "old"), answer{TypeLimitExceeded, limit}, answer{TypeLimitExceeded, limit}, answer{TypeLimitExceeded, limit}},
		{"remove nothing", removeInput("", "ghost"), answer{TypeResourceNotFound, "Requested resource not found: Index ghost for table tab"}, answer{TypeResourceNotFound, "Requested resource not found: Index ghost for table tab"}, answer{TypeResourceNotFound, "Requested resource not found: Index ghost for table tab"}},
		{"update it", update("idx"), answer{TypeResourceInUse, used + "Index is being created but is not backfilling yet.  Table: tab Index: idx"}, fine, answer{TypeResourceInUse, used + "Index is being deleted.  Table: tab Index: idx"}},
		{"update another", update("old"), fine, fine, fine},
		{"capacity", provisioned, answer{TypeResourceInUse, used + "Can't change table IOPS when an index is being created. Table: tab Indexes: [idx]"}, answer{TypeValidation, "One or more parameter values were invalid: ProvisionedThroughput must be specified for index: old,idx"}, answer{TypeResourceInUse, used + "Can't change table IOPS when an index is being deleted. Table: tab Indexes: [idx]"}},
		{"the billing mode that it has", &UpdateTableInput{BillingMode: new("PAY_PER_REQUEST")}, fine, fine, fine},
		{"maximum", &UpdateTableInput{OnDemandThroughput: units(9, 9)}, answer{TypeResourceInUse, used + "OnDemandThroughput cannot be updated while index creation is in progress for indexes: [idx]"}, fine, answer{TypeResourceInUse, used + "OnDemandThroughput cannot be updated while index deletion is in progress for indexes: [idx]"}},
		{"protection", &UpdateTableInput{DeletionProtection: new(false)}, fine, fine, fine},
		{"stream", &UpdateTableInput{Stream: stream}, answer{TypeResourceInUse, used + "Can't change stream status when an index is being created. Table: tab Indexes: [idx]"}, fine, answer{TypeResourceInUse, used + "Can't change stream status when an index is being deleted. Table: tab Indexes: [idx]"}},
		{"remove it", removeInput("", "idx"), answer{TypeResourceInUse, used + "Index creation is in resource allocation phase. Retry deletion during backfilling phase or when the index is active. Table: tab Index: idx"}, fine, answer{TypeResourceInUse, used + "Index is being deleted.  Table: tab Index: idx"}},
	} {
		t.Run(c.what, func(t *testing.T) {
			try := func(phase string, want answer, e *Engine) {
				t.Helper()
				_, err := e.DeleteTable(t.Context(), &TableInput{TableName: new("tab")})
				wantError(t, err, TypeResourceInUse, used+"Cannot delete table while indexes are being created, updated, or deleted.")
				in := *c.in
				in.TableName = new("tab")
				_, err = e.UpdateTable(t.Context(), &in)
				if want == fine {
					if err != nil {
						t.Errorf("%s: got %v", phase, err)
					}
					return
				}
				wantError(t, err, want.typ, want.text)
			}
			bubble.Test(t, func(t *testing.T) {
				e := openEngine(t, Options{StatusDelay: time.Minute})
				createTable(t, e, newTableInput("tab", "pk:S").withGlobal("old", "o:S"))
				time.Sleep(time.Minute)
				updateTable(t, e, addInput("tab", "idx", "a:S"))
				try("allocating", c.allocating, e)
				time.Sleep(time.Minute + time.Second)
				updateTable(t, e, removeInput("tab", "idx"))
				try("removing", c.removing, e)
			})
			e, _ := openHalted(t, Options{})
			try("filling", c.filling, e)
		})
	}
}

// An index is removed while it is filled, and nothing is left of it.
func TestRemoveIndexWhileItIsFilled(t *testing.T) {
	e, release := openHalted(t, Options{})
	id := e.tables["tab"].record.IndexIDs["idx"]
	wantStates(t, describeTable(t, e, "tab"), "ACTIVE old=ACTIVE idx=CREATING/true")
	wantStates(t, updateTable(t, e, removeInput("tab", "idx")), "UPDATING old=ACTIVE idx=DELETING")
	updateTable(t, e, addInput("tab", "idx", "a:S"))
	release()
	waitActive(t, e, "tab", "idx")
	if out, err := scanIndex(t, e, "tab", "idx"); err != nil || out.Count != 10 {
		t.Errorf("got %+v, %v; want ten items", out, err)
	}
	tab := e.tables["tab"].record.ID
	for _, r := range []store.Range{store.Index(tab, id), store.Index(tab, progressIndex)} {
		if err := each(e.store.View, r, func(key, _ []byte) error { return fmt.Errorf("%x is left", key) }); err != nil {
			t.Error(err)
		}
	}
}

// Work on an index ends with its table, and nobody hears of it: there is nothing wrong.
func TestIndexWorkEndsWithItsTable(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		var log bytes.Buffer
		e, release := openHalted(t, Options{Logger: slog.New(slog.NewTextHandler(&log, nil))})
		updateTable(t, e, removeInput("tab", "idx"))
		synctest.Wait()
		if _, err := e.DeleteTable(t.Context(), &TableInput{TableName: new("tab")}); err != nil {
			t.Fatal(err)
		}
		release()
		time.Sleep(3 * retryWait)
		synctest.Wait()
		if log.Len() > 0 {
			t.Errorf("got a log of the work on an index that is gone:\n%s", &log)
		}
	})
}

func TestAddIndexRefuses(t *testing.T) {
	e := openEngine(t, Options{})
	const invalid = "One or more parameter values were invalid: "
	createTable(t, e, newTableInput("tab", "pk:S sk:S").withGlobal("idx", "a:S b:N").withLocal("lsi", "pk:S c:S"))
	createTable(t, e, newTableInput("provisioned", "pk:S").provisioned(1, 1))
	full := newTableInput("full", "pk:S")
	for i := range 20 {
		full.withGlobal(fmt.Sprintf("idx%d", i), fmt.Sprintf("a%d:S", i))
	}
	createTable(t, e, full)
	wide := newTableInput("wide", "pk:S")
	for i := range 5 {
		wide.withGlobal(fmt.Sprintf("idx%d", i), fmt.Sprintf("a%d:S", i))
		p := wide.GlobalIndexes[i].Projection
		p.Type, p.HasNonKey = new("INCLUDE"), true
		for j := range 20 {
			p.NonKeyAttributes = append(p.NonKeyAttributes, fmt.Sprintf("v%d-%d", i, j))
		}
	}
	createTable(t, e, wide)
	edit := func(in *UpdateTableInput, f func(*UpdateTableInput, *IndexInput)) *UpdateTableInput {
		f(in, in.IndexUpdates[0].Create)
		return in
	}
	two := addInput("tab", "new", "d:S")
	two.IndexUpdates = append(two.IndexUpdates, removeInput("tab", "idx").IndexUpdates...)
	for what, c := range map[string]struct {
		in        *UpdateTableInput
		typ, want string
	}{
		"a name that is there":       {addInput("tab", "idx", "d:S"), TypeValidation, "Attempting to create an index which already exists"},
		"a name of a local index":    {addInput("tab", "lsi", "d:S"), TypeValidation, "Attempting to create an index which already exists"},
		"two at once":                {two, TypeLimitExceeded, "Subscriber limit exceeded: Only 1 online index can be created or deleted simultaneously per table"},
		"one too many":               {addInput("full", "new", "d:S"), TypeLimitExceeded, "Subscriber limit exceeded: Number of global secondary indexes exceeds per-table limit of 20"},
		"another type":               {addInput("tab", "new", "a:N"), TypeValidation, invalid + "Attributes cannot be redefined. Please check that your attribute has the same type as previously defined. Existing schema: Schema:[SchemaElement: key{a:S:HASH}, SchemaElement: key{b:N:RANGE}] New schema: Schema:[SchemaElement: key{a:N:HASH}]"},
		"another type of the key":    {addInput("tab", "new", "d:S pk:N"), TypeValidation, invalid + "Attributes cannot be redefined. Please check that your attribute has the same type as previously defined. Existing schema: Schema:[SchemaElement: key{pk:S:HASH}, SchemaElement: key{sk:S:RANGE}] New schema: Schema:[SchemaElement: key{d:S:HASH}, SchemaElement: key{pk:N:RANGE}]"},
		"no capacity":                {addInput("provisioned", "new", "d:S"), TypeValidation, invalid + "Both ReadCapacityUnits and WriteCapacityUnits must be specified for index: new"},
		"undefined attribute":        {edit(addInput("tab", "new", "d:S"), func(in *UpdateTableInput, _ *IndexInput) { in.AttributeDefinitions[0].AttributeName = "e" }), TypeValidation, invalid + "Some index key attributes are not defined in AttributeDefinitions. Keys: [d], AttributeDefinitions: [e]"},
		"defined by the table alone": {edit(addInput("tab", "new", "d:S a:S"), func(in *UpdateTableInput, _ *IndexInput) { in.AttributeDefinitions = in.AttributeDefinitions[:1] }), TypeValidation, invalid + "Some index key attributes are not defined in AttributeDefinitions. Keys: [d, a], AttributeDefinitions: [d]"},
		"defined twice": {edit(addInput("tab", "new", "d:S"), func(in *UpdateTableInput, _ *IndexInput) {
			in.AttributeDefinitions = append(in.AttributeDefinitions, AttributeDefinition{"d", "N"})
		}), TypeValidation, "Attribute Name is duplicated: d"},
		"capacity on demand":      {edit(addInput("tab", "new", "d:S"), func(_ *UpdateTableInput, x *IndexInput) { x.ProvisionedThroughput = units(1, 1) }), TypeValidation, invalid + "Neither ReadCapacityUnits nor WriteCapacityUnits can be specified for index: new when BillingMode is PAY_PER_REQUEST"},
		"with a table's capacity": {edit(addInput("provisioned", "new", "d:S"), func(in *UpdateTableInput, _ *IndexInput) { in.ProvisionedThroughput = units(2, 2) }), TypeValidation, invalid + "You cannot create or delete index while updating table IOPS"},
		"too many projected":      {edit(addInput("wide", "new", "d:S"), func(_ *UpdateTableInput, x *IndexInput) { withProjection(x, "INCLUDE") }), TypeValidation, invalid + "Number of NonKeyAttributes in all secondary indexes exceeds per-table limit of 100"},
		"range first":             {edit(addInput("tab", "new", "d:S"), func(_ *UpdateTableInput, x *IndexInput) { x.KeySchema[0].KeyType = "RANGE" }), TypeValidation, "Invalid KeySchema: The first KeySchemaElement is not a HASH key type"},
		"projection":              {edit(addInput("tab", "new", "d:S"), func(_ *UpdateTableInput, x *IndexInput) { x.Projection.Type = new("INCLUDE") }), TypeValidation, invalid + "ProjectionType is INCLUDE, but NonKeyAttributes is not specified"},
		"same attribute twice":    {addInput("tab", "new", "d:S d:S"), TypeValidation, "The KeySchema contains multiple key attributes with the same name"},
		"high capacity of no index": {
			&UpdateTableInput{TableName: new("tab"), HasIndexUpdates: true, IndexUpdates: []IndexUpdate{{Update: &IndexInput{IndexName: new("ghost"), ProvisionedThroughput: units(maxUnits+1, 1)}}}},
			TypeValidation, "This operation cannot be performed with given input values. Please contact DynamoDB service team for more info: Action Blocked: IndexUpdate",
		},
	} {
		t.Run(what, func(t *testing.T) {
			before := describeTable(t, e, *c.in.TableName)
			_, err := e.UpdateTable(t.Context(), c.in)
			wantError(t, err, c.typ, c.want)
			if after := describeTable(t, e, *c.in.TableName); !reflect.DeepEqual(after, before) {
				t.Errorf("the table changed: got %+v, want %+v", after, before)
			}
		})
	}
	e.tables["tab"].record.NextIndexID = maxIndexID + 1
	_, err := e.UpdateTable(t.Context(), addInput("tab", "new", "d:S"))
	wantError(t, err, TypeLimitExceeded, fmt.Sprintf("table tab has had %d indexes, the most in heatsink: copy its items into a new table", maxIndexID))
}

// Definitions that the new index does not need are ignored, a change of another
// index and of the billing mode may come with it.
func TestAddIndexWithOtherChanges(t *testing.T) {
	e := openEngine(t, Options{Physics: &partition.Options{}})
	createTable(t, e, newTableInput("tab", "pk:S").withGlobal("old", "o:S").provisioned(5, 5))
	in := addInput("tab", "idx", "a:S")
	in.AttributeDefinitions = append(in.AttributeDefinitions, AttributeDefinition{"pk", "N"}, AttributeDefinition{"spare", "S"})
	in.IndexUpdates[0].Create.ProvisionedThroughput = units(3, 3)
	in.IndexUpdates = append(in.IndexUpdates, IndexUpdate{Update: &IndexInput{IndexName: new("old"), ProvisionedThroughput: units(7, 7)}})
	updateTable(t, e, in)
	waitActive(t, e, "tab", "idx")
	d := describeTable(t, e, "tab")
	if want := []AttributeDefinition{{"a", "S"}, {"o", "S"}, {"pk", "S"}}; !slices.Equal(d.AttributeDefinitions, want) {
		t.Errorf("got %v, want %v", d.AttributeDefinitions, want)
	}
	if d.global("old").Provisioned.Write != 7 || d.global("idx").Provisioned.Write != 3 {
		t.Errorf("got %+v", d.GlobalIndexes)
	}
	if got := e.account.Provisioned(); got.Write != 5+7+3 {
		t.Errorf("got %+v provisioned in all, want 15 writes", got)
	}
	in = addInput("tab", "more", "b:S")
	in.BillingMode = new("PAY_PER_REQUEST")
	updateTable(t, e, in)
	waitActive(t, e, "tab", "more")
	if d = describeTable(t, e, "tab"); !d.onDemand() || d.global("more").Provisioned.Write != 0 || d.global("more").Warm.Write != initialWrites {
		t.Errorf("got %+v", d)
	}
	updateTable(t, e, removeInput("tab", "more"))
	if got := e.account.Provisioned(); got.Write != 0 {
		t.Errorf("got %+v provisioned in all, want nothing", got)
	}
}

// An index that would exceed a quota is refused, and takes nothing of it.
func TestAddIndexBeyondQuota(t *testing.T) {
	e := openEngine(t, Options{Physics: &partition.Options{}})
	createTable(t, e, newTableInput("tab", "pk:S").provisioned(5, 5))
	in := addInput("tab", "idx", "a:S")
	in.IndexUpdates[0].Create.ProvisionedThroughput = units(3, 1_000_000)
	const refer = " Refer to the Amazon DynamoDB Developer Guide for current limits and how to request higher limits."
	wantError(t, errorOf(e.UpdateTable(t.Context(), in)), TypeLimitExceeded, "The requested WriteCapacityUnits for index idx, 1000000, "+
		"is above the per index maximum for the account in us-east-1. Per index maximum: 40000."+refer)
	wantStates(t, describeTable(t, e, "tab"), "ACTIVE")
	wantError(t, errorOf(e.CreateTable(t.Context(), newTableInput("other", "pk:S").provisioned(40_001, 1))), TypeLimitExceeded,
		"The requested ReadCapacityUnits, 40001, is above the per table maximum for the account in us-east-1. Per table maximum: 40000."+refer)
	createTable(t, e, newTableInput("first", "pk:S").provisioned(40_000, 1))
	wantError(t, errorOf(e.CreateTable(t.Context(), newTableInput("second", "pk:S").provisioned(40_000, 1))), TypeLimitExceeded,
		"This request would have caused the ReadCapacityUnits limit to be exceeded for the account in us-east-1. "+
			"Current ReadCapacityUnits reserved by the account: 40005. Limit: 80000. Requested: 40000."+refer)
	if got := e.account.Provisioned(); got.Write != 6 {
		t.Errorf("got %+v provisioned in all, want 6 writes", got)
	}
}

// An index takes its part of the account's quota, which is free again without it.
func TestIndexesGiveTheirQuotaBack(t *testing.T) {
	e := openEngine(t, Options{Physics: &partition.Options{}})
	createTable(t, e, newTableInput("tab", "pk:S").provisioned(5, 5))
	want := func(when string, writes int64) {
		t.Helper()
		if got := e.account.Provisioned(); got.Write != writes {
			t.Errorf("%s: %v writes provisioned in all, want %v", when, got.Write, writes)
		}
	}
	in := addInput("tab", "idx", "a:S")
	in.IndexUpdates[0].Create.ProvisionedThroughput = units(3, 7)
	updateTable(t, e, in)
	waitActive(t, e, "tab", "idx")
	want("with an index", 12)
	updateTable(t, e, removeInput("tab", "idx"))
	want("without it", 5)
}

// What a table was described as stays as it was, whatever is added to it.
func TestDescriptionsAreNobodyElses(t *testing.T) {
	e := openEngine(t, Options{})
	createTable(t, e, newTableInput("tab", "pk:S"))
	for _, key := range []string{"z", "y", "x", "w", "v"} {
		d := describeTable(t, e, "tab")
		before := slices.Clone(d.AttributeDefinitions)
		updateTable(t, e, addInput("tab", "by-"+key, key+":S"))
		waitActive(t, e, "tab", "by-"+key)
		if !slices.Equal(d.AttributeDefinitions, before) {
			t.Errorf("an earlier description has definitions %v, and had %v", d.AttributeDefinitions, before)
		}
	}
}

// Nothing counts what a removed index held.
func TestRemovedIndexIsNotCounted(t *testing.T) {
	e := openEngine(t, Options{Dir: t.TempDir()})
	createTable(t, e, newTableInput("tab", "pk:S").withGlobal("idx", "a:S"))
	putItem(t, e, "tab", fields("pk", "p", "a", "x"))
	tab := e.tables["tab"].record
	counted := func() bool {
		_, found, err := e.store.Get(nil, store.TallyKey(tab.ID, tab.IndexIDs["idx"]))
		noError(t, err)
		return found
	}
	if !counted() {
		t.Fatal("an index is not counted")
	}
	updateTable(t, e, removeInput("tab", "idx"))
	for len(describeTable(t, e, "tab").GlobalIndexes) > 0 {
		time.Sleep(time.Millisecond)
	}
	if counted() {
		t.Error("a removed index is counted")
	}
}

// A backfill takes the index's capacity, as much as there is, and not more. Table
// writes that the index does not hold go on; those that it holds share it.
func TestBackfillSharesTheIndexCapacity(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		var observed atomic.Int64
		e := openEngine(t, Options{Physics: &partition.Options{}, Observe: func(a *Access) {
			if a.Index == "idx" && a.Reason == "" {
				observed.Add(int64(a.WriteUnits))
			}
		}})
		createTable(t, e, newTableInput("tab", "pk:S").provisioned(1000, 1000))
		const items, rate = 1000, 5
		const taken = 2 * items
		for i := range items {
			putItem(t, e, "tab", fields("pk", fmt.Sprint(i), "a", fmt.Sprint(i), "p", strings.Repeat("x", 1<<10))) // two units
			time.Sleep(10 * time.Millisecond)
		}
		in := addInput("tab", "idx", "a:S")
		in.IndexUpdates[0].Create.ProvisionedThroughput = units(1, rate)
		start := time.Now()
		updateTable(t, e, in)
		throttled, done := 0, 0
		for i := 0; describeTable(t, e, "tab").global("idx").Status != "ACTIVE"; i++ {
			putItem(t, e, "tab", fields("pk", fmt.Sprint("other", i)))
			_, err := e.PutItem(t.Context(), &PutItemInput{TableName: new("tab"), Item: fields("pk", fmt.Sprint("new", i), "a", "x"), HasItem: true})
			var got *Error
			switch {
			case err == nil:
				done++
			case errors.As(err, &got) && got.Type == TypeProvisionedExceeded && got.Throttling[0].Reason == "IndexWriteProvisionedThroughputExceeded" &&
				strings.HasSuffix(got.Throttling[0].Resource, "/index/idx"):
				throttled++
			default:
				t.Fatalf("got %v", err)
			}
			time.Sleep(time.Second)
		}
		took := time.Since(start).Seconds()
		if most := rate * (took + 2); float64(taken+done) > most {
			t.Errorf("%d units in %.0f s, want %.0f at most", taken+done, took, most)
		}
		if least := (taken + float64(done)) / rate; took > 1.2*least {
			t.Errorf("it took %.0f s, want about %.0f", took, least)
		}
		if throttled == 0 || done == 0 {
			t.Errorf("%d writes were throttled by the index and %d were not, want both", throttled, done)
		}
		heat, err := e.Heat(t.Context(), "tab", time.Hour)
		if err != nil || len(heat) != 2 {
			t.Fatalf("got %d, %v", len(heat), err)
		}
		var consumed, events float64
		for _, m := range heat[1].Minutes {
			consumed += m.Metrics["ConsumedWriteCapacityUnits"]
			events += m.Metrics["WriteThrottleEvents"]
		}
		if got := heldBytes(e.tables["tab"].index("idx").partitions); got < items<<10 {
			t.Errorf("the index's partitions hold %d bytes, want %d at least", got, items<<10)
		}
		if got := float64(observed.Load()); got != consumed {
			t.Errorf("the observer was told of %v units, want %v", got, consumed)
		}
		if consumed != float64(taken+done) || events != float64(throttled) {
			t.Errorf("got %v units and %v throttle events, want %d and %d", consumed, events, taken+done, throttled)
		}
	})
}

// Reads that a lag sets back never see less of an index than what was there when it
// became ACTIVE.
func TestLagSeesWholeIndex(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		e := openEngine(t, Options{Lag: &Lag{Min: time.Minute, Max: time.Minute}})
		createTable(t, e, newTableInput("tab", "pk:S"))
		for i := range 1000 {
			putItem(t, e, "tab", fields("pk", fmt.Sprint(i), "a", "x"))
		}
		updateTable(t, e, addInput("tab", "idx", "a:S"))
		waitActive(t, e, "tab", "idx")
		for range 3 {
			time.Sleep(20 * time.Second)
			putItem(t, e, "tab", fields("pk", "new", "a", "x"))
			if out, err := scanIndex(t, e, "tab", "idx"); err != nil || out.Count != 1000 {
				t.Errorf("got %+v, %v; want the 1000 items that were there", out, err)
			}
		}
	})
}

// A new table is CREATING for a while, in which there is nothing to do with it.
func TestStatusDelayOfTables(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		e := openEngine(t, Options{StatusDelay: 5 * time.Second})
		createTable(t, e, newTableInput("tab", "pk:S").withGlobal("idx", "a:S"))
		wantStates(t, describeTable(t, e, "tab"), "CREATING idx=CREATING")
		const created = "Attempt to change a resource which is still in use: Table is being created: tab"
		put := func() error {
			return errorOf(e.PutItem(t.Context(), &PutItemInput{TableName: new("tab"), Item: fields("pk", "p"), HasItem: true}))
		}
		time.Sleep(5*time.Second - 1)
		wantError(t, put(), TypeResourceNotFound, "Requested resource not found")
		wantError(t, errorOf(e.CreateTable(t.Context(), newTableInput("tab", "pk:S"))), TypeResourceInUse, created)
		wantError(t, errorOf(e.DeleteTable(t.Context(), &TableInput{TableName: new("tab")})), TypeResourceInUse, created)
		wantError(t, errorOf(e.DescribeTimeToLive(t.Context(), &TableInput{TableName: new("tab")})), TypeValidation,
			"Cannot describe time to live while table is in CREATING state: Current table state is CREATING")
		wantError(t, errorOf(e.UpdateTable(t.Context(), &UpdateTableInput{TableName: new("tab"), DeletionProtection: new(true)})), TypeResourceInUse, created)
		time.Sleep(time.Nanosecond)
		wantStates(t, describeTable(t, e, "tab"), "ACTIVE idx=ACTIVE")
		if err := put(); err != nil {
			t.Error(err)
		}
		wantError(t, errorOf(e.CreateTable(t.Context(), newTableInput("tab", "pk:S"))), TypeResourceInUse, "Table already exists: tab")
	})
}

// A backfill waits for a disk that is full, and for transactions.
func TestBackfillWaits(t *testing.T) {
	t.Run("for the disk", func(t *testing.T) {
		disk := newGauge(700)
		e, release := openHalted(t, Options{Dir: t.TempDir(), FS: disk})
		full := func(want bool) {
			for errors.Is(e.store.Room(false), store.ErrNoWrites) != want {
				time.Sleep(time.Millisecond)
			}
		}
		disk.free.Store(60 << 20)
		full(true)
		release()
		time.Sleep(20 * time.Millisecond)
		wantStates(t, describeTable(t, e, "tab"), "ACTIVE old=ACTIVE idx=CREATING/true")
		disk.free.Store(700 << 20)
		full(false)
		waitActive(t, e, "tab", "idx")
		if out, err := scanIndex(t, e, "tab", "idx"); err != nil || out.Count != 10 {
			t.Errorf("got %+v, %v; want ten items", out, err)
		}
	})
	t.Run("for a transaction", func(t *testing.T) {
		bubble.Test(t, func(t *testing.T) {
			e := openEngine(t, Options{})
			createTable(t, e, newTableInput("tab", "pk:S"))
			putItem(t, e, "tab", fields("pk", "p", "a", "x"))
			key := e.tables["tab"].itemKey(fields("pk", "p"))
			if free, err := e.locks.lock(t.Context(), key, true); !free || err != nil {
				t.Fatalf("got %t, %v", free, err)
			}
			updateTable(t, e, addInput("tab", "idx", "a:S"))
			time.Sleep(time.Minute)
			wantStates(t, describeTable(t, e, "tab"), "ACTIVE idx=CREATING/true")
			e.locks.unlock(key)
			time.Sleep(mostWait)
			wantStates(t, describeTable(t, e, "tab"), "ACTIVE idx=ACTIVE")
		})
	})
}

// An engine that is closed or crashes in the middle of a backfill, or of a removal,
// goes on with it.
func TestIndexWorkGoesOnAfterRestart(t *testing.T) {
	for _, crash := range []bool{false, true} {
		t.Run(fmt.Sprintf("crash=%t", crash), func(t *testing.T) {
			const items = 300
			var g gate
			g.set(10)
			options := Options{Dir: t.TempDir(), fillBatch: 10, reached: g.pass}
			e, err := Open(options)
			if err != nil {
				t.Fatal(err)
			}
			createTable(t, e, newTableInput("tab", "pk:S").withGlobal("old", "o:S"))
			load(t, e, items)
			updateTable(t, e, addInput("tab", "idx", "a:S"))
			<-g.reached
			e.jobs.cancel()
			close(g.open)
			end(t, e, crash)

			g.set(1)
			if e, err = Open(options); err != nil {
				t.Fatal(err)
			}
			_, err = scanIndex(t, e, "tab", "idx")
			wantError(t, err, TypeValidation, "Cannot read from backfilling global secondary index: idx")
			<-g.reached
			d := describeTable(t, e, "tab")
			wantStates(t, d, "ACTIVE old=ACTIVE idx=CREATING/true")
			if n := d.global("idx").ItemCount; n != 110 {
				t.Errorf("got %d items after the eleventh batch of ten", n)
			}
			putItem(t, e, "tab", fields("pk", "new", "a", "x"))
			if n := describeTable(t, e, "tab").global("idx").ItemCount; n != 111 {
				t.Errorf("got %d items after a put, want 111", n)
			}
			close(g.open)
			waitActive(t, e, "tab", "idx")
			if n := describeTable(t, e, "tab").global("idx").ItemCount; n != items+1 || len(stored(t, e, "tab", "idx")) != items+1 {
				t.Errorf("got %d items counted and %d stored, want %d", n, len(stored(t, e, "tab", "idx")), items+1)
			}
			end(t, e, crash)

			options.reached = nil
			e = openEngine(t, options)
			wantStates(t, describeTable(t, e, "tab"), "ACTIVE old=ACTIVE idx=ACTIVE")
			if n := describeTable(t, e, "tab").global("idx").ItemCount; n != items+1 {
				t.Errorf("got %d items counted, want %d", n, items+1)
			}
		})
	}
	t.Run("throttled", func(t *testing.T) {
		var g gate
		g.set(1)
		options := Options{Dir: t.TempDir(), Physics: &partition.Options{}, reached: g.pass}
		e, err := Open(options)
		if err != nil {
			t.Fatal(err)
		}
		createTable(t, e, newTableInput("tab", "pk:S"))
		load(t, e, 200)
		in := addInput("tab", "idx", "a:S")
		in.IndexUpdates[0].Create.OnDemandThroughput = units(50, 50)
		updateTable(t, e, in)
		<-g.reached
		if n := describeTable(t, e, "tab").global("idx").ItemCount; n == 0 || n == 200 {
			t.Errorf("got %d of 200 items at once", n)
		}
		e.jobs.cancel()
		close(g.open)
		end(t, e, true)
		options.Physics, options.reached = nil, nil
		e = openEngine(t, options)
		waitActive(t, e, "tab", "idx")
		if n := len(stored(t, e, "tab", "idx")); n != 200 {
			t.Errorf("got %d entries, want 200", n)
		}
	})
	t.Run("removal", func(t *testing.T) {
		dir := t.TempDir()
		e, err := Open(Options{Dir: dir, StatusDelay: time.Hour})
		if err != nil {
			t.Fatal(err)
		}
		in := newTableInput("tab", "pk:S").withGlobal("idx", "a:S")
		createTable(t, e, in)
		e.tables["tab"].usable = time.Time{}
		load(t, e, 20)
		updateTable(t, e, removeInput("tab", "idx"))
		end(t, e, true)
		e = openEngine(t, Options{Dir: dir})
		for describeTable(t, e, "tab").global("idx") != nil {
			time.Sleep(time.Millisecond)
		}
		if n := len(stored(t, e, "tab", "idx")); n > 20 { // of number 0, the table's own
			t.Errorf("%d entries are left", n)
		}
		if err := each(e.store.View, store.Index(1, 1), func(key, _ []byte) error { return fmt.Errorf("%x is left", key) }); err != nil {
			t.Error(err)
		}
	})
}

// load puts items that belong into an index on a.
func load(t *testing.T, e *Engine, n int) {
	t.Helper()
	for i := 0; i < n; i += 25 {
		b := BatchWriteTable{TableName: "tab"}
		for j := i; j < min(n, i+25); j++ {
			b.Writes = append(b.Writes, BatchWrite{Put: true, Item: fields("pk", fmt.Sprint(j), "a", fmt.Sprint(j%7))})
		}
		if _, err := e.BatchWriteItem(t.Context(), &BatchWriteItemInput{Tables: []BatchWriteTable{b}}); err != nil {
			t.Fatal(err)
		}
	}
}

// end ends an engine, as a crash does or as it should.
func end(t *testing.T, e *Engine, crash bool) {
	t.Helper()
	err := error(nil)
	if crash {
		e.jobs.close()
		e.sweeper.close()
		err = e.store.Close()
	} else {
		err = e.Close()
	}
	if err != nil {
		t.Fatal(err)
	}
}

// A panic in a backfill is told, and the backfill goes on.
func TestBackfillSurvivesPanics(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		var once sync.Once
		var log strings.Builder
		e := openEngine(t, Options{Logger: slog.New(slog.NewTextHandler(&log, nil)), fillBatch: 2, reached: func(s stage) {
			if s == filled {
				once.Do(func() { panic(errBroken) })
			}
		}})
		createTable(t, e, newTableInput("tab", "pk:S"))
		load(t, e, 20)
		updateTable(t, e, addInput("tab", "idx", "a:S"))
		synctest.Wait()
		wantStates(t, describeTable(t, e, "tab"), "ACTIVE idx=CREATING/true")
		time.Sleep(retryWait)
		synctest.Wait()
		wantStates(t, describeTable(t, e, "tab"), "ACTIVE idx=ACTIVE")
		if out, err := scanIndex(t, e, "tab", "idx"); err != nil || out.Count != 20 {
			t.Errorf("got %+v, %v; want 20 items", out, err)
		}
		if !strings.Contains(log.String(), "change an index") || !strings.Contains(log.String(), "broken off by the test") {
			t.Errorf("got %q in the log", log.String())
		}
	})
}
