"""Shard keys as heatsink writes them: docs/key-format.md. A test compares this file with the Go library."""
import hashlib, re, struct, zlib
from datetime import timezone
from decimal import Context, Decimal
from math import prod

M = 2**64 - 1
P1, P2, P3, P4, P5 = 0x9E3779B185EBCA87, 0xC2B2AE3D27D4EB4F, 0x165667B19E3779F9, 0x85EBCA77C2B2AE63, 0x27D4EB2F165667C5
rotl = lambda x, r: (x << r | x >> 64 - r) & M
step = lambda acc, lane: rotl(acc + lane * P2 & M, 31) * P1 & M

def xxhash(b):  # 64 bits, seed 0
    n, i, h = len(b), 0, P5
    if n >= 32:
        v = [P1 + P2 & M, P2, 0, -P1 & M]
        for i in range(0, n - 31, 32):
            v = [step(a, lane) for a, lane in zip(v, struct.unpack_from("<4Q", b, i))]
        i, h = i + 32, sum(rotl(a, r) for a, r in zip(v, (1, 7, 12, 18)))
        for a in v: h = ((h ^ step(0, a)) & M) * P1 + P4 & M
    h = h + n & M
    while i + 8 <= n: h, i = rotl(h ^ step(0, struct.unpack_from("<Q", b, i)[0]), 27) * P1 + P4 & M, i + 8
    if i + 4 <= n: h, i = rotl(h ^ struct.unpack_from("<I", b, i)[0] * P1 & M, 23) * P2 + P3 & M, i + 4
    for c in b[i:]: h = rotl(h ^ c * P5 & M, 11) * P1 & M
    h = (h ^ h >> 33) * P2 & M
    h = (h ^ h >> 29) * P3 & M
    return h ^ h >> 32

def fnv(b):  # FNV-1a, 64 bits
    h = 14695981039346656037
    for c in b: h = (h ^ c) * 1099511628211 & M
    return h

HASHES = {"xxhash": xxhash, "fnv": fnv, "crc32": zlib.crc32, "md5": lambda b: int(hashlib.md5(b).hexdigest(), 16),
          "product": lambda b: prod(map(ord, b.decode("utf-8", "replace")))}

def shard_of(id, shards, hash="xxhash"): return HASHES[hash](id) % shards if shards > 1 else 0

def text(kind, v):  # an attribute as bytes: S, N as its shortest decimal, B
    return v if kind == "B" else (format(Context(prec=38).normalize(Decimal(v)) or Decimal(0), "f") if kind == "N" else v).encode()
def varint(n): return bytes([n]) if n < 128 else bytes([n & 127 | 128]) + varint(n >> 7)
def id_of(*attributes):  # of (kind, value): one is hashed as it is, of several each with its kind and length
    parts = [(kind, text(kind, v)) for kind, v in attributes]
    return parts[0][1] if len(parts) == 1 else b"".join(k.encode() + varint(len(t)) + t for k, t in parts)

def bucket_text(at, bucket, hour_mark="T"):
    at = at.astimezone(timezone.utc); iso, (year, week, _) = at.isoformat(), at.isocalendar()
    return {"hour": iso[:10] + hour_mark + iso[11:13], "day": iso[:10], "week": f"{year:04}-W{week:02}", "month": iso[:7], "year": iso[:4]}[bucket]
def shard_key(key, shard, bucket="", bucket_prefix="#", prefix="#SHARD_", first=0, width=0, bare_zero=False):
    if re.search(re.escape(prefix) + r"[0-9]+\Z", key): raise ValueError(f"{key!r} already ends like a shard")
    return key + (bucket_prefix + bucket if bucket else "") + ("" if bare_zero and shard == 0 else f"{prefix}{shard + first:0{width}d}")
