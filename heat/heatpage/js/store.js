// ---- store: what frames have said. A frame has everything, or what has changed; see frame.go.

const keepFor = 7.6 * 3600e3; // as long as the server does

const state = {
  instance: "", title: "", source: "", now: 0, lost: "", ended: false, version: 0,
  rows: new Map(), // by id
  slots: [], // rows by their place in typed arrays; undefined: free
  columns: [], // {t, d: seconds, r: slots, u: units, x: throttled}, the oldest first
  events: [], flows: [], keys: [], partitions: [], findings: [], ledgers: [], notes: [],
  known: new Map(), // flows that have rows, by name
};
const panelParts = ["flows", "keys", "partitions", "findings", "ledgers", "notes"];

function apply(f) {
  if (f.whole || f.instance !== state.instance) {
    state.rows.clear(); state.known.clear();
    state.slots = []; state.columns = []; state.events = []; freeSlots.length = 0;
  }
  state.instance = f.instance;
  state.version++;
  for (const r of f.rows || []) keepRow(r);
  if (f.gone) giveUp(f.gone);
  for (const c of f.columns || []) put(c);
  if (f.now) {
    state.now = f.now;
    while (state.columns.length && state.columns[0].t < f.now - keepFor) state.columns.shift();
  }
  for (const part of panelParts) if (f[part] || f.flows) state[part] = f[part] || [];
  if (f.events) state.events = f.events;
  for (const flow of [...(f.known || []), ...state.flows]) state.known.set(flow.name, flow);
  state.lost = f.lost || ""; state.ended = Boolean(f.ended); // as it was meant to be
  state.source = f.source || state.source;
  state.title = f.title;
}

const freeSlots = [];

// keepRow takes a row that is new, or that something new is known of.
function keepRow(r) {
  const known = state.rows.get(r.id);
  r.slot = known ? known.slot : freeSlots.length ? freeSlots.pop() : state.slots.length;
  r.homes = r.homes || [];
  if (r.key !== undefined) r.label = brief(r.key);
  state.rows.set(r.id, r);
  state.slots[r.slot] = r;
}

// put adds a column. It replaces those within its range.
function put(c) {
  const end = c.t + c.d * 1000, all = state.columns;
  let to = all.length;
  while (to > 0 && all[to - 1].t >= end) to--;
  let from = to;
  while (from > 0 && all[from - 1].t >= c.t) from--;
  const column = { t: c.t, d: c.d, r: new Int32Array(c.r.length), u: new Float32Array(c.r.length), x: new Float32Array(c.r.length), of: "", served: 0, refused: 0 };
  let n = 0;
  for (let i = 0; i < c.r.length; i++) {
    const r = state.rows.get(c.r[i]);
    if (!r) continue;
    column.r[n] = r.slot; column.u[n] = c.u[i]; column.x[n] = c.x[i];
    n++;
  }
  if (n < c.r.length) for (const part of ["r", "u", "x"]) column[part] = column[part].subarray(0, n);
  all.splice(from, to - from, column);
}

// giveUp gives the cells of rows to those of the others of their flow.
function giveUp(ids) {
  const others = new Map();
  for (const r of state.rows.values()) if (r.kind === "others") others.set(r.flow, r.slot);
  const to = new Int32Array(state.slots.length).fill(-1), none = -2;
  for (const id of ids) {
    const r = state.rows.get(id);
    if (!r) continue;
    const other = others.get(r.flow);
    to[r.slot] = other === undefined || other === r.slot ? none : other;
    state.rows.delete(id);
    state.slots[r.slot] = undefined;
    freeSlots.push(r.slot);
  }
  for (const c of state.columns) for (let i = 0; i < c.r.length; i++) {
    const other = to[c.r[i]];
    if (other >= 0) c.r[i] = other;
    else if (other === none) { c.u[i] = c.x[i] = 0; c.r[i] = 0; }
  }
}
