// ---- colours: how a load looks, light and dark

const ramps = {
  light: [[0, [228, 239, 248]], [0.3, [150, 196, 224]], [0.45, [243, 232, 196]], [0.6, [254, 217, 118]], [0.8, [253, 141, 60]], [1, [177, 0, 38]]],
  dark: [[0, [22, 44, 64]], [0.3, [35, 108, 150]], [0.45, [112, 112, 92]], [0.6, [196, 152, 36]], [0.8, [226, 100, 24]], [1, [255, 72, 72]]],
};
const shades = 64; // so many colours are told apart

const palette = { dark: false, shades: [], names: {} };

function setPalette() {
  const theme = document.documentElement.dataset.theme;
  palette.dark = theme ? theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
  const ramp = ramps[palette.dark ? "dark" : "light"];
  palette.shades = Array.from({ length: shades }, (_, n) => mix(ramp, n / (shades - 1)));
  const style = getComputedStyle(document.documentElement);
  for (const name of ["back", "band", "text", "soft", "line", "mark", "change", "select", "served", "refused"]) palette.names[name] = style.getPropertyValue("--" + name).trim();
  $("ramp").style.setProperty("background", `linear-gradient(to right, ${[0, 0.25, 0.5, 0.75, 1].map(colour).join(", ")})`);
}

function mix(ramp, part) {
  let i = 1;
  while (i < ramp.length - 1 && ramp[i][0] < part) i++;
  const [a, from] = ramp[i - 1], [b, to] = ramp[i], s = Math.max(0, (part - a) / (b - a));
  return `rgb(${from.map((v, n) => Math.round(v + s * (to[n] - v))).join(",")})`;
}

const shade = (load) => Math.round(Math.min(1, Math.max(0, load)) * (shades - 1));
const colour = (load) => palette.shades[shade(load)];
