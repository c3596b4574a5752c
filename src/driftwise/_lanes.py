"""Four doubles at once: the one module of driftwise that uses the processor's vector unit.

Base-learners do the same arithmetic on different numbers, so four of them share an instruction.
Their points are stored with the learner as the innermost index, in blocks of four, and a kernel written with `load`,
`store` and the operators does for four learners what it says for one. Plain loops over the same arrays were measured
first: the compiler does not vectorise them well (trip counts are short, and it cannot tell arrays apart), and a round
takes 1.4 to 1.7 times as long as in C.

Every operation is IEEE arithmetic on each lane, in the order written here and without fused multiply-adds. So
a result does not depend on the processor: on x86-64 with or without AVX and on any other target the bits are the same,
and they are those of the plain form, which stands beside each operation and is what runs under
``NUMBA_DISABLE_JIT=1`` with every index checked. Tests compare the two bit for bit.
"""

import operator
from collections.abc import Callable
from typing import Any

import numpy as np
from llvmlite import ir
from numba.core import cgutils, types
from numba.core.imputils import lower_builtin
from numba.core.typing.templates import AbstractTemplate, infer_global, signature
from numba.extending import models, register_model

from driftwise._compile import helper
from driftwise._memory import Place, built_in, part, pointer_to

WIDTH = 4

Four = Any
"""Four doubles: a vector register in compiled code, an array of shape (4,) in plain Python."""

_DOUBLE, _WHOLE, _INDEX = ir.DoubleType(), ir.IntType(64), ir.IntType(32)
_VECTOR, _WHOLES = ir.VectorType(_DOUBLE, WIDTH), ir.VectorType(_WHOLE, WIDTH)


class FourType(types.Opaque):
    """The type of four doubles."""


FOUR = FourType("Four")


@register_model(FourType)
class _FourModel(models.PrimitiveModel):
    def __init__(self, manager: Any, kind: Any) -> None:
        super().__init__(manager, kind, _VECTOR)  # type: ignore[no-untyped-call]


def _at(k: int) -> Any:
    return ir.Constant(_INDEX, k)


def _everywhere(builder: Any, value: Any) -> Any:
    """Put one number into all lanes."""
    kind = ir.VectorType(value.type, WIDTH)
    single = builder.insert_element(ir.Constant(kind, ir.Undefined), value, _at(0))
    places = ir.Constant(ir.VectorType(_INDEX, WIDTH), [0] * WIDTH)
    return builder.shuffle_vector(single, ir.Constant(kind, ir.Undefined), places)


def _constant(value: float) -> Any:
    return ir.Constant(_VECTOR, [value] * WIDTH)


