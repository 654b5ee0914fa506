"""The AWS CLI through every operation that the engine has, and those that it refuses. OPERATIONS has their names."""
import json
import os
import pathlib
import subprocess
import sys
import time

import botocore.session
import pytest

OPERATIONS = json.loads(os.environ["OPERATIONS"])

# The CLI brings its own botocore, which two of in one process would mix up.
OFFERED = """
import json
from awscli.clidriver import create_clidriver
table = create_clidriver()._get_command_table()
print(json.dumps({service: {name: c._operation_model.name for name, c in table[service]._get_command_table().items() if hasattr(c, "_operation_model")}
                  for service in ("dynamodb", "dynamodbstreams", "cloudwatch")}))
"""

# The operations that the CLI has, by service and the name of their command.
SERVICES = json.loads(subprocess.run([sys.executable, "-c", OFFERED], capture_output=True, check=True).stdout)
tried = set()


class Refused(Exception):
    pass


def aws(command, *arguments, service="dynamodb", **parameters):
    """Runs the CLI, and returns what it prints: as JSON where it is some."""
    tried.add((service, SERVICES[service].get(command)))
    argv = [str(pathlib.Path(sys.executable).parent / "aws"), service, *command.split(), *arguments]
    for name, value in parameters.items():
        argv += ["--" + name.replace("_", "-")]
        argv += [value if isinstance(value, str) else json.dumps(value)]
    ran = subprocess.run(argv, capture_output=True, text=True, timeout=300)
    if ran.returncode != 0:
        raise Refused(ran.stderr.strip())
    try:
        return json.loads(ran.stdout)
    except ValueError:
        return ran.stdout.strip()


def refused(words, command, *arguments, **parameters):
    with pytest.raises(Refused) as caught:
        aws(command, *arguments, **parameters)
    assert words in str(caught.value)


def key(artist, song):
    return {"artist": {"S": artist}, "song": {"S": song}}


def song(artist, name, **more):
    return key(artist, name) | {k: {"N": str(v)} if isinstance(v, int) else {"S": v} for k, v in more.items()}


def get(artist, name):
    return aws("get-item", "--consistent-read", table_name="music", key=key(artist, name))["Item"]


def described(table="music"):
    return aws("describe-table", table_name=table)["Table"]


# Tables

def test_there_are_no_tables():
    assert aws("list-tables") == {"TableNames": []}


def test_create_a_table_from_a_file(tmp_path):
    file = tmp_path / "music.json"
    file.write_text(json.dumps({
        "TableName": "music", "BillingMode": "PAY_PER_REQUEST",
        "AttributeDefinitions": [{"AttributeName": n, "AttributeType": t} for n, t in (("artist", "S"), ("song", "S"), ("genre", "S"), ("year", "N"))],
        "KeySchema": [{"AttributeName": "artist", "KeyType": "HASH"}, {"AttributeName": "song", "KeyType": "RANGE"}],
        "GlobalSecondaryIndexes": [{"IndexName": "genres", "Projection": {"ProjectionType": "ALL"}, "KeySchema": [
            {"AttributeName": "genre", "KeyType": "HASH"}, {"AttributeName": "year", "KeyType": "RANGE"}]}],
        "LocalSecondaryIndexes": [{"IndexName": "years", "Projection": {"ProjectionType": "KEYS_ONLY"}, "KeySchema": [
            {"AttributeName": "artist", "KeyType": "HASH"}, {"AttributeName": "year", "KeyType": "RANGE"}]}],
        "StreamSpecification": {"StreamEnabled": True, "StreamViewType": "NEW_AND_OLD_IMAGES"}}))
    assert aws("create-table", cli_input_json=f"file://{file}")["TableDescription"]["TableName"] == "music"


def test_wait_for_a_table():
    assert aws("wait table-exists", table_name="music") == ""


def test_create_a_table_in_shorthand():
    created = aws("create-table", "--deletion-protection-enabled", "--tags", "Key=team,Value=a", "Key=stage,Value=b",
                  table_name="plain", attribute_definitions="AttributeName=id,AttributeType=S", key_schema="AttributeName=id,KeyType=HASH",
                  provisioned_throughput="ReadCapacityUnits=5,WriteCapacityUnits=5")
    assert created["TableDescription"]["DeletionProtectionEnabled"] is True


