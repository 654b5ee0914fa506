// ---- picture: time across, lines down

const canvas = $("canvas"), map = $("map"), space = $("space");
const axis = 40; // pixels above the lines, for times and changes
const plot = { left: 0, right: 0, width: 0, height: 0, figures: false }; // where cells are
const frames = []; // how long the last drawings took, in milliseconds
let dirty = false, chartStale = true, drawnVersion = -1, drawnView = "", drawings = 0;

function redraw() { if (!dirty) { dirty = true; requestAnimationFrame(draw); } }

// measure finds out how wide the picture is.
function measure() {
  const width = map.clientWidth;
  plot.width = width;
  plot.figures = width > 700;
  plot.left = Math.round(Math.min(280, Math.max(128, width * 0.24)));
  plot.right = width - (plot.figures ? 74 : 6);
}

// sized makes a canvas as large as it is shown, and returns what draws on it.
function sized(of, width, height, dots) {
  const w = Math.round(width * dots), h = Math.round(height * dots);
  if (of.width !== w || of.height !== h) {
    of.width = w; of.height = h;
    of.style.width = width + "px"; of.style.height = height + "px";
  }
  const g = of.getContext("2d", { alpha: false });
  g.setTransform(dots, 0, 0, dots, 0, 0);
  g.textBaseline = "middle"; g.direction = "ltr";
  return g;
}

// prepare makes lines and times anew if something has changed that they depend on.
function prepare() {
  const now = [view.flow, view.rows, view.range, view.cold, plot.width].join("|");
  if (drawnVersion === state.version && drawnView === now) return;
  chartStale = true;
  makeLines(); makeTimes();
  drawnVersion = state.version; drawnView = now;
  stretch();
}

// stretch makes the picture as high as its lines, if there is room. It does not shrink while one looks at it.
function stretch() {
  const last = lines[lines.length - 1], wanted = axis + (last ? last.y + last.h + 6 : 60), room = Math.round(Math.min(760, Math.max(300, innerHeight * 0.68)));
  const height = Math.min(room, Math.max(plot.height, wanted));
  if (height !== plot.height) { plot.height = height; map.style.height = height + 2 + "px"; } // with its border
  space.style.height = Math.max(0, wanted - height) + "px";
}

function draw() {
  dirty = false;
  const begun = performance.now(), { names } = palette;
  measure();
  prepare();
  const g = sized(canvas, plot.width, plot.height, window.devicePixelRatio || 1);
  const top = map.scrollTop, seen = visible(top);
  g.fillStyle = names.back; g.fillRect(0, 0, plot.width, plot.height);
  bands(g, seen, top);
  const last = cells(g, seen, top);
  labels(g, seen, top, last);
  g.fillStyle = names.back; g.fillRect(0, 0, plot.width, axis);
  ticks(g);
  marks(g, seen, top);
  chosenBox(g, top);
  if (!lines.length) { g.fillStyle = names.soft; g.font = labelFont; g.fillText(state.now ? "no traffic in this time" : "waiting for the first figures", plot.left + 10, axis + 16); }
  if (chartStale || chart.width !== canvas.width) drawChart();
  frames.push(performance.now() - begun);
  if (frames.length > 600) frames.shift();
  drawings++;
}

const labelFont = "12px ui-monospace, Menlo, Consolas, monospace", boldFont = "600 12px system-ui, sans-serif", smallFont = "11px system-ui, sans-serif";

// visible returns the first line that is seen, and the one after the last.
function visible(top) {
  let from = 0;
  while (from < lines.length && lines[from].y + lines[from].h < top) from++;
  let to = from;
  while (to < lines.length && lines[to].y - top < plot.height - axis) to++;
  return { from, to };
}

const yOf = (l, top) => axis + l.y - top;

// bands are what partitions stand on.
function bands(g, seen, top) {
  for (let i = seen.from; i < seen.to; i++) {
    const l = lines[i];
    if (l.level || l.heading) continue;
    g.fillStyle = palette.names.band; g.fillRect(0, yOf(l, top), plot.width, l.h);
  }
}

// cells draws what lines took, and returns what each took last.
function cells(g, seen, top) {
  const n = seen.to - seen.from, wide = times.length, all = sumUp(seen, n, wide), rects = Array.from({ length: shades }, () => []), refused = [];
  const edges = times.map((time) => [Math.max(plot.left, Math.round(x(time.t))), Math.min(plot.right, Math.round(x(time.end)))]);
  for (let i = 0; i < n; i++) {
    const l = lines[seen.from + i], y = yOf(l, top) + (l.level ? 1 : 2), h = l.h - (l.level ? 2 : 4);
    for (let k = 0; k < wide; k++) {
      const at = i * wide + k;
      if (!all.units[at] && !all.refused[at]) continue;
      const of = shade(all.load[at]), from = edges[k][0];
      let marked = all.refused[at] > 0, next = k;
      // Cells that look the same are one rectangle.
      while (next + 1 < wide && edges[next + 1][0] === edges[next][1] && (all.units[at + next + 1 - k] || all.refused[at + next + 1 - k]) &&
        shade(all.load[at + next + 1 - k]) === of && all.refused[at + next + 1 - k] > 0 === marked) next++;
      const w = Math.max(1, edges[next][1] - from);
      rects[of].push(from, y, w, h);
      if (marked) refused.push(from, y + h - 4, w, 4);
      k = next;
    }
  }
  rects.forEach((of, level) => fillAll(g, palette.shades[level], of));
  fillAll(g, palette.names.mark, refused);
  return all;
}

