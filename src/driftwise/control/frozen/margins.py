"""How wrong the model may be: gain, phase and delay margins of the loop that a frozen policy makes.

The margins are those of the linear loop, at the input of the plant; ``response`` has the theory. The frequency
response is used rather than eigenvalues of the whole loop: H disturbances are remembered, so that the matrix of the
loop is large, and its zero eigenvalues are in chains of length H, which rounding moves far away from 0.
"""

import math
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np

from driftwise._validate import Array
from driftwise.control.frozen.law import Law
from driftwise.control.frozen.loci import Curves, farthest_crossing, follow, winds
from driftwise.control.frozen.response import Answer, Complex, Loop, is_real

MOST_DELAY = 100
"""Largest delay that is tried; a loop that stands it has an infinite delay margin."""

BOUNDLESS = 1e6
"""Gains beyond this count as infinite, and below its inverse as 0."""

ROUGH, MOST_POINTS = 0.2, 20_000
"""Largest change of T between two frequencies, relative to 0.2 + T, and the largest number of frequencies."""

QUIET = -0.5 + ROUGH * 0.7
"""Curves whose real part is above this nowhere come to -1/2: the gain of the loop is below 1, and no delay matters."""


def _words(low: float, high: float, phase: float, delay: float) -> str:
    turn = f"phase {phase:.3g} degrees" if math.isfinite(phase) else "any phase"
    late = f"delay {delay:g} sample{'' if delay == 1 else 's'}" if math.isfinite(delay) else "any delay"
    return f"gain x {low:.4g} to x {high:.4g}, {turn}, {late}"


@dataclass(frozen=True, repr=False)
class Margins:
    """What the plant's input may be off by before the loop becomes unstable, the same for all inputs at once.

    Made by `FrozenPolicy.margins`. Each margin is for one error at a time, in an otherwise perfect model.

    Parameters
    ----------
    gain_up : float
        Factor above 1 at which the loop becomes unstable; infinite if there is none up to a million.
    gain_down : float
        Factor below 1 at which the loop becomes unstable; 0 if there is none.
    phase : float
        Phase, in degrees, that makes the loop unstable; infinite if none does.
    delay : float
        Whole number of samples of delay, besides that of the model, with which, and with fewer, the loop is
        stable; infinite if it is with all up to 100.
    stable : bool, default True
        Whether the loop is stable with a perfect model. If not, the margins say 1, 1, 0 and 0.
    per_input : tuple of Margins, optional
        The same for an error on one input alone, input by input; empty in these.

    Examples
    --------
    >>> import driftwise as dw
    >>> controller = dw.control.LinearController(dw.control.double_integrator(), K=[[0.4, 1.2]])
    >>> margins = controller.freeze().margins()
    >>> print(margins)
    gain x 0 to x 2, phase 40.4 degrees, delay 0 samples
    >>> round(margins.gain_up, 3), margins.delay
    (2.0, 0.0)
    """

    gain_up: float
    gain_down: float
    phase: float
    delay: float
    stable: bool = True
    per_input: tuple["Margins", ...] = field(default=())

    def least(self) -> "Margins":
        """Return the smallest of each margin, over all inputs at once and every input alone."""
        each = (self, *self.per_input)
        return Margins(
            min(one.gain_up for one in each),
            max(one.gain_down for one in each),
            min(one.phase for one in each),
            min(one.delay for one in each),
            self.stable,
        )

    def __str__(self) -> str:
        if not self.stable:
            return "no margins: the loop is unstable even with a perfect model"
        lines = [_words(self.gain_down, self.gain_up, self.phase, self.delay)]
        if len(self.per_input) > 1:
            lines += [f"input {a}: {one}" for a, one in enumerate(self.per_input)]
        return "\n".join(lines)

    def __repr__(self) -> str:
        inner = _words(self.gain_down, self.gain_up, self.phase, self.delay) if self.stable else str(self)
        return f"Margins({inner})"


def _rough(values: Complex) -> Any:
    """Tell between which frequencies a response changes too much; the units of the inputs do not matter."""
    peak = np.abs(values).max(axis=0)
    unit = np.sqrt(np.divide(peak.T, peak, out=np.zeros_like(peak), where=peak > 0.0))
    size = (np.abs(values) * unit).max(axis=(1, 2))
    step = (np.abs(np.diff(values, axis=0)) * unit).max(axis=(1, 2))
    return step > ROUGH * (0.2 + np.minimum(size[:-1], size[1:]))


def _delayed(d: int, curves: Curves, omega: Array, points: Complex | None = None) -> Complex:
    """Return the product of 1 - mu (z^-d - 1) over the curves, of which the points may be known."""
    late = np.exp(-1j * d * omega) - 1.0
    return np.asarray(np.prod(1.0 - (curves(omega) if points is None else points) * late[:, None], axis=1))


