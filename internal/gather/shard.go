package gather

import "context"

// Entry is one element of a shard.
type Entry[V any] struct {
	Sort  string // orders entries, byte by byte
	Size  int    // about how much memory it takes, in bytes
	Value V
}

// Shard is a shard from some place on, in the direction of the read. It knows all of the shard, as From and Behind may go
// back. It does not change, and may be fetched by several goroutines at once: that is what a hedge does.
type Shard[V any] interface {
	// Fetch reads a page for which at most n entries are read. Entries are in the order of the read.
	Fetch(ctx context.Context, n int) (Page[V], error)

	// From returns the shard from an entry's sort value on, all entries with that value included.
	From(e Entry[V]) Shard[V]

	// Behind returns the shard behind an entry.
	Behind(e Entry[V]) Shard[V]
}

// Page is what a fetch brought.
type Page[V any] struct {
	Entries []Entry[V] // none if all were filtered out
	Size    int        // of these entries together, in bytes
	Scanned int        // how many entries were read for them
	Next    Shard[V]   // what follows; nil at the end of the shard

	// Weight is what all entries weighed that were read. Leave it out if they say nothing about those of other reads.
	Weight Weight
}

// Weight is how much memory the entries of a page take, in bytes.
type Weight struct {
	Entries int // how many
	Bytes   int // what the store counts, and limits
	Extra   int // what is added in memory
	Largest int // of one entry, both together
}

// Source is a shard that a read takes part of its entries from.
type Source[V any] struct {
	// Name is for errors.
	Name string

	// Ordinal orders entries that have the same sort value. It differs from those of all shards that it is merged with.
	Ordinal int

	// Shard is what to read, nil if nothing is left.
	Shard Shard[V]

	// Skips is how many entries a page may lack because they were returned before: pages are asked for as many more.
	Skips int

	// Last is the sort value of the entry that was returned before the first of Shard; nil if there is none. Shard.From
	// cannot go back to it, if several entries may have the same.
	Last *string
}
