"""Settings of intervals and tests."""

from __future__ import annotations

from dataclasses import dataclass, field, fields, replace
from math import comb
from typing import TYPE_CHECKING, Literal, Self, get_args

from softbleu.config.declare import parse_signature
from softbleu.corpora.labels import Documents
from softbleu.errors import InputError, known_name
from softbleu.io.reading import parse_whole
from softbleu.resample import Correction, check_samples
from softbleu.tables import SIGNIFICANT

if TYPE_CHECKING:
    from softbleu.types import Keywords


Test = Literal["randomization", "bootstrap"]
Program = Literal["none", "sacrebleu"]
SAMPLES, TRIALS = 1000, 10_000  # Bootstrap samples and trials, unless there are so many tests that they need more
MOST_UNASKED = 100_000  # More than these must be asked for: after Holm they are enough for all pairs of 100 systems
PAIRED_UNASKED = 14  # Systems whose pairs are all tested unasked: 10,000 trials are enough for them
LEAST_TESTABLE = 30  # Fewer lines are not tested
_FOR_A_TEST = 100  # Samples (or trials) a test: the least p of the first of them is 0.01 then


@dataclass(frozen=True)
class SignificanceSettings:
    """Settings of a test.

    Parameters
    ----------
    test
        `randomization` (approximate randomisation, Riezler & Maxwell 2005) or `bootstrap` (Koehn 2004, two-sided).
    samples
        Bootstrap samples, for the intervals too. None stands for 1,000, or, where the bootstrap is the test, for as
        many as all pairs of the systems need (`settled`).
    trials
        Shufflings of the randomisation test. None stands for 10,000, or for as many as it needs.
    seed
        Of NumPy's generator.
    correction
        Of p-values, for as many as a metric makes: `holm` (Holm 1979) keeps the chance of any false alarm, `fdr`
        (Benjamini & Hochberg 1995) the share of false ones among the alarms; `none` leaves them. None stands for
        `holm`, and for `none` where `compatible` is `sacrebleu`, which corrects nothing.
    all_pairs
        Test every pair of systems. Otherwise more than `PAIRED_UNASKED` systems are tested against the baseline only.
    compatible
        `sacrebleu` counts as that program does (`bootstrap_p_values`, `approximate_randomization`). Its bootstrap
        calls two equally good systems different, with p < 0.05, in about 12% of cases.
    documents
        Documents of the segments, which samples and trials draw as wholes: segments of one document are more like one
        another than others are, so that intervals by segments are too narrow. A file (``FILE:COLUMN``) or labels.
    """

    test: Test = "randomization"
    samples: int | None = None
    trials: int | None = None
    seed: int = 12345
    correction: Correction = None  # type: ignore[assignment]  # None is replaced before anybody reads it
    compatible: Program = "none"
    all_pairs: bool = field(default=False, kw_only=True)
    documents: Documents | None = field(default=None, kw_only=True)

    def __post_init__(self) -> None:
        if self.documents is not None and not isinstance(self.documents, Documents):
            named = Documents.read if isinstance(self.documents, str) else Documents.of
            object.__setattr__(self, "documents", named(self.documents))
        if self.correction is None:
            object.__setattr__(self, "correction", "none" if self.compatible == "sacrebleu" else "holm")
        for name, known in (("test", Test), ("correction", Correction), ("compatible", Program)):
            object.__setattr__(self, name, known_name(name, getattr(self, name), get_args(known)))
        for name, value in (("samples", self.samples), ("trials", self.trials)):
            check_samples(1 if value is None else value, self.seed, name)

    def every_pair(self, systems: int) -> bool:
        """Whether so many systems are tested in pairs, and not only against the baseline."""
        return self.all_pairs or systems <= PAIRED_UNASKED

    def settled(self, systems: int, parts: int | None = None) -> Self:
        """Choose the numbers of samples and trials that are not given.

        With `parts` each system is tested against the baseline in so many parts.

        Holm's correction multiplies the least p of all tests by their number. So the test draws so often, in
        thousands, that the least p can still become 0.01, but no more than `MOST_UNASKED` times.

        >>> [SignificanceSettings().settled(systems).trials for systems in (2, 14, 100)]
        [10000, 10000, 10000]
        >>> [SignificanceSettings(all_pairs=True).settled(systems).trials for systems in (14, 15, 23, 100)]
        [10000, 11000, 26000, 100000]
        """
        tests = comb(systems, 2) if self.every_pair(systems) and parts is None else (systems - 1) * (parts or 1)
        if self.correction != "holm":
            tests = 1
        needed = min(-(-(_FOR_A_TEST * tests - 1) // 1000) * 1000, MOST_UNASKED)
        samples, trials = (needed, 0) if self.test == "bootstrap" else (0, needed)
        return replace(self, samples=self.samples or max(samples, SAMPLES), trials=self.trials or max(trials, TRIALS))

    def drawn(self) -> int:
        """Number of draws: samples of the bootstrap, else trials."""
        return (self.samples or SAMPLES) if self.test == "bootstrap" else (self.trials or TRIALS)

    def signed(self, baseline: str) -> dict[str, object]:
        """Return what a signature says of the tests: all settings that change a number, and the baseline."""
        # Which systems are tested changes no number but those of draws, which the signature has.
        left_out = {"all_pairs", *["documents"] * (self.documents is None)}
        names = [declared.name for declared in fields(self) if declared.name not in left_out]
        return {**{f"test-{name}": getattr(self, name) for name in names}, "test-baseline": baseline}

    @property
    def floor(self) -> float:
        """The least p-value of a test before it is corrected: every draw is less extreme than the difference."""
        return 1 / (self.drawn() + 1)

    def least_p(self, tests: int) -> float:
        """The least p-value that the first of so many tests can have once it is corrected.

        >>> round(SignificanceSettings(trials=999).least_p(253), 3)
        0.253
        """
        return min(1.0, (tests if self.correction == "holm" else 1) * self.floor)

    def few_lines(self, lines: int) -> str:
        """Return a note that lines are too few for a test; empty if they suffice, as any do for sacrebleu's p.

        >>> SignificanceSettings().few_lines(10), SignificanceSettings().few_lines(30)
        ('too few lines to test (10, of at least 30)', '')
        """
        few = lines < LEAST_TESTABLE and self.compatible == "none"
        return f"too few lines to test ({lines}, of at least {LEAST_TESTABLE})" if few else ""

    def too_few(self, tests: int) -> list[str]:
        """Return a note if none of so many tests can be significant."""
        least = self.least_p(tests)
        few = least >= SIGNIFICANT
        return [f"no p can be below {least:.4f} here: draw more samples or trials, or correct by fdr"] * few

    @classmethod
    def from_signature(cls, signature: str | None, **changed: object) -> tuple[Self, str | None]:
        """Make the settings that a signature of a comparison has, and name its baseline; `changed` ones go before.

        None stands for a setting that is not given. The bootstrap of signatures without `test-compatible` was that of
        sacrebleu, which is also the test that `compatible` alone stands for.

        >>> SignificanceSettings.from_signature("metric:bleu|test-samples:50|test-baseline:A", seed=1)[0].samples
        50
        >>> SignificanceSettings.from_signature("metric:bleu|test-test:bootstrap|test-seed:1")[0].compatible
        'sacrebleu'

        Raises `InputError`: it cannot be read, or has a number that is none.
        """
        pairs = {} if signature is None else parse_signature(signature)
        names = [declared.name for declared in fields(cls)]
        said: Keywords = {name: pairs[f"test-{name}"] for name in names if f"test-{name}" in pairs}
        for name in ("samples", "trials", "seed"):
            if name in said:
                try:
                    said[name] = parse_whole(said[name])
                except ValueError:
                    raise InputError(f"test-{name}:{said[name]} in the signature: a whole number is needed") from None
        if said.get("test") == "bootstrap":
            said.setdefault("compatible", "sacrebleu")
            said.setdefault("correction", "holm")  # Of signatures that name none
        if "documents" in said:
            said["documents"] = said["documents"].rpartition("#")[0]
        said |= {name: value for name, value in changed.items() if value is not None}
        if said.get("compatible") == "sacrebleu":
            said.setdefault("test", "bootstrap")
        return cls(**said), pairs.get("test-baseline")
