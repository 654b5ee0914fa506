// ---- table: rows of figures. What has not changed is left alone.

// table fills a place. A column's name that begins with "#" is one of numbers. A value is a text, or a bar.
function table(place, heads, rows, none) {
  const home = $(place);
  if (!rows.length) {
    if (home.firstChild && home.firstChild.tagName === "P") say(home.firstChild, none); else home.replaceChildren(element("p", "soft", none));
    return;
  }
  const titles = heads.join("|");
  let t = home.firstChild;
  if (!t || t.tagName !== "TABLE" || t.dataset.titles !== titles) {
    t = element("table"); t.dataset.titles = titles;
    const head = t.createTHead().insertRow();
    heads.forEach((h) => { const th = element("th", h[0] === "#" ? "n" : "", h.replace(/^#/, "")); th.scope = "col"; head.append(th); });
    t.createTBody();
    home.replaceChildren(t);
  }
  const body = t.tBodies[0];
  while (body.rows.length > rows.length) body.deleteRow(-1);
  rows.forEach((r, n) => {
    const tr = body.rows[n] || body.insertRow();
    r.forEach((v, i) => {
      const td = tr.cells[i] || Object.assign(tr.insertCell(), { className: heads[i][0] === "#" ? "n" : i === 0 ? "key" : "" });
      if (v instanceof Bar) v.into(td); else say(td, v);
    });
  });
}

// Bar is a value beside its limit.
class Bar {
  constructor(value, limit, name) { Object.assign(this, { value, limit: limit || 1, name }); }
  into(td) {
    let m = td.firstElementChild;
    if (!m) { m = element("div", "meter"); m.setAttribute("role", "meter"); m.append(element("div")); td.append(m); m.setAttribute("aria-valuemin", "0"); }
    const part = Math.min(1, this.value / this.limit), words = `${this.name}: ${number(this.value)} of ${number(this.limit)}`;
    if (m.getAttribute("aria-label") === words) return;
    m.setAttribute("aria-label", words); m.setAttribute("aria-valuenow", String(this.value)); m.setAttribute("aria-valuemax", String(this.limit));
    m.firstChild.style.width = 100 * part + "%";
    m.firstChild.className = part >= 0.95 ? "full" : part >= 0.7 ? "warm" : "";
  }
}
