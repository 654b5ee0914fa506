// Package charter is the layout of a collection as it is written down in its table, one item for each collection.
//
// Two processes that use different layouts for one collection miss each other's items, and neither can tell. So the first
// process stores its layout, the Charter, and every other one compares its own with it before it reads or writes: Compare
// says what differs and what to do.
//
// A charter also has the features that a process needs in order to use the collection. A process that does not know one of
// them refuses the charter with ErrNewer. In this way an old process that is still running does not spoil what a new one
// relies on.
//
// Nothing here sends a request or looks at a clock.
package charter
