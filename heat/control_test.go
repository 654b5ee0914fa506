package heat_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/heatsink-go/heatsink/heat"
	"github.com/heatsink-go/heatsink/internal/bubble"
	"github.com/heatsink-go/heatsink/layout"
	"github.com/heatsink-go/heatsink/local"
)

// ledgerOf returns the key of a ledger in the table of the orders.
func ledgerOf(customer string) item {
	return key(layout.ControlKey{Role: layout.RoleLedger, Collection: "orders", Key: customer}.String(), "-")
}

func with(base item, more item) item {
	all := maps.Clone(base)
	maps.Copy(all, more)
	return all
}

// createAdaptive creates a table with a stream and indexes: two by an attribute, which control items do not have, and two by
// the table's own keys, which they are in.
func createAdaptive(t *testing.T, client *dynamodb.Client, indexed bool) {
	t.Helper()
	in := &dynamodb.CreateTableInput{
		TableName: aws.String("orders"), BillingMode: types.BillingModePayPerRequest, KeySchema: schema("pk", "sk"),
		StreamSpecification: &types.StreamSpecification{StreamEnabled: aws.Bool(true), StreamViewType: types.StreamViewTypeNewAndOldImages},
	}
	attributes, indexes := []string{"pk", "sk"}, [][]string{}
	if indexed {
		attributes = append(attributes, "status")
		indexes = [][]string{{"byStatus", "status"}, {"byOwner", "pk", "status"}, {"inverted", "sk", "pk"}, {"keys", "pk"}}
	}
	for _, name := range attributes {
		in.AttributeDefinitions = append(in.AttributeDefinitions, types.AttributeDefinition{
			AttributeName: aws.String(name), AttributeType: types.ScalarAttributeTypeS,
		})
	}
	for _, index := range indexes {
		in.GlobalSecondaryIndexes = append(in.GlobalSecondaryIndexes, types.GlobalSecondaryIndex{
			IndexName: aws.String(index[0]), KeySchema: schema(index[1:]...), Projection: &types.Projection{ProjectionType: types.ProjectionTypeAll},
		})
	}
	if _, err := client.CreateTable(t.Context(), in); err != nil {
		t.Fatal(err)
	}
}

// schema returns a partition key and a sort key, if there is one.
func schema(names ...string) (all []types.KeySchemaElement) {
	for i, name := range names {
		all = append(all, types.KeySchemaElement{
			AttributeName: aws.String(name), KeyType: []types.KeyType{types.KeyTypeHash, types.KeyTypeRange}[i],
		})
	}
	return all
}

// shop is one workload, with the control items of an adaptive collection among its calls or without them.
type shop struct {
	t        *testing.T
	client   *dynamodb.Client
	control  bool
	indexed  bool // there are indexes; then batches have only what surely changes them, so that each item's part is known
	recorder *heat.Recorder
	charged  map[string]float64 // what the engine said, by table or index and direction
}

func (s *shop) charge(d heat.Direction, all ...types.ConsumedCapacity) {
	for _, c := range all {
		if c.Table != nil {
			s.charged[fmt.Sprintf("orders %s", d)] += aws.ToFloat64(c.Table.CapacityUnits)
		}
		for name, index := range c.GlobalSecondaryIndexes {
			s.charged[fmt.Sprintf("orders/%s %s", name, d)] += aws.ToFloat64(index.CapacityUnits)
		}
	}
}

const counted = types.ReturnConsumedCapacityIndexes