def test_a_table_that_exists_is_refused():
    refused("ResourceInUseException", "create-table", table_name="plain", attribute_definitions="AttributeName=id,AttributeType=S",
            key_schema="AttributeName=id,KeyType=HASH", billing_mode="PAY_PER_REQUEST")


def test_describe_a_table_with_a_query():
    assert aws("describe-table", table_name="music", query="Table.[TableStatus,KeySchema[1].AttributeName]", output="text") == "ACTIVE\tsong"


def test_describe_a_table_as_a_table_and_yaml():
    assert "DescribeTable" in aws("describe-table", table_name="music", output="table")


def test_a_table_that_is_not_there():
    refused("ResourceNotFoundException", "describe-table", table_name="nothing")


def test_list_tables_page_by_page():
    assert aws("list-tables", page_size="1")["TableNames"] == ["music", "plain"]
    page = aws("list-tables", max_items="1")
    assert page["TableNames"] == ["music"]
    assert aws("list-tables", starting_token=page["NextToken"])["TableNames"] == ["plain"]
    assert aws("list-tables", "--no-paginate", limit="1")["LastEvaluatedTableName"] == "music"


def test_deletion_protection():
    refused("Resource cannot be deleted as it is currently protected against deletion", "delete-table", table_name="plain")
    aws("update-table", "--no-deletion-protection-enabled", table_name="plain")
    assert described("plain")["DeletionProtectionEnabled"] is False


def test_change_the_capacity():
    aws("update-table", table_name="plain", provisioned_throughput="ReadCapacityUnits=20,WriteCapacityUnits=10")
    assert described("plain")["ProvisionedThroughput"]["ReadCapacityUnits"] == 20


def test_change_class_and_maximum():
    aws("update-table", table_name="music", table_class="STANDARD_INFREQUENT_ACCESS")
    aws("update-table", table_name="music", on_demand_throughput="MaxReadRequestUnits=4000,MaxWriteRequestUnits=4000")
    table = described()
    assert table["TableClassSummary"]["TableClass"] == "STANDARD_INFREQUENT_ACCESS"
    assert table["OnDemandThroughput"] == {"MaxReadRequestUnits": 4000, "MaxWriteRequestUnits": 4000}


def test_warm_throughput():
    aws("update-table", table_name="music", warm_throughput="ReadUnitsPerSecond=13000,WriteUnitsPerSecond=5000")
    assert described()["WarmThroughput"]["ReadUnitsPerSecond"] >= 13000


def test_limits_and_endpoints():
    assert aws("describe-limits")["TableMaxReadCapacityUnits"] == 40000
    assert aws("describe-endpoints")["Endpoints"][0]["CachePeriodInMinutes"] == 1440


# Items

def test_put_and_get():
    put = aws("put-item", table_name="music", item=song("abba", "waterloo", year=1974, genre="pop"), return_consumed_capacity="INDEXES")
    assert put["ConsumedCapacity"]["CapacityUnits"] == 3.0
    assert get("abba", "waterloo")["year"] == {"N": "1974"}


def test_put_from_a_file_and_of_every_type(tmp_path):
    item = song("types", "all") | {
        "bool": {"BOOL": True}, "null": {"NULL": True}, "l": {"L": [{"S": "x"}, {"N": "1.5"}]}, "m": {"M": {"k": {"L": []}}},
        "ss": {"SS": ["a", "b"]}, "ns": {"NS": ["1", "2"]}}
    # The CLI takes text for bytes, and shows bytes in base64.
    raw, shown = {"b": {"B": "ab"}, "bs": {"BS": ["a", "b"]}}, {"b": {"B": "YWI="}, "bs": {"BS": ["YQ==", "Yg=="]}}
    (tmp_path / "item.json").write_text(json.dumps(item | raw))
    aws("put-item", table_name="music", item=f"file://{tmp_path}/item.json")
    assert get("types", "all") == item | shown


def test_get_some_attributes():
    got = aws("get-item", table_name="music", key=key("abba", "waterloo"), projection_expression="#y", expression_attribute_names={"#y": "year"},
              return_consumed_capacity="TOTAL")
    assert got == {"Item": {"year": {"N": "1974"}}, "ConsumedCapacity": {"TableName": "music", "CapacityUnits": 0.5}}


