"""Record of the outputs of a corpus that a gate changed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from softbleu.types import Cells


@dataclass(frozen=True)
class GatedLines:
    """Lines of a system that a gate changed."""

    segments: int  # All lines
    rules: Mapping[int, tuple[str, ...]]  # Rules by segment, from 0
    counts: dict[str, int]  # Lines by rule, of each rule of the gate

    @property
    def lines(self) -> int:
        """Number of lines that a rule changed."""
        return len(self.rules)

    def __str__(self) -> str:
        """Write the number of lines, and the lines of each rule that changed any."""
        found = ", ".join(f"{rule} {count:,}" for rule, count in self.counts.items() if count)
        return f"{self.lines:,} of {self.segments:,} lines" + f": {found}" * bool(found)

    def as_dict(self) -> Cells:
        """Return plain data."""
        return {"lines": self.lines, "segments": self.segments, "rules": dict(self.counts)}

    def cells(self) -> Cells:
        """Return the same as columns of a table."""
        return {"gated_lines": self.lines, **{f"gated_{rule}": count for rule, count in self.counts.items()}}


@dataclass(frozen=True)
class Gating:
    """Record of the lines of a corpus that a gate changed."""

    rules: tuple[str, ...]  # Of the gate
    with_source: bool  # Whether outputs were compared with a source, too
    segments: int
    found: Mapping[str, Mapping[int, tuple[str, ...]]]  # Rules that changed a line, by system and segment, from 0

    def of(self, system: str) -> GatedLines:
        """Return the lines of a system that were changed."""
        counts = Counter(rule for rules in self.found[system].values() for rule in rules)
        return GatedLines(self.segments, self.found[system], {rule: counts[rule] for rule in self.rules})

    def signed(self) -> dict[str, str]:
        """Return the keys of a signature."""
        return {"gate": "+".join(self.rules)} | ({"gate-source": "yes"} if self.with_source else {})