// run makes calls of all operations. Each comes once without control items, and once with some beside the data or alone.
func (s *shop) run() {
	t, client, ctx := s.t, s.client, s.t.Context()
	table := aws.String("orders")
	fail := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	put := func(item item) {
		out, err := client.PutItem(ctx, &dynamodb.PutItemInput{TableName: table, Item: item, ReturnConsumedCapacity: counted})
		fail(err)
		s.charge(heat.Write, *out.ConsumedCapacity)
	}
	update := func(key item, values types.ReturnValue) {
		out, err := client.UpdateItem(ctx, &dynamodb.UpdateItemInput{
			TableName: table, Key: key, ReturnConsumedCapacity: counted, ReturnValues: values,
			UpdateExpression:          aws.String("ADD #n :one"),
			ExpressionAttributeNames:  map[string]string{"#n": "_hs_g"},
			ExpressionAttributeValues: item{":one": number(1)},
		})
		fail(err)
		s.charge(heat.Write, *out.ConsumedCapacity)
	}
	get := func(key item) {
		out, err := client.GetItem(ctx, &dynamodb.GetItemInput{TableName: table, Key: key, ConsistentRead: aws.Bool(true), ReturnConsumedCapacity: counted})
		fail(err)
		s.charge(heat.Read, *out.ConsumedCapacity)
	}
	query := func(index string, equal item) {
		in := &dynamodb.QueryInput{TableName: table, ReturnConsumedCapacity: counted, ExpressionAttributeValues: item{}, ExpressionAttributeNames: map[string]string{}}
		if index != "" {
			in.IndexName = aws.String(index)
		}
		var conditions []string
		for name, value := range equal {
			in.ExpressionAttributeNames["#"+name] = name
			in.ExpressionAttributeValues[":"+name] = value
			conditions = append(conditions, "#"+name+" = :"+name)
		}
		in.KeyConditionExpression = aws.String(strings.Join(conditions, " AND "))
		out, err := client.Query(ctx, in)
		fail(err)
		s.charge(heat.Read, *out.ConsumedCapacity)
	}
	for i := range 120 {
		customer := fmt.Sprint("CUSTOMER#", i%7*i%5)
		own := key(customer, fmt.Sprintf("ORDER#%05d", i))
		order := with(own, item{"status": text([]string{"OPEN", "DONE", "DONE"}[i%3])})
		ledger := ledgerOf(customer)
		other := ledgerOf("another of " + customer)

		put(order)
		update(own, types.ReturnValueAllOld)
		get(own)
		query("", item{"pk": own["pk"]})
		if s.indexed {
			query("byStatus", item{"status": text("OPEN")})
			query("inverted", item{"sk": own["sk"], "pk": own["pk"]})
		}
		if s.control {
			put(with(ledger, item{"_hs_r": number(4), "_hs_w": number(4)}))
			update(ledger, types.ReturnValueUpdatedNew)
			update(other, types.ReturnValueAllOld)
			get(ledger)
			query("", item{"pk": ledger["pk"]})
			if s.indexed {
				query("inverted", item{"sk": ledger["sk"], "pk": ledger["pk"]})
				query("keys", item{"pk": ledger["pk"]})
			}
			deleted, err := client.DeleteItem(ctx, &dynamodb.DeleteItemInput{TableName: table, Key: other, ReturnValues: types.ReturnValueAllOld, ReturnConsumedCapacity: counted})
			fail(err)
			s.charge(heat.Write, *deleted.ConsumedCapacity)
		}

		keys := []map[string]types.AttributeValue{own, key(customer, "no such order")}
		gets := []types.TransactGetItem{{Get: &types.Get{TableName: table, Key: own}}}
		writes := []types.WriteRequest{
			{PutRequest: &types.PutRequest{Item: with(order, item{"sk": text(fmt.Sprint("BATCH#", i))})}},
			{PutRequest: &types.PutRequest{Item: with(order, item{"sk": text(fmt.Sprint("BATCH2#", i))})}},
		}
		if !s.indexed {
			writes[1] = types.WriteRequest{DeleteRequest: &types.DeleteRequest{Key: key(customer, "no such order")}}
		}
		actions := []types.TransactWriteItem{
			{Put: &types.Put{TableName: table, Item: with(order, item{"sk": text(fmt.Sprint("TRANSACTION#", i))})}},
			{ConditionCheck: &types.ConditionCheck{TableName: table, Key: own, ConditionExpression: aws.String("attribute_exists(pk)")}},
		}
		if s.control { // first, in between and last
			keys = slices.Insert(keys, i%3, map[string]types.AttributeValue(ledger))
			gets = slices.Insert(gets, i%2, types.TransactGetItem{Get: &types.Get{TableName: table, Key: ledger}})
			writes = slices.Insert(writes, i%3, types.WriteRequest{PutRequest: &types.PutRequest{Item: with(other, item{"_hs_g": number(i)})}})
			if !s.indexed {
				writes = append(writes, types.WriteRequest{DeleteRequest: &types.DeleteRequest{Key: ledgerOf("nobody")}})
			}
			actions = slices.Insert(actions, i%3, types.TransactWriteItem{ConditionCheck: &types.ConditionCheck{
				TableName: table, Key: ledger, ConditionExpression: aws.String("attribute_exists(pk)"),
			}})
			actions = append(actions, types.TransactWriteItem{Put: &types.Put{TableName: table, Item: with(other, item{"_hs_g": number(i + 1)})}})
		}
		read, err := client.BatchGetItem(ctx, &dynamodb.BatchGetItemInput{
			RequestItems: map[string]types.KeysAndAttributes{"orders": {Keys: keys}}, ReturnConsumedCapacity: counted,
		})
		fail(err)
		s.charge(heat.Read, read.ConsumedCapacity...)
		got, err := client.TransactGetItems(ctx, &dynamodb.TransactGetItemsInput{TransactItems: gets, ReturnConsumedCapacity: counted})
		fail(err)
		s.charge(heat.Read, got.ConsumedCapacity...)
		written, err := client.BatchWriteItem(ctx, &dynamodb.BatchWriteItemInput{
			RequestItems: map[string][]types.WriteRequest{"orders": writes}, ReturnConsumedCapacity: counted,
		})
		fail(err)
		s.charge(heat.Write, written.ConsumedCapacity...)
		done, err := client.TransactWriteItems(ctx, &dynamodb.TransactWriteItemsInput{TransactItems: actions, ReturnConsumedCapacity: counted})
		fail(err)
		s.charge(heat.Write, done.ConsumedCapacity...)
		time.Sleep(10 * time.Millisecond)
	}
}

