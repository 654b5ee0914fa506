package main

import (
	"regexp"
	"slices"
	"strings"

	"github.com/heatsink-go/heatsink/internal/proof/engine/answer"
)

// fact is a difference between engines that is known: who differs from us and how, and what AWS does. docs/compatibility.md has the
// facts for readers.
type fact struct {
	name   string
	peers  []string // who differs
	kind   answer.Kind
	ours   string // regular expressions for the two sides of the difference; nothing: any
	theirs string
	when   func(finding) bool // nil: always
	fact   string             // what AWS does
	source string             // where that is public
}

// explain returns the fact that explains a finding, or nil.
func explain(f finding) *fact {
	for i := range known {
		k := &known[i]
		if k.kind == f.Kind && slices.Contains(k.peers, f.peer) && matches(k.ours, f.Ours) && matches(k.theirs, f.Theirs) && (k.when == nil || k.when(f)) {
			return k
		}
	}
	return nil
}

// patterns are the expressions of the facts, each compiled once.
var patterns = map[string]*regexp.Regexp{}

func matches(pattern, text string) bool {
	if pattern == "" {
		return true
	}
	if patterns[pattern] == nil {
		patterns[pattern] = regexp.MustCompile(pattern)
	}
	return patterns[pattern].MatchString(text)
}

// The engines that differ.
var (
	everyPeer = []string{"dynoxide", "dynalite", "dynamodb-local"}
	lenient   = []string{"dynoxide", "dynalite"}       // which check fewer of the rules for indexes and types
	relaxed   = []string{"dynoxide", "dynamodb-local"} // which check fewer values of the request
	written   = []string{"dynalite", "dynamodb-local"}
)

// Where facts are from.
const (
	alternator   = "tests of Alternator in scylladb/scylladb, which run on AWS"
	conformance  = "nubo-db/dynamodb-conformance, which is verified on AWS"
	newer        = "newer tests of nubo-db/dynamodb-conformance, verified on AWS"
	dynaliteTest = "tests of architect/dynalite, written against AWS"
	apiReference = "the API reference"
	extenddb     = "ExtendDB/extenddb#213, captured on AWS"
	usageNotes   = "the developer guide, usage notes of DynamoDB Local"
)

const (
	refused   = `^ValidationException: `
	otherwise = `^(succeeds|ConditionalCheckFailedException|TransactionCanceledException|DuplicateItemException|ResourceNotFoundException)`
)

// aboutValues matches faults of numbers and sets.
const aboutValues = `numeric value|Number (over|under)flow|significant digits|contains duplicates`

