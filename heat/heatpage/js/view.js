// ---- view: what somebody has chosen to see, and the time that is drawn

const view = {
  flow: "", rows: "keys", range: 180, cold: false, paused: false,
  chose: false, // a flow, by hand
  chosen: null, // {id of a line, t}
};

const flowOf = () => state.known.get(view.flow);
const limitOf = () => (flowOf() || {}).limit || 1000; // units a second of one partition

// period is the time that is drawn, in milliseconds since 1970: what was chosen, or less while there is less to draw.
const period = { from: 0, to: 0 };
const leastPeriod = 20e3;

function setPeriod(first) {
  const last = state.columns[state.columns.length - 1], end = last ? last.t + last.d * 1000 : state.now;
  period.to = state.now - end < 5000 ? end : state.now; // a source that says nothing is seen as time without cells
  period.from = Math.max(period.to - view.range * 1000, Math.min(first, period.to - leastPeriod));
}
