// Answers what reference_test.go asks: one JSON document in, one out.
import { readFileSync } from "node:fs";
import { pathToFileURL } from "node:url";

const dir = pathToFileURL(process.argv[2] + "/").href;
const writer = await import(dir + "writer.mjs"), reader = await import(dir + "reader.mjs");

function place(q) {
  const values = q.values.map((v) => Buffer.from(v, "base64"));
  const id = writer.idOf(...values.map((v, i) => [q.kinds[i], q.kinds[i] === "B" ? v : v.toString()]));
  const format = { bucketPrefix: q.bucketPrefix, prefix: q.prefix, first: q.first, width: q.width, bareZero: q.bareZero };
  const bucket = q.period ? writer.bucketText(new Date(q.at * 1000), q.period, q.hourMark) : "";
  const stored = writer.shardKey(q.key, writer.shardOf(id, q.shards, q.hash), { ...format, bucket });
  const back = reader.parse(stored, q.shards, { ...format, period: q.period, hourMark: q.hourMark });
  return { stored, back: back && [back.key, back.bucket, back.shard] };
}

function merged(q) {
  const compare = q.kind === "N" ? (a, b) => Number(a[0]) - Number(b[0]) : (a, b) => reader.byBytes(a[0], b[0]);
  return [...reader.merge(q.shards, compare, q.reverse)].map((i) => i[1]);
}

const asked = JSON.parse(readFileSync(0, "utf8"));
process.stdout.write(JSON.stringify({
  places: (asked.places ?? []).map(place),
  keys: (asked.keys ?? []).map(([key, shards]) => reader.shardKeys(key, shards)),
  merges: (asked.merges ?? []).map(merged),
  strays: (asked.strays ?? []).map(([stored, shards]) => reader.parse(stored, shards) !== null),
}));
