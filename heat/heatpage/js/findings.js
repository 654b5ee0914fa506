// ---- findings: what is wrong, why, and what to do

const findingID = (f) => [f.kind, f.flow, f.key, f.pattern].join("|");

// findingBody writes a finding. Its evidence is written when somebody opens it.
function findingBody(d, f) {
  d.finding = f;
  d.dataset.id = findingID(f);
  if (!d.firstChild) {
    const s = element("summary");
    s.append(element("span"), element("span"));
    d.append(s);
    d.addEventListener("toggle", () => evidence(d));
  }
  const [severity, message] = d.firstChild.children;
  severity.className = "severity " + f.severity; say(severity, f.severity);
  say(message, ` ${f.table}${f.index ? "/" + f.index : ""}: ${safe(f.message)}`);
  evidence(d);
}

function evidence(d) {
  if (!d.open) return;
  const f = d.finding, list = element("ul"), parts = [d.firstChild, list];
  for (const e of f.evidence || []) list.append(element("li", "", safe(e)));
  parts.push(definition([["cause", safe(f.cause || "")], ["remedy", safe(f.remedy || "")]]));
  if (f.plan) parts.push(element("pre", "", f.plan.trim()));
  if (f.snippet) parts.push(element("pre", "snippet", f.snippet.trim()));
  const text = parts.slice(1).map((p) => p.textContent).join("\n");
  if (d.dataset.text === text) return;
  d.dataset.text = text;
  d.replaceChildren(...parts);
}

function findingsPanel() {
  const home = $("findings"), known = new Map([...home.children].filter((d) => d.dataset.id).map((d) => [d.dataset.id, d]));
  const wanted = state.findings.map((f) => {
    const d = known.get(findingID(f)) || element("details");
    known.delete(findingID(f));
    findingBody(d, f);
    return d;
  });
  if (!wanted.length) wanted.push(element("p", "soft", state.now ? "Nothing to mend." : "No figures yet."));
  for (const n of state.notes || []) wanted.push(element("p", "soft", "Note: " + safe(n)));
  if (wanted.length !== home.childNodes.length || wanted.some((e, i) => home.childNodes[i] !== e)) {
    if (wanted.every((e) => e.tagName === "P") && [...home.childNodes].map((e) => e.textContent).join() === wanted.map((e) => e.textContent).join()) return;
    home.replaceChildren(...wanted);
  }
}
