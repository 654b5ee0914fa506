package engine

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/heatsink-go/heatsink/internal/attr"
	"github.com/heatsink-go/heatsink/internal/bubble"
	"github.com/heatsink-go/heatsink/internal/store"
)

// openEngine opens an engine that is closed when the test ends.
func openEngine(t testing.TB, options Options) *Engine {
	t.Helper()
	e, err := Open(options)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := e.Close(); err != nil {
			t.Errorf("close engine: %v", err)
		}
	})
	return e
}

// newTableInput asks for a table on demand whose key is described as in "pk:S"
// or "pk:S sk:N".
func newTableInput(name, key string) *CreateTableInput {
	in := &CreateTableInput{TableName: &name, BillingMode: new("PAY_PER_REQUEST"), HasDefinitions: true, HasKeySchema: true}
	in.KeySchema = keyOf(in, key)
	return in
}

// keyOf turns a description into a key schema and defines its attributes. Each
// attribute is "name:type", the second and later ones are RANGE unless written
// "name:type:HASH".
func keyOf(in *CreateTableInput, key string) (schema []KeyElement) {
	for i, part := range strings.Fields(key) {
		f := strings.Split(part+":", ":")
		kind := f[2]
		if kind == "" {
			kind = map[bool]string{true: "HASH", false: "RANGE"}[i == 0]
		}
		schema = append(schema, KeyElement{f[0], kind})
		d := AttributeDefinition{f[0], f[1]}
		if !slices.Contains(in.AttributeDefinitions, d) {
			in.AttributeDefinitions = append(in.AttributeDefinitions, d)
		}
	}
	return schema
}

func (in *CreateTableInput) withGlobal(name, key string) *CreateTableInput {
	in.HasGlobalIndexes = true
	in.GlobalIndexes = append(in.GlobalIndexes, newIndexInput(in, name, key))
	return in
}

func (in *CreateTableInput) withLocal(name, key string) *CreateTableInput {
	in.HasLocalIndexes = true
	in.LocalIndexes = append(in.LocalIndexes, newIndexInput(in, name, key))
	return in
}

func (in *CreateTableInput) provisioned(read, write int64) *CreateTableInput {
	in.BillingMode = nil
	in.ProvisionedThroughput = units(read, write)
	for i := range in.GlobalIndexes {
		in.GlobalIndexes[i].ProvisionedThroughput = units(read, write)
	}
	return in
}

func newIndexInput(in *CreateTableInput, name, key string) IndexInput {
	return IndexInput{IndexName: &name, HasKeySchema: true, KeySchema: keyOf(in, key), Projection: &Projection{Type: new("ALL")}}
}

func units(read, write int64) *Throughput { return &Throughput{Read: &read, Write: &write} }

func createTable(t testing.TB, e *Engine, in *CreateTableInput) *TableDescription {
	t.Helper()
	d, err := e.CreateTable(t.Context(), in)
	if err != nil {
		t.Fatalf("create table %s: %v", *in.TableName, err)
	}
	return d
}

func describeTable(t *testing.T, e *Engine, name string) *TableDescription {
	t.Helper()
	d, err := e.DescribeTable(t.Context(), &TableInput{TableName: &name})
	if err != nil {
		t.Fatalf("describe table %s: %v", name, err)
	}
	return d
}

func deleteTable(t *testing.T, e *Engine, name string) {
	t.Helper()
	if _, err := e.DeleteTable(t.Context(), &TableInput{TableName: &name}); err != nil {
		t.Fatalf("delete table %s: %v", name, err)
	}
}

// fields makes an item of strings and integers.
func fields(pairs ...any) attr.Item {
	var list []attr.Field
	for i := 0; i < len(pairs); i += 2 {
		f := attr.Field{Name: pairs[i].(string)}
		switch v := pairs[i+1].(type) {
		case string:
			f.Value = attr.String(v)
		case int, int64:
			n, err := attr.ParseNumber(fmt.Sprint(v))
			if err != nil {
				panic(err)
			}
			f.Value = attr.Num(n)
		}
		list = append(list, f)
	}
	return attr.NewItem(list...)
}

func putItem(t *testing.T, e *Engine, table string, it attr.Item) {
	t.Helper()
	if _, err := e.PutItem(t.Context(), &PutItemInput{TableName: &table, Item: it, HasItem: true}); err != nil {
		t.Fatalf("put into %s: %v", table, err)
	}
}

func deleteItem(t *testing.T, e *Engine, table string, key attr.Item) {
	t.Helper()
	if _, err := e.DeleteItem(t.Context(), &DeleteItemInput{TableName: &table, Key: key, HasKey: true}); err != nil {
		t.Fatalf("delete from %s: %v", table, err)
	}
}

