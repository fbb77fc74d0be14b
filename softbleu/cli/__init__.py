"""The command line: commands, in a file each or by group; each parses, makes one library call and writes."""

from __future__ import annotations

import gc
import io
import os
import signal
import sys
from functools import partial


def _clean_up() -> None:
    # Nothing is written before the module is loaded.
    remove = getattr(sys.modules.get("softbleu.io.files"), "remove_unfinished", None)
    if remove is not None:
        remove()


def _end(process: int, number: int, _: object) -> None:
    """Clean up and exit at once, as an exception would be lost in a finalizer."""
    # A worker that is just being forked has all this, too.
    if os.getpid() == process:
        _clean_up()
    os._exit(128 + number)


def _not_lost(process: int, caught: sys.UnraisableHookArgs) -> None:
    """Exit on an interrupt that Python could not raise (for example in a finalizer)."""
    if issubclass(caught.exc_type, KeyboardInterrupt):
        _end(process, signal.SIGINT, None)
    sys.__unraisablehook__(caught)


def main() -> None:
    """Run the command line and leave with its exit code."""
    # Modules and input are many objects that stay. Python looks through them after every 700 new ones, which takes a
    # tenth of a start, and a third of some reading. Until a command is loaded, it does not at all.
    gc.set_threshold(50_000, 20)
    gc.disable()
    # Scoring makes many small matrix products, on which threads that wait for one another cost more than they
    # bring. The libraries read this when they are loaded, so it must come before any import of numpy.
    for library in ("OPENBLAS", "OMP", "MKL"):
        os.environ.setdefault(f"{library}_NUM_THREADS", "1")
    for stream in (sys.stdout, sys.stderr):
        # Characters that a terminal cannot show are written as escapes.
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")
    sys.unraisablehook = partial(_not_lost, os.getpid())
    for name in ("SIGTERM", "SIGHUP"):
        # A signal that is ignored already, as under nohup, stays ignored.
        number = getattr(signal, name, None)
        if number is not None and signal.getsignal(number) is signal.SIG_DFL:
            signal.signal(number, partial(_end, os.getpid()))
    try:
        from softbleu.cli.app import run

        code = run(sys.argv[1:])
    except KeyboardInterrupt:
        code = 130
    # An interrupt may have come while files were removed.
    _clean_up()
    sys.exit(code)
