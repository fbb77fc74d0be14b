"""Scores metrics that threads and processes share for a while: the same digits at every call, and flat memory.

``just soak MINUTES`` runs it. What is right was computed beforehand by one thread. Eight threads, two forked and two
spawned processes then score lines and corpora drawn at random, while what is kept is thrown away now and then, and
while they fork processes that score one of these.
"""

import faulthandler
import functools
import gc
import multiprocessing
import os
import pickle
import random
import resource
import signal
import sys
import tempfile
import time
import traceback
import warnings
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from adversarial.samples import make
from meteor_data import EXCEPTIONS, PARAPHRASES, SYNSETS

from softbleu.corpora import read_m2
from softbleu.embeddings import vectors
from softbleu.encoders import kept, opened
from softbleu.errors import SoftbleuWarning
from softbleu.metrics import refless
from softbleu.metrics.reading import read_metric

warnings.simplefilter("ignore", SoftbleuWarning)  # The words are drawn at random: no language
METRICS = """
bleu|chrf|ter|gleu|green|imeasure|cleme|m2|hyter|vleu(vectors=v.txt)|vleu(vectors=st)|softbleu(vectors=v.txt)
xleu(assignment=optimal, vectors=v.txt)|meteor(meteor_data=met)|bertscore(vectors=enc)|uot(vectors=enc)
trained(head=head.json)|refless(language_model=m.arpa, coefficients=weights.json)
"""
THREADS, PROCESSES = 8, 2
LINES, CORPORA, EACH = 60, 5, 12
GROWTH, LONG = 1.05, 5
"""What is resident at the end, by what was after a quarter of the time; minutes after which all is warm by then."""
FORGOTTEN = 200  # One call of so many throws away what functions have kept
FORKED, PATIENCE = 500, 100
"""One call of so many is made by a process forked for it; seconds after which that counts as hung."""
CACHES: list[Any] = []
INHERITED: list[Any] = []  # Metrics that forked processes have of their parent


def write_texts(folder: Path) -> None:
    """Lines of words that have endings, synonyms and paraphrases, and an edit of each."""
    draw = random.Random(1)
    words = [*SYNSETS, *EXCEPTIONS, *" ".join(" ".join(pair) for pair in PARAPHRASES).split()]
    words += [word + ending for word in words for ending in ("s", "ed", "ing", "ly", "iness")]
    for name in ("candidates", "references", "sources"):
        lines = [" ".join(draw.choices(words, k=draw.randrange(1, 15))) for _ in range(LINES)]
        (folder / name).write_text("".join(f"{line}\n" for line in lines))
    edit = "A 0 1|||R|||small cat|||REQUIRED|||-NONE-|||0"
    (folder / "gold").write_text("".join(f"S {line}\n{edit}\n\n" for line in lines))


class Work:
    """Texts and how they are scored: by metrics that all threads share."""

    def __init__(self, metrics: Sequence[Any]) -> None:
        self.metrics = metrics
        self.texts = [Path(name).read_text().splitlines() for name in ("candidates", "references", "sources")]
        self.gold = read_m2("gold")

    def call(self, call: tuple[int, int]) -> str:
        """A line, or from LINES on a corpus of some, in all digits."""
        metric, place = self.metrics[call[0]], call[1]
        if metric.requires.gold:
            place = LINES + place % CORPORA
        if place < LINES:
            return repr(metric.sentence_score(*(lines[place] for lines in self.texts)))
        some = slice((place - LINES) * EACH, (place - LINES + 1) * EACH)
        edits = {"gold": self.gold[some]} if metric.requires.gold else {}
        return repr(metric.corpus_score(*(lines[some] for lines in self.texts[: 1 if edits else 3]), **edits))

    def attempt(self, call: tuple[int, int]) -> str:
        """All digits, or the error."""
        try:
            return self.call(call)
        except Exception:
            return traceback.format_exc()

    def fork(self, call: tuple[int, int], right: str) -> str:
        """What is right, where a forked process finds it."""
        if not (process := os.fork()):
            faulthandler.dump_traceback_later(PATIENCE - 5)
            os._exit(self.attempt(call) != right)
        for _ in range(10 * PATIENCE):
            if (ended := os.waitpid(process, os.WNOHANG))[0]:
                return right if ended[1] == 0 else f"a forked process ended by {ended[1]}"
            time.sleep(0.1)
        os.kill(process, signal.SIGKILL)
        os.waitpid(process, 0)
        return "a forked process that hung"

    def go_on(
        self, right: dict[tuple[int, int], str], seconds: float, seed: int
    ) -> tuple[int, list[str], list[float]]:
        """Calls made, what was wrong, and megabytes resident now and then."""
        draw, calls, wrong, sizes = random.Random(seed), list(right), [], []
        made, end = 0, time.monotonic() + seconds
        while (now := time.monotonic()) < end and len(wrong) < 10:
            call = draw.choice(calls)
            if draw.randrange(FORGOTTEN) == 0:
                for each in CACHES:
                    each.cache_clear()
            found = self.fork(call, right[call]) if draw.randrange(FORKED) == 0 else self.attempt(call)
            if found != right[call]:
                wrong.append(f"{self.metrics[call[0]]}, {call[1]}: {found} in place of {right[call]}")
            made += 1
            if now > end - seconds * (1 - len(sizes) / 20):
                sizes.append(int(Path("/proc/self/statm").read_text().split()[1]) * resource.getpagesize() / 1e6)
        return made, wrong, sizes


