"use strict";
// The answer: a verdict, the ranking, differences of lines, the lines that differ most, and the curve by threshold.

const EXTREMES = 3;
const SVG = "http://www.w3.org/2000/svg";

function drawing(name, attributes, text) {
  const made = document.createElementNS(SVG, name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, String(value));
  if (text !== undefined) made.textContent = text;
  return made;
}

function canvas(width, height, label) {
  return drawing("svg", { viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": label });
}

const nameOf = (number) => data.systems[number].name;
const count = (number) => number.toLocaleString("en");
const signed = (number) => `${number > 0 ? "+" : ""}${fixed(number, data.digits)}`.replace("-", "−");

// Number of the system beside the baseline, or -1 if another pair is chosen.
function testedSystem() {
  if (!data.verdict) return -1;
  const { baseline } = data.verdict;
  if (state.system === baseline && state.beside >= 0) return state.beside;
  return state.beside === baseline ? state.system : -1;
}

function drawAnswer() {
  const tested = testedSystem();
  const found = tested < 0 ? null : data.verdict.systems[tested];
  if (found) {
    const { headline } = data.verdict;
    at("verdict").textContent = data.systems.length > 2 ? headline : `${found.sentence}.`;
    const sentence = headline.startsWith(found.sentence) ? "" : found.sentence;
    at("facts").textContent = [sentence, ...found.facts, found.agreement].filter(Boolean).join(" · ");
    drawBoxes(found, tested);
  } else if (data.verdict) {
    at("verdict").textContent = data.verdict.headline;
    at("facts").textContent = paired() ? `${nameOf(state.system)} and ${nameOf(state.beside)} are not tested here: tests are against ${nameOf(data.verdict.baseline)}.` : "";
  } else {
    drawScore();
  }
  at("boxes").hidden = !found;
  drawSpread(found ? tested : -1);
  drawAgreement(found, tested);
}

// The score of a page without tests, beside that of exact matches alone.
function drawScore() {
  const best = rankedSystems()[0];
  const lead = systems.length > 1 ? `${best.name} has the best ${data.label}: ` : `${data.label} `;
  at("verdict").textContent = `${lead}${fixed(best.score, data.digits)}`;
  const facts = [];
  const interval = state.threshold === data.run ? best.interval : null;
  if (interval) facts.push(`95% interval ${interval.map((end) => fixed(end, data.digits)).join(" to ")}`);
  if (sliding) {
    const exact = scoreAt(best, data.thresholds.length - 1);
    facts.push(`exact matches only: ${fixed(exact, data.digits)}`, `soft matches add ${signed(best.score - exact)}`);
  }
  if (!data.higher) facts.push(`lower ${data.label} is better`);
  at("facts").textContent = facts.join(" · ");
}

function drawBoxes(found, tested) {
  const all = found.wins + found.ties + found.losses;
  const share = (number) => `${count(number)} (${Math.round((100 * number) / Math.max(all, 1))}%)`;
  const boxes = [
    [`${nameOf(tested)} better`, share(found.wins), "better"],
    [`${nameOf(tested)} worse`, share(found.losses), "worse"],
    ["same score", share(found.ties), ""],
  ];
  if (order) {
    const lengthOf = (number) => `${fixed((100 * systems[number].candidate_length) / Math.max(systems[number].reference_length, 1), 1)}%`;
    boxes.push(["length / reference", `${nameOf(tested)} ${lengthOf(tested)}, ${nameOf(data.verdict.baseline)} ${lengthOf(data.verdict.baseline)}`, ""]);
  }
  const made = boxes.map(([name, value, look]) => {
    const box = element("div");
    box.append(element("dt", "", `${name}${look || name.startsWith("same") ? ": lines" : ""}`), element("dd", look, value));
    return box;
  });
  at("boxes").replaceChildren(...made);
}

// Systems by score, the best first, those without one last, with ranks; equal scores share a rank.
function rankedSystems() {
  const loss = ({ score }) => (score === null ? Infinity : data.higher ? -score : score);
  const found = systems.map((system, number) => ({ ...system, number }));
  found.sort((one, other) => loss(one) - loss(other) || one.number - other.number);
  found.forEach((system, place) => (system.rank = place && found[place - 1].score === system.score ? found[place - 1].rank : place + 1));
  return found;
}

function drawRanking() {
  if (data.systems.length < 2) return;
  const atRun = state.threshold === data.run;
  const ranked = rankedSystems();
  const ends = ranked.flatMap((system) => [system.score, ...(atRun && system.interval ? system.interval : [])]).filter((end) => end !== null);
  const [low, high] = fences(ends);
  const share = (value) => `${(100 * (Math.min(high, Math.max(low, value)) - low)) / (high - low || 1)}%`;
  const [first, second] = paired() ? [state.system, state.beside] : [-1, -1];
  const head = element("tr");
  const heads = ["Rank", "System", data.label, "", "95% interval", "Ranks"];
  heads.forEach((title, place) => {
    const cell = title ? heading(title, "col") : element("td");
    if (place !== 1 && place !== 3) cell.className = "number";
    if (place > 3) cell.classList.add("more");
    head.append(cell);
  });
  const lines = ranked.map((system) => {
    const line = element("tr", system.number === first ? "first" : system.number === second ? "second" : "");
    const name = element("th", "name");
    name.scope = "row";
    const button = element("button", "");
    button.type = "button";
    button.title = data.verdict ? `Show ${system.name} beside ${nameOf(data.verdict.baseline)}` : `Show the lines of ${system.name}`;
    button.append(element("bdi", "", system.name));
    button.addEventListener("click", () => chooseSystem(system.number));
    name.append(button);
    const plot = element("td", "range");
    if (atRun && system.interval) {
      const bar = element("i");
      bar.style.setProperty("--from", share(system.interval[0]));
      bar.style.setProperty("--to", share(system.interval[1]));
      plot.append(bar);
    }
    const point = element("b");
    point.hidden = system.score === null;
    point.style.setProperty("--at", share(system.score));
    // Far from all others: an arrow at the edge.
    if (system.score < low || system.score > high) point.className = system.score < low ? "below" : "above";
    if (system.score !== null) plot.append(point);
    const score = numberCell(system.score, data.digits);
    score.classList.add("score");
    const interval = atRun && system.interval ? system.interval.map((end) => fixed(end, data.digits)).join(" to ") : "–";
    const ranks = atRun && system.ranks ? `${system.ranks[0]}–${system.ranks[1]}` : "–";
    line.append(element("td", "number", String(system.rank)), name, score, plot, element("td", "number more", interval), element("td", "number more", ranks));
    return line;
  });
  const [body, headPart] = [element("tbody"), element("thead")];
  headPart.append(head);
  body.append(...lines);
  at("ranking").replaceChildren(headPart, body);
}

// Bounds of a scale: outliers beyond the quartiles by three times their distance do not squeeze all others.
function fences(values) {
  const ascending = [...values].sort((one, other) => one - other);
  const quartile = (share) => ascending[Math.floor(share * (ascending.length - 1))];
  const [first, third] = [quartile(0.25), quartile(0.75)];
  const reach = 2 * (third - first);
  const within = ascending.filter((value) => first - reach <= value && value <= third + reach);
  return [within[0], within[within.length - 1]];
}

function chooseSystem(number) {
  const base = data.verdict ? data.verdict.baseline : -1;
  if (number === base) return;
  state.system = base >= 0 ? base : number;
  state.beside = base >= 0 ? number : -1;
  at("system").value = String(state.system);
  at("beside").value = String(state.beside);
  showChosen();
}

// Histogram of the differences of lines from the baseline; better lines are on the right.
function drawSpread(tested) {
  at("beside-ranking").hidden = tested < 0;
  if (tested < 0) return;
  const counts = data.verdict.counts[tested];
  const [width, height, foot] = [440, 150, 34];
  const most = Math.max(1, ...counts);
  const middle = (counts.length - 1) / 2;
  const bar = width / counts.length;
  const reach = fixed(middle * data.verdict.step, data.verdict.step * middle < 1 ? 2 : 0);
  const label = `Lines by their difference in ${data.label}: ${nameOf(tested)} beside ${nameOf(data.verdict.baseline)}`;
  const made = canvas(width, height, label);
  counts.forEach((number, place) => {
    const tall = ((height - foot) * number) / most;
    const look = place < middle ? "worse" : place > middle ? "better" : "same";
    const rectangle = drawing("rect", { x: fixed(place * bar + 0.5, 1), y: fixed(height - foot - tall, 1), width: fixed(bar - 1, 1), height: fixed(tall, 1), class: look });
    rectangle.append(drawing("title", {}, `${count(number)} lines`));
    made.append(rectangle);
  });
  const word = (x, y, anchor, text) => made.append(drawing("text", { x, y, "text-anchor": anchor }, text));
  word(0, height - foot + 14, "start", `${data.higher ? "−" : "+"}${reach}`);
  word(width / 2, height - foot + 14, "middle", "0");
  word(width, height - foot + 14, "end", `${data.higher ? "+" : "−"}${reach}`);
  word(0, height - 4, "start", "◀ worse lines");
  word(width, height - 4, "end", "better lines ▶");
  at("spread").replaceChildren(made, element("figcaption", "note", label));
}

function drawAgreement(found, tested) {
  at("agreement-part").hidden = !found || !found.others.length;
  if (!found || !found.others.length) return;
  const head = element("tr");
  head.append(...["Metric", "Difference", "p", "Better"].map((title, place) => {
    const cell = heading(title, "col");
    if (place === 1 || place === 2) cell.className = "number";
    return cell;
  }));
  const lines = found.others.map((other) => {
    const line = element("tr");
    const better = element("td");
    better.append(element("bdi", "", other.better || "neither"));
    line.append(nameCell(other.metric), element("td", "number", other.difference), element("td", "number", other.p), better);
    return line;
  });
  at("agreement").replaceChildren(head, ...lines);
}

// The lines in which the second system gains and loses most.
function drawExtremes() {
  const shown = paired();
  at("extremes").hidden = at("where").hidden = !shown;
  if (!shown) return;
  const better = (item) => (data.higher ? item.difference : -item.difference);
  const items = pairItems().filter((item) => item.difference);
  items.sort((one, other) => better(other) - better(one) || one.segment - other.segment);
  const gains = items.slice(0, EXTREMES).filter((item) => better(item) > 0);
  const losses = items.slice(-EXTREMES).reverse().filter((item) => better(item) < 0);
  const name = nameOf(state.beside);
  at("gains-title").textContent = `${name} gains most`;
  at("losses-title").textContent = `${name} loses most`;
  for (const [id, found] of [["gains", gains], ["losses", losses]]) {
    at(id).replaceChildren(...(found.length ? found.map(extremeCard) : [element("p", "note", "no line")]));
  }
  const links = [["largest gain", gains[0]], ["largest loss", losses[0]]].filter(([, item]) => item);
  at("where").replaceChildren(`${name}: `, ...links.flatMap(([title, item], place) => [place ? "; " : "", `${title}: `, lineLink(item.segment, `line ${count(item.segment)}`), ` (${signed(item.difference)})`]));
}

function lineLink(segment, text) {
  const link = element("a", "", text);
  link.href = hashOf({ line: segment });
  link.addEventListener("click", (event) => {
    event.preventDefault();
    goTo({ line: segment });
  });
  return link;
}

function extremeCard(item) {
  const card = element("article", "card");
  const head = element("p", "note");
  head.append(lineLink(item.segment, `line ${count(item.segment)}`), ` · ${data.label} `, element("strong", "", signed(item.difference)));
  const texts = element("div", "texts");
  card.append(head, texts);
  card.drawn = drawTexts(item, texts);
  paint(card.drawn);
  return card;
}

const cards = () => document.querySelectorAll("#extremes .card");

// Score of a system at a threshold, by its number.
function scoreAt(system, threshold) {
  return bleu(system.masses[threshold], system.totals, system.candidate_length, system.reference_length, data.metric, data.metric.effective).score;
}

// Scores by threshold: a line for each system, the chosen ones in their colours.
function drawCurve() {
  if (!sliding) return;
  const [width, height, foot, side] = [document.body.clientWidth < 640 ? 400 : 900, 150, 22, 40];
  const curves = data.systems.map((system) => data.thresholds.map((_, threshold) => scoreAt(system, threshold)));
  const all = curves.flat();
  const [low, high] = [Math.min(...all), Math.max(...all)];
  const x = (threshold) => side + (Number(data.thresholds[threshold]) * (width - side - 10));
  const y = (score) => 8 + ((height - foot - 16) * (high - score)) / (high - low || 1);
  const made = canvas(width, height, `${data.label} by threshold, from ${fixed(high, 1)} to ${fixed(low, 1)} with exact matches only`);
  for (const value of [low, (low + high) / 2, high]) {
    made.append(drawing("path", { d: `M${side} ${fixed(y(value), 1)}H${width - 10}`, class: "grid" }));
    made.append(drawing("text", { x: side - 6, y: fixed(y(value) + 4, 1), "text-anchor": "end" }, fixed(value, 1)));
  }
  for (const share of [0, 0.25, 0.5, 0.75, 1]) made.append(drawing("text", { x: fixed(side + share * (width - side - 10), 1), y: height - 4, "text-anchor": "middle" }, String(share)));
  curves.forEach((scores, number) => {
    const look = number === state.system && paired() ? "first" : number === state.beside && paired() ? "second" : "other";
    const points = scores.map((score, threshold) => `${fixed(x(threshold), 1)} ${fixed(y(score), 1)}`);
    const line = drawing("path", { d: `M${points.join("L")}`, class: `curve ${curves.length === 1 ? "first" : look}` });
    line.append(drawing("title", {}, nameOf(number)));
    made.append(line);
  });
  made.append(drawing("path", { id: "curve-place", class: "place", d: `M${fixed(x(state.threshold), 1)} 0V${height - foot}` }));
  at("curve").replaceChildren(made, element("figcaption", "note", `${data.label} by threshold; at 1 only exact matches count.`));
  at("curve").hidden = false;
  made.place = x;
}

function moveCurve() {
  const place = at("curve-place");
  if (place) place.setAttribute("d", `M${fixed(place.parentNode.place(state.threshold), 1)} 0V128`);
}

// Files

function save(name, lines) {
  const cell = (value) => (/[",\n\r]/.test(value) ? `"${value.replaceAll('"', '""')}"` : value);
  const text = lines.map((line) => line.map((value) => cell(String(value ?? ""))).join(",")).join("\r\n");
  const link = element("a");
  link.href = URL.createObjectURL(new Blob([`${text}\r\n`], { type: "text/csv" }));
  link.download = `${name.replaceAll(/[^\w.-]+/g, "-").toLowerCase()}.csv`;
  link.click();
  URL.revokeObjectURL(link.href);
}

function saveSystems() {
  const parts = order ? [...Array.from({ length: order }, (_, n) => `P${n + 1}`), "BP", "length", "reference_length"] : data.systems[0].parts.map(([name]) => name);
  const lines = rankedSystems().map((system) => {
    const interval = state.threshold === data.run && system.interval ? system.interval : ["", ""];
    const ranks = state.threshold === data.run && system.ranks ? system.ranks : ["", ""];
    const own = order ? [...system.precisions, system.brevity_penalty, system.candidate_length, system.reference_length] : system.parts.map(([, value]) => value);
    return [system.rank, system.name, system.score, ...interval, ...ranks, ...own];
  });
  save("scores", [["rank", "system", "score", "lower", "upper", "best_rank", "worst_rank", ...parts], ...lines]);
}

function saveLines() {
  const two = paired();
  const lines = chosenItems().map((item) => {
    const [row] = item.rows;
    const texts = [...row.references.map(textOf), ...(row.source ? [textOf(row.source)] : [])];
    return [row.segment, ...item.rows.flatMap((each) => [each.system, each.score, textOf(each.candidate)]), ...texts];
  });
  const heads = ["line", ...(two ? ["", "_beside"] : [""]).flatMap((end) => [`system${end}`, `score${end}`, `output${end}`]), "texts"];
  save("lines", [heads, ...lines]);
}
