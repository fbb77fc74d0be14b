"use strict";
// Interaction: pointing, the slider, search and paging; and the start of the page.

// Frame the words that match a token, and say how they match.
function point(drawn, place, side = "candidate") {
  for (const token of document.querySelectorAll("main .active")) token.classList.remove("active");
  const met = at("met");
  if (drawn === null || (side === "candidate" && !drawn.row.candidate.length)) {
    met.textContent = "";
    return;
  }
  if (!showsMatches()) {
    pointMark(drawn, side, Math.min(place, tokensOf(drawn, side).length - 1));
    return;
  }
  const { row, candidate, references } = drawn;
  const n = Math.max(state.order, 1);
  const matches = matchList(row);
  const covers = (start, length, at) => start <= at && at < start + Math.max(length, 1);
  let match;
  let start = place;
  if (side === "references") {
    match = matches.find((each) => covers(each.partner, each.partnerLength, place));
    start = match ? match.start : -1;
  } else {
    // The last words of a text start no n-gram; they select the last one.
    start = Math.max(0, Math.min(place, row.candidate.length - n));
    match = matches.find((each) => (state.order ? each.start === start : covers(each.start, each.length, start)));
    start = match ? match.start : start;
    drawn.place = Math.max(0, Math.min(place, row.candidate.length - n));
  }
  const length = match ? match.length : n;
  const own = start < 0 ? [] : candidate.tokens.slice(start, start + length);
  own.forEach((token) => token.classList.add("active"));
  const isLong = state.order > 1;
  const word = start < 0 ? references[place].textContent : row.candidate.slice(start, start + length).join(data.glue);
  met.replaceChildren(element("bdi", "", word));
  if (!match) {
    if (side === "references") met.append(isLong ? `: in no matched ${n}-gram` : ": missing from the output");
    else if (row.candidate.length < n) met.append(`: too short for a ${n}-gram`);
    else met.append(isLong ? `: no matching ${n}-gram` : ": no match", ...closest(row, start));
    return;
  }
  references.slice(match.partner, match.partner + match.partnerLength).forEach((token) => token.classList.add("active"));
  const partner = row.pool.slice(match.partner, match.partner + match.partnerLength).join(data.glue);
  met.append(match.wrong ? " stands for " : " matches ", element("bdi", "", partner), `${whichReference(row, match.partner)}: ${match.said}`);
}

// Name the closest word or n-gram of the references that nothing else matches, where similarities are known.
function closest(row, start) {
  const found = state.order ? closestNgram(row, state.order, start) : closestWord(row, start);
  if (!found) return [];
  const [text, similarity] = found;
  const below = state.order ? `, not above ${data.thresholds[state.threshold]}` : "";
  return [state.order ? "; closest that is free: " : "; closest: ", element("bdi", "", text), ` (similarity ${fixed(similarity, 4 - 2 * !state.order)}${below})`];
}

// The most similar one: at the metric's threshold as it was computed, at others among matches of any threshold.
function closestNgram(row, n, start) {
  let best = -1;
  const key = (k) => `${columns.partner[k]} ${columns.partner_order[k]}`;
  const taken = new Set(matchesOf(row, n).map(key));
  const computed = (k) => columns.first[k] === data.thresholds.length;
  const free = (k) => (state.threshold === data.run ? computed(k) : !taken.has(key(k)));
  for (let k = row.groups[n - 1]; sliding && k < row.groups[n]; k += 1) {
    const named = columns.start[k] === start && 2 * columns.mass[k] > data.thresholds[state.threshold] * SCALE && free(k);
    if (named && (best < 0 || columns.mass[k] > columns.mass[best])) best = k;
  }
  if (best < 0) return null;
  const match = ngramMatch(row, best, n);
  return [row.pool.slice(match.partner, match.partner + match.partnerLength).join(data.glue), match.share];
}

function whichReference(row, place) {
  if (row.references.length < 2) return "";
  let end = 0;
  const number = row.references.findIndex((words) => place < (end += words.length));
  return ` in reference ${number + 1}`;
}

function pointing() {
  const body = document.querySelector("main");
  const target = (event) => event.target.closest(".candidate")?.drawn ?? null;
  body.addEventListener("pointerover", (event) => {
    if (!event.target.classList.contains("token")) return;
    const drawn = target(event);
    if (drawn) point(drawn, drawn.candidate.tokens.indexOf(event.target));
    else pointElsewhere(event);
  });
  body.addEventListener("pointerleave", () => point(null));
  body.addEventListener("focusin", (event) => {
    const drawn = target(event);
    if (drawn && event.target.matches(":focus-visible")) point(drawn, drawn.place);
  });
  body.addEventListener("focusout", () => point(null));
  body.addEventListener("keydown", (event) => {
    const drawn = target(event);
    const last = drawn ? drawn.candidate.tokens.length - 1 : 0;
    const moves = { ArrowRight: 1, ArrowLeft: -1, Home: -last, End: last };
    if (!drawn || !(event.key in moves)) return;
    event.preventDefault();
    // Arrow keys follow the direction of the text.
    const step = moves[event.key] * (getComputedStyle(drawn.candidate.querySelector("bdi")).direction === "rtl" && event.key.startsWith("A") ? -1 : 1);
    point(drawn, Math.max(0, Math.min(last, drawn.place + step)));
  });
}

