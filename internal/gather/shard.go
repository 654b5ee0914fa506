package gather

import "context"

// Entry is one element of a shard.
type Entry[V any] struct {
	Sort  string // the sort value, compared byte by byte
	Size  int    // approximate memory, in bytes
	Value V
}

// Shard is a shard from some point on, in the direction of the read. From and Behind may also go back to an earlier
// point. A Shard does not change. Several goroutines may fetch it at once, as a hedged request does.
type Shard[V any] interface {
	// Fetch reads at most n entries and returns those that pass the filter as a page, in the order of the read.
	Fetch(ctx context.Context, n int) (Page[V], error)

	// From returns the shard from an entry's sort value on, including all entries with that value.
	From(e Entry[V]) Shard[V]

	// Behind returns the shard after an entry.
	Behind(e Entry[V]) Shard[V]
}

// Page is the result of a fetch.
type Page[V any] struct {
	Entries []Entry[V] // empty if the filter dropped all
	Size    int        // the total size of these entries, in bytes
	Scanned int        // the number of entries read, before the filter
	Next    Shard[V]   // the rest of the shard; nil at its end

	// Dropped is the number of entries that the reader will drop, as far as the fetch can tell. It is for History: they count as
	// entries that the filter has dropped.
	Dropped int

	// Weight is the memory of all entries that were read, before the filter. Leave it zero if they do not represent other
	// reads.
	Weight Weight
}

// Weight is the memory of a page, in bytes. It is the one measure from which History estimates the size of entries.
type Weight struct {
	Entries int // the number of entries
	Bytes   int // as the store counts and limits them
	Extra   int // overhead in memory
	Largest int // bytes and overhead of the largest entry
}

// Source is one shard of a read.
type Source[V any] struct {
	// Name names the shard in errors.
	Name string

	// Ordinal orders entries with the same sort value. It is unique among the shards that are merged.
	Ordinal int

	// Shard is what to read, or nil if nothing is left.
	Shard Shard[V]

	// Skips is the number of entries that a page may lack because they were returned before. Requests ask for that many
	// more.
	Skips int

	// Among is the number of shards, with this one, over which the entries of the read are spread by themselves. It is for a merge of
	// several such groups, each of which may hold everything: the first request is as large as if the group were alone. Zero
	// means that entries are spread over all shards of the merge.
	Among int

	// Last is the sort value of the entry that was returned before the first entry of Shard, or nil. If several entries
	// may have this value, Shard.From cannot go back to it.
	Last *string
}
