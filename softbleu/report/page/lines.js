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
  if (state.filter === "different") return textOf(one.candidate) !== textOf(other.candidate);
  const { difference } = item;
  const better = data.higher ? difference : -difference;
  if (state.filter === "first") return better < 0;
  if (state.filter === "second") return better > 0;
  return difference === 0;
}

function differenceCell(item) {
  const value = item.difference;
  const cell = numberCell(value, data.digits);
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
  const texts = [null, paired() ? "Candidates and references" : "Candidate and references"];
  if (paired()) {
    const [one, other] = [state.system, state.beside].map((number) => data.systems[number].name);
    const numbers = [["first", one, true], ["second", other, true], ["difference", "Difference", true]];
    makeHead(at("segments"), [["segment", "Segment", true], ...numbers, texts], "pairs", redrawn);
    return;
  }
  const system = data.systems.length > 1 ? [["system", "System"]] : [];
  const numbers = [["score", data.label, true], ["length", "Tokens", true]];
  makeHead(at("segments"), [["segment", "Segment", true], ...system, ...numbers, texts], "segments", redrawn);
}

// What a score is made of

function partsOf(row) {
  const shown = Object.entries(data.parts).map(([name, values]) => {
    const value = values[row.number][row.segment - 1];
    return value === null ? "" : `${name} ${Number.isInteger(value) ? value : fixed(value, data.digits)}`;
  });
  return shown.join("  ");
}

// Marks

function* marksOf(row) {
  for (let k = markBounds[row.row]; k < markBounds[row.row + 1]; k += 1) {
    const side = SIDES[columns.mark_side[k]];
    yield { side, start: columns.mark_start[k], length: columns.mark_length[k], kind: data.marks.kinds[columns.mark_kind[k]], link: columns.mark_link[k], label: columns.mark_label[k] };
  }
}

const tokensOf = (drawn, side) => (side === "candidate" ? drawn.candidate.tokens : drawn[side]);

function clearMarks(tokens) {
  for (const token of tokens) {
    delete token.dataset.kind;
    token.classList.remove("gap-before", "gap-after");
  }
}

function paintMarks(drawn) {
  for (const each of drawn) for (const side of SIDES) clearMarks(tokensOf(each, side));
  if (!data.marks) return;
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

const countOf = (words) => {
  const counts = new Map();
  for (const word of words) counts.set(word, (counts.get(word) ?? 0) + 1);
  return counts;
};

// For metrics without marks: mark the words of a reference that only one of two systems has.
function paintApart(drawn) {
  const [one, other] = drawn.map((each) => countOf(each.row.candidate));
  const offered = new Map();
  for (const words of drawn[0].row.references) {
    for (const [word, count] of countOf(words)) offered.set(word, Math.max(count, offered.get(word) ?? 0));
  }
  const right = (counts, word) => Math.min(counts.get(word) ?? 0, offered.get(word) ?? 0);
  const eachOccurrence = (tokens, mark) => {
    const seen = new Map();
    for (const token of tokens) {
      const word = token.textContent;
      const place = seen.get(word) ?? 0;
      seen.set(word, place + 1);
      mark(token, place, right(one, word), right(other, word));
    }
  };
  for (const line of drawn[0].row.references.length ? drawn[0].referenceLines : []) {
    eachOccurrence(line, (token, place, first, second) => {
      token.classList.toggle("first-only", second <= place && place < first);
      token.classList.toggle("second-only", first <= place && place < second);
    });
  }
  drawn.forEach((each, number) =>
    eachOccurrence(each.candidate.tokens, (token, place, first, second) => {
      const [own, beside] = number ? [second, first] : [first, second];
      if (beside <= place && place < own) token.dataset.kind = "alone";
    }),
  );
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

function heading(name, scope) {
  const made = element("th");
  made.scope = scope;
  made.append(element("bdi", "", name));
  return made;
}

// Links to lines

function goToHash() {
  const found = /^#s([0-9]+)$/.exec(location.hash);
  if (!found) return;
  const segment = Number(found[1]);
  if (segment < 1 || segment > data.shown) return;
  Object.assign(state, { query: "", filter: "all" });
  at("search").value = "";
  at("filter").value = "all";
  const items = chosenItems();
  const place = items.findIndex((item) => item.rows[0].segment === segment);
  state.page = Math.max(0, Math.floor(place / ROWS_A_PAGE));
  drawSegments();
  for (const line of at("segments").tBodies[0].rows) {
    const is = line.item.rows[0].segment === segment;
    line.classList.toggle("target", is);
    if (is) line.scrollIntoView({ block: "center" });
  }
}

// Additional tables

function drawTables() {
  data.tables.forEach((table, number) => {
    const section = element("section");
    const title = element("h2", "", table.title);
    title.id = `table-${number}`;
    section.setAttribute("aria-labelledby", title.id);
    const box = element("div", "scroll");
    box.tabIndex = 0;
    box.setAttribute("role", "region");
    box.setAttribute("aria-labelledby", title.id);
    const made = element("table", "plain");
    const head = element("tr");
    table.columns.forEach((name, place) => {
      const cell = heading(name.replaceAll("_", " "), "col");
      if (table.numeric[place]) cell.className = "number";
      head.append(cell);
    });
    made.append(head);
    for (const cells of table.rows) {
      const line = element("tr");
      cells.forEach((text, place) => {
        const cell = element("td", table.numeric[place] ? "number" : "");
        cell.append(element("bdi", "", text));
        line.append(cell);
      });
      made.append(line);
    }
    box.append(made);
    section.append(title, box);
    if (table.note) section.append(element("p", "note", table.note));
    at("tables").append(section);
  });
  // Tables stand below up to 50 segments, so link to them.
  for (const title of document.querySelectorAll("main h2")) {
    const link = element("a", "", title.textContent);
    link.href = `#${title.id}`;
    at("contents").append(link);
  }
}
