"""From options to what the library takes: a corpus and settings."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from softbleu.errors import InputError
from softbleu.io.progress import note

if TYPE_CHECKING:
    from softbleu.cli.command import Given
    from softbleu.corpora.corpus import Corpus
    from softbleu.engine.plan import Plan
    from softbleu.metrics.base import Metric


def input_files(given: Given) -> list[str]:
    """Files that will be read, and what else text in the settings may name."""
    from softbleu.corpora import split_file
    from softbleu.metrics.base import read_settings

    read = [read_settings(expression)[1] for expression in given.get("metric", ())]
    settings = [value for option, value in given.chosen_settings() if option.setting.hashed]
    settings += [value for texts in read for value in texts.values() if isinstance(value, str)]
    return [
        *given.files("pairs"),
        *(split_file(text)[1] for text in given.files("scores", "spans")),
        *system_files(given).values(),
        *given.files("reference", "source", "gold", "documents"),
        *settings,
    ]


def system_files(given: Given) -> dict[str, str]:
    """Files of systems by the systems' names; see `name_systems`."""
    from softbleu.corpora import name_systems

    return name_systems(given.candidate, given.reference, given.files("source", "gold"))


@contextmanager
def open_corpus(given: Given, plan: Plan, *, by_document: bool = False) -> Iterator[Corpus]:
    """Open the corpus that the options name, or else the bundled sample that has what the plan's metrics need.

    Once all is done it notes thresholds that were recommended, as nobody chose one, and documents that nothing looked
    at: neither a context nor what is done `by_document`. Options that contradict one another are an InputError.
    """
    from softbleu.corpora.corpus import compared_with
    from softbleu.corpora.labels import Documents
    from softbleu.matching.matchers import DEFAULT_THRESHOLD
    from softbleu.results.notes import note_text

    against: Any = given.get("against") or signed(given).get("against", "references")
    with _named_corpus(given, plan.metrics) as corpus:
        corpus = compared_with(corpus, against)
        if named := given.get("documents"):
            documents = Documents.read(named, given.encoding)
            documents.fitting(len(corpus))
            corpus = replace(corpus, documents=documents)
        # The sample is known.
        if given.candidate or given.pairs:
            note_text(corpus, plan.metrics)
        yield corpus
    in_context = any(metric.requires.vectors and metric.vector_choice.context for metric in plan.metrics)
    if in_context and corpus.documents is None:
        note("no documents are named, so that the context of a line is whatever stands before it")
    compared = any(metric.requires.references or metric.requires.edits for metric in plan.metrics)
    instead = ["gold", *["reference"] * (not given.get("resegment"))] if against == "source" else []
    for name in filter(given.get, instead if compared else ["against"]):
        note(f"--{name} has no effect here")
    if given.get("documents") and not (by_document or in_context):
        note("--documents has no effect here")
    for threshold in plan.recommended:
        why = "the default" if threshold == DEFAULT_THRESHOLD else "what the vectors recommend"
        note(f"threshold {threshold:g} ({why}; --threshold sets it)")


def signed(given: Given) -> dict[str, str]:
    """Keys and values of the signature that is run again, if one is."""
    from softbleu.metrics.base import read_signature

    return {} if given.get("signature") is None else read_signature(given.signature)


def _named_corpus(given: Given, measures: Sequence[Metric]) -> AbstractContextManager[Any]:
    """The corpus that the options name, to be opened."""
    from softbleu.corpora import ParallelFiles, read_segments
    from softbleu.results.samples import open_sample

    references, source, gold = given.reference, given.source, given.gold
    blank: Any = given.get("blank_references")
    if blank is None and given.get("signature"):
        blank = signed(given).get("blank", "empty")
    if given.input_format and not given.pairs:
        raise InputError("--input-format says how to read a --pairs file: name one, or leave it out")
    if given.get("resegment") and not given.candidate:
        note("--resegment has no effect here")
    if given.pairs:
        if given.candidate or references or source or gold:
            raise InputError("--pairs has candidates and references in one file: leave out -c, -r, --source, --gold")
        segments = read_segments(given.pairs, file_format=given.input_format, encoding=given.encoding)
        return nullcontext(replace(segments, blank_references=blank or segments.blank_references))
    if not given.candidate and not references and not gold:
        from softbleu.metrics.protocols import ReadsRows
        from softbleu.metrics.scores import corpus_of

        if any(isinstance(metric, ReadsRows) for metric in measures):
            return nullcontext(corpus_of(measures))
        sample = open_sample(measures)
        note("no input given (see --help), so this scores the bundled sample corpus")
        return sample
    if not given.candidate:
        said = f"all {len(references)} files are references of -r: " if len(references) > 1 else ""
        raise InputError(f"no candidate file: {said}name systems with --candidate (-c), - for standard input")
    read: Any = {"executor": given.executor, "jobs": given.jobs} if given.get("jobs") is not None else {}
    return ParallelFiles.open(
        system_files(given),
        references,
        source,
        gold=gold,
        encoding=given.encoding,
        resegment=bool(given.get("resegment")),
        blank_references=blank,
        **read,
    )


