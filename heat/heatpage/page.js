"use strict";
// The page of heatsink: draws what frames say. A frame has everything, or what has changed; see frame.go.
(() => {
  const $ = (id) => document.getElementById(id);
  const canvas = $("canvas"), map = $("map"), space = $("space");
  const lineHeight = 18, axis = 22;
  const keepFor = 7.6 * 3600e3; // as long as the server does

  const state = { instance: "", now: 0, rows: new Map(), columns: [], events: [], flows: [], keys: [], partitions: [], findings: [], notes: [], lost: "", known: new Map() }; // known: flows that have rows, by name
  const view = { flow: "", rows: "keys", range: 180, cold: false, paused: false, chose: false, chosen: null }; // chose: a flow, by hand; chosen: {id of a line, time}
  let lines = [], dirty = true, waiting = null;
  const frames = []; // how long the last drawings took, in milliseconds

  // ---- what frames say

  function apply(f) {
    if (f.whole || f.instance !== state.instance) {
      state.rows.clear(); state.columns = []; state.events = []; state.known.clear();
    }
    state.instance = f.instance;
    for (const r of f.rows || []) {
      const known = state.rows.get(r.id);
      state.rows.set(r.id, Object.assign(r, { cells: known ? known.cells : new Map() }));
    }
    for (const id of f.gone || []) giveUp(id);
    for (const c of f.columns || []) put(c);
    if (f.now) {
      state.now = f.now;
      const old = state.columns.filter((c) => c.t < f.now - keepFor);
      if (old.length) { old.forEach(drop); state.columns = state.columns.filter((c) => c.t >= f.now - keepFor); }
    }
    for (const part of ["flows", "keys", "partitions", "findings", "notes"]) if (f[part] || f.flows) state[part] = f[part] || [];
    if (f.events) state.events = f.events;
    for (const flow of [...(f.known || []), ...state.flows]) state.known.set(flow.name, flow);
    state.lost = f.lost || "";
    state.source = f.source || state.source;
    document.title = f.title; $("title").textContent = f.title;
    panels();
    redraw();
  }

  function drop(c) { for (const id of c.r) { const r = state.rows.get(id); if (r) r.cells.delete(c.t); } }

  // put adds a column. It replaces those within its range.
  function put(c) {
    const end = c.t + c.d * 1000;
    state.columns = state.columns.filter((o) => { const inside = o.t >= c.t && o.t < end; if (inside) drop(o); return !inside; });
    let i = state.columns.length;
    while (i > 0 && state.columns[i - 1].t > c.t) i--;
    state.columns.splice(i, 0, c);
    c.r.forEach((id, n) => { const r = state.rows.get(id); if (r) r.cells.set(c.t, [c.u[n], c.x[n]]); });
  }

  // giveUp gives the cells of a row to those of the others of its flow.
  function giveUp(id) {
    const r = state.rows.get(id);
    if (!r) return;
    const others = [...state.rows.values()].find((o) => o.kind === "others" && o.flow === r.flow);
    if (others) for (const [t, [u, x]] of r.cells) {
      const [u0, x0] = others.cells.get(t) || [0, 0];
      others.cells.set(t, [u0 + u, x0 + x]);
      const c = state.columns.find((c) => c.t === t);
      if (c && !c.r.includes(others.id)) c.r.push(others.id);
    }
    state.rows.delete(id);
  }

  // ---- lines: what is drawn

  const flowOf = () => state.known.get(view.flow);
  // span is the time that is drawn, in milliseconds: what was chosen, or less while there is less to draw.
  const span = () => {
    const first = state.columns.length ? state.columns[0].t : state.now;
    return Math.min(view.range * 1000, Math.max(60e3, state.now - first));
  };
  const since = () => state.now - span();

  function total(rows) {
    let sum = 0;
    for (const r of rows) for (const [t, [u, x]] of r.cells) if (t >= since()) sum += u + x;
    return sum;
  }

  function line(id, label, level, rows, of) { return Object.assign({ id, label, level, rows, total: total(rows) }, of); }

  function keyLines(rows, prefix, level) {
    const groups = new Map();
    for (const r of rows) {
      const folded = view.rows === "keys" && r.logical, key = folded ? r.logical : r.key;
      const id = folded ? "shards of " + key : "row " + r.id; // two keys may look alike
      if (!groups.has(id)) groups.set(id, { key, rows: [] });
      groups.get(id).rows.push(r);
    }
    const made = [...groups].map(([id, g]) => {
      const homes = new Set(g.rows.flatMap((r) => r.homes || [])).size;
      let more = g.rows[0].logical && view.rows === "keys" ? ` (${g.rows.length} shard${g.rows.length > 1 ? "s" : ""})` : "";
      if (g.rows.length === 1 && homes > 1) more += ` (in ${homes} partitions, together)`;
      return line(prefix + id, safe(g.key) + more, level, g.rows, { key: g.key });
    });
    return made.filter((l) => l.total > 0).sort((a, b) => b.total - a.total || (a.label < b.label ? -1 : 1));
  }

  // colder merges all but the hottest lines, unless a line has a fair part of what the hottest one has.
  function colder(all, prefix) {
    if (view.cold) return all;
    const kept = all.filter((l, i) => i < 3 || l.total > all[0].total / 20 && i < 50), rest = all.slice(kept.length);
    if (rest.length < 2) return all;
    return [...kept, line(prefix + "|colder", `${rest.length} colder keys`, all[0].level, rest.flatMap((l) => l.rows), { colder: true })];
  }

  function makeLines() {
    const mine = [...state.rows.values()].filter((r) => r.flow === view.flow);
    const keys = mine.filter((r) => r.kind === "key"), homes = mine.filter((r) => r.kind === "partition"), others = mine.filter((r) => r.kind === "others");
    const home = (p) => line("#" + p.number, "partition #" + p.number, 0, [p], { partition: p.number });
    if (view.rows === "partitions") return homes.map(home).sort((a, b) => a.partition - b.partition);
    let all = [];
    if (homes.length) {
      for (const h of homes.map(home).sort((a, b) => b.total - a.total)) {
        const inside = colder(keyLines(keys.filter((r) => (r.homes || []).includes(h.partition)), h.id + "|", 1), h.id);
        if (h.total > 0 || inside.length) all.push(h, ...inside);
      }
      const drawn = new Set(all.filter((l) => l.partition).map((l) => l.partition));
      const lost = colder(keyLines(keys.filter((r) => !(r.homes || []).some((h) => drawn.has(h))), "?|", 1), "?");
      if (lost.length) all.push(line("?", "other partitions", 0, [], { heading: true }), ...lost);
    } else all = colder(keyLines(keys, "", 0), "");
    for (const o of others) { const l = line("others", "other keys", 0, [o], { others: true }); if (l.total > 0) all.push(l); }
    return all;
  }

  // ---- drawing

  const ramps = {
    light: [[0, [235, 243, 250]], [0.25, [158, 202, 225]], [0.5, [253, 212, 130]], [0.75, [252, 141, 89]], [1, [203, 24, 29]]],
    dark: [[0, [20, 40, 60]], [0.25, [31, 111, 139]], [0.5, [201, 162, 39]], [0.75, [226, 113, 29]], [1, [255, 77, 77]]],
  };
  const darkNow = () => (document.documentElement.dataset.theme || (matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light")) === "dark";

  // colour is that of a part of what a partition serves.
  function colour(load) {
    const ramp = ramps[darkNow() ? "dark" : "light"], x = Math.min(1, load);
    let i = 1;
    while (i < ramp.length - 1 && ramp[i][0] < x) i++;
    const [a, from] = ramp[i - 1], [b, to] = ramp[i], s = Math.max(0, (x - a) / (b - a));
    return `rgb(${from.map((v, n) => Math.round(v + s * (to[n] - v))).join(",")})`;
  }

  function cellOf(l, c) {
    let units = 0, refused = 0, load = 0;
    const limit = (flowOf() || { limit: 1000 }).limit || 1000;
    for (const r of l.rows) {
      const d = r.cells.get(c.t);
      if (!d) continue;
      units += d[0] / c.d; refused += d[1] / c.d;
      load = Math.max(load, d[0] / c.d / limit / Math.max(1, (r.homes || []).length)); // a shard is full, not the key
    }
    return { units, refused, load };
  }

  const css = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
  const gutter = () => Math.min(260, Math.max(110, canvas.clientWidth * 0.28));
  const x = (t) => gutter() + (t - since()) / span() * (canvas.clientWidth - gutter());
  const shown = () => state.columns.filter((c) => c.t + c.d * 1000 > since() && c.t <= state.now);

  function draw() {
    dirty = false;
    const begun = performance.now();
    lines = makeLines();
    const width = map.clientWidth, height = map.clientHeight, dots = window.devicePixelRatio || 1;
    if (canvas.width !== Math.round(width * dots) || canvas.height !== Math.round(height * dots)) {
      canvas.width = Math.round(width * dots); canvas.height = Math.round(height * dots);
      canvas.style.width = width + "px"; canvas.style.height = height + "px";
    }
    space.style.height = Math.max(0, axis + lines.length * lineHeight - height) + "px";
    const g = canvas.getContext("2d");
    g.setTransform(dots, 0, 0, dots, 0, 0);
    g.fillStyle = css("--back"); g.fillRect(0, 0, width, height);
    g.font = "12px ui-monospace, monospace"; g.textBaseline = "middle";
    const first = Math.floor(map.scrollTop / lineHeight), last = Math.min(lines.length, first + Math.ceil((height - axis) / lineHeight) + 1);
    const columns = shown(), left = gutter(), text = css("--text"), soft = css("--soft"), mark = css("--mark"), rule = css("--line");
    for (let i = first; i < last; i++) {
      const l = lines[i], y = axis + i * lineHeight - map.scrollTop;
      for (const c of columns) {
        const d = cellOf(l, c);
        if (!d.units && !d.refused) continue;
        const from = Math.max(left, x(c.t)), w = Math.max(1, x(c.t + c.d * 1000) - from);
        g.fillStyle = colour(d.load); g.fillRect(from, y + 1, w + 0.5, lineHeight - 2);
        if (d.refused > 0) { g.fillStyle = mark; g.fillRect(from, y + lineHeight - 5, w + 0.5, 4); }
      }
      g.fillStyle = l.level || l.heading ? soft : text;
      g.fillText(fit(g, l.label, left - 10 - 12 * l.level), 4 + 12 * l.level, y + lineHeight / 2);
    }
    marks(g, first, last, left, height);
    g.fillStyle = css("--back"); g.fillRect(0, 0, width, axis);
    g.fillStyle = soft; g.strokeStyle = rule;
    const step = [10, 30, 60, 300, 600, 1800, 3600, 7200].find((s) => s * 1000 * (width - left) / span() > 90) || 7200;
    for (let t = Math.ceil(since() / (step * 1000)) * step * 1000; t <= state.now; t += step * 1000) {
      g.fillText(new Date(t).toLocaleTimeString([], { hour12: false }), x(t) + 3, axis / 2);
      g.beginPath(); g.moveTo(x(t), 0); g.lineTo(x(t), axis); g.stroke();
    }
    chosenBox(g, left);
    if (!lines.length) { g.fillStyle = soft; g.fillText("no traffic in this time", left + 10, axis + lineHeight); }
    frames.push(performance.now() - begun);
    if (frames.length > 600) frames.shift();
  }

  // marks draws changes of layouts and splits of partitions.
  function marks(g, first, last, left, height) {
    const flow = flowOf();
    if (!flow) return;
    g.save(); g.strokeStyle = g.fillStyle = css("--change"); g.setLineDash([4, 3]); g.lineWidth = 2;
    for (const e of state.events) {
      if (e.resource !== flow.resource || e.at < since() || e.at > state.now) continue;
      const at = x(e.at);
      if (e.parent) { g.beginPath(); g.moveTo(at, axis); g.lineTo(at, height); g.stroke(); continue; }
      for (let i = first; i < last; i++) {
        if (!lines[i].rows.some((r) => r.logical === e.key)) continue; // a bare key beside shards is another key
        const y = axis + i * lineHeight - map.scrollTop;
        g.beginPath(); g.moveTo(at, y); g.lineTo(at, y + lineHeight); g.stroke();
      }
    }
    g.restore();
  }

  function chosenBox(g, left) {
    const at = chosenCell();
    if (!at) return;
    const y = axis + at.index * lineHeight - map.scrollTop, from = Math.max(left, x(at.column.t));
    g.strokeStyle = css("--select"); g.lineWidth = 2;
    g.strokeRect(from, y, Math.max(4, x(at.column.t + at.column.d * 1000) - from), lineHeight);
  }

  function fit(g, text, width) {
    if (g.measureText(text).width <= width) return text;
    const letters = Math.max(4, Math.floor(width / g.measureText("m").width) - 1), head = Math.ceil(letters * 0.6);
    return text.slice(0, head) + "…" + text.slice(text.length - (letters - head));
  }

  function redraw() { if (!dirty) { dirty = true; requestAnimationFrame(draw); } }

  // ---- selecting a cell

  function chosenCell() {
    if (!view.chosen) return null;
    const index = lines.findIndex((l) => l.id === view.chosen.id), columns = shown();
    const column = columns.find((c) => view.chosen.t >= c.t && view.chosen.t < c.t + c.d * 1000);
    return index < 0 || !column ? null : { index, line: lines[index], column, columns };
  }

  function choose(index, t) {
    if (index < 0 || index >= lines.length) return;
    view.chosen = { id: lines[index].id, t };
    const top = index * lineHeight, room = map.clientHeight - axis - lineHeight;
    if (top < map.scrollTop) map.scrollTop = top;
    if (top > map.scrollTop + room) map.scrollTop = top - room;
    detail(); redraw();
  }

  canvas.addEventListener("click", (e) => {
    const box = canvas.getBoundingClientRect(), px = e.clientX - box.left, py = e.clientY - box.top;
    const t = since() + (Math.max(px, gutter()) - gutter()) / (canvas.clientWidth - gutter()) * span();
    const columns = shown(), column = columns.find((c) => t >= c.t && t < c.t + c.d * 1000) || columns[columns.length - 1];
    if (column && py > axis) choose(Math.floor((py - axis + map.scrollTop) / lineHeight), px < gutter() ? columns[columns.length - 1].t : column.t);
  });
  canvas.addEventListener("keydown", (e) => {
    const steps = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1], PageUp: [-10, 0], PageDown: [10, 0] }[e.key];
    if (e.key === "Escape") { view.chosen = null; detail(); redraw(); return; }
    if (!steps || !lines.length) return;
    e.preventDefault();
    const at = chosenCell(), columns = shown();
    if (!columns.length) return;
    if (!at) { choose(0, columns[columns.length - 1].t); return; }
    const c = columns[Math.min(columns.length - 1, Math.max(0, columns.indexOf(at.column) + steps[1]))];
    choose(Math.min(lines.length - 1, Math.max(0, at.index + steps[0])), c.t);
  });

  function detail() {
    const at = chosenCell(), box = $("detail");
    box.hidden = !at;
    if (!at) { $("cell").textContent = "Click a cell, or select one with the arrow keys."; return; }
    const d = cellOf(at.line, at.column), flow = flowOf(), l = at.line;
    const when = new Date(at.column.t).toLocaleTimeString([], { hour12: false }) + (at.column.d > 1 ? ` and ${at.column.d} s after` : "");
    const what = `${number(d.units)} ${flow ? flow.direction : ""} units/s, ${Math.round(d.load * 100)} % of a partition` +
      (d.refused ? `, ${number(d.refused)} ${l.partition ? "units" : "requests"}/s throttled` : "");
    $("cell").textContent = `${l.label}, ${when}: ${what}`;
    const homes = [...new Set(l.rows.flatMap((r) => r.homes || []))].sort((a, b) => a - b), shape = (l.rows.find((r) => r.shape) || {}).shape;
    const facts = [["key", l.key === undefined ? l.label : safe(l.key)]];
    if (shape) facts.push(["shape", shape]);
    facts.push(["in this cell", what]);
    const sharded = l.rows.some((r) => r.logical === l.key);
    const now = state.keys.find((k) => k.flow === view.flow && k.key === l.key && k.shards > 1 === sharded);
    if (now) facts.push(["now wants", between(now) + " units/s" + (now.spread ? "; " + now.spread : "") + (now.words ? "; " + now.words : "")]);
    if (homes.length) {
      facts.push(["partitions", homes.map((h) => "#" + h).join(", ")]);
      const beside = keyLines([...state.rows.values()].filter((r) => r.flow === view.flow && r.kind === "key" && !l.rows.includes(r) && (r.homes || []).some((h) => homes.includes(h))), "", 0);
      facts.push(["shared with", beside.length ? beside.slice(0, 5).map((b) => b.label).join(", ") + (beside.length > 5 ? ` and ${beside.length - 5} more` : "") : "no other hot key"]);
    }
    box.replaceChildren(definition(facts));
    const names = new Set([l.key, ...l.rows.map((r) => r.key), ...l.rows.map((r) => r.logical)].filter(Boolean));
    const found = state.findings.filter((f) => f.flow === view.flow && (names.has(f.key) || (f.others || []).some((o) => names.has(o))));
    if (!found.length && l.key !== undefined) box.append(element("p", "", "No finding: leave this key as it is."));
    for (const f of found) box.append(finding(f, true));
  }

  // ---- the panels

  function element(tag, className, text) {
    const e = document.createElement(tag);
    if (className) e.className = className;
    if (text !== undefined) e.textContent = text;
    return e;
  }
  function definition(facts) {
    const list = element("dl");
    for (const [name, value] of facts) list.append(element("dt", "", name), element("dd", "", value));
    return list;
  }
  // table fills a place. A column's name that begins with "#" is one of numbers.
  function table(place, heads, rows, none) {
    if (!rows.length) { $(place).replaceChildren(element("p", "", none)); return; }
    const t = element("table"), head = t.createTHead().insertRow(), body = t.createTBody();
    const numeric = heads.map((h) => h[0] === "#");
    heads.forEach((h, i) => { const th = element("th", numeric[i] ? "n" : "", h.replace(/^#/, "")); th.scope = "col"; head.append(th); });
    for (const r of rows) {
      const tr = body.insertRow();
      r.forEach((v, i) => { const td = tr.insertCell(); td.className = numeric[i] ? "n" : i === 0 ? "key" : ""; if (v instanceof Node) td.append(v); else td.textContent = v; });
    }
    $(place).replaceChildren(t);
  }
  const number = (v) => v >= 100 ? Math.round(v).toLocaleString("en-US") : String(Math.round(v * 10) / 10);
  const between = (k) => k.high - k.low > 0.02 * k.high + 0.1 ? `${number(k.low)} to ${number(k.high)}` : number(k.low);
  const milliseconds = (ns) => ns ? (ns / 1e6).toFixed(1) + " ms" : "–";
  // safe shows what could change how the text around it is read.
  const odd = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}\p{Co}\p{Variation_Selector}]/u;
  const safe = (s) => odd.test(s) ? JSON.stringify(s).replace(new RegExp(odd, "gu"), (c) => "\\u{" + c.codePointAt(0).toString(16) + "}") : s;
  function meter(value, limit, name) {
    const m = element("meter");
    m.min = 0; m.max = limit || 1; m.low = 0.7 * m.max; m.high = 0.95 * m.max; m.optimum = 0; m.value = Math.min(value, m.max);
    m.setAttribute("aria-label", `${name}: ${number(value)} of ${number(limit)}`);
    return m;
  }

  function finding(f, open) {
    const d = element("details"), s = element("summary");
    d.open = open; d.dataset.id = [f.kind, f.flow, f.key, f.pattern].join("|");
    s.append(element("span", f.severity, f.severity), ` ${f.table}${f.index ? "/" + f.index : ""}: ${safe(f.message)}`);
    d.append(s);
    const evidence = element("ul");
    for (const e of f.evidence || []) evidence.append(element("li", "", safe(e)));
    d.append(evidence, definition([["cause", f.cause], ["remedy", f.remedy]]));
    if (f.plan) d.append(element("pre", "", f.plan.trim()));
    if (f.snippet) d.append(element("pre", "snippet", f.snippet.trim()));
    return d;
  }

  function panels() {
    const lost = $("status");
    lost.className = state.lost && !connection.saved ? "lost" : "";
    lost.textContent = connection.saved ? `saved ${new Date(state.now).toLocaleString()}, source: ${state.source}` : state.lost ? `no figures: ${state.lost}` : view.paused ? "paused" : `live, source: ${state.source || "none yet"}`;
    const names = [...state.known.keys()].sort(), select = $("flow");
    if (!view.chose && state.flows.length && !state.flows.some((f) => f.name === view.flow)) view.flow = busiest();
    if ([...select.options].map((o) => o.value).join("\n") !== names.join("\n")) select.replaceChildren(...names.map((n) => new Option(n, n)));
    if (!names.includes(view.flow)) view.flow = names[0] || "";
    if (select.value !== view.flow) select.value = view.flow;
    const open = new Set([...document.querySelectorAll("#findings details[open]")].map((d) => d.dataset.id));
    $("findings").replaceChildren(...(state.findings.length ? state.findings.map((f) => { const d = finding(f, false); d.open = open.has(d.dataset.id); return d; }) : [element("p", "", "Nothing to mend.")]));
    for (const n of state.notes || []) $("findings").append(element("p", "", "Note: " + n));
    table("keys", ["key", "#wants, units/s", "#share", "#requests throttled/s", "why"], state.keys.filter((k) => k.flow === view.flow).slice(0, 15).map((k) =>
      [safe(k.key), between(k), Math.round(k.share * 100) + " %", number(k.refused), [k.spread, k.words].filter(Boolean).join("; ")]), "No keys yet.");
    const flow = flowOf();
    table("partitions", ["partition", "#writes/s", "", "#reads/s", "", "#units throttled/s", "note"], state.partitions.filter((p) => !flow || p.resource === flow.resource).map((p) =>
      ["#" + p.id, number(p.writes), meter(p.writes, p.writeLimit, "writes of partition " + p.id), number(p.reads), meter(p.reads, p.readLimit, "reads of partition " + p.id), number(p.refused), p.words || ""]), "This source does not report partitions.");
    const changes = state.events.filter((e) => !flow || e.resource === flow.resource).slice(-20).reverse();
    const widths = state.keys.filter((k) => k.flow === view.flow && k.shards > 1);
    const list = element("ul");
    for (const k of widths) list.append(element("li", "", `${safe(k.key)}: ${k.spread}`));
    for (const e of changes) list.append(element("li", "", `${new Date(e.at).toLocaleTimeString([], { hour12: false })} ${e.key ? safe(e.key) + " " : ""}${e.text}`));
    $("layouts").replaceChildren(list.childNodes.length ? list : element("p", "", "No key is in shards, and no partition was split."));
    table("flows", ["traffic", "#units/s", "#peak", "#requests throttled/s", "#in all", "#retries", "#errors", "#keys", "#p50", "#p99", "#p99.9"], state.flows.map((f) =>
      [f.name, number(f.units), number(f.peak), number(f.refused), number(f.throttled), number(f.retries), number(f.errors), (f.about ? "~" : "") + number(f.distinct), milliseconds(f.latency.p50), milliseconds(f.latency.p99), milliseconds(f.latency.p999)]), "No requests yet.");
    if (view.chosen) { lines = makeLines(); detail(); }
  }

  function busiest() {
    let best = state.flows[0];
    for (const f of state.flows) if (f.total / f.limit > best.total / best.limit) best = f;
    return best ? best.name : "";
  }

  // ---- controls

  $("flow").addEventListener("change", (e) => { view.flow = e.target.value; view.chose = true; view.chosen = null; detail(); panels(); redraw(); });
  $("rows").addEventListener("change", (e) => { view.rows = e.target.value; view.chosen = null; detail(); redraw(); });
  $("cold").addEventListener("change", (e) => { view.cold = e.target.checked; redraw(); });
  $("range").addEventListener("change", (e) => { view.range = Number(e.target.value); redraw(); });
  $("theme").addEventListener("change", (e) => { if (e.target.value) document.documentElement.dataset.theme = e.target.value; else delete document.documentElement.dataset.theme; ramp(); redraw(); });
  $("pause").addEventListener("click", (e) => {
    view.paused = !view.paused;
    e.target.setAttribute("aria-pressed", String(view.paused));
    e.target.textContent = view.paused ? "Continue" : "Pause";
    if (!view.paused && waiting) { const all = waiting; waiting = null; all.forEach(apply); } else panels();
  });
  map.addEventListener("scroll", redraw);
  addEventListener("resize", redraw);
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => { ramp(); redraw(); });
  function ramp() { $("ramp").style.setProperty("background", `linear-gradient(to right, ${[0, 0.25, 0.5, 0.75, 1].map(colour).join(", ")})`); }

  // ---- where frames come from

  const connection = { saved: false, at: 0 }; // at: when the last frame came
  function take(f) {
    connection.at = Date.now();
    if (!view.paused) { apply(f); return; }
    if (f.whole) waiting = []; // what came before is in it
    (waiting = waiting || []).push(f);
    if (waiting.length > 900) { connection.events.close(); waiting = null; connect(); } // a long pause: begin anew
  }
  function connect() {
    const events = connection.events = new EventSource("events");
    events.onmessage = (e) => take(JSON.parse(e.data));
    events.onerror = () => {
      state.lost = "the server does not answer"; panels();
      if (events.readyState === EventSource.CLOSED) { events.close(); setTimeout(connect, 2000); }
    };
  }
  setInterval(() => { // a source that hangs says nothing
    const age = Math.round((Date.now() - connection.at) / 1000);
    if (connection.at && age > 5 && !state.lost && !connection.saved) { state.lost = `none for ${age} s`; panels(); state.lost = ""; }
  }, 2000);
  ramp();
  const saved = JSON.parse($("data").textContent);
  if (saved) { connection.saved = true; $("export").hidden = $("pause").hidden = true; apply(saved); } else connect();
  if (!saved && location.search.includes("token=")) history.replaceState(null, "", location.pathname); // keep it out of sight
  requestAnimationFrame(draw);
  window.heatpage = { state, view, frames, lines: () => lines, cell: cellOf, columns: shown, x, colour, draw };
})();
