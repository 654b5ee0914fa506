// ---- marks: changes of layouts and splits of partitions

// eventsOf returns what has changed in the table or index that is looked at.
function eventsOf() {
  const flow = flowOf();
  return flow ? state.events.filter((e) => e.resource === flow.resource) : [];
}

function marks(g, seen, top) {
  const { names } = palette, drawn = eventsOf().filter((e) => e.at >= period.from && e.at <= period.to);
  if (!drawn.length) return;
  g.save();
  g.strokeStyle = names.change; g.lineWidth = 2; g.setLineDash([4, 3]);
  for (const e of drawn) {
    const at = Math.round(x(e.at));
    g.beginPath(); g.moveTo(at, axis - 20); g.lineTo(at, plot.height); g.stroke();
  }
  g.setLineDash([]);
  flags(g, drawn);
  g.restore();
}

// flags names changes. Those that have no room are dashed lines alone: the list beside the picture has their words.
function flags(g, drawn) {
  const { names } = palette, taken = [];
  g.font = "600 11px system-ui, sans-serif";
  for (const e of [...drawn].reverse()) {
    const text = e.key ? fit(g, brief(e.key), 150) + ": " + e.short : e.short, width = g.measureText(text).width + 10;
    const at = Math.round(x(e.at)), from = at + width > plot.right ? Math.max(plot.left, at - width + 1) : at - 1;
    if (taken.some(([a, b]) => from < b + 4 && from + width > a - 4)) continue;
    taken.push([from, from + width]);
    g.fillStyle = names.change; g.fillRect(from, axis - 20, width, 16);
    g.fillStyle = names.back; g.fillText(text, from + 5, axis - 11.5);
  }
}

function chosenBox(g, top) {
  const at = chosenCell();
  if (!at) return;
  const from = Math.max(plot.left, x(at.time.t));
  g.strokeStyle = palette.names.select; g.lineWidth = 2;
  g.strokeRect(from, yOf(at.line, top), Math.max(4, Math.min(plot.right, x(at.time.end)) - from), at.line.h);
}