def shorten() -> None:
    """Keep little, lest nothing is ever thrown away, but what takes long to load; let threads take turns often."""
    # Looked for only here: while other threads work, it would break what they make.
    for each in gc.get_objects():
        if isinstance(each, functools._lru_cache_wrapper) and each.__module__.startswith("softbleu"):
            CACHES.extend([each] * ((each.cache_parameters()["maxsize"] or 0) >= 64))
    sys.setswitchinterval(1e-5)
    vectors._MOST, vectors.LOOKUP_FROM, refless._MOST_LINES, kept._MOST, opened._MOST_OPEN = 4, 1, 8, 4096, 1


def alone(folder: str, metrics: bytes, right: dict[tuple[int, int], str], seconds: float, seed: int) -> Any:
    """Go on in a process of its own."""
    os.chdir(folder)
    shorten()
    return Work(pickle.loads(metrics) if metrics else INHERITED).go_on(right, seconds, seed)


def main(minutes: float) -> int:
    """Make the calls; print their number, what was wrong and how memory grew."""
    folder = tempfile.mkdtemp(prefix="softbleu-soak-")
    os.chdir(folder)
    os.environ["SOFTBLEU_CACHE"] = f"{folder}/cache"
    make(Path())
    write_texts(Path())
    INHERITED.extend(read_metric(each) for each in METRICS.strip().replace("\n", "|").split("|"))
    work = Work(INHERITED)
    calls = [(metric, place) for metric in range(len(INHERITED)) for place in range(LINES + CORPORA)]
    right = {call: work.call(call) for call in calls}
    shorten()
    shared, seconds, running = pickle.dumps(INHERITED), 60 * minutes, {}
    with ExitStack() as stack:
        for way in ("fork", "spawn"):
            pool = stack.enter_context(ProcessPoolExecutor(PROCESSES, multiprocessing.get_context(way)))
            for seed in range(PROCESSES):
                given = b"" if way == "fork" else shared
                running[f"{way} {seed}"] = pool.submit(alone, folder, given, right, seconds, seed)
        threads, fresh = stack.enter_context(ThreadPoolExecutor(THREADS)), Work(pickle.loads(shared))
        for seed in range(THREADS):
            running[f"thread {seed}"] = threads.submit(fresh.go_on, right, seconds, 9 + seed)
    faults, grown = 0, 0
    for name, each in running.items():
        made, wrong, sizes = each.result()
        warm, end = sizes[len(sizes) // 4], sizes[-1]
        faults, grown = faults + len(wrong), grown + (end > GROWTH * warm)
        sys.stdout.write(f"{name}: {made:,} calls, {warm:.0f} MB warm, {end:.0f} MB at the end\n")
        sys.stdout.writelines(f"  {each}\n" for each in wrong)
    sys.stdout.write(f"{grown} have grown\n{faults} wrong\n")
    return bool(faults or (grown and minutes > LONG))


if __name__ == "__main__":
    sys.exit(main(float(sys.argv[1])))