// known are the facts. The first one that fits counts.
var known = []fact{
	{
		name: "no item is made by REMOVE or DELETE alone", peers: everyPeer, kind: answer.Content, when: onlyKeysMore,
		fact: "an update that only removes does not create the item", source: alternator,
	},
	{
		name: "REMOVE of a path in no item", peers: written, kind: answer.Outcome, ours: `^succeeds`, theirs: refused + "The document path",
		fact: "REMOVE x.y succeeds if there is no item, and fails if there is one without x", source: alternator,
	},
	{
		name: "REMOVE of a path in no item, in a transaction", peers: []string{"dynamodb-local"}, kind: answer.Outcome,
		ours: `^TransactionCanceledException`, theirs: refused + "The document path", when: inTransaction,
		fact: "a fault that only the item shows is a reason of the cancelled transaction, ValidationError", source: apiReference,
	},
	{
		name: "faults of items in a transaction", peers: []string{"dynamodb-local"}, kind: answer.Outcome,
		ours: `^TransactionCanceledException`, theirs: refused, when: inTransaction,
		fact: "a fault that only the item shows is a reason of the cancelled transaction, ValidationError", source: apiReference,
	},
	{
		name: "faults of requests in a transaction", peers: relaxed, kind: answer.Outcome,
		ours: refused, theirs: `^TransactionCanceledException`, when: inTransaction,
		fact: "a fault that the request alone shows refuses the transaction, before conditions are asked", source: conformance,
	},
	{
		name: "faults of paths and types in a transaction", peers: relaxed, kind: answer.Outcome,
		ours: `^TransactionCanceledException`, theirs: `^succeeds`, when: reasonIn(ours, "ValidationError"),
		fact: "wrong paths and wrong types of index keys refuse an update", source: dynaliteTest,
	},
	{
		name: "reasons of cancelled transactions", peers: relaxed, kind: answer.Text,
		ours: `^TransactionCanceledException`, theirs: `^TransactionCanceledException`, when: reasonIn(ours, "ValidationError", "DuplicateItem"),
		fact: "ValidationError and DuplicateItem are reasons of their own", source: apiReference,
	},
	{
		name: "texts of reasons", peers: relaxed, kind: answer.Content,
		ours: `^\.(CancellationReasons|Responses).*Message = `, theirs: `^\.(CancellationReasons|Responses).*Message = `,
		when: func(f finding) bool { return otherWords(f) || anotherFault(f) },
		fact: "which of several faults of an action is reported is not documented", source: dynaliteTest,
	},
	{
		name: "ItemCollectionMetrics", peers: written, kind: answer.Content, ours: `^\.ItemCollectionMetrics$`, theirs: `^no `,
		fact: "writes to tables with a local index return it if asked; DynamoDB Local returns none", source: usageNotes,
	},
	{
		name: "NOT_CONTAINS of an attribute that is not there", peers: lenient, kind: answer.Content, when: asks("NOT_CONTAINS"),
		fact: "it is false", source: alternator,
	},
	{
		name: "NOT_CONTAINS as a condition", peers: lenient, kind: answer.Outcome, ours: `^ConditionalCheckFailed`, when: asks("NOT_CONTAINS"),
		fact: "it is false of an attribute that is not there", source: alternator,
	},
	{
		name: "a Query of one item", peers: lenient, kind: answer.Content, ours: `^no \.LastEvaluatedKey`, theirs: `^\.LastEvaluatedKey`, when: ofTable("plain"),
		fact: "a table without a sort key has no LastEvaluatedKey, as a Query of it has one item at most", source: alternator,
	},
	{
		name: "starting keys of a Query", peers: []string{"dynoxide"}, kind: answer.Outcome, ours: refused + "The (provided starting key|provided exclusive start key|query can return)",
		theirs: otherwise, fact: "the starting key must be of the partition, in the range, and whole", source: dynaliteTest,
	},
	{
		name: "filters on what an index does not project", peers: lenient, kind: answer.Outcome, ours: "does not project", theirs: otherwise,
		fact: "a Query's filter may name what its index projects, be it global or local; what a global index does not project cannot be returned", source: newer,
	},
	{
		name: "order of values without an order", peers: lenient, kind: answer.Outcome, ours: `Incorrect operand type for operator or function; operator or function: [<>]=?,`,
		theirs: otherwise, fact: "<, <=, > and >= compare strings, numbers and binaries", source: conformance,
	},
	{
		name: "ComparisonOperator and its values", peers: lenient, kind: answer.Outcome, ours: `ComparisonOperator \w+ is not valid for \w+ AttributeValue type`,
		theirs: otherwise, fact: "LT, LE, GT and GE take one string, number or binary", source: apiReference,
	},
	{
		name: "types of index keys in an update", peers: everyPeer, kind: answer.Outcome, ours: `Type mismatch for Index Key|secondary index key to unsupported type`,
		theirs: otherwise, fact: "a value of another type than the index key's is refused, before conditions if the request shows it", source: dynaliteTest,
	},
	{
		name: "values of ReturnConsumedCapacity", peers: relaxed, kind: answer.Outcome, ours: `returnConsumedCapacity' failed to satisfy constraint`, theirs: otherwise,
		fact: "it is INDEXES, TOTAL or NONE", source: apiReference,
	},
	{
		name: "ConditionalOperator", peers: lenient, kind: answer.Outcome, ours: "ConditionalOperator can only be used when", theirs: otherwise,
		fact: "it needs at least two conditions", source: extenddb,
	},
	{
		name: "numbers that get too large", peers: []string{"dynalite"}, kind: answer.Outcome, ours: "Number overflow|significant digits", theirs: otherwise,
		fact: "a sum of more than 38 digits is refused", source: alternator,
	},
	{
		name: "the type of attribute_type", peers: lenient, kind: answer.Outcome, ours: "Invalid attribute type name found", theirs: otherwise,
		fact: "it is one of ten names", source: conformance,
	},
	{
		name: "SIZE and CONVERT as names", peers: []string{"dynamodb-local"}, kind: answer.Outcome, ours: `reserved keyword: x$`, theirs: otherwise,
		when: func(f finding) bool { return bareSize.MatchString(answer.JSON(f.op.Body)) },
		fact: "they are in the list of reserved words", source: "the developer guide, reserved words",
	},
	{
		name: "statements that go on", peers: []string{"dynoxide"}, kind: answer.Outcome, ours: "Statement wasn't well formed|Two document paths overlap", theirs: otherwise,
		fact: "words after the end of a statement, and paths that overlap, are refused", source: conformance,
	},
	{
		name: "statements that go on, in a batch", peers: relaxed, kind: answer.Content, ours: `^\.Responses.*Error`,
		when: asks("nonsense"), fact: "words after the end of a statement are refused", source: conformance,
	},
	{
		name: "ReturnValues of PutItem and DeleteItem", peers: []string{"dynalite"}, kind: answer.Outcome, ours: "ReturnValues can only be", theirs: otherwise,
		fact: "they are ALL_OLD or NONE", source: apiReference,
	},
	{
		name: "spellings of numbers", peers: []string{"dynamodb-local"}, kind: answer.Content, ours: `\.N = a text$`, theirs: `\.N = a text$`, when: sameNumber,
		fact: "a number is returned without zeros that it does not need, and without an exponent", source: conformance,
	},
	{
		name: "spellings of numbers in sets", peers: []string{"dynamodb-local"}, kind: answer.Content, ours: `\.NS`, theirs: `\.NS`,
		fact: "a number is returned without zeros that it does not need, and without an exponent", source: conformance,
	},
	{
		name: "UPDATED_OLD and UPDATED_NEW of elements of lists", peers: relaxed, kind: answer.Content, ours: `^\.Attributes`, theirs: `^\.Attributes`, when: asks("UPDATED_"),
		fact: "they have the elements that were changed, not the whole list", source: alternator,
	},
	{
		name: "UPDATED_OLD and UPDATED_NEW of elements that are not there", peers: []string{"dynoxide"}, kind: answer.Content, ours: `^no \.Attributes`, theirs: `^\.Attributes`,
		when: func(f finding) bool { return asks("UPDATED_")(f) && matches(`\[\d\]`, answer.JSON(f.op.Body)) },
		fact: "they have the elements that were changed, not the whole list", source: alternator,
	},
	{
		name: "a starting key without a sort key", peers: written, kind: answer.Outcome, ours: refused + "The provided exclusive start key is invalid", theirs: `^succeeds`,
		when: ofTable("plain"), fact: "a Query of a table without a sort key takes no ExclusiveStartKey", source: alternator,
	},
	{
		name: "items of which nothing is projected", peers: []string{"dynoxide"}, kind: answer.Content, ours: `^\.Responses.*\.Item$`, theirs: `^no `,
		fact: "an item without the projected attributes is an empty one", source: "DynamoDB Local, which is AWS's own",
	},
	{
		name: "negative limits", peers: []string{"dynoxide"}, kind: answer.Outcome, ours: "at 'Limit' failed", theirs: "^SerializationException",
		fact: "the value is refused, not its spelling", source: conformance,
	},
	{
		name: "NOT before BETWEEN and IN", peers: []string{"dynalite"}, kind: answer.Outcome, ours: `^succeeds`, when: asks("NOT "),
		fact: "NOT is about the condition after it", source: "the developer guide, operators in conditions",
	},
	{
		name: "plus signs of numbers", peers: []string{"dynalite"}, kind: answer.Outcome, theirs: "cannot be converted to x numeric value: [+]",
		fact: "a number may begin with a plus sign", source: conformance,
	},
	{
		name: "names of tables", peers: relaxed, kind: answer.Outcome, ours: "ableName' failed to satisfy constraint", theirs: otherwise,
		fact: "a name that no table can have is refused as such", source: conformance,
	},
	{
		name: "SPECIFIC_ATTRIBUTES", peers: everyPeer, kind: answer.Outcome, ours: "Must specify the AttributesToGet", theirs: otherwise,
		fact: "it needs a projection; a fault that the request alone shows is reported first", source: apiReference,
	},
	{
		name: "paths that overlap, in a batch of statements", peers: relaxed, kind: answer.Content, ours: `^\.Responses.*Error`, theirs: `Responses.*Error`,
		when: func(f finding) bool { return strings.Contains(answer.JSON(f.ours.Body), "Two document paths overlap") },
		fact: "they are refused; which of the two is named first is not documented", source: conformance,
	},
	{
		name: "capacity of an empty Query", peers: written, kind: answer.Capacity, when: readsNothing,
		fact: "a read of nothing takes the units of the smallest read", source: "the developer guide, read consumption",
	},
	{
		name: "capacity of transactions", peers: []string{"dynamodb-local"}, kind: answer.Capacity, when: inTransaction,
		fact: "each item of a transaction takes twice the units", source: "the developer guide, transactions",
	},
	{
		name: "what a local index does not project", peers: lenient, kind: answer.Content, ours: `^\.(Items|Count)`, theirs: `^(no \.Items|\.Count)`, when: fetches,
		fact: "what a projection of a local index names is read from the table, and ALL_ATTRIBUTES are", source: "the developer guide, local secondary indexes",
	},
	{
		name: "names of tables in a batch", peers: everyPeer, kind: answer.Outcome, ours: "^ResourceNotFoundException", theirs: refused, when: asks(`"no":`),
		fact: "a name of less than three characters is one of no table", source: alternator,
	},
	{
		name: "ALL_OLD without an item", peers: []string{"dynoxide"}, kind: answer.Content, ours: `^no \.Attributes`, when: asks("ALL_OLD"),
		fact: "there are no attributes to return", source: apiReference,
	},
	{
		name: "tables that there are not", peers: everyPeer, kind: answer.Outcome, ours: refused, theirs: `^ResourceNotFoundException`, when: ourFault,
		fact: "a fault that the request alone shows is reported before the table is looked for", source: dynaliteTest,
	},
	{
		name: "one item twice in a transaction", peers: relaxed, kind: answer.Outcome, ours: `^TransactionCanceledException`, theirs: "multiple operations on one item",
		fact: "which of several faults of a transaction is reported is not documented", source: conformance,
	},
	{
		name: "updates of the key", peers: relaxed, kind: answer.Outcome, ours: "Cannot update attribute", theirs: otherwise,
		fact: "they are refused before conditions are asked", source: dynaliteTest,
	},
	{
		name: "key conditions in any order", peers: []string{"dynoxide"}, kind: answer.Outcome, theirs: "Query condition missed key schema element",
		when: func(f finding) bool { return !matches(refused, f.Ours) }, fact: "the conditions on the partition key and the sort key may come in any order", source: dynaliteTest,
	},
	{
		name: "elements behind the end of a list", peers: []string{"dynoxide"}, kind: answer.Content, theirs: `\.Attributes|stored`, when: filledUp,
		fact: "an element behind the end of a list is appended, without others before it", source: alternator,
	},
	{
		name: "AttributeUpdates without an Action", peers: []string{"dynamodb-local"}, kind: answer.Content, when: withoutAction,
		fact: "the action is PUT unless another one is given", source: apiReference,
	},
	{
		name: "UPDATED_OLD and UPDATED_NEW of nothing", peers: []string{"dynalite"}, kind: answer.Content, ours: `^no \.Attributes`, theirs: `^\.Attributes`, when: asks("UPDATED_"),
		fact: "there are no attributes to return", source: alternator,
	},
	{
		name: "projections of TransactGetItems", peers: []string{"dynoxide"}, kind: answer.Content, ours: `^no \.Responses.*\.Item`, when: inTransaction,
		fact: "keys are returned if they are asked for", source: apiReference,
	},
	{
		name: "empty keys", peers: lenient, kind: answer.Outcome, ours: "cannot contain an empty", theirs: otherwise,
		fact: "a value of a key is not empty; one that is refuses all of a transaction", source: newer,
	},
	{
		name: "empty keys in a batch of statements", peers: []string{"dynoxide"}, kind: answer.Content, ours: `^\.Responses.*Error`,
		when: func(f finding) bool { return strings.Contains(answer.JSON(f.ours.Body), "cannot contain an empty") },
		fact: "a value of a key is not empty", source: conformance,
	},
	{
		name: "values in legacy conditions", peers: lenient, kind: answer.Outcome, ours: `values were invalid: (An? |One or more|Input)`, theirs: otherwise,
		when: asks(`"ComparisonOperator"`), fact: "a value that no attribute can have is refused, before conditions are asked", source: "DynamoDB Local, which is AWS's own",
	},
	{
		name: "types of keys in statements", peers: []string{"dynoxide"}, kind: answer.Outcome, ours: "data type should match its data type", theirs: otherwise,
		fact: "a key of another type is refused", source: conformance,
	},
	{
		name: "types of keys in a batch of statements", peers: []string{"dynoxide"}, kind: answer.Content, ours: `^\.Responses.*Error`,
		when: func(f finding) bool { return strings.Contains(answer.JSON(f.ours.Body), "should match its data type") },
		fact: "a key of another type is refused", source: conformance,
	},
	{
		name: "tables of batched statements", peers: []string{"dynoxide"}, kind: answer.Content, ours: `^\.Responses.*TableName`,
		fact: "a failed statement of a batch names its table", source: apiReference,
	},
	{
		name: "the other end of a range", peers: []string{"dynamodb-local"}, kind: answer.Outcome, ours: `^succeeds`,
		theirs: "starting key does not match the range key predicate", when: startsAtBound,
		fact: "a starting key at an end of the range matches the condition, in either direction", source: dynaliteTest,
	},
	{
		name: "words of numbers and sets in reads", peers: everyPeer, kind: answer.Text, ours: aboutValues, theirs: aboutValues, when: readsKeys,
		fact: "GetItem, BatchGetItem and Query tell an empty number, and what a set has twice, in newer words, and not the name of a value", source: newer,
	},
	{
		name: "words of a fault", peers: everyPeer, kind: answer.Text, when: func(f finding) bool { return !f.alone && otherWords(f) },
		fact: "the words are AWS's", source: conformance,
	},
	{
		name: "one of several faults", peers: everyPeer, kind: answer.Text, when: anotherFault,
		fact: "the request shows both faults; which of several is reported is not documented", source: conformance,
	},
}
