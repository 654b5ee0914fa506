// Package sketch counts what is too much to count: the heaviest of any number of keys, and how many different ones there
// were, in memory that is fixed beforehand. Every answer has an error that is known.
//
// Nothing here locks, reads a clock or allocates once it is made: the caller does the first, and says what time it is.
package sketch
