"""The campaign: commands on honest and on hostile input, each with what must come out.

    python tests/adversarial/campaign.py --page               # just campaign: all, and the table of reliability.md
    python tests/adversarial/campaign.py --part 10 --seed 3   # a tenth, drawn

`cases/*.toml` have tables of rows and cases. A case is run once for each row of its tables, or each combination of
rows. `{table}` in the command, in files, in variables of the environment and in the message stands for the row, and
`{server}` for the address of a hostile server. `code` in the place of a command is Python, run in the same way.
"""

import bz2
import faulthandler
import gzip
import io
import itertools
import json
import lzma
import os
import random
import re
import resource
import shlex
import signal
import sys
import tempfile
import time
import tomllib
import unicodedata
from collections.abc import Callable, Sequence
from contextlib import redirect_stdout
from dataclasses import dataclass, field, fields, replace
from html import escape
from importlib import import_module
from pathlib import Path
from typing import Annotated, Any

import typer
from adversarial.samples import CONTROL, HERE, copy, make
from adversarial.server import hostile_server

from softbleu.errors import SoftbleuError

PAGE = HERE.parents[1] / "docs" / "reference" / "reliability.md"
BEGIN, END = "<!-- made by just campaign -->\n", "<!-- end -->\n"
CPU, WALL, MEMORY = 60, 300, 1 << 30
HANGS = (signal.SIGALRM, signal.SIGXCPU, signal.SIGKILL)
LOADED = ["app", "score", "explain", "compare", "metaeval", "matrix", "sweep"]
COLOURS = re.compile("\x1b\\[[0-9;]*[mK]")


def _wrapped(markup: str, text: str) -> bytes:
    lines = enumerate(text.splitlines(), start=1)
    return markup.format("\n".join(f'<seg id="{number}">{escape(line)}</seg>' for number, line in lines)).encode()


FORMS: dict[str, Callable[[str], bytes]] = {
    "crlf": lambda text: text.replace("\n", "\r\n").encode(),
    "bom": lambda text: text.encode("utf-8-sig"),
    "utf16": lambda text: text.encode("utf-16"),
    "open": lambda text: text.removesuffix("\n").encode(),
    "nfd": lambda text: unicodedata.normalize("NFD", text).encode(),
    "gz": lambda text: gzip.compress(text.encode()),
    "bz2": lambda text: bz2.compress(text.encode()),
    "xz": lambda text: lzma.compress(text.encode()),
    "sgml": lambda text: _wrapped("<TSTSET setid=x><DOC docid=d>\n{}\n</DOC></TSTSET>", text),
    "xml": lambda text: _wrapped(
        '<?xml version="1.0"?>\n<dataset>\n<doc id="d"><hyp system="A"><p>\n{}\n</p></hyp></doc></dataset>', text
    ),
    "cut": lambda text: gzip.compress(text.encode() * 9)[:-9],
}


@dataclass(frozen=True)
class Case:
    """A command, its files, and what must come out."""

    group: str
    rows: tuple[str, ...]
    expect: str
    command: str = ""
    code: str = ""
    says: str = ""
    files: dict[str, str] = field(default_factory=dict)
    form: str = ""
    stdin: str = ""
    environment: dict[str, str] = field(default_factory=dict)
    writes: list[str] = field(default_factory=list)
    segments: int = 0
    same: tuple[str, ...] = ()
    fresh: bool = False
    terminal: bool = False

    @property
    def name(self) -> str:
        return " / ".join([self.group, *self.rows])


@dataclass(frozen=True)
class Outcome:
    """What a command gave, and what it took."""

    code: int
    out: str
    err: str
    seconds: float
    size: int
    odd: list[str]

    @property
    def scores(self) -> Any:
        systems = json.loads(self.out, parse_constant=None)["systems"]
        return [(each["score"], [part["score"] for part in each.get("segments", [])]) for each in systems]


def read_cases() -> dict[str, Case]:
    """All cases by name."""
    documents = [tomllib.loads(path.read_text(encoding="utf-8")) for path in sorted((HERE / "cases").glob("*.toml"))]
    tables = {name: rows for document in documents for name, rows in document.get("table", {}).items()}
    found = {}
    for given in (case for document in documents for case in document["case"]):
        axes = given.get("each", [])
        for names in itertools.product(*(tables[axis] for axis in axes)):
            case = filled(given, dict(zip(axes, names, strict=True)), tables)
            assert case.name not in found, case.name
            found[case.name] = case
    return found


def filled(given: dict[str, Any], names: dict[str, str], tables: dict[str, Any]) -> Case:
    """One combination of rows."""
    made = {key: value for key, value in given.items() if key != "each"}
    rows, same = [], tuple(names.values())
    for axis, name in names.items():
        row = tables[axis][name]
        row = {"text": row} if isinstance(row, str) else dict(row)
        rows.append((f"{{{axis}}}", row.pop("text", "")))
        same = tuple(row["same"] if each == name and "same" in row else each for each in same)
        row.pop("same", None)
        for key, value in row.items():
            made[key] = {**made.get(key, {}), **value} if isinstance(value, dict) else value

    other = same if same != tuple(names.values()) else ()
    return Case(rows=tuple(names.values()), same=other, **put(made, rows))


