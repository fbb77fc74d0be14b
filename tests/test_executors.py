"""Worker processes: as many as there is work for, and none that outlives who started it."""

import os
import signal
import struct
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from concurrent.futures import BrokenExecutor, ProcessPoolExecutor, ThreadPoolExecutor
from pathlib import Path

import pytest

from softbleu.errors import InputError, WorkerError
from softbleu.io.arguments import MOST_JOBS
from softbleu.io.executors import chosen_executor, count_workers, run_in_order

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


@pytest.mark.parametrize(("jobs", "tasks", "workers"), [(200, 3, 3), (2, 100, 2), (MOST_JOBS, 2, 2)])
@pytest.mark.parametrize("threads", [True, False])
def test_no_more_workers_than_tasks(jobs: int, tasks: int, workers: int, threads: bool) -> None:
    with chosen_executor(None, jobs, tasks, threads=threads) as executor:
        assert isinstance(executor, ThreadPoolExecutor if threads else ProcessPoolExecutor)
        assert count_workers(executor) == workers


@pytest.mark.parametrize("jobs", [0, -1, MOST_JOBS + 1, 10**26])
def test_numbers_of_jobs_have_bounds(jobs: int) -> None:
    # One task is done here.
    for few, tasks in ((1, 100), (200, 1), (200, 0)):
        with chosen_executor(None, few, tasks) as executor:
            assert executor is None
    with pytest.raises(InputError, match=f"from 1 to 1024, not {jobs}"), chosen_executor(None, jobs, 100):
        pass


def _kill(number: int) -> int:
    if number:
        os.kill(os.getpid(), signal.SIGKILL)
    return number


@posix
@pytest.mark.parametrize("tasks", [range(2), [1 << 10**7] * 8], ids=["small", "large, so one is half sent"])
def test_a_killed_worker_is_told_in_one_line(tasks: Sequence[int]) -> None:
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
