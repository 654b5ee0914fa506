// Package keys builds and parses the keys of a single-table design: composite, entity, hierarchical, adjacency and
// time-series keys, index keys, and the values of multi-attribute keys.
//
// The functions do no I/O. What one function builds, its counterpart parses into the same parts. A part that could not
// be parsed back is refused with an error that wraps [ErrPart] and names the part. The keys are ordinary strings, so a
// heatsink layout can spread them; the shard suffix comes after them.
//
// A key that a layout spreads must not end like a suffix of its format. With the default format, that happens only if a
// part contains such a suffix.
package keys
