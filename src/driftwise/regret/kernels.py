"""Compiled loops over the rounds of a built-in stream: values, gradients, segment sums, the running dual."""

import math

import numpy as np
from numpy.typing import NDArray

from driftwise._compile import compiled, hot
from driftwise._validate import Array
from driftwise.domains.kernels import Blocks, project
from driftwise.losses.kernels import (
    LINEAR,
    TRACKING,
    LossData,
    policy_value,
    total_tap,
    unary_gradient,
    unary_value,
)

Indices = NDArray[np.int64]


@hot
def policy_values(data: LossData, decisions: Array, out: Array) -> None:
    """Write f_t(w_{t-m}, ..., w_t) for every round."""
    for t in range(out.size):
        out[t] = policy_value(data, t, decisions, t)


@hot
def unary_values(data: LossData, decisions: Array, out: Array) -> None:
    """Write f~_t(w_t) for every round; a single row of decisions stands for all rounds."""
    last = decisions.shape[0] - 1
    for t in range(out.size):
        out[t] = unary_value(data, t, decisions, min(t, last))


@hot
def unary_gradients(data: LossData, decisions: Array, out: Array) -> None:
    """Write the gradient of f~_t at w_t for every round; a single row of decisions stands for all rounds."""
    last = decisions.shape[0] - 1
    for t in range(out.shape[0]):
        unary_gradient(data, t, decisions, min(t, last), out, t)


@hot
def segment_sums(data: LossData, starts: Indices, A: Array, b: Array, c: Array) -> None:
    """Write each segment's sum of unary losses as ``w'Aw / 2 - b'w + c``; for squared, tracking and linear losses."""
    features, targets, tap = data.features, data.targets, total_tap(data.taps)
    rounds, dim = features.shape
    A[:] = 0.0
    b[:] = 0.0
    c[:] = 0.0
    for j in range(starts.size):
        stop = starts[j + 1] if j + 1 < starts.size else rounds
        for t in range(starts[j], stop):
            if data.link == TRACKING:
                for k in range(dim):
                    A[j, k, k] += 1.0
                    b[j, k] += features[t, k]
                    c[j] += 0.5 * features[t, k] * features[t, k]
            elif data.link == LINEAR:
                for k in range(dim):
                    b[j, k] -= tap * features[t, k]
            else:
                c[j] += 0.5 * targets[t] * targets[t]
                for k in range(dim):
                    b[j, k] += tap * features[t, k] * targets[t]
                    for i in range(dim):
                        A[j, k, i] += tap * tap * features[t, k] * features[t, i]


@hot
def running_dual(
    data: LossData, starts: Indices, points: Array, ends: Array, lambda_: float, room: Array, dual: Array
) -> None:
    """Write s_t, the sum of gradients and outward normals up to round t, along a piecewise-constant sequence.

    Segment j holds ``points[j]`` and must arrive at ``ends[j]``. What the gradients leave to be made up is a normal of
    the domain there, N; it may be spent at any time, so s_t = s_start + gradients + phi_t N with phi_t rising from 0 to
    1, and phi_t is taken as the least that keeps ``|s_t| <= lambda`` if any does. `room` is (3, dim) to work in: the
    sum without normals, N, and one gradient.
    """
    rounds, dim = data.features.shape
    for j in range(starts.size):
        stop = starts[j + 1] if j + 1 < starts.size else rounds
        for k in range(dim):
            room[0, k] = ends[j - 1, k] if j > 0 else 0.0
            room[1, k] = ends[j, k] - room[0, k]
        for t in range(starts[j], stop):
            unary_gradient(data, t, points, j, room, 2)
            for k in range(dim):
                room[1, k] -= room[2, k]
        normal = 0.0
        for k in range(dim):
            normal += room[1, k] * room[1, k]
        phi = 0.0
        for t in range(starts[j], stop):
            unary_gradient(data, t, points, j, room, 2)
            length, along = 0.0, 0.0
            for k in range(dim):
                room[0, k] += room[2, k]
                length += room[0, k] * room[0, k]
                along += room[0, k] * room[1, k]
            if t == stop - 1:
                phi = 1.0
            elif normal > 0.0:
                inside = along * along - normal * (length - lambda_ * lambda_)
                least = -(along + math.sqrt(max(inside, 0.0))) / normal
                phi = min(max(phi, least), 1.0)
            for k in range(dim):
                dual[t, k] = room[0, k] + phi * room[1, k]


@hot
def _matvec(A: Array, i: int, w: Array, out: Array) -> None:
    for k in range(w.shape[1]):
        total = 0.0
        for j in range(w.shape[1]):
            total += A[i, k, j] * w[0, j]
        out[0, k] = total


@compiled
def descend(A: Array, b: Array, blocks: Blocks, numbers: Array, points: Array, decrease: float, rounds: int) -> None:
    """Minimise ``w'A_i w / 2 - b_i'w`` over a domain for every i, from ``points[i]``, by accelerated projected steps.

    It stops when a step promises less than `decrease` of what the first one did, or after so many rounds; how good the
    result is, is for the caller to judge.
    """
    count, dim = b.shape
    w, ahead, slope, new = np.empty((1, dim)), np.empty((1, dim)), np.empty((1, dim)), np.empty((1, dim))
    for i in range(count):
        smooth, size = 0.0, 0.0
        for k in range(dim):
            row = 0.0
            for j in range(dim):
                row += abs(A[i, k, j])
            smooth = max(smooth, row)
            size = max(size, abs(b[i, k]))
        smooth = max(smooth, 1e-9 * size)
        if smooth == 0.0:
            continue
        w[0] = points[i]
        ahead[0] = points[i]
        momentum, first = 1.0, -1.0
        for _ in range(rounds):
            _matvec(A, i, ahead, slope)
            for k in range(dim):
                new[0, k] = ahead[0, k] - (slope[0, k] - b[i, k]) / smooth
            project(blocks, numbers, new, 0)
            forward, step = 0.0, 0.0
            for k in range(dim):
                forward += (ahead[0, k] - new[0, k]) * (new[0, k] - w[0, k])
                step += (ahead[0, k] - new[0, k]) ** 2
            if forward > 0.0:
                momentum = 1.0  # it went uphill: begin the acceleration anew
            following = 0.5 * (1.0 + math.sqrt(1.0 + 4.0 * momentum * momentum))
            beta = (momentum - 1.0) / following
            for k in range(dim):
                ahead[0, k] = new[0, k] + beta * (new[0, k] - w[0, k])
                w[0, k] = new[0, k]
            momentum = following
            if first < 0.0:
                first = step
            if step <= decrease * first:
                break
        points[i] = w[0]
