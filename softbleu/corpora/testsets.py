"""Published test sets by name, such as ``wmt24/en-cs``: the sets of sacrebleu's table, in the folder of sacrebleu.

They are fetched when somebody asks for it, never while something is scored.
"""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterator, Sequence
from importlib import import_module
from pathlib import Path
from typing import Any, Literal

from softbleu.errors import InputError, SoftbleuError, UnknownNameError
from softbleu.io.files import draft_file
from softbleu.io.reading import file_name, open_url

_NAME = re.compile(r"\w[\w.]*(/[\w.-]+)*")


def set_texts(name: str, role: Literal["source", "references"] = "references") -> tuple[Sequence[str], str | None]:
    """Find the files of an installed test set, and the language of its references.

    Parameters
    ----------
    name
        A set and a pair of languages, such as ``wmt24/en-cs``. A file of this name comes first.
    role
        The texts that are wanted.

    Returns
    -------
    tuple
        The files; and the language, None where the name is of no set, which is returned as the only file.

    Raises
    ------
    InputError
        The set is not installed.

    Examples
    --------
    >>> set_texts("references/A.cs")
    (['references/A.cs'], None)
    """
    if not _NAME.fullmatch(name) or Path(name).exists() or (found := _find_set(name)) is None:
        return [name], None
    known, pair = found
    if pair is None:
        raise InputError(
            f"{name} is a test set: name a pair of languages, as in {name}/{next(iter(known.langpairs))}"
        )
    try:
        if not all(place.stat().st_size for _, place, _ in _archives(known)):
            raise FileNotFoundError
        files = known.get_reference_files(pair) if role == "references" else [known.get_source_file(pair)]
    except OSError:
        raise InputError(f"the test set {name} is not installed: run softbleu corpora install {name}") from None
    return files, pair.partition("-")[2]


def install_set(name: str) -> Sequence[str]:
    """Fetch a test set, check it by the sums of sacrebleu, and write its texts; return the names of its pairs.

    What is there already is not fetched again: a file may be brought from another machine.

    Parameters
    ----------
    name
        A set, such as ``wmt24``, or one pair of it, such as ``wmt24/en-cs``.

    Raises
    ------
    InputError
        The set is unknown, cannot be fetched, or is not what sacrebleu knows.
    """
    from sacrebleu.dataset import DATASETS

    utils: Any = import_module("sacrebleu.utils")
    if (found := _find_set(name)) is None:
        raise UnknownNameError("test set", name, DATASETS)
    known, pair = found
    for address, place, checksum in _archives(known):
        if not (place.is_file() and place.stat().st_size):
            _fetch(address, place)
        if utils.get_md5sum(place) != checksum:
            raise InputError(f"{place}: not {address} (MD5 {checksum}): remove it, and run the command again")
        utils.extract_tarball(str(place), str(place.parent))
    known.process_to_text(pair)
    return [name] if pair else [f"{name}/{pair}" for pair in known.langpairs]


def _find_set(name: str) -> tuple[Any, str | None] | None:
    """Find a set, and its pair if one is named; None if it is no set. Raises UnknownNameError for other pairs."""
    from sacrebleu.dataset import DATASETS

    if name in DATASETS:
        return DATASETS[name], None
    of, _, pair = name.rpartition("/")
    if of in DATASETS and pair not in DATASETS[of].langpairs:
        raise UnknownNameError(f"pair of {of}", pair, DATASETS[of].langpairs)
    return (DATASETS[of], pair) if of in DATASETS else None


def _archives(known: Any) -> Iterator[tuple[str, Path, str]]:
    """Yield the address of each file of a set, its place in the folder of sacrebleu, and its MD5."""
    from sacrebleu.utils import SACREBLEU_DIR

    for address, checksum in zip(known.data, known.md5, strict=True):
        place = Path(SACREBLEU_DIR, known.name, "raw", f"{known.name.replace('/', '_')}.{file_name(address)}")
        yield address, place, checksum


def _fetch(address: str, place: Path) -> None:
    place.parent.mkdir(parents=True, exist_ok=True)
    try:
        with open_url(address) as stream, draft_file(place) as draft, draft.open("wb") as copy:
            shutil.copyfileobj(stream, copy)
    except SoftbleuError as error:
        said = f"; try again, or save the file as {place}, and run the command again"
        raise InputError(*error.args, said) from error
