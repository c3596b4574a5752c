"""Members that forecast disturbances and answer to the forecast by the preview of the model, compiled.

A forecast is of y = L'w (``policies.model``), one row a round, four coordinates at a time. *hold* says that y stays
as it is, smoothed. An autoregression of order p says ::

    y_{t+1} = c_0 cut + sum_{j=1..p} c_j y_{t+1-j}

with coefficients from normal equations in which a round counts for less in the next, and a ridge that only keeps them
solvable; the constant is in units of the largest y so far, so that units do not matter. Forecasts are cut at 1.5 times
the largest y, which fades.
"""

from driftwise._compile import aside, helper
from driftwise._lanes import greater, lesser, load, size, splat, store, where_above
from driftwise._memory import Pointer, at, part, whole_at
from driftwise.control.plants.kernels import add_product
from driftwise.control.policies.engine import clear, copy_to
from driftwise.control.self_tuned import pool as slot
from driftwise.domains.kernels import dot

RIDGE = 1e-9
"""Ridge of the normal equations, in units of their mean diagonal."""

FLAT, DROPPED = 1e-30, 1e30
"""Pivots below FLAT times the trace are set to DROPPED times the trace, which drops the direction."""

REACH, KEPT = 1.5, 0.999
"""Forecasts are cut at REACH times the largest y; what a round counts for in that, in the next."""

EXPERIENCED, SURE = 6.0, 1.0
"""What is foreseen counts in V after so many disturbances, and up to this evidence for another model: where the model
is wrong, boldness in the first rounds makes the loop ring."""

_HOLDS, _FITTED = len(slot.HOLDS), len(slot.AUTOREGRESSIONS)


@aside
def solve(moments: Pointer, sides: Pointer, out: Pointer, room: Pointer, q: int, lanes: int) -> None:
    """Solve the normal equations of every lane: (moments + ridge) out = sides, by L D L' without roots.

    `moments` is (q, q, lanes), of which the lower half is read; `room` holds q (q + 2) lanes.
    """
    pivots = part(room, q * q * lanes)
    row = q * lanes
    for k in range(0, lanes, 4):
        trace = splat(0.0)
        for i in range(q):
            trace = trace + load(moments, i * row + i * lanes + k)
        ridge = (RIDGE / q) * trace
        for i in range(q):
            # Below the diagonal `room` has L, above it L D.
            for j in range(i):
                total = load(moments, i * row + j * lanes + k)
                for m in range(j):
                    total = total - load(room, m * row + i * lanes + k) * load(room, j * row + m * lanes + k)
                store(room, j * row + i * lanes + k, total)
                store(room, i * row + j * lanes + k, total / load(pivots, j * lanes + k))
            pivot = load(moments, i * row + i * lanes + k) + ridge
            for m in range(i):
                pivot = pivot - load(room, m * row + i * lanes + k) * load(room, i * row + m * lanes + k)
            pivot = where_above(pivot, FLAT * trace, pivot, DROPPED * trace)
            store(pivots, i * lanes + k, where_above(pivot, splat(0.0), pivot, splat(1.0)))
        for i in range(q):
            total = load(sides, i * lanes + k)
            for m in range(i):
                total = total - load(room, i * row + m * lanes + k) * load(out, m * lanes + k)
            store(out, i * lanes + k, total)
        for i in range(q - 1, -1, -1):
            total = load(out, i * lanes + k) / load(pivots, i * lanes + k)
            for m in range(i + 1, q):
                total = total - load(room, m * row + i * lanes + k) * load(out, m * lanes + k)
            store(out, i * lanes + k, total)


@helper
def _regressor(pool: Pointer, j: int, order: int, k: int) -> Pointer:
    """Return where regressor j of coordinate k is: a lag, or the unit of the constant."""
    wide = whole_at(pool, slot.WIDE)
    return part(at(pool, slot.RECENT_AT), j * wide + k) if j < order else part(at(pool, slot.CUTS_AT), k)


