// ---- text: how figures, times and keys are written

const $ = (id) => document.getElementById(id);

const whole = new Intl.NumberFormat("en-US"); // toLocaleString would look for the language each time
const number = (v) => v >= 100 ? whole.format(Math.round(v)) : String(Math.round(v * 10) / 10);
const between = (k) => k.high - k.low > 0.02 * k.high + 0.1 ? `${number(k.low)} to ${number(k.high)}` : number(k.low);
const milliseconds = (ns) => ns ? (ns / 1e6).toFixed(1) + " ms" : "–";
const percent = (share) => Math.round(share * 100) + " %";
const count = (n, noun) => `${number(n)} ${noun}${n === 1 ? "" : "s"}`;
const bytes = (n) => n >= 1e9 ? (n / 1e9).toFixed(1) + " GB" : n >= 1e6 ? (n / 1e6).toFixed(1) + " MB" : Math.ceil(n / 1e3) + " KB";

const clockText = new Intl.DateTimeFormat(undefined, { hour: "2-digit", minute: "2-digit", second: "2-digit", hourCycle: "h23" });
const clock = (ms) => clockText.format(ms);

// safe shows what could change how the text around it is read: control and format characters as escapes, and text that runs from
// right to left isolated.
const odd = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}\p{Co}\p{Cn}\p{Variation_Selector}]/u, oddAll = new RegExp(odd, "gu");
const leftwards = /[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc\u{10800}-\u{10fff}\u{1e800}-\u{1efff}]/u;
function safe(text) {
  if (odd.test(text)) text = JSON.stringify(text).replace(oddAll, (c) => "\\u{" + c.codePointAt(0).toString(16) + "}");
  return leftwards.test(text) ? "\u2066" + text + "\u2069" : text;
}

// brief is a key for lists: safe, and without its middle if it is long.
const longest = 120;
function brief(key) {
  const letters = key.length > longest ? [...key.slice(0, 4 * longest)] : null; // never half of a character
  return letters && letters.length > longest ? safe(letters.slice(0, longest - 20).join("")) + "…" + safe([...key.slice(-40)].slice(-15).join("")) : safe(key);
}

function element(tag, className, text) {
  const e = document.createElement(tag);
  if (className) e.className = className;
  if (text !== undefined) e.textContent = text;
  return e;
}

// say sets a text if it is another one, so that nothing is laid out or read aloud again for nothing.
function say(e, text) { if (e.textContent !== text) e.textContent = text; }

function definition(facts) {
  const list = element("dl");
  for (const [name, value] of facts) list.append(element("dt", "", name), element("dd", "", value));
  return list;
}
