// Package shape learns which parts of keys vary, from the keys alone and in bounded memory.
//
// A key is cut at its separators into tokens. [Of] judges the tokens of one key by their looks. A [Tree] sees many keys and
// learns each position: a constant, one value of a small set such as a status, a label that says what follows, or an id.
//
//	THREAT#brand-abc-123, THREAT#brand-xyz-999, …    THREAT#{id}
//	STATUS#ACTIVE, STATUS#BANNED, STATUS#NEW         STATUS#{value}
//	OPS_LOG#2026-06-22                               OPS_LOG#{day}
//	user_8f3a, user_91bc, …                          user_{id}
package shape
