"""Codes of languages and names of directions are read by one gate."""

from collections.abc import Callable
from typing import Any

import pytest
from refusing import refused
from tables import each_row

import softbleu.config.languages as gate
from softbleu import InputError, read_metric


@pytest.fixture
def notes(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Return the list to which notes are added."""
    found: list[str] = []
    monkeypatch.setattr(gate, "note", found.append)
    return found


def assert_read(read: Callable[[str], Any], codes: str, code: str | None, note: str | None, notes: list[str]) -> None:
    """Check the language that each of some codes is read as, and the one note or none."""
    for each in codes.split():
        notes.clear()
        found = read(each)
        assert (each, found and found.code, notes) == (each, code, [note] if note else [])


@each_row("languages.toml", "codes", "read", table="language", note=None)
def test_a_code_is_read_as_its_language(codes: str, read: str, note: str | None, notes: list[str]) -> None:
    assert_read(gate.find_language, codes, read, note, notes)


@each_row("languages.toml", "codes", table="direction", read=None, note=None)
def test_a_direction_has_the_language_it_leads_to(codes: str, read: Any, note: Any, notes: list[str]) -> None:
    assert_read(gate.target_language, codes, read, note, notes)


@pytest.mark.parametrize(
    "code", ["chinese", "zh!", "de-foo", "en-xx", "", "C", "-".join(["en"] * 500), "-" * 100_000, 3, None]
)
def test_text_that_is_no_code_is_refused(code: Any) -> None:
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
