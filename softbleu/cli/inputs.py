"""From options to what the library takes: a corpus and settings."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, cast, get_args

from softbleu.cli.errors import say
from softbleu.cli.settings import chosen_options, given_settings
from softbleu.errors import InputError, UnknownNameError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from softbleu.kernels import KernelName
    from softbleu.metrics.base import Level
    from softbleu.scoring import Measure
    from softbleu.scoring.run import Corpus

SAMPLE = {"candidate": ["candidate.en"], "reference": ["reference.en", "reference2.en"]}
Options = Mapping[str, Any]
"""Options of a command by name, as typer's context has them."""


def input_files(options: Options) -> list[str]:
    """Files that will be read, and what else text in the settings may name."""
    from softbleu.scoring.measure import read_settings

    metrics = options.get("metric") or ()
    own = [read_settings(each)[1] for each in ([metrics] if isinstance(metrics, str) else metrics)]
    pairs = [options["pairs"]] if options["pairs"] else []
    source = [options["source"]] if options.get("source") else []
    gold = [options["gold"]] if options.get("gold") else []
    settings = [value for each, value in chosen_options(options) if each.setting.hashed]
    settings += [value for each in own for value in each.values() if isinstance(value, str)]
    return [*pairs, *(options["candidate"] or ()), *(options["reference"] or ()), *source, *gold, *settings]


@contextmanager
def open_corpus(options: Options, measures: Sequence[Measure] = ()) -> Iterator[Corpus]:
    """Open the corpus that the options name, or else the bundled sample.

    Raises
    ------
    InputError
        Options that contradict one another, files that cannot be read, or a sample that lacks what measures need.
    """
    from softbleu.corpora import ParallelFiles, read_segments

    candidates, references = list(options["candidate"] or ()), list(options["reference"] or ())
    encoding = options["encoding"]
    if options["input_format"] and not options["pairs"]:
        raise InputError("--input-format says how to read a --pairs file: name one, or leave it out")
    if options["pairs"]:
        if candidates or references or options.get("source") or options.get("gold"):
            raise InputError("--pairs has candidates and references in one file: leave out -c, -r, --source, --gold")
        yield read_segments(options["pairs"], file_format=options["input_format"], encoding=encoding)
        return
    if not candidates and not references and not options.get("gold"):
        with _sample_corpus(measures) as corpus:
            if not options["quiet"]:
                say("note: no input given (see --help), so this scores the bundled sample corpus")
            yield corpus
        return
    if not candidates:
        raise InputError("no candidate file: name one with --candidate, - for standard input")
    source, gold = options.get("source"), options.get("gold")
    with ParallelFiles.open(candidates, references, source, gold=gold, encoding=encoding) as corpus:
        yield corpus


def measures_from(options: Options) -> list[Measure]:
    """Make the measures that the options describe, and note settings that do nothing.

    Raises
    ------
    InputError, UnknownNameError
        A name or number that is not valid.
    VectorError
        Vectors that cannot be read, where a threshold is a quantile of theirs.
    """
    from softbleu.declare import all_settings
    from softbleu.embeddings.choice import VectorChoice
    from softbleu.scoring.measure import Measure, read_settings

    if options.get("signature"):
        if options["metric"]:
            raise InputError("--signature says what to compute: leave out --metric")
        metrics: list[str | Measure] = [Measure.from_signature(options["signature"])]
    else:
        named = options.get("metric") or "bleu"
        metrics = [named] if isinstance(named, str) else list(named)
    measures, idle = [], []
    for each in metrics:
        head, own = (each.metric.name, {}) if isinstance(each, Measure) else read_settings(each)
        matcher = each.matcher.name if isinstance(each, Measure) and each.matcher else own.get("matcher")
        given = given_settings(options, (head, options.get("matcher") or matcher))
        if isinstance(each, Measure) and each.threshold is not None and "threshold" in given:
            # What is given is no quantile of the signature's.
            each = each.with_threshold(0.0)
        unused: list[str] = []
        measures.append(Measure.of(each, idle=unused, **given))
        if not measures[-1].metric.requires.vectors:
            unused += [setting.name for setting in all_settings(VectorChoice)]
        idle.append(set(unused))
    _check_idle(options, measures, set.intersection(*idle))
    return [measure.resolved() for measure in measures]


