"""How well plants are identified from random probes: Algorithm 4 of the paper beside regressions on the same data.

Random systems of 2 to 4 states and 1 or 2 inputs, three in ten of them unstable without control, are explored under
disturbances as large as a probe. The claims are those that the notes of `identify` make.
"""

import math

import numpy as np

from driftwise._validate import Array
from driftwise.control import LinearSystem, lqr
from driftwise.control.identification import METHODS, identify
from driftwise.errors import InputError
from driftwise.experiments.findings.finding import Claim, Finding, Panel, Series, Table
from driftwise.experiments.studies.study import Arguments, Size, Study, exponent, group, within

INDEPENDENT = ("gaussian", "unit")
CORRELATED = ("constant", "sinusoid", "autoregressive")
CONSISTENT = ("moments", "iv")
"""Methods whose error falls like T^-0.5 under every disturbance."""

Result = dict[str, float]
"""Error and estimate of every method: the larger of the spectral norms of the errors of A and B, and the estimate of it
by `identify`; nan where the data were refused as too noisy."""


def draw_system(seed: int) -> tuple[Array, Array, Array]:
    """Return A with a spectral radius between 0.5 and 1.2, B, and the gain of LQR with unit weights."""
    rng = np.random.default_rng([seed, 1])
    n, m = int(rng.integers(2, 5)), int(rng.integers(1, 3))
    A, B = rng.normal(size=(n, n)), rng.normal(size=(n, m)) / math.sqrt(n)
    A *= rng.uniform(0.5, 1.2) / np.abs(np.linalg.eigvals(A)).max()
    return A, B, lqr(LinearSystem(A, B))


def draw_disturbances(kind: str, rounds: int, dim: int, rng: np.random.Generator) -> Array:
    """Return disturbances whose norms have a mean square of 1: each is as large as one probe."""
    if kind == "unit":
        w = rng.choice([-1.0, 1.0], (rounds, dim))
    elif kind == "constant":
        w = np.tile(rng.choice([-1.0, 1.0], dim), (rounds, 1))
    elif kind == "sinusoid":
        phases = np.arange(rounds)[:, None] / rng.uniform(10.0, 100.0) + rng.uniform(size=dim)
        w = math.sqrt(2.0) * np.sin(2.0 * math.pi * phases)
    elif kind == "autoregressive":
        w = accumulate(0.9 * np.eye(dim), math.sqrt(1.0 - 0.9**2) * rng.normal(size=(rounds, dim)))
    else:
        w = rng.normal(size=(rounds, dim))
    return w / math.sqrt(dim)


def accumulate(transition: Array, shocks: Array) -> Array:
    """Return x_1, ..., x_T of x_{t+1} = transition x_t + shocks_t from x_0 = 0, in log T steps instead of T."""
    x, power, step = shocks.copy(), transition, 1
    while step < len(x) and np.abs(power).max() > 1e-30:
        x[step:] = x[step:] + x[:-step] @ power.T
        power, step = power @ power, 2 * step
    return x


def explore(A: Array, B: Array, K: Array, rounds: int, kind: str, seed: int) -> tuple[Array, Array, Array]:
    """Return states, inputs and probes of a run of u = -K x + probe, with random signs as probes."""
    rng = np.random.default_rng([seed, rounds, 2])
    n, m = B.shape
    probes = rng.choice([-1.0, 1.0], (rounds, m))
    after = accumulate(A - B @ K, probes @ B.T + draw_disturbances(kind, rounds, n, rng))
    states = np.vstack([np.zeros(n), after])
    return states, probes - states[:-1] @ K.T, probes


def identification_errors(kind: str, rounds: int, seed: int) -> Result:
    """Return true and estimated error of every method on one run."""
    A, B, K = draw_system(seed)
    run = explore(A, B, K, rounds, kind, seed)
    result: Result = {}
    for method in METHODS:
        try:
            found = identify(*run, K, method=method)
            off = max(float(np.linalg.norm(found.A - A, 2)), float(np.linalg.norm(found.B - B, 2)))
            result[f"{method} error"], result[f"{method} estimate"] = off, found.error
        except InputError:
            result[f"{method} error"] = result[f"{method} estimate"] = math.nan
    return result


def _tasks(size: Size) -> list[Arguments]:
    sizes, seeds = ((500, 2_000, 8_000), 30) if size.quick else ((500, 1_000, 2_000, 5_000, 10_000, 20_000), 200)
    return [(kind, T, seed) for kind in INDEPENDENT + CORRELATED for T in sizes for seed in range(seeds)]


