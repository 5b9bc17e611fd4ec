"""Scalar expressions that turn themselves into LLVM instructions.

A function of this package is written as ordinary Python arithmetic on :class:`Value` objects; running it
once, when Numba lowers a call, emits its instructions. This gives three things that the same formula
compiled by Numba's front end would not have: one text for float64 and float32 (constants take the type of
the value they meet), no branches (``select`` is the only choice there is, and LLVM's loop vectoriser
handles it), and a fixed rounding: which products are fused with a sum is written down, not decided by the
optimiser, so a vector body and its scalar remainder return the same bits.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Union

import numpy as np
from llvmlite import ir

Operand = Union["Value", float, int]


@dataclass(frozen=True)
class Format:
    """A binary floating-point format: what the formulas need to know of float64 and float32."""

    name: str
    mantissa: int
    bias: int
    float_type: Any
    int_type: Any

    @property
    def dtype(self) -> type[np.floating[Any]]:
        return np.float64 if self.mantissa == 52 else np.float32

    @property
    def width(self) -> int:
        return int(self.int_type.width)

    @property
    def magic(self) -> float:
        """1.5 * 2**mantissa: adding it rounds to an integer and leaves that integer in the low bits."""
        return 1.5 * 2.0**self.mantissa

    def bits(self, number: float) -> int:
        """The bit pattern of `number` rounded to this format."""
        value = np.asarray(number, self.dtype)
        return int(value.view(np.int64 if self.mantissa == 52 else np.int32))


FLOAT64 = Format("float64", 52, 1023, ir.DoubleType(), ir.IntType(64))
FLOAT32 = Format("float32", 23, 127, ir.FloatType(), ir.IntType(32))


class Value:
    """One scalar in flight: a floating-point number, an integer of the same width, or a truth value."""

    def __init__(self, builder: ir.IRBuilder, format: Format, value: Any, fused: bool) -> None:
        self.builder = builder
        self.format = format
        self.value = value
        #: whether the target has a fused multiply-add instruction
        self.fused = fused

    # -- building blocks of the operations below

    def _new(self, value: Any) -> Value:
        return Value(self.builder, self.format, value, self.fused)

    def _like(self, other: Operand) -> Any:
        """`other` as an LLVM value of the type of this one; Python numbers become constants."""
        if isinstance(other, Value):
            return other.value
        if self.value.type == self.format.float_type:
            return ir.Constant(self.format.float_type, float(self.format.dtype(other)))
        return ir.Constant(self.value.type, int(other))

    def _call(self, intrinsic: str, *args: Operand) -> Value:
        kind = self.format.float_type
        signature = ir.FunctionType(kind, [kind] * (1 + len(args)))
        function = self.builder.module.declare_intrinsic(intrinsic, [kind], signature)
        return self._new(self.builder.call(function, [self.value, *map(self._like, args)]))

    def constant(self, number: float) -> Value:
        """`number` in the format of this value."""
        return self._new(ir.Constant(self.format.float_type, float(self.format.dtype(number))))

    @property
    def _is_float(self) -> bool:
        return bool(self.value.type == self.format.float_type)

    def _binary(self, float_op: str, int_op: str, other: Operand, swapped: bool = False) -> Value:
        emit = getattr(self.builder, float_op if self._is_float else int_op)
        pair = (self.value, self._like(other))
        return self._new(emit(*(pair[::-1] if swapped else pair)))

    # -- arithmetic: rounded once each, never contracted or reordered

    def __add__(self, other: Operand) -> Value:
        return self._binary("fadd", "add", other)

    __radd__ = __add__

    def __sub__(self, other: Operand) -> Value:
        return self._binary("fsub", "sub", other)

    def __rsub__(self, other: Operand) -> Value:
        return self._binary("fsub", "sub", other, swapped=True)

    def __mul__(self, other: Operand) -> Value:
        return self._binary("fmul", "mul", other)

    __rmul__ = __mul__

    def __truediv__(self, other: Operand) -> Value:
        return self._new(self.builder.fdiv(self.value, self._like(other)))

    def __rtruediv__(self, other: Operand) -> Value:
        return self._new(self.builder.fdiv(self._like(other), self.value))

    def __neg__(self) -> Value:
        return self._new(self.builder.fneg(self.value))

    def __abs__(self) -> Value:
        return self._call("llvm.fabs")

    def sqrt(self) -> Value:
        return self._call("llvm.sqrt")

    def copysign(self, sign: Value) -> Value:
        """Give this magnitude the sign of `sign`."""
        return self._call("llvm.copysign", sign)

    # -- the bit pattern

    def bits(self) -> Value:
        """The bit pattern as an integer."""
        return self._new(self.builder.bitcast(self.value, self.format.int_type))

    def from_bits(self) -> Value:
        """The number whose bit pattern this integer is."""
        return self._new(self.builder.bitcast(self.value, self.format.float_type))

    def to_float(self) -> Value:
        """Convert this signed integer to the nearest floating-point number."""
        return self._new(self.builder.sitofp(self.value, self.format.float_type))

    def __lshift__(self, count: int) -> Value:
        return self._new(self.builder.shl(self.value, self._like(count)))

    def __rshift__(self, count: int) -> Value:
        """Logical shift: zeros come in from the left."""
        return self._new(self.builder.lshr(self.value, self._like(count)))

    def __and__(self, other: Operand) -> Value:
        return self._new(self.builder.and_(self.value, self._like(other)))

    def __or__(self, other: Operand) -> Value:
        return self._new(self.builder.or_(self.value, self._like(other)))

    def __xor__(self, other: Operand) -> Value:
        return self._new(self.builder.xor(self.value, self._like(other)))

    # -- comparisons: false when a NaN is involved

    def _compare(self, operator: str, other: Operand) -> Value:
        if self._is_float:
            return self._new(self.builder.fcmp_ordered(operator, self.value, self._like(other)))
        return self._new(self.builder.icmp_signed(operator, self.value, self._like(other)))

    def __lt__(self, other: Operand) -> Value:
        return self._compare("<", other)

    def __le__(self, other: Operand) -> Value:
        return self._compare("<=", other)

    def __gt__(self, other: Operand) -> Value:
        return self._compare(">", other)

    def __ge__(self, other: Operand) -> Value:
        return self._compare(">=", other)

    def equals(self, other: Operand) -> Value:
        return self._compare("==", other)

    def select(self, if_true: Operand, if_false: Operand) -> Value:
        """`if_true` where this truth value holds, else `if_false`; both are computed."""
        model = if_true if isinstance(if_true, Value) else if_false
        if not isinstance(model, Value):
            raise TypeError("select between two Python numbers: give one of them as a Value")
        return self._new(self.builder.select(self.value, model._like(if_true), model._like(if_false)))


def muladd(a: Value, b: Operand, c: Operand) -> Value:
    """a*b + c, rounded once where the target has the instruction, twice where it has not.

    The formulas built on it are accurate either way; which it is depends on the target alone.
    """
    if a.fused:
        return a._call("llvm.fma", b, c)
    return a * b + c


def polynomial(x: Value, coefficients: Sequence[float], square: Value | None = None) -> Value:
    """Sum of coefficients[k] * x**k, the even and the odd powers as two interleaved Horner chains.

    Two chains halve the latency of one and cost a single multiplication more (`square`, x*x, if it is
    not there already).
    """
    if len(coefficients) < 4:
        result: Any = coefficients[-1]
        for c in reversed(coefficients[:-1]):
            result = muladd(x, result, c)
        return result
    if square is None:
        square = x * x

    def chain(start: int) -> Any:
        terms = coefficients[start::2]
        total: Any = terms[-1]
        for c in reversed(terms[:-1]):
            total = muladd(square, total, c)
        return total

    return muladd(x, chain(1), chain(0))


def ordered_sum(a: Value, b: Value) -> tuple[Value, Value]:
    """a + b and its rounding error, exactly, provided that |a| >= |b| or a = 0."""
    total = a + b
    return total, b - (total - a)


def exact_sum(a: Value, b: Operand) -> tuple[Value, Value]:
    """a + b and its rounding error, exactly."""
    total = a + b
    part = total - b
    return total, (a - part) + (b - (total - part))


def exact_product(a: Value, b: Value) -> tuple[Value, Value]:
    """a * b and its rounding error; to within 2^-100 of the product where there is no fused instruction.

    Next to the least normal number the error is 0 there.
    """
    product = a * b
    if a.fused:
        return product, muladd(a, b, -product)
    a_high, a_low = _halves(a)
    b_high, b_low = _halves(b)
    error = ((a_high * b_high - product) + a_high * b_low) + a_low * b_high + a_low * b_low
    # The terms of the error of a product this small are subnormal: their own rounding errors add up to more than it is.
    return product, (abs(product) < 2.0 * float(np.finfo(a.format.dtype).tiny)).select(0.0, error)


def remainder(c: Value, a: Value, b: Value) -> Value:
    """c - a*b for a product that cancels most of c, exact but for the last bit of the difference."""
    if c.fused:
        return muladd(-a, b, c)
    product, error = exact_product(a, b)
    return (c - product) - error


def _halves(a: Value) -> tuple[Value, Value]:
    """`a` as a sum of two numbers with half of its significant bits each."""
    high = (a.bits() & (-1 << (a.format.mantissa // 2 + 1))).from_bits()
    return high, a - high
