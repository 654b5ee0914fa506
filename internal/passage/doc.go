// Package passage is the record of a movable collection: where its items are, where they move to, and how far that has come. All
// processes of the collection read it from one control item, and use what they have read within a lease.
package passage
