"""Latencies of simultaneous translation, beside those of SimulEval and OmniSTEval."""

import json
import math
import re
from operator import itemgetter
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from made_up_logs import recordings, speech_log, streamed, text_log, write_log
from oracles import latency as oracle
from refusing import refused

import softbleu
from softbleu.corpora.corpus import compared_with
from softbleu.corpora.recordings import read_logs
from softbleu.errors import InputError, UnknownNameError
from softbleu.metrics.latency import (
    Laal,
    average_lagging,
    average_proportion,
    average_token_delay,
    differentiable_average_lagging,
    find_degenerate,
    length_adaptive_average_lagging,
    yet_another_average_lagging,
)
from softbleu.metrics.reading import fit_metric
from softbleu.metrics.scores import Scores
from softbleu.metrics.signatures import metric_from_signature

GOLDEN = json.loads((Path(__file__).parent / "golden" / "latency.json").read_text(encoding="utf-8"))
LATENCIES = {
    "al": average_lagging,
    "laal": length_adaptive_average_lagging,
    "ap": average_proportion,
    "dal": differentiable_average_lagging,
    "yaal": yet_another_average_lagging,
}
PRINTED = json.loads((Path(__file__).parent / "golden" / "simuleval.json").read_text(encoding="utf-8"))
CASES = [
    (kind, program, aware, name)
    for kind in ("text", "speech")
    for program, awareness in GOLDEN[kind].items()
    if program != "degeneracy"
    for aware, names in awareness.items()
    for name in names
    if name in LATENCIES
]


@pytest.mark.parametrize(("kind", "program", "aware", "name"), CASES)
def test_latencies_are_those_of_other_programs(kind, program, aware, name):
    known = GOLDEN[kind][program][aware][name]
    found = []
    for entry in text_log() if kind == "text" else speech_log():
        delays = entry["elapsed" if aware == "True" else "delays"]
        found.append(LATENCIES[name](delays, entry["source_length"], len(entry["reference"].split())))
    assert np.nanmean(found) == pytest.approx(known["mean"], abs=1e-9, rel=0)
    for one, other in zip(found[::10], known["segments"], strict=True):
        assert math.isnan(one) if other is None else one == pytest.approx(other, abs=1e-9, rel=0)


@given(
    st.lists(st.floats(0, 100), min_size=1, max_size=12).map(sorted),
    st.floats(1, 100),
    st.integers(1, 15),
    st.none() | st.floats(1, 200),
)
def test_latencies_are_those_of_their_definitions(delays, source, reference, end):
    for name, latency in LATENCIES.items():
        more = {"recording_end": end} if name == "yaal" else {}
        expected = getattr(oracle, name)(delays, source, reference, *more.values())
        found = latency(delays, source, reference, **more)
        assert math.isnan(found) if expected is None else found == pytest.approx(expected, abs=1e-9)


@given(st.data(), st.booleans(), st.booleans())
def test_average_token_delay_is_that_of_its_definition(data, text, aware):
    delay = st.integers(1, 12) if text else st.sampled_from([160.0, 300.0, 640.0, 905.5, 1200.0, 2000.25])
    delays = sorted(data.draw(st.lists(delay, min_size=1, max_size=12)))
    computing = data.draw(st.lists(st.floats(0, 500), min_size=len(delays), max_size=len(delays)))
    expected = oracle.atd(delays, computing if aware else [0] * len(delays), 1 if text else 300, text)
    found = average_token_delay(delays, computing if aware else (), text=text)
    assert found == pytest.approx(expected, abs=1e-6)


@pytest.mark.parametrize("latency", [*LATENCIES.values(), lambda delays, *_: average_token_delay(delays)])
def test_empty_outputs_have_no_latency(latency):
    assert math.isnan(latency([], 5.0, 3))


def corpus_of(folder, entries, **files):
    """Make a corpus of the logs of these systems."""
    logs = {system: str(write_log(listed, folder / f"{system}.log")) for system, listed in entries.items()}
    return read_logs(logs, **files)


@pytest.mark.parametrize("unit", PRINTED)
@pytest.mark.parametrize("given", ["", "--computation-aware", "--no-use-ref-len"])
def test_logs_of_its_command_have_the_latencies_that_simuleval_prints(unit, given, tmp_path):
    corpus = corpus_of(tmp_path, {"A": PRINTED[unit][given]["log"]}, unit="spm" if unit == "spm" else None)
    how = {"computation_aware": given == "--computation-aware", "use_ref_len": given != "--no-use-ref-len"}
    if unit == "spm":
        pytest.importorskip("sentencepiece")
        how["tokenize"] = f"spm:{Path(__file__).parent / 'golden' / 'simuleval.model'}"
    for name, known in PRINTED[unit][given]["printed"].items():
        referred = name in ("AL", "LAAL", "AP", "YAAL")
        assert hasattr(softbleu.read_metric(name), "use_ref_len") == referred
        settings = how if referred else {"computation_aware": how["computation_aware"]}
        (result,) = softbleu.score_corpus(corpus, softbleu.read_metric(name, **settings))
        assert result.score == pytest.approx(known, abs=5.01e-4)
        assert result.label.removesuffix(" (CA)") == name
        assert (f"unit:{unit}" in result.signature) == (unit != "word")


