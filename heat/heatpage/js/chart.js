// ---- chart: what all partitions served and throttled together

const chart = $("chart"), chartHeight = 78;

// flowSums returns what the flow served and throttled at each time. Only partitions tell throttled units; keys tell requests.
function flowSums() {
  const mine = new Uint8Array(state.slots.length);
  let partitions = false;
  state.slots.forEach((r, slot) => { if (r && r.flow === view.flow) { mine[slot] = r.kind === "partition" ? 2 : 1; partitions = partitions || r.kind === "partition"; } });
  const want = partitions ? 2 : 1, of = view.flow + want;
  const sums = times.map((time) => {
    let served = 0, refused = 0;
    for (const c of time.columns) {
      if (c.of !== of) sumColumn(c, mine, want, of);
      served += c.served / time.d; refused += c.refused / time.d;
    }
    return { served, refused };
  });
  return { sums, partitions };
}

// sumColumn keeps what a flow took in a column. Rows that are given up change nothing in it.
function sumColumn(c, mine, want, of) {
  let served = 0, refused = 0;
  for (let i = 0; i < c.r.length; i++) if (mine[c.r[i]] === want) { served += c.u[i]; refused += c.x[i]; }
  Object.assign(c, { of, served, refused });
}

// roundUp is the least round number that is not below a value.
function roundUp(value) {
  const ten = 10 ** Math.floor(Math.log10(Math.max(1, value)));
  return [1, 1.5, 2, 3, 4, 5, 6, 8, 10].map((n) => n * ten).find((n) => n >= value);
}

function drawChart() {
  chartStale = false;
  const g = sized(chart, plot.width, chartHeight, window.devicePixelRatio || 1), { names } = palette;
  g.fillStyle = names.back; g.fillRect(0, 0, plot.width, chartHeight);
  const { sums, partitions } = flowSums(), base = chartHeight - 6, room = base - 12;
  const most = roundUp(Math.max(1, ...sums.map((s) => s.served + (partitions ? s.refused : 0)))), y = (v) => base - v / most * room;
  g.strokeStyle = names.line; g.lineWidth = 1; g.beginPath();
  for (const v of [0, most / 2, most]) { g.moveTo(plot.left, Math.round(y(v)) + 0.5); g.lineTo(plot.right, Math.round(y(v)) + 0.5); }
  g.stroke();
  g.font = smallFont; g.fillStyle = names.soft; g.textAlign = "right";
  for (const v of [0, most / 2, most]) g.fillText(number(v), plot.left - 6, Math.min(base - 2, Math.max(8, y(v))));
  g.textAlign = "left";
  times.forEach((time, k) => {
    const s = sums[k], from = Math.max(plot.left, Math.round(x(time.t))), w = Math.max(1, Math.min(plot.right, Math.round(x(time.end))) - from);
    g.fillStyle = names.served; g.fillRect(from, y(s.served), w, base - y(s.served));
    if (!s.refused) return;
    g.fillStyle = names.refused;
    if (partitions) g.fillRect(from, y(s.served + s.refused), w, y(s.served) - y(s.served + s.refused));
    else g.fillRect(from, base, w, 4); // requests are not units: they have no height here
  });
  legend(sums[sums.length - 1] || { served: 0, refused: 0 }, partitions ? "units/s" : "requests/s");
}

// legend says in words what was served and throttled last.
function legend(last, of) {
  say($("served"), `${number(last.served)} units/s served`);
  say($("refused"), `${number(last.refused)} ${of} throttled`);
  const flow = flowOf(), words = `Chart of ${flow ? flow.name : "traffic"}: now ${number(last.served)} units/s served and ${number(last.refused)} ${of} throttled.`;
  if (chart.getAttribute("aria-label") !== words) chart.setAttribute("aria-label", words);
}
