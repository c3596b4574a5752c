"""One step of a frozen policy, compiled; the C code of ``export`` is the same, operation by operation.

The order of the arithmetic is part of the format, since exported code must give the same bits: plain double
operations, none of them fused, every sum from left to right ::

    ahead_i = sum_k A_ik z_k, then + B_ik (u_k - rest_k)          from 0; in the first round 0
    states:   w_i = (x_i - level_i) - ahead_i, z_i = x_i - level_i
    observer: w_i = sum_k L_ik gap_k, z_i = ahead_i + w_i, gap_i = (y_i - level_i) - C_i1 z_1 - C_i2 z_2 - ...
    u_a     = base_a - K_a1 z_1 - K_a2 z_2 - ... + M[1]_a1 w_{t-1,1} + ... + M[1]_an w_{t-1,n} + M[2]_a1 w_{t-2,1} + ...

then limited to the rate around the last input, then to the limits. Sums over 1e100 in size count as 1e100, and what is
not a number as 0, so that every number that is kept, and every input, is finite.
"""

from driftwise._compile import LARGEST, aside, brief, helper
from driftwise._memory import Pointer, at, part, whole_at
from driftwise._validate import Array
from driftwise.control.frozen import layout as slot


@helper
def tame(value: float) -> float:
    """Return a number that is at most LARGEST in size: the nearest one, or 0 for what is not a number."""
    if abs(value) <= LARGEST:
        return value
    if value > 0.0:
        return LARGEST
    return -LARGEST if value < 0.0 else 0.0


@helper
def _expect(cell: Pointer) -> None:
    """Write where the model expects the state: A z + B (u - rest)."""
    nz, du = whole_at(cell, slot.NZ), whole_at(cell, slot.DU)
    A, B, z, u = at(cell, slot.A_AT), at(cell, slot.B_AT), at(cell, slot.Z_AT), at(cell, slot.U_AT)
    rest, ahead = at(cell, slot.REST_AT), at(cell, slot.AHEAD_AT)
    for i in range(nz):
        total = 0.0
        if cell[slot.ROUND] > 0.0:
            for k in range(nz):
                total += A[i * nz + k] * z[k]
            for k in range(du):
                total += B[i * du + k] * (u[k] - rest[k])
        ahead[i] = tame(total)


@helper
def _usable(cell: Pointer) -> bool:
    """Take the set-point off the sample, and tell whether all of it is a number that can be computed with."""
    dy = whole_at(cell, slot.DY)
    sample, level = at(cell, slot.SAMPLE_AT), at(cell, slot.LEVEL_AT)
    wrong = 0
    for i in range(dy if dy > 0 else whole_at(cell, slot.N)):
        sample[i] -= level[i]
        wrong += not abs(sample[i]) <= LARGEST
    return wrong == 0


@helper
def _measure(cell: Pointer, usable: bool, w: Pointer) -> None:
    """Set the state to the sample, and w to what the model did not expect; without a sample, w is 0."""
    n, z = whole_at(cell, slot.N), at(cell, slot.Z_AT)
    sample, ahead = at(cell, slot.SAMPLE_AT), at(cell, slot.AHEAD_AT)
    for i in range(n):
        w[i] = tame(sample[i] - ahead[i]) if usable and cell[slot.SEEN] > 0.0 else 0.0
        z[i] = sample[i] if usable else ahead[i]
    if usable:
        cell[slot.SEEN] = 1.0


@helper
def _estimate(cell: Pointer, usable: bool, w: Pointer) -> None:
    """Move the observer on by the last innovation, which is w times L, and write down the new one."""
    n, dy, z, gap = whole_at(cell, slot.N), whole_at(cell, slot.DY), at(cell, slot.Z_AT), at(cell, slot.GAP_AT)
    C, L, sample, ahead = at(cell, slot.C_AT), at(cell, slot.L_AT), at(cell, slot.SAMPLE_AT), at(cell, slot.AHEAD_AT)
    for i in range(n):
        total = 0.0
        for k in range(dy):
            total += L[i * dy + k] * gap[k]
        w[i] = tame(total)
        z[i] = tame(ahead[i] + w[i])
    for i in range(dy):
        total = sample[i]
        for k in range(n):
            total -= C[i * n + k] * z[k]
        gap[i] = tame(total) if usable else 0.0


@aside
def _answer(cell: Pointer) -> None:
    """Write the input."""
    nz, n, du, H = whole_at(cell, slot.NZ), whole_at(cell, slot.N), whole_at(cell, slot.DU), whole_at(cell, slot.LAGS)
    K, M, z, u = at(cell, slot.K_AT), at(cell, slot.M_AT), at(cell, slot.Z_AT), at(cell, slot.U_AT)
    base, past, row = at(cell, slot.BASE_AT), at(cell, slot.PAST_AT), whole_at(cell, slot.HEAD)
    low, high, rate = at(cell, slot.LOW_AT), at(cell, slot.HIGH_AT), at(cell, slot.RATE_AT)
    for a in range(du):
        total = base[a]
        for k in range(nz):
            total -= K[a * nz + k] * z[k]
        for i in range(H):
            w = part(past, (row + i if row + i < H else row + i - H) * n)
            for k in range(n):
                total += M[(i * du + a) * n + k] * w[k]
        total = tame(total)
        least, most = u[a] - rate[a], u[a] + rate[a]
        if total < least:
            total = least
        if total > most:
            total = most
        if total < low[a]:
            total = low[a]
        if total > high[a]:
            total = high[a]
        u[a] = total


@brief
def step(vector: Array) -> None:
    """Answer the sample that is in the cell: write the input, and remember what later rounds need."""
    cell = part(vector, 0)
    nz, n, H = whole_at(cell, slot.NZ), whole_at(cell, slot.N), whole_at(cell, slot.LAGS)
    _expect(cell)
    usable = _usable(cell)
    cell[slot.HEAD] = cell[slot.HEAD] - 1.0 if cell[slot.HEAD] > 0.0 else H - 1.0
    w = part(at(cell, slot.PAST_AT), whole_at(cell, slot.HEAD) * n)
    if cell[slot.DY] > 0.0:
        _estimate(cell, usable, w)
    else:
        _measure(cell, usable, w)
    z, ahead = at(cell, slot.Z_AT), at(cell, slot.AHEAD_AT)
    for i in range(n, nz):
        z[i] = ahead[i]
    _answer(cell)
    cell[slot.ROUND] += 1.0
