"""Detection whether judgements count segments from 0 or 1, by the judged outputs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from softbleu.errors import InputError, Parameter
from softbleu.io.progress import note

if TYPE_CHECKING:
    from softbleu.types import Floats

LinesBySystem = Callable[[], Mapping[str, Sequence[str]]]
"""Gives the lines of each system."""
KnownOutputs = LinesBySystem | Mapping[str, "Floats"]
"""Lines of the judged systems, or scores of their segments, which are equal for equal lines."""
Judged = Sequence[tuple[int, Sequence[tuple[Sequence[str], int]]]]
"""Segment of each judgement as numbered in the file, and the systems shown as one, with their rank."""
_FITTING = 0.9  # Share of outputs shown as one that are equal, where segments are counted rightly
_FEW = 5  # Equal outputs with different ranks that may be judges' mistakes


@dataclass(frozen=True)
class _Fit:
    """Fit of outputs and judgements, if segments count from some start."""

    shown: int = 0  # Groups of systems shown as one
    equal: int = 0  # Judgements whose outputs are equal
    apart: int = 0  # Equal outputs with different ranks

    @property
    def wrong(self) -> int:
        """Number of contradictions."""
        return self.shown - self.equal + self.apart

    @property
    def fits(self) -> bool:
        """Whether the outputs can be the judged ones."""
        return self.equal >= _FITTING * self.shown

    def clearly_before(self, other: _Fit) -> bool:
        """Whether it fits better than judges' mistakes explain."""
        fewer = 2 * self.wrong <= other.wrong and self.wrong + _FEW <= other.wrong
        return fewer or self.shown - self.equal < other.shown - other.equal


def find_start(
    name: str,
    judged: Judged,
    outputs: KnownOutputs,
    *,
    usual: int,
    sure: bool = False,
    given: int | None = None,
    switch: Parameter | None = None,
) -> int:
    """Find the number of the first segment, with which outputs that judges saw as one are equal.

    Segments must exist in the outputs. If they do with both starts, the one is chosen that has fewer
    contradictions: outputs shown as one that differ, and equal outputs with different ranks. A note says which was
    taken, if it is not the usual one, or if nothing tells.

    Parameters
    ----------
    name
        Name of the file, for messages.
    judged
        The judgements.
    outputs
        Lines of each system, or scores of its segments, which are equal where outputs are.
    usual
        Number of the first segment in files of this kind.
    sure
        Whether the format says so.
    given
        The start that the user names.
    switch
        How to name it.

    Raises
    ------
    InputError
        Segments lie beyond the outputs, or lines of outputs shown as one differ with either start.

    Examples
    --------
    >>> lines = {"A": ["x", "a cat", "y"], "B": ["z", "a cat", "u"], "C": ["x", "a dog", "y"]}
    >>> find_start("judged.xml", [(2, [(["A", "B"], 1), (["C"], 2)])], lambda: lines, usual=0)
    1
    """
    values = _comparable(outputs, {name for _, groups in judged for names, _ in groups for name in names})
    if not judged or not values:
        return usual if given is None else given
    size, numbers = min(map(len, values.values())), {number for number, _ in judged}
    least, most = min(numbers), max(numbers)
    fits = {
        start: _fit(judged, values, start, exact=callable(outputs))
        for start in ((0, 1) if given is None else (given,))
        if start <= least and most < size + start
    }
    if not fits:
        from_given = "" if given is None else f" (counted from {given})"
        said = f"segments {least} to {most} were judged{from_given}, but the outputs have {size}"
        raise InputError(f"{name}: {said}: are these other outputs?")
    shares = ", ".join(f"{fit.equal:,} of {fit.shown:,} counted from {start}" for start, fit in fits.items())
    differ = f"{name}: outputs that were shown as one differ (equal are {shares}): are these other outputs or lines?"
    fitting = [start for start, fit in fits.items() if fit.fits]
    if given is None and callable(outputs) and not fitting:
        raise InputError(differ, *(() if switch is None else (" If they are right, give ", switch)))
    if given is not None:
        if not fitting:
            note(differ)
        return given
    chosen = min(fitting or fits, key=lambda start: (fits[start].wrong, start != usual))
    if usual in fitting and not fits[chosen].clearly_before(fits[usual]):
        chosen = usual
    if chosen != usual:
        why = (
            f"outputs shown as one are equal: {shares}" if fits[chosen].shown else "equal outputs then have one rank"
        )
        why = why if len(fits) > 1 else f"the last is {most} of {size}"
        note(f"{name}: segments are counted from {chosen}, not from {usual} as usual ({why})")
    elif not sure and len(fits) > 1 and fits[0].wrong == fits[1].wrong and len(numbers) < most:
        either = () if switch is None else ("; ", switch, " says otherwise")
        note(f"{name}: segments are taken as counted from {usual}, as usual: the outputs do not tell", *either)
    return chosen


def _comparable(outputs: KnownOutputs, judged: set[str]) -> dict[str, Sequence[str]]:
    """Make texts of the outputs of judged systems, which are equal where outputs are."""
    if callable(outputs):
        lines = outputs()
        return {name: [" ".join(line.split()) for line in lines[name]] for name in lines if name in judged}
    return {name: [f"{score:.6g}" for score in outputs[name].tolist()] for name in outputs if name in judged}


def _fit(judged: Judged, values: Mapping[str, Sequence[str]], start: int, *, exact: bool) -> _Fit:
    """Count contradictions; scores that are equal by chance are not counted."""
    shown = equal = apart = 0
    for number, groups in judged:
        ranks: dict[str, Counter[int]] = {}
        for names, rank in groups:
            texts = [values[name][number - start] for name in names if name in values]
            shown += len(texts) > 1
            equal += len(texts) > 1 and len({*texts}) == 1
            for text in dict.fromkeys(texts):
                ranks.setdefault(text, Counter())[rank] += 1
        apart += sum(count.total() - max(count.values()) for count in ranks.values()) if exact else 0
    return _Fit(shown, equal, apart)
