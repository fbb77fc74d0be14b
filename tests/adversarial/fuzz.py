"""Fuzzing by coverage: readers on files that atheris makes of the samples, and the parsers of what people type.

``just fuzz MINUTES`` runs it; pytest does not. Each target gets the same share of the time, in a child of one process
that has loaded the program. What was mishandled is kept, in the folders that are named; with ``SOFTBLEU_FUZZ``, the
name of a folder, also the inputs that reach new code, from which the next run starts.
"""

import contextlib
import gzip
import hashlib
import io
import os
import pkgutil
import random
import re
import shutil
import sys
import tempfile
import time
import traceback
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from importlib import import_module
from pathlib import Path

import atheris

from softbleu.metrics.reading import read_metric, read_settings
from softbleu.metrics.signatures import metric_from_signature

TESTS = Path(__file__).resolve().parents[1]
SECONDS = 60  # Of one input; more is a hang
PACKED = b"\x1f\x8b"


sys.path.insert(0, str(TESTS))
# Compiled functions are not Python's own.
COMPILED = [f"softbleu.kernels.numba_{part}" for part in ("backend", "matching", "ngrams", "soft", "words")]
# It names each module.
with contextlib.redirect_stderr(io.StringIO()), atheris.instrument_imports(include=["softbleu"], exclude=COMPILED):
    for module in pkgutil.walk_packages(import_module("softbleu").__path__, "softbleu."):
        if not module.name.endswith("__main__"):
            with contextlib.suppress(ImportError):
                import_module(module.name)
    from adversarial.damage import damaged
    from adversarial.samples import READERS, Reader, copy, make, mishandled
    from cli.conftest import Run

    from softbleu.cli import app
    from softbleu.encoders.opened import _OPEN
    from softbleu.errors import SoftbleuError
    from softbleu.meta.experiments import Definition
    from softbleu.meta.sweep import read_thresholds, read_variations


@dataclass(frozen=True)
class Target:
    """What is tried: it gives what is wrong, if anything, or raises what only faults do."""

    name: str
    seeds: list[bytes]
    attempt: Callable[[bytes], str | None]


def reading(reader: Reader) -> Target:
    """A command that reads a file, made once, in a folder that has the samples."""
    target = next(Path().glob(reader.damaged))
    before, whole = set(Path().rglob("*")), target.read_bytes()
    unpacked = [gzip.decompress(whole)] if whole.startswith(PACKED) else []
    arguments = [*reader.arguments, "-q"]

    def attempt(content: bytes) -> str | None:
        target.write_bytes(gzip.compress(content) if unpacked and not content.startswith(PACKED) else content)
        _OPEN.clear()
        done = command(arguments)
        for path in sorted(set(Path().rglob("*")) - before, reverse=True):
            path.rmdir() if path.is_dir() else path.unlink()
        return mishandled(done)

    return Target(str(reader), [whole, *unpacked], attempt)


def command(arguments: list[str]) -> Run:
    out, err = (io.TextIOWrapper(io.BytesIO(), "utf-8", newline="", write_through=True) for _ in range(2))
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        code = app.run(arguments)
    return Run(code, *(stream.buffer.getvalue().decode() for stream in (out, err)))


def parsing(name: str, parse: Callable[[str], object], *seeds: str) -> Target:
    """A parser of text, which raises errors of softbleu only."""

    def attempt(content: bytes) -> None:
        with contextlib.suppress(SoftbleuError):
            parse(content.decode("utf-8", "surrogateescape"))

    return Target(name, [seed.encode() for seed in seeds], attempt)


def define(text: str) -> None:
    """Read a definition, and ask for all that it says."""
    path = Path("fuzzed.toml")
    path.write_text(text, encoding="utf-8", errors="surrogateescape")
    definition = Definition.read(path)
    for ask in (definition.settings, definition.variants, definition.metrics, definition.data, definition.inputs):
        with contextlib.suppress(SoftbleuError):
            ask()


PARSERS: dict[str, tuple[Callable[[str], object], list[str]]] = {
    "expressions": (
        lambda text: read_metric(read_settings(text)[0], **read_settings(text)[1]),
        ["bleu(matcher=vleu(threshold=0.8), order = 3)", 'gleu(variant="gleu0", weight=1)', "softbleu(beta=2.5)"],
    ),
    "signatures": (metric_from_signature, ["metric:bleu|matcher:vleu|threshold:p99.9|idf:a%7Cb.txt#0|version:0.1.0"]),
    "thresholds": (lambda text: read_thresholds([text]), ["0:0.3:0.1", "0.75,p99.9"]),
    "variations": (lambda text: read_variations([text]), ["order=2,4", 'vectors-postprocess=none,"mean,pc:2"']),
    "definitions": (define, [path.read_text("utf-8") for path in sorted(TESTS.parent.glob("experiments/*/*.toml"))]),
}


