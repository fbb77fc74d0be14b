"use strict";
// Two systems side by side, marks, similarities of tokens, links to lines, and additional tables.

const SIDES = ["candidate", "references", "source"];
let markBounds;
let heatBounds;

function setUpBounds() {
  if (data.marks) markBounds = bounds(columns.marks);
  if (data.heat) {
    const names = columns.heat_heights.map((height, row) => height + columns.heat_widths[row]);
    const cells = Uint32Array.from(columns.heat_heights, (height, row) => height * columns.heat_widths[row]);
    heatBounds = { names: bounds(names), cells: bounds(cells) };
  }
}

// Two systems

const paired = () => state.system >= 0 && state.beside >= 0 && state.system !== state.beside;

const marksSource = (row) => [...marksOf(row)].some((mark) => mark.side === "source");
const isMarked = (row) => markBounds[row.row + 1] > markBounds[row.row];

// The candidates of two systems for a segment.
class Pair {
  constructor(one, other) {
    this.key = `${one.row}/${other.row}`;
    this.rows = [one, other];
    this.segment = one.segment;
  }

  get first() {
    return this.rows[0].score;
  }

  get second() {
    return this.rows[1].score;
  }

  get difference() {
    return this.first === null || this.second === null ? null : this.second - this.first;
  }
}

const pairsMade = new Map();

function pairItems() {
  const key = `${state.system}/${state.beside}`;
  if (!pairsMade.has(key)) {
    const [one, other] = [state.system, state.beside].map((number) => number * data.shown);
    pairsMade.set(key, Array.from({ length: data.shown }, (_, segment) => new Pair(rows[one + segment], rows[other + segment])));
  }
  return pairsMade.get(key);
}

function passes(item) {
  if (state.filter === "all") return true;
  const [one, other] = item.rows;
  if (state.filter === "marked") return item.rows.some(isMarked);
  if (state.filter === "different") return textOf(one.candidate) !== textOf(other.candidate);
  const { difference } = item;
  const better = data.higher ? difference : -difference;
  if (state.filter === "first") return better < 0;
  if (state.filter === "second") return better > 0;
  return difference === 0;
}

function differenceCell(item) {
  const value = item.difference;
  const cell = numberCell(value, data.digits, "difference");
  if (value !== null && value > 0) cell.textContent = `+${cell.textContent}`;
  const better = data.higher ? value : -value;
  cell.classList.add("difference");
  cell.classList.toggle("better", better > 0);
  cell.classList.toggle("worse", better < 0);
  return cell;
}

function drawSegmentHead() {
  const redrawn = () => {
    state.page = 0;
    drawSegments();
  };
  const texts = [null, "Texts"];
  if (paired()) {
    const [one, other] = [state.system, state.beside].map((number) => data.systems[number].name);
    const numbers = [["first", one, true], ["second", other, true], ["difference", "Difference", true]];
    makeHead(at("segments"), [["segment", "Line", true], ...numbers, texts], "pairs", redrawn);
    return;
  }
  const system = data.systems.length > 1 ? [["system", "System"]] : [];
  const numbers = [["score", data.label, true], ["length", "Tokens", true]];
  makeHead(at("segments"), [["segment", "Line", true], ...system, ...numbers, texts], "segments", redrawn);
}

// What a score is made of

function partsOf(row) {
  const shown = Object.entries(data.parts).map(([name, values]) => {
    const value = values[row.number][row.place];
    return value === null ? "" : `${labelOf(name)} ${Number.isInteger(value) ? value : fixed(value, data.digits)}`;
  });
  return shown.join("  ");
}

// Marks

function* marksOf(row) {
  for (let k = markBounds[row.row]; k < markBounds[row.row + 1]; k += 1) {
    const side = SIDES[columns.mark_side[k]];
    yield { side, start: columns.mark_start[k], length: columns.mark_length[k], kind: data.marks.kinds[columns.mark_kind[k]], link: columns.mark_link[k], label: columns.mark_label[k], share: columns.mark_share[k] };
  }
}

const tokensOf = (drawn, side) => (side === "candidate" ? drawn.candidate.tokens : drawn[side]);

function paintMarks(drawn) {
  for (const each of drawn) for (const side of SIDES) clearLooks(tokensOf(each, side));
  for (const each of drawn) {
    for (const mark of marksOf(each.row)) {
      const tokens = tokensOf(each, mark.side);
      for (const token of tokens.slice(mark.start, mark.start + mark.length)) token.dataset.kind = mark.kind;
      // An insertion or deletion has no word of its own: mark its neighbour.
      if (!mark.length && tokens.length) {
        const at = Math.min(mark.start, tokens.length - 1);
        tokens[at].classList.add(mark.start < tokens.length ? "gap-before" : "gap-after");
      }
    }
  }
}

