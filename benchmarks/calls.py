"""Count the functions of softbleu that a command runs, their files, their depth, and the moves between files.

    python benchmarks/calls.py -m chrf
    python benchmarks/calls.py -m vleu -c A.txt -r B.txt

The arguments are those of `softbleu score`. A move is a call of a function of softbleu by one that stands in another
file of it, whatever lies between them; resuming a generator is none. Depth counts functions of softbleu alone. Comprehensions, generator
expressions and lambdas belong to the function around them, and what runs while modules are imported is left out.
"""

from __future__ import annotations

import sys
from collections import Counter
from contextlib import redirect_stdout, suppress
from inspect import CO_GENERATOR
from io import StringIO
from pathlib import Path
from types import FrameType

import softbleu
from softbleu.cli import main

_OURS = str(Path(softbleu.__file__).parent)


class Calls:
    """Functions that were called, and the moves between their files."""

    def __init__(self) -> None:
        """Begin with none."""
        self.functions: Counter[tuple[str, str, int]] = Counter()
        self.moves: Counter[tuple[str, str]] = Counter()
        self.depth = 0
        self._importing = 0
        self._stack: list[FrameType] = []
        self._begun: set[FrameType] = set()  # Generators, which are called once and resumed thereafter

    def __call__(self, frame: FrameType, event: str, _: object) -> None:
        """Count a call, as `sys.setprofile` tells of it."""
        code = frame.f_code
        if not code.co_filename.startswith(_OURS):
            return
        if code.co_name == "<module>":
            self._importing += {"call": 1, "return": -1}.get(event, 0)
        if self._importing or code.co_name.startswith("<"):
            return
        if event == "return" and self._stack and self._stack[-1] is frame:
            self._stack.pop()
        elif event == "call":
            self.functions[code.co_filename, code.co_qualname, code.co_firstlineno] += 1
            caller = self._stack[-1].f_code.co_filename if self._stack else code.co_filename
            if caller != code.co_filename and frame not in self._begun:
                self.moves[caller, code.co_filename] += 1
            if code.co_flags & CO_GENERATOR:
                self._begun.add(frame)
            self._stack.append(frame)
            self.depth = max(self.depth, len(self._stack))

    def report(self) -> str:
        """Say the counts, and between which files most moves are."""
        files = {file for file, _, _ in self.functions}
        lines = [
            f"{len(self.functions)} functions in {len(files)} files, depth {self.depth}, {self.moves.total()} moves"
        ]
        for (caller, callee), count in self.moves.most_common(12):
            lines.append(f"{count:6}  {Path(caller).relative_to(_OURS)} -> {Path(callee).relative_to(_OURS)}")
        return "\n".join(lines)


if __name__ == "__main__":
    calls = Calls()
    sys.argv[1:1] = ["score"]
    sys.setprofile(calls)
    with redirect_stdout(StringIO()), suppress(SystemExit):
        main()
    sys.setprofile(None)
    print(calls.report())
