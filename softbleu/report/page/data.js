"use strict";
// Data of the page: unpacked columns, rows, and their scores at the slider's threshold.
// Order 0 selects marks (edits, alignments) instead of n-grams.

const WIDTHS = { 1: Uint8Array, 2: Uint16Array, 4: Uint32Array };

const data = JSON.parse(document.getElementById("data").textContent);
const order = data.metric.order;
const sliding = data.thresholds.length > 0;
const tooLong = new Set(data.too_long);
const at = (id) => document.getElementById(id);
const state = {
  threshold: data.run,
  order: order && !data.marks ? data.metric.opens : 0,
  line: 0,
  query: "",
  system: data.pair ? data.pair[0] : -1,
  beside: data.pair ? data.pair[1] : -1,
  filter: "all",
  page: 0,
  segments: { key: "segment", down: false },
  pairs: { key: "segment", down: false },
  systems: { key: null, down: false },
};
let columns;
let rows;
let systems = data.systems;

async function unpack(packed) {
  const text = atob(packed.data);
  const bytes = new Uint8Array(text.length);
  for (let place = 0; place < text.length; place += 1) bytes[place] = text.charCodeAt(place);
  const inflated = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
  const buffer = await new Response(inflated).arrayBuffer();
  const found = {};
  let place = 0;
  for (const [name, width, count] of packed.columns) {
    found[name] = new WIDTHS[width](buffer.slice(place, place + width * count));
    place += width * count;
  }
  return found;
}

// Return the bounds of consecutive groups of these sizes.
function bounds(sizes) {
  const found = new Uint32Array(sizes.length + 1);
  sizes.forEach((size, place) => (found[place + 1] = found[place] + size));
  return found;
}

const textOf = (words) => words.map((word, place) => (words.blanks?.[place] ? ` ${word}` : word)).join("");

// A candidate with its texts, which are built when first used.
class Row {
  constructor(texts, number, segment) {
    this.texts = texts;
    this.row = number * data.shown + segment;
    this.number = number;
    this.place = segment;
    this.segment = data.numbers ? data.numbers[segment] : segment + 1;
    this.system = data.systems[number].name;
    this.length = columns.lengths[this.row];
    this.groups = texts.groups.subarray(this.row * order, this.row * order + order + 1);
  }

  // Score at the slider's threshold, computed when first used.
  get score() {
    if (this.scored !== state.threshold) {
      this.scored = state.threshold;
      this.ownScore = scoreOf(this);
    }
    return this.ownScore;
  }

  get candidate() {
    return (this.ownCandidate ??= this.texts.line(this.row));
  }

  get references() {
    return (this.ownReferences ??= this.texts.referencesOf(this.place));
  }

  get pool() {
    return (this.ownPool ??= this.references.flat());
  }

  get source() {
    return this.texts.sourceOf(this.place);
  }

  get found() {
    const shown = [this.candidate, ...this.references, this.source ?? []];
    return (this.ownFound ??= shown.map(textOf).join("\n").toLowerCase());
  }
}

function makeRows() {
  const lines = bounds(columns.lengths);
  const references = bounds(columns.references);
  const candidates = data.shown * data.systems.length;
  const sources = candidates + references[data.shown];
  // Return the words of a line, with the blanks before them.
  const line = (number) => {
    const words = Array.from(columns.words.subarray(lines[number], lines[number + 1]), (code) => data.words[code]);
    words.blanks = columns.blanks.subarray(lines[number], lines[number + 1]);
    return words;
  };
  const texts = {
    line,
    groups: bounds(columns.counts),
    sourceOf: (segment) => (sources < columns.lengths.length ? line(sources + segment) : null),
    referencesOf: (segment) => {
      const found = [];
      for (let k = references[segment]; k < references[segment + 1]; k += 1) found.push(line(candidates + k));
      return found;
    },
  };
  return data.systems.flatMap((_, number) => Array.from({ length: data.shown }, (__, segment) => new Row(texts, number, segment)));
}

// Matches of a row, from whichever source the page has: n-grams at the slider's threshold, pairs of words, or equal words.
// Each is { start, length, partner, partnerLength, exact, share, said }; the places of partners count all references as
// one text. Edits and spans are no matches.

const showsMatches = () => state.order > 0 || !data.marks || data.marks.pairs;

function matchList(row) {
  if (state.order) return matchesOf(row, state.order).map((k) => ngramMatch(row, k, state.order));
  if (data.marks) return data.marks.pairs ? [...wordPairs(row)] : [];
  return equalWords(row);
}

function ngramMatch(row, k, n) {
  const exact = isExact(row, k, n);
  const share = columns.mass[k] / SCALE;
  const said = exact ? "exact" : `similarity ${fixed(share, 4)}`;
  return { start: columns.start[k], length: n, partner: columns.partner[k], partnerLength: columns.partner_order[k], exact, share, said };
}

// Words that stay unmatched although they have a partner: the edits of TER.
const WRONG = new Set(["substituted", "deleted", "inserted"]);

function* wordPairs(row) {
  const met = new Map();
  const found = [...marksOf(row)];
  for (const mark of found) if (mark.side === "references") met.set(mark.link, mark);
  for (const mark of found) {
    const other = met.get(mark.link);
    if (mark.side !== "candidate" || !other) continue;
    const wrong = WRONG.has(mark.kind);
    const said = data.marks.labels[mark.label];
    yield { start: mark.start, length: mark.length, partner: other.start, partnerLength: other.length, exact: mark.kind === "exact", share: mark.share / 100, said, wrong };
  }
}

// Match equal words in order: the nth occurrence in the candidate with the nth in each reference.
function equalWords(row) {
  const found = [];
  let offset = 0;
  for (const words of row.references) {
    const places = new Map();
    words.forEach((word, place) => places.set(word, [...(places.get(word) ?? []), place]));
    row.candidate.forEach((word, start) => {
      const partner = places.get(word)?.shift();
      if (partner !== undefined) found.push({ start, length: 1, partner: offset + partner, partnerLength: 1, exact: true, share: 1, said: "exact" });
    });
    offset += words.length;
  }
  return found;
}

// Return the numbers of the matches of a row and order at the slider's threshold.
function matchesOf(row, n) {
  const made = [];
  for (let k = row.groups[n - 1]; k < row.groups[n]; k += 1) {
    if (columns.first[k] <= state.threshold && state.threshold < columns.end[k]) made.push(k);
  }
  return made;
}

function rescore() {
  if (!sliding) return;
  const metric = data.metric;
  systems = data.systems.map((system) => ({
    ...system,
    ...bleu(system.masses[state.threshold], system.totals, system.candidate_length, system.reference_length, metric, metric.effective),
  }));
}

function scoreOf(row) {
  const own = data.scores[row.number][row.place];
  if (!sliding || state.threshold === data.run) return own;
  if (tooLong.has(row.row)) return null;
  const { metric } = data;
  const { first, end, mass } = columns;
  const masses = [];
  for (let n = 0; n < order; n += 1) {
    let sum = 0;
    for (let k = row.groups[n]; k < row.groups[n + 1]; k += 1) {
      if (first[k] <= state.threshold && state.threshold < end[k]) sum += mass[k];
    }
    masses.push(sum);
  }
  const width = 2 + order;
  const [candidate, reference, ...totals] = columns.statistics.subarray(row.row * width, (row.row + 1) * width);
  return bleu(masses, totals, candidate, reference, metric, metric.segment_effective).score;
}
