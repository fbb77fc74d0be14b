import json
import math

import numpy as np
import pytest
from made_up_llama import write_llama
from meteor_data import write_meteor_data
from refusing import refused
from shared_data import shared

import softbleu
from softbleu.encoders import open_encoder
from softbleu.errors import InputError
from softbleu.language import DEFAULT_LANGUAGE, VALUES, ModelChoice, open_language
from softbleu.language.values import _open, _open_language
from softbleu.metrics.refless import Coefficients, line_judge, meaning
from softbleu.metrics.signatures import metric_from_signature

SOURCE = ["He go to the school yesterday .", "This are good informations .", "I like it ."]
BETTER = ["He went to school yesterday .", "This is good information .", "I like it ."]
CONSTANT = "This is one of the most important things in the world ."


def criteria(candidates, source, **settings):
    return softbleu.score(candidates, None, source, metrics="refless", **settings).numbers


@pytest.mark.parametrize(
    ("candidate", "source", "t", "expected"),
    [
        ("the big dogs", "the big dogs", 0.85, 1),
        ("big cats run", "a big dog runs and barks", 0.85, (2 / 3 * 1 / 2) / (0.85 * 2 / 3 + 0.15 / 2)),
        ("Informations , information", "information", 0.5, 2 / 3),
        ("dogs dogs dogs", "dogs", 1, 1),
        ("dogs dogs dogs", "dogs", 0, 1 / 3),
        ("dogs", "cats", 0.85, 0),
        ("it is what it is", "they were there", 0.85, 1),
        ("it is", "dogs", 0.85, 0),
        # Equal words are matched before equal stems.
        ("dog dogs", "dogs dog", 0.5, 1),
        ("running runs", "runs ran", 0.5, 0.5),
    ],
)
def test_meaning_is_that_of_the_paper(candidate, source, t, expected):
    assert meaning(candidate.split(), source.split(), t) == pytest.approx(expected)


@pytest.mark.parametrize(
    ("candidate", "source", "stems", "meteor"),
    [
        ("A tiny Cat runs .", "a small cat runs .", 2 / 3, 1),  # Share a set of synonyms; lower case
        ("cat fled", "cat ran away", 1 / 2 * 1 / 3 / (0.85 / 2 + 0.15 / 3), 1),  # Paraphrases of unlike length
        ("the big dogs", "the big dog", 1, 1),
        ("what is it", "they were there", 1, 1),
        ("the cat of the people", "cat people", 1, 1),  # Function words of one side only
        ("", "dogs", 0, 0),
    ],
)
def test_meaning_by_the_matches_of_meteor(tmp_path, candidate, source, stems, meteor):
    data = str(write_meteor_data(tmp_path / "data"))
    for matched, expected in (("stems", stems), ("meteor", meteor)):
        given = {"matched": matched, "meteor_data": data} if matched == "meteor" else {}
        assert criteria([candidate], [source], **given).meaning == pytest.approx(100 * expected, abs=1e-3)


@pytest.mark.parametrize(
    ("candidate", "source", "share"),
    [
        ("He goes to school .", "He go to school .", 1),
        ("He does n't go to school .", "He go to school .", 1 / 2),
        ("Nobody can not swim .", "They can swim .", 1 / 2),
        ("It cost 20 in 1984 .", "It cost 30 in 1984 .", 1 / 2),
        ("It is not 7 : 30 .", "It isn't 7.30", 1),
        ("", "dogs", 0),
        ("dogs", "", 0),
    ],
)
def test_meaning_by_an_encoder_falls_where_negations_or_numbers_differ(candidate, source, share):
    encoder = open_encoder("minilm-l6")
    means = [encoder.encode(encoder.tokenize([line.split()]), (6,)).mean(axis=0) for line in (candidate, source)]
    cosine = means[0] @ means[1] / math.prod(map(np.linalg.norm, means))
    found = criteria([candidate], [source], matched="minilm-l6").meaning
    assert found == pytest.approx(100 * share * cosine, abs=1e-3)


