// Package version keeps versions in items. A late write then changes nothing, and a write whose response was lost can be
// recognized. The package changes requests and interprets their responses; it sends nothing.
//
// A version is a text that grows with every write of an item. It has 13 digits for the time of the write in nanoseconds
// and 13 random digits, in base 32 with digits in byte order. Each write has its own version. Its condition is that the
// item has no version or a smaller one. A late attempt, after a newer write, therefore changes nothing. A writer that
// finds its own version in the item has succeeded, even if the response was lost.
//
// A delete would remove the version with the item, and a late attempt would bring the item back. A delete therefore
// leaves a tombstone: the key, a version that ends in a mark, and a time to live.
package version
