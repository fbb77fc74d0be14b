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

// `head` stands before the number where the table has no head, on phones.
function numberCell(value, digits, head) {
  const cell = element("td", "number", digits === null && value !== null ? String(value) : fixed(value, digits));
  cell.dataset.value = String(value);
  if (head) cell.dataset.head = head;
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

const LOOKS = ["none", "missed", "soft", "first-only", "second-only"];

function clearLooks(tokens) {
  for (const token of tokens) {
    token.classList.remove(...LOOKS);
    delete token.dataset.kind;
    token.classList.remove("gap-before", "gap-after");
  }
}

// Mark unmatched words, similar words, and words that only one of two systems has; equal words stay plain.
function paint(drawn) {
  if (!showsMatches()) {
    paintMarks(drawn);
    return;
  }
  const note = (best, start, length, match) => {
    for (let place = start; place < start + length; place += 1) {
      const had = best[place];
      if (!had || match.exact > had.exact || (match.exact === had.exact && match.share > had.share)) best[place] = match;
    }
  };
  const found = drawn.map((each) => {
    const [own, met] = [[], []];
    for (const match of matchList(each.row)) {
      if (match.wrong) continue;
      note(own, match.start, match.length, match);
      note(met, match.partner, match.partnerLength, match);
    }
    return { own, met };
  });
  const two = drawn.length > 1;
  drawn.forEach((each, number) => {
    const beside = two ? found[1 - number].met : null;
    clearLooks(each.candidate.tokens);
    each.candidate.tokens.forEach((token, place) => paintToken(token, found[number].own[place], place, beside, number));
  });
  const { references } = drawn[0];
  clearLooks(references);
  // A word that several references have is matched once.
  const known = new Set(references.filter((_, place) => found.some(({ met }) => met[place])).map((token) => token.textContent));
  references.forEach((token, place) => {
    const matched = found.map(({ met }) => met[place]);
    const has = matched.filter(Boolean);
    if (!has.length && (drawn[0].row.references.length < 2 || !known.has(token.textContent))) token.classList.add("missed");
    else if (has.length && has.every((match) => !match.exact)) soften(token, has[0]);
    if (two && has.length === 1) token.classList.add(matched[0] ? "first-only" : "second-only");
  });
}

function soften(token, match) {
  token.classList.add("soft");
  token.style.setProperty("--alike", String(match.share));
}

function paintToken(token, match, place, beside, number) {
  if (!match) {
    token.classList.add("none");
    return;
  }
  if (!match.exact) soften(token, match);
  if (!beside) return;
  const at = match.partner + Math.min(place - match.start, match.partnerLength - 1);
  if (!beside[at]) token.classList.add(number ? "second-only" : "first-only");
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
  const cell = numberCell(row.score, data.digits, paired() ? row.system : data.label);
  cell.classList.add("score");
  return cell;
}

function linkCell(segment) {
  const cell = element("td", "number");
  cell.append(lineLink(segment, String(segment)));
  cell.dataset.value = String(segment);
  return cell;
}

function sourceLine(row, texts) {
  if (!row.source) return [];
  const line = tokenLine("source", row.source, "source");
  texts.append(line);
  return line.tokens;
}

function referenceLines(row, texts) {
  const lines = row.references.map((words, number) =>
    tokenLine(row.references.length > 1 ? `reference ${number + 1}` : "reference", words, "reference"),
  );
  texts.append(...lines);
  return lines.flatMap((line) => line.tokens);
}

// Draw the texts of one candidate, or of two: the reference first, then the candidates, with what their scores are made of.
function drawTexts(item, texts) {
  const [row] = item.rows;
  const two = item.rows.length > 1;
  const references = referenceLines(row, texts);
  // Edits in the source belong to one system: draw a copy for each that has some.
  const copied = two && !showsMatches() && data.marks ? item.rows.map(marksSource) : [false];
  const shared = copied.some(Boolean) ? [] : sourceLine(row, texts);
  return item.rows.map((each, number) => {
    const source = copied[number] ? sourceLine(each, texts) : shared;
    const candidate = candidateLine(each, two ? each.system : "candidate");
    if (two) candidate.firstChild.classList.add(number ? "second-name" : "first-name");
    texts.append(candidate);
    const parts = partsOf(each);
    if (parts) texts.append(element("div", "parts", parts));
    candidate.drawn = { row: each, candidate, references, source, place: 0 };
    return candidate.drawn;
  });
}

// Draw a row of the table.
function segmentLine(item) {
  const line = element("tr");
  const [row] = item.rows;
  const two = item.rows.length > 1;
  line.append(linkCell(row.segment));
  if (data.systems.length > 1 && !two) line.append(nameCell(row.system));
  const texts = element("td", "texts");
  line.drawn = drawTexts(item, texts);
  if (data.heat) item.rows.forEach((each) => texts.append(heatOf(each, two)));
  line.append(...item.rows.map(scoreCell));
  if (two) line.append(differenceCell(item));
  else line.append(numberCell(row.length, null, "tokens"));
  line.append(texts);
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
  const chosen = (row) => state.system < 0 || row.number === state.system;
  const kept = rows.filter((row) => chosen(row) && (state.filter !== "marked" || isMarked(row)) && has(row));
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
  at("place").textContent = chosen.length ? `${start + 1} to ${start + drawn.length} of ${chosen.length.toLocaleString("en")}` : "nothing found";
  at("previous").disabled = state.page === 0;
  at("next").disabled = state.page === pages - 1;
  markTarget();
  point(null);
}
