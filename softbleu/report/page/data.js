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
  order: order ? 1 : 0,
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
    this.segment = segment + 1;
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
    return (this.ownReferences ??= this.texts.referencesOf(this.segment - 1));
  }

  get pool() {
    return (this.ownPool ??= this.references.flat());
  }

  get source() {
    return this.texts.sourceOf(this.segment - 1);
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
  const own = data.scores[row.number][row.segment - 1];
  if (!sliding) return own;
  if (tooLong.has(row.row)) return state.threshold === data.run ? own : null;
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