def measure_from(options: Options) -> Measure:
    """Make the measure that the options describe, for what takes one at a time; see `measures_from`."""
    measures = measures_from(options)
    if len(measures) > 1:
        raise InputError(f"one metric at a time here, not {len(measures)}: leave out all --metric but one")
    return measures[0]


def _check_idle(options: Options, measures: Sequence[Measure], idle: set[str]) -> None:
    """See that settings without effect are valid, and note them."""
    what = f"these metrics: {', '.join(map(str, measures))}"
    if len(measures) == 1:
        matcher = measures[0].matcher
        what = f"--metric {measures[0].metric.name}" + (f" --matcher {matcher.name}" if matcher else "")
    names = {each.metric.name for each in measures} | {each.matcher.name for each in measures if each.matcher}
    for each, value in chosen_options(options):
        if each.plug_in not in ("", *names) or (not each.plug_in and each.setting.name in idle):
            each.check(value)
            if not options["quiet"]:
                say(f"note: --{each.name} has no effect here, with {what}")
    if "preset" in idle and options.get("preset") and not options["quiet"]:
        say(f"note: --preset has no effect here, with {what}")


def check_signature(signature: str, made: str, *, quiet: bool) -> None:
    """See whether a run made what its signature promised, and note what differs.

    Raises
    ------
    InputError
        The vectors of that name are not the same.
    """
    from softbleu.scoring.measure import settings_of
    from softbleu.signature import parse_signature

    kept = parse_signature(made)
    earlier = {
        key: each.key
        for each in settings_of({name: kept[name] for name in ("metric", "matcher") if name in kept})
        for key in each.earlier
    }
    promised = {earlier.get(key, key): value for key, value in parse_signature(signature).items()}
    if "vectors" in promised and promised["vectors"] != kept.get("vectors"):
        raise InputError(
            f"the signature is of vectors {promised['vectors']}, these are {kept.get('vectors', 'none')}: "
            "name the same ones with --vectors"
        )
    for key, value in promised.items():
        if kept.get(key) != value and not quiet:
            say(f"note: {key} is {kept.get(key, 'missing')} here, {value} in the signature")


def find_level(name: str | None, signature: str | None) -> Level:
    """See that there is such a level; without a name it is that of the signature, or the corpus.

    Raises
    ------
    UnknownNameError
        There is not.
    """
    from softbleu.metrics.base import Level
    from softbleu.signature import parse_signature

    if name is None:
        name = parse_signature(signature).get("level", "corpus") if signature is not None else "corpus"
    check_name("level", name, get_args(Level))
    return cast("Level", name)


def check_kernels(name: str) -> KernelName:
    """See that there are such kernels.

    Raises
    ------
    UnknownNameError
        There are not.
    """
    from softbleu.kernels import KernelName

    check_name("kernels", name, get_args(KernelName))
    return cast("KernelName", name)


def check_name(kind: str, name: str, valid: Sequence[str]) -> None:
    """See that a name is one of the valid ones.

    Raises
    ------
    UnknownNameError
        It is not.
    """
    if name not in valid:
        raise UnknownNameError(kind, name, valid)


@contextmanager
def _sample_corpus(measures: Sequence[Measure]) -> Iterator[Corpus]:
    from softbleu.corpora import ParallelFiles
    from softbleu.resources import find_resource
    from softbleu.scoring.run import check_requirements

    folder = find_resource("corpora", "samples")
    if folder is None:
        raise InputError("no input given, and this installation lacks the sample corpus: use -c and -r")
    candidates, references = ([str(folder / name) for name in SAMPLE[key]] for key in ("candidate", "reference"))
    with ParallelFiles.open(candidates, references) as corpus:
        for measure in measures:
            try:
                check_requirements(corpus, measure)
            except InputError as error:
                raise InputError(f"the sample corpus has no source and no edits, and {error}") from None
        yield corpus
