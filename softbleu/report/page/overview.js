"use strict";
// The answer: a verdict, the ranking, differences of lines, the lines that differ most, and the curve by threshold.

const EXTREMES = 3;
const LEAST_TOKENS = 6; // Of a reference: a word can turn a shorter line from 0 to 100
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
const signed = (number, digits = data.digits) => `${number > 0 ? "+" : ""}${fixed(number, digits)}`.replace("-", "−");

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
  for (const name of precisionAndRecall()) facts.push(`${name} ${partOf(best, name)}`);
  if (!data.higher) facts.push(`lower ${data.label} is better`);
  at("facts").textContent = facts.join(" · ");
}

// What soft matches add, by kind: a stacked bar for each chosen system, or for the best, and an example of each kind.
function drawGain() {
  const chosen = paired() ? [state.system, state.beside] : [state.system >= 0 ? state.system : rankedSystems()[0].number];
  const found = chosen.map((number) => ({ ...data.systems[number], gain: data.gains[number] })).filter(({ gain }) => gain);
  at("gain").hidden = !found.length;
  if (!found.length) return;
  const digits = Math.max(data.digits - 1, 0);
  const most = Math.max(...found.map(({ score }) => score));
  at("gain-title").textContent = `What soft matches add to ${data.label}`;
  const bars = found.map(({ name, score, gain }) => {
    const parts = [["equal words", fixed(gain.exact, digits)], ...gain.parts];
    const figure = element("figure", "gain");
    const sum = `${data.label} ${fixed(score, digits)} = ${parts.map(([kind, points]) => `${kind} ${points}`).join(" + ")}`;
    const bar = element("div", "bar");
    bar.setAttribute("role", "img");
    bar.setAttribute("aria-label", sum);
    bar.style.setProperty("--whole", String(score / most));
    bar.append(...parts.map(([kind, points]) => gainPart(kind, points)));
    const head = element("figcaption", "");
    const similar = gain.added.replace("+", "");
    head.append(element("bdi", "", name), `: ${data.label} ${fixed(score, digits)} = ${fixed(gain.exact, digits)} from equal words + ${similar} from similar ones`);
    figure.append(head, bar);
    return figure;
  });
  at("gain-bars").replaceChildren(...bars);
  const kinds = new Map(found.flatMap(({ gain }) => gain.parts.map(([kind, , example]) => [kind, example])).reverse());
  const order = [...kinds.keys()].reverse();
  order.sort((one, other) => (one === "rest") - (other === "rest"));
  const names = found.length > 1 ? found.map(({ name }) => name) : ["Points"];
  const head = element("tr");
  head.append(heading("Kind", "col"), ...names.map((name) => heading(name, "col")), heading("Example", "col"));
  const lines = order.map((kind) => {
    const line = element("tr");
    const name = heading(kind, "row");
    name.prepend(gainPart(kind, ""));
    const points = found.map(({ gain }) => element("td", "number", (gain.parts.find(([each]) => each === kind) ?? [kind, "–"])[1]));
    line.append(name, ...points, nameCell(kinds.get(kind) ?? ""));
    return line;
  });
  at("gain-kinds").replaceChildren(head, ...lines);
  const { segments, of } = found[0].gain;
  const counted = segments < of ? `, counted in ${count(segments)} of ${count(of)} lines` : "";
  at("gain-note").textContent = `At threshold ${data.thresholds[data.run]}. Points of a kind: its share of the soft credit${counted}, times what soft matches add. All pairs: softbleu explain --show pairs`;
}

function gainPart(kind, points) {
  const longest = Math.max(...kind.split(" ").map((word) => word.length));
  const part = element("span", `part${longest > 5 ? " long" : longest < 5 ? " short" : ""}`);
  part.dataset.soft = kind;
  part.style.setProperty("--points", points || "1");
  if (points) part.append(element("span", "", kind), element("b", "", points));
  return part;
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
  for (const name of precisionAndRecall()) boxes.push([name, [tested, data.verdict.baseline].map((number) => `${nameOf(number)} ${partOf(systems[number], name)}`).join(", "), ""]);
  const made = boxes.map(([name, value, look]) => {
    const box = element("div");
    box.append(element("dt", "", `${name}${look || name.startsWith("same") ? ": lines" : ""}`), element("dd", look, value));
    return box;
  });
  at("boxes").replaceChildren(...made);
}

