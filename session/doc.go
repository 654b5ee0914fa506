// Package session keeps the sessions of a web application in DynamoDB.
//
// A Store creates sessions, finds them by id with one request, and prolongs those that are used. It changes their data
// without losing concurrent changes. It lists and counts the live sessions, and ends them one by one or all of a user.
//
//	sessions, err := session.Open[Cart](client, session.Options{Table: "sessions"})
//	…
//	s, err := sessions.Create(ctx, "ann", Cart{})     // at login; s.ID goes into the cookie
//	s, err = sessions.Visit(ctx, cookie)              // with every page: reads the session, and prolongs it when needed
//	s, err = sessions.Change(ctx, cookie, func(c *Cart) error { c.Items++; return nil })
//	err = sessions.Revoke(ctx, cookie)                // at logout
//	n, err := sessions.Count(ctx)                     // live sessions only
//
// # How it is stored
//
// Each session is one item, whose key is a hash of the session's id. Ids are random, so no key is hot, and one GetItem
// finds a session. Two indexes list the sessions: one by 25 shards of a common key, the other by user. Both are sorted
// by expiry, so a key condition selects the live sessions. DynamoDB deletes expired sessions hours or days late, but a
// list neither returns nor pays for them.
//
// The id itself is not stored. A reader of the table, a backup or an export cannot use the sessions in it. The table
// holds the SHA-256 of the id, which is the session's Handle. A Handle can be shown, logged and passed to RevokeHandle.
//
// With Options.Adaptive, the list has one index key until its load needs more, and then grows within seconds, in all
// processes. Few sessions then cost one request to list instead of 25. A touch lists its session where the width then puts
// it, at no further cost. A list or count knows the width for up to Adaptive.Keep: until then it may miss sessions that
// another process has listed under a new key. It may also miss one that a touch moves to another key at that moment.
//
// # What it costs
//
// The costs are for sessions of up to 1 KB. Get costs 1 read unit, or half a unit with Eventual. Create costs 3 write
// units, Update 3 and Revoke 3. A touch costs 5, because it moves the item in both indexes. For that reason a session
// is touched only once in a tenth of its idle time, not with every page. Count and List cost at least half a read unit
// per shard, and half a unit for every 4 KB of listed sessions. The indexes hold copies of the data, so each further KB
// costs three times.
//
// # What it promises
//
// A session ends at the moment it expires or its Revoke returns, for Get, Visit and Change, and for every write. No
// running touch or update, and no repeated or late request, brings it back. (A touch that was sent in time but arrives
// after the expiry prolongs the session as of when it was sent.) Lists and counts use indexes, which are eventually
// consistent. RevokeUser documents its own guarantees.
//
// Time is the caller's clock, in whole seconds, rounded up. The clocks of an application's processes must differ by
// much less than the length of a session.
package session
