"""Vectors of numbers inside compiled code: what numba lacks to keep a row's sums in registers.

numba leaves vectorising to LLVM, which will not hold several sums of unknown width in registers across a loop over
neighbours.  These few operations say it outright; LLVM maps them to whatever the processor has (AVX, SSE, NEON).
Rows are those of a C-contiguous matrix.  Nothing is checked here: callers stay inside the array.
"""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic as numba_intrinsic
from numba.extending import models, register_model

intrinsic: Any = numba_intrinsic  # what it makes of a function has another signature: that of compiled code
LINE = 64  # bytes that a processor fetches at a time


class Vector(types.Type):
    """``lanes`` numbers of one floating type, as one value."""

    def __init__(self, scalar: Any, lanes: int) -> None:
        self.scalar = scalar
        self.lanes = lanes
        super().__init__(name=f"Vector({scalar} x {lanes})")


@register_model(Vector)
class _VectorModel(models.PrimitiveModel):
    def __init__(self, manager: Any, kind: Vector) -> None:
        super().__init__(manager, kind, ir.VectorType(manager.lookup(kind.scalar).get_data_type(), kind.lanes))


@intrinsic(prefer_literal=True)
def zeros(context: Any, array: Any, lanes: Any) -> Any:
    """Return ``lanes`` (a constant) zeros of the type of ``array``."""
    kind = Vector(array.dtype, lanes.literal_value)
    return kind(array, lanes), lambda ctx, builder, sig, args: ir.Constant(ctx.get_data_type(kind), None)


@intrinsic
def load(context: Any, like: Any, array: Any, row: Any, column: Any, count: Any) -> Any:
    """Return as many numbers as ``like`` has, from ``array[row, column]`` on.

    With a ``count`` only so many are read, and zeros come after them; ``None`` reads all.
    """

    def code(ctx: Any, builder: Any, sig: Any, args: Any) -> Any:
        pointer = _address(ctx, builder, sig, args, 1, like)
        if isinstance(count, types.NoneType):
            return builder.load(pointer, align=_size(like))
        vector = pointer.type.pointee
        mask = _first(ctx, builder, count, args[4], like.lanes)
        kind = ir.FunctionType(vector, [pointer.type, ir.IntType(32), mask.type, vector])
        masked = cgutils.get_or_insert_function(builder.module, kind, f"llvm.masked.load.{_suffix(vector)}.p0")
        return builder.call(masked, [pointer, ir.IntType(32)(_size(like)), mask, ir.Constant(vector, None)])

    return like(like, array, row, column, count), code


@intrinsic
def store(context: Any, array: Any, row: Any, column: Any, value: Any, count: Any) -> Any:
    """Write a vector, or its first ``count`` numbers, to ``array[row, column]`` and what follows."""

    def code(ctx: Any, builder: Any, sig: Any, args: Any) -> Any:
        pointer = _address(ctx, builder, sig, args, 0, value)
        if isinstance(count, types.NoneType):
            builder.store(args[3], pointer, align=_size(value))
            return ctx.get_dummy_value()
        mask = _first(ctx, builder, count, args[4], value.lanes)
        kind = ir.FunctionType(ir.VoidType(), [args[3].type, pointer.type, ir.IntType(32), mask.type])
        name = f"llvm.masked.store.{_suffix(args[3].type)}.p0"
        masked = cgutils.get_or_insert_function(builder.module, kind, name)
        builder.call(masked, [args[3], pointer, ir.IntType(32)(_size(value)), mask])
        return ctx.get_dummy_value()

    return types.void(array, row, column, value, count), code


@intrinsic
def multiply_add(context: Any, x: Any, y: Any, total: Any) -> Any:
    """Return ``x y + total``; ``x`` is a number or a vector."""

    def code(ctx: Any, builder: Any, sig: Any, args: Any) -> Any:
        x_value = args[0] if isinstance(x, Vector) else _splat(ctx, builder, x, args[0], total)
        vector = args[2].type
        kind = ir.FunctionType(vector, [vector] * 3)
        fma = cgutils.get_or_insert_function(builder.module, kind, f"llvm.fmuladd.{_suffix(vector)}")
        return builder.call(fma, [x_value, args[1], args[2]])

    return total(x, y, total), code


@intrinsic
def add(context: Any, x: Any, y: Any) -> Any:
    """Return ``x + y``."""
    return x(x, y), lambda ctx, builder, sig, args: builder.fadd(*args)


@intrinsic
def subtract(context: Any, x: Any, y: Any) -> Any:
    """Return ``x - y``."""
    return x(x, y), lambda ctx, builder, sig, args: builder.fsub(*args)


@intrinsic
def multiply(context: Any, x: Any, y: Any) -> Any:
    """Return ``x y``."""
    return x(x, y), lambda ctx, builder, sig, args: builder.fmul(*args)


@intrinsic
def divide(context: Any, x: Any, y: Any) -> Any:
    """Return ``x / y``."""
    return x(x, y), lambda ctx, builder, sig, args: builder.fdiv(*args)


@intrinsic
def splat(context: Any, like: Any, number: Any) -> Any:
    """Return a vector of one number over and over."""
    return like(like, number), lambda ctx, builder, sig, args: _splat(ctx, builder, number, args[1], like)


@intrinsic
def larger(context: Any, x: Any, y: Any) -> Any:
    """Return the larger of two vectors, lane by lane; NaN in ``x`` stays."""

    def code(ctx: Any, builder: Any, sig: Any, args: Any) -> Any:
        return builder.select(builder.fcmp_ordered("<", *args), args[1], args[0])

    return x(x, y), code


