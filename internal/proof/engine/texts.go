package main

import (
	"strings"

	"github.com/heatsink-go/heatsink/internal/proof/engine/answer"
)

// fault is something wrong with a request or with the item that it meets, and the words for it.
type fault struct {
	aws   string // AWS's, as a regular expression. They are in public sources that were run on AWS; docs/compatibility.md names these
	peers string // those of peers that have others
	shows string // what a request with this fault has, as a regular expression for its JSON
	when  func(finding) bool
	few   bool // few peers look for it, or all of them in another order, so that the engine may be alone in telling it or another fault
}

// faults are those that requests of package draw have. Patterns are for texts without the names and values of their request.
var faults = []fault{
	// Parameters.
	{aws: `at '[lL]imit' failed`, peers: `Limit must be greater`, shows: `"Limit":(0|-1)\b`},
	{aws: `at 'returnValues' failed`, peers: `Return values set to invalid value`, shows: `"ReturnValues":"EVERYTHING"`},
	{aws: `ReturnValues can only be ALL_OLD or NONE`, peers: `Return values set to invalid value|at 'returnValues' failed`, shows: `"ReturnValues":"(ALL_NEW|UPDATED_\w+)"`},
	{aws: `ableName' failed|requestItems(\.[^']*)?' failed`, peers: `Invalid table/index name|at 'requestItems' failed|Value '\{.*wrong name!`, shows: `"(no|wrong name!)"`},
	{aws: `returnConsumedCapacity' failed`, shows: `"ReturnConsumedCapacity":"ALL"`, few: true},
	{aws: `(AttributesToGet|ProjectionExpression) when choosing to get|ALL_PROJECTED_ATTRIBUTES can be used only|Select type ALL_ATTRIBUTES is not supported`, shows: `"Select":`},
	{aws: `Can not use both expression and non-expression parameters`, shows: `"(AttributesToGet|AttributeUpdates|Expected|KeyConditions|\w+Filter|ConditionalOperator)":`},
	{aws: `ConditionalOperator can only be used when`, shows: `"ConditionalOperator":`},
	{aws: `ComparisonOperator \w+ is not valid for`, shows: `"ComparisonOperator":|"KeyConditionExpression":`},
	{aws: `Consistent reads are not supported on global`, peers: `Consistent read cannot be true when`, shows: `"ConsistentRead":true.*"IndexName":"(global|none)"`},
	{aws: `The table does not have the specified index`, shows: `"IndexName":"none"`},
	{aws: `does not project`, shows: `"IndexName":"(local|global)"`},
	{aws: `item keys contains duplicates|multiple operations on one item`, shows: `Item|Statement`, when: ofMany, few: true},

	// Values and keys.
	{
		aws:   `numeric value|Number (over|under)flow|significant digits|Supplied AttributeValue |contains invalid value|values were invalid: (An? |One or more|Input)`,
		peers: `cannot be converted into x number`,
		shows: `"N":"(x|| 1|1 |0x1|1e126|1e-131|\d{39}|\+5)"|"[SB]S":\[("")?\]|"NULL":false|no base64|"[SNB]S":\["(x|a","a|1","1\.0|YQ==","YQ==)"|:\{\}|"N":"1","S":`,
	},
	{
		aws:   `provided key element does not match|Missing the key|Type mismatch for key|cannot contain an empty`,
		peers: `number of conditions on the keys|Invalid attribute value type|required keys was not given|Key value must be of type|Invalid key value`,
		shows: `"(Key|Keys|Item|ExclusiveStartKey|KeyConditions)":|Statement|KeyConditionExpression`,
	},
	{aws: `Type mismatch for Index Key|secondary index key`, peers: `Updates on index keys must be|Type mismatch for attribute to update`, shows: `\b(gp|gs|ls)\b`},
	{aws: `starting key|exclusive start key|at most one row and cannot be restarted`, peers: `Exclusive Start Key must have`, shows: `"ExclusiveStartKey":`},

	// Expressions.
	{aws: `attribute name used in the document path is not defined`, shows: `Expression`, when: undefined('#', "ExpressionAttributeNames")},
	{aws: `attribute value used in expression is not defined`, shows: `Expression`, when: undefined(':', "ExpressionAttributeValues")},
	{aws: `unused in expressions: keys|can only be specified when using expressions`, shows: `"ExpressionAttribute(Names|Values)":`},
	{aws: `The expression can not be empty`, shows: `Expression":""`},
	{aws: `Syntax error; token`, peers: `Syntax error; Expected|Syntax error; token|Expected (operand|comparison operator|[^ ]+, got)`, shows: `Expression`, when: broken},
	{aws: `Invalid function name`, shows: `nonsense\(`},
	{aws: `function is not allowed to be used this way`, peers: `Expected comparison operator`, shows: `\b(size|nonsense|attribute_\w+|contains|begins_with)\(`},
	{aws: `function is not allowed in an update expression`, shows: `"UpdateExpression":"[^"]*\b(size|attribute_\w+|contains|begins_with)\(`},
	{aws: `Incorrect number of operands`, peers: `Expected (,, got \)|\), got ,)`, shows: `(begins_with\([^,]*\)|contains\([^)]*,[^)]*,)`},
	{aws: `Incorrect operand type for operator or function`, shows: `\b(begins_with|contains|size|attribute_type)\(|[<>]|BETWEEN|if_not_exists|list_append|[+-]|ADD |DELETE `, few: true},
	{aws: `requires a document path`, shows: `attribute_(not_)?exists\(:|size\(:`},
	{aws: `The BETWEEN (operator requires|condition was provided)`, shows: `BETWEEN`},
	{aws: `The first operand must be distinct`, shows: `Expression`, when: sameOperands},
	{aws: `Invalid attribute type name found`, shows: `attribute_type\(`, few: true},
	{aws: `Two document paths (overlap|conflict)`, shows: `"(Projection|Update)Expression":|UPDATE |SELECT `},
	{aws: `section can only be used once`, shows: `(SET .*SET |REMOVE .*REMOVE|ADD .*ADD |DELETE .*DELETE )`},
	{aws: `Attribute name is x reserved keyword`, shows: `\bsize\b`},
	{aws: `Filter Expression can only contain non-primary key|QueryFilter can only contain non-primary key`, shows: `"(FilterExpression|QueryFilter)":`},
	{
		aws:   `KeyConditionExpression: OR|one condition per key|number of query conditions|missed key schema element|key condition not supported|not an indexable operation|Condition parameter type does not match`,
		peers: `must use equality|Unexpected (operator|token) in KeyCondition|Query filter contains|Unsupported KeyConditions|Cannot convert partition key|Only scalar types can be used as|Type mismatch for attribute to update`,
		shows: `"KeyCondition`,
	},

	// Items.
	{
		aws:   `document path provided in the update expression|refers to an attribute that does not exist|has an incorrect data type|Type mismatch for attribute to update`,
		peers: `list_append requires two list|Operands for [+-] must be numbers|Invalid attribute value type`,
		shows: `"(UpdateExpression|AttributeUpdates)":|UPDATE `,
	},
	{aws: `Number overflow|significant digits`, peers: `only supports precision`, shows: `ADD|UpdateExpression":"[^"]*[+-]`},
	{aws: `^The conditional request failed`, shows: `"(ConditionExpression|Expected)":|Statement`},

	// Statements.
	{aws: `Statement wasn't well formed`, shows: `"Statement":`},
	{aws: `mandatory equality on all key`, shows: `"Statement":`},
	{aws: `data type should match its data type in table`, peers: `Invalid key value`, shows: `"Statement":`},
}