def test_get_by_the_table_s_arn():
    assert "Item" in aws("get-item", table_name=described()["TableArn"], key=key("abba", "waterloo"))


def test_get_what_is_not_there():
    assert aws("get-item", table_name="music", key=key("abba", "none")) == ""


def test_put_on_a_condition():
    refused("ConditionalCheckFailedException", "put-item", table_name="music", item=song("abba", "waterloo"),
            condition_expression="attribute_not_exists(artist)", return_values_on_condition_check_failure="ALL_OLD")


def test_update():
    updated = aws("update-item", table_name="music", key=key("abba", "waterloo"), update_expression="SET plays = if_not_exists(plays, :zero) + :one REMOVE nothing",
                  expression_attribute_values={":zero": {"N": "0"}, ":one": {"N": "1"}}, return_values="UPDATED_NEW")
    assert updated["Attributes"] == {"plays": {"N": "1"}}


def test_update_from_skeleton():
    skeleton = aws("update-item", "--generate-cli-skeleton")
    request = {k: v for k, v in skeleton.items() if k in ("TableName", "Key", "UpdateExpression", "ExpressionAttributeValues", "ReturnValues")}
    request |= {"TableName": "music", "Key": key("abba", "waterloo"), "UpdateExpression": "ADD plays :one", "ExpressionAttributeValues": {":one": {"N": "5"}},
                "ReturnValues": "ALL_NEW"}
    assert aws("update-item", cli_input_json=request)["Attributes"]["plays"] == {"N": "6"}


def test_delete():
    aws("put-item", table_name="music", item=song("abba", "gone"))
    assert aws("delete-item", table_name="music", key=key("abba", "gone"), return_values="ALL_OLD")["Attributes"] == key("abba", "gone")
    refused("ConditionalCheckFailedException", "delete-item", table_name="music", key=key("abba", "gone"), condition_expression="attribute_exists(artist)")


def test_parameters_that_expressions_replaced():
    refused("ConditionalCheckFailedException", "put-item", table_name="music", item=song("old", "a"), expected={"artist": {"Exists": True, "Value": {"S": "x"}}})
    aws("update-item", table_name="music", key=key("old", "a"), attribute_updates={"n": {"Value": {"N": "1"}, "Action": "ADD"}})
    found = aws("query", table_name="music", key_conditions={"artist": {"AttributeValueList": [{"S": "old"}], "ComparisonOperator": "EQ"}},
                attributes_to_get=["n"], query_filter={"n": {"AttributeValueList": [{"N": "0"}], "ComparisonOperator": "GT"}})
    assert found["Items"] == [{"n": {"N": "1"}}]
    found = aws("scan", table_name="music", conditional_operator="OR", scan_filter={
        "n": {"ComparisonOperator": "NOT_NULL"}, "song": {"AttributeValueList": [{"S": "water"}], "ComparisonOperator": "BEGINS_WITH"}})
    assert found["Count"] == 2


def test_batches(tmp_path):
    for at in range(0, 50, 25):
        request = {"music": [{"PutRequest": {"Item": song("many", f"s{i:02}", year=2000 + i, genre="rock")}} for i in range(at, at + 25)]}
        (tmp_path / "batch.json").write_text(json.dumps(request))
        assert aws("batch-write-item", request_items=f"file://{tmp_path}/batch.json") == {"UnprocessedItems": {}}
    aws("batch-write-item", request_items={"music": [{"DeleteRequest": {"Key": key("many", "s49")}}]})
    got = aws("batch-get-item", request_items={"music": {"Keys": [key("many", "s01"), key("many", "s49")], "ProjectionExpression": "song"}})
    assert got["Responses"] == {"music": [{"song": {"S": "s01"}}]}


MANY = {"table_name": "music", "key_condition_expression": "artist = :a", "expression_attribute_values": {":a": {"S": "many"}}}


def test_query():
    assert aws("query", **MANY)["Count"] == 49
    assert aws("query", select="COUNT", **MANY) == {"Count": 49, "ScannedCount": 49, "ConsumedCapacity": None}
    found = aws("query", "--no-scan-index-forward", max_items="2", query="Items[].song.S", **MANY)
    assert found == ["s48", "s47"]


