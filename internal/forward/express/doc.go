// Package express writes the requests of package forward as requests of DynamoDB, and reads their answers. It sends nothing.
//
// A home marks its item with attributes that the user never sees:
//
//	_hs_f  "z" frozen, "s" stub, "y1" and "y0" on the way back with and without content; "z" and "y1" may be padded
//	_hs_d  true: dead
//	_hs_m  the generation of the ledger by which the item was copied here
//
// A User is one request of the user. It is checked once, and may then be expressed for either home any number of times. Its condition
// gets the fence: (condition) AND attribute_not_exists(_hs_f). A dead item is absent to the user. So this package evaluates the
// condition without an item, and writes the result for dead items into the request. No second request is needed.
//
// # Kinds
//
// A condition is evaluated without an item only. DynamoDB evaluates it for items.
//
//	Put without condition                         Put; Upsert if it returns the old item, which must be copied first
//	Put or Update if attribute_not_exists(key)    Create
//	Put or Update, true without an item           Upsert: it may be true of an item, too
//	Put or Update, false without an item          Swap
//	Update without condition                      Upsert
//	Update that only removes                      Update without condition, Swap with one
//	Delete, with or without condition             Delete
//
// A Delete creates nothing, nor does an Update that only removes. DynamoDB answers with success if there is no item and the condition
// does not forbid that. The machines end with Refused. User.Refused tells such a success from a condition that failed.
//
// # What is refused
//
//   - The marks, also by an alias.
//   - The partition key in an update, and in a condition except in attribute_exists and attribute_not_exists. The stored one is that of
//     a shard, and changes when the item moves.
//   - Expected, AttributeUpdates and ConditionalOperator: DynamoDB takes no condition expression beside them.
//   - An Update without an UpdateExpression. It creates an item, but leaves one that is there as it is. No single request does that
//     over a dead item as well.
//
// # Cost
//
// Reads are strongly consistent, whatever the user's Get asks for. The exception is forward.Request.Eventual, which machines set for
// settled keys: such a Read is eventually consistent, at half the price, if the user's ConsistentRead is not true.
//
// A request costs what it costs without marks, in capacity units and in number. Its condition grows by 100 bytes at most, of the 4 KB
// that DynamoDB takes. A Delete of a new home writes a small item in place of deleting one. A frozen item grows by what its copy will
// have more, some 30 bytes: one that is larger than 400 KB then cannot be frozen, and stays where it is.
package express
