// Shards as heatsink reads them: docs/key-format.md. A test compares this file with the Go library.
import { shardKey } from "./writer.mjs";

// How sort keys are ordered: strings by their UTF-8 bytes (not as JavaScript does), binaries by their bytes. For numbers that a
// double holds, use (a, b) => a - b.
export const byBytes = (a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b));

const quoted = (text) => text.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");
const periods = { hour: (mark) => `\\d{4}-\\d\\d-\\d\\d${quoted(mark)}\\d\\d`, day: () => "\\d{4}-\\d\\d-\\d\\d", week: () => "\\d{4}-W\\d\\d", month: () => "\\d{4}-\\d\\d", year: () => "\\d{4}" };

// The partition keys to query, in the order of their shards. Call it once for each bucket of the time range.
export const shardKeys = (key, shards, format = {}) => Array.from({ length: shards }, (_, n) => shardKey(key, n, format));

// {key, bucket, shard} of a stored partition key, or null if this layout did not write it.
export function parse(stored, shards, { period = "", hourMark = "T", ...format } = {}) {
  const { bucketPrefix = "#", prefix = "#SHARD_", first = 0, bareZero = false } = format;
  const time = period ? `${quoted(bucketPrefix)}(${periods[period](hourMark)})` : "()";
  for (const [suffix, bare] of [[quoted(prefix) + "(\\d+)", false], ["()", true]]) {
    const found = new RegExp(`^(.+)${time}${suffix}$`, "s").exec(stored);
    if (!found || (bare && !bareZero)) continue;
    const [, key, bucket, number] = found, shard = bare ? 0 : Number(number) - first;
    try { return shard >= 0 && shard < shards && shardKey(key, shard, { ...format, bucket }) === stored ? { key, bucket, shard } : null; } catch { return null; }
  }
  return null;
}

// The items of all shards of one bucket in one order. shards are iterables in the order of their numbers, each as DynamoDB returns
// it (ScanIndexForward = !reverse); compare orders two items by their sort keys. Equal sort keys come in the order of shards. Buckets
// are read one after another, backwards if reverse. A shard is asked for its next item when its last one was taken.
export function* merge(shards, compare, reverse = false) {
  const sources = shards.map((shard) => shard[Symbol.iterator]()), heads = sources.map((source) => source.next());
  for (;;) {
    let best = -1;
    heads.forEach(({ done, value }, n) => {
      if (done) return;
      const order = best < 0 ? -1 : compare(value, heads[best].value);
      if (best < 0 || (reverse ? order >= 0 : order < 0)) best = n;
    });
    if (best < 0) return;
    yield heads[best].value;
    heads[best] = sources[best].next();
  }
}
