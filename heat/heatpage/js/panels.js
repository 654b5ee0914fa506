// ---- panels: what stands beside the picture

function panels() {
  status();
  chooseFlow();
  tiles();
  findingsPanel();
  keysPanel();
  partitionsPanel();
  layoutsPanel();
  flowsPanel();
}

const sources = { live: "calls of this process", engine: "the local engine", stream: "the stream of the table" };

function status() {
  const e = $("status"), lost = state.lost && !state.ended && !connection.saved;
  e.className = lost ? "lost" : "";
  say(e, connection.saved ? `saved ${new Date(state.now).toLocaleString()}, from ${sources[state.source] || state.source}` :
    lost ? `no figures: ${state.lost}` : state.lost ? state.lost : view.paused ? "paused" : "live: " + (sources[state.source] || state.source || "no figures yet"));
  const title = safe(state.title);
  if (document.title !== title) document.title = title;
  say($("title"), title);
}

function chooseFlow() {
  const names = [...state.known.keys()].sort(), select = $("flow");
  if (!view.chose && state.flows.length && !state.flows.some((f) => f.name === view.flow)) view.flow = busiest();
  if ([...select.options].map((o) => o.value).join("\n") !== names.join("\n")) select.replaceChildren(...names.map((n) => new Option(safe(n), n)));
  if (!names.includes(view.flow)) view.flow = names[0] || "";
  if (select.value !== view.flow) select.value = view.flow;
}

function busiest() {
  let best = state.flows[0];
  for (const f of state.flows) if (f.total / f.limit > best.total / best.limit) best = f;
  return best ? best.name : "";
}

const ofFlow = (all) => { const flow = flowOf(); return flow ? all.filter((p) => p.resource === flow.resource) : []; };
const loadNow = (p) => Math.max(p.writes / (p.writeLimit || 1000), p.reads / (p.readLimit || 3000));

// tiles are the figures that tell at once how things are.
function tiles() {
  const flow = flowOf() || { units: 0, refused: 0, latency: {} }, mine = ofFlow(state.partitions);
  const hottest = mine.reduce((best, p) => !best || loadNow(p) > loadNow(best) ? p : best, null);
  const sharded = state.keys.filter((k) => k.flow === view.flow && k.shards > 1);
  const widths = ofFlow(state.ledgers).map((l) => l.widths[l.widths.length - 1]);
  const facts = [
    ["served", number(flow.units) + " units/s", ""],
    ["throttled", number(flow.refused) + " requests/s", flow.refused ? "critical" : ""],
    ["hottest partition", hottest ? `#${hottest.id}: ${percent(loadNow(hottest))}` : "not reported", hottest && loadNow(hottest) > 0.95 ? "critical" : ""],
    ["keys in shards", sharded.length ? `${sharded.length} (widest: ${Math.max(...sharded.map((k) => k.shards), ...widths)})` : "none", ""],
    ["latency p50 / p99", flow.latency.p50 ? `${milliseconds(flow.latency.p50)} / ${milliseconds(flow.latency.p99)}` : "not measured", ""],
  ];
  const home = $("tiles");
  facts.forEach(([name, value, of], i) => {
    const tile = home.children[i] || home.appendChild(element("div"));
    if (!tile.firstChild) tile.append(element("dt", "", name), element("dd"));
    tile.lastChild.className = of;
    say(tile.lastChild, value);
  });
}

function keysPanel() {
  table("keys", ["key", "#wants, units/s", "#share", "#requests throttled/s", "why"], state.keys.filter((k) => k.flow === view.flow).slice(0, 15).map((k) =>
    [brief(k.key), between(k), percent(k.share), number(k.refused), [k.spread, k.words].filter(Boolean).join("; ")]), "No keys yet.");
}

const mostPartitions = 24; // in the table; the picture has all

function partitionsPanel() {
  const mine = ofFlow(state.partitions), splits = new Map();
  for (const e of eventsOf()) for (const child of e.children || []) splits.set(child, `from the split of #${e.parent}, ${clock(e.at)}`);
  const hottest = mine.length > mostPartitions ? [...mine].sort((a, b) => loadNow(b) - loadNow(a) || a.id - b.id).slice(0, mostPartitions) : mine;
  const first = mine[0] || { writeLimit: 0, readLimit: 0 };
  table("partitions", ["partition", "#writes/s", `of ${number(first.writeLimit)}`, "#reads/s", `of ${number(first.readLimit)}`, "#units throttled/s", "#size", "note"], hottest.map((p) =>
    ["#" + p.id, number(p.writes), new Bar(p.writes, p.writeLimit, "writes of partition " + p.id), number(p.reads), new Bar(p.reads, p.readLimit, "reads of partition " + p.id),
      number(p.refused), bytes(p.bytes), [p.words, splits.get(p.id)].filter(Boolean).join("; ")]), "This source does not report partitions.");
  say($("more-partitions"), mine.length > hottest.length ? `and ${count(mine.length - hottest.length, "cooler partition")}` : "");
}

// ledgerWords says how wide a key is and was.
function ledgerWords(l) {
  return l.widths.join(" → ") + ` shard${l.widths[l.widths.length - 1] === 1 ? "" : "s"}` + (l.read > l.widths[l.widths.length - 1] ? `, reads ask ${l.read}` : "") + (l.frozen ? ", frozen" : "") +
    (l.at ? `; last change ${clock(l.at)}` : "") + (l.why ? `: ${safe(l.why)}` : "") + (l.by ? ` (by ${safe(l.by)})` : "");
}

function layoutsPanel() {
  const ledgers = ofFlow(state.ledgers), stored = new Set(ledgers.map((l) => l.key)), flow = flowOf(), rows = [];
  const seen = new Map(state.keys.filter((k) => flow && k.flow === view.flow && k.shards > 1).map((k) => [k.key, k]));
  for (const l of ledgers) rows.push([brief(l.key), ledgerWords(l), seen.has(l.key) ? seen.get(l.key).spread : "no traffic in its shards now"]);
  for (const k of seen.values()) if (!stored.has(k.key)) rows.push([brief(k.key), "not known to this page", k.spread]);
  table("layouts", ["key", "ledger", "seen now"], rows, "No key is in shards.");
  table("changes", ["time", "change"], eventsOf().slice(-20).reverse().map((e) => [clock(e.at), (e.key ? brief(e.key) + " " : "") + safe(e.text)]), "No key has grown, and no partition was split.");
}

function flowsPanel() {
  table("flows", ["traffic", "#units/s", "#peak", "#requests throttled/s", "#in all", "#retries", "#errors", "#keys", "#p50", "#p99", "#p99.9"], state.flows.map((f) =>
    [safe(f.name), number(f.units), number(f.peak), number(f.refused), number(f.throttled), number(f.retries), number(f.errors), (f.about ? "~" : "") + number(f.distinct), milliseconds(f.latency.p50), milliseconds(f.latency.p99), milliseconds(f.latency.p999)]), "No requests yet.");
}
