// Package sim runs the machines of package ledger on a simulated DynamoDB: several processes write, read, grow and repair one
// key, in virtual time and one goroutine, from a seed. The key may have time buckets, each with a ledger of its own, and
// random or calculated shards. Reads go over several buckets and pages, and a page may be read by another process than the
// one before.
//
// A request is sent, applied and answered in three events. A lost answer, a late or repeated application, and a pause or
// crash between any two of them are schedules like any other. Reads with eventual consistency see a state of up to
// MaxLag ago. The clocks of a process run up to 5 % fast or slow. The wall clock is set by up to an hour. The monotonic clock
// may stand still while the process sleeps. Some processes do not understand the ledgers that others write.
//
// NewPlan draws what happens from a seed. Run runs a plan and returns the first promise that was broken. History returns what
// processes saw of the ledgers, for a checker that knows nothing of the rules. Shrink drops whatever
// the failure does not need. Each action draws its delays and faults from a seed of its own, so that dropping one leaves
// the others as they were.
package sim
