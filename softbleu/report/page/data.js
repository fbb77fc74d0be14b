"use strict";
// What the page knows: the data unpacked, rows, and their scores at the slider's threshold.

const WIDTHS = { 1: Uint8Array, 2: Uint16Array, 4: Uint32Array };

const data = JSON.parse(document.getElementById("data").textContent);
const order = data.metric.order;
const sliding = data.thresholds.length > 0;
const tooLong = new Set(data.too_long);
const at = (id) => document.getElementById(id);
const state = {
  threshold: data.run,
  order: 1,
  query: "",
  system: -1,
  page: 0,
  segments: { key: "segment", down: false },
  systems: { key: null, down: false },
};
let columns;
let rows;
let systems = data.systems;

async function unpack(packed) {
  const bytes = Uint8Array.from(atob(packed.data), (char) => char.charCodeAt(0));
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

// Bounds of groups of these sizes, one behind the other.
function bounds(sizes) {
  const found = new Uint32Array(sizes.length + 1);
  sizes.forEach((size, place) => (found[place + 1] = found[place] + size));
  return found;
}

function makeRows() {
  const lines = bounds(columns.lengths);
  const references = bounds(columns.references);
  const groups = bounds(columns.counts);
  const candidates = data.shown * data.systems.length;
  const sources = candidates + references[data.shown];
  const line = (number) => Array.from(columns.words.subarray(lines[number], lines[number + 1]), (code) => data.words[code]);
  const made = [];
  data.systems.forEach((system, number) => {
    for (let segment = 0; segment < data.shown; segment += 1) {
      const row = made.length;
      const candidate = line(row);
      const texts = [];
      for (let k = references[segment]; k < references[segment + 1]; k += 1) texts.push(line(candidates + k));
      const source = sources < columns.lengths.length ? line(sources + segment) : null;
      const shown = [candidate, ...texts, source ?? []].map((words) => words.join(data.glue)).join("\n");
      made.push({
        row,
        segment: segment + 1,
        number,
        system: system.name,
        candidate,
        references: texts,
        pool: texts.flat(),
        source,
        found: shown.toLowerCase(),
        length: candidate.length,
        groups: groups.subarray(row * order, row * order + order + 1),
        score: data.scores[number][segment],
      });
    }
  });
  return made;
}

// Numbers of the matches of a row and order that are made at the slider's threshold.
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
  const width = 2 + order;
  const masses = new Array(order);
  for (const row of rows) {
    if (tooLong.has(row.row)) {
      row.score = state.threshold === data.run ? data.scores[row.number][row.segment - 1] : null;
      continue;
    }
    for (let n = 0; n < order; n += 1) {
      let sum = 0;
      for (let k = row.groups[n]; k < row.groups[n + 1]; k += 1) {
        if (columns.first[k] <= state.threshold && state.threshold < columns.end[k]) sum += columns.mass[k];
      }
      masses[n] = sum;
    }
    const [candidate, reference, ...totals] = columns.statistics.subarray(row.row * width, (row.row + 1) * width);
    row.score = bleu(masses, totals, candidate, reference, metric, metric.segment_effective).score;
  }
}