// Point at a word of a source or reference: of two systems, at the match of the first that has one.
function pointElsewhere(event) {
  const all = event.target.closest("tr, .card")?.drawn ?? [];
  for (const side of ["references", "source"]) {
    const has = all.map((drawn) => [drawn, drawn[side].indexOf(event.target)]).filter(([, place]) => place >= 0);
    const found = has.find(([drawn, place]) => isPointed(drawn, side, place)) ?? (side === "references" && showsMatches() ? has[0] : undefined);
    if (found) {
      point(found[0], found[1], side);
      return;
    }
  }
}

function isPointed(drawn, side, place) {
  if (showsMatches()) return side === "references" && matchList(drawn.row).some((match) => match.partner <= place && place < match.partner + match.partnerLength);
  return [...marksOf(drawn.row)].some((mark) => mark.side === side && mark.start <= place && place < mark.start + Math.max(mark.length, 1));
}

function drawThreshold() {
  const name = data.thresholds[state.threshold];
  at("theta").textContent = name;
  at("threshold").setAttribute("aria-valuetext", name);
  at("back").disabled = state.threshold === data.run;
}

// Move the slider; return the milliseconds that this took.
function slide(number) {
  const begun = performance.now();
  state.threshold = number;
  drawThreshold();
  rescore();
  drawSystems();
  drawRanking();
  if (!data.verdict) drawAnswer();
  moveCurve();
  for (const card of cards()) paint(card.drawn);
  drawSegments();
  keepHash();
  const took = performance.now() - begun;
  at("slider").dataset.took = took.toFixed(2);
  return took;
}

function setUpSlider() {
  at("slider-note").textContent = data.slider;
  if (!sliding) return;
  const slider = at("threshold");
  at("slider").hidden = false;
  slider.max = String(data.thresholds.length - 1);
  slider.value = String(data.run);
  at("back").textContent = `Back to ${data.thresholds[data.run]}`;
  // A browser may report many moves per frame; only the last is drawn.
  let waiting = false;
  slider.addEventListener("input", () => {
    if (waiting) return;
    waiting = true;
    requestAnimationFrame(() => {
      waiting = false;
      slide(Number(slider.value));
    });
  });
  at("back").addEventListener("click", () => {
    slider.value = String(data.run);
    slide(data.run);
    slider.focus();
  });
  drawThreshold();
}

function addOrder(n, text) {
  const label = element("label");
  const radio = element("input");
  Object.assign(radio, { type: "radio", name: "order", value: String(n), checked: n === state.order });
  radio.addEventListener("change", () => {
    state.order = n;
    drawLegend();
    // Copies of the source come and go.
    at("segments").tBodies[0].replaceChildren();
    drawSegments();
    drawExtremes();
    keepHash();
  });
  label.append(radio, ` ${text}`);
  at("orders").append(label);
}

// Draw everything that depends on the selected systems.
function showChosen() {
  state.page = 0;
  const two = paired();
  const titles = { all: "all lines" };
  if (data.marks && !data.marks.pairs) titles.marked = `lines with ${data.marks.title}`;
  if (two) {
    const [one, other] = [state.system, state.beside].map((number) => data.systems[number].name);
    Object.assign(titles, { first: `${one} better`, second: `${other} better`, different: "different text", alike: "equal scores" });
    at("first-legend").textContent = `only ${one}`;
    at("second-legend").textContent = `only ${other}`;
  }
  if (!(state.filter in titles)) state.filter = START.filter;
  at("filter").replaceChildren(...Object.entries(titles).map(([value, title]) => new Option(title, value)));
  at("filter").value = state.filter;
  at("filter-choice").hidden = Object.keys(titles).length < 2;
  at("first-legend").hidden = at("second-legend").hidden = !two;
  drawAnswer();
  drawGain();
  drawRanking();
  drawExtremes();
  drawCurve();
  drawSegmentHead();
  drawSegments();
  keepHash();
}

function drawLegend() {
  const shows = showsMatches();
  at("legend").hidden = !shows;
  at("mark-legend").hidden = shows;
  at("slider-note").hidden = !data.slider || !state.order;
  if (shows) {
    const soft = state.order ? sliding || columns.mass.some((mass) => mass < SCALE) : Boolean(data.marks);
    for (const token of document.querySelectorAll("#legend .soft")) token.hidden = !soft;
    for (const token of document.querySelectorAll("#legend [data-ngram]")) {
      token.dataset.word ??= token.textContent;
      token.textContent = state.order > 1 ? `${token.dataset.ngram} ${state.order}-gram` : token.dataset.word;
    }
    return;
  }
  const shown = data.marks.kinds.map((kind) => {
    const token = element("span", "token", kind);
    token.dataset.kind = kind;
    return token;
  });
  at("mark-legend").replaceChildren(...shown.flatMap((token) => [token, " "]));
}

