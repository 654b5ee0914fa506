"""Shards as heatsink reads them: docs/key-format.md. A test compares this file with the Go library."""
import heapq, re
from decimal import Decimal
from writer import shard_key

# How sort keys are ordered: strings by their UTF-8 bytes, numbers by value, binaries by their bytes.
ORDERS = {"S": lambda v: v.encode(), "N": Decimal, "B": lambda v: v}
BUCKETS = {"": "", "hour": r"\d{4}-\d\d-\d\d%s\d\d", "day": r"\d{4}-\d\d-\d\d", "week": r"\d{4}-W\d\d", "month": r"\d{4}-\d\d", "year": r"\d{4}"}

def shard_keys(key, shards, bucket="", **format):
    """The partition keys to query, in the order of their shards. Call it once for each bucket of the time range."""
    return [shard_key(key, n, bucket, **format) for n in range(shards)]

def parse(stored, shards, period="", hour_mark="T", **format):
    """(key, bucket, shard) of a stored partition key, or None if this layout did not write it."""
    prefix, first = format.get("prefix", "#SHARD_"), format.get("first", 0)
    time = f"{re.escape(format.get('bucket_prefix', '#'))}({BUCKETS[period].replace('%s', re.escape(hour_mark))})" if period else "()"
    for suffix, bare in ((re.escape(prefix) + "([0-9]+)", False), ("()", True)):
        found = re.fullmatch("(.+)" + time + suffix, stored, re.S | re.A)
        if found and bare <= format.get("bare_zero", False):
            key, bucket, shard = found[1], found[2], 0 if bare else int(found[3]) - first
            try: return (key, bucket, shard) if 0 <= shard < shards and shard_key(key, shard, bucket, **format) == stored else None
            except ValueError: return None
    return None

def merge(shards, order, reverse=False):
    """The items of all shards of one bucket in one order. shards are iterables in the order of their numbers, each as DynamoDB
    returns it (ScanIndexForward = not reverse); order(item) is what its sort key is compared by. Equal sort keys come in the order
    of shards. Buckets are read one after another, backwards if reverse. A shard is asked for its next page when its last item is taken."""
    def numbered(n, items): return ((order(item), n, item) for item in items)
    sources = [numbered(n, items) for n, items in enumerate(shards)]
    for _, _, item in heapq.merge(*sources, key=lambda e: e[:2], reverse=reverse): yield item
