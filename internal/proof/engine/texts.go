package main

// awsTexts are the messages of AWS that the engine has beside other words of a peer, as regular expressions. All of them are in public
// sources that were run on AWS; docs/compatibility.md names these.
var awsTexts = []string{
	// Faults of an update that only the item shows.
	`The document path provided in the update expression is invalid for update`,
	`The provided expression refers to an attribute that does not exist in the item`,
	`An operand in the update expression has an incorrect data type`,
	`Type mismatch for attribute to update`,
	`Type mismatch for Index Key`,
	`The update expression attempted to update (the|a) secondary index key`,
	`Number overflow. Attempting to store`,
	`Attempting to store more than 9 significant digits`,

	// Faults of expressions.
	`^ValidationException: Invalid (\w+Expression: )?Syntax error; token: "…", near: "…"`,
	`Invalid \w+Expression: Syntax error; token: "…", near: "…"`,
	`Two document paths overlap with each other; must remove or rewrite one of these paths`,
	`Two document paths conflict with each other`,
	`An expression attribute (name|value) used in (the document path|expression) is not defined`,
	`Incorrect operand type for operator or function; operator( or function)?: `,
	`Incorrect number of operands for operator or function; operator or function: `,
	`Invalid function name; function: `,
	`Invalid attribute type name found; type: `,
	`The BETWEEN operator requires (upper bound to be greater than or equal to lower bound|same data type for lower and upper bounds)`,
	`The first operand must be distinct from the remaining operands for this operator or function`,
	`Operator or function requires a document path; operator or function: `,
	`The function is not allowed to be used this way in an expression; function: `,
	`The "\w+" section can only be used once in an update expression`,
	`Attribute name is x reserved keyword; reserved keyword: `,
	`The expression can not be empty`,
	`Value provided in ExpressionAttribute(Names|Values) unused in expressions: keys: `,
	`ExpressionAttribute(Names|Values) can only be specified when using expressions`,
	`ExpressionAttributeValues contains invalid value: `,
	`Filter Expression can only contain non-primary key attributes`,
	`Invalid operator used in KeyConditionExpression: `,
	`KeyConditionExpressions must only contain one condition per key`,
	`Query condition missed key schema element`,
	`Query key condition not supported`,

	// Faults of parameters.
	`9 validation errors? detected: `,
	`One or more parameter values were invalid: `,
	`One or more parameter values are not valid. `,
	`Supplied AttributeValue `,
	`The parameter cannot be converted to x numeric value`,
	`Can not use both expression and non-expression parameters in the same request`,
	`ReturnValues can only be ALL_OLD or NONE`,
	`ConditionalOperator can only be used when Filter or Expected has two or more elements`,
	`Must specify the AttributesToGet or ProjectionExpression when choosing to get SPECIFIC_ATTRIBUTES`,
	`Cannot specify the (AttributesToGet|ProjectionExpression) when choosing to get `,
	`ALL_PROJECTED_ATTRIBUTES can be used only when Querying using an IndexName`,
	`The provided starting key (is outside query boundaries|does not match the range key predicate|is invalid)`,
	`The provided exclusive start key is invalid`,
	`The query can return at most one row and cannot be restarted`,
	`The table does not have the specified index`,
	`The provided key element does not match the schema`,
	`The number of conditions on the keys is invalid`,
	`Exclusive Start Key must have same size as table's key schema`,
	`Provided list of item keys contains duplicates`,
	`Transaction request cannot include multiple operations on one item`,
	`Consistent reads are not supported on global secondary indexes`,
	`Cannot do operations on x non-existent table`,

	// Faults of statements.
	`Statement wasn't well formed, can't be processed`,
	`Key attribute'x data type should match its data type in table'x schema`,
}
