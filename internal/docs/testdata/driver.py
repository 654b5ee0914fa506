"""Answers what reference_test.go asks: one JSON document in, one out."""
import base64, json, sys
from datetime import datetime

sys.path.insert(0, sys.argv[1])
sys.dont_write_bytecode = True
import reader, writer

def place(q):
    kind, id = q["kinds"], [base64.b64decode(v) for v in q["values"]]
    id = writer.id_of(*((k, v if k == "B" else v.decode()) for k, v in zip(kind, id)))
    shard = writer.shard_of(id, q["shards"], q["hash"])
    bucket = writer.bucket_text(datetime.fromtimestamp(q["at"], writer.timezone.utc), q["period"], q["hourMark"]) if q["period"] else ""
    format = dict(bucket_prefix=q["bucketPrefix"], prefix=q["prefix"], first=q["first"], width=q["width"], bare_zero=q["bareZero"])
    stored = writer.shard_key(q["key"], shard, bucket, **format)
    back = reader.parse(stored, q["shards"], q["period"], q["hourMark"], **format)
    return {"stored": stored, "back": list(back) if back else None}

def merged(q):
    order = reader.ORDERS[q["kind"]]
    return [i[1] for i in reader.merge(q["shards"], lambda i: order(i[0]), q["reverse"])]

asked = json.load(sys.stdin)
json.dump({
    "places": [place(q) for q in asked.get("places", [])],
    "keys": [reader.shard_keys(*q) for q in asked.get("keys", [])],
    "merges": [merged(q) for q in asked.get("merges", [])],
    "strays": [reader.parse(*q) is not None for q in asked.get("strays", [])],
}, sys.stdout)