def test_query_page_by_page():
    assert aws("query", page_size="7", **MANY)["Count"] == 49
    page, seen = aws("query", max_items="20", **MANY), []
    while True:
        seen += [item["song"]["S"] for item in page["Items"]]
        if "NextToken" not in page:
            break
        page = aws("query", max_items="20", starting_token=page["NextToken"], **MANY)
    assert seen == [f"s{i:02}" for i in range(49)]


def test_query_of_indexes():
    found = aws("query", table_name="music", index_name="genres", key_condition_expression="genre = :g AND #y BETWEEN :a AND :b",
                expression_attribute_names={"#y": "year"}, expression_attribute_values={":g": {"S": "rock"}, ":a": {"N": "2010"}, ":b": {"N": "2012"}})
    assert [item["song"]["S"] for item in found["Items"]] == ["s10", "s11", "s12"]
    found = aws("query", "--consistent-read", index_name="years", filter_expression="song <> :s", **(MANY | {
        "expression_attribute_values": {":a": {"S": "many"}, ":s": {"S": "s00"}}}))
    assert (found["Count"], found["ScannedCount"]) == (48, 49)


def test_scan_page_by_page():
    assert aws("scan", page_size="10", table_name="music", query="Count") == 52
    page = aws("scan", max_items="30", table_name="music")
    assert len(aws("scan", table_name="music", starting_token=page["NextToken"])["Items"]) == 22
    assert sum(aws("scan", table_name="music", segment=str(i), total_segments="3")["Count"] for i in range(3)) == 52


def test_transactions(tmp_path):
    actions = [{"Put": {"TableName": "music", "Item": song("tx", "1", n=1)}},
               {"Update": {"TableName": "music", "Key": key("tx", "2"), "UpdateExpression": "SET n = :n", "ExpressionAttributeValues": {":n": {"N": "2"}}}},
               {"Delete": {"TableName": "music", "Key": key("many", "s48")}},
               {"ConditionCheck": {"TableName": "music", "Key": key("many", "s47"), "ConditionExpression": "attribute_exists(song)"}}]
    (tmp_path / "tx.json").write_text(json.dumps(actions))
    for _ in range(2):
        aws("transact-write-items", transact_items=f"file://{tmp_path}/tx.json", client_request_token="once")
    refused("IdempotentParameterMismatchException", "transact-write-items", transact_items=actions[:1], client_request_token="once")
    got = aws("transact-get-items", transact_items=[{"Get": {"TableName": "music", "Key": key("tx", n)}} for n in ("1", "2", "3")])
    assert [r.get("Item", {}).get("n") for r in got["Responses"]] == [{"N": "1"}, {"N": "2"}, None]


def test_a_transaction_that_is_cancelled():
    check = {"ConditionCheck": {"TableName": "music", "Key": key("none", "none"), "ConditionExpression": "attribute_exists(song)"}}
    refused("[None, ConditionalCheckFailed]", "transact-write-items", transact_items=[{"Put": {"TableName": "music", "Item": song("tx", "9")}}, check])


# PartiQL

def test_statements():
    aws("execute-statement", statement="INSERT INTO music VALUE {'artist':'ql','song':'a','n':1,'tags':<<'x'>>}")
    refused("DuplicateItemException", "execute-statement", statement="INSERT INTO music VALUE {'artist':'ql','song':'a'}")
    aws("execute-statement", statement="UPDATE music SET n = n + ? SET tags = set_add(tags, <<'y'>>) WHERE artist = ? AND song = ?",
        parameters=[{"N": "4"}, {"S": "ql"}, {"S": "a"}])
    got = aws("execute-statement", statement="SELECT n, tags FROM music WHERE artist = 'ql'", return_consumed_capacity="TOTAL")
    assert got["Items"] == [{"n": {"N": "5"}, "tags": {"SS": ["x", "y"]}}]
    got = aws("execute-statement", statement="DELETE FROM music WHERE artist = 'ql' AND song = 'a' RETURNING ALL OLD *")
    assert got["Items"][0]["n"] == {"N": "5"}


