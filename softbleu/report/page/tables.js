"use strict";
// Tables, sorted and paged. Text of the corpus is only ever set as textContent.

const ROWS_A_PAGE = 50;
// Explicit directions: isolate words that contain one, so that they do not reorder their neighbours.
const BIDI_CONTROLS = /[\u202a-\u202e\u2066-\u2069]/;

function element(name, className, text) {
  const made = document.createElement(name);
  if (className) made.className = className;
  if (text !== undefined) made.textContent = text;
  return made;
}

function numberCell(value, digits) {
  const cell = element("td", "number", value === null ? "–" : digits === null ? String(value) : fixed(value, digits));
  cell.dataset.value = String(value);
  return cell;
}

function nameCell(name) {
  const cell = element("td");
  cell.append(element("bdi", "", name));
  return cell;
}

function compare(one, other) {
  if (typeof one === "string") return one < other ? -1 : one > other ? 1 : 0;
  return (one ?? -1) - (other ?? -1);
}

function sorted(list, { key, down }) {
  if (key === null) return list;
  const values = list.map((each, place) => [each[key], place]);
  values.sort(([one, first], [other, second]) => (down ? compare(other, one) : compare(one, other)) || first - second);
  return values.map(([, place]) => list[place]);
}

// Make a head with buttons that sort; `entries` are [key, title, isNumber], key null: not sortable.
function makeHead(table, entries, name, draw) {
  const head = element("thead");
  const line = element("tr");
  for (const [key, title, isNumber] of entries) {
    const cell = element("th", isNumber ? "number" : "");
    cell.scope = "col";
    if (key === null) {
      cell.textContent = title;
    } else {
      cell.dataset.key = key;
      const button = element("button", "", title);
      button.type = "button";
      button.addEventListener("click", () => {
        const now = state[name];
        // Scores start with the best.
        const down = now.key === key ? !now.down : key === "score";
        state[name] = { key, down };
        draw();
      });
      cell.append(button);
    }
    line.append(cell);
  }
  head.append(line);
  table.replaceChildren(head, element("tbody"));
}

function markHead(table, { key, down }) {
  for (const cell of table.querySelectorAll("th[data-key]")) {
    if (cell.dataset.key === key) cell.setAttribute("aria-sort", down ? "descending" : "ascending");
    else cell.removeAttribute("aria-sort");
  }
}

function drawSystems() {
  const table = at("systems");
  markHead(table, state.systems);
  const lines = sorted(systems, state.systems).map((system) => {
    const line = element("tr");
    line.append(nameCell(system.name), numberCell(system.score, data.digits));
    line.children[1].classList.add("score");
    // An interval is only valid at its own threshold.
    const interval = state.threshold === data.run ? system.interval : null;
    line.append(element("td", "number", interval ? interval.map((end) => fixed(end, data.digits)).join(" to ") : "–"));
    if (!order) {
      for (const [, value] of system.parts) line.append(numberCell(value, Number.isInteger(value) ? null : data.digits));
      return withCoverage(line, system);
    }
    for (const precision of system.precisions) line.append(numberCell(precision, data.digits));
    line.append(numberCell(system.brevity_penalty, data.digits + 2));
    line.append(numberCell(system.candidate_length, null));
    line.append(numberCell(system.reference_length, Number.isInteger(system.reference_length) ? null : 1));
    return withCoverage(line, system);
  });
  table.tBodies[0].replaceChildren(...lines);
}

function withCoverage(line, system) {
  if (system.coverage) {
    const [known, tokens] = system.coverage;
    line.append(element("td", "number", tokens ? `${fixed((100 * known) / tokens, 1)}%` : "–"));
  }
  return line;
}

function tokenLine(kind, words, className) {
  const line = element("div", `line ${className}`);
  line.append(element("span", "kind", kind), " ");
  const text = element("bdi");
  text.dir = "auto";
  // The source is in another, unknown language.
  text.lang = className === "source" ? "" : data.language;
  const tokens = words.map((word) => element("span", BIDI_CONTROLS.test(word) ? "token controls" : "token", word));
  tokens.forEach((token, place) => {
    if (place && words.blanks?.[place]) text.append(" ");
    text.append(token);
  });
  if (!words.length) text.append(element("span", "empty", "(empty)"));
  line.append(text);
  line.tokens = tokens;
  return line;
}

function isExact(row, k, n) {
  if (columns.partner_order[k] !== n) return false;
  for (let place = 0; place < n; place += 1) {
    if (row.candidate[columns.start[k] + place] !== row.pool[columns.partner[k] + place]) return false;
  }
  return true;
}

function paintTokens(tokens, best) {
  tokens.forEach((token, place) => {
    token.classList.remove("exact", "soft");
    const found = best[place];
    if (!found) return;
    token.classList.add(found.exact ? "exact" : "soft");
    if (!found.exact) token.style.setProperty("--alike", String(found.mass / SCALE));
  });
}

