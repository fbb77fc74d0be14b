"""Signatures hold everything a score depends on, and can be run again; of single settings: tests/test_declare.py."""

from pathlib import Path
from typing import Any

import pytest
from meteor_data import write_meteor_data
from refusing import refused

from softbleu import score
from softbleu.cli.inputs import open_sample
from softbleu.config.declare import parse_signature, signature_of
from softbleu.embeddings.convert import convert_vectors
from softbleu.engine.plan import make_plan
from softbleu.errors import InputError
from softbleu.metrics.bleu import Bleu
from softbleu.metrics.gleu import Gleu
from softbleu.metrics.protocols import at_level
from softbleu.metrics.reading import read_metric
from softbleu.metrics.signatures import metric_from_signature
from softbleu.metrics.softbleu import Softbleu
from softbleu.results.api import score_corpus
from softbleu.text.meteor import PACKAGE


@pytest.mark.parametrize(
    ("value", "own"),
    [
        (Bleu(), ["matcher", "effective-order"]),
        (Gleu(iterations=20), ["matcher", "iterations"]),
        (Softbleu(beta=2.0), ["beta"]),
    ],
    ids=str,
)
def test_short_form_leaves_out_defaults_only(value: Any, own: list[str]) -> None:
    short, long = (parse_signature(signature_of(value, short=each)) for each in (True, False))
    assert list(short) == ["metric", *own, "tokenize", "lowercase", "vectors", "version"]
    assert short.items() <= long.items()


def test_vectors_that_are_written_anew_are_named_anew(tmp_path: Path) -> None:
    store, text = tmp_path / "store", tmp_path / "vectors.txt"
    scores, names = [], []
    metric = read_metric("sleu", order=1, threshold=0.1, vectors=str(store))
    for first in (0.1, 0.8):
        text.write_text(f"2 2\ndog {first} 0.3\ncat 1.0 0.2\n")
        convert_vectors(str(text), store, force=True)
        results = [each.corpus_score(["a dog"], ["a cat"]) for each in (metric, metric.replaced(called="fresh"))]
        scores.append(results[0].score)
        names.append(parse_signature(results[0].signature)["vectors"])
        assert names[-1] == parse_signature(results[1].signature)["vectors"]
    assert scores[0] < scores[1]
    assert names[0] != names[1]


@pytest.mark.parametrize("given_order", [False, True])
@pytest.mark.parametrize("level", ["corpus", "segment"])
def test_an_effective_order_that_was_given_is_read_back(given_order: bool, level: Any) -> None:
    result = score(["a b"], [["a b c"]], level=level, effective_order=given_order)
    for signature in (result.short_signature, result.signature):
        assert at_level(metric_from_signature(signature), level).effective_order is given_order  # type: ignore[attr-defined]


@pytest.mark.parametrize("key", ["tokenize", "tok"])
def test_settings_of_a_tokenizer_are_read_under_each_key_that_names_it(key: str) -> None:
    metric = metric_from_signature(f"metric:bleu|matcher:exact|{key}:meteor|language:de")
    assert metric == read_metric("bleu", tokenize="meteor", language="de")


def test_a_file_of_any_name_is_read_back(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As words' rarities and as vectors, in signatures and in expressions."""
    monkeypatch.chdir(tmp_path)
    name = 'a|b:c%7C,d=(e)#f "g".txt'
    Path(name).write_text("cat 1 2\ndog 2 1\n", encoding="utf-8")
    given = read_metric("softbleu", idf=name, vectors=name)
    assert read_metric(str(given)) == given
    result = score(["a cat"], ["a dog"], metrics=given)
    for signature in (result.signature, result.short_signature):
        assert metric_from_signature(signature) == given
        assert parse_signature(signature)["idf"].startswith(f"{name}#")


# Signatures of softbleu 0.3 with their scores: whoever reads one back gets the digits that were published.


GOLDEN = Path(__file__).parents[1] / "golden" / "signatures.tsv"
ROWS = [line.split("\t") for line in GOLDEN.read_text("utf-8").splitlines() if not line.startswith("#")]


@pytest.mark.parametrize(
    ("score", "signature"),
    [
        pytest.param(
            score,
            signature,
            # The neighbours of all words take long to find, and are kept in the cache of a worker.
            marks=[pytest.mark.slow] * (tier == "second")
            + [pytest.mark.xdist_group("neighbours")] * ("neighbour-cost:0" in signature),
            id=str(number),
        )
        for number, (score, tier, signature) in enumerate(ROWS, start=3)
        if tier != "removed"
    ],
)
def test_a_signature_gives_its_score(
    score: str, signature: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if "tokenize:meteor" in signature:
        write_meteor_data(tmp_path / PACKAGE / "meteor")
        (tmp_path / PACKAGE / "__init__.py").touch()
        monkeypatch.syspath_prepend(tmp_path)
    metric = metric_from_signature(signature)
    level: Any = parse_signature(signature)["level"]
    with open_sample([metric]) as corpus:
        found = score_corpus(corpus, metric, level=level)[0].score
    # The last bits of hidden states differ between processors: with AVX-512 and without by 1e-7 at most.
    assert found == pytest.approx(float(score), rel=1e-6 if "minilm-l6#" in signature else 0, abs=0)


def test_a_signature_of_a_setting_that_is_gone_names_the_version_that_has_it() -> None:
    gone = [signature for _, tier, signature in ROWS if tier == "removed"]
    assert len(gone) == 11
    what = r"(signature key '.*'|similarity 'csls'|metric 'netbleu')"
    for signature in gone:
        said = rf"^{what} was removed in 0\.4; softbleu 0\.3\.0 has it$"
        refused(InputError, said, metric_from_signature, signature)


def test_short_signatures_of_earlier_versions_left_out_the_defaults_of_then() -> None:
    metric: Any = metric_from_signature("metric:gleu|matcher:vleu|level:corpus|nrefs:1|version:0.1.0")
    assert (metric.threshold, metric.tokenizer.name, metric.penalty) == (0.0, "none", "exact")


def test_a_threshold_that_is_given_is_no_quantile() -> None:
    resolved: Any = make_plan("vleu", threshold="p99.9").only
    assert resolved.vector_choice.quantile == "p99.9"
    made: Any = make_plan(resolved, threshold=0.8).only
    assert (made.threshold, made.vector_choice.quantile) == (0.8, None)
