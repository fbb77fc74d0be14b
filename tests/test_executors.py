"""Worker processes: as many as there is work for, and none that outlives who started it."""

import multiprocessing
import os
import signal
import struct
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from concurrent.futures import BrokenExecutor, Future, ProcessPoolExecutor, ThreadPoolExecutor
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from made_up_encoder import MadeUpEncoder
from refusing import refused
from threadpoolctl import threadpool_info

from softbleu.embeddings.vectors import KeptVectors
from softbleu.encoders.base import PlacedLine
from softbleu.encoders.kept import EncodedLines
from softbleu.errors import InputError, WorkerError
from softbleu.io.arguments import MOST_JOBS
from softbleu.io.executors import chosen_executor, run_in_order
from softbleu.io.platform import count_workers, single_threaded_blas
from softbleu.language import DEFAULT_LANGUAGE, ModelChoice, open_language, values
from softbleu.thesaurus.resources import stem_in

posix = pytest.mark.skipif(os.name == "nt", reason="signals")


def until(done: Callable[[], bool]) -> bool:
    """Whether it comes true within a time that only a fault exceeds."""
    end = time.monotonic() + 60
    while not done() and time.monotonic() < end:
        time.sleep(0.02)
    return done()


def is_gone(process: int) -> bool:
    """Whether a process has ended; if nobody waits for it, a zombie of it may stay."""
    try:
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] == "Z"
    except (FileNotFoundError, ProcessLookupError):
        return True


TASKS = [(200, 3, 3), (2, 100, 2), (MOST_JOBS, 2, 2), (1, 100, None), (200, 1, None), (200, 0, None)]


@pytest.mark.parametrize(("jobs", "tasks", "workers"), TASKS)
@pytest.mark.parametrize("threads", [True, False])
def test_no_more_workers_than_tasks(jobs: int, tasks: int, workers: int | None, threads: bool) -> None:
    """One task is done here, without any."""
    kind = ThreadPoolExecutor if threads else ProcessPoolExecutor
    with chosen_executor(None, jobs, tasks, threads=threads) as executor:
        assert isinstance(executor, kind if workers else type(None))
        assert workers == (executor and count_workers(executor))


@pytest.mark.parametrize("jobs", [0, -1, MOST_JOBS + 1, 10**26])
def test_numbers_of_jobs_have_bounds(jobs: int) -> None:
    refused(InputError, f"from 1 to 1024, not {jobs}", chosen_executor(None, jobs, 100).__enter__)


def _kill(number: int) -> int:
    if number:
        os.kill(os.getpid(), signal.SIGKILL)
    return number


@posix
@pytest.mark.parametrize("tasks", [range(2), [1 << 10**7] * 8], ids=["small", "large, so one is half sent"])
def test_a_killed_worker_is_an_error_of_one_line(tasks: Sequence[int]) -> None:
    with pytest.raises(WorkerError, match="run again with fewer jobs") as error, chosen_executor(None, 2, 2) as pool:
        list(run_in_order(_kill, tasks, pool))
    assert "\n" not in str(error.value)
    assert isinstance(error.value.__cause__, BrokenExecutor)


def _sleep(number: int) -> int:
    time.sleep(600)
    return number


@posix
def test_workers_end_at_an_interrupt() -> None:
    processes: list[int] = []

    def interrupted() -> None:
        with chosen_executor(None, 2, 2) as pool:
            assert isinstance(pool, ProcessPoolExecutor)
            for number in range(2):
                pool.submit(_sleep, number)
            processes.extend(pool._processes)
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        interrupted()
    assert len(processes) == 2
    assert until(lambda: all(map(is_gone, processes)))


def _kind_of_pool(jobs: int) -> str:
    with chosen_executor(None, jobs, 2) as pool:
        return type(pool).__name__


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="workers that are forked")
def test_a_daemonic_worker_starts_no_others() -> None:
    with multiprocessing.get_context("fork").Pool(1) as workers:
        assert workers.apply(_kind_of_pool, (2,)) == "NoneType"


UNGUARDED = """
import threading
from softbleu.io.executors import chosen_executor

def work():
    with chosen_executor(None, 2, 2) as pool:
        print(type(pool).__name__, pool and sum(pool.map(abs, range(3))), flush=True)

def main():
    thread = threading.Thread(target=work)
    thread.start()
    thread.join()

print("begins", flush=True)
"""


GUARD = "if __name__ == '__main__':"
ALONE, POOL = "NoneType None", "ProcessPoolExecutor 3"
SCRIPTS = [("main()", ALONE), (f"{GUARD}\n    pass\nmain()", ALONE), (f"{GUARD}\n    main()", POOL)]


@pytest.mark.parametrize(("end", "said"), [*SCRIPTS, ("<main()", ALONE)])
def test_a_script_without_a_guard_runs_once(end: str, said: str, tmp_path: Path) -> None:
    script, typed = tmp_path / "script.py", end.startswith("<")
    script.write_text(UNGUARDED + end.removeprefix("<"))
    with script.open() as lines:
        command = [sys.executable, *[str(script)] * (not typed)]
        done = subprocess.run(command, stdin=lines, capture_output=True, text=True, check=True)
    # Workers of a script that guards what it does run only what stands outside.
    assert (done.stdout.split("\n")[-2], done.stderr) == (said, "")
    assert done.stdout.count("begins") == 1 or said == POOL


