"""Latencies of simultaneous translation, beside those of SimulEval and OmniSTEval."""

import json
import math
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from made_up_logs import speech_log, text_log
from oracles import latency as oracle

from softbleu.metrics.latency import (
    average_lagging,
    average_proportion,
    differentiable_average_lagging,
    length_adaptive_average_lagging,
    yet_another_average_lagging,
)

GOLDEN = json.loads((Path(__file__).parent / "golden" / "latency.json").read_text(encoding="utf-8"))
LATENCIES = {
    "al": average_lagging,
    "laal": length_adaptive_average_lagging,
    "ap": average_proportion,
    "dal": differentiable_average_lagging,
    "yaal": yet_another_average_lagging,
}
CASES = [
    (kind, program, aware, name)
    for kind in ("text", "speech")
    for program, awareness in GOLDEN[kind].items()
    if program != "degeneracy"
    for aware, names in awareness.items()
    for name in names
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


@pytest.mark.parametrize("latency", LATENCIES.values())
def test_empty_outputs_have_no_latency(latency):
    assert math.isnan(latency([], 5.0, 3))
