// ---- cell: the one that somebody points at or has chosen

const hint = "Click a cell, or select one with the arrow keys.";

function chosenCell() {
  if (!view.chosen) return null;
  const index = lines.findIndex((l) => l.id === view.chosen.id), place = timeAt(view.chosen.t);
  return index < 0 || place < 0 ? null : { index, line: lines[index], place, time: times[place] };
}

function choose(index, t) {
  const l = lines[index];
  if (!l || l.heading && !l.slots.length) return;
  view.chosen = { id: l.id, t };
  const room = map.clientHeight - axis - l.h;
  if (l.y < map.scrollTop) map.scrollTop = l.y;
  if (l.y > map.scrollTop + room) map.scrollTop = l.y - room;
  detail(); redraw();
}

// pointed returns the line and the time at a place of the picture.
function pointed(e) {
  const box = canvas.getBoundingClientRect(), px = e.clientX - box.left, py = e.clientY - box.top;
  const index = py <= axis ? -1 : lines.findIndex((l) => py - axis + map.scrollTop >= l.y && py - axis + map.scrollTop < l.y + l.h);
  const t = period.from + (px - plot.left) / (plot.right - plot.left) * (period.to - period.from);
  return { index, px, py, place: px < plot.left || px > plot.right ? times.length - 1 : timeAt(t) };
}

canvas.addEventListener("click", (e) => {
  const at = pointed(e);
  if (at.index >= 0 && times.length) choose(at.index, times[at.place < 0 ? times.length - 1 : at.place].t);
});

// Whoever points at a cell sees what it is.
const hover = { event: null, waiting: false };
canvas.addEventListener("pointermove", (e) => {
  hover.event = e;
  if (!hover.waiting) { hover.waiting = true; requestAnimationFrame(tip); }
});
canvas.addEventListener("pointerleave", () => { hover.event = null; tip(); });

function tip() {
  hover.waiting = false;
  const box = $("tip"), at = hover.event && hover.event.pointerType !== "touch" ? pointed(hover.event) : { index: -1 }, l = lines[at.index], time = times[at.place];
  if (!l || !time || l.heading) { box.hidden = true; return; }
  box.hidden = false;
  say(box, `${l.label}\n${when(time)}: ${inWords(l, cellOf(l, time))}`);
  const left = Math.min(at.px + 14, plot.width - box.offsetWidth - 4), below = at.py + 18 + box.offsetHeight < plot.height;
  const y = Math.max(0, below ? at.py + 18 : at.py - 10 - box.offsetHeight) + map.scrollTop;
  box.style.transform = `translate(${Math.max(0, left)}px, ${y}px)`;
}

const moves = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1], PageUp: [-10, 0], PageDown: [10, 0], Home: [0, -1e6], End: [0, 1e6] };

canvas.addEventListener("keydown", (e) => {
  if (e.key === "Escape") { view.chosen = null; detail(); redraw(); return; }
  const move = moves[e.key];
  if (!move || !lines.length || !times.length) return;
  e.preventDefault();
  const at = chosenCell();
  if (!at) { choose(0, times[times.length - 1].t); return; }
  const time = times[Math.min(times.length - 1, Math.max(0, at.place + move[1]))];
  let index = Math.min(lines.length - 1, Math.max(0, at.index + move[0]));
  while (lines[index].heading && lines[index + Math.sign(move[0])]) index += Math.sign(move[0]); // a heading has no cells
  choose(index, time.t);
});

const when = (time) => clock(time.t) + (time.d > 1 ? ` and ${Math.round(time.d)} s after` : "");

function inWords(l, d) {
  const flow = flowOf();
  return `${number(d.units)} ${flow ? flow.direction : ""} units/s, ${percent(d.load)} of a partition` +
    (d.refused ? `, ${number(d.refused)} ${l.partition ? "units" : "requests"}/s throttled` : "");
}

// factsOf says what is known of the key or partition of a cell.
function factsOf(l, d) {
  const homes = [...new Set(l.slots.flatMap((slot) => state.slots[slot] ? state.slots[slot].homes : []))].sort((a, b) => a - b);
  const rows = l.slots.map((slot) => state.slots[slot]).filter(Boolean), shape = (rows.find((r) => r.shape) || {}).shape;
  const facts = [[l.partition ? "partition" : "key", l.key === undefined ? l.label : safe(l.key)]];
  if (shape) facts.push(["shape", safe(shape)]);
  facts.push(["in this cell", inWords(l, d)]);
  const now = state.keys.find((k) => k.flow === view.flow && k.key === l.key && k.shards > 1 === rows.some((r) => r.logical === l.key));
  if (now) facts.push(["now wants", between(now) + " units/s" + (now.spread ? "; " + now.spread : "") + (now.words ? "; " + now.words : "")]);
  const flow = flowOf(), ledger = state.ledgers.find((g) => g.key === l.key && flow && g.resource === flow.resource);
  if (ledger) facts.push(["ledger", ledgerWords(ledger)]);
  if (l.partition) facts.push(...partitionFacts(l));
  if (homes.length) facts.push(["partitions", homes.map((h) => "#" + h).join(", ")], ["shared with", neighbours(homes, new Set(l.slots))]);
  return facts;
}

// partitionFacts says how full a partition is, and who is in it.
function partitionFacts(l) {
  const flow = flowOf(), p = state.partitions.find((p) => p.id === l.partition && flow && p.resource === flow.resource);
  const facts = p ? [["serves", `${number(p.writeLimit)} write and ${number(p.readLimit)} read units/s; ${bytes(p.bytes)} of 10 GB`]] : [["now", "it was split or has gone"]];
  if (p && p.words) facts.push(["split", p.words]);
  return [...facts, ["keys in it", neighbours([l.partition], new Set())]];
}

// neighbours names the hottest keys of partitions, except some.
function neighbours(homes, except) {
  const at = new Set(homes), sums = totals().sums, beside = new Map();
  for (const r of state.rows.values()) {
    if (r.flow !== view.flow || r.kind !== "key" || except.has(r.slot) || !(sums[r.slot] > 0) || !r.homes.some((h) => at.has(h))) continue;
    const name = view.rows === "keys" && logicalOf(r) || r.key;
    beside.set(name, (beside.get(name) || 0) + sums[r.slot]);
  }
  const names = [...beside].sort((a, b) => b[1] - a[1]).map(([name]) => brief(name));
  if (!names.length) return "no other hot key";
  return names.slice(0, 5).join(", ") + (names.length > 5 ? ` and ${number(names.length - 5)} more` : "");
}

function detail() {
  const at = chosenCell(), box = $("detail");
  if (!at) {
    if (!box.hidden || view.chosen === null) { box.hidden = true; say($("cell"), hint); }
    return;
  }
  const d = cellOf(at.line, at.time), l = at.line;
  say($("cell"), `${l.label}, ${when(at.time)}: ${inWords(l, d)}`);
  const rows = l.slots.map((slot) => state.slots[slot]).filter(Boolean), names = new Set([l.key, ...rows.map((r) => r.key), ...rows.map((r) => r.logical)].filter(Boolean));
  const found = state.findings.filter((f) => f.flow === view.flow && (names.has(f.key) || (f.others || []).some((o) => names.has(o))));
  box.replaceChildren(definition(factsOf(l, d)));
  if (!found.length && l.key !== undefined) box.append(element("p", "", "No finding: leave this key as it is."));
  for (const f of found) { const shown = element("details"); shown.open = true; findingBody(shown, f); box.append(shown); }
  box.hidden = false;
}
