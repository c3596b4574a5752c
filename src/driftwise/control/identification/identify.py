"""System identification from random probes: Algorithm 4 of the paper, and three regressions on the same data.

While u_t = -K x_t + probe_t is played, what the probes did to later states tells A and B, whatever the disturbance
does, as long as it does not react to them. All methods are functions of one matrix of sums of products, so that
leaving a block of rounds out, which is how errors are estimated, costs next to nothing.
"""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from driftwise._validate import Array, checked, choice, read_only, seeded, whole
from driftwise.control.identification.accuracy import estimate_with_errors
from driftwise.control.identification.data import OWNER, check_growth, read_data
from driftwise.control.identification.methods import METHODS
from driftwise.control.plants import LinearSystem
from driftwise.errors import ParameterError

EPISODIC = ("iv", "ols")
"""Methods that can be told that a state does not follow from the one before."""


@dataclass(frozen=True, eq=False)
class Identified:
    """An estimate of a plant, and of how far off it is.

    Attributes
    ----------
    A : array of shape (states, states)
        Estimate of the transition matrix, read-only.
    B : array of shape (states, inputs)
        Estimate of the input matrix, read-only.
    error : float
        Estimate of the larger of the two errors below.
    error_A, error_B : float
        Estimates of the spectral norms of what A and B are off by: about one standard deviation, not a bound. The
        notes of `identify` say how often the truth was within a multiple of them.
    error_loop : float
        The same for the closed loop A - B K; less than ``error_A + |K| error_B``, as the errors of A and B go together.
    method : str
        "iv", "whitened", "moments" or "ols".
    order : int
        k, the number of lags that was used.
    rounds : int
        T_0, the number of rounds of data.
    changes : array of shape (any, states, states + inputs), optional
        Changes of [A, B] that together make up the error: what each block of rounds that is left out does, and what
        allowing for an offset does. Weighted by independent numbers of mean 0 and variance 1, their sum is an error
        that the estimate may well have.

    Examples
    --------
    >>> import numpy as np
    >>> import driftwise as dw
    >>> probes = np.random.default_rng(0).choice([-1.0, 1.0], (400, 1))
    >>> states = np.zeros((401, 1))
    >>> for t in range(400):
    ...     states[t + 1] = 0.8 * states[t] + 0.5 * probes[t] + 0.1 * np.sin(0.1 * t)
    >>> found = dw.control.identify(states, probes, probes, K=[[0.0]])
    >>> found.A.round(3), found.B.round(3), round(found.error, 3)
    (array([[0.805]]), array([[0.502]]), 0.008)
    """

    A: Array
    B: Array
    error: float
    error_A: float
    error_B: float
    error_loop: float
    method: str
    order: int
    rounds: int
    changes: Array | None = None

    @property
    def system(self) -> LinearSystem:
        """The estimate as a plant, for `lqr`, `certify` and controllers."""
        return LinearSystem(self.A, self.B)

    @checked
    def draw(self, count: int, seed: int | np.random.Generator = 0) -> tuple[Array, Array]:
        """Draw plants that the data do not rule out: the estimate and Gaussian errors as large as its own.

        Errors of A and B go together as they do in the estimate: what the data say well of both stays as it is. Without
        `changes` they are drawn independently, of the sizes `error_A` and `error_B`.

        Parameters
        ----------
        count : int
            How many plants.
        seed : int or numpy.random.Generator, default 0
            Where the errors come from.

        Returns
        -------
        A : array of shape (count, states, states)
            Their transition matrices.
        B : array of shape (count, states, inputs)
            Their input matrices.
        """
        rng, many = seeded("Identified.draw", seed), whole("Identified.draw", "count", count)
        n, m = self.B.shape
        if self.changes is None:
            sizes = np.repeat([self.error_A / n, self.error_B / math.sqrt(n * m)], [n, m])
            errors = rng.standard_normal((many, n, n + m)) * sizes
        else:
            errors = np.tensordot(rng.standard_normal((many, len(self.changes))), self.changes, 1)
        return self.A + errors[:, :, :n], self.B + errors[:, :, n:]

    def summary(self) -> str:
        """Return the result in a few lines of text."""
        states, inputs = self.B.shape
        radius = float(np.abs(np.linalg.eigvals(self.A)).max())
        return "\n".join(
            [
                f"Identified by {self.method} from {self.rounds} rounds: "
                f"{states} {'state' if states == 1 else 'states'}, {inputs} {'input' if inputs == 1 else 'inputs'}, "
                f"order {self.order}",
                f"  A  error about {self.error_A:<10.3g} norm {np.linalg.norm(self.A, 2):<10.4g} "
                f"spectral radius {radius:.4g}",
                f"  B  error about {self.error_B:<10.3g} norm {np.linalg.norm(self.B, 2):.4g}",
            ]
        )


