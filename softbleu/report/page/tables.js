"use strict";
// What the page shows: tables, sorted and in pages. Text of the corpus is only ever set as textContent.

const ROWS_A_PAGE = 50;
// Explicit directions: a word with one of them must not turn its neighbours around.
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
  return [...list].sort((one, other) => (down ? compare(other[key], one[key]) : compare(one[key], other[key])));
}

// A head whose buttons sort; `entries` are [key, title], a key null for what cannot be sorted.
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
        // Numbers that say how good something is start with the best.
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
    const interval = system.interval;
    line.append(element("td", "number", interval ? interval.map((end) => fixed(end, data.digits)).join(" to ") : "–"));
    for (const precision of system.precisions) line.append(numberCell(precision, data.digits));
    line.append(numberCell(system.brevity_penalty, data.digits + 2));
    line.append(numberCell(system.candidate_length, null));
    line.append(numberCell(system.reference_length, Number.isInteger(system.reference_length) ? null : 1));
    if (data.systems[0].coverage) {
      const [known, tokens] = system.coverage;
      line.append(element("td", "number", tokens ? `${fixed((100 * known) / tokens, 1)}%` : "–"));
    }
    return line;
  });
  table.tBodies[0].replaceChildren(...lines);
}

function tokenLine(kind, words, className) {
  const line = element("div", `line ${className}`);
  line.append(element("span", "kind", kind), " ");
  const text = element("bdi");
  text.dir = "auto";
  const tokens = words.map((word) => element("span", BIDI_CONTROLS.test(word) ? "token controls" : "token", word));
  tokens.forEach((token, place) => {
    if (place && data.glue) text.append(data.glue);
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

// Colour the words of a drawn row by the best match, of the order chosen, that covers them.
function paint(drawn) {
  const { row, candidate, references } = drawn;
  const ofCandidate = [];
  const ofReferences = [];
  const note = (best, start, length, match) => {
    for (let place = start; place < start + length; place += 1) {
      const had = best[place];
      if (!had || match.exact > had.exact || (match.exact === had.exact && match.mass > had.mass)) best[place] = match;
    }
  };
  for (const k of matchesOf(row, state.order)) {
    const match = { mass: columns.mass[k], exact: isExact(row, k, state.order) };
    note(ofCandidate, columns.start[k], state.order, match);
    note(ofReferences, columns.partner[k], columns.partner_order[k], match);
  }
  paintTokens(candidate.tokens, ofCandidate);
  paintTokens(references, ofReferences);
}

function segmentLine(row) {
  const line = element("tr");
  line.append(numberCell(row.segment, null));
  if (data.systems.length > 1) line.append(nameCell(row.system));
  const score = numberCell(row.score, data.digits);
  score.classList.add("score");
  const texts = element("td", "texts");
  const candidate = tokenLine("candidate", row.candidate, "candidate");
  candidate.tabIndex = 0;
  candidate.setAttribute("role", "group");
  candidate.setAttribute("aria-label", `Candidate of segment ${row.segment}: arrow keys go through its n-grams`);
  const references = row.references.map((words, number) =>
    tokenLine(row.references.length > 1 ? `reference ${number + 1}` : "reference", words, "reference"),
  );
  texts.append(candidate, ...references);
  if (row.source) texts.append(tokenLine("source", row.source, "source"));
  line.append(score, numberCell(row.length, null), texts);
  line.drawn = { row, candidate, references: references.flatMap((each) => each.tokens), place: 0 };
  paint(line.drawn);
  return line;
}

function chosenRows() {
  const query = state.query.toLowerCase();
  const kept = rows.filter((row) => (state.system < 0 || row.number === state.system) && row.found.includes(query));
  return sorted(kept, state.segments);
}

function drawSegments() {
  const table = at("segments");
  markHead(table, state.segments);
  const chosen = chosenRows();
  const pages = Math.max(1, Math.ceil(chosen.length / ROWS_A_PAGE));
  state.page = Math.min(state.page, pages - 1);
  const start = state.page * ROWS_A_PAGE;
  const drawn = chosen.slice(start, start + ROWS_A_PAGE);
  // Lines that are still there are only painted again: the focus stays where it is.
  const had = new Map(Array.from(table.tBodies[0].rows, (line) => [line.drawn.row.row, line]));
  const lines = drawn.map((row) => {
    const line = had.get(row.row);
    if (!line) return segmentLine(row);
    paint(line.drawn);
    const score = line.querySelector(".score");
    score.textContent = row.score === null ? "–" : fixed(row.score, data.digits);
    score.dataset.value = String(row.score);
    return line;
  });
  const same = lines.length === table.tBodies[0].rows.length && lines.every((line, k) => line === table.tBodies[0].rows[k]);
  if (!same) table.tBodies[0].replaceChildren(...lines);
  at("place").textContent = chosen.length ? `${start + 1} to ${start + drawn.length} of ${chosen.length}` : "nothing found";
  at("previous").disabled = state.page === 0;
  at("next").disabled = state.page === pages - 1;
  point(null);
}
