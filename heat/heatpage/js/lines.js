// ---- lines: what is drawn, from the top down. A line has one row, or several together.

let lines = [];
const heights = { partition: 19, key: 16, gap: 6 };

function newLine(id, label, level, slots, total, of) {
  return Object.assign({ id, label, level, slots, total, y: 0, h: level ? heights.key : heights.partition }, of);
}

// totals returns what each row took in the time that is drawn, by slot, and in its busiest column a second.
function totals() {
  const mine = new Uint8Array(state.slots.length), sums = new Float64Array(state.slots.length), peaks = new Float64Array(state.slots.length);
  state.slots.forEach((r, slot) => { if (r && r.flow === view.flow) mine[slot] = 1; });
  let first = Infinity;
  for (const c of state.columns) if (c.t < first && c.r.some((slot) => mine[slot])) { first = c.t; break; }
  setPeriod(first);
  for (const c of state.columns) {
    if (c.t < period.from) continue;
    for (let i = 0; i < c.r.length; i++) {
      const took = c.u[i] + c.x[i], slot = c.r[i];
      sums[slot] += took;
      if (took / c.d > peaks[slot]) peaks[slot] = took / c.d;
    }
  }
  return { mine, sums, peaks };
}

// byHeat sorts the hottest first. Lines of about the same heat keep their order, so that they do not jump about.
const heat = (l) => l.total > 0 ? Math.floor(Math.log2(l.total)) : -1e9;
const byHeat = (a, b) => heat(b) - heat(a) || (a.order < b.order ? -1 : a.order > b.order ? 1 : 0);

// logicalOf returns the key that a row is a shard of. Of a key with a ledger, the bare key is shard 0; elsewhere it is another key.
const bareShards = { version: -1, flow: "", keys: new Set() };
function logicalOf(r) {
  if (bareShards.version !== state.version || bareShards.flow !== view.flow) Object.assign(bareShards, { version: state.version, flow: view.flow, keys: new Set(ofFlow(state.ledgers).map((l) => l.key)) });
  return r.logical || (bareShards.keys.size && bareShards.keys.has(r.key) ? r.key : "");
}

const coldest = 0.01; // of what a partition serves: a key that never took more needs no line

// keyLines makes the lines of the keys inside one partition, or of all. The coldest are one line, unless all are wanted.
function keyLines(rows, { sums, peaks }, prefix, level, inside) {
  const shards = new Map(); // by the key that they belong to
  let all = [], rest = [];
  for (const r of rows) {
    const total = sums[r.slot], folded = view.rows === "keys" && logicalOf(r), g = folded && shards.get(folded);
    if (!(total > 0)) continue;
    if (g) { g.slots.push(r.slot); g.total += total; g.peak += peaks[r.slot]; continue; }
    const made = { row: r, folded, slots: [r.slot], total, peak: peaks[r.slot] };
    all.push(made);
    if (folded) shards.set(folded, made);
  }
  all.sort((a, b) => b.total - a.total);
  if (!view.cold) {
    const least = coldest * limitOf();
    let kept = 0;
    while (kept < all.length && (kept < 3 || kept < 50 && all[kept].total > all[0].total / 20 && all[kept].peak > least)) kept++;
    if (all.length - kept > 1) { rest = all.slice(kept); all = all.slice(0, kept); }
  }
  const made = all.map((g) => {
    const r = g.row, key = g.folded || r.key;
    const name = g.folded ? brief(key) : r.label;
    let more = "", less = ""; // what is known beside the name, and the same where there is little room
    if (g.folded) { more = ` (${count(g.slots.length, "shard")})`; less = " ×" + g.slots.length; }
    else if (r.homes.length > 1) { more = ` (in ${r.homes.length} partitions, together)`; less = " ÷" + r.homes.length; }
    return newLine(prefix + (g.folded ? "shards of " + key : "row " + r.id), name + more, level, g.slots, g.total, { key, name, more, less, order: key, together: inside });
  }).sort(byHeat);
  if (rest.length) made.push(newLine(prefix + "colder", `${number(rest.length)} colder keys`, level, rest.flatMap((g) => g.slots), rest.reduce((sum, g) => sum + g.total, 0), { colder: true, together: inside }));
  return made;
}

// idleLine tells of partitions that took nothing.
function idleLine(drawn) {
  const flow = flowOf(), all = flow ? state.partitions.filter((p) => p.resource === flow.resource) : [];
  const idle = all.filter((p) => !drawn.has(p.id)).length;
  return idle ? [newLine("idle", `${count(idle, "partition")} idle`, 0, [], 0, { heading: true })] : [];
}

function makeLines() {
  const took = totals(), { mine, sums } = took, keys = [], homes = [], others = [];
  for (let slot = 0; slot < mine.length; slot++) {
    if (!mine[slot]) continue;
    const r = state.slots[slot];
    (r.kind === "key" ? keys : r.kind === "partition" ? homes : others).push(r);
  }
  const partitions = homes.map((p) => newLine("#" + p.number, "partition #" + p.number, 0, [p.slot], sums[p.slot], { partition: p.number, order: p.number }));
  const drawn = new Set(partitions.filter((l) => l.total > 0).map((l) => l.partition));
  if (view.rows === "partitions") lines = [...partitions.filter((l) => l.total > 0).sort((a, b) => a.partition - b.partition), ...idleLine(drawn)];
  else if (!partitions.length) lines = keyLines(keys, took, "", 0);
  else lines = blocks(partitions.sort(byHeat), keys, took, drawn);
  if (view.rows !== "partitions") for (const o of others) if (sums[o.slot] > 0) lines.push(newLine("others", "other keys", 0, [o.slot], sums[o.slot], { others: true }));
  let y = 0;
  for (const l of lines) {
    if (y && !l.level && partitions.length && view.rows !== "partitions") y += heights.gap;
    l.y = y; y += l.h;
  }
}

// blocks draws keys inside their partitions.
function blocks(partitions, keys, took, drawn) {
  const inside = new Map(), lost = [], { sums } = took;
  for (const r of keys) {
    if (!(sums[r.slot] > 0)) continue;
    let found = false;
    for (const h of r.homes) {
      if (!drawn.has(h)) continue;
      found = true;
      if (inside.has(h)) inside.get(h).push(r); else inside.set(h, [r]);
    }
    if (!found) lost.push(r);
  }
  const all = [];
  for (const p of partitions) if (p.total > 0) all.push(p, ...keyLines(inside.get(p.partition) || [], took, p.id + "|", 1, true));
  const rest = keyLines(lost, took, "?|", 1);
  if (rest.length) all.push(newLine("?", "other partitions", 0, [], 0, { heading: true }), ...rest);
  return [...all, ...idleLine(drawn)];
}
