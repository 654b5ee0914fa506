// ---- controls: what can be chosen, and the beginning of it all

function changed() { panels(); if (view.chosen) { view.chosen = null; detail(); } redraw(); }

$("flow").addEventListener("change", (e) => { view.flow = e.target.value; view.chose = true; changed(); });
$("rows").addEventListener("change", (e) => { view.rows = e.target.value; changed(); });
$("cold").addEventListener("change", (e) => { view.cold = e.target.checked; redraw(); });
$("range").addEventListener("change", (e) => { view.range = Number(e.target.value); redraw(); });
$("theme").addEventListener("change", (e) => {
  if (e.target.value) document.documentElement.dataset.theme = e.target.value; else delete document.documentElement.dataset.theme;
  recolour();
});
$("pause").addEventListener("click", (e) => {
  view.paused = !view.paused;
  e.target.setAttribute("aria-pressed", String(view.paused));
  say(e.target, view.paused ? "Continue" : "Pause");
  const all = waiting;
  waiting = null;
  if (!view.paused && all) { all.forEach(apply); panels(); redraw(); } else status();
});
map.addEventListener("scroll", redraw);
addEventListener("resize", redraw);
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", recolour);

function recolour() { setPalette(); chartStale = true; redraw(); }

setPalette();
const saved = JSON.parse($("data").textContent);
if (saved) { connection.saved = true; $("export").hidden = $("pause").hidden = true; show(saved); } else connect();
if (!saved && location.search.includes("token=")) history.replaceState(null, "", location.pathname); // keep it out of sight
redraw();

// What tests and measurements look at.
window.heatpage = { state, view, frames, period, x, axis, colour, draw, cell: cellOf, lines: () => lines, times: () => times, drawings: () => drawings };
