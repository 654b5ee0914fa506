// Package place determines where a collection's items are stored: the keys of the table under which an item may be, the
// key that a write uses, and the meaning of a stored key. It sends nothing.
//
// Its terms, each with one meaning:
//
//   - A Key is a logical key in one bucket, with its number of shards.
//   - A Home is one shard of a key. An item that may be in several shards has several homes.
//   - A Placement is the home that was chosen for a write.
//   - A layout.Place is a parsed stored key: logical key, bucket and shard.
//
// Schema answers what follows from the item alone. Placer adds a Chooser, which draws the shard where any shard can take
// the item.
package place