// Frame the marks at a token and all marks linked to them, and show their label.
function pointMark(drawn, side, place) {
  const met = at("met");
  const found = [...marksOf(drawn.row)];
  const here = found.find((mark) => mark.side === side && mark.start <= place && place < mark.start + Math.max(mark.length, 1));
  if (side === "candidate") drawn.place = place;
  const word = tokensOf(drawn, side)[place];
  word?.classList.add("active");
  met.replaceChildren(element("bdi", "", word?.textContent ?? ""));
  if (!here) {
    met.append(": nothing marked");
    return;
  }
  for (const mark of found.filter((each) => each.link === here.link)) {
    for (const token of tokensOf(drawn, mark.side).slice(mark.start, mark.start + mark.length)) token.classList.add("active");
  }
  met.append(`: ${data.marks.labels[here.label]}`);
}

// Similarities

function heatOf(row, two) {
  const box = element("details", "heat");
  box.append(element("summary", "", two ? `Similarities of ${row.system}` : "Similarities of tokens"));
  box.addEventListener("toggle", () => {
    if (box.open && box.children.length === 1) box.append(heatTable(row));
  });
  return box;
}

function heatTable(row) {
  const height = columns.heat_heights[row.row];
  const width = columns.heat_widths[row.row];
  const from = heatBounds.names[row.row];
  const names = Array.from(columns.heat_names.subarray(from, from + height + width), (code) => data.heat.labels[code]);
  const cells = columns.heat_values.subarray(heatBounds.cells[row.row], heatBounds.cells[row.row + 1]);
  const table = element("table", "similarities");
  const value = (number) => fixed(number / data.heat.steps, 2);
  const cell = (number, name) => {
    const made = element("td", name, number ? value(number) : "");
    made.style.setProperty("--alike", String(number / data.heat.steps));
    return made;
  };
  const head = element("tr");
  head.append(element("td"), ...names.slice(height).map((name) => heading(name, "col")), heading("P", "col"));
  table.append(head);
  const recall = new Array(width).fill(0);
  for (let i = 0; i < height; i += 1) {
    const own = cells.subarray(i * width, (i + 1) * width);
    own.forEach((number, j) => (recall[j] = Math.max(recall[j], number)));
    const line = element("tr");
    line.append(heading(names[i], "row"), ...Array.from(own, (number) => cell(number, "")), cell(Math.max(0, ...own), "best"));
    table.append(line);
  }
  const foot = element("tr");
  foot.append(heading("R", "row"), ...recall.map((number) => cell(number, "best")), element("td"));
  table.append(foot);
  const box = element("div", "scroll");
  box.tabIndex = 0;
  box.setAttribute("role", "region");
  box.setAttribute("aria-label", "Similarities: a row a token of the candidate, a column a token of the reference");
  box.append(table);
  return box;
}

// The most similar word of the reference, of tables with a row a word: pieces of words have none.
function closestWord(row, place) {
  const [height, width] = data.heat ? [columns.heat_heights[row.row], columns.heat_widths[row.row]] : [0, 0];
  if (!width || height !== row.candidate.length) return null;
  const from = heatBounds.cells[row.row] + place * width;
  const own = columns.heat_values.subarray(from, from + width);
  const most = Math.max(...own);
  const name = columns.heat_names[heatBounds.names[row.row] + height + own.indexOf(most)];
  return most ? [data.heat.labels[name], most / data.heat.steps] : null;
}

function heading(name, scope) {
  const made = element("th");
  made.scope = scope;
  made.append(element("bdi", "", name));
  return made;
}

// Links to a state of the page: systems, filter, threshold, search, order and line

const namedSystem = (number) => (number < 0 ? "" : data.systems[number].name);

function hashOf(more = {}) {
  const now = { line: state.line, ...more };
  const parts = {
    system: state.system === START.system && state.beside === START.beside ? "" : namedSystem(state.system),
    beside: state.system === START.system && state.beside === START.beside ? "" : namedSystem(state.beside),
    filter: state.filter === START.filter ? "" : state.filter,
    threshold: sliding && state.threshold !== data.run ? data.thresholds[state.threshold] : "",
    mark: state.order === START.order ? "" : String(state.order),
    search: state.query,
    line: now.line ? String(now.line) : "",
  };
  const said = new URLSearchParams(Object.entries(parts).filter(([, value]) => value));
  return `#${said}`;
}

const sectionOf = (hash) => (hash.length > 1 ? document.getElementById(hash.slice(1)) : null);

function keepHash() {
  const hash = hashOf();
  if (hash === "#" && sectionOf(location.hash)) return;
  // A page in a frame may have no history of its own.
  if (hash !== (location.hash || "#")) history.replaceState(null, "", hash === "#" ? location.pathname + location.search : hash);
}

