"""From options to what the library takes: a corpus and settings."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from softbleu.cli.errors import say
from softbleu.cli.settings import chosen_options, given_settings
from softbleu.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence
    from concurrent.futures import Executor

    from softbleu.metrics.base import Metric
    from softbleu.scoring.run import Corpus

Options = Mapping[str, Any]
"""Options of a command by name, as typer's context has them."""


def input_files(options: Options) -> list[str]:
    """Files that will be read, and what else text in the settings may name."""
    from softbleu.metrics.making import read_settings

    own = [read_settings(each)[1] for each in options.get("metric") or ()]
    single = [options[name] for name in ("pairs", "source", "gold") if options.get(name)]
    settings = [value for each, value in chosen_options(options) if each.setting.hashed]
    settings += [value for each in own for value in each.values() if isinstance(value, str)]
    return [*single, *system_files(options).values(), *(options["reference"] or ()), *settings]


def system_files(options: Options) -> dict[str, str]:
    """Files of systems by the systems' names; see `name_systems`."""
    from softbleu.corpora import name_systems

    others = [options[name] for name in ("source", "gold") if options.get(name)]
    return name_systems(options["candidate"] or (), options["reference"] or (), others)


@contextmanager
def open_corpus(
    options: Options, measures: Sequence[Metric] = (), executor: Executor | None = None
) -> Iterator[Corpus]:
    """Open the corpus that the options name, or else the bundled sample that has what measures need.

    Once all is done it notes a threshold that nobody chose; options that contradict one another are an InputError.
    """
    with _open_corpus(options, measures, executor) as corpus:
        yield corpus
    settled = options["quiet"] or options.get("preset") or options.get("signature")
    if settled or options.get("threshold", 0) is not None:
        return
    from softbleu.matchers.base import DEFAULT_THRESHOLD
    from softbleu.metrics.making import read_settings
    from softbleu.scoring.plan import threshold_of

    named = zip(measures, options["metric"] or ["bleu"], strict=True)
    unasked = [threshold_of(measure) for measure, text in named if "threshold" not in read_settings(text)[1]]
    for threshold in dict.fromkeys(each for each in unasked if each is not None):
        why = "the default" if threshold == DEFAULT_THRESHOLD else "what the vectors recommend"
        say(f"note: threshold {threshold:g} ({why}; --threshold sets it)")


@contextmanager
def _open_corpus(options: Options, measures: Sequence[Metric], executor: Executor | None) -> Iterator[Corpus]:
    from softbleu.corpora import ParallelFiles, read_segments
    from softbleu.scoring.samples import note_tokens, open_sample

    candidates, references = list(options["candidate"] or ()), list(options["reference"] or ())
    encoding = options["encoding"]
    if options["input_format"] and not options["pairs"]:
        raise InputError("--input-format says how to read a --pairs file: name one, or leave it out")
    if options["pairs"]:
        if candidates or references or options.get("source") or options.get("gold"):
            raise InputError("--pairs has candidates and references in one file: leave out -c, -r, --source, --gold")
        yield read_segments(options["pairs"], file_format=options["input_format"], encoding=encoding)
        return
    source, gold = options.get("source"), options.get("gold")
    if not candidates and not references and not gold:
        with open_sample(measures) as corpus:
            if not options["quiet"]:
                say("note: no input given (see --help), so this scores the bundled sample corpus")
            yield corpus
        return
    if not candidates:
        said = f"all {len(references)} files are references of -r: " if len(references) > 1 else ""
        raise InputError(f"no candidate file: {said}name systems with --candidate (-c), - for standard input")
    read: Any = {"gold": gold, "encoding": encoding, "executor": executor, "jobs": options.get("jobs", 1)}
    with ParallelFiles.open(system_files(options), references, source, **read) as corpus:
        if (note := note_tokens(corpus, measures)) and not options["quiet"]:
            say(f"note: {note}")
        yield corpus


def measures_from(options: Options, *, also: Collection[str] = ()) -> list[Metric]:
    """Make the measures that the options describe; note settings that do nothing, but for those that `also` do else.

    Raises
    ------
    InputError, UnknownNameError
        A name or number that is not valid.
    VectorError
        Vectors that cannot be read, where a threshold is a quantile of theirs.
    """
    from softbleu.declare import all_settings
    from softbleu.embeddings.choice import VectorChoice
    from softbleu.metrics.base import Metric
    from softbleu.metrics.making import make_metric, metric_from_signature, read_settings
    from softbleu.metrics.optional import matcher_of
    from softbleu.scoring.plan import resolve_metric, threshold_of, with_threshold

    if options.get("signature"):
        if options["metric"]:
            raise InputError("--signature says what to compute: leave out --metric")
        metrics: list[str | Metric] = [metric_from_signature(options["signature"])]
    else:
        metrics = list(options.get("metric") or ["bleu"])
    measures, idle = [], []
    for each in metrics:
        head, own = (each.name, {}) if isinstance(each, Metric) else read_settings(each)
        over = matcher_of(each) if isinstance(each, Metric) else None
        matcher = over.name if over else own.get("matcher")
        given = given_settings(options, (head, options.get("matcher") or matcher))
        if isinstance(each, Metric) and threshold_of(each) is not None and "threshold" in given:
            # What is given is no quantile of the signature's.
            each = with_threshold(each, 0.0)
        unused: list[str] = []
        measures.append(make_metric(each, idle=unused, **given))
        if not measures[-1].requires.vectors:
            unused += [setting.name for setting in all_settings(VectorChoice)]
        idle.append(set(unused))
    _check_idle(options, measures, set.intersection(*idle) - set(also))
    return [resolve_metric(measure) for measure in measures]


def measure_from(options: Options, *, also: Collection[str] = ()) -> Metric:
    """Make the measure that the options describe, for what takes one at a time; see `measures_from`."""
    measures = measures_from(options, also=also)
    if len(measures) > 1:
        raise InputError(f"one metric at a time here, not {len(measures)}: leave out all --metric but one")
    return measures[0]


def _check_idle(options: Options, measures: Sequence[Metric], idle: set[str]) -> None:
    """See that settings without effect are valid, and note them."""
    from softbleu.metrics.optional import matcher_of

    matchers = [matcher_of(each) for each in measures]
    what = f"these metrics: {', '.join(map(str, measures))}"
    if len(measures) == 1:
        matcher = matchers[0]
        what = f"--metric {measures[0].name}" + (f" --matcher {matcher.name}" if matcher else "")
    names = {each.name for each in measures} | {each.name for each in matchers if each}
    for each, value in chosen_options(options):
        if each.plug_in not in ("", *names) or (not each.plug_in and each.setting.name in idle):
            each.check(value)
            if not options["quiet"]:
                say(f"note: --{each.name} has no effect here, with {what}")
    if "preset" in idle and options.get("preset") and not options["quiet"]:
        say(f"note: --preset has no effect here, with {what}")
