"""Write judged outputs as tables, a file a set, for `softbleu embeddings train`.

python experiments/map/judgements.py ../shared/data FOLDER [--outputs 1600] [--edited 600]

A table has the columns segment, system, human, candidate and reference. Of a large set some segments are drawn, with
all their outputs. MLQE-PE has post-edits in the place of references; they are detokenised, as outputs are.
"""

from __future__ import annotations

import argparse
import csv
import html
import re
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np

SEED = 66
LICENSED = ("mlqe", "wmt17", "ted", "wmt21-en-de")
"""Beginnings of the names of sets whose licence lets a map learned from them be given away."""
Row = tuple[str, str, float, str, str]


def rows_of(path: Path) -> Iterator[dict[str, str]]:
    """Rows of a tab-separated table with a header; quotes are literal."""
    with path.open(encoding="utf-8", newline="") as stream:
        yield from csv.DictReader(stream, delimiter="\t", quoting=csv.QUOTE_NONE)


def lines_of(path: Path) -> list[str]:
    """Lines of a file, ended by line feeds alone."""
    return path.read_text(encoding="utf-8").removesuffix("\n").replace("\r\n", "\n").split("\n")


def detokenised(text: str, language: str) -> str:
    """Undo the tokens of Moses, or of Chinese words."""
    text = html.unescape(text).replace("@-@", "-")
    if language == "zh":
        return re.sub(r"(?<=[^\x00-\x7f]) | (?=[^\x00-\x7f])", "", text)
    text = re.sub(r" ([.,;:!?%)\]}…»“”]|'(?:s|re|ve|ll|d|m|t)\b|n't\b)", r"\1", text)
    text = re.sub(r"([(\[{«„]) ", r"\1", text)
    return re.sub(r'(^| )(["\']) (.*?) \2', r"\1\2\3\2", text)


def mlqe(path: Path) -> Iterator[Row]:
    """Outputs of MLQE-PE with their post-edits."""
    language = path.stem.partition("-")[2]
    for row in rows_of(path):
        yield row["segment"], "mlqe", float(row["z"]), row["candidate"], detokenised(row["reference"], language)


def table(path: Path, human: str, candidate: str = "candidate", reference: str = "reference") -> Iterator[Row]:
    """Rows of a table; without a segment each row is one."""
    for number, row in enumerate(rows_of(path), 1):
        if row[human] not in ("", "None", "nan"):
            texts = html.unescape(row[candidate]), html.unescape(row[reference])
            yield (
                row.get("segment") or row.get("sid") or str(number),
                row.get("system", ""),
                float(row[human]),
                *texts,
            )


def of_files(folder: Path, outputs: str, reference: str, judgements: str, human: str) -> Iterator[Row]:
    """Outputs of systems in files, judged by line; of two judgements of an output the mean."""
    systems = {path.name: lines_of(path) for path in sorted((folder / "system-outputs").glob(outputs))}
    names = {name.removesuffix("".join(Path(name).suffixes[-1:])): name for name in systems} | {n: n for n in systems}
    references = lines_of(folder / reference)
    scores: dict[tuple[str, int], list[float]] = {}
    for row in rows_of(folder / judgements):
        name = next((name for key, name in names.items() if row["system"] in (key, key.rpartition(".")[2])), None)
        if name is not None and row[human] not in ("", "None", "nan"):
            scores.setdefault((name, int(row["segment"])), []).append(float(row[human]))
    for (name, segment), values in scores.items():
        candidate, wanted = systems[name][segment - 1], references[segment - 1]
        yield str(segment), name, sum(values) / len(values), candidate, wanted


def every(data: Path) -> Iterator[tuple[str, Iterator[Row]]]:
    """Names of sets, and their rows."""
    for pair in ("ro-en", "et-en", "ru-en", "ne-en", "si-en", "en-de", "en-zh"):
        yield f"mlqe-{pair}", mlqe(data / "mlqe-pe" / f"{pair}.tsv")
    for pair in ("cs-en", "de-en", "fi-en"):
        yield f"wmt17-{pair}", table(data / f"wmt17-into-en/testset_{pair}.tsv", "HUMAN_score", "translation")
    yield "ted-zh-en", table(data / "mqm-ted-zh-en/judged.tsv", "mqm", reference="ref_a")
    yield "ted-en-de", table(data / "mqm-ted-en-de/judged.tsv", "mqm", reference="ref")
    yield "wmt21-en-de", of_files(data / "wmt21-en-de", "*.de", "reference-A.de", "mqm-segments.tsv", "mqm")
    for path in sorted((data / "wmt15-16-da").glob("*.tsv")):
        yield path.stem.replace("newstest20", "wmt").replace(".", "-"), table(path, "human")
    zh_en = data / "wmt21-into-en/zh-en"
    yield "wmt21-zh-en", of_files(zh_en, "*.txt", "reference-A.en", "mqm-segments.tsv", "mqm")
    ja_en = data / "wmt22-into-en/ja-en"
    yield "wmt22-ja-en", of_files(ja_en, "*", "reference-A.en", "da-segments.tsv", "z")
    for language in ("hi", "gu", "mr"):
        yield f"indicmt-en-{language}", table(data / f"indicmt/en-{language}.tsv", "mqm")
    for path in sorted((data / "afrimte").glob("*.tsv")):
        yield f"afrimte-{path.stem}", table(path, "da")
    for language in ("cs", "zh", "hi"):
        folder = data / f"wmt24-esa/en-{language}"
        yield f"wmt24-en-{language}", of_files(folder, "*", f"reference-A.{language}", "esa-segments.tsv", "esa")
    for path in sorted((data / "second").glob("*.tsv")):
        yield path.stem, table(path, "score")


def drawn(rows: list[Row], most: int) -> list[Row]:
    """Some segments with all their outputs, about `most` outputs in all."""
    segments = list(dict.fromkeys(row[0] for row in rows))
    order = np.random.default_rng(SEED).permutation(len(segments))
    chosen = {segments[number] for number in order[: max(1, round(most * len(segments) / len(rows)))]}
    return rows if len(rows) <= most else [row for row in rows if row[0] in chosen]


def main() -> None:
    """Write the tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--outputs", type=int, default=1600, help="about how many of a set")
    parser.add_argument("--edited", type=int, help="the same of a set of MLQE-PE, by default as of others")
    options = parser.parse_args()
    options.folder.mkdir(parents=True, exist_ok=True)
    edited = options.outputs if options.edited is None else options.edited
    for name, rows in every(options.data):
        most = edited if name.startswith("mlqe") else options.outputs
        some = drawn([(*row[:3], *(" ".join(text.split()) for text in row[3:])) for row in rows], most)
        some = [row for row in some if row[3] and row[4]]
        with (options.folder / f"{name}.tsv").open("w", encoding="utf-8", newline="") as stream:
            stream.write("segment\tsystem\thuman\tcandidate\treference\n")
            stream.writelines("\t".join((*row[:2], repr(row[2]), *row[3:])) + "\n" for row in some)
        print(name, len(some), file=sys.stderr)  # noqa: T201


if __name__ == "__main__":
    main()
