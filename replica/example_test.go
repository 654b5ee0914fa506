package replica_test

import (
	"context"
	"errors"
	"fmt"
	"log"

	"github.com/heatsink-go/heatsink/local"
	"github.com/heatsink-go/heatsink/replica"
)

// Flags is a small collection that every request of an application reads: it is one item.
type Flags map[string]bool

// flags returns a store on an engine inside the process.
func flags(ctx context.Context) (*replica.Store[Flags], *local.DB) {
	db, err := local.New(local.Options{}) // or the client of your own account
	if err != nil {
		log.Fatal(err)
	}
	options := replica.Options{Table: "flags", Copies: 5}
	if err := replica.Setup(ctx, db.Client(), options); err != nil {
		log.Fatal(err)
	}
	store, err := replica.Open[Flags](db.Client(), options)
	if err != nil {
		log.Fatal(err)
	}
	return store, db
}

// Feature flags that every request reads, and that somebody changes now and then.
func Example() {
	ctx := context.Background()
	store, db := flags(ctx)
	defer db.Close()

	if _, err := store.Put(ctx, "production", Flags{"search": true}); err != nil {
		log.Fatal(err)
	}
	changed, err := store.Change(ctx, "production", func(f *Flags) error { (*f)["checkout"] = true; return nil })
	if err != nil {
		log.Fatal(err)
	}

	// Any reader, from any copy: at most a minute old.
	item, err := store.Get(ctx, "production")
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(item.Data["search"], item.Data["checkout"])

	// Whoever changed it, in whatever process: never older than the change.
	item, err = store.Get(ctx, "production", replica.AtLeast(changed.Version))
	fmt.Println(item.Version == changed.Version, err)
	// Output:
	// true true
	// true <nil>
}

// Two writers on top of the same version: one of them is told.
func ExampleIfVersion() {
	ctx := context.Background()
	store, db := flags(ctx)
	defer db.Close()

	first, err := store.Put(ctx, "production", Flags{}, replica.IfVersion(0)) // only if there is none
	if err != nil {
		log.Fatal(err)
	}
	_, err = store.Put(ctx, "production", Flags{"ann": true}, replica.IfVersion(first))
	fmt.Println(err)
	_, err = store.Put(ctx, "production", Flags{"bob": true}, replica.IfVersion(first))
	fmt.Println(errors.Is(err, replica.ErrConflict))
	// Output:
	// <nil>
	// true
}
