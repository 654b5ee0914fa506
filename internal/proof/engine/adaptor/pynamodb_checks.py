"""What the manual of PynamoDB shows."""
from datetime import datetime, timedelta, timezone

import pytest
from pynamodb.attributes import (BooleanAttribute, JSONAttribute, ListAttribute, MapAttribute, NumberAttribute, NumberSetAttribute,
                                 TTLAttribute, UnicodeAttribute, UnicodeSetAttribute, UTCDateTimeAttribute, VersionAttribute, BinaryAttribute)
from pynamodb.connection import Connection
from pynamodb.exceptions import (DeleteError, DoesNotExist, PutError, TableError, TransactGetError, TransactWriteError, UpdateError)
from pynamodb.indexes import AllProjection, GlobalSecondaryIndex, KeysOnlyProjection, LocalSecondaryIndex
from pynamodb.models import Model
from pynamodb.transactions import TransactGet, TransactWrite


class ByViews(GlobalSecondaryIndex):
    class Meta:
        projection = AllProjection()
    forum = UnicodeAttribute(hash_key=True)
    views = NumberAttribute(range_key=True)


class ByPosted(LocalSecondaryIndex):
    class Meta:
        projection = KeysOnlyProjection()
    forum = UnicodeAttribute(hash_key=True)
    posted = UTCDateTimeAttribute(range_key=True)


class Author(MapAttribute):
    name = UnicodeAttribute()
    age = NumberAttribute(null=True)


class Thread(Model):
    class Meta:
        table_name = "threads"
        billing_mode = "PAY_PER_REQUEST"
        stream_view_type = "NEW_AND_OLD_IMAGES"
        max_retry_attempts = 0
    forum = UnicodeAttribute(hash_key=True)
    subject = UnicodeAttribute(range_key=True)
    views = NumberAttribute(default=0)
    posted = UTCDateTimeAttribute(null=True)
    tags = UnicodeSetAttribute(null=True)
    scores = NumberSetAttribute(null=True)
    author = Author(null=True)
    replies = ListAttribute(null=True)
    extra = JSONAttribute(null=True)
    open = BooleanAttribute(null=True)
    raw = BinaryAttribute(null=True, legacy_encoding=False)
    ttl = TTLAttribute(null=True)
    by_views = ByViews()
    by_posted = ByPosted()


class Versioned(Model):
    class Meta:
        table_name = "versioned"
        read_capacity_units = 5
        write_capacity_units = 5
        max_retry_attempts = 0
    id = UnicodeAttribute(hash_key=True)
    name = UnicodeAttribute(null=True)
    version = VersionAttribute()


POSTED = datetime(2026, 11, 20, 1, 2, 3, 4, tzinfo=timezone.utc)


def test_tables_are_made():
    assert not Thread.exists()
    Thread.create_table(wait=True)
    Versioned.create_table(wait=True)
    assert Thread.exists()
    assert {"threads", "versioned"} <= set(Connection().list_tables()["TableNames"])


def test_a_table_is_described():
    table = Connection().describe_table("threads")
    assert [index["IndexName"] for index in table["GlobalSecondaryIndexes"]] == ["by_views"]
    assert [index["IndexName"] for index in table["LocalSecondaryIndexes"]] == ["by_posted"]
    assert table["StreamSpecification"]["StreamViewType"] == "NEW_AND_OLD_IMAGES"


def test_ttl_is_on_already():
    with pytest.raises(TableError, match="TimeToLive is already enabled"):
        Thread.update_ttl(ignore_update_ttl_errors=False)


def test_save_and_get():
    ttl = timedelta(days=1)
    Thread("a", "1", views=7, posted=POSTED, tags={"x", "y"}, scores={1, 2.5}, author=Author(name="Ann", age=3),
           replies=["r", 1, {"k": True}], extra={"a": [1, None]}, open=True, raw=b"\0\1", ttl=ttl).save()
    thread = Thread.get("a", "1", consistent_read=True)
    assert (thread.views, thread.posted, thread.tags, thread.scores) == (7, POSTED, {"x", "y"}, {1, 2.5})
    assert (thread.author.name, thread.replies[2], thread.extra, thread.raw) == ("Ann", {"k": True}, {"a": [1, None]}, b"\0\1")
    assert thread.ttl > datetime.now(timezone.utc)