func hasItem(t *testing.T, e *Engine, table string, key attr.Item) bool {
	t.Helper()
	out, err := e.GetItem(t.Context(), &GetItemInput{TableName: &table, Key: key, HasKey: true, ConsistentRead: true})
	if err != nil {
		t.Fatalf("get from %s: %v", table, err)
	}
	return out.Item != nil
}

// wantError checks an exception's type and whole message.
func wantError(t *testing.T, err error, typ, message string) {
	t.Helper()
	var got *Error
	if !errors.As(err, &got) {
		t.Errorf("got %v, want %s: %s", err, typ, message)
		return
	}
	if got.Type != typ || got.Message != message {
		t.Errorf("got  %s: %s\nwant %s: %s", got.Type, got.Message, typ, message)
	}
}

func TestCreateTableAnswersCreatingThenActive(t *testing.T) {
	e := openEngine(t, Options{Region: "eu-west-1", Account: "123456789012"})
	in := newTableInput("music", "pk:S sk:N").withGlobal("by-year", "year:N pk:S").withLocal("by-name", "pk:S name:S")
	d := createTable(t, e, in)
	if d.Status != "CREATING" || d.GlobalIndexes[0].Status != "CREATING" || !d.BillingModeChanged.IsZero() {
		t.Errorf("answer of CreateTable: %+v", d)
	}
	d = describeTable(t, e, "music")
	if d.Status != "ACTIVE" || d.GlobalIndexes[0].Status != "ACTIVE" || d.BillingModeChanged.IsZero() {
		t.Errorf("description: %+v", d)
	}
	if d.ARN != "arn:aws:dynamodb:eu-west-1:123456789012:table/music" || d.GlobalIndexes[0].ARN != d.ARN+"/index/by-year" {
		t.Errorf("got ARNs %s and %s", d.ARN, d.GlobalIndexes[0].ARN)
	}
	if len(d.TableID) != 36 || d.TableID[14] != '4' {
		t.Errorf("got table ID %q, want a version 4 UUID", d.TableID)
	}
	if d.Warm != (WarmThroughput{12000, 4000, "ACTIVE"}) || d.GlobalIndexes[0].Warm != d.Warm {
		t.Errorf("got warm throughput %+v", d.Warm)
	}
	wantNames := []string{"name", "pk", "sk", "year"}
	if got := definedNames(d.AttributeDefinitions); !slices.Equal(got, wantNames) {
		t.Errorf("got definitions %v, want %v", got, wantNames)
	}
	byARN, err := e.DescribeTable(t.Context(), &TableInput{TableName: &d.ARN})
	if err != nil || byARN.TableName != "music" {
		t.Errorf("described by ARN: %+v, %v", byARN, err)
	}
}

