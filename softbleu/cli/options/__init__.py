"""Options that commands share. Defaults are the library's; None stands for "not given"."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import typer

from softbleu.cli.options.corpus import Candidates as Candidates
from softbleu.cli.options.corpus import Encoding as Encoding
from softbleu.cli.options.corpus import Gold as Gold
from softbleu.cli.options.corpus import InputFormat as InputFormat
from softbleu.cli.options.corpus import Pairs as Pairs
from softbleu.cli.options.corpus import References as References
from softbleu.cli.options.corpus import Source as Source
from softbleu.cli.options.matching import Assignment as Assignment
from softbleu.cli.options.matching import Composition as Composition
from softbleu.cli.options.matching import Consumption as Consumption
from softbleu.cli.options.matching import FunctionWords as FunctionWords
from softbleu.cli.options.matching import Matcher as Matcher
from softbleu.cli.options.matching import Mutual as Mutual
from softbleu.cli.options.matching import Neighbours as Neighbours
from softbleu.cli.options.matching import Postprocess as Postprocess
from softbleu.cli.options.matching import Similarity as Similarity
from softbleu.cli.options.matching import Threshold as Threshold
from softbleu.cli.options.matching import VectorCase as VectorCase
from softbleu.cli.options.matching import Vectors as Vectors
from softbleu.cli.options.metrics import Annotators as Annotators
from softbleu.cli.options.metrics import Beta as Beta
from softbleu.cli.options.metrics import Characters as Characters
from softbleu.cli.options.metrics import Credit as Credit
from softbleu.cli.options.metrics import Denominator as Denominator
from softbleu.cli.options.metrics import EffectiveOrder as EffectiveOrder
from softbleu.cli.options.metrics import Idf as Idf
from softbleu.cli.options.metrics import Iterations as Iterations
from softbleu.cli.options.metrics import Level as Level
from softbleu.cli.options.metrics import Lowercase as Lowercase
from softbleu.cli.options.metrics import MaxUnchangedWords as MaxUnchangedWords
from softbleu.cli.options.metrics import Metric as Metric
from softbleu.cli.options.metrics import Multi as Multi
from softbleu.cli.options.metrics import Order as Order
from softbleu.cli.options.metrics import Penalty as Penalty
from softbleu.cli.options.metrics import Position as Position
from softbleu.cli.options.metrics import Power as Power
from softbleu.cli.options.metrics import Preset as Preset
from softbleu.cli.options.metrics import Rarity as Rarity
from softbleu.cli.options.metrics import Seed as Seed
from softbleu.cli.options.metrics import SegmentSmoothing as SegmentSmoothing
from softbleu.cli.options.metrics import Signature as Signature
from softbleu.cli.options.metrics import Smooth as Smooth
from softbleu.cli.options.metrics import SmoothValue as SmoothValue
from softbleu.cli.options.metrics import SwappedBp as SwappedBp
from softbleu.cli.options.metrics import Tokenize as Tokenize
from softbleu.cli.options.metrics import Variant as Variant
from softbleu.cli.options.metrics import Weight as Weight
from softbleu.cli.options.output import CompareFormat as CompareFormat
from softbleu.cli.options.output import Debug as Debug
from softbleu.cli.options.output import Digits as Digits
from softbleu.cli.options.output import ExplainFormat as ExplainFormat
from softbleu.cli.options.output import Format as Format
from softbleu.cli.options.output import Jobs as Jobs
from softbleu.cli.options.output import Kernels as Kernels
from softbleu.cli.options.output import Output as Output
from softbleu.cli.options.output import Quiet as Quiet
from softbleu.cli.options.output import RecordFormat as RecordFormat
from softbleu.cli.options.output import TableFormat as TableFormat
from softbleu.cli.options.panels import GLEU as GLEU
from softbleu.cli.options.panels import INPUT as INPUT
from softbleu.cli.options.panels import M2 as M2
from softbleu.cli.options.panels import MATCHING as MATCHING
from softbleu.cli.options.panels import METRIC as METRIC
from softbleu.cli.options.panels import OUTPUT as OUTPUT
from softbleu.cli.options.panels import SOFTBLEU as SOFTBLEU
from softbleu.cli.options.panels import TEST as TEST
from softbleu.cli.options.significance import Baseline as Baseline
from softbleu.cli.options.significance import Distribution as Distribution
from softbleu.cli.options.significance import Samples as Samples
from softbleu.cli.options.significance import Test as Test
from softbleu.cli.options.significance import TestSeed as TestSeed
from softbleu.cli.options.significance import Trials as Trials

Completion = Sequence[str] | Callable[[], list[str]] | None


def option(
    text: str, *names: str, panel: str | None = None, metavar: str | None = None, complete: Completion = None
) -> Any:
    """Make an option; what completes it is a list of names, or a function that finds them."""
    found = complete if complete is None or callable(complete) else lambda: list(complete)
    return typer.Option(
        *names, help=text, metavar=metavar, autocompletion=found, rich_help_panel=panel, show_default=False
    )
