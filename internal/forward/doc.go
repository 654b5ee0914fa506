// Package forward is the protocol by which the items of a key move from their old homes to new ones while everybody reads and
// writes them by their ids. It sends nothing: its machines say which request comes next and take what became of it.
//
// An id has two homes, which are two partition keys with the same sort key. The item itself carries what others must know. A
// frozen item has moved on, with its content still there. A stub has moved on, without content. A dead item is known to be
// absent. Every write has the condition that its item has not moved on, and no read takes such an item as it stands. So a
// process that knows nothing of the move meets a mark, and reads the ledger.
//
//	old home:  absent | live | frozen | stub       new home:  absent | live | dead
//
// The new home decides if it has anything. If it has nothing, the content is that of the old home, live or frozen.
//
// A Move freezes an item, copies it and strips the old one, in three requests. Anybody may repeat any of them at any time.
// An Operation is one Get, Put, Update or Delete of an id, in the phase that its process knows. A phase begins with one
// conditional write of the ledger, and ends only when no request of the phase before can arrive any more. DynamoDB refuses
// requests whose signature is old, and processes sign none with a ledger that they read too long ago. So that takes about an
// hour, and no clock of a client is trusted.
//
// Machines are values. Package check runs them through all interleavings of a few processes, with lost answers, late
// duplicates and pauses, and compares every answer with what one item would have answered. It shows for each rule in Breaks
// that leaving it out gives a wrong answer.
package forward
