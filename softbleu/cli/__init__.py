"""The command line: commands, a file each or a group of them; each parses, makes one library call and writes."""

from __future__ import annotations

import gc
import io
import os
import signal
import sys
from functools import partial


def _clean_up() -> None:
    # As long as the module is being loaded, nothing has been written.
    remove = getattr(sys.modules.get("softbleu.io.files"), "remove_unfinished", None)
    if remove is not None:
        remove()


def _end(process: int, number: int, _: object) -> None:
    """Clean up and leave; an exception would be lost where Python cannot let it out, as in a finalizer."""
    # A worker that is just being forked has all this, too.
    if os.getpid() == process:
        _clean_up()
    os._exit(128 + number)


def _not_lost(process: int, caught: sys.UnraisableHookArgs) -> None:
    """Leave as well where an interrupt came when Python could not let the exception out."""
    if issubclass(caught.exc_type, KeyboardInterrupt):
        _end(process, signal.SIGINT, None)
    sys.__unraisablehook__(caught)


def main() -> None:
    """Run the command line and leave with its exit code."""
    # Modules and what is read are many objects that stay; to look through them after every 700 new ones, as Python
    # does, takes a tenth of a start, and a third of some reading.
    gc.set_threshold(50_000, 20)
    # Scoring makes many small matrix products, on which threads that wait for one another cost more than they
    # bring. The libraries read this when they are loaded, so it must come before any import of numpy.
    for library in ("OPENBLAS", "OMP", "MKL"):
        os.environ.setdefault(f"{library}_NUM_THREADS", "1")
    for stream in (sys.stdout, sys.stderr):
        # What a terminal cannot show is written as escapes, not as a traceback.
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
    # An interrupt may have come in the midst of what tidies up.
    _clean_up()
    sys.exit(code)