def test_some_attributes():
    thread = Thread.get("a", "1", attributes_to_get=["views"])
    assert (thread.views, thread.tags) == (7, None)


def test_an_item_that_is_not_there():
    with pytest.raises(DoesNotExist):
        Thread.get("a", "none")


def test_save_on_a_condition():
    with pytest.raises(PutError) as caught:
        Thread("a", "1").save(Thread.forum.does_not_exist())
    assert caught.value.cause_response_code == "ConditionalCheckFailedException"
    Thread("a", "1b").save(Thread.forum.does_not_exist() | (Thread.views > 3))


def test_update():
    thread = Thread.get("a", "1")
    thread.update(actions=[Thread.views.set(Thread.views + 3), Thread.tags.delete({"x"}), Thread.scores.add({9}), Thread.open.remove(),
                           Thread.replies.set(Thread.replies.append(["s"])), Thread.author.name.set("Bob")])
    assert (thread.views, thread.tags, thread.scores, thread.open, thread.author.name) == (10, {"y"}, {1, 2.5, 9}, None, "Bob")
    assert thread.replies[-1] == "s"


def test_update_prepends_and_sets_once():
    thread = Thread.get("a", "1")
    thread.update(actions=[Thread.replies.set(Thread.replies.prepend(["first"])), Thread.open.set(Thread.open | False)])
    assert (thread.replies[0], thread.open) == ("first", False)
    thread.update(actions=[Thread.replies[1].remove()])
    assert Thread.get("a", "1").replies[:2] == ["first", 1]


def test_update_on_a_condition():
    with pytest.raises(UpdateError):
        Thread.get("a", "1").update(actions=[Thread.views.set(0)], condition=Thread.views.between(100, 200))
    for condition in (Thread.tags.contains("y"), Thread.subject.startswith("1"), Thread.views.is_in(1, 10), ~(Thread.views == 3),
                      Thread.author.name == "Bob", Thread.raw.exists()):
        Thread.get("a", "1").update(actions=[Thread.views.set(10)], condition=condition)


def test_delete_on_a_condition():
    with pytest.raises(DeleteError):
        Thread.get("a", "1").delete(Thread.views == 3)
    Thread.get("a", "1b").delete(Thread.views == 0)
    with pytest.raises(DoesNotExist):
        Thread.get("a", "1b")


def test_batches_write():
    with Thread.batch_write() as batch:
        for i in range(120):
            batch.save(Thread(f"f{i % 2}", f"{i:03}", views=i, posted=POSTED + timedelta(hours=120 - i)))
    with Thread.batch_write() as batch:
        batch.delete(Thread("f0", "000"))
    assert Thread.count("f0") == 59


def test_batches_get():
    found = Thread.batch_get([(f"f{i % 2}", f"{i:03}") for i in range(120)], consistent_read=True)
    assert sum(thread.views for thread in found) == sum(range(120))


def test_query():
    assert [thread.views for thread in Thread.query("f0", Thread.subject.between("010", "020"))] == [10, 12, 14, 16, 18, 20]
    assert len(list(Thread.query("f1", Thread.subject.startswith("00")))) == 5
    assert [thread.views for thread in Thread.query("f0", Thread.subject > "050", scan_index_forward=False, limit=2)] == [118, 116]


def test_query_with_a_filter():
    assert Thread.count("f0", filter_condition=(Thread.views >= 100) & Thread.tags.does_not_exist()) == 10


def test_query_page_by_page():
    seen, last = [], None
    while True:
        page = Thread.query("f1", limit=7, page_size=7, last_evaluated_key=last)
        seen += [thread.views for thread in page]
        last = page.last_evaluated_key
        if last is None:
            break
    assert seen == list(range(1, 120, 2))


