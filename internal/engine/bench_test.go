package engine

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/heatsink-go/heatsink/internal/attr"
	"github.com/heatsink-go/heatsink/internal/partition"
)

// BenchmarkWrites is what each kind of write costs in the engine itself, in
// memory: of a plain table, with a TTL, with a stream and with physics.
func BenchmarkWrites(b *testing.B) {
	for _, table := range []string{"plain", "ttl", "stream", "recovery", "physics"} {
		for _, kind := range []string{"put", "update", "batch", "transact"} {
			b.Run(table+"/"+kind, func(b *testing.B) { benchWrites(b, table, kind) })
		}
	}
}

func benchWrites(b *testing.B, table, kind string) {
	var options Options
	if table == "physics" {
		huge := partition.Rate{Read: 1e9, Write: 1e9} // so that nothing is refused
		options.Physics = &partition.Options{Partition: huge, TableQuota: huge, AccountQuota: huge}
	}
	e, err := Open(options)
	if err != nil {
		b.Fatal(err)
	}
	defer e.Close()
	ctx, name := context.Background(), "tab"
	in := newTableInput(name, "pk:S")
	if table == "stream" {
		in.Stream = &StreamSpecification{Enabled: new(true), ViewType: new("KEYS_ONLY")}
	}
	if _, err := e.CreateTable(ctx, in); err != nil {
		b.Fatal(err)
	}
	if table == "ttl" {
		if _, err := e.UpdateTimeToLive(ctx, &UpdateTimeToLiveInput{TableName: &name, HasSpec: true, Enabled: new(true), AttributeName: new("ttl")}); err != nil {
			b.Fatal(err)
		}
	}
	if table == "recovery" {
		setRecovery(b, e, name, true)
	}
	var keys [64]string
	for i := range keys {
		keys[i] = fmt.Sprint("item ", i)
	}
	expires := time.Now().Unix() + 100_000
	b.ReportAllocs()
	for n := 0; b.Loop(); n++ {
		pk := keys[n%len(keys)]
		item := fields("pk", pk, "v", n, "ttl", expires+int64(n))
		key := fields("pk", pk)
		switch kind {
		case "put":
			_, err = e.PutItem(ctx, &PutItemInput{TableName: &name, Item: item, HasItem: true})
		case "update":
			_, err = e.UpdateItem(ctx, benchUpdate(&name, key, n))
		case "batch":
			_, err = e.BatchWriteItem(ctx, &BatchWriteItemInput{Tables: []BatchWriteTable{{
				TableName: name, Writes: []BatchWrite{{Put: true, Item: item}, {Delete: true, Key: fields("pk", "gone")}},
			}}})
		default:
			_, err = e.TransactWriteItems(ctx, transaction(benchUpdate(&name, key, n)))
		}
		if err != nil {
			b.Fatal(err)
		}
	}
}

func benchUpdate(table *string, key attr.Item, v int) *UpdateItemInput {
	return &UpdateItemInput{
		TableName: table, Key: key, HasKey: true,
		Expressions: Expressions{Update: new("SET v = :v"), Values: fields(":v", v), HasValues: true},
	}
}

// BenchmarkReads is what an eventually consistent read of an item costs in the
// engine itself, with a lag and without, which is to cost nothing.
func BenchmarkReads(b *testing.B) {
	for name, lag := range map[string]*Lag{"none": nil, "lag": {Max: time.Second}} {
		b.Run(name, func(b *testing.B) {
			e, err := Open(Options{Lag: lag})
			if err != nil {
				b.Fatal(err)
			}
			defer e.Close()
			ctx, table := context.Background(), "tab"
			if _, err := e.CreateTable(ctx, newTableInput(table, "pk:S")); err != nil {
				b.Fatal(err)
			}
			if _, err := e.PutItem(ctx, &PutItemInput{TableName: &table, Item: fields("pk", "a", "v", 1), HasItem: true}); err != nil {
				b.Fatal(err)
			}
			in := &GetItemInput{TableName: &table, Key: fields("pk", "a"), HasKey: true}
			b.ReportAllocs()
			for b.Loop() {
				if _, err := e.GetItem(ctx, in); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// BenchmarkStatements is what PartiQL costs, beside the operations that the
// statements are.
func BenchmarkStatements(b *testing.B) {
	e := openEngine(b, Options{})
	ctx, table := context.Background(), "tab"
	createTable(b, e, newTableInput(table, "pk:S"))
	if _, err := e.PutItem(ctx, &PutItemInput{TableName: &table, Item: fields("pk", "a", "v", 1), HasItem: true}); err != nil {
		b.Fatal(err)
	}
	for name, text := range map[string]string{
		"select": "SELECT v FROM tab WHERE pk = ?",
		"update": "UPDATE tab SET v = v + 1 WHERE pk = ?",
	} {
		b.Run(name, func(b *testing.B) {
			in := &StatementInput{Statement: &text, Parameters: []attr.Value{attr.String("a")}, HasParameters: true}
			b.ReportAllocs()
			for b.Loop() {
				if _, err := e.ExecuteStatement(ctx, in); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// BenchmarkBackfill is what an item costs that an index gets, in memory.
func BenchmarkBackfill(b *testing.B) {
	e, err := Open(Options{})
	if err != nil {
		b.Fatal(err)
	}
	defer e.Close()
	const items = 10_000
	ctx, name := context.Background(), "tab"
	if _, err := e.CreateTable(ctx, newTableInput(name, "pk:S")); err != nil {
		b.Fatal(err)
	}
	for i := range items {
		if _, err := e.PutItem(ctx, &PutItemInput{TableName: &name, Item: fields("pk", fmt.Sprint(i), "a", fmt.Sprint(i%100)), HasItem: true}); err != nil {
			b.Fatal(err)
		}
	}
	for b.Loop() {
		if _, err := e.UpdateTable(ctx, addInput(name, "idx", "a:S")); err != nil {
			b.Fatal(err)
		}
		for {
			d, err := e.DescribeTable(ctx, &TableInput{TableName: &name})
			if err != nil {
				b.Fatal(err)
			}
			if d.global("idx").Status == "ACTIVE" {
				break
			}
			time.Sleep(100 * time.Microsecond)
		}
		if _, err := e.UpdateTable(ctx, removeInput(name, "idx")); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/items, "ns/item")
}
