"""Logs of simultaneous translation: what readers take of them, beside what simulstream takes."""

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from made_up_logs import recordings, speech_log, streamed, text_log, write_log
from refusing import refused

import softbleu
from softbleu.corpora import Segments
from softbleu.corpora.logs import Emission, Log, read_log
from softbleu.corpora.recordings import (
    SpokenSegment,
    at_moments,
    cut_recordings,
    read_logs,
    read_moments,
    read_segmentation,
)
from softbleu.errors import InputError

GOLDEN = json.loads((Path(__file__).parents[1] / "golden" / "latency.json").read_text(encoding="utf-8"))


@pytest.mark.parametrize("made", [text_log, speech_log])
def test_simuleval_log_has_texts_delays_and_lengths(made, tmp_path):
    entries = made()
    log = read_log(str(write_log(entries[::-1], tmp_path / "instances.log")))  # In any order
    for emission, entry in zip(log.emissions, entries, strict=True):
        assert emission.text == entry["prediction"]
        assert emission.delays.tolist() == entry["delays"]
        assert (emission.elapsed is None) == (made is text_log or not entry["elapsed"])
        assert emission.source_length == entry["source_length"]
        assert emission.reference == entry["reference"]
    assert log.emissions[2].source == (entries[2]["source"] if made is text_log else "recording_2.wav")


def test_resegmented_omnisteval_log_has_times_relative_to_segments(tmp_path):
    entries = GOLDEN["recordings"]["resegmented"]
    log = read_log(str(write_log(entries, tmp_path / "instances.resegmented.jsonl")))
    for emission, entry in zip(log.emissions, entries, strict=True):
        assert emission.delays.tolist() == entry.get("emission_cu", [])
        assert emission.recording_end == entry.get("time_to_recording_end")


@pytest.mark.parametrize("unit", ["word", "char"])
def test_simulstream_log_has_the_delays_that_simulstream_gives(unit, tmp_path):
    log = read_log(str(write_log(streamed(), tmp_path / "metrics.jsonl")), unit)
    for emission, (name, known) in zip(log.emissions, GOLDEN["streamed"][unit].items(), strict=True):
        assert Path(emission.source).stem == name
        assert emission.text == known["text"]
        assert emission.source_length == 20_000
        # Where a part of a word is taken back simulstream gives the word, not its characters, another time.
        np.testing.assert_allclose(emission.delays, 1000 * np.array(known["delays"]), atol=1e-9)
        np.testing.assert_allclose(emission.elapsed, 1000 * np.array(known["elapsed"]), atol=1e-9)


def test_simulstream_log_of_words_joins_them_by_blanks(tmp_path):
    steps = [
        {"id": 7, "metadata": {"wav_name": "talk.wav"}},
        {"id": 7, "total_audio_processed": 1, "computation_time": 0, "generated_tokens": ["it", "rains"]},
        {"id": 7, "total_audio_processed": 2, "computation_time": 1, "generated_tokens": ["rained"]}
        | {"deleted_tokens": ["rains"]},
    ]
    (emission,) = read_log(str(write_log(steps, tmp_path / "metrics.jsonl"))).emissions
    assert (emission.text, emission.delays.tolist()) == ("it rained", [1000, 2000])


@pytest.mark.parametrize("unit", ["word", "char"])
def test_moments_of_simulstream_show_what_was_on_the_screen(unit, tmp_path):
    steps = streamed()
    corpus = read_logs({"A": str(write_log(steps, tmp_path / "log"))}, unit=unit)
    moments = sorted({1000 * step["total_audio_processed"] for step in steps if "generated_tokens" in step})
    assert read_moments(["each"], corpus) == moments
    for moment in moments:
        screens: list[list[str]] = [[], []]
        for step in steps:
            if step.get("total_audio_processed", np.inf) * 1000 <= moment:
                screen = screens[step["id"]]
                del screen[len(screen) - len(step["deleted_tokens"]) :]
                screen += step["generated_tokens"]
        texts = ["".join(screen).replace("\u2581", " ").strip() for screen in screens]
        for text, emission in zip(texts, at_moments(corpus, [moment]).logs[f"A@{moment:g}"].emissions, strict=True):
            assert emission.text == text
            assert len(emission.delays) == (len(text.split()) if unit == "word" else len(text))
            assert emission.source_length == 20_000


