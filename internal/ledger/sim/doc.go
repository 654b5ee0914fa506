// Package sim runs the machines of package ledger on a simulated DynamoDB: several processes write, read and grow one key,
// in virtual time and one goroutine, from a seed.
//
// A request is sent, applied and answered in three events. A lost answer, a late or repeated application, and a pause or
// crash between any two of them are schedules like any other. Reads with eventual consistency see a state of up to
// MaxLag ago.
//
// Plan draws what happens from a seed. Run runs a plan and returns the first promise that was broken. Shrink drops whatever
// the failure does not need. Each action draws its delays and faults from a seed of its own, so that dropping one leaves
// the others as they were.
package sim