def test_query_goes_on_by_itself():
    found = Thread.query("f1", page_size=10)
    assert len(list(found)) == 60
    assert found.total_count == 60


def test_query_of_a_global_index():
    assert [thread.views for thread in Thread.by_views.query("f0", ByViews.views < 10)] == [2, 4, 6, 8]
    assert Thread.by_views.count("f1", ByViews.views >= 100) == 10


def test_query_of_a_global_index_page_by_page():
    seen, last = [], None
    while True:
        page = Thread.by_views.query("f0", limit=9, last_evaluated_key=last)
        seen += [thread.views for thread in page]
        last = page.last_evaluated_key
        if last is None:
            break
    assert seen == list(range(2, 120, 2))


def test_query_of_a_local_index():
    found = Thread.by_posted.query("f0", ByPosted.posted < POSTED + timedelta(hours=10), consistent_read=True)
    assert [thread.subject for thread in found] == ["118", "116", "114", "112"]


def test_scan():
    assert len(list(Thread.scan())) == 120
    assert len(list(Thread.scan(Thread.views > 110, page_size=30))) == 9
    assert sum(len(list(Thread.scan(segment=i, total_segments=3))) for i in range(3)) == 120
    assert len(list(Thread.by_views.scan(limit=13))) == 13


def test_scan_at_a_rate():
    assert len(list(Thread.scan(page_size=60))) == 120


def test_a_transaction_writes_all_of_it():
    with TransactWrite(connection=Connection(), client_request_token="once") as transaction:
        transaction.save(Thread("t", "1", views=1), condition=Thread.forum.does_not_exist())
        transaction.update(Thread("f0", "002"), actions=[Thread.views.add(100)], condition=Thread.views == 2)
        transaction.delete(Thread("f0", "004"))
        transaction.condition_check(Thread, "f0", "006", condition=Thread.views == 6)
    assert Thread.get("f0", "002").views == 102
    with pytest.raises(DoesNotExist):
        Thread.get("f0", "004")


def test_a_transaction_writes_nothing_of_it():
    with pytest.raises(TransactWriteError) as caught:
        with TransactWrite(connection=Connection()) as transaction:
            transaction.save(Thread("t", "2"))
            transaction.condition_check(Thread, "f0", "006", condition=Thread.views == 7)
    # PynamoDB sends the checks first.
    assert [reason and reason.code for reason in caught.value.cancellation_reasons] == ["ConditionalCheckFailed", None]
    with pytest.raises(DoesNotExist):
        Thread.get("t", "2")


def test_a_failed_transaction_returns_the_item():
    with pytest.raises(TransactWriteError) as caught:
        with TransactWrite(connection=Connection()) as transaction:
            transaction.save(Thread("t", "1"), condition=Thread.views == 7, return_values="ALL_OLD")
    assert caught.value.cancellation_reasons[0].raw_item["views"] == {"N": "1"}


def test_a_transaction_reads():
    with TransactGet(connection=Connection()) as transaction:
        one, other = transaction.get(Thread, "t", "1"), transaction.get(Thread, "t", "none")
    assert one.get().views == 1
    with pytest.raises(DoesNotExist):
        other.get()


def test_a_transaction_of_too_much():
    with pytest.raises(TransactGetError):
        with TransactGet(connection=Connection()) as transaction:
            for i in range(101):
                transaction.get(Thread, "t", str(i))


def test_versions():
    one = Versioned("v", name="a")
    one.save()
    other = Versioned.get("v")
    one.name = "b"
    one.save()
    other.name = "c"
    with pytest.raises(PutError):
        other.save()
    with pytest.raises(UpdateError):
        other.update(actions=[Versioned.name.set("d")])
    assert (Versioned.get("v").name, one.version) == ("b", 2)


def test_capacity_is_changed():
    Connection().update_table("versioned", read_capacity_units=7, write_capacity_units=6)
    assert Connection().describe_table("versioned")["ProvisionedThroughput"]["ReadCapacityUnits"] == 7


def test_tables_are_deleted():
    Thread.delete_table()
    Versioned.delete_table()
    assert not Thread.exists()
