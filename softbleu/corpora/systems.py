"""Systems: which files are theirs, and what they are called."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from pathlib import Path

from softbleu.corpora.files import STDIN
from softbleu.errors import InputError
from softbleu.io.urls import is_url

Naming = Callable[[Sequence[str]], dict[str, str]]


def split_name(text: str) -> tuple[str | None, str]:
    """Split off a name that is given before an equals sign.

    >>> split_name("GLEU=scores.tsv"), split_name("scores.tsv"), split_name("metric:bleu|vectors:a=b")
    (('GLEU', 'scores.tsv'), (None, 'scores.tsv'), (None, 'metric:bleu|vectors:a=b'))
    >>> split_name("soft=vleu(threshold=0.8)"), split_name("vleu(threshold=0.8)")
    (('soft', 'vleu(threshold=0.8)'), (None, 'vleu(threshold=0.8)'))
    """
    name, equals, rest = text.partition("=")
    if not equals or not name or not rest or set(name) & set("(:|/\\"):
        return None, text
    return name, rest


def name_files(paths: Sequence[str]) -> dict[str, str]:
    """Name systems after their files: without folder and suffix where that tells them apart.

    >>> name_files(["out/umd.2922.txt", "out/online-A.txt.gz"])
    {'umd.2922': 'out/umd.2922.txt', 'online-A': 'out/online-A.txt.gz'}
    >>> name_files(["a/out.txt", "b/out.txt"])
    {'a/out.txt': 'a/out.txt', 'b/out.txt': 'b/out.txt'}
    """
    for name in (lambda path: Path(path.removesuffix(".gz")).stem, lambda path: Path(path).name, str):
        named = {name(path): path for path in paths}
        if len(named) == len(paths):
            return named
    raise InputError("the same candidate file is named twice")


def name_systems(
    entries: Sequence[str], references: Sequence[str] = (), others: Sequence[str] = (), naming: Naming = name_files
) -> dict[str, str]:
    """Find the files of systems, by the systems' names.

    Entries are files, maybe as ``NAME=FILE``, or folders, which stand for every file in them but hidden ones, sorted,
    and those of references and others. `naming` says how files without a name are called. Raises `InputError`: two
    systems of one name, a folder without files, or a reference among several systems.

    >>> name_systems(["out/umd.txt", "ours=out/new.txt"])
    {'umd': 'out/umd.txt', 'ours': 'out/new.txt'}
    """
    refused, apart = _places(references), _places([*references, *others])
    found = [each for entry in entries for each in _files_of(str(entry), apart)]
    for _, path in found:
        if len(found) > 1 and Path(path).resolve() in refused:
            raise InputError(f"{path} is a reference, and named among the systems: leave it out of one")
    names = {path: name for name, path in naming([path for name, path in found if name is None]).items()}
    named: dict[str, str] = {}
    for given, path in found:
        name = names[path] if given is None else given
        if name in named:
            raise InputError(f"two systems are called {name!r}: name one by NAME=FILE")
        named[name] = path
    return named


def _places(names: Sequence[str]) -> set[Path]:
    return {Path(name).resolve() for name in names if name != STDIN}


def _files_of(entry: str, apart: Collection[Path]) -> Iterator[tuple[str | None, str]]:
    """Names, where there are some, and files."""
    name, path = (None, entry) if Path(entry).exists() else split_name(entry)
    folder = Path(path)
    if is_url(path) or not folder.is_dir():
        yield name, path
        return
    if name is not None:
        raise InputError(f"{path} is a folder, whose files are systems of their own: leave out {name}=")
    files = [
        file
        for file in sorted(folder.iterdir())
        if file.is_file() and not file.name.startswith(".") and file.resolve() not in apart
    ]
    if not files:
        raise InputError(f"{path}: a folder without a file of a system")
    yield from ((None, str(file)) for file in files)