// Precision and recall of corrections, which stand above their lines.
const precisionAndRecall = () => (order ? [] : data.systems[0].parts.map(([name]) => name).filter((name) => name === "P" || name === "R"));
const partOf = (system, name) => fixed(Object.fromEntries(system.parts)[name], data.digits);

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
  at("ranking").style.setProperty("--longest", Math.max(...ranked.map(({ name }) => name.length)));
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
  const { step } = data.verdict;
  const [width, height, top, foot] = [440, 170, 14, 34];
  const most = Math.max(1, ...counts);
  const middle = (counts.length - 1) / 2;
  const bar = width / counts.length;
  const reach = Number(((middle - 1) * step).toPrecision(6));
  const label = `Lines by their difference in ${data.label}, in points: ${nameOf(tested)} beside ${nameOf(data.verdict.baseline)}`;
  const made = canvas(width, height, label);
  counts.forEach((number, place) => {
    const tall = ((height - top - foot) * number) / most;
    const look = place < middle ? "worse" : place > middle ? "better" : "same";
    const rectangle = drawing("rect", { x: fixed(place * bar + 0.5, 1), y: fixed(height - foot - tall, 1), width: fixed(bar - 1, 1), height: fixed(tall, 1), class: look });
    made.append(rectangle, drawing("text", { x: fixed((place + 0.5) * bar, 1), y: fixed(height - foot - tall - 3, 1), class: "count" }, count(number)));
  });
  const word = (x, y, anchor, text) => made.append(drawing("text", { x, y, "text-anchor": anchor }, text));
  // Bars lie between multiples of the step, beside the bar of equal lines.
  const [least, greatest] = [`≤ −${reach}`, `≥ ${reach}`];
  word(0, height - foot + 14, "start", data.higher ? least : greatest);
  word(width / 2, height - foot + 14, "middle", "equal");
  word(width, height - foot + 14, "end", data.higher ? greatest : least);
  for (const side of [-1, 1]) {
    const half = Math.ceil((middle - 1) / 2);
    const value = side * half * step * (data.higher ? 1 : -1);
    word(fixed((middle + 0.5 + side * (half + 0.5)) * bar, 1), height - foot + 14, "middle", `${value < 0 ? "−" : ""}${Number(Math.abs(value).toPrecision(6))}`);
  }
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

// Gains of the corpus score by a line, which a difference of lines alone does not tell: long lines count for more.
function effectOf(item) {
  const effects = data.verdict?.effects ?? [];
  const [one, other] = item.rows.map((row) => effects[row.number]?.[row.place]);
  return one === undefined ? item.difference : other - one;
}

const longEnough = ({ rows: [row] }) => (row.references.length ? Math.max(...row.references.map((words) => words.length)) : row.length) >= LEAST_TOKENS;

// The lines by which the second system gains and loses most.
function drawExtremes() {
  const shown = paired();
  at("extremes").hidden = at("where").hidden = !shown;
  if (!shown) return;
  const better = (item) => (data.higher ? effectOf(item) : -effectOf(item));
  const items = pairItems().filter((item) => item.difference && longEnough(item));
  items.sort((one, other) => better(other) - better(one) || one.segment - other.segment);
  const gains = items.slice(0, EXTREMES).filter((item) => better(item) > 0);
  const losses = items.slice(-EXTREMES).reverse().filter((item) => better(item) < 0);
  const name = nameOf(state.beside);
  at("gains-title").textContent = `${name} gains most of the corpus score`;
  at("losses-title").textContent = `${name} loses most of the corpus score`;
  for (const [id, found] of [["gains", gains], ["losses", losses]]) {
    at(id).replaceChildren(...(found.length ? found.map(extremeCard) : [element("p", "note", `no line of ${LEAST_TOKENS} tokens or more`)]));
  }
  const links = [["gains", gains[0]], ["loses", losses[0]]].filter(([, item]) => item);
  at("where").replaceChildren(`${name} `, ...links.flatMap(([verb, item], place) => [place ? " and " : "", `${verb} most of the corpus score by `, lineLink(item.segment, `line ${count(item.segment)}`)]));
}

function lineLink(segment, text) {
  const link = element("a", "", text);
  link.href = hashOf({ line: segment });
  link.addEventListener("click", (event) => {
    event.preventDefault();
    // The page may have another state by now; the back button returns to it.
    history.pushState(null, "", hashOf({ line: segment }));
    goTo({ line: segment });
  });
  return link;
}

