// ---- feed: where frames come from

const connection = { saved: false, at: 0, events: null }; // at: when the last frame came
let waiting = null; // frames that came during a pause

// show draws what a frame has said.
function show(f) {
  apply(f);
  panels();
  if (view.chosen) { prepare(); detail(); }
  redraw();
}

function take(f) {
  connection.at = Date.now();
  if (!view.paused) { show(f); return; }
  if (f.whole) waiting = []; // what came before is in it
  (waiting = waiting || []).push(f);
  if (waiting.length > 900) { connection.events.close(); waiting = null; connect(); } // a long pause: begin anew
}

function connect() {
  const events = connection.events = new EventSource("events");
  events.onmessage = (e) => take(JSON.parse(e.data));
  events.onerror = () => {
    state.lost = "the server does not answer"; state.ended = false; status();
    if (events.readyState === EventSource.CLOSED) { events.close(); setTimeout(connect, 2000); }
  };
}

setInterval(() => { // a source that hangs says nothing
  const age = Math.round((Date.now() - connection.at) / 1000);
  if (connection.at && age > 5 && !state.lost && !connection.saved && !view.paused) { state.lost = `none for ${age} s`; status(); state.lost = ""; }
}, 2000);
