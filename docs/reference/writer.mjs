// Shard keys as heatsink writes them: docs/key-format.md. A test compares this file with the Go library.
import { createHash } from "node:crypto";

const M = (1n << 64n) - 1n;
const [P1, P2, P3, P4, P5] = [0x9E3779B185EBCA87n, 0xC2B2AE3D27D4EB4Fn, 0x165667B19E3779F9n, 0x85EBCA77C2B2AE63n, 0x27D4EB2F165667C5n];
const rotl = (x, r) => ((x << r) | (x >> (64n - r))) & M;
const step = (acc, lane) => (rotl((acc + lane * P2) & M, 31n) * P1) & M;

function xxhash(b) { // 64 bits, seed 0
  let i = 0, h = P5;
  if (b.length >= 32) {
    let v = [(P1 + P2) & M, P2, 0n, -P1 & M];
    for (; i + 32 <= b.length; i += 32) v = v.map((a, k) => step(a, b.readBigUInt64LE(i + 8 * k)));
    h = rotl(v[0], 1n) + rotl(v[1], 7n) + rotl(v[2], 12n) + rotl(v[3], 18n);
    for (const a of v) h = (((h ^ step(0n, a)) & M) * P1 + P4) & M;
  }
  h = (h + BigInt(b.length)) & M;
  for (; i + 8 <= b.length; i += 8) h = (rotl(h ^ step(0n, b.readBigUInt64LE(i)), 27n) * P1 + P4) & M;
  if (i + 4 <= b.length) { h = (rotl(h ^ ((BigInt(b.readUInt32LE(i)) * P1) & M), 23n) * P2 + P3) & M; i += 4; }
  for (const c of b.subarray(i)) h = (rotl(h ^ ((BigInt(c) * P5) & M), 11n) * P1) & M;
  h = ((h ^ (h >> 33n)) * P2) & M;
  h = ((h ^ (h >> 29n)) * P3) & M;
  return h ^ (h >> 32n);
}
const fnv = (b) => b.reduce((h, c) => ((h ^ BigInt(c)) * 1099511628211n) & M, 14695981039346656037n);
const crc32 = (b) => BigInt(~b.reduce((h, c) => { h ^= c; for (let k = 0; k < 8; k++) h = (h >>> 1) ^ (h & 1 ? 0xEDB88320 : 0); return h; }, -1) >>> 0);
const md5 = (b) => BigInt("0x" + createHash("md5").update(b).digest("hex"));
const product = (b) => [...b.toString()].reduce((h, c) => h * BigInt(c.codePointAt(0)), 1n);
const hashes = { xxhash, fnv, crc32, md5, product };
export const shardOf = (id, shards, hash = "xxhash") => shards > 1 ? Number(hashes[hash](id) % BigInt(shards)) : 0;
function decimal(text) { // a number's shortest form: no exponent, and no zero that says nothing
  const [, minus, whole, part = "", e = "0"] = /^([+-]?)(\d*)\.?(\d*)(?:[eE]([+-]?\d+))?$/.exec(text), point = whole.length + Number(e);
  const digits = (whole + part).padStart(whole.length + part.length + Math.max(0, -point), "0").padEnd(point, "0"), at = Math.max(point, 0);
  const short = (digits.slice(0, at).replace(/^0+/, "") || "0") + ("." + digits.slice(at)).replace(/\.?0*$/, "");
  return (minus === "-" && short !== "0" ? "-" : "") + short;
}
const bytes = ([kind, v]) => Buffer.from(kind === "N" ? decimal(v) : v);
const varint = (n) => n < 128 ? [n] : [(n & 127) | 128, ...varint(n >>> 7)];
export const idOf = (...attributes) => attributes.length === 1 ? bytes(attributes[0])
  : Buffer.concat(attributes.flatMap((a) => [Buffer.from(a[0]), Buffer.from(varint(bytes(a).length)), bytes(a)]));
export function bucketText(at, bucket, hourMark = "T") {
  const iso = at.toISOString(), thursday = new Date(Date.parse(iso.slice(0, 10)) + (4 - (at.getUTCDay() || 7)) * 864e5), year = thursday.toISOString().slice(0, 4);
  const week = () => `${year}-W${String(Math.floor((thursday - Date.parse(year + "-01-01")) / (7 * 864e5)) + 1).padStart(2, "0")}`;
  return { hour: () => iso.slice(0, 10) + hourMark + iso.slice(11, 13), day: () => iso.slice(0, 10), week, month: () => iso.slice(0, 7), year: () => iso.slice(0, 4) }[bucket]();
}
export function shardKey(key, shard, { bucket = "", bucketPrefix = "#", prefix = "#SHARD_", first = 0, width = 0, bareZero = false } = {}) {
  if (/[0-9]$/.test(key) && key.replace(/[0-9]+$/, "").endsWith(prefix)) throw new RangeError(`${key} already ends like a shard`);
  return key + (bucket && bucketPrefix + bucket) + (bareZero && shard === 0 ? "" : prefix + String(shard + first).padStart(width, "0"));
}
