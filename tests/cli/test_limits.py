"""What allows more work, as an option of every command."""

from __future__ import annotations

import pytest

from softbleu.io.limits import FACTOR, Limit


def test_every_command_allows_more(command, files, monkeypatch):
    monkeypatch.setenv(FACTOR, "1")
    monkeypatch.setattr("softbleu.metrics.meteor._LIMIT", Limit("meteor", "pairs of words", 1, "none"))
    arguments = "score", "-c", files.candidate, "-r", files.reference, "-m", "meteor", "--stages", "exact"
    refused = command(*arguments)
    assert refused.code == 2
    assert "allow more by --limits " in refused.err
    assert command(*arguments, "--limits", "100").code == 0


@pytest.mark.parametrize("arguments", [("diff", "x", "y"), ("embeddings", "info", "x"), ("score",)])
def test_what_allows_more_is_checked_first(command, arguments, monkeypatch):
    monkeypatch.setenv(FACTOR, "1")
    ran = command(*arguments, "--limits", "0")
    assert (ran.code, ran.err) == (2, "softbleu: error: --limits must be a whole number from 1 to 1000000, not '0'\n")
