"""Codes of languages and names of directions are read by one gate."""

from collections.abc import Iterator
from itertools import repeat
from pathlib import Path
from typing import Any

import pytest
from refusing import refused

import softbleu.config.languages as gate
from softbleu import InputError, read_metric


def cases() -> Iterator[Any]:
    """Codes of each section, with what is read and noted."""
    section = ""
    for line in Path(__file__).with_name("languages.txt").read_text("utf-8").splitlines()[2:]:
        if line.startswith("["):
            section = line.strip("[]")
        elif line:
            codes, _, said = line.partition(" => ")
            read, _, noted = said.partition(" … ")
            languages = read.split() if " " in read else repeat(read)
            for code, language in zip(codes.split(), languages, strict=False):
                yield pytest.param(section, code, language, noted, id=f"{section}-{code}")


@pytest.mark.parametrize(("section", "code", "read", "noted"), [*cases()])
def test_a_code_is_read_as_its_language(section: str, code: str, read: str, noted: str, monkeypatch: Any) -> None:
    notes: list[str] = []
    monkeypatch.setattr(gate, "note", notes.append)
    found = (gate.find_language if section == "language" else gate.target_language)(code)
    assert (found.code if found else "None", " … ".join(notes)) == (read, noted)


@pytest.mark.parametrize(
    "code", ["chinese", "zh!", "de-foo", "en-xx", "", "C", "-".join(["en"] * 500), "-" * 100_000, 3, None]
)
def test_what_is_no_code_is_refused(code: Any) -> None:
    message = refused(InputError, "language must be a code of ISO 639 or BCP 47, such as", gate.find_language, code)
    assert len(message) < 200
    assert ("such as zh," in message) == (code == "chinese")


def test_words_of_latin_text_stand_between_blanks_in_any_language() -> None:
    assert [gate.find_language(code).tokenize for code in ("ja", "jpn_Jpan", "jpn_Latn")] == ["unspaced"] * 2 + [None]


def test_settings_take_any_code() -> None:
    assert read_metric("meteor", language="fra") == read_metric("meteor(language=fr_FR)")
    assert read_metric("errant(language=zho_Hans)").language == "zh"
    assert read_metric("bleu(language=eng-jpn)").tokenizer.name == "unspaced"


def test_a_direction_is_found_by_its_languages() -> None:
    names = ["en-cs", "en-zh_CN", "en-pt_BR", "en-pt_PT"]
    asked = ("en-cs", "eng-ces", "en-zho_Hans", "en-pt", "en-pt_PT", "zh-en", "x")
    found = [gate.find_direction(name, names) for name in asked]
    assert found == ["en-cs", "en-cs", "en-zh_CN", None, "en-pt_PT", None, None]
