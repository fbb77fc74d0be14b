"use strict";
// Interaction: pointing, the slider, search and paging; and the start of the page.

// Frame the n-gram that starts at a token of a candidate, and its match.
function point(drawn, place) {
  for (const token of document.querySelectorAll("#segments .active")) token.classList.remove("active");
  if (drawn === null || !drawn.row.candidate.length) {
    at("met").textContent = "";
    return;
  }
  if (!state.order) {
    if (data.marks) pointMark(drawn, "candidate", Math.min(place, drawn.row.candidate.length - 1));
    return;
  }
  const { row, candidate, references } = drawn;
  const n = state.order;
  // The last words of a text start no n-gram; they select the last one.
  const start = Math.max(0, Math.min(place, row.candidate.length - n));
  drawn.place = start;
  candidate.tokens.slice(start, start + n).forEach((token) => token.classList.add("active"));
  const words = row.candidate.slice(start, start + n).join(data.glue);
  const met = at("met");
  met.replaceChildren(element("bdi", "", words));
  const k = matchesOf(row, n).find((number) => columns.start[number] === start);
  if (k === undefined) {
    met.append(row.candidate.length < n ? `: too short for an n-gram of order ${n}` : ": no match");
    return;
  }
  const from = columns.partner[k];
  references.slice(from, from + columns.partner_order[k]).forEach((token) => token.classList.add("active"));
  const partner = row.pool.slice(from, from + columns.partner_order[k]).join(data.glue);
  const kind = isExact(row, k, n) ? "exact" : `similarity ${fixed(columns.mass[k] / SCALE, 4)}`;
  met.append(" matches ", element("bdi", "", partner), `${whichReference(row, from)}: ${kind}`);
}

function whichReference(row, place) {
  if (row.references.length < 2) return "";
  let end = 0;
  const number = row.references.findIndex((words) => place < (end += words.length));
  return ` in reference ${number + 1}`;
}

function pointing() {
  const body = at("segments").tBodies[0];
  const target = (event) => {
    return event.target.closest(".candidate")?.drawn ?? null;
  };
  body.addEventListener("pointerover", (event) => {
    const drawn = target(event);
    const place = drawn ? drawn.candidate.tokens.indexOf(event.target) : -1;
    if (place >= 0) point(drawn, place);
    else if (!drawn && !state.order && data.marks) pointElsewhere(event);
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

// Select marks of sources and references.
function pointElsewhere(event) {
  const line = event.target.closest("tr");
  for (const drawn of line?.drawn ?? []) {
    for (const side of ["references", "source"]) {
      const place = drawn[side].indexOf(event.target);
      if (place >= 0 && [...marksOf(drawn.row)].some((mark) => mark.side === side && mark.start <= place && place < mark.start + Math.max(mark.length, 1))) {
        point(null);
        pointMark(drawn, side, place);
        return;
      }
    }
  }
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
  drawSegments();
  const took = performance.now() - begun;
  at("slider").dataset.took = took.toFixed(2);
  return took;
}

function setUpSlider() {
  if (!sliding) {
    at("slider-note").textContent = data.slider;
    at("slider-note").hidden = !data.slider;
    return;
  }
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
    for (const token of document.querySelectorAll("#segments .token")) token.classList.remove("exact", "soft", "first-only", "second-only");
    drawLegend();
    drawSegments();
  });
  label.append(radio, ` ${text}`);
  at("orders").append(label);
}

// Draw the lines of the selected systems.
function showChosen() {
  state.page = 0;
  const two = paired();
  at("filter-choice").hidden = !two;
  if (two) {
    const [one, other] = [state.system, state.beside].map((number) => data.systems[number].name);
    const titles = { all: "all lines", first: `${one} better`, second: `${other} better`, different: "different text", alike: "equal scores" };
    at("filter").replaceChildren(...Object.entries(titles).map(([value, title]) => new Option(title, value)));
    at("filter").value = state.filter;
    at("first-legend").textContent = `only ${one}`;
    at("second-legend").textContent = `only ${other}`;
  }
  at("pair-legend").hidden = !two || !(order || data.plain);
  drawSegmentHead();
  drawSegments();
}

function drawLegend() {
  at("ngram-legend").hidden = !state.order;
  at("mark-legend").hidden = Boolean(state.order) || !data.marks;
  if (!data.marks) return;
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
    state.query = at("search").value;
    state.page = 0;
    drawSegments();
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
    state.filter = at("filter").value;
    state.page = 0;
    drawSegments();
  });
  at("order-choice").hidden = !order;
  if (order && data.marks) addOrder(0, data.marks.title);
  for (let n = 1; n <= order; n += 1) addOrder(n, `${n}-grams`);
  const turn = (step) => () => {
    state.page += step;
    drawSegments();
    at("segments").scrollIntoView();
  };
  at("previous").addEventListener("click", turn(-1));
  at("next").addEventListener("click", turn(1));
}

function setUpNotes() {
  const many = (count, word) => `${count.toLocaleString("en")} ${word}${count === 1 ? "" : "s"}`;
  const names = data.systems.map((system) => system.name);
  const title = data.title || `${data.label}: ${names.slice(0, 3).join(", ")}${names.length > 3 ? ", …" : ""}`;
  at("title").textContent = document.title = title;
  at("summary").textContent = `${data.label} of ${many(data.systems.length, "system")}, ${many(data.segments, "segment")}`;
  const { samples, seed } = data.significance;
  const where = sliding ? `, at threshold ${data.thresholds[data.run]} only` : "";
  at("interval-note").textContent = `Intervals: 95%, ${many(samples, "bootstrap sample")} (seed ${seed})${where}.`;
  at("interval-note").hidden = data.systems[0].interval === null;
  if (data.shown < data.segments) {
    at("shown-note").textContent = `Only the first ${data.shown.toLocaleString("en")} of ${many(data.segments, "segment")} are on this page: the largest differences may be missing. The systems’ scores are of all segments.`;
    at("shown-note").hidden = false;
  }
  at("signature").textContent = data.signature;
  at("segment-signature").textContent = data.segment_signature;
  at("version").textContent = `softbleu ${data.version}`;
  for (const token of document.querySelectorAll("[data-legend]")) token.style.setProperty("--alike", token.dataset.legend);
}

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
  setUpNotes();
  setUpControls();
  setUpSlider();
  rescore();
  drawSystems();
  drawLegend();
  showChosen();
  pointing();
  drawTables();
  window.addEventListener("hashchange", goToHash);
  goToHash();
  document.documentElement.dataset.ready = "yes";
  document.documentElement.dataset.took = performance.now().toFixed(0);
}

start().catch((error) => {
  at("summary").textContent = `This browser cannot show the page (${error.message}): use a newer one.`;
  throw error;
});
