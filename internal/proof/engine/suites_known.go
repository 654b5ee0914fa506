package main

// Why tests of Alternator fail. The document compatibility.md has the same for readers.
var alternatorExcuses = []excuse{
	{`^test_authorization::|^test_compressed_response::test_multiple_accept_encoding_headers$`, "the engine takes any well-formed credentials on loopback, unless it is started with an access key"},
	{`^test_backup::test_describe_continuous_backups_without_continuous_backups$`, "AWS says so in the first seconds of a table only, as the test itself says"},
	{`^test_compressed_request::`, "a body that is not what Content-Encoding says is a 400; AWS answers 500, which SDKs would send again"},
	{`^test_cors::`, "the engine names the methods that it serves, and answers only what browsers ask"},
	{`^test_gsi::test_gsi_limit_partition_key_len$`, "another test stored the same index key in the same table before"},
	{`^test_gsi_composite_keys::test_gsi_composite_keyconditions_blocked$`, "expects an error of Alternator's own"},
	{`^test_gsi_composite_keys::test_gsi_composite_base_pk_ck_as_range`, "expects an index without one of the key attributes that it asked for; it fails on every engine"},
	{`^test_health::test_health_works$`, "the engine answers with AWS's host name, as dynalite's tests want it"},
	{`^test_number::test_number_magnitude_not_allowed_zero$`, "AWS refuses 0e126, as the test itself says: newer tests of nubo-db/dynamodb-conformance"},
	{`^test_vector::test_put_and_get_toplevel_v_manual_request$`, "FLOAT32VECTOR is a type of Alternator"},
}

// Why tests of moto fail: all but what the engine has not is one text, with which AWS began between May and August 2026.
var motoExcuses = []excuse{
	{`^test_dynamodb_resource_policy::`, "the engine has no IAM, so no policies"},
	{`^test_dynamodb_(export|import)_table::`, "there is no S3: heatsink export and heatsink import write and read the same files"},
	{`_clauses$|overlap|_same_set$|empty_set$|_unused_attributes$|delete_unused_attribute_name$|empty_update_expression$|with_empty_(values|expression)$`, "AWS begins faults of writes with \"1 validation error detected\" since: nubo-db/dynamodb-conformance has the texts before"},
}

// Why tests of LocalStack fail.
var localStackExcuses = []excuse{
	{`::test_return_values_on_conditions_check_failure$`, "AWS spells the member \"message\", not \"Message\", since: getmoto/moto#10198"},
}

// Why tests of dynalite fail. Most expect what AWS answered years ago.
var dynaliteExcuses = []excuse{
	{`(empty|short|long) (TableName|IndexName)$|null attributes$|query validations .* incorrect attributes$`, "AWS words faults of table names and of a Query's Limit in other ways since: nubo-db/dynamodb-conformance"},
	{`Exists|no value and no exists|ComparisonOperator used|AttributeValueList`, "AWS begins these faults with \"1 validation error detected\" since: floci-io/floci#2125"},
	{`^batch(Get|Write)Item validations .*([Rr]equestItems|keys|missing requests|incorrect attributes|empty body)$`, "AWS words faults of RequestItems in other ways since: nubo-db/dynamodb-conformance"},
	{`empty string$`, "AWS words empty key values in another way since: nubo-db/dynamodb-conformance"},
	{`(no|empty|invalid|unauthorized) ResourceArn$|agResource validations .*short table name$|listTagsOfResource validations .*short table name$`, "AWS words faults of ARNs in other ways since; the engine has one account and no permissions"},
	{`^createTable functionality `, "AWS's answer has more members since"},
	{`^createTable validations .*(GlobalSecondaryIndex|no range key with LocalSecondaryIndex)`, "keys of several attributes changed these faults: aws-controllers-k8s/dynamodb-controller"},
	{`^updateTable validations .*empty (GlobalSecondaryIndexUpdates|Update)$`, "UpdateTable has more members since, of which all are optional"},
	{`^updateTable functionality should triple rates`, "AWS sets the time of an increase again once the change is done"},
	{`^query validations .*(number of KeyConditions|multiple conditions per key)$`, "AWS words these in other ways since: newer tests of nubo-db/dynamodb-conformance"},
	{`incorrect types in UpdateExpression$`, "AWS adds the set of types since: nubo-db/dynamodb-conformance"},
	{`^(getItem|batchGetItem|query) validations .*(invalid (values|numbers)|multiple datatypes) in `, "AWS words faults of numbers and sets in reads in other ways since: newer tests of nubo-db/dynamodb-conformance"},
	{`just over limit`, "whether the item that crosses 1 MB belongs to the page: see the table of what AWS contradicts itself in"},
	{`very over the limit$`, "a table with 10 units was throttled; the engine throttles with --physics only, and 1.5 MB are below the 16 MB of a batch"},
	{`hash order$|hash segments$|basic hash global index$|on a global index if values are equal$`, "an order by AWS's hash, which nobody but AWS documents"},
	{`^scan functionality `, "tests read one page of a table with more than a megabyte; what is on it is a matter of AWS's hash. Alone, nearly all pass"},
	{`should set CORS if OPTIONS|CORS if (using )?Origin`, "web pages are refused unless --cors allows them"},
	{`^dynalite connections .*(but not JSON|413 if request too large)$`, "the engine does not read the body of a request that names no operation"},
	{`IncompleteSignatureException if Authorization`, "AWS shows a hash of the header instead of the header since"},
}
