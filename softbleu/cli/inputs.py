"""From options to what the library takes: a corpus and settings."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import fields, replace
from typing import TYPE_CHECKING, Any, cast, get_args

from softbleu.cli.errors import say
from softbleu.errors import InputError, UnknownNameError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from softbleu.kernels import KernelName
    from softbleu.scoring import Settings
    from softbleu.scoring.blocks import Level
    from softbleu.scoring.run import Corpus

SAMPLE = {"candidate": ["candidate.en"], "reference": ["reference.en", "reference2.en"]}
VECTOR_OPTIONS = (
    "vectors",
    "vector_case",
    "similarity",
    "vectors_postprocess",
    "neighbours",
    "mutual",
    "function_words",
)
Options = Mapping[str, Any]
"""Options of a command by name, as typer's context has them."""


def input_files(options: Options) -> list[str]:
    """Files that will be read."""
    pairs = [options["pairs"]] if options["pairs"] else []
    source = [options["source"]] if options.get("source") else []
    gold = [options["gold"]] if options.get("gold") else []
    vectors = [options["vectors"]] if options.get("vectors") else []
    source += [options["idf"]] if options.get("idf") else []
    return [*pairs, *(options["candidate"] or ()), *(options["reference"] or ()), *source, *gold, *vectors]


@contextmanager
def open_corpus(options: Options, *, needs_source: bool = False) -> Iterator[Corpus]:
    """Open the corpus that the options name, or else the bundled sample.

    Raises
    ------
    InputError
        Options that contradict one another, or files that cannot be read.
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
        candidates, references = _sample()
        encoding = "utf-8"
        if needs_source:
            raise InputError(
                "the sample corpus has no source text, which GLEU needs: use -c, -r and --source, or --gold"
            )
        if not options["quiet"]:
            say("note: no input given (see --help), so this scores the bundled sample corpus")
    elif not candidates:
        raise InputError("no candidate file: name one with --candidate, - for standard input")
    source, gold = options.get("source"), options.get("gold")
    with ParallelFiles.open(candidates, references, source, gold=gold, encoding=encoding) as corpus:
        yield corpus


def make_settings(options: Options) -> Settings:
    """Make the settings from the options of the same names, and note those that do nothing.

    Raises
    ------
    InputError
        A name or number that is not valid.
    """
    from softbleu.embeddings import VectorCase
    from softbleu.scoring import Settings

    names = {field.name for field in fields(Settings)}
    given = {name: value for name, value in options.items() if name in names and value is not None}
    check_name("vector case", given.get("vector_case", "fallback"), get_args(VectorCase))
    if "threshold" in given:
        given["threshold"] = read_threshold(given["threshold"])
    if options.get("signature"):
        if "threshold" in given:
            given["quantile"] = None
        settings = replace(Settings.from_signature(options["signature"]), **given)
    else:
        settings = Settings(**given)
    settings.vector_choice().measure()
    idle = settings.idle_options()
    settings = settings.resolved()
    metric = settings.make_metric()
    settings.tokenizer()
    if not options["quiet"]:
        if not metric.needs_vectors:
            idle += [name for name in VECTOR_OPTIONS if name in given]
        for name in idle:
            option = name.replace("_", "-")
            say(f"note: --{option} has no effect here, with --metric {settings.metric} --matcher {settings.matcher}")
    return settings


def read_threshold(text: str) -> float | str:
    """Read a threshold: a number, or a quantile as it is written.

    >>> read_threshold("0.8"), read_threshold("p99.9")
    (0.8, 'p99.9')
    """
    try:
        return float(text)
    except ValueError:
        return text


def check_signature(signature: str, made: str, *, quiet: bool) -> None:
    """See whether a run made what its signature promised, and note what differs.

    Raises
    ------
    InputError
        The vectors of that name are not the same.
    """
    from softbleu.signature import parse_signature

    promised, kept = parse_signature(signature), parse_signature(made)
    if "vectors" in promised and promised["vectors"] != kept.get("vectors"):
        raise InputError(
            f"the signature is of vectors {promised['vectors']}, these are {kept.get('vectors', 'none')}: "
            "name the same ones with --vectors"
        )
    for key, value in promised.items():
        if kept.get(key) != value and not quiet:
            say(f"note: {key} is {kept.get(key, 'missing')} here, {value} in the signature")


def check_level(name: str | None, signature: str | None) -> Level:
    """See that there is such a level; without a name it is that of the signature, or the corpus.

    Raises
    ------
    UnknownNameError
        There is not.
    """
    from softbleu.scoring.blocks import Level
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


def _sample() -> tuple[list[str], list[str]]:
    from softbleu.resources import find_resource

    folder = find_resource("corpora", "samples")
    if folder is None:
        raise InputError("no input given, and this installation lacks the sample corpus: use -c and -r")
    return (
        [str(folder / name) for name in SAMPLE["candidate"]],
        [str(folder / name) for name in SAMPLE["reference"]],
    )
