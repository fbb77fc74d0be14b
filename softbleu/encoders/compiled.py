"""Linear layers, attention and GELU, compiled for this processor by llvmlite, which comes with the extra ``fast``.

OpenBLAS uses half the length of the registers of some processors, such as AMD's with AVX-512. Here each sum is made
in the order of its terms, by multiplications fused with additions, so that the result of a row depends neither on its
place nor on the registers. Functions are written in LLVM's language, for vectors of the processor's length, and
compiled in .03 s. `softbleu.encoders.stored` has the same in NumPy.
"""

from __future__ import annotations

import math
from ctypes import CFUNCTYPE, c_int64, c_void_p
from functools import cache
from importlib.util import find_spec
from itertools import chain
from platform import machine
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from numpy.typing import NDArray

    States = NDArray[np.float32]

_FIRST_VERSION = 17  # Of LLVM, in which pointers have no types
_LANES = 16
"""Scores that are added together, on any processor, so that the order of their sum does not depend on it."""
_LEAST = -87.0  # Differences of scores below count as this one: exp of it is 1e-38
_MULTIPLY, _ATTEND = "pipiipipiiii", "ppppppiiiiiii"  # Arguments: pointers and integers
_ATTRIBUTES = 'attributes #0 = { nounwind "min-legal-vector-width"="512" "prefer-vector-width"="512" }'
_TERMS = 7  # Last term of the series of exp; its error between -ln(2) / 2 and ln(2) / 2 is 5e-9


class Tile(NamedTuple):
    """Part of a product that is held in registers."""

    rows: int
    vectors: int  # Vectors of a row
    width: int  # Numbers of a vector

    @property
    def columns(self) -> int:
        """Numbers of a row."""
        return self.vectors * self.width


@cache
def widest_vector() -> int:
    """Return the length of the processor's vectors in numbers; 0 where layers are not compiled.

    NumPy's libraries for other processors than x86 were not measured.
    """
    if machine().lower() not in ("x86_64", "amd64") or find_spec("llvmlite") is None:
        return 0
    from llvmlite import binding

    features = binding.get_host_cpu_features()
    if binding.llvm_version_info[0] < _FIRST_VERSION or not (features.get("fma") and features.get("avx2")):
        return 0
    return 16 if features.get("avx512vl") else 8


def choose_tile(columns: Sequence[int], widest: int) -> Tile | None:
    """Choose a tile that divides rows of all these lengths, for vectors of a greatest length; None if none does.

    >>> choose_tile([384, 1536], 16), choose_tile([768, 3072], 8)
    (Tile(rows=8, vectors=3, width=16), Tile(rows=4, vectors=3, width=8))
    """
    common = math.gcd(*columns)
    shapes = [(vectors, width) for width in (16, 8, 4) for vectors in (3, 2, 1) if width <= widest]
    for vectors, width in shapes:
        if common % (vectors * width) == 0:
            # A register for each vector of the tile and of a row of weights, and one for a number of a line's row
            room = (32 if widest == 16 else 16) - vectors - 1
            return Tile(next(rows for rows in (12, 8, 6, 4) if rows * vectors <= room), vectors, width)
    return None


