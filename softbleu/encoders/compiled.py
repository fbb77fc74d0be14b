"""Linear layers and GELU, compiled for this processor by llvmlite, which comes with the extra ``fast``.

OpenBLAS uses half the length of the registers of some processors, such as AMD's with AVX-512. Here each sum is made
in the order of its terms, by multiplications fused with additions, so that the result of a row depends neither on its
place nor on the registers. Functions are written in LLVM's language, for vectors of the processor's length, and
compiled in .02 s. `softbleu.encoders.stored` has the same in NumPy.
"""

from __future__ import annotations

import math
from ctypes import CFUNCTYPE, c_int64, c_void_p
from functools import cache
from importlib.util import find_spec
from platform import machine
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    States = NDArray[np.float32]

_FIRST_VERSION = 17  # Of LLVM, in which pointers have no types
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
    """Return the length of the processor's vectors in numbers; 0 if nothing can be compiled, or is compiled here.

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
        text = "\n".join([*_multiply(tile), *_gelu(tile.width, log_tail, end), *_common(tile.width)])
        module = binding.parse_assembly(text)
        module.verify()
        self._engine: Any = binding.create_mcjit_compiler(module, processor)
        self._engine.finalize_object()
        multiply, gelu = map(self._engine.get_function_address, ("multiply", "gelu"))
        self.multiply = CFUNCTYPE(None, *[c_void_p] * 4, *[c_int64] * 3)(multiply)
        self._gelu = CFUNCTYPE(None, c_void_p, c_int64)(gelu)

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
        self._sizes, tile = weight.shape, compiled.tile
        # The columns of a tile lie together.
        self._weight = np.ascontiguousarray(weight.reshape(len(weight), -1, tile.columns).swapaxes(0, 1))
        self._bias, self._multiply = np.ascontiguousarray(bias), compiled.multiply

    def __call__(self, rows: States, out: States) -> States:
        """Apply the layer to contiguous rows; `out` is contiguous, and its first rows are the result."""
        arrays = (rows, self._weight, self._bias, out)
        self._multiply(*(array.ctypes.data for array in arrays), len(rows), *self._sizes)
        return out[: len(rows)]


def _multiply(tile: Tile) -> Iterator[str]:
    """Yield a function that multiplies rows by weights and adds the bias.

    It goes through columns and rows by tiles, and adds the products of a tile number by number of its rows.
    """
    kind, rows = _kind(tile.width), range(tile.rows)
    cells = [(row, vector) for row in rows for vector in range(tile.vectors)]
    yield """
define void @multiply(ptr noalias %rows, ptr noalias %weight, ptr noalias %bias, ptr noalias %out,
                      i64 %count, i64 %size, i64 %columns) #0 {
start:
  br label %each_column
each_column:
  %column = phi i64 [0, %start], [%column.next, %column.end]
  %panel.at = mul i64 %column, %size
  %panel = getelementptr float, ptr %weight, i64 %panel.at
  %bias.at = getelementptr float, ptr %bias, i64 %column"""
    for vector in range(tile.vectors):
        yield from _load(f"b{vector}", kind, "%bias.at", vector * tile.width)
    yield """
  br label %each_row
each_row:
  %row = phi i64 [0, %each_column], [%row.next, %row.end]"""
    for row in rows:
        yield f"""
  %r{row} = add i64 %row, {row}
  %r{row}.from = mul i64 %r{row}, %size
  %r{row}.row = getelementptr float, ptr %rows, i64 %r{row}.from
  %r{row}.first = mul i64 %r{row}, %columns
  %r{row}.to = add i64 %r{row}.first, %column
  %r{row}.out = getelementptr float, ptr %out, i64 %r{row}.to"""
    yield """
  br label %each_number
