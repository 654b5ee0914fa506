// Package expr reads and evaluates DynamoDB's expressions: conditions and
// filters, key conditions, projections and updates. Its faults are worded as
// DynamoDB words them.
//
// An expression goes through three stages, and a fault of an earlier stage is
// reported before any of a later one, wherever in the text they stand:
//
//  1. grammar: tokens, the tree, parentheses that do nothing
//  2. shape: reserved words, which function may stand where
//  3. binding: the request's names and values, and operands that could not be
//     right for any item
//
// What remains, an item that does not fit, makes a condition false and an
// update fail. Parsed expressions are immutable and safe for concurrent use.
package expr

import "github.com/heatsink-go/heatsink/internal/attr"

// Role is the request parameter that an expression was given as.
type Role uint8

// The roles of expressions.
const (
	ConditionExpression Role = iota
	FilterExpression
	KeyConditionExpression
	ProjectionExpression
	UpdateExpression
	Statement // of PartiQL, which is no parameter of its own
)

var roleNames = [...]string{
	"ConditionExpression", "FilterExpression", "KeyConditionExpression", "ProjectionExpression", "UpdateExpression", "Statement",
}

// String returns the parameter's name, as faults mention it.
func (r Role) String() string { return roleNames[r] }

// fault is about an expression in this role.
func (r Role) fault(text string) error {
	if r == Statement {
		return attr.Fault(text)
	}
	return attr.Fault("Invalid " + r.String() + ": " + text)
}

// Limits of a single expression. The size also bounds how deep its parts can
// nest, and so the parser's stack.
const (
	maxSize        = 4096 // bytes
	maxOperators   = 300
	maxInOperands  = 100
	maxPathDepth   = 32
	maxListIndex   = 1<<31 - 1
	maxPlaceholder = 255 // bytes
)
