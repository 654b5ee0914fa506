// Package session keeps the sessions of a web application in DynamoDB.
//
// A Store creates sessions, finds them by their id with one request, prolongs those that are used, changes their data
// without losing anybody's change, lists and counts the living ones, and ends them: one by one, or all of a user.
//
//	sessions, err := session.Open[Cart](client, session.Options{Table: "sessions"})
//	…
//	s, err := sessions.Create(ctx, "ann", Cart{})     // at login; s.ID goes into the cookie
//	s, err = sessions.Visit(ctx, cookie)              // with every page: read, and prolonged when it is time to
//	s, err = sessions.Change(ctx, cookie, func(c *Cart) error { c.Items++; return nil })
//	err = sessions.Revoke(ctx, cookie)                // at logout
//	n, err := sessions.Count(ctx)                     // the living, never the dead
//
// # How it is stored
//
// An item for each session, by a hash of its id: ids are random, so nothing is hot, and finding one is one GetItem.
// Two indexes list it: one by 25 shards of a common key, the other by user. Both are sorted by expiry, so that
// "living" is a condition on the key, and the dead, which DynamoDB deletes hours or days late, are neither returned
// nor paid for.
//
// The id itself is not stored. Who gets hold of the table, a backup or an export cannot use the sessions in it. What
// the table has, the SHA-256 of the id, is the session's Handle: it can be shown, logged, and passed to RevokeHandle.
//
// # What it costs
//
// For sessions of up to 1 KB, in DynamoDB's units: Get 1 read unit, or half of one with Eventual; Create 3 write
// units, a touch 5, as it moves the item in both indexes, Update 3, Revoke 3; Count and List half a read unit for
// each of the shards at least, and for every 4 KB of sessions that are listed. So a session that is used is touched
// once in a tenth of its idle time, and not with every page. The indexes have copies of the data, so larger sessions
// cost more three times over.
//
// # What it promises
//
// A session is gone the moment it expires or its Revoke returns: for Get, Visit and Change, and for every write.
// Nothing brings it back: no touch or update that was under way, no request that arrives twice or late. (A touch that
// was sent in time and arrives after the session has expired prolongs it as of when it was sent.) Lists and counts
// come from indexes, which show a change a moment later. What RevokeUser promises is said there.
//
// Time is that of the caller's clock, in whole seconds, rounded up: the clocks of an application's processes should
// agree better than its sessions are long.
package session