def step_of(number, seconds, given, deleted=()):
    """Make a step of simulstream."""
    times = {"id": number, "total_audio_processed": seconds, "computation_time": 0}
    return times | {"generated_tokens": given.split(" "), "deleted_tokens": [*deleted]}


TWO_OF_ONE_NAME = [
    {"id": 0, "metadata": {"wav_name": "data/a/talk.wav"}},
    step_of(0, 1, "\u2581wrong \u2581start"),
    step_of(0, 2, "\u2581it \u2581rained", ["\u2581wrong", "\u2581start"]),
    step_of(0, 6, "\u2581all\u00a0day"),
    {"id": 0, "metadata": {"wav_name": "data/b/talk.wav"}},
    step_of(0, 1, "\u2581we \u2581left"),
    {"id": 1, "metadata": {"wav_name": "data/silence.wav"}},
]


def test_recordings_of_one_name_are_told_by_their_folders(tmp_path):
    log = read_log(str(write_log(TWO_OF_ONE_NAME, tmp_path / "log")))
    assert [emission.text for emission in log.emissions] == ["it rained all\u00a0day", "we left", ""]
    assert log.emissions[0].delays.tolist() == [2000, 2000, 6000]  # A no-break space is part of a word
    log = replace(log, emissions=log.emissions[:2])
    spans = [{"wav": f"{place}/talk.wav", "offset": offset, "duration": 3} for place, offset in ("b0", "a0", "a4")]
    for span in spans:
        span["offset"] = int(span["offset"])
    (tmp_path / "spans.json").write_text(json.dumps(spans), encoding="utf-8")
    references = [["we left"], ["it rained"], ["all day"]]
    cut = cut_recordings(log, read_segmentation(str(tmp_path / "spans.json")), references)
    assert [part.text for part in cut.emissions] == ["we left", "it rained", "all day"]
    shown = [[part.until(moment, "word").text for part in cut.emissions] for moment in (0, 1000, 2000)]
    assert shown == [["", "", ""], ["we left", "wrong start", ""], ["we left", "it rained", "all day"]]
    one = [SpokenSegment("talk", 0, 3000)] * 3
    refused(InputError, "line 5: recording 'talk' is there twice", cut_recordings, log, one, references)
    other = replace(log, emissions=[replace(log.emissions[0], source="c/talk.wav")])
    said = "recording 'c/talk.wav' may be 'b/talk.wav' or 'a/talk.wav'"
    refused(InputError, said, cut_recordings, other, read_segmentation(str(tmp_path / "spans.json")), references)


def test_times_that_add_up_over_recordings_are_corrected_word_by_word(tmp_path):
    entries, segments, references = recordings()
    spans = [SpokenSegment(s["wav"][:-4], 1000 * s["offset"], 1000 * s["duration"]) for s in segments]
    cut = cut_recordings(read_log(str(write_log(entries, tmp_path / "log"))), spans, [[text] for text in references])
    expected = []
    for entry in entries:
        last = 0.0
        for place, (delay, time) in enumerate(zip(entry["delays"], entry["elapsed"], strict=True)):
            before = (entry["elapsed"][place - 1] - entry["delays"][place - 1]) if place else 0.0
            last = max(last, delay + time - delay - before)
            expected.append(last)
    found = np.concatenate([part.elapsed + span.offset for part, span in zip(cut.emissions, spans, strict=True)])
    np.testing.assert_allclose(found, expected)
    assert cut.settled
    for entry in entries:  # Some of them less late than the word before: these are the times that had passed
        entry["elapsed"] = [delay + 100 - place % 2 for place, delay in enumerate(entry["delays"])]
        entry["elapsed"].sort()
    log = read_log(str(write_log(entries, tmp_path / "log")))
    assert not cut_recordings(log, spans, [[text] for text in references]).settled


def test_characters_have_a_delay_each_with_or_without_blanks(tmp_path):
    for delays in ([1, 2, 3], [1, 1, 2, 3]):
        place = write_log([{"prediction": "a bc", "delays": delays}], tmp_path / "log")
        assert read_log(str(place)).unit == read_log(str(place), "char").unit == "char"
        assert read_log(str(place)).emissions[0].delays.tolist() == delays
        refused(InputError, "line 1: . delays for 2 words", read_log, str(place), "word")


