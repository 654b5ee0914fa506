// Package keys builds the keys of a single-table design, and takes them apart again: composite, entity, hierarchical,
// adjacency and time-series keys, index keys and the values of multi-attribute keys.
//
// All of it is text and arithmetic. What one function builds its counterpart parses to the same parts, and a part that
// would not come back is refused with an error that wraps [ErrPart] and names it. The keys are ordinary strings, so they
// go into a heatsink layout like any other: the shard suffix comes after them.
//
// A key that a layout spreads must not end like a suffix of its format; with the default format none of the keys built
// here does, unless a part of it says so.
package keys
