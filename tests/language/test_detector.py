from __future__ import annotations

import pytest

from softbleu.errors import MissingExtraError
from softbleu.language import Harper

pytest.importorskip("harper", reason="needs harper-py, of the extra refless")

LINES = ["This is an test of the the linter.", "It is the behaviour of colours.", "It is a good test.", ""]


@pytest.fixture(autouse=True)
def cache(tmp_path, monkeypatch):
    monkeypatch.setenv("SOFTBLEU_CACHE", str(tmp_path))


def test_errors_are_found_and_kept(monkeypatch):
    found = Harper().errors(LINES)
    assert [LINES[0][error.start : error.end] for error in found[0]] == ["an", "the the"]
    assert all(error.kind and error.message for error in found[0])
    # How words are spelt, the word list says: spellings of all countries are right.
    assert found[1:] == [(), (), ()]
    monkeypatch.setattr(Harper, "_check", lambda self, line: pytest.fail("checked again"))
    assert Harper().errors(LINES[::-1]) == found[::-1]


def test_broken_text_is_checked_all_the_same():
    (found,) = Harper().errors(["an test \ud800 b"])
    assert found[0].start == 0


def test_the_extra_is_named(monkeypatch):
    monkeypatch.setattr("softbleu.language.detector._PACKAGE", "no-such-package")
    with pytest.raises(MissingExtraError, match=r"needs no-such-package.*pip install 'softbleu\[refless\]'"):
        Harper().errors(LINES)