func TestCreateTableRefuses(t *testing.T) {
	invalid := "One or more parameter values were invalid: "
	many := func(n int, add func(in *CreateTableInput, name, key string) *CreateTableInput, first string) *CreateTableInput {
		in := newTableInput("tab", "pk:S sk:S")
		for i := range n {
			add(in, fmt.Sprintf("index-%d", i), fmt.Sprintf("%s k%d:S", first, i))
		}
		return in
	}
	edit := func(in *CreateTableInput, f func(*CreateTableInput)) *CreateTableInput {
		f(in)
		return in
	}
	for name, c := range map[string]struct {
		in   *CreateTableInput
		want string
	}{
		"no name": {&CreateTableInput{}, "The parameter 'TableName' is required but was not present in the request"},
		"short name": {
			newTableInput("ab", "pk:S"),
			"1 validation error detected: Value 'ab' at 'tableName' failed to satisfy constraint: Member must have length greater than or equal to 3",
		},
		"key type": {
			newTableInput("tab", "pk:S:INVALID"),
			"1 validation error detected: Value 'INVALID' at 'keySchema.1.member.keyType' failed to satisfy constraint: Member must satisfy enum value set: [HASH, RANGE]",
		},
		"attribute type": {
			newTableInput("tab", "pk:SS"),
			"1 validation error detected: Value 'SS' at 'attributeDefinitions.1.member.attributeType' failed to satisfy constraint: Member must satisfy enum value set: [B, N, S]",
		},
		"three keys": {
			newTableInput("tab", "a:S b:S c:S"),
			"1 validation error detected: Value '[KeySchemaElement(attributeName=a, keyType=HASH), KeySchemaElement(attributeName=b, keyType=RANGE), KeySchemaElement(attributeName=c, keyType=RANGE)]' at 'keySchema' failed to satisfy constraint: Member must have length less than or equal to 2",
		},
		"no capacity": {
			edit(newTableInput("tab", "pk:S"), func(in *CreateTableInput) { in.BillingMode = nil }),
			invalid + "ReadCapacityUnits and WriteCapacityUnits must both be specified when BillingMode is PROVISIONED",
		},
		"zero capacity": {
			newTableInput("tab", "pk:S").provisioned(0, 0),
			"2 validation errors detected: Value '0' at 'provisionedThroughput.writeCapacityUnits' failed to satisfy constraint: Member must have value greater than or equal to 1; Value '0' at 'provisionedThroughput.readCapacityUnits' failed to satisfy constraint: Member must have value greater than or equal to 1",
		},
		"capacity on demand": {
			edit(newTableInput("tab", "pk:S"), func(in *CreateTableInput) { in.ProvisionedThroughput = units(1, 1) }),
			invalid + "Neither ReadCapacityUnits nor WriteCapacityUnits can be specified when BillingMode is PAY_PER_REQUEST",
		},
		"maximum of provisioned": {
			edit(newTableInput("tab", "pk:S").provisioned(1, 1), func(in *CreateTableInput) { in.OnDemandThroughput = units(1, 1) }),
			invalid + "MaxReadRequestUnits for OnDemandThroughput cannot be specified when table BillingMode is PROVISIONED.",
		},
		"cold": {
			edit(newTableInput("tab", "pk:S"), func(in *CreateTableInput) { in.WarmThroughput = units(1, 1) }),
			invalid + "Requested ReadUnitsPerSecond for WarmThroughput for table is lower than initial throughput for OnDemand. See: " + initialThroughputDoc,
		},
		"same key twice": {
			newTableInput("tab", "pk:S pk:S"),
			"Invalid KeySchema: Some index key attribute have no definition",
		},
		"range first": {
			newTableInput("tab", "pk:S:RANGE sk:S:HASH"),
			"Invalid KeySchema: The first KeySchemaElement is not a HASH key type",
		},
		"two hashes": {
			newTableInput("tab", "pk:S sk:S:HASH"),
			"Invalid KeySchema: The second KeySchemaElement is not a RANGE key type",
		},
		"undefined": {
			edit(newTableInput("tab", "pk:S"), func(in *CreateTableInput) { in.KeySchema[0].AttributeName = "PK" }),
			invalid + "Some index key attributes are not defined in AttributeDefinitions. Keys: [PK], AttributeDefinitions: [pk]",
		},
		"unused": {
			edit(newTableInput("tab", "pk:S"), func(in *CreateTableInput) { keyOf(in, "extra:N") }),
			invalid + "Number of attributes in KeySchema does not exactly match number of attributes defined in AttributeDefinitions",
		},
		"unused with index": {
			edit(newTableInput("tab", "pk:S").withGlobal("idx", "a:S"), func(in *CreateTableInput) { keyOf(in, "extra:N") }),
			invalid + "Some AttributeDefinitions are not used. AttributeDefinitions: [pk, a, extra], keys used: [pk, a]",
		},
		"local without sort key": {
			newTableInput("tab", "pk:S").withLocal("lsi", "pk:S a:S"),
			invalid + "Table KeySchema does not have a range key, which is required when specifying a LocalSecondaryIndex",
		},
		"local with another hash": {
			newTableInput("tab", "pk:S sk:S").withLocal("lsi", "a:S b:S"),
			invalid + "Index KeySchema does not have the same leading hash key as table KeySchema for index: lsi. index hash key: a, table hash key: pk",
		},
		"six local": {
			many(6, (*CreateTableInput).withLocal, "pk:S"),
			invalid + "Number of LocalSecondaryIndexes exceeds per-table limit of 5",
		},
		"twenty-one global": {
			many(21, (*CreateTableInput).withGlobal, "sk:S"),
			invalid + "GlobalSecondaryIndex count exceeds the per-table limit of 20",
		},
		"same index twice": {
			newTableInput("tab", "pk:S").withGlobal("same", "a:S").withGlobal("same", "b:S"),
			invalid + "Duplicate index name: same",
		},
		"five hashes": {
			newTableInput("tab", "pk:S").withGlobal("idx", "a:S b:S:HASH c:S:HASH d:S:HASH e:S:HASH"),
			invalid + "The KeySchema exceeds the maximum allowed number of HASH key attributes",
		},
		"hash after range": {
			newTableInput("tab", "pk:S").withGlobal("idx", "a:S b:S c:S:HASH"),
			invalid + "All HASH key attributes must precede RANGE key attributes in the KeySchema",
		},
		"include nothing": {
			edit(newTableInput("tab", "pk:S").withGlobal("idx", "a:S"), func(in *CreateTableInput) { in.GlobalIndexes[0].Projection.Type = new("INCLUDE") }),
			invalid + "ProjectionType is INCLUDE, but NonKeyAttributes is not specified",
		},
		"capacity of an index on demand": {
			edit(newTableInput("tab", "pk:S").withGlobal("idx", "a:S"), func(in *CreateTableInput) { in.GlobalIndexes[0].ProvisionedThroughput = units(1, 1) }),
			invalid + "ProvisionedThroughput should not be specified for index: idx when BillingMode is PAY_PER_REQUEST",
		},
		"no capacity of an index": {
			edit(newTableInput("tab", "pk:S").withGlobal("idx", "a:S").provisioned(1, 1), func(in *CreateTableInput) { in.GlobalIndexes[0].ProvisionedThroughput = nil }),
			invalid + "ProvisionedThroughput is not specified for index: idx",
		},
		"maximum of zero": {
			edit(newTableInput("tab", "pk:S").withGlobal("idx", "a:S"), func(in *CreateTableInput) { in.GlobalIndexes[0].OnDemandThroughput = units(5, 0) }),
			invalid + "Requested MaxWriteRequestUnits for OnDemandThroughput for index : idx is outside of valid range",
		},
		"colder than provisioned": {
			edit(newTableInput("tab", "pk:S").provisioned(10, 10), func(in *CreateTableInput) { in.WarmThroughput = units(10, 5) }),
			invalid + "Requested WriteUnitsPerSecond for WarmThroughput for table is lower than WriteCapacityUnits of ProvisionedThroughput",
		},
		"index without anything": {
			edit(newTableInput("tab", "pk:S"), func(in *CreateTableInput) { in.LocalIndexes = make([]IndexInput, 1) }),
			"3 validation errors detected: Value null at 'localSecondaryIndexes.1.member.indexName' failed to satisfy constraint: Member must not be null; " +
				"Value null at 'localSecondaryIndexes.1.member.keySchema' failed to satisfy constraint: Member must not be null; " +
				"Value null at 'localSecondaryIndexes.1.member.projection' failed to satisfy constraint: Member must not be null",
		},
		"too much projected": {
			edit(many(6, (*CreateTableInput).withGlobal, "sk:S"), func(in *CreateTableInput) {
				for i := range in.GlobalIndexes {
					names := make([]string, 20)
					for n := range names {
						names[n] = fmt.Sprint("n", n)
					}
					in.GlobalIndexes[i].Projection = &Projection{Type: new("INCLUDE"), HasNonKey: true, NonKeyAttributes: names}
				}
			}),
			invalid + "Number of NonKeyAttributes in all secondary indexes exceeds per-table limit of 100",
		},
		"stream without view": {
			edit(newTableInput("tab", "pk:S"), func(in *CreateTableInput) { in.Stream = &StreamSpecification{Enabled: new(true)} }),
			invalid + "Table is being created with a stream enabled, UpdateViewType is required",
		},
		"unsupported": {
			edit(newTableInput("tab", "pk:S"), func(in *CreateTableInput) { in.Unsupported = "ResourcePolicy" }),
			"heatsink does not implement the parameter ResourcePolicy: it has no IAM, so that a policy would decide nothing: " +
				"its credentials may do everything; see https://github.com/heatsink-go/heatsink/blob/main/docs/compatibility.md",
		},
	} {
		t.Run(name, func(t *testing.T) {
			e := openEngine(t, Options{})
			_, err := e.CreateTable(t.Context(), c.in)
			wantError(t, err, TypeValidation, c.want)
		})
	}
}