each_number:
  %number = phi i64 [0, %each_row], [%number.next, %each_number]"""
    for row, vector in cells:
        cell = f"{row}.{vector}"
        yield f"  %sum{cell} = phi {kind} [%b{vector}, %each_row], [%more{cell}, %each_number]"
    yield f"""
  %weights.at = mul i64 %number, {tile.columns}
  %weights = getelementptr float, ptr %panel, i64 %weights.at"""
    for vector in range(tile.vectors):
        yield from _load(f"w{vector}", kind, "%weights", vector * tile.width)
    for row in rows:
        yield f"""
  %x{row}.at = getelementptr float, ptr %r{row}.row, i64 %number
  %x{row} = load float, ptr %x{row}.at
  %x{row}.one = insertelement {kind} poison, float %x{row}, i32 0
  %x{row}.all = shufflevector {kind} %x{row}.one, {kind} poison, <{tile.width} x i32> zeroinitializer"""
    for row, vector in cells:
        yield f"  %more{row}.{vector} = {_fused(tile.width, f'%x{row}.all', f'%w{vector}', f'%sum{row}.{vector}')}"
    yield """
  %number.next = add i64 %number, 1
  %number.more = icmp slt i64 %number.next, %size
  br i1 %number.more, label %each_number, label %row.end
row.end:"""
    for row, vector in cells:
        cell = f"{row}.{vector}"
        yield f"  %to{cell} = getelementptr float, ptr %r{row}.out, i64 {vector * tile.width}"
        yield f"  store {kind} %more{cell}, ptr %to{cell}, align 4"
    yield f"""
  %row.next = add i64 %row, {tile.rows}
  %row.more = icmp slt i64 %row.next, %count
  br i1 %row.more, label %each_row, label %column.end
column.end:
  %column.next = add i64 %column, {tile.columns}
  %column.more = icmp slt i64 %column.next, %columns
  br i1 %column.more, label %each_column, label %end
end:
  ret void
}}"""


def _gelu(width: int, log_tail: Sequence[float], end: float) -> Iterator[str]:
    """Yield a function that makes max(x, 0) - a * exp(ln Phi(-a)) of x, where a is |x|, or `end` if that is less.

    exp(y) is 2^n exp(y - n ln(2)) for the whole number n that is nearest to y / ln(2).
    """
    kind, whole = _kind(width), f"<{width} x i32>"
    # The logarithm of 2 in two parts, of which the first has few bits
    high = float(np.float32(round(math.log(2) * 2**12) / 2**12))
    low = math.log(2) - high
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
    yield f"""
  %halves = fmul {kind} %log, {_all(width, 1 / math.log(2))}
  %n = call {kind} @llvm.rint.v{width}f32({kind} %halves)
  %rest.high = {_fused(width, "%n", _all(width, -high), "%log")}
  %rest = {_fused(width, "%n", _all(width, -low), "%rest.high")}"""
    yield from _polynomial("mantissa", "%rest", [1 / math.factorial(term) for term in range(_TERMS + 1)], width)
    yield f"""
  %n.raw = fptosi {kind} %n to {whole}
  %n.whole = freeze {whole} %n.raw
  %biased = add {whole} %n.whole, splat (i32 127)
  %bits = shl {whole} %biased, splat (i32 23)
  %power = bitcast {whole} %bits to {kind}
  %tail = fmul {kind} %mantissa, %power
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


def _common(width: int) -> Iterator[str]:
    kind = _kind(width)
    yield f"declare {kind} @llvm.fma.v{width}f32({kind}, {kind}, {kind})"
    yield from (f"declare {kind} @llvm.{name}.v{width}f32({kind})" for name in ("fabs", "rint"))
    bits = 32 * width
    yield f'attributes #0 = {{ nounwind "min-legal-vector-width"="{bits}" "prefer-vector-width"="{bits}" }}'


def _kind(width: int) -> str:
    return f"<{width} x float>"


def _all(width: int, number: float) -> str:
    """Return a vector of the nearest float32; LLVM writes it as the bits of a double."""
    return f"splat (float 0x{np.float64(np.float32(number)).view(np.uint64):016X})"


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