// withoutControl returns a report without what control items took.
func withoutControl(report heat.Report) string {
	var kept []heat.ResourceReport
	for _, r := range report.Resources {
		r.Reads.Control, r.Writes.Control = heat.Control{}, heat.Control{}
		r.Capacity = nil // DynamoDB's own figures, of all items
		if r.Stored != nil {
			stored := *r.Stored
			stored.Control = heat.StoredControl{}
			r.Stored = &stored
		}
		if r.Reads.Requests+r.Writes.Requests > 0 || r.Stored != nil {
			kept = append(kept, r)
		}
	}
	report.Resources = kept
	if report.Source == heat.Scan || report.Source == heat.Export { // when it was read
		report.From, report.To = time.Time{}, time.Time{}
	}
	var indented bytes.Buffer
	encoder := json.NewEncoder(&indented)
	encoder.SetIndent("", " ")
	_ = encoder.Encode(report)
	return indented.String()
}

// firstDifference returns where two texts of lines begin to differ.
func firstDifference(a, b string) string {
	linesA, linesB := strings.Split(a, "\n"), strings.Split(b, "\n")
	for i := range linesA {
		if i >= len(linesB) || linesA[i] != linesB[i] {
			return fmt.Sprintf("line %d:\n%s\n%s", i, strings.Join(linesA[max(0, i-5):i+1], "\n"), linesB[min(i, len(linesB)-1)])
		}
	}
	return ""
}

