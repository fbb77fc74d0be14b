from __future__ import annotations

import pytest

import softbleu

SOURCE = ["He go to the school yesterday .", "This are good informations .", "I like it ."]
BETTER = ["He went to school yesterday .", "This is good information .", "I like it ."]


def test_the_command_needs_no_references(program, files):
    candidate, source = files.write("better.txt", BETTER), files.write("source.txt", SOURCE)
    done = program("score", "-c", candidate, "-s", source, "-m", "refless", "--score-only", "--digits", 6)
    assert (done.code, done.err) == (0, "")
    assert float(done.out) == pytest.approx(softbleu.score(BETTER, None, SOURCE, metric="refless").score, abs=1e-6)
    for options, said in (
        (("-m", "bleu", "-s", source), "metric 'bleu' needs references: name them with --reference"),
        (("-m", "refless", "-r", source), "metric 'refless' needs the source text"),
        (("-m", "refless"), "no reference file: name one with --reference"),
    ):
        refused = program("score", "-c", candidate, *options)
        assert refused.code == 2
        assert said in refused.err
        assert refused.err.count("\n") == 1
