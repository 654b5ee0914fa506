// Way does one Put and one Query in a binary that counts what it executes, and writes down the counts of each. It is
// built by internal/proof/structure, with go build -cover -covermode=atomic, in whatever checkout is measured.
//
//	way DIR    writes the counts into DIR/put and DIR/query
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime/coverage"
	"time"

	"github.com/heatsink-go/heatsink"
	"github.com/heatsink-go/heatsink/local"
)

const (
	shards = 8
	items  = 64 // so many that every shard has some: the run fails if one has none
)

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: way DIR")
		os.Exit(2)
	}
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	if err := run(ctx, os.Args[1]); err != nil {
		fmt.Fprintf(os.Stderr, "way: %v\n", err)
		os.Exit(1)
	}
}

// order is an item as a program has it.
type order struct {
	Customer string `dynamodbav:"pk"`
	ID       string `dynamodbav:"sk"`
}

func run(ctx context.Context, dir string) (err error) {
	db, err := local.New(local.Options{})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	if err := db.CreateTable(ctx, "orders", "pk", "sk"); err != nil {
		return err
	}

	// The layout's types are not named: which package has them is one of the things that differ between checkouts.
	var options heatsink.Options
	options.Table, options.PartitionKey, options.SortKey = "orders", "pk", "sk"
	options.Layout.Shards, options.Layout.Strategy = shards, 1
	if name := options.Layout.Strategy.String(); name != "calculated" {
		return fmt.Errorf("strategy 1 is %s, want calculated", name)
	}
	orders, err := heatsink.Open[order](db.Client(), options)
	if err != nil {
		return err
	}

	// The warm-up does what is done once only, such as asking what the table is.
	used := map[int]bool{}
	for i := range items {
		written, err := orders.Put(ctx, order{"ann", fmt.Sprintf("order-%02d", i)})
		if err != nil {
			return err
		}
		used[written.Shard] = true
	}
	if len(used) != shards {
		return fmt.Errorf("%d items are in %d shards, want %d", items, len(used), shards)
	}
	if err := list(ctx, orders); err != nil {
		return err
	}

	if err := count(filepath.Join(dir, "put"), func() error {
		// The key is new: what the library remembers of ann's must not shorten the way.
		_, err := orders.Put(ctx, order{"bob", "order-00"})
		return err
	}); err != nil {
		return err
	}
	return count(filepath.Join(dir, "query"), func() error { return list(ctx, orders) })
}

// list queries all items.
func list(ctx context.Context, orders *heatsink.Collection[order]) error {
	n := 0
	for _, err := range orders.Query(ctx, heatsink.Query{Key: "ann"}) {
		if err != nil {
			return err
		}
		n++
	}
	if n != items {
		return fmt.Errorf("query: got %d items, want %d", n, items)
	}
	return nil
}

// count writes into dir what f executes.
func count(dir string, f func() error) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	if err := coverage.ClearCounters(); err != nil {
		return err
	}
	if err := f(); err != nil {
		return err
	}
	if err := coverage.WriteCountersDir(dir); err != nil {
		return err
	}
	return coverage.WriteMetaDir(dir)
}