@pytest.mark.parametrize("unit", ["word", "char"])
def test_erasure_is_what_simulstream_prints(unit, tmp_path):
    place = write_log(streamed(), tmp_path / "A.jsonl")
    known = pytest.approx(GOLDEN["erasure"][unit], abs=1e-12)
    (whole,) = softbleu.score_corpus(read_logs({"A": str(place)}, unit=unit), "erasure")
    assert (whole.score, whole.label, whole.higher_is_better) == (known, "NE", False)
    (tmp_path / "r.txt").write_text("it rained\nwe stayed\nthe cat slept\n", encoding="utf-8")
    spans = [{"wav": f"talk_{1 + number // 2}.wav", "offset": 5 * (number % 2), "duration": 5} for number in range(3)]
    (tmp_path / "s.json").write_text(json.dumps(spans), encoding="utf-8")
    files = {"references": [str(tmp_path / "r.txt")], "segmentation": str(tmp_path / "s.json")}
    (cut,) = softbleu.score_corpus(read_logs({"A": str(place)}, unit=unit, **files), "erasure")
    assert cut.numbers.erased == whole.numbers.erased
    refused(
        InputError,
        "only logs of simulstream say which words were taken back",
        softbleu.score_corpus,
        corpus_of(tmp_path, {"A": text_log()}),
        "erasure",
    )


@pytest.mark.parametrize("program", ["omnisteval", "simuleval"])
@pytest.mark.parametrize(("kind", "aware"), [("text", "False"), ("speech", "False"), ("speech", "True")])
def test_metrics_score_logs_as_other_programs_do(kind, aware, program, tmp_path):
    known = GOLDEN[kind][program][aware]
    corpus = corpus_of(tmp_path, {"A": text_log() if kind == "text" else speech_log()})
    results = softbleu.score_corpus(corpus, [f"{name}(computation_aware={aware == 'True'})" for name in known])
    for name, result in zip(known, results, strict=True):
        assert result.label.upper() == name.upper() + " (CA)" * (aware == "True")
        assert result.score == pytest.approx(known[name]["mean"], abs=1e-9, rel=0)
        assert not result.higher_is_better
        assert ("computation-aware:yes" in result.signature) == (aware == "True")


def test_segments_without_words_have_no_latency(tmp_path):
    (result,) = softbleu.score_corpus(corpus_of(tmp_path, {"A": speech_log()}), "laal", level="segment")
    empty = [number for number, entry in enumerate(speech_log()) if not entry["prediction"]]
    assert [number for number, score in enumerate(result.segments) if math.isnan(score.score)] == empty
    assert result.numbers.outputs == 200 - len(empty)
    (macro,) = softbleu.score_corpus(corpus_of(tmp_path, {"A": speech_log()}), "laal", level="macro")
    assert macro.score == pytest.approx(result.score)


def test_long_form_differs_from_omnisteval_by_the_alignment_alone(tmp_path):
    known = GOLDEN["recordings"]
    log, segments, references = recordings()
    names = list(known["omnisteval"]["False"])
    cut = corpus_of(tmp_path, {"A": known["resegmented"]})  # By OmniSTEval
    for aware in (False, True):
        metrics = [f"{name}(computation_aware={aware})" for name in names]
        for result, name in zip(softbleu.score_corpus(cut, metrics), names, strict=True):
            assert result.score == pytest.approx(known["omnisteval"][str(aware)][name]["mean"], abs=1e-9, rel=0)
    (tmp_path / "r.txt").write_text("\n".join(references) + "\n", encoding="utf-8")
    (tmp_path / "segments.json").write_text(json.dumps(segments), encoding="utf-8")
    files = {"references": [str(tmp_path / "r.txt")], "segmentation": str(tmp_path / "segments.json")}
    corpus = corpus_of(tmp_path, {"A": log}, **files)
    others = [
        (one, entry["prediction"])
        for one, entry in zip(corpus.candidates["A"], known["resegmented"], strict=True)
        if one != entry["prediction"]
    ]
    # A word that matches none goes to the segment before in OmniSTEval, behind the full stop.
    assert others == [
        ("on stayed day.", "on stayed day. on"),
        ("on roof and on while home then we all.", "roof and on while home then we all."),
    ]
    results = softbleu.score_corpus(corpus, names)
    for result, name in zip(results, names, strict=True):
        assert "resegment:yes" in result.signature
        assert result.score == pytest.approx(known["omnisteval"]["False"][name]["mean"], rel=0.02)
    assert results[-1].numbers.as_dict()["simultaneous"] is None
    (by_document,) = softbleu.score_corpus(corpus, "yaal", level="document")
    assert [part.document for part in by_document.documents] == ["talk_1", "talk_2"]