func TestCreateTableTakesMultipartKeys(t *testing.T) {
	e := openEngine(t, Options{})
	key := "a:S b:N:HASH c:B:HASH d:S:HASH e:S f:S g:N h:B"
	createTable(t, e, newTableInput("tab", "pk:S").withGlobal("wide", key))
	if got := len(describeTable(t, e, "tab").GlobalIndexes[0].KeySchema); got != 8 {
		t.Errorf("got %d key elements, want 8", got)
	}
}

func TestCreateTableAnswersWarmThroughputIfGiven(t *testing.T) {
	e := openEngine(t, Options{})
	if d := createTable(t, e, newTableInput("cold", "pk:S")); d.Warm != (WarmThroughput{}) {
		t.Errorf("got %+v, want nothing", d.Warm)
	}
	in := newTableInput("warm", "pk:S")
	in.WarmThroughput = &Throughput{Read: new(int64(20_000))}
	if d := createTable(t, e, in); d.Warm != (WarmThroughput{20_000, 4_000, "UPDATING"}) {
		t.Errorf("got %+v", d.Warm)
	}
	if d := describeTable(t, e, "warm"); d.Warm != (WarmThroughput{20_000, 4_000, "ACTIVE"}) {
		t.Errorf("got %+v", d.Warm)
	}
}