def test_criteria_are_weighed_values():
    (found,) = open_language(ModelChoice.of(DEFAULT_LANGUAGE)).values(BETTER[:1]).tolist()
    values = dict(zip(VALUES, found, strict=True))
    judge = softbleu.Refless()._judge()
    grammar, fluency = judge.judge([BETTER[0]])[0].tolist()
    coefficients = judge._coefficients
    weighed = [weight * values[name] for weight, name in zip(coefficients.weights.tolist(), VALUES, strict=True)]
    logit = coefficients.constant + sum(weighed)
    least, most = coefficients.bounds
    assert grammar == pytest.approx(1 / (1 + math.exp(-logit)), abs=1e-12)
    assert fluency == pytest.approx(min(max((values["fluency"] - least) / (most - least), 0), 1), abs=1e-12)
    found = criteria(BETTER[:1], SOURCE[:1])
    kept = meaning(BETTER[0].split(), SOURCE[0].split(), 0.85)
    expected = (100 * grammar, 100 * fluency, 100 * kept, 65 * grammar + 10 * fluency + 25 * kept)
    assert (found.grammar, found.fluency, found.meaning, found.score) == pytest.approx(expected, abs=1e-4)


def test_fluency_is_clipped_and_grammar_survives_far_values():
    judge = Coefficients(0.0, np.array([1e6, *[0.0] * (len(VALUES) - 1)]), (0.0, 1.0))
    values = np.zeros((3, len(VALUES)))
    values[:, VALUES.index("fluency")] = (-7, 0.25, 7)
    assert judge.judge(values)[:, 1].tolist() == [0, 0.25, 1]
    assert judge.judge(values)[:, 0] == pytest.approx([0, 1, 1])


def test_weights_and_empty_lines():
    parts = criteria(BETTER, SOURCE)
    for name, weights in {"grammar": (1, 0, 0), "fluency": (0, 0.5, 0), "meaning": (0, 0, 0.1)}.items():
        alone = criteria(BETTER, SOURCE, **dict(zip(("alpha", "beta", "gamma"), weights, strict=True)))
        assert alone.score == pytest.approx(getattr(parts, name))
    assert criteria(BETTER, SOURCE, alpha=0, beta=0, gamma=0).score == 0
    found, alone = criteria(["", "  ", "I like it ."], SOURCE), criteria(["I like it ."], SOURCE[2:])
    assert found.score == pytest.approx(alone.score / 3)
    assert criteria(["", ""], ["", "a"]).as_dict() == dict.fromkeys(alone.as_dict(), 0)


@pytest.mark.parametrize("least", [0, 0.25, 0.5, 1])
def test_score_falls_where_little_of_the_meaning_is_left(least):
    candidates = ["The big dogs run away .", "The dogs sleep .", "It is a good idea .", ""]
    sources = ["The big dogs run away .", "The big dogs run away .", "The big dogs run away .", "The dogs run ."]
    weights = {"alpha": 0.5, "beta": 0.2, "gamma": 0.3, "least_meaning": least}
    scored = softbleu.score(candidates, None, sources, metrics="refless", level="segment", **weights)
    values = [(found.grammar, found.fluency, found.meaning) for found in scored.segments]
    assert 0 < values[1][2] < 50
    assert values[2][2] == 0
    sums = [0.5 * grammar + 0.2 * fluency + 0.3 * kept for grammar, fluency, kept in values]
    shares = [min(1, kept / 100 / least) if least else 1 for _, _, kept in values]
    expected = [total * share for total, share in zip(sums, shares, strict=True)]
    assert [found.score for found in scored.segments] == pytest.approx(expected, abs=2e-4)
    assert scored.score == pytest.approx(np.mean(expected), abs=2e-4)


