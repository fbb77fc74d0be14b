"use strict";
// BLEU from sums, with the same digits as the Python package. Does not use the page.

const SCALE = 1000000;
const SMOOTHING_VALUES = { floor: 0.1, "add-k": 1 };
const LOG_OF_ZERO = -9999999999;

function brevityPenalty(candidate, reference) {
  if (candidate >= reference) return 1;
  return candidate ? Math.exp(1 - reference / candidate) : 0;
}

// Return smoothed precisions in per cent, and how many of them the score averages.
function smoothedPrecisions(matches, totals, metric, effective) {
  const value = metric.smooth_value ?? SMOOTHING_VALUES[metric.smooth] ?? 0;
  const any = matches.some((count) => count !== 0);
  let present = true;
  let orders = 0;
  let missed = 0;
  const precisions = matches.map((count, place) => {
    const added = metric.smooth === "add-k" && place > 0 ? value : 0;
    const above = count + added;
    const below = totals[place] + added;
    // Orders after the first without n-grams do not count.
    present = present && below > 0;
    if (!present) return 0;
    orders += 1;
    if (above === 0) missed += 1;
    if (!any) return 0;
    if (above === 0 && metric.smooth === "exp") return 100 / (2 ** missed * below);
    if (above === 0 && metric.smooth === "floor") return (100 * value) / below;
    return (100 * above) / below;
  });
  return { precisions, orders: effective ? Math.max(orders, 1) : matches.length };
}

// Masses are whole millionths: a double holds their sums exactly up to nine thousand million matches.
function bleu(masses, totals, candidate, reference, metric, effective) {
  const matches = masses.map((mass) => mass / SCALE);
  const { precisions, orders } = smoothedPrecisions(matches, totals, metric, effective);
  const penalty = brevityPenalty(candidate, reference);
  let sum = 0;
  for (const precision of precisions.slice(0, orders)) sum += precision ? Math.log(precision) : LOG_OF_ZERO;
  const score = matches.some((count) => count !== 0) ? penalty * Math.exp(sum / orders) : 0;
  return { score, precisions, brevity_penalty: penalty };
}

// Round as Python does: ties go to the even digit. A score that there is not is a dash.
function fixed(number, digits) {
  if (number === null) return "–";
  const rounded = number.toFixed(digits);
  const exact = number.toFixed(Math.min(100, digits + 60));
  const point = exact.indexOf(".");
  const kept = digits ? point + 1 + digits : point;
  const rest = exact.slice(kept).replace(".", "");
  if (!/^50*$/.test(rest)) return rounded;
  const short = exact.slice(0, kept);
  return Number(short.at(-1)) % 2 === 0 ? short : rounded;
}