func TestTablesAreListedInPages(t *testing.T) {
	e := openEngine(t, Options{})
	for _, name := range []string{"bbb", "aaa", "Zzz", "ccc"} {
		createTable(t, e, newTableInput(name, "pk:S"))
	}
	_, err := e.CreateTable(t.Context(), newTableInput("aaa", "pk:S"))
	wantError(t, err, TypeResourceInUse, "Table already exists: aaa")

	var got []string
	in := &ListTablesInput{Limit: new(int64(2))}
	for pages := 1; ; pages++ {
		out, err := e.ListTables(t.Context(), in)
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, out.TableNames...)
		if out.LastEvaluated == "" {
			if pages != 2 {
				t.Errorf("got %d pages, want 2", pages)
			}
			break
		}
		in.ExclusiveStart = &out.LastEvaluated
	}
	if want := []string{"Zzz", "aaa", "bbb", "ccc"}; !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
	_, err = e.ListTables(t.Context(), &ListTablesInput{Limit: new(int64(101))})
	wantError(t, err, TypeValidation, "1 validation error detected: Value '101' at 'limit' failed to satisfy constraint: Member must have value less than or equal to 100")
}

func TestDeleteTableRemovesEverything(t *testing.T) {
	e := openEngine(t, Options{})
	name := "tab"
	in := newTableInput(name, "pk:S").withGlobal("idx", "a:S")
	in.DeletionProtection = new(true)
	createTable(t, e, in)
	putItem(t, e, name, fields("pk", "1", "a", "x"))
	id := e.tables[name].record.ID

	_, err := e.DeleteTable(t.Context(), &TableInput{TableName: &name})
	wantError(t, err, TypeValidation, "Resource cannot be deleted as it is currently protected against deletion. Disable deletion protection first.")
	if _, err := e.UpdateTable(t.Context(), &UpdateTableInput{TableName: &name, DeletionProtection: new(false)}); err != nil {
		t.Fatal(err)
	}
	d, err := e.DeleteTable(t.Context(), &TableInput{TableName: &name})
	if err != nil || d.Status != "DELETING" {
		t.Fatalf("got %+v, %v", d, err)
	}
	_, err = e.DescribeTable(t.Context(), &TableInput{TableName: &name})
	wantError(t, err, TypeResourceNotFound, "Requested resource not found: Table: tab not found")
	_, err = e.PutItem(t.Context(), &PutItemInput{TableName: &name, Item: fields("pk", "1"), HasItem: true})
	wantError(t, err, TypeResourceNotFound, "Requested resource not found")
	left := 0
	if err := each(e.store.View, store.Items(id), func(_, _ []byte) error { left++; return nil }); err != nil || left != 0 {
		t.Errorf("%d entries left, %v", left, err)
	}
	createTable(t, e, newTableInput(name, "pk:S"))
	if hasItem(t, e, name, fields("pk", "1")) {
		t.Error("a table of the same name has the old one's item")
	}
}

func TestUpdateTableThroughput(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		e := openEngine(t, Options{})
		name := "tab"
		createTable(t, e, newTableInput(name, "pk:S").withGlobal("idx", "a:S").provisioned(5, 5))
		update := func(in UpdateTableInput) (*TableDescription, error) {
			in.TableName = &name
			return e.UpdateTable(t.Context(), &in)
		}
		time.Sleep(time.Minute)
		d, err := update(UpdateTableInput{ProvisionedThroughput: units(10, 3)})
		if err != nil {
			t.Fatal(err)
		}
		if d.Status != "UPDATING" || d.Provisioned.Read != 5 || d.Provisioned.LastIncrease.IsZero() {
			t.Errorf("answer: %+v", d.Provisioned)
		}
		d = describeTable(t, e, name)
		p := d.Provisioned
		if p.Read != 10 || p.Write != 3 || p.DecreasesToday != 1 || !p.LastIncrease.Equal(time.Now()) || !p.LastDecrease.Equal(time.Now()) {
			t.Errorf("got %+v", p)
		}
		if d.Warm != (WarmThroughput{10, 5, "ACTIVE"}) {
			t.Errorf("got warm throughput %+v, want the most there ever was", d.Warm)
		}
		_, err = update(UpdateTableInput{ProvisionedThroughput: units(10, 3)})
		wantError(t, err, TypeValidation, "The provisioned throughput for the table will not change. The requested value equals the current value. "+
			"Current ReadCapacityUnits provisioned for the table: 10. Requested ReadCapacityUnits: 10. "+
			"Current WriteCapacityUnits provisioned for the table: 3. Requested WriteCapacityUnits: 3. "+
			"Refer to the Amazon DynamoDB Developer Guide for current limits and how to request higher limits.")
		if p.expire(time.Now().Add(24 * time.Hour)); p.DecreasesToday != 0 {
			t.Errorf("got %d decreases the next day, want 0", p.DecreasesToday)
		}

		if _, err := update(UpdateTableInput{BillingMode: new("PAY_PER_REQUEST")}); err != nil {
			t.Fatal(err)
		}
		d = describeTable(t, e, name)
		if d.BillingMode != "PAY_PER_REQUEST" || d.Provisioned.Read != 0 || d.Warm != (WarmThroughput{12000, 4000, "ACTIVE"}) || d.GlobalIndexes[0].Provisioned.Read != 0 {
			t.Errorf("on demand: %+v", d)
		}
		_, err = update(UpdateTableInput{BillingMode: new("PROVISIONED"), ProvisionedThroughput: units(1, 1)})
		wantError(t, err, TypeValidation, "One or more parameter values were invalid: ProvisionedThroughput must be specified for index: idx")
		_, err = update(UpdateTableInput{
			BillingMode: new("PROVISIONED"), ProvisionedThroughput: units(1, 1), HasIndexUpdates: true,
			IndexUpdates: []IndexUpdate{{Update: &IndexInput{IndexName: new("idx"), ProvisionedThroughput: units(2, 2)}}},
		})
		if err != nil {
			t.Fatal(err)
		}
		d = describeTable(t, e, name)
		if d.BillingMode != "PROVISIONED" || d.Provisioned.Read != 1 || d.GlobalIndexes[0].Provisioned.Read != 2 || d.Warm.Read != 12000 {
			t.Errorf("provisioned again: %+v", d)
		}
	})
}