def test_statements_page_by_page():
    seen, token = [], {}
    while True:
        page = aws("execute-statement", statement="SELECT song FROM music WHERE artist = 'many'", limit="20", **token)
        seen += [item["song"]["S"] for item in page["Items"]]
        if "NextToken" not in page:
            break
        token = {"next_token": page["NextToken"]}
    assert seen == [f"s{i:02}" for i in range(48)]


def test_statements_of_an_index():
    got = aws("execute-statement", statement="SELECT song FROM \"music\".\"genres\" WHERE genre = 'rock' AND \"year\" > 2045 ORDER BY \"year\" DESC")
    assert [item["song"]["S"] for item in got["Items"]] == ["s47", "s46"]


def test_batches_of_statements(tmp_path):
    (tmp_path / "s.json").write_text(json.dumps([{"Statement": f"SELECT n FROM music WHERE artist = 'tx' AND song = '{i}'"} for i in (1, 2, 3)]))
    got = aws("batch-execute-statement", statements=f"file://{tmp_path}/s.json")
    assert [r.get("Item") for r in got["Responses"]] == [{"n": {"N": "1"}}, {"n": {"N": "2"}}, None]
    got = aws("batch-execute-statement", statements=[{"Statement": "INSERT INTO music VALUE {'artist':'tx','song':'1'}"}])
    assert got["Responses"][0]["Error"]["Code"] == "DuplicateItem"


def test_transactions_of_statements():
    aws("execute-transaction", transact_statements=[
        {"Statement": "INSERT INTO music VALUE {'artist':'tq','song':'1'}"},
        {"Statement": "EXISTS(SELECT * FROM music WHERE artist = 'tx' AND song = '1' AND n = 1)"}])
    refused("[None, DuplicateItem]", "execute-transaction", transact_statements=[
        {"Statement": "INSERT INTO music VALUE {'artist':'tq','song':'2'}"}, {"Statement": "INSERT INTO music VALUE {'artist':'tq','song':'1'}"}])
    assert aws("get-item", table_name="music", key=key("tq", "2")) == ""


# Indexes, tags, TTL

def test_add_and_remove_an_index():
    update = [{"Create": {"IndexName": "songs", "KeySchema": [{"AttributeName": "song", "KeyType": "HASH"}], "Projection": {"ProjectionType": "KEYS_ONLY"}}}]
    aws("update-table", table_name="music", attribute_definitions=[{"AttributeName": "song", "AttributeType": "S"}], global_secondary_index_updates=update)
    until(lambda: all(index["IndexStatus"] == "ACTIVE" for index in described()["GlobalSecondaryIndexes"]))
    assert aws("query", table_name="music", index_name="songs", key_condition_expression="song = :s", expression_attribute_values={":s": {"S": "s07"}})["Count"] == 1
    aws("update-table", table_name="music", global_secondary_index_updates=[{"Delete": {"IndexName": "songs"}}])
    until(lambda: len(described()["GlobalSecondaryIndexes"]) == 1)


def until(holds):
    deadline = time.monotonic() + 300
    while not holds():
        assert time.monotonic() < deadline
        time.sleep(0.2)


def test_tags():
    arn = described("plain")["TableArn"]
    aws("tag-resource", "--tags", "Key=stage,Value=c", "Key=new,Value=d", resource_arn=arn)
    aws("untag-resource", resource_arn=arn, tag_keys="team")
    tags = aws("list-tags-of-resource", resource_arn=arn)["Tags"]
    assert sorted(tags, key=lambda tag: tag["Key"]) == [{"Key": "new", "Value": "d"}, {"Key": "stage", "Value": "c"}]


def test_ttl():
    spec = aws("update-time-to-live", table_name="music", time_to_live_specification="Enabled=true,AttributeName=expires")
    assert spec["TimeToLiveSpecification"] == {"Enabled": True, "AttributeName": "expires"}
    assert aws("describe-time-to-live", table_name="music")["TimeToLiveDescription"]["TimeToLiveStatus"] in ("ENABLING", "ENABLED")


# Backups