// shown says that the request has this fault, as far as its text tells.
func (x *fault) shown(f finding) bool {
	return matches(x.shows, answer.JSON(f.op.Body)) && (x.when == nil || x.when(f))
}

// said is the text of one side of a difference, without what only says where it is.
func said(side string) string {
	if _, text, ok := strings.Cut(side, "Message = "); ok {
		side = text
	}
	side = strings.TrimPrefix(side, "ValidationException: ")
	if rest, ok := strings.CutPrefix(side, "9 validation error detected: "); ok && !strings.HasPrefix(rest, "Value ") { // as dynoxide has it
		return rest
	}
	return side
}

// otherWords says that both sides report the same fault, which the request shows, and that the engine has AWS's words for it.
func otherWords(f finding) bool {
	ours, theirs := said(f.Ours), said(f.Theirs)
	for i := range faults {
		x := &faults[i]
		if matches(x.aws, ours) && x.shown(f) && (matches(x.aws, theirs) || x.peers != "" && matches(x.peers, theirs)) {
			return true
		}
	}
	return false
}

// anotherFault says that the two sides report two faults, both of which the request shows, and that the engine has AWS's words for its.
// If all peers agree on theirs, one of the two must be a fault of which that is known.
func anotherFault(f finding) bool {
	ours, theirs := reported(f.Ours, f, false), reported(f.Theirs, f, true)
	return ours != nil && theirs != nil && (!f.alone || ours.few || theirs.few)
}

// ourFault says that the engine reports, in AWS's words, a fault that the request shows.
func ourFault(f finding) bool { return reported(f.Ours, f, false) != nil }

// reported is the fault of a side, if the request shows it.
func reported(side string, f finding, peers bool) *fault {
	text := said(side)
	for i := range faults {
		x := &faults[i]
		if (matches(x.aws, text) || peers && x.peers != "" && matches(x.peers, text)) && x.shown(f) {
			return x
		}
	}
	return nil
}