def _conclude(tasks: list[Arguments], results: list[Result]) -> Finding:
    sizes = list(dict.fromkeys(T for _, T, _ in tasks))
    runs = group([(kind, seed) for kind, _, seed in tasks], results)
    slopes: dict[tuple[str, str], float] = {}
    last: dict[tuple[str, str], float] = {}
    curves: dict[str, list[Series]] = {}
    rows = []
    for kind in dict.fromkeys(kind for kind, _, _ in tasks):
        # Growth is that of systems which every method took on at every size.
        kept = [of for (k, _), of in runs.items() if k == kind and not np.isnan([list(r.values()) for r in of]).any()]
        for method in METHODS:
            drawn = [[found[i][f"{method} error"] for found in kept] for i in range(len(sizes))]
            errors = [math.exp(float(np.mean(np.log(each)))) for each in drawn]
            slopes[method, kind], last[method, kind] = exponent(sizes, errors), errors[-1]
            given = [r for task, r in zip(tasks, results, strict=True) if task[0] == kind]
            ratios = _ratios(given, method)
            below, refused = float(np.mean(ratios < 3.0)), 1.0 - len(ratios) / len(given)
            curves.setdefault(kind, []).append(Series(method, sizes, errors, style="points"))
            row = [kind, method, f"{errors[0]:.4f}", f"{errors[-1]:.4f}", f"{slopes[method, kind]:.3f}"]
            rows.append([*row, f"{refused:.0%}", f"{below:.1%}"])
    header = ["disturbance", "method", f"T = {sizes[0]}", f"T = {sizes[-1]}", "slope", "refused", "within 3"]
    # A slope through few sizes and systems is itself uncertain, most of all for a constant disturbance.
    margin = 0.08 if len(sizes) > 3 else 0.16
    claims = _claims(slopes, last, results, margin)
    falls = {method: [slopes[method, kind] for kind in curves] for method in METHODS}
    powers = {method: f"T^{min(of):.2f} to T^{max(of):.2f}" for method, of in falls.items()}
    summary = [
        f"The error of the paper's method (moments) falls like {powers['moments']}, depending on the disturbance.",
        f"That of regression with the probes as instruments (iv) falls like {powers['iv']}, and is "
        f"{_iv_over_moments(results):.2f} of that of moments on average.",
        f"That of ordinary least squares (ols) goes like {powers['ols']}: under correlated disturbances it does not "
        "find the plant, however many rounds it has.",
        f"That of regression with instruments on whitened data (whitened) goes like {powers['whitened']}: a "
        "disturbance that can be foreseen hardly matters to it.",
    ]
    panels = [Panel(f"{kind} disturbance", "T", "error", series, log=True) for kind, series in curves.items()]
    return Finding(STUDY.title, summary, [Table("Error, geometric mean over systems", header, rows)], claims, panels)


def _claims(
    slopes: dict[tuple[str, str], float], last: dict[tuple[str, str], float], results: list[Result], margin: float
) -> list[Claim]:
    """Return every claim, from the exponents and the last errors of every method under every disturbance."""
    kinds = list(dict.fromkeys(kind for _, kind in slopes))
    stuck, free = ([kind for kind in kinds if kind in which] for which in (CORRELATED, INDEPENDENT))
    ratio = _iv_over_moments(results)
    claims = [
        Claim(
            f"The error of {method} falls like T^-0.5, give or take {margin:g}, under every disturbance",
            all(within(slopes[method, kind], -0.5, margin) for kind in kinds),
            ", ".join(f"{slopes[method, kind]:.3f} {kind}" for kind in kinds),
        )
        for method in CONSISTENT
    ]
    claims += [
        Claim("iv has at most 0.7 times the error of moments", ratio <= 0.7, f"mean ratio {ratio:.3f}"),
        Claim(
            "ols does not converge under correlated disturbances",
            all(abs(slopes["ols", kind]) <= 0.05 and last["ols", kind] >= 5.0 * last["iv", kind] for kind in stuck),
            ", ".join(f"stays at {last['ols', kind]:.2f}, {kind}" for kind in stuck),
        ),
        Claim(
            "ols has the least error under independent disturbances",
            all(last["ols", kind] <= last["iv", kind] <= last["moments", kind] for kind in free),
            ", ".join(f"{last['ols', kind] / last['iv', kind]:.2f} of iv, {kind}" for kind in free),
        ),
    ]
    claims.append(
        Claim(
            "whitened has the error of iv under independent disturbances, give or take a tenth, and at most half of it "
            "under correlated ones",
            all(last["whitened", kind] <= 1.1 * last["iv", kind] for kind in free)
            and all(last["whitened", kind] <= 0.5 * last["iv", kind] for kind in stuck),
            ", ".join(f"{last['whitened', kind] / last['iv', kind]:.2f} {kind}" for kind in kinds),
        )
    )
    for method in (*CONSISTENT, "whitened"):
        ratios = _ratios(results, method)
        middle, high, below = np.median(ratios), np.quantile(ratios, 0.95), float(np.mean(ratios < 3.0))
        text = f"The true error of {method} is below 3 times the estimate in 99 % of runs"
        measured = f"{below:.2%}; median {middle:.2f} times the estimate, 95 % below {high:.2f} times"
        claims.append(Claim(text, below >= 0.99, measured))
    return claims


def _iv_over_moments(results: list[Result]) -> float:
    return float(np.nanmean([r["iv error"] / r["moments error"] for r in results]))


def _ratios(results: list[Result], method: str) -> Array:
    """Return the true errors over their estimates, where data were not refused."""
    ratios = np.array([result[f"{method} error"] / result[f"{method} estimate"] for result in results])
    return np.asarray(ratios[~np.isnan(ratios)])


STUDY = Study("identification", "Identification from random probes", _tasks, identification_errors, _conclude)