def test_signatures_of_earlier_versions_have_their_digits():
    texts = {"metrics": "refless", "least_meaning": 0, "alpha": 0.5, "beta": 0.2, "gamma": 0.3}
    expected = softbleu.score(["He sings ."], None, ["I go to the school ."], **texts)
    for weights in ("alpha:0.5|beta:0.2|gamma:0.3", "alpha:none|beta:none|gamma:none"):
        earlier = metric_from_signature(f"metric:refless|{weights}|lowercase:no|level:corpus|version:0.7.0")
        found = softbleu.score(["He sings ."], None, ["I go to the school ."], metrics=earlier)
        assert found.score == expected.score > 10 * criteria(["He sings ."], ["I go to the school ."]).score
        assert "least-meaning:0.0" in found.signature


def test_share_of_those_better_than_their_source():
    result = softbleu.score(BETTER, None, SOURCE, metrics="refless(aggregate=share, gamma=0)", level="segment")
    assert [segment.score for segment in result.segments] == [100, 100, 0]
    assert result.score == pytest.approx(200 / 3) == pytest.approx(result.numbers.better)


@pytest.mark.slow
def test_digits_of_a_neural_model_do_not_depend_on_jobs_or_company(tmp_path, monkeypatch):
    # Blocks of two segments, so that there is work for several processes.
    monkeypatch.setattr("softbleu.corpora.corpus.BLOCK", 2)
    monkeypatch.setattr("softbleu.engine.runner.BLOCK", 2)
    for name in ("ctranslate2", "gguf"):
        pytest.importorskip(name, reason=f"needs {name}, of the extra refless")
    model = str(write_llama(tmp_path / "tiny.gguf"))
    own = {"constant": 0, "coefficients": dict.fromkeys(VALUES, 0.1), "fluency": [-30, 0]}
    (tmp_path / "own.json").write_text(json.dumps(own), encoding="utf-8")

    def scored(place, systems, source, jobs=1):
        # A cache of its own: each converts the model and judges all lines anew.
        monkeypatch.setenv("SOFTBLEU_CACHE", str(tmp_path / place))
        line_judge.cache_clear()
        _open.cache_clear()
        _open_language.cache_clear()
        settings = {"language_model": model, "detector": "spelling", "coefficients": str(tmp_path / "own.json")}
        return [r.numbers for r in softbleu.score(systems, None, source, metrics="refless", jobs=jobs, **settings)]

    systems = {"source": SOURCE, "better": BETTER, "constant": [CONSTANT] * 3}
    one, two = (scored(f"jobs{n}", systems, SOURCE, n) for n in (1, 2))
    assert one == two
    assert len({numbers.fluency for numbers in one}) == 3
    assert all(0 < numbers.fluency < 100 for numbers in one)
    turned = {name: lines[::-1] for name, lines in reversed(systems.items())}
    assert scored("turned", turned, SOURCE[::-1])[::-1] == one


def test_texts_without_references_have_a_source_of_their_length():
    refused(
        InputError, "3 candidates but 2 source texts", softbleu.score, BETTER, None, SOURCE[:2], metrics="refless"
    )
    refused(InputError, "needs references", softbleu.score, BETTER, None, SOURCE, metrics="gleu")
    refused(InputError, "candidates and references are both needed", softbleu.score, BETTER, None, metrics="refless")


@pytest.mark.slow
def test_it_is_not_fooled():
    folder = shared("data", "conll14")
    source = (folder / "source.txt").read_text(encoding="utf-8").splitlines()
    unchanged = (folder / "systems" / "INPUT.txt").read_text(encoding="utf-8").splitlines()
    systems = {"INPUT": unchanged, "constant": [CONSTANT] * len(source), "copied": source[1:] + source[:1]}
    found = {r.name: r.score for r in softbleu.score(systems, None, source, metrics="refless")}
    assert max(found["constant"], found["copied"]) < found["INPUT"]