class Compiled:
    """Compiled functions of a model; see `compile_functions`."""

    def __init__(self, tile: Tile, log_tail: Sequence[float], end: float) -> None:
        from llvmlite import binding

        self.tile = tile
        binding.initialize_native_target()
        binding.initialize_native_asmprinter()
        processor = binding.Target.from_default_triple().create_target_machine(
            cpu=binding.get_host_cpu_name(), features=binding.get_host_cpu_features().flatten(), opt=3
        )
        functions = (_multiply(tile), _softmax(), _attend(tile), _gelu(tile.width, log_tail, end))
        widths = {tile.width, _LANES}
        module = binding.parse_assembly("\n".join(chain(*functions, *map(_declared, widths), [_ATTRIBUTES])))
        module.verify()
        self._engine: Any = binding.create_mcjit_compiler(module, processor)
        self._engine.finalize_object()
        of_c, address = {"p": c_void_p, "i": c_int64}, self._engine.get_function_address
        self._multiply, self._attend, self._gelu = (
            CFUNCTYPE(None, *map(of_c.__getitem__, types))(address(name))
            for name, types in (("multiply", _MULTIPLY), ("attend", _ATTEND), ("gelu", "pi"))
        )

    def multiply(self, rows: States, weight: States, bias: States, out: States) -> None:
        """Compute rows * weight + bias of contiguous arrays; the weight lies by tiles, see `CompiledLinear`."""
        (count, size), columns, width = rows.shape, len(bias), self.tile.columns
        panels = (weight.ctypes.data, width, size * width)
        starts, results = (bias.ctypes.data, 0), (out.ctypes.data, columns)
        self._multiply(rows.ctypes.data, size, *panels, *starts, *results, count, size, columns)

    def attend(
        self, qkv: States, lengths: Sequence[int], heads: int, bias: Callable[[int], States] | None, out: States
    ) -> None:
        """Compute attention within lines that follow one another in `qkv`: (rows, 3 * dimension).

        `bias` returns what is added to the scores of a line of some length: (heads, length, length). `qkv` and `out`
        have a tile's rows more than the lines; these may be changed.
        """
        size = out.shape[1] // heads
        height, width = self._room(max(lengths, default=1))
        keys, scores = np.empty(size * width, np.float32), np.empty(height * width, np.float32)
        starts = zeros = np.zeros(max(width, size), np.float32)
        spare, of_head, of_row = (keys.ctypes.data, scores.ctypes.data, zeros.ctypes.data), 0, 0
        sources, targets = qkv.ctypes.data, out.ctypes.data
        for length in lengths:
            height, width = self._room(length)
            if bias is not None:
                starts, of_head, of_row = np.zeros((heads, height, width), np.float32), height * width, width
                starts[:, :length, :length] = bias(length)
            first = (starts.ctypes.data, of_head, of_row)
            self._attend(sources, targets, *spare, *first, length, height, width, heads, size)
            sources += length * qkv.strides[0]
            targets += length * out.strides[0]

    def _room(self, length: int) -> tuple[int, int]:
        """Return the rows and columns of a line's scores, rounded up."""
        steps = (self.tile.rows, math.lcm(_LANES, self.tile.columns))
        rows, columns = (-(-length // step) * step for step in steps)
        return rows, columns

    def gelu(self, rows: States) -> None:
        """Multiply contiguous rows, whose length the tile divides, by Phi of them, in place."""
        self._gelu(rows.ctypes.data, rows.size)


@cache
def compile_functions(columns: tuple[int, ...], log_tail: tuple[float, ...], end: float) -> Compiled | None:
    """Compile the functions of a model with rows of some lengths; None if this processor or these lengths do not fit.

    `log_tail` has the coefficients of ln Phi(-a) for a up to `end`, that of 1 first.
    """
    tile = choose_tile(columns, widest_vector())
    return None if tile is None else Compiled(tile, log_tail, end)


class CompiledLinear:
    """A linear layer for whole tiles of rows."""

    def __init__(self, weight: States, bias: States, compiled: Compiled) -> None:
        """Take weights of shape (from, to)."""
        # The columns of a tile lie together.
        self._weight = np.ascontiguousarray(weight.reshape(len(weight), -1, compiled.tile.columns).swapaxes(0, 1))
        self._bias, self._multiply = np.ascontiguousarray(bias), compiled.multiply

    def __call__(self, rows: States, out: States) -> States:
        """Apply the layer to contiguous rows; `out` is contiguous, and its first rows are the result."""
        self._multiply(rows, self._weight, self._bias, out)
        return out[: len(rows)]


def _multiply(tile: Tile) -> Iterator[str]:
    """Yield a function that computes starts + rows × weights.

    It goes through columns and rows by tiles, and adds the products of a tile number by number of its rows. Names on
    `.by` are the distances of the rows of an array. The weights of the next tile's columns lie `%apart` numbers on.
    """
    kind, rows = _kind(tile.width), range(tile.rows)
    cells = [(row, vector, f"{row}.{vector}") for row in rows for vector in range(tile.vectors)]
    yield """
define void @multiply(ptr %rows, i64 %row.by, ptr %weight, i64 %weight.by, i64 %apart, ptr %starts, i64 %start.by,
                      ptr noalias %out, i64 %out.by, i64 %count, i64 %size, i64 %columns) #0 {
start:
  br label %each_column
each_column:
  %column = phi i64 [0, %start], [%column.next, %column.end]
  %panel.at = phi i64 [0, %start], [%panel.next, %column.end]
  %panel = getelementptr float, ptr %weight, i64 %panel.at
  br label %each_row
each_row:
  %row = phi i64 [0, %each_column], [%row.next, %row.end]"""
    for row in rows:
        yield f"  %r{row} = add i64 %row, {row}"
        for name, column in (("row", "0"), ("start", "%column"), ("out", "%column")):
            place, source = f"%r{row}.{name}", {"row": "%rows", "start": "%starts", "out": "%out"}[name]
            yield f"""
  {place}.from = mul i64 %r{row}, %{name}.by
  {place}.at = add i64 {place}.from, {column}
  {place} = getelementptr float, ptr {source}, i64 {place}.at"""
    for row, vector, cell in cells:
        yield from _load(f"start{cell}", kind, f"%r{row}.start", vector * tile.width)
    yield """
  br label %each_number
each_number:
  %number = phi i64 [0, %each_row], [%number.next, %each_number]"""
    for _, _, cell in cells:
        yield f"  %sum{cell} = phi {kind} [%start{cell}, %each_row], [%more{cell}, %each_number]"
    yield """
  %weights.at = mul i64 %number, %weight.by
  %weights = getelementptr float, ptr %panel, i64 %weights.at"""
    for vector in range(tile.vectors):
        yield from _load(f"w{vector}", kind, "%weights", vector * tile.width)
    for row in rows:
        yield f"""
  %x{row}.at = getelementptr float, ptr %r{row}.row, i64 %number
  %x{row} = load float, ptr %x{row}.at"""
        yield from _spread(f"x{row}.all", f"%x{row}", tile.width)
    for row, vector, cell in cells:
        yield f"  %more{cell} = {_fused(tile.width, f'%x{row}.all', f'%w{vector}', f'%sum{cell}')}"
    yield """
  %number.next = add i64 %number, 1
  %number.more = icmp slt i64 %number.next, %size
  br i1 %number.more, label %each_number, label %row.end
row.end:"""
    for row, vector, cell in cells:
        yield f"  %to{cell} = getelementptr float, ptr %r{row}.out, i64 {vector * tile.width}"
        yield f"  store {kind} %more{cell}, ptr %to{cell}, align 4"
    yield f"""
  %row.next = add i64 %row, {tile.rows}
  %row.more = icmp slt i64 %row.next, %count
  br i1 %row.more, label %each_row, label %column.end
column.end:
  %column.next = add i64 %column, {tile.columns}
  %panel.next = add i64 %panel.at, %apart
  %column.more = icmp slt i64 %column.next, %columns
  br i1 %column.more, label %each_column, label %end
end:
  ret void
}}"""


def _softmax() -> Iterator[str]:
    """Yield a function that computes the softmax of a row of scores in place, `_LANES` at a time.

    It leaves out numbers after the first `%length`, and overwrites them.
    """
    kind, counts = _kind(_LANES), f"<{_LANES} x i64>"
    counted = ", ".join(f"i64 {lane}" for lane in range(_LANES))
    loop = """
  br label %{name}
{name}:
  %{name}.place = phi i64 [0, %{before}], [%{name}.next, %{name}]"""
    end = f"""
  %{{name}}.next = add i64 %{{name}}.place, {_LANES}
  %{{name}}.more = icmp slt i64 %{{name}}.next, %length
  br i1 %{{name}}.more, label %{{name}}, label %{{after}}
{{after}}:"""
    inside = f"""
  %{{name}}.one = insertelement {counts} poison, i64 %{{name}}.place, i32 0
  %{{name}}.all = shufflevector {counts} %{{name}}.one, {counts} poison, <{_LANES} x i32> zeroinitializer
  %{{name}}.numbers = add {counts} %{{name}}.all, <{counted}>
  %{{name}}.in = icmp slt {counts} %{{name}}.numbers, %lengths"""
    yield f"""
define void @softmax(ptr %row, i64 %length) #0 {{
start:
  %length.one = insertelement {counts} poison, i64 %length, i32 0
  %lengths = shufflevector {counts} %length.one, {counts} poison, <{_LANES} x i32> zeroinitializer"""
    yield loop.format(name="top", before="start")
    least = _all(_LANES, -math.inf)
    yield f"  %top.old = phi {kind} [{least}, %start], [%top.new, %top]"
    yield "  %top.from = getelementptr float, ptr %row, i64 %top.place"
    yield from _load("top.x", kind, "%top.from", 0)
    yield inside.format(name="top")
    yield f"""
  %top.known = select <{_LANES} x i1> %top.in, {kind} %top.x, {kind} {least}
  %top.larger = fcmp ogt {kind} %top.known, %top.old
  %top.new = select <{_LANES} x i1> %top.larger, {kind} %top.known, {kind} %top.old"""
    yield end.format(name="top", after="topped")
    value = "%top.new"
    for step in (8, 4, 2, 1):
        yield from _moved(f"top{step}", value, step)
        yield f"  %top{step}.larger = fcmp ogt {kind} {value}, %top{step}"
        yield f"  %top{step}.new = select <{_LANES} x i1> %top{step}.larger, {kind} {value}, {kind} %top{step}"
        value = f"%top{step}.new"
    yield loop.format(name="power", before="topped")
    yield f"  %sum.old = phi {kind} [zeroinitializer, %topped], [%sum.new, %power]"
    yield "  %power.from = getelementptr float, ptr %row, i64 %power.place"
    yield from _load("power.x", kind, "%power.from", 0)
    yield f"""
  %less = fsub {kind} %power.x, {value}
  %low = fcmp olt {kind} %less, {_all(_LANES, _LEAST)}
  %y = select <{_LANES} x i1> %low, {kind} {_all(_LANES, _LEAST)}, {kind} %less"""
    yield from _exponential("share", "%y", _LANES)
    yield f"  store {kind} %share, ptr %power.from, align 4"
    yield inside.format(name="power")
    yield f"""
  %share.in = select <{_LANES} x i1> %power.in, {kind} %share, {kind} zeroinitializer
  %sum.new = fadd {kind} %sum.old, %share.in"""
    yield end.format(name="power", after="summed")
    value = "%sum.new"
    for step in (8, 4, 2, 1):
        yield from _moved(f"sum{step}", value, step)
        yield f"  %sum{step}.new = fadd {kind} {value}, %sum{step}"
        value = f"%sum{step}.new"
    yield f"  %whole = fdiv {kind} {_all(_LANES, 1)}, {value}"
    yield loop.format(name="scale", before="summed")
    yield "  %scale.from = getelementptr float, ptr %row, i64 %scale.place"
    yield from _load("scale.x", kind, "%scale.from", 0)
    yield f"""
  %scaled = fmul {kind} %scale.x, %whole
  store {kind} %scaled, ptr %scale.from, align 4"""
    yield end.format(name="scale", after="end")
    yield """
  ret void
}"""


def _attend(tile: Tile) -> Iterator[str]:
    """Yield a function that computes attention within a line, head by head.

    Keys are laid by tiles of columns, as weights are; values are weights as they lie.
    """
    yield f"""
define void @attend(ptr %qkv, ptr %out, ptr %keys, ptr %scores, ptr %zeros, ptr %starts, i64 %of.head, i64 %of.row,
                    i64 %length, i64 %height, i64 %width, i64 %heads, i64 %size) #0 {{
start:
  %dimension = mul i64 %heads, %size
  %by = mul i64 %dimension, 3
  %apart = mul i64 %size, {tile.columns}
  br label %each_head
each_head:
  %head = phi i64 [0, %start], [%head.next, %head.end]
  %first = mul i64 %head, %size
  %queries = getelementptr float, ptr %qkv, i64 %first
  %head.keys = getelementptr float, ptr %queries, i64 %dimension
  %values = getelementptr float, ptr %head.keys, i64 %dimension
  %result = getelementptr float, ptr %out, i64 %first
  %start.at = mul i64 %head, %of.head
  %head.starts = getelementptr float, ptr %starts, i64 %start.at
  br label %each_key
each_key:
  %key = phi i64 [0, %each_head], [%key.next, %key.end]
  %key.from = mul i64 %key, %by
  %key.row = getelementptr float, ptr %head.keys, i64 %key.from
  %panel = udiv i64 %key, {tile.columns}
  %column = urem i64 %key, {tile.columns}
  %panel.at = mul i64 %panel, %apart
  %key.to = add i64 %panel.at, %column
  %key.column = getelementptr float, ptr %keys, i64 %key.to
  %known = icmp slt i64 %key, %length
  br i1 %known, label %copy, label %leave
copy:
  %place = phi i64 [0, %each_key], [%place.next, %copy]
  %copy.from = getelementptr float, ptr %key.row, i64 %place
  %copied = load float, ptr %copy.from
  %copy.at = mul i64 %place, {tile.columns}
  %copy.to = getelementptr float, ptr %key.column, i64 %copy.at
  store float %copied, ptr %copy.to
  %place.next = add i64 %place, 1
  %place.more = icmp slt i64 %place.next, %size
  br i1 %place.more, label %copy, label %key.end
leave:
  %empty = phi i64 [0, %each_key], [%empty.next, %leave]
  %empty.at = mul i64 %empty, {tile.columns}
  %empty.to = getelementptr float, ptr %key.column, i64 %empty.at
  store float 0.0, ptr %empty.to
  %empty.next = add i64 %empty, 1
  %empty.more = icmp slt i64 %empty.next, %size
  br i1 %empty.more, label %leave, label %key.end
key.end:
  %key.next = add i64 %key, 1
  %key.more = icmp slt i64 %key.next, %width
  br i1 %key.more, label %each_key, label %compare
compare:
  call void @multiply(ptr %queries, i64 %by, ptr %keys, i64 {tile.columns}, i64 %apart,
                      ptr %head.starts, i64 %of.row, ptr %scores, i64 %width, i64 %height, i64 %size, i64 %width)
  br label %each_row
each_row:
  %row = phi i64 [0, %compare], [%row.next, %each_row]
  %row.at = mul i64 %row, %width
  %row.scores = getelementptr float, ptr %scores, i64 %row.at
  call void @softmax(ptr %row.scores, i64 %length)
  %row.next = add i64 %row, 1
  %row.more = icmp slt i64 %row.next, %length
  br i1 %row.more, label %each_row, label %head.end
head.end:
  call void @multiply(ptr %scores, i64 %width, ptr %values, i64 %by, i64 {tile.columns}, ptr %zeros, i64 0,
                      ptr %result, i64 %dimension, i64 %height, i64 %length, i64 %size)
  %head.next = add i64 %head, 1
  %head.more = icmp slt i64 %head.next, %heads
  br i1 %head.more, label %each_head, label %end
end:
  ret void
}}"""


def _gelu(width: int, log_tail: Sequence[float], end: float) -> Iterator[str]:
    """Yield a function that makes max(x, 0) - a * exp(ln Phi(-a)) of x, where a is |x|, or `end` if that is less."""
    kind = _kind(width)
    yield """
define void @gelu(ptr %numbers, i64 %count) #0 {
start:
  br label %each
each:
  %place = phi i64 [0, %start], [%place.next, %each]
  %at = getelementptr float, ptr %numbers, i64 %place"""
    yield from _load("x", kind, "%at", 0)
    yield f"""
  %size = call {kind} @llvm.fabs.v{width}f32({kind} %x)
  %far = fcmp ogt {kind} %size, {_all(width, end)}
  %a = select <{width} x i1> %far, {kind} {_all(width, end)}, {kind} %size"""
    yield from _polynomial("log", "%a", log_tail, width)
    yield from _exponential("tail", "%log", width)
    yield f"""
  %less = fneg {kind} %a
  %positive = fcmp ogt {kind} %x, zeroinitializer
  %top = select <{width} x i1> %positive, {kind} %x, {kind} zeroinitializer
  %result = {_fused(width, "%less", "%tail", "%top")}
  store {kind} %result, ptr %at, align 4
  %place.next = add i64 %place, {width}
  %more = icmp slt i64 %place.next, %count
  br i1 %more, label %each, label %end
end:
  ret void
}}"""


def _exponential(name: str, variable: str, width: int) -> Iterator[str]:
    """Yield exp of numbers from `_LEAST` to 0: 2^n exp(y - n ln(2)) for the whole number n nearest to y / ln(2)."""
    kind, whole = _kind(width), f"<{width} x i32>"
    # The logarithm of 2 in two parts, of which the first has few bits
    high = float(np.float32(round(math.log(2) * 2**12) / 2**12))
    yield f"""
  %halves = fmul {kind} {variable}, {_all(width, 1 / math.log(2))}
  %n = call {kind} @llvm.rint.v{width}f32({kind} %halves)
  %rest.high = {_fused(width, "%n", _all(width, -high), variable)}
  %rest = {_fused(width, "%n", _all(width, high - math.log(2)), "%rest.high")}"""
    yield from _polynomial("mantissa", "%rest", [1 / math.factorial(term) for term in range(_TERMS + 1)], width)
    yield f"""
  %n.raw = fptosi {kind} %n to {whole}
  %n.whole = freeze {whole} %n.raw
  %biased = add {whole} %n.whole, splat (i32 127)
  %bits = shl {whole} %biased, splat (i32 23)
  %power.of.two = bitcast {whole} %bits to {kind}
  %{name} = fmul {kind} %mantissa, %power.of.two"""


def _declared(width: int) -> Iterator[str]:
    kind = _kind(width)
    yield f"declare {kind} @llvm.fma.v{width}f32({kind}, {kind}, {kind})"
    yield from (f"declare {kind} @llvm.{name}.v{width}f32({kind})" for name in ("fabs", "rint"))


def _kind(width: int) -> str:
    return f"<{width} x float>"


def _all(width: int, number: float) -> str:
    """Return a vector of the nearest float32; LLVM writes it as the bits of a double."""
    return f"splat (float 0x{np.float64(np.float32(number)).view(np.uint64):016X})"


def _spread(name: str, number: str, width: int) -> Iterator[str]:
    """Yield a vector with one number in each lane."""
    kind = _kind(width)
    yield f"  %{name}.one = insertelement {kind} poison, float {number}, i32 0"
    yield f"  %{name} = shufflevector {kind} %{name}.one, {kind} poison, <{width} x i32> zeroinitializer"


def _moved(name: str, vector: str, step: int) -> Iterator[str]:
    """Yield a vector rotated by some lanes."""
    places = ", ".join(f"i32 {(lane + step) % _LANES}" for lane in range(_LANES))
    kind = _kind(_LANES)
    yield f"  %{name} = shufflevector {kind} {vector}, {kind} poison, <{_LANES} x i32> <{places}>"


def _load(name: str, kind: str, start: str, place: int) -> Iterator[str]:
    yield f"  %{name}.at = getelementptr float, ptr {start}, i64 {place}"
    yield f"  %{name} = load {kind}, ptr %{name}.at, align 4"


def _fused(width: int, one: str, other: str, more: str) -> str:
    """Return an expression for one * other + more, which is rounded once."""
    kind = _kind(width)
    return f"call {kind} @llvm.fma.v{width}f32({kind} {one}, {kind} {other}, {kind} {more})"


def _polynomial(name: str, variable: str, coefficients: Sequence[float], width: int) -> Iterator[str]:
    """Yield the value of a polynomial (Horner 1819), whose last coefficient is that of the highest power."""
    *lower, value = [_all(width, coefficient) for coefficient in coefficients]
    for power, coefficient in reversed([*enumerate(lower)]):
        result = f"%{name}{power or ''}"
        yield f"  {result} = {_fused(width, variable, value, coefficient)}"
        value = result
