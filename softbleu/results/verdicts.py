"""Verdicts in words: which systems are best, which of two is better, by how much, and whether other metrics agree."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeVar

from softbleu.formats import Layout
from softbleu.tables import TOO_FEW, is_significant, p_text

if TYPE_CHECKING:
    from softbleu.metrics.result import Result
    from softbleu.results.comparison import ComparedRow, Comparison
    from softbleu.results.prefixes import Curve
    from softbleu.results.significance import SignificanceSettings

_Key = TypeVar("_Key", bound=Hashable)
_CORRECTIONS = {"holm": "Holm-corrected", "fdr": "corrected by Benjamini-Hochberg"}
_NAMED = 4  # Systems that a sentence names; more are counted


@dataclass(frozen=True)
class MetricVerdict:
    """The difference of a system from the baseline by one metric."""

    metric: str
    difference: str  # With its sign
    p: str
    better: str  # Name of the system with the significantly better score; empty if neither is


@dataclass(frozen=True)
class SystemVerdict:
    """A system beside the baseline."""

    better: str  # Name of the significantly better one; empty if neither is
    sentence: str
    facts: Sequence[str]
    wins: int  # Segments that score better than the baseline's
    ties: int
    losses: int
    others: Sequence[MetricVerdict] = ()  # By the other metrics
    agreement: str = ""  # Whether these agree


def distinct_labels(several: Iterable[Result | Comparison | Curve]) -> list[str]:
    """Name the metric of each: by its label, or in full where another metric has the same label."""
    named = [(each.label, each.metric) for each in several]
    labels = Counter(label for label, _ in {*named})
    return [label if labels[label] == 1 else metric for label, metric in named]


def headline(tables: Sequence[Comparison], layout: Layout, at: str = "") -> str:
    """Answer the question of a comparison in one sentence: by the first metric, and whether the others agree.

    Parameters
    ----------
    tables
        The comparison by each metric. Of three systems or more without a baseline the sentence is about the best,
        otherwise about the systems beside the baseline.
    layout
        Its digits are the decimals of scores.
    at
        Threshold to name with the first metric, where a page has others.

    Returns
    -------
    str
        The sentence; empty where outputs at several moments are compared.

    Examples
    --------
    >>> from softbleu import compare
    >>> texts = {"A": ["a cat"] * 40, "B": ["a dog"] * 40, "C": ["a cat"] * 40}
    >>> headline(compare(texts, ["a cat"] * 40, metrics=["chrf"]), Layout())
    'A and C share the best chrF; B is worse (p < 0.001).'
    """
    found = [table.beside_best() for table in tables]
    first = found[0]
    label = _at(distinct_labels(found)[0], at)
    if len(first.families) > 1:
        return ""
    if first.best and not first.untested:
        return f"{'; '.join([_best_sentence(first, label), *_first_by_others(found)])}."
    if len(first.rows) > 2 and not first.untested:
        return f"{'; '.join([_beside_sentence(first, label), *_same_by_others(found)])}."
    pair = next((row.beside for row in first.rows if row.beside is not None), None)
    if pair is None:
        (row,), digits = first.rows, score_digits(first, layout)
        low, high = (f"{end:.{digits}f}" for end in row.interval)
        return f"{row['system']} has {row['score']:.{digits}f} {label}, 95% interval {low} to {high}."
    verdict = make_verdicts(found, layout, at)[pair.name]
    said = [verdict.sentence + ("" if first.untested else f" ({_sure(first, pair, layout)})"), verdict.agreement]
    return f"{'; '.join(filter(None, said))}."


def make_verdicts(tables: Sequence[Comparison], layout: Layout, at: str = "") -> dict[str, SystemVerdict]:
    """Make the verdict of the first metric on each system beside the baseline, by name; see `headline`."""
    (first, *more), (label, *labels) = tables, distinct_labels(tables)
    verdicts = {}
    for place, row in enumerate(first.comparisons):
        if (pair := row.beside) is None:
            continue
        beside = [(table, name, table.comparisons[place].beside) for table, name in zip(more, labels, strict=True)]
        others = [_of_metric(table, name, other, layout) for table, name, other in beside if other is not None]
        better = _better(first, pair)
        agreement = "" if first.untested else _agreement(better, others)
        said = better, _sentence(first, pair, layout, _at(label, at)), _facts(first, pair, layout)
        verdicts[row.name] = SystemVerdict(*said, pair.wins, pair.ties, pair.losses, others, agreement)
    return verdicts


def best_scores_text(groups: Sequence[Sequence[Result]], layout: Layout) -> str:
    """Name the systems with the best score by each metric, which nothing has tested.

    Empty for one system, also at several moments of its outputs, where a score is missing, and if the layout says so.

    >>> from softbleu import score
    >>> best_scores_text([score({"A": ["a cat"], "B": ["a dog"]}, ["a cat"], metrics="chrf")], Layout())
    'A has the best chrF (not tested; softbleu compare tests it).'
    """
    names, said = [result.name for result in groups[0]], list[tuple[str, tuple[str, ...]]]()
    if not layout.verdicts or len(names) < 2 or {name.rpartition("@")[0] for name in names} & {*names}:
        return ""
    for group, label in zip(groups, distinct_labels(group[0] for group in groups), strict=True):
        scores = [result.score if result.higher_is_better else -result.score for result in group]
        leaders = (name for name, score in zip(names, scores, strict=True) if score == max(scores))
        said += [(label, tuple(sorted(leaders)))] * all(score == score for score in scores)
    parts = [_leading(leaders, join_names(labels)) for leaders, labels in _grouped(said).items()]
    return f"{'; '.join(parts)} (not tested; softbleu compare tests it)." if parts else ""


def corrected_text(table: Comparison, tests: int) -> str:
    """Name the correction of so many tests."""
    how = _CORRECTIONS.get(table.significance.correction)
    return "not corrected" if how is None else f"{how}, {tests} test{'s' * (tests > 1)}"


def drawn_text(how: SignificanceSettings) -> str:
    """Name the number of samples or trials that a test draws."""
    return f"{how.drawn():,} {'samples' if how.test == 'bootstrap' else 'trials'}"


def _best_sentence(table: Comparison, label: str) -> str:
    """Name the best system, which ones cannot be told apart from it, and which are worse."""
    leaders = _leaders(table)
    others = [row for row in sorted(table.rows, key=lambda row: (row["rank"], row["system"])) if row["rank"] > 1]
    worse = [row for row in others if is_significant(row)]
    near = [row["system"] for row in others if not is_significant(row)]
    if not others:
        return f"All {len(leaders)} systems have the same {label}"
    parts = [f"{leaders[0]} is best by {label}" if len(leaders) == 1 and not near else _leading(leaders, label)]
    if near:
        in_turn = near == [row["system"] for row in others[: len(near)]]
        who = _who(near, f"{'the next' if in_turn else 'another'} {len(near)}")
        parts[0] += f", but {who} cannot be told apart from {'them' if len(leaders) > 1 else 'it'}"
    if worse:
        names = [row["system"] for row in worse]
        who = _who(names, f"the other {len(worse)}")
        largest = max(worse, key=lambda row: row["corrected"])
        p = _p(largest) if len(worse) == 1 else f"each {_p(largest).replace('=', '≤')}"
        parts.append(f"{who} {_are(names)} worse ({p})")
    return "; ".join(parts)


def _first_by_others(found: Sequence[Comparison]) -> list[str]:
    """Name the systems that the other metrics put first."""
    (name, *others), said = _leaders(found[0]), []
    for table, label in zip(found[1:], distinct_labels(found)[1:], strict=True):
        row = next(row for row in table.rows if row["system"] == name)
        leaders = _leaders(table)
        if row["rank"] == 1:
            how = f"put {'them' if others and leaders == [name, *others] else name} first, too"
        else:
            sure = "" if is_significant(row) else "but not "
            how = f"put {_who(leaders, f'{len(leaders)} systems')} first, {sure}significantly ahead of {name}"
        said.append((label, how))
    return _said_of(said)


def _beside_sentence(table: Comparison, label: str) -> str:
    """Name the systems that are better than the baseline, worse, and neither."""
    groups: dict[str, list[str]] = {"better than": [], "worse than": [], "": []}
    for row in table.rows:
        if row.beside is not None:
            better = _better(table, row.beside)
            groups["" if not better else "better than" if better == row.name else "worse than"].append(row.name)
    parts, base = [], table.baseline
    for how, names in groups.items():
        if names:
            who = _who(names, f"{len(names)} systems")
            parts.append(f"{who} {f'{_are(names)} {how}' if how else 'cannot be told apart from'} {base}")
            base = "it"
    return f"By {label}, {join_names(parts)}"


def _same_by_others(found: Sequence[Comparison]) -> list[str]:
    """Count the systems on which the other metrics agree with the first."""
    first, *more = [[row.beside and _better(table, row.beside) for row in table.rows] for table in found]
    tested, said = len(first) - 1, []
    for label, better in zip(distinct_labels(found)[1:], more, strict=True):
        same = sum(one == other for one, other in zip(first, better, strict=True)) - 1
        every = "both" if tested == 2 else f"all {tested}"
        said.append((label, f"agree on {every if same == tested else f'{same} of {tested}'} systems"))
    return _said_of(said)


def _agreement(better: str, others: Sequence[MetricVerdict]) -> str:
    """Tell whether other metrics agree on the better one of two systems."""
    said = []
    for other in others:
        how = f"find {other.better} better" if other.better else "show no significant difference"
        if other.better == better:
            how = "agree" if better else f"{how} either"
        said.append((other.metric, how))
    return "; ".join(_said_of(said))


def _said_of(said: Iterable[tuple[str, str]]) -> list[str]:
    return [f"{join_names(names)} {_verb(verb, len(names))}" for verb, names in _grouped(said).items()]


def _grouped(said: Iterable[tuple[str, _Key]]) -> dict[_Key, list[str]]:
    """Group names by the sentence about them."""
    groups: dict[_Key, list[str]] = {}
    for name, key in said:
        groups.setdefault(key, []).append(name)
    return groups


def join_names(names: Sequence[str]) -> str:
    """Write names as a list in a sentence.

    >>> join_names(["bleu"]), join_names(["bleu", "ter", "chrf"])
    ('bleu', 'bleu, ter and chrf')
    """
    return " and ".join(filter(None, (", ".join(names[:-1]), names[-1])))


def _who(names: Sequence[str], counted: str) -> str:
    return join_names(names) if len(names) <= _NAMED else counted


def _verb(verb: str, count: int) -> str:
    """Put a verb into the singular.

    >>> _verb("show a difference", 1), _verb("agree", 2)
    ('shows a difference', 'agree')
    """
    first, blank, rest = verb.partition(" ")
    return f"{first}s{blank}{rest}" if count == 1 else verb


def _are(names: Sequence[str]) -> str:
    return "is" if len(names) == 1 else "are"


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]


def _at(label: str, at: str) -> str:
    return f"{label} at {at}" if at else label


def _leaders(table: Comparison) -> list[str]:
    return sorted(row["system"] for row in table.rows if row["rank"] == 1)


def _leading(leaders: Sequence[str], label: str) -> str:
    """Name who has the best score.

    >>> _leading(["A"], "BLEU"), _leading(["A", "B"], "TER")
    ('A has the best BLEU', 'A and B share the best TER')
    """
    who = _who(leaders, f"{len(leaders)} systems")
    return f"{who} {'has' if len(leaders) == 1 else 'share'} the best {label}"


def _better(table: Comparison, pair: ComparedRow) -> str:
    """Name the better system of a pair; empty unless the difference is significant."""
    if not is_significant(pair):
        return ""
    better: str = pair.name if (pair.difference > 0) == table.higher_is_better else pair.other
    return better


def score_digits(table: Comparison, layout: Layout) -> int:
    """Choose the decimals for scores and differences."""
    return layout.decimals((row["score"] for row in table.rows), in_percent=table.in_percent)


def _signed(number: float, digits: int) -> str:
    """Write a number with its sign, as all of a page does.

    >>> _signed(-0.25, 1), _signed(3, 1)
    ('−0.2', '+3.0')
    """
    return f"{number:+z.{digits}f}".replace("-", "−")


def _sentence(table: Comparison, pair: ComparedRow, layout: Layout, label: str) -> str:
    better = _better(table, pair)
    if table.untested:
        return f"{_capital(table.untested)}: {_leading(_leaders(table), label)}"
    if not better:
        return f"{pair.name} and {pair.other} cannot be told apart by {label}"
    worse = pair.other if better == pair.name else pair.name
    return f"{better} is better than {worse} by {abs(pair.difference):.{score_digits(table, layout)}f} {label}"


def _difference(table: Comparison, pair: ComparedRow, layout: Layout) -> str:
    digits = score_digits(table, layout)
    difference, low, high = (_signed(number, digits) for number in (pair.difference, *pair.interval))
    return f"{pair.name} − {pair.other} = {difference}, 95% interval {low} to {high}"


def _sure(table: Comparison, pair: ComparedRow, layout: Layout) -> str:
    """Give the interval and p of a difference, which counts up for the better system."""
    digits, turned = score_digits(table, layout), _better(table, pair) and pair.difference < 0
    difference, *ends = (-end if turned else end for end in (pair.difference, *pair.interval))
    low, high = (_signed(end, digits) for end in sorted(ends))
    apart = "" if _better(table, pair) else f"difference {_signed(difference, digits)}, "
    return f"{apart}95% interval {low} to {high}, {_p(pair)}"


def _facts(table: Comparison, pair: ComparedRow, layout: Layout) -> list[str]:
    how, direction = table.significance, [] if table.higher_is_better else [f"lower {table.label} is better"]
    tests = corrected_text(table, len(table.comparisons) - 1)
    p = table.untested or f"{_p(pair)} ({tests}, {drawn_text(how)})"
    return [_difference(table, pair, layout), *direction, p]


def _p(pair: ComparedRow) -> str:
    text = p_text(pair.corrected, pair)
    return f"p {text}" if text[0] in "<≤" else f"p = {text}"


def _of_metric(table: Comparison, label: str, pair: ComparedRow, layout: Layout) -> MetricVerdict:
    difference = _signed(pair.difference, score_digits(table, layout))
    p = TOO_FEW if table.untested else p_text(pair.corrected, pair)
    return MetricVerdict(label, difference, p, _better(table, pair))