def _operator(symbol: Any, instruction: str) -> None:
    """Let + - * / work on fours, and on a four and a number."""

    @infer_global(symbol)
    class _Typing(AbstractTemplate):
        key = symbol

        def generic(self, args: Any, kws: Any) -> Any:
            if FOUR in args and all(kind in (FOUR, types.float64) for kind in args):
                return signature(FOUR, *args)
            return None

    def generate(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        pair = zip(args, sig.args, strict=True)
        sides = [value if kind is FOUR else _everywhere(builder, value) for value, kind in pair]
        return getattr(builder, instruction)(*sides)

    for kinds in ((FOUR, FOUR), (FOUR, types.float64), (types.float64, FOUR)):
        lower_builtin(symbol, *kinds)(generate)


for _symbol, _instruction in (
    (operator.add, "fadd"),
    (operator.sub, "fsub"),
    (operator.mul, "fmul"),
    (operator.truediv, "fdiv"),
):
    _operator(_symbol, _instruction)


def _of_fours(plain: Callable[..., Any], count: int, build: Callable[..., Any], result: Any = FOUR) -> Any:
    """Make an operation on `count` fours from its plain statement and the code that it generates."""
    inputs = [FOUR] * count

    def generate(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        return build(builder, *args)

    # numba reads the number of arguments off the function.
    if count == 1:
        return built_in(plain)(lambda typing, a: (result(*inputs), generate))
    if count == 2:
        return built_in(plain)(lambda typing, a, b: (result(*inputs), generate))
    return built_in(plain)(lambda typing, a, b, c, d: (result(*inputs), generate))


def _plain_load(numbers: Any, index: int) -> Any:
    place = numbers if isinstance(numbers, Place) else part(numbers, 0)
    return place.numbers[place.at(index, WIDTH)].copy()


@built_in(_plain_load)
def load(typing: Any, numbers: Any, index: Any) -> Any:
    """Return the four numbers that begin at ``numbers[index]``."""

    def generate(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        address = pointer_to(context, builder, sig.args[0], args[0], args[1])
        value = builder.load(builder.bitcast(address, _VECTOR.as_pointer()))
        value.align = 8  # numpy guarantees no more
        return value

    return FOUR(numbers, types.intp), generate


def _plain_store(numbers: Any, index: int, value: Any) -> None:
    place = numbers if isinstance(numbers, Place) else part(numbers, 0)
    place.numbers[place.at(index, WIDTH)] = value


@built_in(_plain_store)
def store(typing: Any, numbers: Any, index: Any, value: Any) -> Any:
    """Write four numbers to where ``numbers[index]`` begins."""

    def generate(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        address = pointer_to(context, builder, sig.args[0], args[0], args[1])
        builder.store(args[2], builder.bitcast(address, _VECTOR.as_pointer())).align = 8
        return context.get_dummy_value()

    return types.none(numbers, types.intp, FOUR), generate


@built_in(lambda value: np.full(WIDTH, value))
def splat(typing: Any, value: Any) -> Any:
    """Return one number in all lanes."""
    return FOUR(types.float64), lambda context, builder, sig, args: _everywhere(builder, args[0])


def _intrinsic(name: str) -> Callable[..., Any]:
    def build(builder: Any, *args: Any) -> Any:
        kind = ir.FunctionType(_VECTOR, [_VECTOR] * len(args))
        return builder.call(cgutils.get_or_insert_function(builder.module, kind, f"llvm.{name}.v4f64"), args)

    return build


def _pick(comparison: str) -> Callable[..., Any]:
    """Select by a comparison of the first two arguments."""

    def build(builder: Any, x: Any, y: Any, yes: Any, no: Any) -> Any:
        return builder.select(builder.fcmp_ordered(comparison, x, y), yes, no)

    return build


root = _of_fours(np.sqrt, 1, _intrinsic("sqrt"))
"""The square root of each lane."""

size = _of_fours(np.abs, 1, _intrinsic("fabs"))
"""The absolute value of each lane."""

lesser = _of_fours(lambda x, y: np.where(x < y, x, y), 2, lambda b, x, y: _pick("<")(b, x, y, x, y))
"""The lesser of two, in each lane."""

greater = _of_fours(lambda x, y: np.where(x > y, x, y), 2, lambda b, x, y: _pick(">")(b, x, y, x, y))
"""The greater of two, in each lane."""

where_above = _of_fours(lambda x, y, yes, no: np.where(x > y, yes, no), 4, _pick(">"))
"""``yes`` in the lanes where x > y, else ``no``."""


def _any_above(builder: Any, x: Any, y: Any) -> Any:
    flags = builder.bitcast(builder.fcmp_ordered(">", x, y), ir.IntType(WIDTH))
    return builder.icmp_unsigned("!=", flags, ir.Constant(ir.IntType(WIDTH), 0))


any_above = _of_fours(lambda x, y: bool(np.any(x > y)), 2, _any_above, types.boolean)
"""Whether x > y in any lane."""


def _fold(pair: Callable[..., Any]) -> Callable[..., Any]:
    """Combine the lanes: (x0, x2) and (x1, x3) first."""

    def build(builder: Any, x: Any) -> Any:
        a, b, c, d = (builder.extract_element(x, _at(k)) for k in range(WIDTH))
        return pair(builder, pair(builder, a, c), pair(builder, b, d))

    return build


def _choose(comparison: str) -> Callable[..., Any]:
    return lambda builder, x, y: builder.select(builder.fcmp_ordered(comparison, x, y), x, y)


def _plain_fold(pair: Callable[..., Any]) -> Callable[..., float]:
    """Do the same to an array of four."""
    return lambda x: float(pair(pair(x[0], x[2]), pair(x[1], x[3])))


total = _of_fours(_plain_fold(operator.add), 1, _fold(lambda b, x, y: b.fadd(x, y)), types.float64)
"""The sum of the lanes, as (x0 + x2) + (x1 + x3)."""

least_of = _of_fours(_plain_fold(lambda x, y: x if x < y else y), 1, _fold(_choose("<")), types.float64)
"""The least of the lanes."""

most_of = _of_fours(_plain_fold(lambda x, y: x if x > y else y), 1, _fold(_choose(">")), types.float64)
"""The greatest of the lanes."""


def _plain_transposed(a: Any, b: Any, c: Any, d: Any) -> Any:
    return tuple(np.array([a, b, c, d]).T.copy())


@built_in(_plain_transposed)
def transposed(typing: Any, a: Any, b: Any, c: Any, d: Any) -> Any:
    """Return the first lanes of four fours, their second lanes, and so on."""
    four_fours = types.UniTuple(FOUR, WIDTH)

    def generate(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        def pick(x: Any, y: Any, lanes: list[int]) -> Any:
            return builder.shuffle_vector(x, y, ir.Constant(ir.VectorType(_INDEX, WIDTH), lanes))

        even = [pick(args[k], args[k + 1], [0, 4, 2, 6]) for k in (0, 2)]
        odd = [pick(args[k], args[k + 1], [1, 5, 3, 7]) for k in (0, 2)]
        rows = [pick(pair[0], pair[1], lanes) for lanes in ([0, 1, 4, 5], [2, 3, 6, 7]) for pair in (even, odd)]
        return context.make_tuple(builder, four_fours, rows)

    return four_fours(FOUR, FOUR, FOUR, FOUR), generate


@helper
def totals_of(a: Four, b: Four, c: Four, d: Four) -> Four:
    """Return the sums of the lanes of four fours, each as `total` adds them up."""
    w, x, y, z = transposed(a, b, c, d)
    return (w + y) + (x + z)


_SHIFT = 6755399441055744.0
"""1.5 * 2^52: adding it rounds a small number to an integer, which is left in the last bits."""


def _plain_power_of_two(x: Any) -> Any:
    bits = (x + _SHIFT).view(np.int64) << np.int64(52)
    return (bits + np.float64(1.0).view(np.int64)).view(np.float64)


def _power_of_two(builder: Any, x: Any) -> Any:
    bits = builder.bitcast(builder.fadd(x, _constant(_SHIFT)), _WHOLES)
    bits = builder.shl(bits, ir.Constant(_WHOLES, [52] * WIDTH))
    one = int(np.float64(1.0).view(np.int64))
    return builder.bitcast(builder.add(bits, ir.Constant(_WHOLES, [one] * WIDTH)), _VECTOR)


_power_of_two_of_whole = _of_fours(_plain_power_of_two, 1, _power_of_two)
"""2^x for whole x from -1022 to 1023."""

LOWEST = -707.0
"""Below this, exp is taken to be 0: it is less than 1e-307."""

_C2, _C3, _C4, _C5, _C6, _C7 = 1 / 2, 1 / 6, 1 / 24, 1 / 120, 1 / 720, 1 / 5040
_C8, _C9, _C10, _C11, _C12, _C13 = 1 / 40320, 1 / 362880, 1 / 3628800, 1 / 39916800, 1 / 479001600, 1 / 6227020800


@helper
def exp_less_1_parts(x: Four) -> tuple[Four, Four]:
    """Return s = 2^n and q with exp(x) = s + s q for LOWEST <= x <= 0, to within an ulp or so.

    x = n ln 2 + r with |r| <= ln(2) / 2 (Cody and Waite: ln 2 in two parts, so that n times the first is exact), and
    q = exp(r) - 1 by Taylor's polynomial of degree 13. Since s - 1 is exact and q is small, (s - 1) + s q is exp(x) - 1
    without loss of digits near 0.
    """
    whole = (x * 1.4426950408889634 + 6755399441055744.0) - 6755399441055744.0
    r = (x - whole * 0.693145751953125) - whole * 1.4286068203094173e-06
    r2 = r * r
    r4 = r2 * r2
    low = (_C2 + _C3 * r) + (_C4 + _C5 * r) * r2
    mid = (_C6 + _C7 * r) + (_C8 + _C9 * r) * r2
    high = (_C10 + _C11 * r) + (_C12 + _C13 * r) * r2
    q = r + r2 * (low + r4 * (mid + r4 * high))
    return _power_of_two_of_whole(whole), q


@helper
def exp_of(x: Four) -> Four:
    """Return exp(x) for x <= 0, -inf included; 0 below LOWEST."""
    floor = splat(LOWEST)
    s, q = exp_less_1_parts(greater(x, floor))
    return where_above(floor, x, splat(0.0), s + s * q)


@helper
def exp_less_1_of(x: Four) -> Four:
    """Return exp(x) - 1 for x <= 0, without loss of digits near 0."""
    s, q = exp_less_1_parts(greater(x, splat(LOWEST)))
    return (s - 1.0) + s * q
