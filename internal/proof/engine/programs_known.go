package main

// Why tests of programs fail. The document compatibility.md has the same for readers.
var (
	electroExcuses = []excuse{
		{`^Running tests with v[23] client Entity Watchers Getter Triggers Should trigger the setter of a watcher because`, "expects attributes of an item in DynamoDB Local's order; AWS promises none"},
		{`^Query Pagination should throw if 'limit' option is less than one or not a valid number$`, "expects DynamoDB Local's text for a limit of 0, which is not AWS's"},
		{`^service transactions with v[23] client transactWrite should perform transaction operation$`, "expects a full stop after \"The conditional request failed\", which no answer of AWS has that we know"},
	}
	pynamoExcuses = []excuse{
		{`^(base|table)_integration_test::test_(connection|table)_integration$`, "defines an attribute that no key uses, which AWS refuses"},
		{`^TestDiscriminatorIndex::test_create_table__incompatible_indexes$`, "expects DynamoDB Local's text for an attribute that is defined twice, which is not AWS's"},
		{`^test_transaction_integration::test_transact_write__error__different_regions$`, "expects each region to have its own tables; the engine has one set for all of them"},
	}
	dynamooseExcuses = []excuse{
		{`^test::a provisioned table keeps its indexes$`, "Dynamoose compares throughputs with an answer that has more members, on AWS as well, and removes the index"},
	}
	adminExcuses = []excuse{
		{`^test::query a global index page by page$`, "dynamodb-admin goes on without the keys of the index, which AWS refuses as well"},
	}
)
