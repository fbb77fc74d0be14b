"""What threads share: whatever another one throws away or has not finished meanwhile, all get what is theirs."""

import os
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from made_up_encoder import MadeUpEncoder
from threadpoolctl import threadpool_info

from softbleu.embeddings.memory import KeptVectors
from softbleu.encoders.kept import EncodedLines
from softbleu.io.executors import single_threaded_blas
from softbleu.language import DEFAULT_LANGUAGE, ModelChoice, locate, open_language
from softbleu.thesaurus.stems import stem_of

WORDS = [
    word + ending for word in ("relation", "geologist", "hope", "run") for ending in ("", "s", "al", "ness")
] * 30


def test_stems() -> None:
    find = partial(stem_of.__wrapped__, algorithm="english")
    expected = [find(word) for word in WORDS]
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        with ThreadPoolExecutor(4) as threads:
            found = list(threads.map(lambda _: [find(word) for word in WORDS], range(4)))
    finally:
        sys.setswitchinterval(interval)
    assert found == [expected] * 4


def test_vectors_that_another_thread_lets_go(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("softbleu.embeddings.memory._MOST", 1)
    find, found = KeptVectors._row, []

    def meanwhile(vectors: KeptVectors, *given: Any) -> Any:
        if not found:
            found.append(True)
            vectors.select(["c", "d"])
            vectors.select(["e"])
        return find(vectors, *given)

    def select(words: Sequence[str], case: str) -> Any:
        return SimpleNamespace(rows=np.array([[ord(word)] for word in words], np.float32))

    monkeypatch.setattr(KeptVectors, "_row", meanwhile)
    kept = KeptVectors(SimpleNamespace(dimension=1, name="", fingerprint="", select=select), "fallback")  # type: ignore[arg-type]
    assert kept.select(["a", "b"]).rows.tolist() == [[97], [98]]
    assert found


def test_encoded_lines_that_another_thread_lets_go(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("softbleu.encoders.kept._MOST", 30)  # Bytes: a line has 24
    monkeypatch.setenv("SOFTBLEU_CACHE_LIMIT", "0")
    monkeypatch.setenv("SOFTBLEU_CACHE", str(tmp_path))
    encoder = MadeUpEncoder()
    kept = EncodedLines(encoder, (2,))
    expected = EncodedLines(encoder, (2,)).rows([["a"], ["b"]])[1]
    kept.rows([["a"]])
    encode, done = encoder.encode, []

    def meanwhile(*given: Any) -> Any:
        if not done:
            done.append(True)
            kept.rows([["c"]])
            kept.rows([["d"]])
        return encode(*given)

    monkeypatch.setattr(encoder, "encode", meanwhile)
    assert kept.rows([["a"], ["b"]])[1].tolist() == expected.tolist()
    assert done


def test_a_language_model_that_all_threads_open(monkeypatch: pytest.MonkeyPatch) -> None:
    opened: list[Any] = []
    monkeypatch.setattr(locate, "LanguageSet", lambda *given: opened.append(given) or time.sleep(0.05))
    locate._open_language.cache_clear()
    try:
        with ThreadPoolExecutor(4) as threads:
            list(threads.map(lambda _: open_language(ModelChoice.of(DEFAULT_LANGUAGE)), range(4)))
    finally:
        locate._open_language.cache_clear()
    assert len(opened) == 1


def test_one_core_until_the_last_thread_has_left() -> None:
    import faiss  # Its OpenBLAS has a limit for each thread; that of NumPy is shared

    def cores(layer: str) -> set[int]:
        return {library["num_threads"] for library in threadpool_info() if library.get("threading_layer") == layer}

    def here(function: Callable[..., Any], *arguments: str) -> Future[Any]:
        done: Future[Any] = Future()
        done.set_result(function(*arguments))
        return done

    assert faiss
    with ThreadPoolExecutor(1) as thread, ExitStack() as one, ExitStack() as other:
        before = cores("pthreads"), cores("openmp"), thread.submit(cores, "openmp").result()
        for first, last in ((one, other), (other, one)):
            one.enter_context(single_threaded_blas())
            thread.submit(other.enter_context, single_threaded_blas()).result()
            for stack in (first, last):
                assert cores("pthreads") == {1}
                run = here if stack is one else thread.submit
                assert run(cores, "openmp").result() <= {1}
                run(stack.close).result()
            assert (cores("pthreads"), cores("openmp"), thread.submit(cores, "openmp").result()) == before
        # In one thread, too, those that came first may leave first, as generators do.
        one.enter_context(single_threaded_blas())
        other.enter_context(single_threaded_blas())
        one.close()
        assert cores("pthreads") | cores("openmp") == {1}
        other.close()
        assert (cores("pthreads"), cores("openmp")) == before[:2]


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="forked processes, and /proc")
def test_all_metrics_for_some_seconds() -> None:
    program = Path(__file__).parent / "adversarial" / "soak.py"
    done = subprocess.run([sys.executable, program, "0.08"], capture_output=True, text=True, check=False)
    assert (done.stderr, done.stdout.count(" calls, "), done.stdout.splitlines()[-1]) == ("", 12, "0 wrong")


FORKS = """
import os, threading, time
from softbleu.metrics.base import make_metric

metrics = [make_metric("vleu"), make_metric("bertscore")]

def score(lines):
    for line in lines:
        for metric in metrics:
            metric.sentence_score(f"the cat sat on a mat {line}", "a cat sat on the rug")

score([0])
for first in (1, 10_000):
    threading.Thread(target=score, args=(range(first, first + 9_000),), daemon=True).start()
children = []
for number in range(20):
    time.sleep(.05)
    if not (process := os.fork()):
        score([-number])
        os._exit(0)
    children.append(process)
end = time.monotonic() + 30
while children and time.monotonic() < end:
    time.sleep(.02)
    children = [process for process in children if os.waitpid(process, os.WNOHANG) != (process, 0)]
for process in children:
    os.kill(process, 9)
os._exit(len(children))
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs processes that fork")
def test_processes_forked_while_threads_score(tmp_path: Path) -> None:
    environment = {**os.environ, "SOFTBLEU_CACHE": str(tmp_path)}
    assert subprocess.run([sys.executable, "-c", FORKS], env=environment, timeout=60, check=False).returncode == 0