PIECES = {"prediction": "it rained", "prediction_spm": ["\u2581it", "\u2581ra", "ined"], "delays": [1, 2, 4]}


def test_words_have_the_delays_of_their_last_subwords(tmp_path):
    place = str(write_log([PIECES], tmp_path / "log"))
    with pytest.warns(UserWarning, match="delays of subwords"):
        log = read_log(place)
    assert (log.unit, log.emissions[0].delays.tolist()) == ("word", [1, 4])
    (by_piece,) = read_log(place, "spm").emissions
    assert by_piece.delays.tolist() == [1, 2, 4]
    assert [by_piece.until(moment, "spm").text for moment in range(5)] == ["", "it", "it ra", "it ra", "it rained"]
    for odd in ({"prediction": "it rains"}, {"delays": [1, 2], "prediction_spm": ["\u2581it", "\u2581ra", "ined"]}):
        place = str(write_log([PIECES | odd], tmp_path / "odd"))
        refused(InputError, "line 1: prediction_spm must make up the prediction", read_log, place)
    some = str(write_log([PIECES, {"prediction": "it", "delays": [1, 2]}], tmp_path / "some"))
    refused(InputError, "line 2: 2 delays for 1 word", read_log, some, "word")
    place = str(write_log([{"prediction": "it", "delays": [1]}], tmp_path / "words"))
    refused(InputError, "no prediction_spm", read_log, place, "spm")
    refused(InputError, "no prediction_spm", read_log, str(write_log(streamed(), tmp_path / "stream")), "spm")


def test_text_without_blanks_has_delays_of_characters(tmp_path):
    steps = [TWO_OF_ONE_NAME[0], step_of(0, 1, "\u2581整天"), step_of(0, 3, "下雨")]
    place = str(write_log(steps, tmp_path / "log"))
    with pytest.warns(UserWarning, match="delays are of characters; of words by unit='word'"):
        log = read_log(place)
    assert (log.unit, log.emissions[0].delays.tolist()) == ("char", [1000, 1000, 3000, 3000])
    assert read_log(place, "word").emissions[0].delays.tolist() == [3000]


def test_documents_are_cut_by_their_numbers(tmp_path):
    entries = [{"prediction": text, "delays": [*range(1, 1 + len(text.split()))]} for text in ("a b c d", "a b")]
    (tmp_path / "texts").write_text("a b c d\na b\n", encoding="utf-8")
    (tmp_path / "r.txt").write_text("a b\na x\nc d\n", encoding="utf-8")
    (tmp_path / "seg.txt").write_text("docid=0,segid=0\n\ndocid=1,segid=0\n \ndocid=0,segid=1\n\n", encoding="utf-8")
    files = {"references": [str(tmp_path / "r.txt")], "segmentation": str(tmp_path / "seg.txt")}
    corpus = read_logs(logs_of(tmp_path, {"A": entries}), **files)
    texts = read_logs({"A": str(tmp_path / "texts")}, **files, texts=True)
    assert corpus.candidates == texts.candidates == {"A": ["a b", "a b", "c d"]}
    assert (texts.logs, corpus.logs["A"].emissions[2].delays.tolist()) == ({}, [3, 4])
    refused(InputError, "no source_length", softbleu.score_corpus, corpus, "laal")
    refused(InputError, "no recording '1'", read_logs, logs_of(tmp_path, {"A": entries[:1]}), **files)
    refused(InputError, "recording '2' has no segments", read_logs, logs_of(tmp_path, {"A": entries * 2}), **files)


@given(st.lists(st.text("ab ", max_size=6), max_size=6))
def test_parts_of_an_output_have_their_words_and_characters(texts):
    whole = "".join(texts)
    for unit, count in (("word", len(whole.split())), ("char", len(whole))):
        delays = np.arange(count, dtype=np.float64)
        parts = Emission(whole, delays).cut(texts, unit)
        dense = [time for time, character in zip(delays, whole, strict=False) if unit == "word" or character != " "]
        for text, part in zip(texts, parts, strict=True):
            assert len(part.delays) == (len(text.split()) if unit == "word" else len(text.replace(" ", "")))
        if unit == "char":
            assert np.concatenate([[], *(part.delays for part in parts)]).tolist() == dense
        else:
            assert {*np.concatenate([[], *(part.delays for part in parts)])} == {*dense}