// Colour each word of candidates and references by its best match of the selected order.
function paint(drawn) {
  if (!state.order) {
    paintMarks(drawn);
    if (data.plain && drawn.length > 1) paintApart(drawn);
    return;
  }
  const note = (best, start, length, match) => {
    for (let place = start; place < start + length; place += 1) {
      const had = best[place];
      if (!had || match.exact > had.exact || (match.exact === had.exact && match.mass > had.mass)) best[place] = match;
    }
  };
  const ofReferences = drawn.map((each) => {
    const ofCandidate = [];
    const met = [];
    for (const k of matchesOf(each.row, state.order)) {
      const match = { mass: columns.mass[k], exact: isExact(each.row, k, state.order) };
      note(ofCandidate, columns.start[k], state.order, match);
      note(met, columns.partner[k], columns.partner_order[k], match);
    }
    clearMarks(each.candidate.tokens);
    paintTokens(each.candidate.tokens, ofCandidate);
    return met;
  });
  const { references } = drawn[0];
  const best = [];
  ofReferences.forEach((met) => met.forEach((match, place) => note(best, place, 1, match)));
  clearMarks(references);
  paintTokens(references, best);
  // Mark the words of the reference that only one of two systems matched.
  references.forEach((token, place) => {
    const [one, other] = [ofReferences[0][place], ofReferences.at(-1)[place]];
    token.classList.toggle("first-only", drawn.length > 1 && Boolean(one) && !other);
    token.classList.toggle("second-only", drawn.length > 1 && Boolean(other) && !one);
  });
}

function candidateLine(row, kind) {
  const line = tokenLine(kind, row.candidate, "candidate");
  line.tabIndex = 0;
  line.setAttribute("role", "group");
  const whose = data.systems.length > 1 ? ` of ${row.system}` : "";
  line.setAttribute("aria-label", `Candidate${whose}, segment ${row.segment}: arrow keys go through its words`);
  return line;
}

function scoreCell(row) {
  const cell = numberCell(row.score, data.digits);
  cell.classList.add("score");
  return cell;
}

function linkCell(segment) {
  const cell = element("td", "number");
  const link = element("a", "", String(segment));
  link.href = `#s${segment}`;
  cell.append(link);
  cell.dataset.value = String(segment);
  return cell;
}

function otherLines(row, texts) {
  const references = row.references.map((words, number) =>
    tokenLine(row.references.length > 1 ? `reference ${number + 1}` : "reference", words, "reference"),
  );
  const source = row.source ? [tokenLine("source", row.source, "source")] : [];
  texts.append(...references, ...source);
  const referenceLines = references.map((each) => each.tokens);
  return { referenceLines, references: referenceLines.flat(), source: source.flatMap((each) => each.tokens) };
}

// Draw a row of the table: one candidate, or two, with references.
function segmentLine(item) {
  const line = element("tr");
  const [row] = item.rows;
  const two = item.rows.length > 1;
  line.append(linkCell(row.segment));
  if (data.systems.length > 1 && !two) line.append(nameCell(row.system));
  const texts = element("td", "texts");
  const candidates = item.rows.map((each) => candidateLine(each, two ? each.system : "candidate"));
  // Marks in references and source belong to one system: draw a copy for each.
  const alone = two && !order && data.marks;
  let shared = null;
  const drawn = item.rows.map((each, number) => {
    texts.append(candidates[number]);
    const parts = partsOf(each);
    if (parts) texts.append(element("div", "parts", parts));
    if (alone) shared = otherLines(row, texts);
    return { row: each, candidate: candidates[number], ...shared, place: 0 };
  });
  if (!alone) {
    shared = otherLines(row, texts);
    drawn.forEach((each) => Object.assign(each, shared));
  }
  if (data.heat) item.rows.forEach((each) => texts.append(heatOf(each, two)));
  line.append(...item.rows.map(scoreCell));
  if (two) line.append(differenceCell(item));
  else line.append(numberCell(row.length, null));
  line.append(texts);
  line.drawn = drawn;
  candidates.forEach((candidate, number) => (candidate.drawn = line.drawn[number]));
  line.item = item;
  paint(line.drawn);
  return line;
}

function redraw(line) {
  paint(line.drawn);
  line.querySelectorAll(".score").forEach((cell, number) => {
    const { score } = line.item.rows[number];
    cell.textContent = score === null ? "–" : fixed(score, data.digits);
    cell.dataset.value = String(score);
  });
  const difference = line.querySelector(".difference");
  if (difference) difference.replaceWith(differenceCell(line.item));
  return line;
}

function chosenItems() {
  const query = state.query.toLowerCase();
  const has = (row) => !query || row.found.includes(query);
  if (paired()) {
    const kept = pairItems().filter((item) => passes(item) && item.rows.some(has));
    return sorted(kept, state.pairs);
  }
  const kept = rows.filter((row) => (state.system < 0 || row.number === state.system) && has(row));
  return sorted(kept, state.segments).map((row) => ({ key: row.row, rows: [row] }));
}

function drawSegments() {
  const table = at("segments");
  markHead(table, paired() ? state.pairs : state.segments);
  const chosen = chosenItems();
  const pages = Math.max(1, Math.ceil(chosen.length / ROWS_A_PAGE));
  state.page = Math.min(state.page, pages - 1);
  const start = state.page * ROWS_A_PAGE;
  const drawn = chosen.slice(start, start + ROWS_A_PAGE);
  // Only repaint lines that stay, so that the focus stays, too.
  const had = new Map(Array.from(table.tBodies[0].rows, (line) => [line.item.key, line]));
  const lines = drawn.map((item) => {
    const line = had.get(item.key);
    if (!line) return segmentLine(item);
    line.item = item;
    return redraw(line);
  });
  const same = lines.length === table.tBodies[0].rows.length && lines.every((line, k) => line === table.tBodies[0].rows[k]);
  if (!same) table.tBodies[0].replaceChildren(...lines);
  at("place").textContent = chosen.length ? `${start + 1} to ${start + drawn.length} of ${chosen.length}` : "nothing found";
  at("previous").disabled = state.page === 0;
  at("next").disabled = state.page === pages - 1;
  point(null);
}
