// Package faulty is for tests: it makes requests to DynamoDB go wrong in the ways they do on a network.
//
// A [Fault] is one of these ways, such as a throttle or an answer that is lost after DynamoDB did what it was asked for.
// Which [Request] meets which fault is decided by a function, which may follow a [Script], be [Random] from a seeded
// source, or look at the request. [Faults] is such a decision as an option of a real client, on the real engine, and
// remembers every request:
//
//	client := faulty.On(t, db.Client(), faulty.Script(faulty.Throttled, faulty.LostAnswer))
//	// The first request through client is refused, the second is carried out and its answer lost; then all is well.
//	if n := client.Count("UpdateItem"); n != 3 { … }
//
// Faults happen to calls of the client, below the checks of their parameters and above the retries of the SDK: the SDK does
// not repeat what went wrong here, and a call is one request. Whoever wants to see the SDK's own retries puts the faults
// behind HTTP.
//
// Everything works in a testing/synctest bubble, where waits take virtual time, and nothing is left running: requests
// that arrive [Late] are waited for when the test ends.
package faulty