def test_segmentations_in_yaml_and_json_are_the_same(tmp_path):
    _, segments, _ = recordings()
    spans = []
    flow = "".join(
        f"- {{wav: 'a/b/{s['wav']}', offset: {s['offset']}, duration: {s['duration']}}}\n" for s in segments
    )
    block = "---\n# by hand\n" + "".join(
        f'- duration: {s["duration"]}\n  offset: {s["offset"]}\n  wav: "{s["wav"]}"\n' for s in segments
    )
    for name, text in (("a.yaml", flow), ("b.yaml", block), ("c.json", json.dumps(segments))):
        (tmp_path / name).write_text(text, encoding="utf-8")
        spans.append(read_segmentation(str(tmp_path / name)))
    assert spans[0] == spans[1] == spans[2]
    assert spans[0][0] == SpokenSegment("talk_1", 1000 * segments[0]["offset"], 1000 * segments[0]["duration"])


def test_recordings_are_cut_with_their_times(tmp_path):
    entries, segments, references = recordings()
    log = read_log(str(write_log(entries, tmp_path / "log")))
    spans = [SpokenSegment(s["wav"][:-4], 1000 * s["offset"], 1000 * s["duration"]) for s in segments]
    cut = cut_recordings(log, spans, [[text] for text in references])
    for recording, whole in zip(("talk_1", "talk_2"), entries, strict=True):
        parts = [(span, part) for span, part in zip(spans, cut.emissions, strict=True) if span.recording == recording]
        assert " ".join(" ".join(part.text for _, part in parts).split()) == whole["prediction"]
        np.testing.assert_allclose(
            np.concatenate([part.delays + span.offset for span, part in parts]), whole["delays"]
        )
        assert all(part.source_length == span.duration for span, part in parts)
        assert max(part.recording_end + span.offset for span, part in parts) == max(
            s.offset + s.duration for s, _ in parts
        )


def test_recordings_without_their_segments_are_refused():
    log = Log("x.log", [Emission("a cat", np.array([1.0, 2.0]), source="talk.wav")])
    span = SpokenSegment("talk", 0, 1000)
    refused(InputError, "1 segment of recordings but references for 0", cut_recordings, log, [span], [])
    refused(InputError, "x.log: no recording 'b'", cut_recordings, log, [SpokenSegment("b", 0, 1)], [["a"]])
    other = Log("x.log", [*log.emissions, Emission("", np.zeros(0), source="b.wav", where="x.log, line 2")])
    refused(InputError, "line 2: recording 'b' has no segments", cut_recordings, other, [span], [["a"]])
    twice = Log("x.log", [*log.emissions, *log.emissions])
    refused(InputError, "recording 'talk' is there twice", cut_recordings, twice, [span], [["a"]])


def logs_of(folder, entries):
    """Write a log of each system, and say where."""
    return {system: str(write_log(listed, folder / f"{system}.log")) for system, listed in entries.items()}


def test_corpus_of_logs_has_their_texts_references_and_sources(tmp_path):
    entries = text_log()[:3]
    corpus = read_logs(logs_of(tmp_path, {"A": entries, "B": entries[::-1]}))
    assert corpus.candidates["A"] == corpus.candidates["B"] == [entry["prediction"] for entry in entries]
    assert corpus.references == [(entry["reference"],) for entry in entries]
    assert corpus.source == [entry["source"] for entry in entries]
    assert read_logs(logs_of(tmp_path, {"A": speech_log()[:3]})).source is None
    (tmp_path / "r.txt").write_text("one\ntwo\nthree\n", encoding="utf-8")
    assert read_logs(logs_of(tmp_path, {"A": entries}), [str(tmp_path / "r.txt")]).references == [
        ("one",),
        ("two",),
        ("three",),
    ]


