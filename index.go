package heatsink

import (
	"cmp"

	"github.com/heatsink-go/heatsink/layout"
)

// Index makes a collection one that a global secondary index lists. Its items are stored under the table's key, each by
// an id of its own. The index lists them under a hot key, such as a status, and that key is spread:
//
//	users, err := heatsink.Open[User](client, heatsink.Options{
//		Table: "users", PartitionKey: "id",
//		Index:  heatsink.Index{Name: "byStatus", PartitionKey: "status", SortKey: "seen"},
//		Layout: layout.Layout{Shards: 10, Strategy: layout.Calculated},
//	})
//
// Put and Update write the index's key along with the item: the status ACTIVE is stored as ACTIVE#SHARD_0 to ACTIVE#SHARD_9.
// Get, Update and Delete go to the table, one request for each item. Query and what builds on it read the index: the
// users of a status, by when they were seen. An item without the index's partition key is in the table, and not in the list.
//
// A condition sees the index's partition key as it is stored, as ACTIVE#SHARD_7. Conditions on the status need an attribute of
// their own that holds the status alone, as in examples/shop.
//
// The layout must be Calculated, so that every write of an item finds the shard that lists it. By default the shard is
// calculated from the table's key: see Options.ShardBy.
type Index struct {
	// Name is the index's name. Empty: the collection has no index, and the table's own partition key is spread.
	Name string

	// PartitionKey names the index's partition key, which is spread. It must be a string, and no part of the table's key.
	PartitionKey string

	// SortKey names the index's sort key, by which Query orders. It is empty if the index has none.
	SortKey string

	// ShardAttribute, if set, is a second HASH attribute of the index, a number: it takes the shard, and PartitionKey keeps
	// the logical key as it is. Such an index has neither buckets nor Older layouts.
	ShardAttribute string
}

// spread returns the partition key that is spread, the index's if there is one, and the field that names it.
func (o *Options) spread() (field, attribute string) {
	if o.Index.Name != "" {
		return "Index.PartitionKey", o.Index.PartitionKey
	}
	return "PartitionKey", o.PartitionKey
}

// checkIndex reports what is wrong with the Index.
func (o *Options) checkIndex(wrong func(format string, args ...any)) {
	index := &o.Index
	if *index == (Index{}) {
		return
	}
	if index.Name == "" {
		wrong("Index has attributes (%q), but its Name is empty: name the index, or leave Index out",
			cmp.Or(index.PartitionKey, index.SortKey, index.ShardAttribute))
		return
	}
	switch key := index.PartitionKey; key {
	case "":
		wrong("Index.PartitionKey is empty: name the partition key of index %s", index.Name)
	case index.SortKey:
		wrong("Index.PartitionKey and Index.SortKey are both %q: name the two key attributes of index %s", key, index.Name)
	case o.PartitionKey, o.SortKey:
		wrong("Index.PartitionKey %q is part of the table's key, which heatsink would have to change: "+
			"give index %s a partition key of its own", key, index.Name)
	}
	if index.ShardAttribute != "" {
		o.checkShardAttribute(wrong)
	}
	if (o.Layout.Shards > 0 || o.varies()) && o.Layout.Strategy != layout.Calculated {
		wrong("an Index needs a Calculated layout, so that every write of an item finds the shard it is in")
	}
}

// checkShardAttribute reports what is wrong with an Index that has a ShardAttribute.
func (o *Options) checkShardAttribute(wrong func(format string, args ...any)) {
	switch name := o.Index.ShardAttribute; name {
	case o.PartitionKey, o.SortKey, o.Index.PartitionKey, o.Index.SortKey:
		wrong("Index.ShardAttribute %q is another key attribute: name one that holds only the shard", name)
	}
	if len(o.Older) > 0 {
		wrong("Index.ShardAttribute is set, but Older layouts have none, so that they cannot be read through the same index: leave one of the two out")
	}
	if o.Layout.Bucket != layout.NoBucket {
		wrong("Index.ShardAttribute has no place for the bucket of a layout by %v: leave one of the two out", o.Layout.Bucket)
	}
}
