// Package place says where a collection's items are stored: under which keys of the table an item may be, to which of
// them a write goes, and what a stored key says. It sends nothing.
//
// Its words, each for one thing:
//
//   - a Key is a logical key in one bucket, and how many shards it has there;
//   - a Home is one shard of a key: an item that may be in several shards has several homes;
//   - a Placement is the decision to which home a write goes;
//   - a layout.Place is what a stored key says: logical key, bucket and shard.
//
// Schema answers what follows from the item alone. Placer adds a Chooser, which draws the shard where any will do.
package place
