"""Compiled loops: sums of losses over segments, the running dual, descent of many quadratics."""

import math

from driftwise._compile import entry
from driftwise._memory import part
from driftwise._validate import Array, Indices
from driftwise.domains.kernels import dot, project
from driftwise.losses.kernels import EACH, TAP
from driftwise.losses.pieces import Parabolas


@entry
def segment_sums(
    terms: Array, features: Array, parabolas: Parabolas, starts: Indices, A: Array, b: Array, c: Array
) -> None:
    """Add up each segment's unary losses, given as parabolas of their scores, to ``w'Aw / 2 - b'w + c``."""
    bend, tap = parabolas.bend, terms[TAP]
    rounds, dim = features.shape
    for j in range(starts.size):
        bends, pulls = part(A, j * dim * dim), part(b, j * dim)
        total = 0.0
        for t in range(starts[j], starts[j + 1] if j + 1 < starts.size else rounds):
            if terms[EACH] == 1.0:
                for k in range(dim):
                    bends[k * dim + k] += bend
                    pulls[k] += parabolas.pull[t, k]
                    total += parabolas.constant[t, k]
            else:
                x, pull = part(features, t * dim), parabolas.pull[t, 0]
                total += parabolas.constant[t, 0]
                for k in range(dim):
                    pulls[k] += tap * x[k] * pull
                    if bend > 0.0:
                        for i in range(dim):
                            bends[k * dim + i] += bend * tap * tap * x[k] * x[i]
        c[j] = total


@entry
def running_dual(starts: Indices, ends: Array, lambda_: float, room: Array, dual: Array) -> None:
    """Turn the gradients along a piecewise-constant sequence into s_t, their sum and that of outward normals so far.

    In segment j, s must arrive at ``ends[j]``. What the gradients leave to be made up is a normal of the domain there,
    N; it may be spent at any time, so s_t = s_start + gradients + phi_t N with phi_t rising from 0 to 1, and phi_t is
    taken as the least that keeps ``|s_t| <= lambda`` if any does. `room` is (2, dim) to work in.
    """
    rounds, dim = dual.shape
    without, normal = part(room, 0), part(room, dim)  # the sum without normals, and N
    for j in range(starts.size):
        stop = starts[j + 1] if j + 1 < starts.size else rounds
        for k in range(dim):
            without[k] = ends[j - 1, k] if j > 0 else 0.0
            normal[k] = ends[j, k] - without[k]
        for t in range(starts[j], stop):
            for k in range(dim):
                normal[k] -= dual[t, k]
        square, phi = dot(normal, normal, dim), 0.0
        for t in range(starts[j], stop):
            for k in range(dim):
                without[k] += dual[t, k]
            along = dot(without, normal, dim)
            inside = along * along - square * (dot(without, without, dim) - lambda_ * lambda_)
            if square > 0.0:
                least = -(along + math.sqrt(max(inside, 0.0))) / square
                if least > phi:  # not so where squares overflow: phi stays as it is
                    phi = min(least, 1.0)
            if t == stop - 1:
                phi = 1.0
            for k in range(dim):
                dual[t, k] = without[k] + phi * normal[k]


@entry
def descend(A: Array, b: Array, plan: Array, points: Array, room: Array, decrease: float, rounds: int) -> None:
    """Minimise ``w'A_i w / 2 - b_i'w`` over a domain for every i, from ``points[i]``, by accelerated projected steps.

    It stops when a step promises less than `decrease` of what the first one did, or after so many rounds; the caller
    judges how good the result is. `room` is twice the dimension and ``Domain.room`` doubles to work in.
    """
    count, dim = b.shape
    ahead, new, work = part(room, 0), part(room, dim), part(room, 2 * dim)
    for i in range(count):
        matrix, pull, w = part(A, i * dim * dim), part(b, i * dim), part(points, i * dim)
        smooth, size = 0.0, 0.0
        for k in range(dim):
            row = 0.0
            for j in range(dim):
                row += abs(matrix[k * dim + j])
            smooth = max(smooth, row)
            size = max(size, abs(pull[k]))
            ahead[k] = w[k]
        smooth = max(smooth, 1e-9 * size)
        if smooth == 0.0:
            continue
        momentum, first = 1.0, -1.0
        for _ in range(rounds):
            for k in range(dim):
                new[k] = ahead[k] - (dot(part(matrix, k * dim), ahead, dim) - pull[k]) / smooth
            project(part(plan, 0), new, work)
            forward, step = 0.0, 0.0
            for k in range(dim):
                back = ahead[k] - new[k]
                forward += back * (new[k] - w[k])
                step += back * back
            if forward > 0.0:
                momentum = 1.0  # it went uphill: restart the acceleration
            following = 0.5 * (1.0 + math.sqrt(1.0 + 4.0 * momentum * momentum))
            beta = (momentum - 1.0) / following
            for k in range(dim):
                ahead[k] = new[k] + beta * (new[k] - w[k])
                w[k] = new[k]
            momentum = following
            if first < 0.0:
                first = step
            if step <= decrease * first:
                break