// The same workload, once with the control items of an adaptive collection and once without, makes the same report of every
// source, apart from what is said to be of control items. Both together are what the engine charged for.
func TestControlItemsAreCountedApart(t *testing.T) {
	type reports struct{ live, stream, scan, export heat.Report }
	look := func(control, indexed bool) (r reports) {
		bubble.Test(t, func(t *testing.T) {
			db := local.Start(t)
			createAdaptive(t, db.Client(), indexed)
			s := &shop{t: t, control: control, indexed: indexed, recorder: newRecorder(t, heat.Options{}), charged: make(map[string]float64)}
			s.client = db.Client(s.recorder.Option)
			s.run()
			r.live = s.recorder.Report()
			for i := range r.live.Resources {
				resource := &r.live.Resources[i]
				for _, d := range [...]heat.Direction{heat.Read, heat.Write} {
					f := resource.Flow(d)
					want := s.charged[fmt.Sprintf("%s %s", resource.Resource, d)]
					if got := f.Units + f.Control.Units; math.Abs(got-want) > 1e-6 {
						t.Errorf("control %v: %s %ss: %v units and %v of control items, the engine charged %v", control, resource, d, f.Units, f.Control.Units, want)
					}
				}
			}
			r.stream, r.scan = readStream(t, db), readScan(t, db)
			r.export = readExport(t, exported(t, db))
		})
		return r
	}
	compare := func(plain, mixed reports) {
		for name, pair := range map[string][2]heat.Report{
			"live": {plain.live, mixed.live}, "stream": {plain.stream, mixed.stream}, "scan": {plain.scan, mixed.scan}, "export": {plain.export, mixed.export},
		} {
			if diff := firstDifference(withoutControl(pair[0]), withoutControl(pair[1])); diff != "" {
				t.Errorf("%s: control items show up: %s", name, diff)
			}
			if a, b := kinds(heat.Explain(pair[0], heat.Rules{})), kinds(heat.Explain(pair[1], heat.Rules{})); a != b {
				t.Errorf("%s: findings %q without control items, %q with them", name, a, b)
			}
		}
	}
	compare(look(false, false), look(true, false))
	plain, mixed := look(false, true), look(true, true)
	compare(plain, mixed)
	for _, name := range []string{"orders", "orders/inverted", "orders/keys"} {
		live := resource(t, mixed.live, name)
		if live.Reads.Control.Units == 0 || live.Writes.Control.Units == 0 || live.Writes.Control.Requests == 0 {
			t.Errorf("%s: control items took %+v and %+v", name, live.Reads.Control, live.Writes.Control)
		}
		if stored := resource(t, mixed.scan, name).Stored.Control; stored.Items == 0 || stored.Bytes == 0 {
			t.Errorf("%s: %+v control items are stored", name, stored)
		}
		if streamed := resource(t, mixed.stream, name).Writes.Control; streamed.Units == 0 {
			t.Errorf("%s: the stream has %+v of control items", name, streamed)
		}
	}
	if got, want := resource(t, mixed.export, "orders").Stored.Control, resource(t, mixed.scan, "orders").Stored.Control; got.Items != want.Items {
		t.Errorf("the export has %d control items, the scan %d", got.Items, want.Items)
	}
	for _, name := range []string{"orders/byStatus", "orders/byOwner"} { // control items have no status
		if c := resource(t, mixed.live, name).Writes.Control; c != (heat.Control{}) {
			t.Errorf("%s: %+v", name, c)
		}
	}
}

// exported returns all items of the orders as the lines of an export.
func exported(t *testing.T, db *local.DB) *bytes.Buffer {
	t.Helper()
	out, err := db.Client().Scan(t.Context(), &dynamodb.ScanInput{TableName: aws.String("orders")})
	if err != nil {
		t.Fatal(err)
	}
	if out.LastEvaluatedKey != nil {
		t.Fatal("the table is larger than a page")
	}
	var lines bytes.Buffer
	for _, item := range out.Items {
		fields := make(map[string]map[string]string)
		for name, value := range item {
			switch value := value.(type) {
			case *types.AttributeValueMemberS:
				fields[name] = map[string]string{"S": value.Value}
			case *types.AttributeValueMemberN:
				fields[name] = map[string]string{"N": value.Value}
			}
		}
		line, err := json.Marshal(map[string]any{"Item": fields})
		if err != nil {
			t.Fatal(err)
		}
		lines.Write(append(line, '\n'))
	}
	return &lines
}