PARENT = """
import os, time
from softbleu.io.executors import local_executor

def identity(number):
    time.sleep(0.2)
    return os.getpid()

if __name__ == "__main__":
    with local_executor(2, threads=False) as pool:
        print(*set(pool.map(identity, range(8))), flush=True)
        pool.submit(time.sleep, 600)
        time.sleep(600)
"""


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="/proc")
@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM])
def test_workers_end_with_their_parent(number: signal.Signals, tmp_path: Path) -> None:
    script = tmp_path / "parent.py"
    script.write_text(PARENT)
    with subprocess.Popen([sys.executable, str(script)], stdout=subprocess.PIPE, text=True) as parent:
        assert parent.stdout is not None
        workers = [int(text) for text in parent.stdout.readline().split()]
        assert workers
        assert not any(map(is_gone, workers))
        parent.send_signal(number)
        # Standard output comes to its end: no worker holds it.
        assert parent.stdout.read() == ""
    assert until(lambda: all(map(is_gone, workers)))


def _die_while_handing_over(number: int) -> int:
    """Be killed halfway through a result, which the parent and the other workers then wait for."""
    if number:
        frame = sys._getframe()
        while "result_queue" not in frame.f_locals:
            assert frame.f_back is not None
            frame = frame.f_back
        queue = frame.f_locals["result_queue"]
        queue._wlock.acquire()
        os.write(queue._writer.fileno(), struct.pack("!i", 1 << 20))
        os.kill(os.getpid(), signal.SIGKILL)
    return number


@posix
def test_a_worker_killed_while_it_hands_over_holds_up_nobody(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("softbleu.io.executors.LOST_AFTER", 0.1)
    with pytest.raises(WorkerError, match="ended before its work was done"), chosen_executor(None, 2, 2) as pool:
        list(run_in_order(_die_while_handing_over, range(8), pool))


# What threads share: whatever another one throws away or has not finished meanwhile, all get what is theirs.


WORDS = [word + end for word in ("relation", "geologist", "hope", "run") for end in ("", "s", "al", "ness")] * 30


def test_stems_of_threads_are_those_of_one() -> None:
    find = partial(stem_in.__wrapped__, language="en")
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
    monkeypatch.setattr("softbleu.embeddings.vectors._MOST", 1)
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
    source: Any = SimpleNamespace(dimension=1, name="", fingerprint="", select=select, head=None)
    kept = KeptVectors(source, "fallback")
    assert kept.select(["a", "b"]).rows.tolist() == [[97], [98]]
    assert found


def test_encoded_lines_that_another_thread_lets_go(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("softbleu.encoders.kept._MOST", 30)  # Bytes: a line has 24
    monkeypatch.setenv("SOFTBLEU_CACHE_LIMIT", "0")
    monkeypatch.setenv("SOFTBLEU_CACHE", str(tmp_path))
    encoder = MadeUpEncoder()
    kept = EncodedLines(encoder, (2,))
    one, two, three, four = (PlacedLine.of_words([word]) for word in "abcd")
    expected = EncodedLines(encoder, (2,)).rows([one, two])[1]
    kept.rows([one])
    encode, done = encoder.encode, []

    def meanwhile(*given: Any) -> Any:
        if not done:
            done.append(True)
            kept.rows([three])
            kept.rows([four])
        return encode(*given)

    monkeypatch.setattr(encoder, "encode", meanwhile)
    assert kept.rows([one, two])[1].tolist() == expected.tolist()
    assert done


def test_a_language_model_that_all_threads_open(monkeypatch: pytest.MonkeyPatch) -> None:
    opened: list[Any] = []
    monkeypatch.setattr(values, "LanguageSet", lambda *given: opened.append(given) or time.sleep(0.05))
    values._open_language.cache_clear()
    try:
        with ThreadPoolExecutor(4) as threads:
            list(threads.map(lambda _: open_language(ModelChoice.of(DEFAULT_LANGUAGE)), range(4)))
    finally:
        values._open_language.cache_clear()
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
    done = subprocess.run([sys.executable, program, "0.04"], capture_output=True, text=True, check=False)
    assert (done.stderr, done.stdout.count(" calls, "), done.stdout.splitlines()[-1]) == ("", 12, "0 wrong")


FORKS = """
import os, threading, time
from softbleu.metrics.reading import read_metric

metrics = [read_metric("vleu"), read_metric("bertscore")]

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


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs processes that fork")
def test_processes_forked_while_threads_score(tmp_path: Path) -> None:
    environment = {**os.environ, "SOFTBLEU_CACHE": str(tmp_path)}
    assert subprocess.run([sys.executable, "-c", FORKS], env=environment, timeout=60, check=False).returncode == 0
