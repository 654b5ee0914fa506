// Package version keeps versions in items, so that a write that arrives late changes nothing and a write whose answer was
// lost can be recognised. It changes requests and judges their answers; it sends nothing.
//
// A version is a text that grows with every write of an item: 13 digits for the time of the write in nanoseconds and 13
// drawn at random, in base 32 with digits in the order of their bytes. Each write has a version of its own, and its
// condition is that the item has none or a smaller one. So an attempt that arrives late, behind a later write, changes
// nothing. A writer that finds its own version in the item has succeeded, whatever became of the answer.
//
// A delete would take the version away with the item, and a late attempt would bring the item back. So it leaves a
// tombstone: the key, a version with a mark at its end, and a time to live.
package version
