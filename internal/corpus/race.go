//go:build race

package corpus

// every says which cases there are: a case has one goroutine, so that the race detector finds nothing in the others, and makes them slow.
const every = 4