def test_backups():
    arn = aws("create-backup", table_name="music", backup_name="first")["BackupDetails"]["BackupArn"]
    until(lambda: aws("describe-backup", backup_arn=arn)["BackupDescription"]["BackupDetails"]["BackupStatus"] == "AVAILABLE")
    assert [b["BackupName"] for b in aws("list-backups", table_name="music")["BackupSummaries"]] == ["first"]
    aws("restore-table-from-backup", target_table_name="restored", backup_arn=arn)
    aws("wait table-exists", table_name="restored")
    assert aws("scan", table_name="restored", query="Count") == aws("scan", table_name="music", query="Count")
    aws("delete-backup", backup_arn=arn)
    assert aws("list-backups", backup_type="USER")["BackupSummaries"] == []


def test_list_backups_page_by_page():
    arns = [aws("create-backup", table_name="plain", backup_name=f"backup{i}")["BackupDetails"]["BackupArn"] for i in range(3)]
    page = aws("list-backups", max_items="2", page_size="1")
    assert len(page["BackupSummaries"]) == 2
    assert len(aws("list-backups", starting_token=page["NextToken"])["BackupSummaries"]) == 1
    for arn in arns:
        until(lambda: aws("describe-backup", backup_arn=arn, query="BackupDescription.BackupDetails.BackupStatus", output="text") == "AVAILABLE")
        aws("delete-backup", backup_arn=arn)


def test_a_point_in_time():
    aws("update-continuous-backups", table_name="music", point_in_time_recovery_specification="PointInTimeRecoveryEnabled=true,RecoveryPeriodInDays=7")
    history = aws("describe-continuous-backups", table_name="music")["ContinuousBackupsDescription"]["PointInTimeRecoveryDescription"]
    assert (history["PointInTimeRecoveryStatus"], history["RecoveryPeriodInDays"]) == ("ENABLED", 7)
    aws("restore-table-to-point-in-time", "--use-latest-restorable-time", source_table_name="music", target_table_name="earlier")
    aws("wait table-exists", table_name="earlier")
    assert aws("scan", table_name="earlier", query="Count") == aws("scan", table_name="music", query="Count")
    refused("InvalidRestoreTimeException", "restore-table-to-point-in-time", source_table_name="music", target_table_name="never", restore_date_time="2020-01-01T00:00:00Z")


# Streams

def test_streams():
    def streams(command, *arguments, **parameters):
        return aws(command, *arguments, service="dynamodbstreams", **parameters)
    arn = streams("list-streams", table_name="music")["Streams"][0]["StreamArn"]
    description = streams("describe-stream", stream_arn=arn)["StreamDescription"]
    assert description["StreamViewType"] == "NEW_AND_OLD_IMAGES"
    iterator = streams("get-shard-iterator", stream_arn=arn, shard_id=description["Shards"][0]["ShardId"], shard_iterator_type="TRIM_HORIZON")["ShardIterator"]
    page = streams("get-records", shard_iterator=iterator, limit="2")
    assert [r["eventName"] for r in page["Records"]] == ["INSERT", "INSERT"]
    assert page["Records"][0]["dynamodb"]["NewImage"]["song"] == {"S": "waterloo"}
    after = streams("get-shard-iterator", stream_arn=arn, shard_id=description["Shards"][0]["ShardId"], shard_iterator_type="AFTER_SEQUENCE_NUMBER",
                    sequence_number=page["Records"][0]["dynamodb"]["SequenceNumber"])["ShardIterator"]
    assert streams("get-records", shard_iterator=after, limit="1")["Records"] == page["Records"][1:]


# Metrics

def test_contributor_insights():
    aws("update-contributor-insights", table_name="music", contributor_insights_action="ENABLE")
    aws("wait contributor-insights-enabled", table_name="music")
    rules = aws("describe-contributor-insights", table_name="music")["ContributorInsightsRuleList"]
    assert any("PKC" in rule for rule in rules)
    assert aws("list-contributor-insights")["ContributorInsightsSummaries"][0]["TableName"] == "music"
    for i in range(3):
        aws("get-item", table_name="music", key=key("many", "s01"))
    begin, end = minutes()
    report = aws("get-insight-rule-report", service="cloudwatch", rule_name=next(rule for rule in rules if "PKC" in rule), period="60", start_time=begin, end_time=end)
    assert report["Contributors"][0]["Keys"] == ["many"]