def test_characters_are_counted_where_delays_are_of_characters(tmp_path):
    entry = {"prediction": "ab", "delays": [1, 2], "reference": "abc", "source_length": 3}
    (result,) = softbleu.score_corpus(corpus_of(tmp_path, {"A": [entry]}), "laal")
    assert result.score == average_lagging([1, 2], 3, 3)
    assert "|unit:char|" in result.signature


@pytest.mark.parametrize(
    ("reference", "words"), [("the\u00a0cat sat down", 3), ("the  cat", 3), (" the\u202fcat ", 1), ("a\tb c", 2)]
)
def test_references_have_the_words_between_single_blanks(reference, words, tmp_path):
    entry = {"prediction": "the cat sat", "delays": [1, 2, 3], "reference": reference, "source_length": 3}
    for name in ("al", "laal", "ap", "yaal"):
        (result,) = softbleu.score_corpus(corpus_of(tmp_path, {"A": [entry]}), name)
        assert result.score == LATENCIES[name]([1, 2, 3], 3, words)


ODD_TIMES = {
    "Chinese": ({"prediction": "我们去 学校了", "delays": [1, 2]}, ["A: delays are of words between blanks"]),
    "characters": ({"prediction": "我们去", "delays": [1, 2, 3]}, []),
    "early": (
        {"prediction": "a b", "delays": [1, 2], "elapsed": [1, 1.5]},
        ["A: words have elapsed before .* 1 segment"],
    ),
    "slow": (
        {"prediction": "a b", "delays": [1, 2], "elapsed": [1, 99_999]},
        ["A: 99,997 ms of computing before a word"],
    ),
}


@pytest.mark.parametrize(("entry", "said"), ODD_TIMES.values(), ids=ODD_TIMES)
def test_odd_times_are_described(entry, said, tmp_path):
    corpus = corpus_of(tmp_path, {"A": [{**entry, "source_length": 4}]})
    found = [f"{system}: {each}" for system, each in Laal(computation_aware=True).odd_delays(corpus)]
    found = [each for each in found if "policy" not in each]
    assert len(found) == len(said)
    assert all(map(re.match, said, found))


def test_length_of_the_source_is_not_taken_for_that_of_the_reference(tmp_path):
    corpus = corpus_of(tmp_path, {"A": text_log()})
    one, other = (softbleu.score_corpus(each, "al")[0].score for each in (corpus, compared_with(corpus, "source")))
    assert one == other


def test_nearest_of_several_references_counts(tmp_path):
    entry = {"prediction": "a b c", "delays": [1, 2, 3], "source_length": 3}
    for number, text in enumerate(["a", "a b c d"]):
        (tmp_path / f"r{number}").write_text(text + "\n", encoding="utf-8")
    corpus = corpus_of(tmp_path, {"A": [entry]}, references=[str(tmp_path / "r0"), str(tmp_path / "r1")])
    assert softbleu.score_corpus(corpus, "al")[0].score == average_lagging([1, 2, 3], 3, 4)
    assert softbleu.score_corpus(corpus_of(tmp_path, {"A": [entry]}), "al")[0].score == 1.0


def test_quality_and_latency_are_tested_by_the_same_resamples(tmp_path):
    entries = [dict(entry, index=number) for number, entry in enumerate(filter(itemgetter("delays"), speech_log()))]
    later = [dict(entry, delays=[delay + 300 for delay in entry["delays"]]) for entry in entries]
    corpus = corpus_of(tmp_path, {"A": entries, "B": later})
    doubled = Scores("doubled", {name: 2 * column for name, column in _latencies(corpus, "ap").items()})
    quality, latency, same = softbleu.compare_corpus(corpus, ["chrf", "ap", doubled])
    assert latency.comparisons[1].beside.difference > 0
    assert quality.comparisons[1].beside.difference == 0
    assert len(quality.resampled[0]) == len(latency.resampled[0])
    np.testing.assert_allclose(same.resampled, 2 * latency.resampled)


def _latencies(corpus, name):
    results = softbleu.score_corpus(corpus, name, level="segment")
    return {result.name: np.array([score.score for score in result.segments]) for result in results}


