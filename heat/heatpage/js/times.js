// ---- times: what a cell is wide. Columns that are too narrow to be seen are drawn together.

const narrowest = 3; // pixels

let times = []; // {t, end, d: seconds with columns, columns}

function makeTimes() {
  const wide = (period.to - period.from) * narrowest / Math.max(1, plot.right - plot.left);
  times = [];
  let last = null;
  for (const c of state.columns) {
    const end = c.t + c.d * 1000;
    if (end <= period.from || c.t >= period.to) continue;
    if (last && end - last.t <= wide) { last.end = end; last.d += c.d; last.columns.push(c); continue; }
    last = { t: c.t, end, d: c.d, columns: [c] };
    times.push(last);
  }
}

const x = (t) => plot.left + (t - period.from) / (period.to - period.from) * (plot.right - plot.left);

// timeAt returns the place of the time that has t, -1 if there is none.
function timeAt(t) {
  let from = 0, to = times.length;
  while (from < to) { const mid = (from + to) >> 1; if (times[mid].end <= t) from = mid + 1; else to = mid; }
  return from < times.length && times[from].t <= t ? from : -1;
}

// cellOf returns what a line took at a time, each second.
function cellOf(l, time) {
  const of = new Set(l.slots), limit = limitOf();
  let units = 0, refused = 0, load = 0;
  for (const c of time.columns) for (let i = 0; i < c.r.length; i++) {
    if (!of.has(c.r[i])) continue;
    units += c.u[i] / time.d; refused += c.x[i] / time.d;
    const part = loadOf(c.u[i], c, c.r[i], limit);
    load = l.together ? load + part * c.d / time.d : Math.max(load, part);
  }
  return { units, refused, load };
}

// loadOf is the part of what a partition serves that a row took. A key in several partitions has a part of each. Rows of a line that
// are in one partition fill it together; elsewhere a shard is full, not the key.
function loadOf(units, column, slot, limit) {
  const r = state.slots[slot];
  return units / column.d / limit / Math.max(1, r ? r.homes.length : 1);
}