def minutes():
    return [time.strftime("%Y-%m-%dT%H:%M:00Z", time.gmtime(time.time() + 60 * m)) for m in (-60, 2)]


def test_metrics():
    begin, end = minutes()
    query = [{"Id": "writes", "MetricStat": {"Period": 60, "Stat": "Sum", "Metric": {
        "Namespace": "AWS/DynamoDB", "MetricName": "ConsumedWriteCapacityUnits", "Dimensions": [{"Name": "TableName", "Value": "music"}]}}}]
    data = aws("get-metric-data", service="cloudwatch", start_time=begin, end_time=end, metric_data_queries=query)["MetricDataResults"][0]
    assert data["StatusCode"] == "Complete"
    points = aws("get-metric-statistics", service="cloudwatch", start_time=begin, end_time=end, period="60", statistics="Sum", namespace="AWS/DynamoDB",
                 metric_name="ConsumedWriteCapacityUnits", dimensions="Name=TableName,Value=music")["Datapoints"]
    assert sum(point["Sum"] for point in points) >= sum(data["Values"]) > 0


# What throttles

def test_a_table_throttles():
    aws("create-table", table_name="small", attribute_definitions="AttributeName=id,AttributeType=S", key_schema="AttributeName=id,KeyType=HASH",
        provisioned_throughput="ReadCapacityUnits=1,WriteCapacityUnits=1")
    item = {"id": {"S": "a"}, "text": {"S": "x" * 100_000}}
    with pytest.raises(Refused) as caught:
        for _ in range(20):
            aws("put-item", table_name="small", item=item)
    assert "ProvisionedThroughputExceededException" in str(caught.value)


# What there is not

def sample(shape):
    """The least value that the CLI lets pass."""
    if shape.type_name == "structure":
        return {name: sample(member) for name, member in shape.members.items() if name in shape.required_members}
    if shape.type_name == "list":
        return [sample(shape.member)]
    if shape.type_name == "map":
        return {"k": sample(shape.value)}
    if shape.type_name == "string":
        return (shape.enum or ["x" * max(3, shape.metadata.get("min", 0))])[0]
    return {"boolean": False, "timestamp": 0, "blob": "AA=="}.get(shape.type_name, 1)


NEWEST = botocore.session.get_session().get_service_model("dynamodb")


@pytest.mark.parametrize("name", [o["name"] for o in OPERATIONS if o["refused"]])
def test_an_operation_is_refused(name):
    model = NEWEST.operation_model(name)
    request = sample(model.input_shape) if model.input_shape else {}
    words = "heatsink does not implement the operation " + name
    command = {operation: command for command, operation in SERVICES["dynamodb"].items()}.get(name)
    if command:
        refused(words, command, cli_input_json=request)
        return
    # The CLI has not heard of it. The library that is beneath newer ones has.
    tried.add(("dynamodb", name))
    with pytest.raises(Exception, match=words):
        botocore.session.get_session().create_client("dynamodb")._make_api_call(name, request)


@pytest.mark.parametrize("waiter,parameters", [
    ("export-completed", {"export_arn": "arn:aws:dynamodb:us-east-1:000000000000:table/music/export/01"}),
    ("import-completed", {"import_arn": "arn:aws:dynamodb:us-east-1:000000000000:table/music/import/01"}),
    ("kinesis-streaming-destination-active", {"table_name": "music"})])
def test_a_waiter_is_refused(waiter, parameters):
    refused("heatsink does not implement the operation Describe", "wait " + waiter, **parameters)


# The end

def test_delete_tables():
    for table in ("plain", "restored", "earlier", "small"):
        aws("delete-table", table_name=table)
        aws("wait table-not-exists", table_name=table)
    assert aws("list-tables") == {"TableNames": ["music"]}


def test_every_operation_was_tried():
    assert {(o["service"], o["name"]) for o in OPERATIONS} - tried == set()


def test_the_cli_has_no_other_operations():
    known = {(o["service"], o["name"]) for o in OPERATIONS}
    has = {(service, name) for service in ("dynamodb", "dynamodbstreams") for name in SERVICES[service].values()}
    assert has <= known
    assert {("dynamodb", name) for name in NEWEST.operation_names} <= known