@aside
def _learn_regression(pool: Pointer, row: Pointer) -> None:
    """Let an autoregression learn from the newest y, before that is one of the lags."""
    order, q, lanes, wide = (
        whole_at(row, slot.ORDER),
        whole_at(row, slot.ENTRIES),
        whole_at(row, slot.LANES_OF),
        whole_at(pool, slot.WIDE),
    )
    keep, each, y = row[slot.KEEP], row[slot.EACH], at(pool, slot.Y_AT)
    mine, room = at(pool, slot.REGRESSIONS_AT), at(pool, slot.SOLVE_AT)
    moments, sides = part(mine, whole_at(row, slot.MOMENTS_OF)), part(mine, whole_at(row, slot.SIDES_OF))
    coefficients, heard = part(mine, whole_at(row, slot.COEFFICIENTS_OF)), whole_at(pool, slot.HEARD)
    # Rounds in which some lag was not heard yet would spoil the fit.
    if heard <= order:
        return
    if each == 0.0:
        # Products of lags one later are those of the round before, and those of the first round, which are kept in the
        # second lane; only those with the newest lag are new.
        first, recent = keep ** (heard - order - 1.0), at(pool, slot.RECENT_AT)
        for i in range(q - 1, 0, -1):
            for j in range(i, 0, -1):
                place = part(moments, (i * q + j) * lanes)
                if heard == order + 1:
                    place[1] = dot(part(recent, i * wide), part(recent, j * wide), wide)
                place[0] = moments[((i - 1) * q + j - 1) * lanes] + first * place[1]
        for i in range(q):
            lag = part(at(pool, slot.RECENT_AT), i * wide)
            moments[i * q * lanes] = keep * moments[i * q * lanes] + dot(lag, at(pool, slot.RECENT_AT), wide)
            sides[i * lanes] = keep * sides[i * lanes] + dot(lag, y, wide)
    else:
        for i in range(q):
            for j in range(i + 2):
                # The last column is for y itself.
                place = part(moments, (i * q + j) * lanes) if j <= i else part(sides, i * lanes)
                for k in range(0, lanes, 4):
                    other = _regressor(pool, j, order, k) if j <= i else part(y, k)
                    product = load(_regressor(pool, i, order, k), 0) * load(other, 0)
                    store(place, k, keep * load(place, k) + product)
    if heard % whole_at(row, slot.EVERY) != 0 and heard != whole_at(row, slot.SILENT):
        return
    solve(moments, sides, coefficients, room, q, lanes)
    if each == 0.0:
        # Shared coefficients are spread over all coordinates, from the last on as they stand at the beginning.
        for i in range(q - 1, -1, -1):
            shared = splat(coefficients[i * lanes])
            for k in range(0, wide, 4):
                store(coefficients, i * wide + k, shared)


@aside
def hear(pool: Pointer, w: Pointer, learn: int) -> None:
    """Take in a disturbance; after samples were lost it is one of several rounds, and nothing is learnt from it."""
    n, wide = whole_at(pool, slot.STATES), whole_at(pool, slot.WIDE)
    y, recent, cuts = at(pool, slot.Y_AT), at(pool, slot.RECENT_AT), at(pool, slot.CUTS_AT)
    clear(y, wide)
    add_product(at(pool, slot.SCALE_AT), n, n, w, y)
    if learn == 1:
        pool[slot.HEARD] += 1.0
        for r in range(_FITTED):
            _learn_regression(pool, part(at(pool, slot.TABLE_AT), slot.COLUMNS * r))
        for k in range(0, wide, 4):
            store(cuts, k, greater(KEPT * load(cuts, k), REACH * size(load(y, k))))
        for h in range(_HOLDS):
            held = part(at(pool, slot.HELD_AT), h * wide)
            share = max(slot.HOLDS[h], 1.0 / pool[slot.HEARD])
            for k in range(0, wide, 4):
                store(held, k, load(held, k) + share * (load(y, k) - load(held, k)))
    else:
        for k in range(0, wide, 4):
            store(y, k, lesser(greater(load(y, k), splat(0.0) - load(cuts, k)), load(cuts, k)))
    for j in range(slot.DEEPEST - 1, 0, -1):
        copy_to(part(recent, j * wide), part(recent, (j - 1) * wide), wide)
    copy_to(recent, y, wide)
    states = whole_at(pool, slot.GIVEN_STATES)
    if states > 0:
        room = at(pool, slot.SOLVE_AT)
        clear(room, states)
        add_product(at(pool, slot.GIVEN_A_AT), states, states, at(pool, slot.GIVEN_AT), room)
        add_product(at(pool, slot.GIVEN_B_AT), states, n, w, room)
        copy_to(at(pool, slot.GIVEN_AT), room, states)


