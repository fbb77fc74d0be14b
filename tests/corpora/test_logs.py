"""Logs of simultaneous translation: what readers take of them, beside what simulstream takes."""

import json
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from made_up_logs import recordings, speech_log, streamed, text_log, write_log
from refusing import refused

from softbleu.corpora.logs import Emission, Log, SpokenSegment, cut_recordings, read_log, read_segmentation
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
        assert emission.source == name
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


def test_characters_have_a_delay_each_with_or_without_blanks(tmp_path):
    for delays in ([1, 2, 3], [1, 1, 2, 3]):
        place = write_log([{"prediction": "a bc", "delays": delays}], tmp_path / "log")
        assert read_log(str(place), "char").emissions[0].delays.tolist() == delays


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