def put(value: Any, rows: Sequence[tuple[str, str]]) -> Any:
    """Replace signs by their texts, wherever they stand."""
    if isinstance(value, str):
        for sign, text in rows:
            value = value.replace(sign, text)
        return value
    return {put(key, rows): put(entry, rows) for key, entry in value.items()} if isinstance(value, dict) else value


def write_pipe(path: Path) -> None:
    """A pipe with a line of text, that ends itself if nobody reads it."""
    os.mkfifo(path)
    if not os.fork():
        signal.alarm(WALL // 10)
        path.write_bytes(b"the cat sat\n")
        os._exit(0)


def write_file(path: Path, text: str, form: str) -> None:
    """A file, or what `!fifo`, `!folder`, `!link PLACE`, `!times N TEXT` and `!long N LINE` make."""
    if path.is_file() or path.is_symlink():
        path.unlink()
    path.parent.mkdir(parents=True, exist_ok=True)
    sign, _, rest = text.partition(" ")
    if sign == "!fifo":
        write_pipe(path)
    elif sign == "!folder":
        path.mkdir()
    elif sign == "!link":
        path.symlink_to(rest)
    else:
        if sign in ("!times", "!long"):
            times, _, rest = rest.partition(" ")
            line, end, others = rest.partition("\n") if sign == "!long" else (rest, "", "")
            text = line * int(times) + end + others
        path.write_bytes(FORMS[form](text) if form else text.encode())


def seen(folder: Path) -> dict[str, tuple[int, int]]:
    every = [path for path in folder.rglob("*") if path.is_file() and not path.is_symlink()]
    return {str(path.relative_to(folder)): (path.stat().st_size, path.stat().st_mtime_ns) for path in every}


def begin(case: Case, place: Path) -> int:
    """Start the command in a process forked from this one, which has the program loaded."""
    sys.stdout.flush()
    process = os.fork()
    if process:
        return process
    try:
        os.setsid()
        os.chdir(place / "work")
        opened = [(case.stdin or os.devnull, os.O_RDONLY)]
        opened += [(str(place / name), os.O_WRONLY | os.O_CREAT) for name in ("out", "err")]
        for number, (name, flags) in enumerate(opened):
            os.dup2(os.open(name, flags, 0o600), number)
        resource.setrlimit(resource.RLIMIT_CPU, (CPU, CPU))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        signal.alarm(WALL)
        faulthandler.dump_traceback_later(WALL - 2)
        base = {"PATH": os.defpath, "HOME": str(place / "home"), "TMPDIR": str(place / "tmp"), "LANG": "C.UTF-8"}
        environment = {**base, "SOFTBLEU_CACHE": str(place / "cache"), "COLUMNS": "200", **case.environment}
        environment = {name: value for name, value in environment.items() if value != "!none"}
        arguments = [*shlex.split(case.command), "-q"]
        if case.fresh:
            program = [sys.executable, "-m", "softbleu", *arguments]
            os.execve(sys.executable, program, {**environment, "PYTHONPATH": os.environ.get("PYTHONPATH", "")})
        os.environ.clear()
        os.environ.update(environment)
        tempfile.tempdir = None
        sys.path.insert(0, str(place / "work"))
        if case.terminal:
            sys.stdout.isatty = sys.stderr.isatty = lambda: True  # type: ignore[method-assign]
        sys.argv = ["softbleu", *arguments]
        code = execute(case.code) if case.code else import_module("softbleu.cli").main()
        sys.stdout.flush()
        os._exit(code or 0)
    except SystemExit as ended:
        sys.stdout.flush()
        os._exit(ended.code if isinstance(ended.code, int) else 0)
    except BaseException:
        sys.excepthook(*sys.exc_info())
        os._exit(99)


def execute(code: str) -> int:
    """Run Python; what softbleu refuses ends as a command does."""
    try:
        exec(code, {"softbleu": import_module("softbleu")})
    except SoftbleuError as error:
        sys.stderr.write(f"softbleu: error: {str(error).encode('unicode_escape').decode()}\n")
        return 2
    return 0


def run(case: Case, samples: Path) -> Outcome:
    with tempfile.TemporaryDirectory(prefix="campaign-") as folder:
        place = Path(folder)
        for name in ("home", "tmp", "work"):
            (place / name).mkdir()
        copy(samples, place / "work")
        for name, text in case.files.items():
            write_file(place / "work" / name, text, case.form)
        before = seen(place / "work")
        _, status, used = os.wait4(begin(case, place), 0)
        code = os.waitstatus_to_exitcode(status)
        after = seen(place / "work")
        odd = [f"{name} changed" for name in before if after.get(name) != before[name]]
        odd += [f"{name} left" for name in after.keys() - before.keys() - set(case.writes if code == 0 else [])]
        odd += [f"no {name}" for name in case.writes if code == 0 and not after.get(name, (0, 0))[0]]
        odd += [f"temporary {path.name} left" for path in (place / "tmp").iterdir()]
        out, err = ((place / name).read_bytes().decode("utf-8", "replace") for name in ("out", "err"))
        return Outcome(code, out, err, used.ru_utime + used.ru_stime, used.ru_maxrss * 1024, odd)


def judge(case: Case, done: Outcome) -> str | None:
    """What is wrong with the way in which a command ended."""
    last = (done.err.strip().splitlines() or [""])[-1][:200]
    expected = {"result": [0], "refused": [2], "either": [0, 2]}[case.expect]
    one_line = done.err.startswith("softbleu: error: ") and done.err.count("\n") == 1 and not done.out
    data = re.search(r" -f (jsonl?|csv)\b", case.command)
    texts = [COLOURS.sub("", text) if case.terminal else text for text in (done.err, "" if data else done.out)]
    faults: list[tuple[str, Any]] = [
        (f"no end in {CPU} s of CPU time, or {WALL} s: {done.err}", -done.code in HANGS),
        (f"a traceback or a warning: {last}", re.search(r"Traceback|\wWarning: ", done.err)),
        (f"exit code {done.code}: {last}", done.code not in expected),
        (f"not one line: {done.err[:200]!r} {done.out[:50]!r}", done.code == 2 and not one_line),
        (f"another message: {last}", done.code == 2 and case.says not in done.err),
        ("a control character", any(map(CONTROL.search, texts))),
        (", ".join(done.odd), done.odd),
        (f"{done.size >> 20} MB", done.size > MEMORY),
        ("numbers that are not finite", data and not done.code and re.search(r"\b(NaN|Infinity)\b", done.out)),
    ]
    said = next((fault for fault, found in faults if found), None)
    if not said and case.segments and any(len(parts) != case.segments for _, parts in done.scores):
        return "another number of segments"
    return said


def draw(cases: dict[str, Case], part: int, seed: int) -> dict[str, Case]:
    """One of so many, and those whose scores these must have."""
    chosen = random.Random(seed).sample(sorted(cases), len(cases) // part)
    bases = [" / ".join([cases[name].group, *cases[name].same]) for name in chosen if cases[name].same]
    return {name: case for name, case in cases.items() if name in {*chosen, *bases}}


def main(
    only: Annotated[str, typer.Option(help="Cases whose names match.")] = "",
    part: Annotated[int, typer.Option(help="One of so many, drawn.")] = 1,
    seed: Annotated[int, typer.Option(help="Of the draw.")] = 0,
    page: Annotated[bool, typer.Option(help="Write the table of reliability.md.")] = False,
) -> None:
    """Run the cases, and say which were mishandled."""
    cases = {name: case for name, case in read_cases().items() if re.search(only, name)}
    every, cases = len(cases), draw(cases, part, seed)
    for name in LOADED:
        import_module(f"softbleu.cli.{name}")
    # What is loaded as options are read.
    with redirect_stdout(io.StringIO()):
        import_module("softbleu.cli.app").run(["metrics"])
    done: dict[str, Outcome] = {}
    faults: dict[str, str] = {}
    with tempfile.TemporaryDirectory(prefix="campaign-") as folder, hostile_server() as server:
        make(Path(folder))
        for name, case in cases.items():
            texts = {each.name: put(getattr(case, each.name), [("{server}", server)]) for each in fields(case)}
            done[name] = run(replace(case, **texts), Path(folder))
            fault = judge(case, done[name])
            other = done.get(" / ".join([case.group, *case.same])) if case.same else None
            if not fault and other and not other.code and done[name].scores != other.scores:
                fault = f"other scores than {case.same}"
            if fault:
                faults[name] = fault
                typer.echo(f"{name}: {fault}")
    typer.echo(f"{len(cases)} cases (seed {seed}), {len(faults)} mishandled")
    if page:
        write(PAGE, cases, done, faults, f"{len(cases):,} of {every:,} cases (seed {seed})")
    raise SystemExit(bool(faults))


def write(page: Path, cases: dict[str, Case], done: dict[str, Outcome], faults: dict[str, str], about: str) -> None:
    """Put the table of classes between the markers."""
    table = "| class | cases | result | one line | mishandled | most CPU s | most MB |\n" + f"|---|{'---:|' * 6}\n"
    for group in [*dict.fromkeys(case.group for case in cases.values()), ""]:
        names = [name for name, case in cases.items() if group in ("", case.group)]
        every = [done[name] for name in names]
        counts = [len(names), sum(not each.code for each in every), sum(each.code == 2 for each in every)]
        counts += [sum(name in faults for name in names)]
        most = f"{max(each.seconds for each in every):.1f} | {max(each.size for each in every) >> 20}"
        table += f"| {group or 'all'} | {' | '.join(f'{count:,}' for count in counts)} | {most} |\n"
    text = page.read_text(encoding="utf-8")
    before, _, rest = text.partition(BEGIN)
    after = rest.partition(END)[2]
    about += f", {time.strftime('%Y-%m-%d')}, Python {sys.version.split()[0]}, {os.cpu_count()} cores:\n\n"
    page.write_text(f"{before}{BEGIN}{about}{table}{END}{after}", encoding="utf-8")


if __name__ == "__main__":
    typer.run(main)