class Survey:
    """The answer of a loop at frequencies that resolve it, and the margins with any share of M.

    Parameters
    ----------
    loop : Loop
        A stable loop.
    """

    def __init__(self, loop: Loop) -> None:
        self.loop, self.omega = loop, loop.grid()
        self.answer = loop.answer(self.omega)
        self._kept: tuple[tuple[float, int | None], Complex] | None = None
        while True:
            rest, learnt = self.answer
            rough = np.flatnonzero(_rough(rest) | _rough(rest + learnt))
            middle = 0.5 * (self.omega[rough] + self.omega[rough + 1])
            inside = (middle > self.omega[rough]) & (middle < self.omega[rough + 1])
            if not inside.any() or self.omega.size + rough.size > MOST_POINTS:
                break
            places, middle = rough[inside] + 1, middle[inside]
            more = loop.answer(middle)
            self.answer = Answer(np.insert(rest, places, more[0], 0), np.insert(learnt, places, more[1], 0))
            self.omega = np.insert(self.omega, places, middle)

    def _curves(self, share: float, channel: int | None) -> Curves:
        """Return the curves for an error on all inputs, or on one."""

        def curves(omega: Array) -> Complex:
            rest, learnt = self.answer if omega is self.omega else self.loop.answer(omega)
            T: Complex = rest + share * learnt
            if channel is not None:
                return T[:, channel, channel, None]
            if T.shape[1] == 1:
                return T[:, :, 0]
            points = np.asarray(np.linalg.eigvals(T), np.complex128)
            for k in np.flatnonzero(is_real(omega)):  # in real arithmetic, so that real eigenvalues are exactly real
                points[k] = np.linalg.eigvals(T[k].real)
            return points

        return curves

    def _points(self, share: float, channel: int | None) -> Complex:
        """Return the curves at the frequencies of the survey, each in a column; the last ones are kept."""
        if self._kept is None or self._kept[0] != (share, channel):
            self._kept = (share, channel), follow(self._curves(share, channel)(self.omega))
        return self._kept[1]

    def gains(self, share: float, channel: int | None) -> tuple[float, float]:
        """Return the gain margins, down and up."""
        curves, points = self._curves(share, channel), self._points(share, channel)
        most = farthest_crossing(self.omega, points, curves, np.imag, np.real)
        least = farthest_crossing(self.omega, points, curves, np.imag, lambda mu: -mu.real)
        up = 1.0 + 1.0 / most if most * BOUNDLESS > 1.0 else math.inf
        down = 1.0 - 1.0 / least if least > 1.0 else 0.0
        return (down if down * BOUNDLESS > 1.0 else 0.0), up

    def phase(self, share: float, channel: int | None) -> float:
        """Return the phase margin in degrees."""
        curves, points = self._curves(share, channel), self._points(share, channel)
        far = farthest_crossing(self.omega, points, curves, lambda mu: mu.real + 0.5, lambda mu: np.abs(mu.imag))
        if far == 0.0 and points.real.min() > -0.5:
            return math.inf
        return math.degrees(math.pi - 2.0 * math.atan(2.0 * far))

    def delay(self, share: float, channel: int | None, most: int = MOST_DELAY) -> int:
        """Return the largest delay, up to `most`, with which and below which the loop is stable."""
        curves, points = self._curves(share, channel), self._points(share, channel)
        if points.real.min() > QUIET:
            return most
        for d in range(1, most + 1):
            if winds(self.omega, _delayed(d, curves, self.omega, points), partial(_delayed, d, curves)):
                return d - 1
        return most

    def margins(self, share: float = 1.0, channel: int | None = None) -> Margins:
        """Return all margins for an error on all inputs, or on one."""
        down, up = self.gains(share, channel)
        delay = float(self.delay(share, channel))
        return Margins(up, down, self.phase(share, channel), delay if delay < MOST_DELAY else math.inf)


def margins_of(law: Law) -> Margins:
    """Return the margins of a law with its nominal plant."""
    loop, inputs = Loop(law), range(law.sides["du"])
    if not loop.radius < 1.0:
        each = tuple(Margins(1.0, 1.0, 0.0, 0.0, stable=False) for _ in inputs)
        return Margins(1.0, 1.0, 0.0, 0.0, stable=False, per_input=each)
    survey = Survey(loop)
    found = survey.margins()
    each = (found,) if len(inputs) == 1 else tuple(survey.margins(channel=a) for a in inputs)
    return Margins(found.gain_up, found.gain_down, found.phase, found.delay, per_input=each)