func TestUpdateTableMaximumAndWarm(t *testing.T) {
	e := openEngine(t, Options{})
	name := "tab"
	createTable(t, e, newTableInput(name, "pk:S"))
	update := func(in UpdateTableInput) (*TableDescription, error) {
		in.TableName = &name
		return e.UpdateTable(t.Context(), &in)
	}
	if _, err := update(UpdateTableInput{OnDemandThroughput: units(100, 50)}); err != nil {
		t.Fatal(err)
	}
	d, err := update(UpdateTableInput{OnDemandThroughput: &Throughput{Read: new(int64(-1))}})
	if err != nil || *d.OnDemand.Read != -1 || *d.OnDemand.Write != 50 {
		t.Fatalf("got %+v, %v", d.OnDemand, err)
	}
	if d = describeTable(t, e, name); d.OnDemand.Read != nil || *d.OnDemand.Write != 50 {
		t.Errorf("got %+v", d.OnDemand)
	}
	if _, err = update(UpdateTableInput{OnDemandThroughput: &Throughput{Write: new(int64(-1))}}); err != nil {
		t.Fatal(err)
	}
	if d = describeTable(t, e, name); d.OnDemand != nil {
		t.Errorf("got %+v, want none", d.OnDemand)
	}
	if _, err = update(UpdateTableInput{WarmThroughput: &Throughput{Write: new(int64(9000))}}); err != nil {
		t.Fatal(err)
	}
	if d = describeTable(t, e, name); d.Warm != (WarmThroughput{12000, 9000, "ACTIVE"}) {
		t.Errorf("got %+v", d.Warm)
	}
	_, err = update(UpdateTableInput{WarmThroughput: units(12000, 8999)})
	wantError(t, err, TypeValidation, "One or more parameter values were invalid: Requested WriteUnitsPerSecond for WarmThroughput for table is lower than current WarmThroughput, decreasing WarmThroughput is not supported")
}

