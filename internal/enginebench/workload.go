package main

import (
	"context"
	"fmt"
	"strings"
	"time"
)

// batchSize is the most items a BatchWriteItem may carry.
const batchSize = 25

// A workload is one kind of request, repeated over many items.
type workload struct {
	name  string
	op    string
	body  string
	want  string // what the body of every good answer contains
	items int    // how many items of its own each request writes; 0: it visits stored items
	cycle int    // after how many of those it starts over; 0: never
}

// index is the number of the first item that request n is about.
func (w workload) index(n, stored int) int {
	switch {
	case w.cycle > 0:
		return n * w.items % w.cycle
	case w.items > 0:
		return n * w.items
	}
	// A stride that shares no factor with any round number of items visits all of them before one twice.
	return n * 7919 % stored
}

// cycle keeps a fast engine's table about as large as a slow one's. Otherwise it would pay, in the workloads that
// follow, for having written more in those before.
const cycle = 50_000

// Each kind of write has a family of partition keys to itself, so that loading, puts and batch writes never meet.
var (
	put = workload{
		name: "put", op: "PutItem", want: `{`, items: 1, cycle: cycle,
		body: `{"TableName":"bench","Item":` + item("put") + `}`,
	}
	get = workload{
		name: "get", op: "GetItem", want: `"Item":{`,
		body: `{"TableName":"bench","Key":{` + key("load") + `}}`,
	}
	update = workload{
		name: "update", op: "UpdateItem", want: `{`,
		body: `{"TableName":"bench","Key":{` + key("load") + `},` +
			`"UpdateExpression":"SET #s = :s, amount = :a ADD hits :one","ExpressionAttributeNames":{"#s":"status"},` +
			`"ExpressionAttributeValues":{":s":{"S":"PAUSED"},":a":{"N":"1499.50"},":one":{"N":"1"}}}`,
	}
	query = workload{
		name: "query", op: "Query", want: fmt.Sprintf(`"Count":%d`, collectionSize),
		body: `{"TableName":"bench","KeyConditionExpression":"pk = :pk",` +
			`"ExpressionAttributeValues":{":pk":{"S":"load-` + partitionSlot + `"}}}`,
	}
	batch   = batchOf("batch", cycle)
	loading = batchOf("load", 0)
	// replace is a put that leaves the table at the size it is measured at.
	replace = workload{
		name: "put", op: "PutItem", want: `{`,
		body: `{"TableName":"bench","Item":` + item("load") + `}`,
	}
)

// The workloads of the two modes.
var (
	compared = []workload{put, get, update, query, batch}
	grown    = []workload{replace, get, query}
)

func names(workloads []workload) []string {
	var all []string
	for _, w := range workloads {
		all = append(all, w.name)
	}
	return all
}

func batchOf(family string, cycle int) workload {
	put := `{"PutRequest":{"Item":` + item(family) + `}}`
	return workload{
		name: "batch", op: "BatchWriteItem", want: `"UnprocessedItems":{}`, items: batchSize, cycle: cycle,
		body: `{"RequestItems":{"bench":[` + strings.Repeat(put+",", batchSize-1) + put + `]}}`,
	}
}

func key(family string) string {
	return `"pk":{"S":"` + family + `-` + partitionSlot + `"},"sk":{"S":"event-` + sortSlot + `"}`
}

// item is about 200 bytes as DynamoDB counts them.
func item(family string) string {
	return `{` + key(family) + `,"name":{"S":"Ada Lovelace"},"status":{"S":"ACTIVE"},"amount":{"N":"1299.95"},` +
		`"hits":{"N":"1"},"active":{"BOOL":true},"note":{"S":"The engine might compose elaborate and scientific ` +
		`pieces of music of any degree of complexity or extent, she wrote."}}`
}

const tableBody = `{"TableName":"bench","BillingMode":"PAY_PER_REQUEST",` +
	`"AttributeDefinitions":[{"AttributeName":"pk","AttributeType":"S"},{"AttributeName":"sk","AttributeType":"S"}],` +
	`"KeySchema":[{"AttributeName":"pk","KeyType":"HASH"},{"AttributeName":"sk","KeyType":"RANGE"}]}`

// createTable creates the table that all workloads use and waits until it is active.
func createTable(ctx context.Context, addr string) error {
	ctx, cancel := context.WithTimeout(ctx, 30*time.Second)
	defer cancel()
	if err := call(ctx, addr, "CreateTable", tableBody, `{`); err != nil {
		return err
	}
	for {
		err := call(ctx, addr, "DescribeTable", `{"TableName":"bench"}`, `"TableStatus":"ACTIVE"`)
		if err == nil {
			return nil
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("table is not active: %w", err)
		case <-time.After(50 * time.Millisecond):
		}
	}
}