def targets(wanted: str) -> dict[str, Callable[[], Target]]:
    """What is tried, by name, where a pattern is found; each is made where it runs."""
    every = {name: partial(parsing, name, parse, *seeds) for name, (parse, seeds) in PARSERS.items()}
    every |= {str(reader): partial(reading, reader) for reader in READERS}
    return {name: make_target for name, make_target in every.items() if re.search(wanted, name)}


def digest(text: str) -> str:
    """A name for it."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:12]


def mutated(content: bytes, longest: int, seed: int) -> bytes:
    """As accidents and enemies do it, or as libFuzzer does."""
    draw = random.Random(seed)
    return damaged(content or b"\n", draw)[:longest] if draw.random() < 0.5 else atheris.Mutate(content, longest)


def fuzz(make_target: Callable[[], Target], seconds: float, folder: Path) -> None:
    """Try inputs in this process, which ends with it; what is mishandled goes to the folder, each kind once."""
    work, corpus = folder / "work", folder / "corpus"
    for kept in (work, folder / "cache"):
        shutil.rmtree(kept, ignore_errors=True)
    corpus.mkdir(exist_ok=True)
    copy(folder.parent / "samples", work)
    os.chdir(work)
    os.environ["SOFTBLEU_CACHE"] = str(folder / "cache")
    target = make_target()
    for number, seed in enumerate(target.seeds):
        (corpus / str(number)).write_bytes(seed)
    seen: set[str] = set()
    tried, end = 0, time.process_time() + seconds

    def attempt(content: bytes) -> None:
        nonlocal tried
        if time.process_time() > end:
            (folder / "tried").write_text(str(tried))
            os._exit(0)
        tried += 1
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("error")
                said = target.attempt(content)
        except Exception:
            said = traceback.format_exc()
        # Where it was raised, or what is wrong.
        kind = "".join(re.findall(r'File ".*', said or "")) or said or ""
        if said and kind not in seen:
            seen.add(kind)
            fault = folder / f"fault-{digest(kind)}"
            fault.write_bytes(content)
            fault.with_suffix(".txt").write_text(f"{target.name}: {said}", errors="backslashreplace")

    log = os.open(folder / "log", os.O_WRONLY | os.O_CREAT)
    for stream in (1, 2):
        os.dup2(log, stream)
    longest = max(4096, 4 * max(map(len, target.seeds)))
    bounds = [f"-timeout={SECONDS}", f"-report_slow_units={SECONDS}", "-rss_limit_mb=4096", f"-max_len={longest}"]
    atheris.Setup(
        [sys.argv[0], *bounds, f"-artifact_prefix={folder}/fault-", str(corpus)], attempt, custom_mutator=mutated
    )
    atheris.Fuzz()


def main() -> None:
    """Try all targets, or those whose names have a pattern, for so many minutes of CPU time together."""
    minutes, wanted = float(sys.argv[1]), " ".join(sys.argv[2:])
    chosen = targets(wanted)
    place = Path(os.environ.get("SOFTBLEU_FUZZ") or tempfile.mkdtemp(prefix="softbleu-fuzz-")).resolve()
    shutil.rmtree(place / "samples", ignore_errors=True)
    (place / "samples").mkdir(parents=True)
    make(place / "samples")
    faults, inputs, cpu = 0, 0, 0.0
    for name, make_target in chosen.items():
        folder = place / digest(name)
        folder.mkdir(exist_ok=True)
        (ended := folder / "tried").unlink(missing_ok=True)
        begun = time.time()
        if not (child := os.fork()):
            fuzz(make_target, 60 * minutes / len(chosen), folder)
        used = os.wait4(child, 0)[2]
        cpu += used.ru_utime + used.ru_stime
        tried = int(ended.read_text()) if ended.exists() else 0
        inputs += tried
        # Those of an earlier run lie there, too.
        found = [path for path in folder.glob("fault-*") if path.suffix != ".txt" and path.stat().st_mtime >= begun]
        faults += len(found) or not tried
        sys.stdout.write(f"{tried:8,} inputs, {len(found)} mishandled, in {folder.name}: {name}\n")
        sys.stdout.flush()
    sys.stdout.write(
        f"{len(chosen)} targets, {inputs:,} inputs, {cpu:.0f} s of CPU time, {faults} faults, in {place}\n"
    )
    sys.exit(bool(faults))


if __name__ == "__main__":
    main()