func TestUpdateTableRefuses(t *testing.T) {
	e := openEngine(t, Options{})
	name, invalid := "tab", "One or more parameter values were invalid: "
	createTable(t, e, newTableInput(name, "pk:S sk:S").withGlobal("idx", "a:S").withLocal("lsi", "pk:S b:S"))
	indexes := func(list ...IndexUpdate) UpdateTableInput {
		return UpdateTableInput{HasIndexUpdates: true, IndexUpdates: list}
	}
	full := newIndexInput(&CreateTableInput{}, "new", "a:S")
	named := func(name string) *IndexInput { return &IndexInput{IndexName: &name} }
	for title, c := range map[string]struct {
		in        UpdateTableInput
		typ, want string
	}{
		"nothing": {UpdateTableInput{}, TypeValidation, "At least one of ProvisionedThroughput, BillingMode, UpdateStreamEnabled, GlobalSecondaryIndexUpdates, SSESpecification, " +
			"ReplicaUpdates, MultiAccountReplicaReady, ReplicaTransitRoleArn, MultiRegionConsistency, DeletionProtectionEnabled, OnDemandThroughput, WarmThroughput or TableClass is required"},
		"no stream": {UpdateTableInput{Stream: &StreamSpecification{Enabled: new(false)}}, TypeValidation, "Table has no stream to disable: TableName: tab"},
		"stream and capacity": {
			UpdateTableInput{ProvisionedThroughput: units(1, 1), Stream: &StreamSpecification{Enabled: new(true), ViewType: new("NEW_IMAGE")}},
			TypeValidation, invalid + "You cannot modify stream status while updating table IOPS",
		},
		"stream without view": {
			UpdateTableInput{Stream: &StreamSpecification{Enabled: new(true)}},
			TypeValidation, invalid + "If stream is being enabled then UpdateViewType is required",
		},
		"capacity of an index": {
			indexes(IndexUpdate{Update: &IndexInput{IndexName: new("idx"), ProvisionedThroughput: units(1, 1)}}),
			TypeValidation, invalid + "The only Updates for index: idx when TableThroughputMode is PAY_PER_REQUEST can be to OnDemandThroughput, WarmThroughput",
		},
		"provisioned without capacity": {
			UpdateTableInput{BillingMode: new("PROVISIONED")},
			TypeValidation, invalid + "ProvisionedThroughput must be specified when BillingMode is PROVISIONED",
		},
		"same index twice": {
			indexes(IndexUpdate{Delete: named("idx")}, IndexUpdate{Update: named("idx")}),
			TypeValidation, invalid + "Only one global secondary index update per index is allowed simultaneously. Index: idx",
		},
		"two changes":  {UpdateTableInput{DeletionProtection: new(true), BillingMode: new("PAY_PER_REQUEST")}, TypeValidation, invalid + "DeletionProtection modification must be the only operation in the request"},
		"capacity":     {UpdateTableInput{ProvisionedThroughput: units(1, 1)}, TypeValidation, invalid + "Neither ReadCapacityUnits nor WriteCapacityUnits can be specified when BillingMode is PAY_PER_REQUEST"},
		"class":        {UpdateTableInput{TableClass: new("COLD")}, TypeValidation, "Invalid table-class parameter provided. Please try again with a valid table-class value: [STANDARD, STANDARD_INFREQUENT_ACCESS]."},
		"empty action": {indexes(IndexUpdate{}), TypeValidation, invalid + "One of GlobalSecondaryIndexUpdate.Update, GlobalSecondaryIndexUpdate.Create, GlobalSecondaryIndexUpdate.Delete must not be null"},
		"two actions": {
			indexes(IndexUpdate{Create: &full, Delete: named("idx")}),
			TypeValidation, invalid + "Only one global secondary index action is allowed per GlobalSecondaryIndexUpdate object",
		},
		"delete nothing": {indexes(IndexUpdate{Delete: named("ghost")}), TypeResourceNotFound, "Requested resource not found: Index ghost for table tab"},
		"delete local":   {indexes(IndexUpdate{Delete: named("lsi")}), TypeValidation, "Cannot delete an index that is not a GlobalSecondaryIndex: lsi"},
		"create undefined": {
			indexes(IndexUpdate{Create: &full}), TypeValidation, invalid + "AttributeDefinitions is not specified for index: new",
		},
	} {
		t.Run(title, func(t *testing.T) {
			c.in.TableName = &name
			_, err := e.UpdateTable(t.Context(), &c.in)
			wantError(t, err, c.typ, c.want)
		})
	}
	_, err := e.UpdateTable(t.Context(), &UpdateTableInput{TableName: new("ghost"), DeletionProtection: new(true)})
	wantError(t, err, TypeResourceNotFound, "Requested resource not found: Table: ghost not found")
}

func TestTableClass(t *testing.T) {
	e := openEngine(t, Options{})
	in := newTableInput("tab", "pk:S")
	in.TableClass = new("STANDARD_INFREQUENT_ACCESS")
	createTable(t, e, in)
	if got := describeTable(t, e, "tab").TableClass; got != *in.TableClass {
		t.Errorf("got class %q, want %q", got, *in.TableClass)
	}
}