@intrinsic
def where_positive(context: Any, x: Any, yes: Any, no: Any) -> Any:
    """Return ``yes`` in the lanes where ``x`` is above 0, else ``no``."""

    def code(ctx: Any, builder: Any, sig: Any, args: Any) -> Any:
        above = builder.fcmp_ordered(">", args[0], ir.Constant(args[0].type, None))
        return builder.select(above, args[1], args[2])

    return yes(x, yes, no), code


@intrinsic
def nearest(context: Any, x: Any) -> Any:
    """Return every number rounded to a whole one."""

    def code(ctx: Any, builder: Any, sig: Any, args: Any) -> Any:
        kind = ir.FunctionType(args[0].type, [args[0].type])
        rint = cgutils.get_or_insert_function(builder.module, kind, f"llvm.rint.{_suffix(args[0].type)}")
        return builder.call(rint, args)

    return x(x), code


@intrinsic
def power_of_two(context: Any, x: Any) -> Any:
    """Return ``2^x`` for whole numbers within the exponents of the type, by writing the exponent's bits."""

    def code(ctx: Any, builder: Any, sig: Any, args: Any) -> Any:
        bits, mantissa, bias = (32, 23, 127) if _size(x) == 4 else (64, 52, 1023)
        whole = ir.VectorType(ir.IntType(bits), x.lanes)
        constant = lambda n: ir.Constant(whole, [ir.IntType(bits)(n)] * x.lanes)  # noqa: E731
        exponent = builder.add(builder.fptosi(args[0], whole), constant(bias))
        return builder.bitcast(builder.shl(exponent, constant(mantissa)), args[0].type)

    return x(x), code


@intrinsic
def total(context: Any, x: Any) -> Any:
    """Return the sum of a vector's numbers, by halves: upper to lower until one is left."""

    def code(ctx: Any, builder: Any, sig: Any, args: Any) -> Any:
        (value,) = args
        i32 = ir.IntType(32)
        while value.type.count > 1:
            half = value.type.count // 2
            lower, upper = (
                builder.shuffle_vector(
                    value, value, ir.Constant(ir.VectorType(i32, half), [i32(n + at) for n in range(half)])
                )
                for at in (0, half)
            )
            value = builder.fadd(lower, upper)
        return builder.extract_element(value, i32(0))

    return x.scalar(x), code


@intrinsic
def prefetch(context: Any, like: Any, array: Any, row: Any, column: Any) -> Any:
    """Ask for the memory that a later :func:`load` of the same place will want."""

    def code(ctx: Any, builder: Any, sig: Any, args: Any) -> Any:
        address = builder.ptrtoint(_address(ctx, builder, sig, args, 1, like), ir.IntType(64))
        i32, byte = ir.IntType(32), ir.IntType(8).as_pointer()
        kind = ir.FunctionType(ir.VoidType(), [byte, i32, i32, i32])
        fetch = cgutils.get_or_insert_function(builder.module, kind, "llvm.prefetch.p0")
        for offset in range(0, like.lanes * _size(like), LINE):
            pointer = builder.inttoptr(builder.add(address, ir.IntType(64)(offset)), byte)
            builder.call(fetch, [pointer, i32(0), i32(3), i32(1)])  # a read, to be kept, of data
        return ctx.get_dummy_value()

    return types.void(like, array, row, column), code


def _size(vector: Vector) -> int:
    return int(vector.scalar.bitwidth) // 8


def _suffix(vector: Any) -> str:
    return f"v{vector.count}f{64 if isinstance(vector.element, ir.DoubleType) else 32}"


def _splat(ctx: Any, builder: Any, kind: Any, number: Any, like: Vector) -> Any:
    vector = ctx.get_data_type(like)
    one = builder.insert_element(
        ir.Constant(vector, ir.Undefined), ctx.cast(builder, number, kind, like.scalar), ir.IntType(32)(0)
    )
    return builder.shuffle_vector(
        one, ir.Constant(vector, ir.Undefined), ir.Constant(ir.VectorType(ir.IntType(32), like.lanes), None)
    )


def _first(ctx: Any, builder: Any, kind: Any, count: Any, lanes: int) -> Any:
    """Return a mask that is true in the first ``count`` lanes."""
    i32 = ir.IntType(32)
    vector = ir.VectorType(i32, lanes)
    one = builder.insert_element(ir.Constant(vector, ir.Undefined), ctx.cast(builder, count, kind, types.int32), i32(0))
    counts = builder.shuffle_vector(one, ir.Constant(vector, ir.Undefined), ir.Constant(vector, None))
    return builder.icmp_signed("<", ir.Constant(vector, [i32(lane) for lane in range(lanes)]), counts)


def _address(ctx: Any, builder: Any, sig: Any, args: Any, first: int, like: Vector) -> Any:
    """Return a pointer to ``array[row, column]``, the arguments from ``first`` on, for a vector."""
    array = ctx.make_array(sig.args[first])(ctx, builder, args[first])
    row, column = (ctx.cast(builder, args[first + n], sig.args[first + n], types.intp) for n in (1, 2))
    stride = builder.extract_value(array.strides, 0)
    size = ir.IntType(64)(_size(like))
    offset = builder.add(builder.mul(row, stride), builder.mul(column, size))
    address = builder.add(builder.ptrtoint(array.data, ir.IntType(64)), offset)
    return builder.inttoptr(address, ctx.get_data_type(like).as_pointer())