def test_corpus_of_recordings_has_segments_and_names_of_documents(tmp_path):
    entries, segments, references = recordings()
    (tmp_path / "r.txt").write_text("\n".join(references) + "\n", encoding="utf-8")
    (tmp_path / "segments.json").write_text(json.dumps(segments), encoding="utf-8")
    files = {"references": [str(tmp_path / "r.txt")], "segmentation": str(tmp_path / "segments.json")}
    corpus = read_logs(logs_of(tmp_path, {"A": entries}), **files)
    assert corpus.references == [(text,) for text in references]
    assert corpus.resegmented
    assert list(corpus.documents.names) == ["talk_1", "talk_2"]
    refused(
        InputError,
        "recordings are cut by references",
        read_logs,
        logs_of(tmp_path, {"A": entries}),
        **files | {"references": []},
    )


def test_logs_that_do_not_fit_together_are_refused(tmp_path):
    entries = text_log()[:3]
    others = [dict(entry) for entry in entries]
    others[1]["reference"] = "another"
    some = {"A": entries, "B": others}
    refused(InputError, "B.log, line 2: another reference than .*A.log, line 2", read_logs, logs_of(tmp_path, some))
    others[1]["reference"] = ""
    refused(InputError, "B.log, line 2: another reference", read_logs, logs_of(tmp_path, some))
    refused(InputError, "line 2: no reference, though others", read_logs, logs_of(tmp_path, {"B": others}))
    some = {"A": entries, "B": entries[:2]}
    refused(InputError, "A.log has 3 segments, .*B.log has 2 segments", read_logs, logs_of(tmp_path, some))
    by_character = {"prediction": "ab c", "delays": [1, 2, 3]}
    some = {"A": [{"prediction": "ab c", "delays": [1, 2]}], "B": [by_character]}
    refused(
        InputError, "A.log has a delay per word, .*B.log has a delay per char", read_logs, logs_of(tmp_path, some)
    )
    (tmp_path / "r.txt").write_text("one\n", encoding="utf-8")
    refused(
        InputError,
        "references for 1 segment, .* has 3",
        read_logs,
        logs_of(tmp_path, {"A": entries}),
        [str(tmp_path / "r.txt")],
    )
    refused(InputError, "logs are files by the names of systems, .* not {}", read_logs, {})
    refused(InputError, "logs are files by the names of systems, .* not 'A.log'", read_logs, "A.log")


def test_logs_of_speech_beside_logs_of_text_are_warned_of(tmp_path):
    entry = {"index": 0, "prediction": "it rained", "source": ["es regnete"], "reference": "it rained"}
    text = {**entry, "delays": [1, 2], "source_length": 2}
    speech = {**entry, "delays": [850.0, 1700.0], "source_length": 1700.0}
    with pytest.warns(UserWarning, match="sources of different lengths"):
        read_logs(logs_of(tmp_path, {"A": [text], "B": [speech]}))


def test_moments_show_what_was_given_before_them(tmp_path):
    entries = speech_log()[:30]
    corpus = read_logs(logs_of(tmp_path, {"A": entries}))
    cut = at_moments(corpus, [0, 2000, 1e9])
    assert cut.systems == ("A@0", "A@2000", "A@1e+09", "A")
    assert at_moments(corpus, ["2s", 0, "1e9"]).candidates == cut.candidates
    assert cut.candidates["A@0"] == [""] * 30
    assert cut.candidates["A@1e+09"] == cut.candidates["A"] == corpus.candidates["A"]
    for text, entry in zip(cut.candidates["A@2000"], entries, strict=True):
        count = sum(delay <= 2000 for delay in entry["delays"])
        assert text == " ".join(entry["prediction"].split()[:count])


@pytest.mark.parametrize("delays", [[1, 2, 3], [1, 1, 2, 3]])
def test_moments_count_characters_with_or_without_blanks(delays):
    emission = Emission("a bc", np.array(delays, np.float64))
    assert [emission.until(moment, "char").text for moment in range(4)] == ["", "a", "a b", "a bc"]


def test_each_delay_is_a_moment_unless_there_are_too_many():
    def corpus_of(count):
        delays = np.arange(-1.0, count)
        log = Log("x.log", [Emission("a " * len(delays), delays)])
        return Segments({"A": [""]}, [()], logs={"A": log})

    assert read_moments(["2s", "each", "1"], corpus_of(3)) == [0, 1, 2, 2000]
    refused(InputError, "301 delays are too many moments", read_moments, ["each"], corpus_of(300))
