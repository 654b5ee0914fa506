// Package express writes the requests of package forward as requests of DynamoDB, and reads their answers. It sends nothing.
//
// A home marks its item with attributes that the user never sees:
//
//	_hs_f  "z" frozen, "s" stub, "y1" and "y0" on the way back with and without content; "z" and "y1" may be padded
//	_hs_d  true: dead
//	_hs_m  the generation of the ledger by which the item was copied here
//
// A User is one request of the user. It is checked once, and may then be expressed for either home any number of times. Its condition
// gets the fence: (condition) AND attribute_not_exists(_hs_f). A dead item is absent to the user. So the condition is evaluated here,
// once, as it is without an item, and the request says what that means for a dead item. There is no second request.
//
// # Kinds
//
// The kind of a request depends on its condition without an item, which is known, and not on what it says of items:
//
//	Put without condition                          Put; Upsert if it returns the old item, which must be copied before
//	Put or Update if attribute_not_exists(key)     Create
//	Put or Update, true without an item            Upsert: it may be true of an item, too
//	Put or Update, false without an item           Swap
//	Update without condition                       Upsert
//	Update that only removes                       Update if its condition is none, or true without an item; else Swap
//	Delete with any condition, or none             Delete
//
// An Update that only removes, and a Delete, create nothing. DynamoDB calls it a success if there is no item and the condition is
// true without one, or there is none. The machines call it Refused: User.Refused tells the two apart.
//
// # What is refused
//
// The marks, also by an alias. The partition key in expressions, except attribute_exists and
// attribute_not_exists of it in a condition: it is that of a shard, and another one after a move. Expected, AttributeUpdates and
// ConditionalOperator, which cannot be combined with the fence. An Update without an UpdateExpression: no single request creates an
// item over an absent one and over a dead one, and leaves a live one as it is.
//
// # Cost
//
// A request costs what it costs without marks, in capacity units and in number. Its condition grows by 100 bytes at most, of the 4 KB
// that DynamoDB takes. A Delete of a new home writes a small item in place of deleting one. A frozen item grows by what its copy will
// have more, some 30 bytes: one that is larger than 400 KB then cannot be frozen, and stays where it is.
package express