// A table that has control items and nothing else, and calls that fail or are throttled, make no key either.
func TestControlItemsOfATableOfTheirOwn(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		db := start(t, &local.Physics{PartitionWrites: 10, Window: time.Second})
		if _, err := db.Client().CreateTable(t.Context(), &dynamodb.CreateTableInput{
			TableName: aws.String("control"), BillingMode: types.BillingModePayPerRequest,
			AttributeDefinitions: []types.AttributeDefinition{{AttributeName: aws.String("id"), AttributeType: types.ScalarAttributeTypeS}},
			KeySchema:            []types.KeySchemaElement{{AttributeName: aws.String("id"), KeyType: types.KeyTypeHash}},
		}); err != nil {
			t.Fatal(err)
		}
		recorder := newRecorder(t, heat.Options{})
		client := db.Client(recorder.Option, func(o *dynamodb.Options) { o.Retryer = aws.NopRetryer{} })
		throttled, failed := int64(0), int64(0)
		for i := range 100 {
			id := layout.ControlKey{Role: layout.RoleHeat, Collection: "views", Bucket: "2024-12-02", Key: "PAGE#viral"}
			_, err := client.UpdateItem(t.Context(), &dynamodb.UpdateItemInput{
				TableName: aws.String("control"), Key: item{"id": text(id.String())}, UpdateExpression: aws.String("ADD #w :w"),
				ExpressionAttributeNames: map[string]string{"#w": "_hs_w"}, ExpressionAttributeValues: item{":w": number(i)},
			})
			if err != nil {
				throttled++
			}
			if _, err := client.GetItem(t.Context(), &dynamodb.GetItemInput{
				TableName: aws.String("control"), Key: item{"id": text(id.String())}, ProjectionExpression: aws.String("a["),
			}); err != nil {
				failed++
			}
		}
		report := recorder.Report()
		r := resource(t, report, "control")
		if throttled == 0 || r.Writes.Control.Throttled != throttled || r.Writes.Control.Requests != 100 || r.Writes.Control.Units != float64(100-throttled) {
			t.Errorf("%d of 100 writes were throttled: %+v", throttled, r.Writes.Control)
		}
		if failed != 100 || r.Reads.Control.Errors != failed {
			t.Errorf("%d of 100 reads failed: %+v", failed, r.Reads.Control)
		}
		for _, f := range []heat.Flow{r.Reads, r.Writes} {
			f.Control = heat.Control{}
			if f.Requests != 0 || f.Throttled != 0 || f.Errors != 0 || f.Units != 0 || len(f.Keys) != 0 || f.Distinct.Keys != 0 || len(f.Throttles) != 0 || f.Latency != (heat.Latency{}) || f.Peak != 0 {
				t.Errorf("control items show up: %+v", f)
			}
		}
		if len(r.Patterns) != 0 || len(heat.Explain(report, heat.Rules{})) != 0 {
			t.Errorf("patterns %+v, findings %+v", r.Patterns, heat.Explain(report, heat.Rules{}))
		}
	})
}

// What a server saw of control items is counted apart as well, in its table and in indexes by the table's keys. The same
// text elsewhere is data.
func TestObserveControlItems(t *testing.T) {
	recorder := newRecorder(t, heat.Options{})
	id := layout.ControlKey{Role: layout.RoleCharter, Collection: "orders"}.String()
	see := func(index string, names, values, sort []string, throttled bool) {
		recorder.Observe(heat.Observation{
			Resource: heat.Resource{Table: "orders", Index: index}, Direction: heat.Write, KeyNames: names, Key: values, Sort: sort, Units: 2, Throttled: throttled,
		})
	}
	see("", []string{"pk"}, []string{id}, []string{"-"}, false)
	see("", []string{"pk"}, []string{id}, []string{"-"}, true)
	see("", []string{"pk"}, []string{"data"}, []string{id}, false) // a sort key may be anything
	see("inverted", []string{"sk"}, []string{"-"}, []string{id}, false)
	see("byOwner", []string{"owner", "pk"}, []string{"me", id}, nil, false)
	see("byText", []string{"text"}, []string{id}, nil, false) // an attribute may be anything, too
	report := recorder.Report()
	for name, want := range map[string]struct {
		control heat.Control
		keys    []string
	}{
		"orders":          {heat.Control{Units: 2, Requests: 2, Throttled: 1}, []string{"data"}},
		"orders/inverted": {heat.Control{Units: 2, Requests: 1}, nil},
		"orders/byOwner":  {heat.Control{Units: 2, Requests: 1}, nil},
		"orders/byText":   {heat.Control{}, []string{id}},
	} {
		if w := resource(t, report, name).Writes; w.Control != want.control || !slices.Equal(topKeys(w, 5), want.keys) {
			t.Errorf("%s: got %+v and the keys %q, want %+v and %q", name, w.Control, topKeys(w, 5), want.control, want.keys)
		}
	}
}

