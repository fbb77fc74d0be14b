"""A made-up test set in the place of one of sacrebleu's: a packed file of XML, and its entry in the table."""

import hashlib
import io
import tarfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
from sacrebleu.dataset import DATASETS


def _xml(source: str, target: str, texts: Mapping[str, Sequence[str]]) -> str:
    def segments(lines: Sequence[str]) -> str:
        return "".join(f'<seg id="{number}">{line}</seg>' for number, line in enumerate(lines, start=1))

    parts = [f'<src lang="{source}"><p>{segments(texts["src"])}</p></src>']
    for name in [name for name in texts if name != "src"]:
        parts.append(f'<ref lang="{target}" translator="{name}"><p>{segments(texts[name])}</p></ref>')
    return f'<dataset id="made-up"><doc origlang="{source}" id="d" domain="news">{"".join(parts)}</doc></dataset>'


def make_set(
    monkeypatch: pytest.MonkeyPatch,
    folder: Path,
    name: str,
    pairs: Mapping[str, Mapping[str, Sequence[str]]],
    address: str,
) -> Path:
    """Write the packed file of a set into a folder, let sacrebleu know its address, and keep sets in `sacrebleu`.

    `pairs` have the texts of each pair of languages: the source, and each reference by its translator.
    """
    known: Any = DATASETS[name]
    monkeypatch.setattr("sacrebleu.utils.SACREBLEU_DIR", str(folder / "sacrebleu"))
    monkeypatch.setattr("sacrebleu.dataset.base.SACREBLEU_DIR", str(folder / "sacrebleu"))
    packed = folder / Path(known.data[0]).name
    with tarfile.open(packed, "w:gz") as archive:
        for pair, texts in pairs.items():
            content = _xml(*pair.split("-"), texts).encode()
            member = tarfile.TarInfo(known.langpairs[pair][0])
            member.size = len(content)
            archive.addfile(member, io.BytesIO(content))
    checksum = hashlib.md5(packed.read_bytes(), usedforsecurity=False).hexdigest()
    langpairs = {pair: known.langpairs[pair] for pair in pairs}
    made = type(known)(
        name, data=[f"{address}/{packed.name}"], md5=[checksum], langpairs=langpairs, refs=known.kwargs["refs"]
    )
    monkeypatch.setitem(DATASETS, name, made)
    return packed