def plan_from(given: Given, *, one: bool = False, also: Collection[str] = ()) -> Plan:
    """Plan the metrics that the options describe, or the `one` that there may be.

    Options without effect are noted, unless `also` names them.
    """
    from softbleu.config.declare import all_settings
    from softbleu.embeddings.choice import VectorChoice
    from softbleu.engine.plan import distinct, make_plan, threshold_of, with_threshold
    from softbleu.metrics.base import Metric, make_metric, metric_from_signature, read_settings
    from softbleu.metrics.protocols import matcher_of

    keys = signed(given)
    if given.get("signature") is not None:
        if given.metric:
            raise InputError("--signature says what to compute: leave out --metric")
        named = ((option.setting, value) for option, value in given.chosen_settings())
        # Files that are named are not looked for where the signature has them.
        files = {setting.name: value for setting, value in named if setting.hashed and setting.key in keys}
        metrics: list[str | Metric] = [metric_from_signature(given.signature, **files)]
    else:
        metrics = list(given.get("metric") or ["bleu"] * (not given.get("scores")))
    if given.get("scores"):
        from softbleu.metrics.scores import read_outside

        metrics = [*read_outside(given.scores, given.lower, given.encoding), *metrics]
    measures, idle = [], []
    for wanted in metrics:
        head, texts = (wanted.name, {}) if isinstance(wanted, Metric) else read_settings(wanted)
        over = matcher_of(wanted) if isinstance(wanted, Metric) else None
        matcher = over.name if over else texts.get("matcher")
        tokenizer = wanted.tokenizer.name if isinstance(wanted, Metric) else texts.get("tokenize")
        settings = given.settings_of((head, given.get("matcher") or matcher, tokenizer))
        if isinstance(wanted, Metric) and threshold_of(wanted) is not None and "threshold" in settings:
            # What is given is no quantile of the signature's.
            wanted = with_threshold(wanted, 0.0)
        unused: list[str] = []
        measures.append(make_metric(wanted, unused=unused, **settings))
        if not measures[-1].requires.vectors:
            unused += [setting.name for setting in all_settings(VectorChoice)]
        idle.append(set(unused))
    _check_idle(given, measures, set.intersection(*idle) - set(also))
    plan = make_plan(measures)
    plan = replace(plan, metrics=tuple(distinct(plan.metrics)))
    return replace(plan, metrics=(plan.only,)) if one else plan


def _check_idle(given: Given, measures: Sequence[Metric], idle: set[str]) -> None:
    """See that settings without effect are valid, and note them."""
    from softbleu.metrics.protocols import matcher_of

    matchers = [matcher_of(measure) for measure in measures]
    what = f"these metrics: {', '.join(map(str, measures))}"
    if len(measures) == 1:
        what = f"--metric {measures[0].name}" + "".join(f" --matcher {over.name}" for over in matchers if over)
    what += f", --tokenize {' and '.join(dict.fromkeys(metric.tokenizer.name for metric in measures))}"
    names = {part.name for metric in measures for part in (metric, metric.tokenizer, matcher_of(metric)) if part}
    for option, value in given.chosen_settings():
        if option.plug_in not in ("", *names) or (not option.plug_in and option.setting.name in idle):
            option.check(value)
            note(f"--{option.name} has no effect here, with {what}")
    if "preset" in idle and given.get("preset"):
        note(f"--preset has no effect here, with {what}")