function extremeCard(item) {
  const card = element("article", "card");
  const head = element("p", "note");
  head.append(lineLink(item.segment, `line ${count(item.segment)}`), ` · ${data.label} of the line `, element("strong", "", signed(item.difference)));
  if (data.verdict) head.append(` · of the corpus ${signed(effectOf(item), data.digits + 2)}`);
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

// Round values that divide a range into about four parts.
function ticks(low, high) {
  const least = (high - low) / 5 || 1;
  const power = 10 ** Math.floor(Math.log10(least));
  const step = power * [1, 2, 5, 10].find((times) => times * power >= least);
  const first = Math.ceil(low / step);
  return Array.from({ length: Math.max(0, Math.floor(high / step) - first + 1) }, (_, place) => Number(((first + place) * step).toPrecision(6)));
}

const PLOT = { width: 900, height: 190, top: 20, foot: 40, left: 48, right: 24 };

// Scores by threshold: a line for each system, the chosen ones in their colours. The slider below has the same scale.
function drawCurve() {
  if (!sliding) return;
  const { height, top, foot, left, right } = PLOT;
  const width = document.body.clientWidth < 640 ? 400 : PLOT.width;
  const curves = data.systems.map((system) => data.thresholds.map((_, threshold) => scoreAt(system, threshold)));
  const all = curves.flat();
  const [low, high] = [Math.min(...all), Math.max(...all)];
  const x = (threshold) => left + (threshold / (data.thresholds.length - 1)) * (width - left - right);
  const y = (score) => top + ((height - foot - top) * (high - score)) / (high - low || 1);
  const made = canvas(width, height, `${data.label} by threshold, from ${fixed(high, 1)} to ${fixed(low, 1)} with exact matches only`);
  const word = (place, from, anchor, text) => made.append(drawing("text", { x: fixed(place, 1), y: fixed(from, 1), "text-anchor": anchor }, text));
  word(0, 11, "start", `${data.label}, points`);
  made.append(drawing("path", { id: "curve-place", class: "place" }));
  for (const value of ticks(low, high)) {
    made.append(drawing("path", { d: `M${left} ${fixed(y(value), 1)}H${width - right}`, class: "grid" }));
    word(left - 6, y(value) + 4, "end", String(value));
  }
  for (const name of ["0.00", "0.20", "0.40", "0.60", "0.80", "1.00"]) word(x(data.thresholds.indexOf(name)), height - foot + 16, "middle", String(Number(name)));
  word(left, height - 8, "start", "threshold: similarity that a match exceeds");
  const lead = state.system >= 0 ? state.system : rankedSystems()[0].number;
  const lookOf = (number) => (number === lead ? "first" : paired() && number === state.beside ? "second" : "other");
  curves.forEach((scores, number) => {
    const points = scores.map((score, threshold) => `${fixed(x(threshold), 1)} ${fixed(y(score), 1)}`);
    const line = drawing("path", { d: `M${points.join("L")}`, class: `curve ${lookOf(number)}` });
    line.append(drawing("title", {}, nameOf(number)));
    made.append(line);
  });
  const named = curves.map((scores, number) => [scores, number, drawing("text", { class: `value ${lookOf(number)}` })]).filter(([, number]) => lookOf(number) !== "other");
  made.append(...named.map(([, , text]) => text));
  at("curve").replaceChildren(made, element("figcaption", "note", `${data.label} by threshold; at 1 only exact matches count.`));
  at("curve").hidden = false;
  for (const [name, value] of [["--left", left], ["--right", right]]) at("slider").style.setProperty(name, value / width);
  made.move = () => {
    const place = x(state.threshold);
    at("curve-place").setAttribute("d", `M${fixed(place, 1)} ${top}V${height - foot + 4}m0 16V${height}`);
    // Curves fall: the greater of two values stands above and to the right, the other below and to the left.
    named.sort(([one], [other]) => other[state.threshold] - one[state.threshold]).forEach(([scores, number, text], rank) => {
      const score = scores[state.threshold];
      // The ranking names the colours of a pair.
      text.textContent = `${paired() || curves.length === 1 ? "" : `${nameOf(number)} `}${fixed(score, data.digits)}`;
      const room = text.getComputedTextLength() + 10;
      const toRight = rank ? place < left + room : place < width - room;
      const where = { x: fixed(place + (toRight ? 6 : -6), 1), y: fixed(y(score) + (rank ? 16 : -8), 1), "text-anchor": toRight ? "start" : "end" };
      for (const [key, value] of Object.entries(where)) text.setAttribute(key, String(value));
    });
  };
  made.move();
}

const moveCurve = () => at("curve").firstChild?.move();

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