// The stamp that items of adaptive collections have changes nothing but their size.
func TestStampsAreNoKeys(t *testing.T) {
	look := func(stamp bool) (heat.Report, heat.Report) {
		db := local.Start(t)
		createWithStream(t, db.Client(), "orders")
		for i := range 300 {
			order := with(key(fmt.Sprint("CUSTOMER#", i%9), fmt.Sprint(i)), item{"status": text("OPEN")})
			if stamp {
				order["_hs_g"] = number(1 + i%2)
			}
			if _, err := db.Client().PutItem(t.Context(), &dynamodb.PutItemInput{TableName: aws.String("orders"), Item: order}); err != nil {
				t.Fatal(err)
			}
		}
		return readScan(t, db), readStream(t, db)
	}
	scan, stream := look(false)
	stamped, stampedStream := look(true)
	for _, pair := range [][2]heat.Report{{scan, stamped}, {stream, stampedStream}} {
		if a, b := kinds(heat.Explain(pair[0], heat.Rules{})), kinds(heat.Explain(pair[1], heat.Rules{})); a != b || a == "" {
			t.Errorf("findings %q without stamps, %q with them", a, b)
		}
		if written, err := json.Marshal(pair[1]); err != nil || strings.Contains(string(written), "_hs_g") {
			t.Errorf("the report names the stamp: %s, %v", written, err)
		}
		if written, err := json.Marshal(heat.Explain(pair[1], heat.Rules{})); err != nil || strings.Contains(string(written), "_hs_g") {
			t.Errorf("the findings name the stamp: %s, %v", written, err)
		}
	}
}

// createIndexed creates a table by id, without a sort key, and an index by one attribute.
func createIndexed(t *testing.T, client *dynamodb.Client, table, index, attribute string) {
	t.Helper()
	in := &dynamodb.CreateTableInput{
		TableName: aws.String(table), BillingMode: types.BillingModePayPerRequest, KeySchema: schema("id"),
		AttributeDefinitions: []types.AttributeDefinition{{AttributeName: aws.String("id"), AttributeType: types.ScalarAttributeTypeS}},
		GlobalSecondaryIndexes: []types.GlobalSecondaryIndex{{
			IndexName: aws.String(index), KeySchema: schema(attribute), Projection: &types.Projection{ProjectionType: types.ProjectionTypeAll},
		}},
	}
	if attribute != "id" {
		in.AttributeDefinitions = append(in.AttributeDefinitions, types.AttributeDefinition{
			AttributeName: aws.String(attribute), AttributeType: types.ScalarAttributeTypeS,
		})
	}
	if _, err := client.CreateTable(t.Context(), in); err != nil {
		t.Fatal(err)
	}
}

// An index that only the answer or the refusal of a call names has nothing of control items but what is said to be theirs.
func TestControlItemsInAnUnknownIndex(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		db, err := local.New(local.Options{Physics: &local.Physics{PartitionWrites: 10, Window: time.Second, OnDemandPartitions: 64, NoSplits: true}})
		if err != nil {
			t.Fatal(err)
		}
		defer db.Close()
		createIndexed(t, db.Client(), "control", "byWidth", "_hs_w")
		recorder, late := newRecorder(t, heat.Options{NoDescribe: true}), newRecorder(t, heat.Options{NoDescribe: true})
		for i := range 100 {
			by := recorder
			if i == 99 {
				by = late // its first call is refused
			}
			client := db.Client(by.Option, func(o *dynamodb.Options) { o.Retryer = aws.NopRetryer{} })
			_, _ = client.UpdateItem(t.Context(), &dynamodb.UpdateItemInput{
				TableName: aws.String("control"), Key: item{"id": ledgerOf(fmt.Sprint(i))["pk"]}, UpdateExpression: aws.String("SET #w = :w"),
				ExpressionAttributeNames: map[string]string{"#w": "_hs_w"}, ExpressionAttributeValues: item{":w": text("4")},
			})
		}
		for _, name := range []string{"control", "control/byWidth"} {
			w := resource(t, recorder.Report(), name).Writes
			if w.Units != 0 || w.Requests != 0 || w.Throttled != 0 || w.Control.Units == 0 {
				t.Errorf("%s: got %+v", name, w)
			}
		}
		if c := resource(t, recorder.Report(), "control/byWidth").Writes.Control; c.Throttled < 50 {
			t.Errorf("the index has throttled %d writes", c.Throttled)
		}
		if w := resource(t, late.Report(), "control/byWidth").Writes; w.Throttled != 0 || w.Control.Throttled != 1 {
			t.Errorf("got %+v", w)
		}
	})
}

