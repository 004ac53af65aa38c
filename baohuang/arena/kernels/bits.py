"""Instructions of the processor that Python has no word for."""

from __future__ import annotations

from typing import Any, Final

import llvmlite.ir
import numba.extending
from numba import types

# Neither has types of its own for what is used here.
_extending: Final[Any] = numba.extending
ir: Final[Any] = llvmlite.ir
_LONG: Final[Any] = types.int64
_VECTOR: Final[Any] = ir.VectorType(ir.IntType(16), 16)


@_extending.intrinsic  # type: ignore[untyped-decorator]
def lowest_bit(_context: Any, mask: Any) -> Any:
    """The place of the lowest bit of a mask that is not 0."""

    def generate(_context: Any, builder: Any, _signature: Any, arguments: Any) -> Any:
        return builder.cttz(arguments[0], ir.Constant(ir.IntType(1), 1))

    return _LONG(_LONG), generate


@_extending.intrinsic  # type: ignore[untyped-decorator]
def count_bits(_context: Any, mask: Any) -> Any:
    """How many bits of a mask are set."""

    def generate(_context: Any, builder: Any, _signature: Any, arguments: Any) -> Any:
        return builder.ctpop(arguments[0])

    return _LONG(_LONG), generate


@_extending.intrinsic  # type: ignore[untyped-decorator]
def below(_context: Any, value: Any, bound: Any) -> Any:
    """`value`, with the promise that 0 <= value < bound: as an index its sign need not be looked at.

    A promise that is not kept has no defined result.
    """

    def generate(_context: Any, builder: Any, _signature: Any, arguments: Any) -> Any:
        builder.assume(builder.icmp_unsigned("<", *arguments))
        return arguments[0]

    return _LONG(_LONG, _LONG), generate


@_extending.intrinsic  # type: ignore[untyped-decorator]
def put_stairs(_context: Any, row: Any, first: Any, bit: Any, height: Any) -> Any:
    """Of the sixteen entries of a row from `first` on, sets a bit in the first `height` and clears it in the
    others. All at once, since a loop over those that change would end unforeseeably.
    """

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        array = context.make_array(signature.args[0])(context, builder, arguments[0])
        place = builder.gep(array.data, [arguments[1]])
        place = builder.bitcast(place, _VECTOR.as_pointer())
        before = builder.load(place, align=2)
        bits, heights = _spread(builder, arguments[2]), _spread(builder, arguments[3])
        under = builder.icmp_signed("<", ir.Constant(_VECTOR, list(range(16))), heights)
        without = builder.and_(before, builder.not_(bits))
        builder.store(builder.select(under, builder.or_(before, bits), without), place, align=2)
        return context.get_dummy_value()

    return types.void(row, _LONG, _LONG, _LONG), generate


def _spread(builder: Any, value: Any) -> Any:
    """A vector of sixteen times the same short number."""
    empty, lane = ir.Constant(_VECTOR, ir.Undefined), ir.IntType(32)
    one = builder.insert_element(empty, builder.trunc(value, ir.IntType(16)), lane(0))
    return builder.shuffle_vector(one, empty, ir.Constant(ir.VectorType(lane, 16), [0] * 16))