// A link leads to a section of the page, in its fold, or to a state of the page.
function readHash() {
  const section = sectionOf(location.hash);
  if (!section) {
    readState();
    return;
  }
  goTo({ line: 0 });
  unfold(section);
}

function unfold(section) {
  const fold = section.closest("details");
  if (fold) fold.open = true;
  section.scrollIntoView();
}

function readState() {
  const old = /^#s([0-9]+)$/.exec(location.hash);
  const said = new URLSearchParams(old ? `line=${old[1]}` : sectionOf(location.hash) ? "" : location.hash.slice(1));
  const numberOf = (name) => data.systems.findIndex((system) => system.name === name);
  state.system = said.has("system") ? numberOf(said.get("system")) : START.system;
  state.beside = said.has("system") ? numberOf(said.get("beside")) : START.beside;
  const threshold = data.thresholds.indexOf(said.get("threshold"));
  const mark = Number(said.get("mark") ?? START.order);
  Object.assign(state, {
    filter: said.get("filter") ?? START.filter,
    query: said.get("search") ?? "",
    line: Number(said.get("line")),
    order: mark >= 0 && mark <= order ? mark : START.order,
  });
  at("search").value = state.query;
  at("system").value = String(state.system);
  at("beside").value = String(state.beside);
  for (const radio of document.querySelectorAll("#orders input")) radio.checked = Number(radio.value) === state.order;
  if (sliding) {
    state.threshold = threshold < 0 ? data.run : threshold;
    at("threshold").value = String(state.threshold);
    drawThreshold();
    moveCurve();
    rescore();
  }
  drawSystems();
  drawLegend();
  showChosen();
  goTo({ line: state.line });
}

// Show a line, without the filter and search that hide it.
function goTo({ line }) {
  state.line = line;
  if (!line || !rows.some((row) => row.segment === line)) {
    state.line = 0;
    markTarget();
    return;
  }
  const placeIn = (items) => items.findIndex((item) => item.rows[0].segment === line);
  let place = placeIn(chosenItems());
  if (place < 0) {
    Object.assign(state, { query: "", filter: "all" });
    at("search").value = "";
    at("filter").value = "all";
    place = placeIn(chosenItems());
  }
  state.page = Math.max(0, Math.floor(place / ROWS_A_PAGE));
  at("lines").open = true;
  drawSegments();
  document.querySelector("#segments .target")?.scrollIntoView({ block: "center" });
}

function markTarget() {
  for (const line of at("segments").tBodies[0].rows) line.classList.toggle("target", line.item.rows[0].segment === state.line);
}

// Additional tables

// Label of a metric, unless two of them share it.
function labelOf(metric) {
  const label = data.labels[metric];
  return Object.values(data.labels).filter((other) => other === label).length === 1 ? label : metric;
}

function headOf(name) {
  return data.systems.some((system) => system.name === name) ? name : (labelOf(name) ?? name).replaceAll("_", " ");
}

function drawTables() {
  data.tables.forEach((table, number) => {
    const section = element("section");
    const title = element("h3", "", table.title);
    title.id = `table-${number}`;
    const box = element("div", "scroll");
    box.tabIndex = 0;
    box.setAttribute("role", "region");
    box.setAttribute("aria-labelledby", title.id);
    const made = element("table", "plain");
    const head = element("tr");
    table.columns.forEach((name, place) => {
      const cell = heading(headOf(name), "col");
      if (table.numeric[place]) cell.className = "number";
      head.append(cell);
    });
    made.append(head);
    for (const cells of table.rows) {
      const line = element("tr");
      cells.forEach((text, place) => {
        const cell = element("td", table.numeric[place] ? "number" : "");
        cell.append(element("bdi", "", table.columns[place] === "metric" ? labelOf(text) : text));
        line.append(cell);
      });
      made.append(line);
    }
    box.append(made);
    const button = element("button", "", "CSV");
    button.type = "button";
    button.setAttribute("aria-label", `CSV of: ${table.title}`);
    button.addEventListener("click", () => save(table.title, [table.columns, ...table.values]));
    section.append(title, box, element("p"));
    section.lastChild.append(button);
    section.append(...table.notes.map((note) => element("p", "note", note)));
    at(table.why ? "why" : "tables").append(section);
    at("why").hidden &&= !table.why;
  });
  const link = (title, section) => {
    const made = element("a", "", title.textContent);
    made.href = `#${section.id}`;
    // A click on a link that is the address already changes nothing, but the fold may be closed again.
    made.addEventListener("click", () => unfold(section));
    return made;
  };
  for (const fold of document.querySelectorAll(".fold:not([hidden])")) {
    at("contents").append(link(fold.querySelector("h2"), fold));
    fold.querySelector("nav.legend")?.append(...Array.from(fold.querySelectorAll("h3"), (title) => link(title, title)));
  }
}