function setUpControls() {
  at("controls").addEventListener("submit", (event) => event.preventDefault());
  at("search").addEventListener("input", () => {
    Object.assign(state, { query: at("search").value, page: 0, line: 0 });
    drawSegments();
    keepHash();
  });
  const names = data.systems.map((system, number) => new Option(system.name, String(number)));
  at("system").append(new Option("all", "-1"), ...names);
  at("beside").append(new Option("none", "-1"), ...names.map((option) => option.cloneNode(true)));
  at("system-choice").hidden = at("beside-choice").hidden = data.systems.length < 2;
  for (const name of ["system", "beside"]) {
    at(name).value = String(state[name]);
    at(name).addEventListener("change", () => {
      state[name] = Number(at(name).value);
      // Only one system can be beside another.
      if (name === "beside" && state.beside >= 0 && state.system < 0) at("system").value = String((state.system = state.beside ? 0 : 1));
      showChosen();
    });
  }
  at("filter").addEventListener("change", () => {
    Object.assign(state, { filter: at("filter").value, page: 0, line: 0 });
    drawSegments();
    keepHash();
  });
  at("order-choice").hidden = !order;
  if (order && data.marks) addOrder(0, data.marks.title);
  for (let n = 1; n <= order; n += 1) addOrder(n, `${n}-grams`);
  const turn = (step) => () => {
    state.page += step;
    state.line = 0;
    drawSegments();
    at("pager").scrollIntoView();
  };
  at("previous").addEventListener("click", turn(-1));
  at("next").addEventListener("click", turn(1));
  at("save-lines").addEventListener("click", saveLines);
  at("save-systems").addEventListener("click", saveSystems);
}

function setUpNotes() {
  const many = (count, word) => `${count.toLocaleString("en")} ${word}${count === 1 ? "" : "s"}`;
  const names = data.systems.map((system) => system.name);
  const title = data.title || `${data.label}: ${names.slice(0, 3).join(", ")}${names.length > 3 ? ", …" : ""}`;
  at("title").textContent = document.title = title;
  at("title").title = names.join(", ");
  at("summary").textContent = `${data.label} of ${many(data.systems.length, "system")}, ${many(data.segments, "line")}${data.gated && ` · outputs that the gate changed: ${data.gated}`}`;
  const { samples, seed } = data.significance;
  const where = sliding ? `, at threshold ${data.thresholds[data.run]} only` : "";
  const bars = `Bars: 95% intervals, ${many(samples, "bootstrap sample")} (seed ${seed})${where}.`;
  at("interval-note").textContent = `${bars} Ranks: 95% range over bootstrap samples.`;
  at("interval-note").hidden = data.systems[0].interval === null;
  at("overview").hidden = data.systems.length < 2;
  at("overview").after(at("gain"), at("curve"), at("slider"));
  if (data.numbers) {
    const kept = data.systems.length > 1 ? "the lines that differ most between systems" : "the lines with the worst scores";
    at("shown-note").textContent = `Only ${count(data.shown)} of ${many(data.segments, "line")} are on this page: ${kept}. Scores, tests and intervals cover all lines.`;
    at("shown-note").hidden = false;
  }
  at("signature").textContent = data.signature;
  at("segment-signature").textContent = data.segment_signature;
  at("version").textContent = `softbleu ${data.version}`;
  for (const token of document.querySelectorAll("[data-legend]")) token.style.setProperty("--alike", token.dataset.legend);
}

const START = {};

async function start() {
  columns = await unpack(data.packed);
  rows = makeRows();
  setUpBounds();
  const precisions = Array.from({ length: order }, (_, n) => [null, `P${n + 1}`, true]);
  const lengths = [["candidate_length", "Length", true], ["reference_length", "Ref. length", true]];
  const numbers = order ? [...precisions, ["brevity_penalty", "BP", true], ...lengths] : data.systems[0].parts.map(([name]) => [null, name, true]);
  const coverage = data.systems[0].coverage ? [[null, "With a vector", true]] : [];
  const ofSystems = [["name", "System"], ["score", data.label, true], [null, "95% interval", true]];
  makeHead(at("systems"), [...ofSystems, ...numbers, ...coverage], "systems", drawSystems);
  // Lines without edits say nothing of a corrector.
  if (data.marks && !data.marks.pairs && rows.some(isMarked)) state.filter = "marked";
  Object.assign(START, { system: state.system, beside: state.beside, order: state.order, filter: state.filter });
  setUpNotes();
  setUpControls();
  setUpSlider();
  rescore();
  drawTables();
  pointing();
  window.addEventListener("hashchange", readHash);
  readState();
  readHash();
  document.documentElement.dataset.ready = "yes";
  document.documentElement.dataset.took = performance.now().toFixed(0);
}

start().catch((error) => {
  at("summary").textContent = `This browser cannot show the page (${error.message}): use a newer one.`;
  throw error;
});