@checked
def identify(
    states: ArrayLike,
    inputs: ArrayLike,
    probes: ArrayLike,
    K: ArrayLike,
    order: int | None = None,
    *,
    method: str = "iv",
    starts: ArrayLike | None = None,
) -> Identified:
    """Estimate A and B of x_{t+1} = A x_t + B u_t + w_t from rounds in which u_t = -K x_t + probe_t was played.

    Parameters
    ----------
    states : array of shape (rounds + 1, states)
        x_0, ..., x_T: one row more than inputs, the state after the last of them;
        ``numpy.vstack([trace.states, trace.final_state])`` of a `ControlTrace`.
    inputs : array of shape (rounds, inputs)
        u_t as it was really applied.
    probes : array of shape (rounds, inputs)
        The random part of the inputs: independent from round to round and from input to input, with mean 0; signs, of
        any size, are usual.
    K : array of shape (inputs, states)
        The gain that was in use, with u = -K x; it must stabilise the plant.
    order : int, optional
        k, the number of rounds over which the response to a probe is followed: [B, A_K B, ..., A_K^(k-1) B] must have
        full row rank. The number of states when left out; more helps where states respond slowly.
    method : {"iv", "whitened", "moments", "ols"}, default "iv"
        "iv" regresses the next state on state and input with the probes of the last 2k + 3 rounds as instruments
        (two-stage least squares): consistent whatever the disturbance, with about half the error of "moments", and
        right also where the actuator saturated. "whitened" does the same on data that are filtered such that the
        disturbance becomes white noise, and takes directions that the probes hardly reach from least squares: the most
        accurate where disturbances are correlated, it refuses no plant, and its error in such directions may be larger
        than estimated. "moments" is the paper's algorithm. "ols" is ordinary least squares: the most accurate where
        disturbances are independent of one another, and biased where they are not, however much data there is.
    starts : array of int, optional
        For data from several episodes, one after the other: the rounds, from 1 on, whose state does not follow from the
        round before, because the plant was put somewhere else. The round before teaches nothing; let it be one that
        was not played, with the last state of its episode. For "iv" and "ols" only.

    Returns
    -------
    Identified
        A, B and estimates of their errors.

    Notes
    -----
    "moments" is Algorithm 4 of the paper, with the moments N_0, ..., N_k divided by the mean square of each input's
    probes: B = N_0 and A = [N_1, ..., N_k] [N_0, ..., N_{k-1}]^+ + B K.

    Errors are estimated by leaving out each of 20 blocks of consecutive rounds in turn (the jackknife), which also sees
    disturbances that are correlated over time. To that is added how far the estimate moves when a constant disturbance
    is allowed for, since a constant that the fit has absorbed leaves no trace in the jackknife. Both are raised by
    1 + 2 / clarity, where clarity is the smallest ratio, over directions of the state, of the response to the probes
    and its noise; data with a clarity below 1.5 are refused.

    Measured on random systems of 2 to 4 states with Gaussian, independent +-1, constant, sinusoidal and autoregressive
    disturbances, each as large as a probe, and 500 to 20 000 rounds, for "iv" and for "moments": the true error is 0.6
    times the estimate in the median, below 1.4 times in 95 % and below 3 times in more than 99 %, the last for each
    kind of disturbance. ``driftwise reproduce control`` repeats that. For "ols" the same estimate is given, but
    it **cannot see the bias** that correlated disturbances bring, other than constant ones: with a sinusoid the true
    error is tens of times as large.

    No method works if the disturbance reacts to the inputs.

    References
    ----------
    .. [1] Hazan, Kakade, Singh, "The nonstochastic control problem", ALT 2020, Algorithm 2.
    .. [2] Zhao, Yan, Wang, Zhou, "Non-stationary online learning with memory ...", JMLR 24, 2023: Algorithm 4,
       Appendix C.

    Examples
    --------
    A double integrator under a sinusoidal disturbance, which misleads ordinary least squares:

    >>> import numpy as np
    >>> import driftwise as dw
    >>> A, B, K = np.array([[1.0, 1.0], [0.0, 1.0]]), np.array([[0.0], [1.0]]), np.array([[0.4, 1.2]])
    >>> probes = np.random.default_rng(0).choice([-1.0, 1.0], (2000, 1))
    >>> states, inputs = np.zeros((2001, 2)), np.zeros((2000, 1))
    >>> for t in range(2000):
    ...     inputs[t] = probes[t] - K @ states[t]
    ...     states[t + 1] = A @ states[t] + B @ inputs[t] + 0.3 * np.sin(0.1 * t)
    >>> found = dw.control.identify(states, inputs, probes, K)
    >>> print(found.summary())
    Identified by iv from 2000 rounds: 2 states, 1 input, order 2
      A  error about 0.0225     norm 1.595      spectral radius 0.9936
      B  error about 0.00793    norm 0.9937
    >>> round(float(np.linalg.norm(found.A - A, 2)), 4)
    0.0246
    >>> found = dw.control.identify(states, inputs, probes, K, method="ols")
    >>> round(float(np.linalg.norm(found.A - A, 2)), 4), round(found.error_A, 4)
    (0.1172, 0.0111)
    """
    name = choice(OWNER, "method", method, tuple(METHODS))
    if starts is not None and name not in EPISODIC:
        raise ParameterError(
            f"{OWNER}: method={name!r} looks at many rounds in a row, and cannot leave out the one before an episode; "
            "take method='iv' for data with starts."
        )
    data, units = read_data(states, inputs, probes, K, order, starts)
    fit = METHODS[name](data)
    check_growth(data.states * units.states)
    fit.check()
    A, B, (of_A, of_B, of_loop), changes = estimate_with_errors(fit, units)
    errors = max(of_A, of_B), of_A, of_B, of_loop
    return Identified(read_only(A), read_only(B), *errors, name, data.order, len(data.inputs), read_only(changes))