// A control item that an answer shows to have moved within an index, or to have left it, is counted apart at both places.
func TestControlItemsThatMoveInAnIndex(t *testing.T) {
	db := local.Start(t)
	createIndexed(t, db.Client(), "control", "byWidth", "_hs_w")
	recorder := newRecorder(t, heat.Options{})
	client := db.Client(recorder.Option)
	for _, width := range []string{"4", "8", "16", "", "4"} {
		ledger := item{"id": ledgerOf("a")["pk"]}
		if width != "" {
			ledger["_hs_w"] = text(width)
		}
		if _, err := client.PutItem(t.Context(), &dynamodb.PutItemInput{TableName: aws.String("control"), Item: ledger, ReturnValues: types.ReturnValueAllOld}); err != nil {
			t.Fatal(err)
		}
	}
	w := resource(t, recorder.Report(), "control/byWidth").Writes
	if w.Units != 0 || w.Requests != 0 || len(w.Keys) != 0 || w.Control.Units != 7 || w.Control.Requests != 5 {
		t.Errorf("got %+v, want 7 units: two for each of two moves", w)
	}
	scan, err := heat.ScanTable(t.Context(), client, "control", heat.ScanOptions{})
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"control", "control/byWidth"} { // an index with nothing else in it is there all the same
		if s := resource(t, scan, name).Stored; s.Control.Items != 1 || s.Items != 0 || s.Distinct.Keys != 0 || len(s.Keys) != 0 {
			t.Errorf("%s: got %+v", name, s)
		}
	}
}

// A batch in which a control item comes first has the time that it took, and the data has all that an index took which no
// control item can be in.
func TestControlItemsFirstInABatch(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		db := local.Start(t)
		createAdaptive(t, db.Client(), true)
		recorder := newRecorder(t, heat.Options{})
		client := db.Client(recorder.Option)
		if _, err := client.BatchWriteItem(t.Context(), &dynamodb.BatchWriteItemInput{RequestItems: map[string][]types.WriteRequest{"orders": {
			{DeleteRequest: &types.DeleteRequest{Key: ledgerOf("a")}},
			{PutRequest: &types.PutRequest{Item: with(key("a", "1"), item{"status": text("OPEN")})}},
		}}}); err != nil {
			t.Fatal(err)
		}
		report := recorder.Report()
		if w := resource(t, report, "orders").Writes; w.Latency == (heat.Latency{}) || w.Requests != 1 || w.Control.Requests != 1 {
			t.Errorf("got %+v", w)
		}
		if w := resource(t, report, "orders/byStatus").Writes; w.Units != 1 || w.Keys[0].Key != "OPEN" || w.Control != (heat.Control{}) {
			t.Errorf("got %+v", w)
		}
	})
}

// Control items of tables beyond the most that are counted are among the requests that are not.
func TestControlItemsOfTooManyTables(t *testing.T) {
	recorder := newRecorder(t, heat.Options{Entries: 8})
	for i := range 1001 {
		recorder.Observe(heat.Observation{
			Resource: heat.Resource{Table: fmt.Sprint("table-", i)}, KeyNames: []string{"pk"}, Key: []string{layout.ControlPrefix + "C#a"}, Units: 1,
		})
	}
	if notes := recorder.Report().Notes; len(notes) != 1 || !strings.Contains(notes[0], "the most possible: 1 requests of others are not") {
		t.Errorf("got %q", notes)
	}
}