function fillAll(g, colour, rects) {
  if (!rects.length) return;
  g.fillStyle = colour;
  for (let i = 0; i < rects.length; i += 4) g.fillRect(rects[i], rects[i + 1], rects[i + 2], rects[i + 3]);
}

// sumUp returns what the lines that are seen took, a second, at each time.
function sumUp(seen, n, wide) {
  const first = new Int32Array(state.slots.length).fill(-1), more = new Map(), limit = limitOf();
  for (let i = 0; i < n; i++) for (const slot of lines[seen.from + i].slots) {
    if (first[slot] < 0) first[slot] = i;
    else if (more.has(slot)) more.get(slot).push(i);
    else more.set(slot, [i]);
  }
  const together = lines.slice(seen.from, seen.to).map((l) => l.together), units = new Float32Array(n * wide), refused = new Float32Array(n * wide), load = new Float32Array(n * wide);
  times.forEach((time, k) => {
    for (const c of time.columns) for (let i = 0; i < c.r.length; i++) {
      const slot = c.r[i], at = first[slot];
      if (at < 0) continue;
      const part = loadOf(c.u[i], c, slot, limit), others = more.size ? more.get(slot) : undefined;
      for (let line = at, n = 0; line !== undefined; line = others && others[n++]) {
        const j = line * wide + k;
        units[j] += c.u[i] / time.d; refused[j] += c.x[i] / time.d;
        if (together[line]) load[j] += part * c.d / time.d; else if (part > load[j]) load[j] = part;
      }
    }
  });
  return { units, refused, load };
}

// labels draws what lines are called, and beside them what they took last.
function labels(g, seen, top, all) {
  const { names } = palette, wide = times.length, limit = limitOf();
  for (let i = seen.from; i < seen.to; i++) {
    const l = lines[i], y = yOf(l, top) + l.h / 2 + 0.5, left = 6 + 12 * l.level;
    g.font = l.partition || l.heading || l.others ? boldFont : labelFont;
    g.fillStyle = l.heading || l.colder || l.others ? names.soft : names.text;
    const more = l.more ? plot.figures ? l.more : l.less : "", room = plot.left - left - 8 - (more ? g.measureText(more).width : 0);
    g.fillText(fit(g, l.name || l.label, room) + more, left, y);
    if (!plot.figures || l.heading || !wide) continue;
    const units = all.units[(i - seen.from) * wide + wide - 1];
    g.font = smallFont; g.fillStyle = l.partition && units > 0.95 * limit ? names.refused : names.soft; g.textAlign = "right";
    g.fillText(number(units), plot.width - 8, y);
    g.textAlign = "left";
  }
}

// fit leaves out the middle of a text that is too long.
function fit(g, text, width) {
  if (text.length < 8 || g.measureText(text).width <= width) return text;
  const letters = [...text], room = Math.max(6, Math.floor(width / g.measureText("m").width) - 1), tail = Math.floor(room * 0.45);
  const short = letters.slice(0, room - tail).join("") + "…" + letters.slice(-tail).join("");
  return g.measureText(short).width > width + 4 ? letters.slice(0, Math.max(3, room >> 1)).join("") + "…" : short;
}

const steps = [1, 5, 10, 30, 60, 120, 300, 600, 1800, 3600, 7200];

// ticks draws the times.
function ticks(g) {
  const { names } = palette, perSecond = (plot.right - plot.left) / (period.to - period.from) * 1000;
  const step = (steps.find((s) => s * perSecond > 84) || 7200) * 1000;
  g.font = smallFont; g.lineWidth = 1; g.strokeStyle = names.line; g.fillStyle = names.soft;
  g.fillText("time", 6, 11);
  if (plot.figures) { g.textAlign = "right"; g.fillText("units/s now", plot.width - 8, 11); g.textAlign = "left"; }
  g.beginPath();
  for (let t = Math.ceil(period.from / step) * step; state.now && t <= period.to; t += step) { // before the first round it is 1970
    const at = Math.round(x(t)) + 0.5;
    if (at > plot.right - 4) continue;
    g.moveTo(at, 4); g.lineTo(at, 18);
    if (at + 60 < plot.right) g.fillText(clock(t), at + 4, 11);
  }
  g.moveTo(0, axis - 0.5); g.lineTo(plot.width, axis - 0.5);
  g.stroke();
}