// TestReopenedTablesAreTheSame covers a clean end, after which counts are read,
// and a crash, after which they are made.
func TestReopenedTablesAreTheSame(t *testing.T) {
	for _, crash := range []bool{false, true} {
		t.Run(fmt.Sprintf("crash=%t", crash), func(t *testing.T) {
			dir := t.TempDir()
			e, err := Open(Options{Dir: dir})
			if err != nil {
				t.Fatal(err)
			}
			name := "tab"
			in := newTableInput(name, "pk:S sk:N").withGlobal("idx", "a:S b:N:HASH").withLocal("lsi", "pk:S c:S").provisioned(7, 8)
			in.Stream = &StreamSpecification{Enabled: new(true), ViewType: new("KEYS_ONLY")}
			in.TableClass = new("STANDARD_INFREQUENT_ACCESS")
			createTable(t, e, in)
			createTable(t, e, newTableInput("gone", "pk:S"))
			deleteTable(t, e, "gone")
			for i := range 20 {
				putItem(t, e, name, fields("pk", "p", "sk", i, "a", "x", "b", i%2, "c", "y"))
			}
			putItem(t, e, name, fields("pk", "p", "sk", 99))
			want := describeTable(t, e, name)
			if want.ItemCount != 21 || want.GlobalIndexes[0].ItemCount != 20 || want.LocalIndexes[0].ItemCount != 20 {
				t.Errorf("got %d, %d and %d items", want.ItemCount, want.GlobalIndexes[0].ItemCount, want.LocalIndexes[0].ItemCount)
			}
			if crash {
				e.sweeper.close()
				err = e.store.Close()
			} else {
				err = e.Close()
			}
			if err != nil {
				t.Fatal(err)
			}
			e = openEngine(t, Options{Dir: dir})
			if got := describeTable(t, e, name); !reflect.DeepEqual(got, want) {
				t.Errorf("got  %+v\nwant %+v", got, want)
			}
			out, err := e.ListTables(t.Context(), &ListTablesInput{})
			if err != nil || !slices.Equal(out.TableNames, []string{name}) {
				t.Errorf("got %v, %v", out, err)
			}
			createTable(t, e, newTableInput("another", "pk:S"))
			if e.tables["another"].record.ID == e.tables[name].record.ID {
				t.Error("two tables have one ID")
			}
		})
	}
}

// A directory of format 1 has no tallies. It is counted once, and becomes one of
// the format of now.
func TestDirectoriesWithoutTalliesAreCounted(t *testing.T) {
	dir, name := t.TempDir(), "tab"
	e, err := Open(Options{Dir: dir})
	if err != nil {
		t.Fatal(err)
	}
	createTable(t, e, newTableInput(name, "pk:S sk:N").withGlobal("idx", "a:S"))
	for i := range 20 {
		putItem(t, e, name, fields("pk", "p", "sk", i))
	}
	putItem(t, e, name, fields("pk", "p", "sk", 99, "a", "x"))
	want := describeTable(t, e, name)
	b := e.store.NewBatch()
	for id := range e.tables[name].usages() {
		b.Delete(store.TallyKey(e.tables[name].record.ID, id))
	}
	if err := errors.Join(b.Commit(), e.Close()); err != nil {
		t.Fatal(err)
	}
	mark := filepath.Join(dir, "HEATSINK")
	if err := os.WriteFile(mark, []byte("heatsink 1\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if e, err = Open(Options{Dir: dir}); err != nil {
			t.Fatal(err)
		}
		if got := describeTable(t, e, name); !reflect.DeepEqual(got, want) {
			t.Errorf("got  %+v\nwant %+v", got, want)
		}
		for id, u := range e.tables[name].usages() {
			tally, found, err := e.store.Tally(e.tables[name].record.ID, id)
			if err != nil || !found || tally.Items != u.items.Load() || tally.Bytes != u.bytes.Load() {
				t.Errorf("index %d: got %v, %t, %v, want %d items", id, tally, found, err, u.items.Load())
			}
		}
		if err := e.Close(); err != nil {
			t.Fatal(err)
		}
		if text, err := os.ReadFile(mark); err != nil || string(text) != "heatsink 2\n" {
			t.Errorf("the mark reads %q, %v", text, err)
		}
	}
}

func TestCloseWaitsAndRefuses(t *testing.T) {
	e, err := Open(Options{})
	if err != nil {
		t.Fatal(err)
	}
	name := "tab"
	createTable(t, e, newTableInput(name, "pk:S"))
	var work sync.WaitGroup
	for i := range 8 {
		work.Go(func() {
			for n := 0; ; n++ {
				_, err := e.PutItem(t.Context(), &PutItemInput{TableName: &name, Item: fields("pk", fmt.Sprint(i, n)), HasItem: true})
				if err == nil {
					_, err = e.DescribeTable(t.Context(), &TableInput{TableName: &name})
				}
				if err != nil {
					wantError(t, err, TypeInternal, "the engine is closed")
					return
				}
			}
		})
	}
	time.Sleep(20 * time.Millisecond)
	if err := e.Close(); err != nil {
		t.Error(err)
	}
	work.Wait()
	if err := e.Close(); err != nil {
		t.Errorf("closed twice: %v", err)
	}
	_, err = e.ListTables(t.Context(), &ListTablesInput{})
	wantError(t, err, TypeInternal, "the engine is closed")
	_, err = e.CreateTable(t.Context(), newTableInput("new", "pk:S"))
	wantError(t, err, TypeInternal, "the engine is closed")
	_, err = e.ListStreams(t.Context(), &ListStreamsInput{})
	wantError(t, err, TypeInternal, "the engine is closed")
}