@aside
def temper(pool: Pointer, w: Pointer) -> None:
    """Shorten what explains the first state after samples were lost: it is of several rounds, and may be anything."""
    n, scale, cuts, share = whole_at(pool, slot.STATES), at(pool, slot.SCALE_AT), at(pool, slot.CUTS_AT), 1.0
    for k in range(n):
        length = abs(dot(part(scale, k * n), w, n))
        if length > cuts[k]:
            share = min(share, cuts[k] / length)
    for k in range(n):
        w[k] *= share


@aside
def _answer_regression(pool: Pointer, row: Pointer, out: Pointer) -> None:
    """Write the answer to the forecast of an autoregression."""
    order, q, wide, du = (
        whole_at(row, slot.ORDER),
        whole_at(row, slot.ENTRIES),
        whole_at(pool, slot.WIDE),
        whole_at(pool, slot.DU),
    )
    recent, cuts, preview = at(pool, slot.RECENT_AT), at(pool, slot.CUTS_AT), at(pool, slot.PREVIEW_AT)
    coefficients = part(at(pool, slot.REGRESSIONS_AT), whole_at(row, slot.COEFFICIENTS_OF))
    forecast = at(pool, slot.FORECAST_AT)
    clear(out, du)
    if pool[slot.HEARD] < row[slot.SILENT]:
        return
    for j in range(order):
        copy_to(part(forecast, (order - 1 - j) * wide), part(recent, j * wide), wide)
    for s in range(whole_at(pool, slot.AHEAD)):
        for k in range(0, wide, 4):
            total = splat(0.0)
            for j in range(order):
                total = total + load(coefficients, j * wide + k) * load(forecast, (order - 1 - j + s) * wide + k)
            if q > order:
                total = total + load(coefficients, order * wide + k) * load(cuts, k)
            total = lesser(greater(total, splat(0.0) - load(cuts, k)), load(cuts, k))
            store(forecast, (order + s) * wide + k, total)
        for a in range(du):
            out[a] -= dot(part(preview, (s * du + a) * wide), part(forecast, (order + s) * wide), wide)


@helper
def _look_ahead(pool: Pointer, row: Pointer) -> None:
    """Write what the disturbances to come, as an autoregression has just foreseen them, add to the slope of V.

    The slope is 2 sum_{k>=1} (A_K')^k P w_{t+k-1}, by a recursion from the last of them.
    """
    nz, wide, order = whole_at(pool, slot.NZ), whole_at(pool, slot.WIDE), whole_at(row, slot.ORDER)
    now, forecast = at(pool, slot.TURN_AT), at(pool, slot.FORECAST_AT)
    turned, onto, other = at(pool, slot.TURNED_AT), at(pool, slot.ONTO_AT), part(now, nz)
    clear(now, nz)
    if pool[slot.HEARD] >= EXPERIENCED and pool[slot.DOUBT] <= SURE:
        for s in range(whole_at(pool, slot.AHEAD) - 1, -1, -1):
            for r in range(nz):
                other[r] = now[r] + dot(part(onto, r * wide), part(forecast, (order + s) * wide), wide)
            clear(now, nz)
            add_product(turned, nz, nz, other, now)
    copy_to(at(pool, slot.TAIL_AT), now, nz)


@aside
def answer_forecasts(pool: Pointer) -> None:
    """Write what every member that forecasts adds to the best input, and what those that were given play."""
    wide, du, states = whole_at(pool, slot.WIDE), whole_at(pool, slot.DU), whole_at(pool, slot.GIVEN_STATES)
    extras = at(pool, slot.EXTRAS_AT)
    for h in range(_HOLDS):
        for a in range(du):
            whole = part(at(pool, slot.WHOLE_AT), a * wide)
            extras[(1 + h) * du + a] = -dot(whole, part(at(pool, slot.HELD_AT), h * wide), wide)
    for r in range(_FITTED):
        out = part(extras, (1 + _HOLDS + r) * du)
        row = part(at(pool, slot.TABLE_AT), slot.COLUMNS * r)
        _answer_regression(pool, row, out)
        if r == 0 and pool[slot.LOOKING] == 1.0:
            _look_ahead(pool, row)
    for g in range(whole_at(pool, slot.GIVEN)):
        out = part(extras, (1 + _HOLDS + _FITTED + g) * du)
        clear(out, du)
        add_product(part(at(pool, slot.GIVEN_C_AT), g * du * states), du, states, at(pool, slot.GIVEN_AT), out)