POLICIES = {
    "waits": ([1, 2, 3, 4, 5, 5, 5, 5], []),
    "early": ([1, 5, 5, 5, 5, 5, 5, 5], ["probably a degenerate policy: 12% of its words"]),
    "late": ([5] * 8, ["no word comes before the end of its source"]),
}


@pytest.mark.parametrize("system", POLICIES)
def test_degenerate_policies_are_found(system, tmp_path):
    delays, said = POLICIES[system]
    entry = {"prediction": "a b c d e f g h", "delays": delays, "source_length": 5}
    found = list(find_degenerate(corpus_of(tmp_path, {system: [entry]})))
    assert len(found) == len(said)
    assert all(one == system and text.startswith(other) for (one, text), other in zip(found, said, strict=True))


@pytest.mark.parametrize("kind", ["text", "speech"])
def test_degenerate_policies_are_those_of_omnisteval(kind, tmp_path):
    known = GOLDEN[kind]["degeneracy"]
    corpus = corpus_of(tmp_path, {"A": text_log() if kind == "text" else speech_log()})
    (result,) = softbleu.score_corpus(corpus, "yaal")
    assert result.numbers.simultaneous == pytest.approx(known["swf"], abs=1e-9)
    assert result.numbers.expected == pytest.approx(known["efsw"], abs=1e-9)
    assert bool(list(find_degenerate(corpus))) == bool(known["degenerate_policy"])


def test_too_few_latencies_are_not_tested(tmp_path):
    late = [{"prediction": "a b", "delays": [3, 3], "source_length": 3, "reference": "a b"}] * 3
    corpus = corpus_of(tmp_path, {"A": [{**late[0], "delays": [1, 2]}] * 3, "B": late})
    refused(InputError, "YAAL: too few segments of B have a score", softbleu.compare_corpus, corpus, "yaal")
    corpus = corpus_of(
        tmp_path, {"A": [*late[:2], {**late[0], "delays": [1, 2]}], "B": [{**late[0], "delays": [1, 2]}] * 3}
    )
    refused(InputError, "YAAL: too few segments of A have a score", softbleu.compare_corpus, corpus, "yaal")
    assert softbleu.compare_corpus(corpus, "laal").comparisons[0].score > 0


def test_missing_delays_lengths_and_times_are_refused(tmp_path):
    refused(InputError, "metric 'laal' needs delays of words", Laal().corpus_score, ["a"], ["a"])
    refused(InputError, "metric 'laal' needs delays of words", Laal().sentence_score, "a", "a")
    entry = {"prediction": "a", "delays": [1], "source_length": 3}
    corpus = corpus_of(tmp_path, {"A": [entry]})
    refused(
        InputError,
        "line 1: the log has no computation times",
        softbleu.score_corpus,
        corpus,
        "al(computation_aware=yes)",
    )
    corpus = corpus_of(tmp_path, {"A": [{"prediction": "a", "delays": [1]}]})
    refused(InputError, "line 1: no source_length", softbleu.score_corpus, corpus, "al")
    assert softbleu.score_corpus(
        corpus_of(tmp_path, {"A": [{"prediction": "a", "delays": [1], "reference": "a"}]}), "chrf"
    )


def test_speech_beside_text_in_a_log_is_described(tmp_path):
    text = {"prediction": "a b", "delays": [1, 2], "source": "x y z", "source_length": 3}
    speech = {**text, "delays": [900, 1800], "source": ["1.wav"], "source_length": 2500.5}
    for entries, count in (([text, speech], 1), ([text, text], 0), ([speech, speech], 0)):
        found = Laal().odd_delays(corpus_of(tmp_path, {"A": entries}))
        assert sum("1 segment of speech in milliseconds" in said for _, said in found) == count


@pytest.mark.parametrize("name", ["laal", "dal", "erasure"])
@pytest.mark.parametrize(
    ("setting", "value"), [("lowercase", True), ("normalize_unicode", "NFC"), ("tokenize", "13a")]
)
def test_latencies_have_no_settings_of_text(name, setting, value):
    written = f"{name}({setting}={'yes' if value is True else value})"
    refused(UnknownNameError, f"unknown setting '{setting}'", softbleu.read_metric, written)
    given = {setting: value}
    assert fit_metric(name, given).signature() == softbleu.read_metric(name).signature()
    refused(InputError, "has no setting", softbleu.read_metric(name).replaced, **given)
    earlier = (
        f"metric:{name}|{setting.replace('_', '-')}:{'yes' if value is True else value}|level:corpus|version:0.8.0"
    )
    assert metric_from_signature(earlier) == softbleu.read_metric(name)


def test_pieces_of_references_depend_on_case():
    model = Path(__file__).parent / "golden" / "simuleval.model"
    assert "|lowercase:yes" in softbleu.read_metric(f"laal(tokenize=spm:{model}, lowercase=yes)").signature()
