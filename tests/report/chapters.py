"""Chapters such as the experiments write: nine panels with bands, logarithmic ones, long tables, claims that fail."""

import numpy as np

from driftwise.experiments.findings.finding import Chapter, Claim, Finding, Panel, Provenance, Series, Table

SOURCE = Provenance(
    command="driftwise reproduce figure1 --seeds 20 --out results/2025-figure1",
    versions={"driftwise": "0.4.0", "Python": "3.12.3", "numpy": "2.1.0", "numba": "0.61.2", "scipy": "1.14.1"},
    machine="Linux x86_64, 8 cores, Intel(R) Core(TM) i7-1185G7 @ 3.00GHz",
    finished="2025-03-14 15:09:26 UTC",
    seconds=1873.4,
    runs=480,
)

EVIL = "</script><script>window.broken = 1</script><b>&amp;</b>"
"""A name that would take over a page that does not escape it."""

COSTS = {
    "OGD": (1536, 1609, 1690),
    "Ader, original": (774, 1500, 2306),
    "Ader, improved": (748, 2238, 3893),
    "Scream": (869, 1439, 1690),
    "Scream, appendix": (886, 1451, 1696),
    "Lazy Scream": (869, 1400, 1610),
}


def figure1() -> Chapter:
    """Return a finding with three by three panels of curves with bands."""
    noise = np.random.default_rng(1)
    rounds = np.linspace(1000, 50_000, 50)
    share = {"Overall cost": 1.0, "Loss": 0.72, "Switching cost": 0.28}
    panels = [
        Panel(
            f"{part}, λ = {alpha:g}",
            "Round",
            "Cumulative cost",
            [
                Series(
                    name,
                    rounds.tolist(),
                    (mean := total * costs[column] * _growth(noise, len(rounds))).tolist(),
                    (0.07 * mean).tolist(),
                )
                for name, costs in COSTS.items()
            ],
        )
        for part, total in share.items()
        for column, alpha in enumerate((0.1, 1.0, 2.0))
    ]
    table = Table(
        "Cost after 50,000 rounds, mean and standard deviation over 20 streams",
        ["Learner", "λ = 0.1", "λ = 1", "λ = 2", "Loss at λ = 1", "Switching at λ = 1"],
        [
            [name, *(f"{cost:,} ± {0.07 * cost:.0f}" for cost in costs), f"{0.72 * costs[1]:,.0f}", "281"]
            for name, costs in COSTS.items()
        ],
    )
    streams = Table(
        "Overall cost on every stream",
        ["Stream", *COSTS],
        [[str(seed), *(f"{noise.normal(cost[1], 90):.1f}" for cost in COSTS.values())] for seed in range(20)],
    )
    claims = [
        Claim("At λ = 0.1, Ader is best, Scream is near and OGD is far", True, "on 20 of 20 streams"),
        Claim("At λ = 1, Scream is best", True, "on 20 of 20 streams; OGD / Scream from 1.08 to 1.15"),
        Claim(
            "At λ = 2, Scream is no worse than OGD",
            False,
            "on 13 of 20 streams; Scream / OGD from 0.97 to 1.06, mean 1.01",
        ),
    ]
    summary = [
        "With cheap moves (λ = 0.1) Ader pays least, 748, and Scream 869.",
        "With dear moves (λ = 2) Scream and OGD pay 1,690 each while Ader pays 3,893.",
    ]
    finding = Finding("Figure 1: three prices of moving", summary, [table, streams], claims, panels, columns=3)
    return Chapter("figure1", "Figure 1 of the paper", SOURCE, [finding])


def theory() -> Chapter:
    """Return a logarithmic finding with bounds, one without panels, and one whose texts are full of tags."""
    noise = np.random.default_rng(2)
    horizons = [2.0**k for k in range(8, 17)]
    log = [
        Panel(
            title,
            "Rounds T",
            "Regret",
            [
                *(
                    Series(
                        name,
                        horizons,
                        (mean := [c * T**power * noise.uniform(0.93, 1.07) for T in horizons]),
                        [0.2 * y for y in mean[:-1]] + [1.5 * mean[-1]],
                        "points",
                    )
                    for name, c, power in (("Scream, theorem", 1.1, 0.52), ("Scream, appendix", 1.0, 0.55))
                ),
                Series("Lazy Scream", horizons, [0.9 * T**0.5 for T in horizons], None, "points"),
                Series("Bound of Theorem 2", horizons, [14 * T**0.5 for T in horizons], None, "dashed"),
                Series("Slope 1/2", horizons, [0.4 * T**0.5 for T in horizons], None, "dashed"),
            ],
            log=True,
        )
        for title in ("Path length that grows like the square root of T", "Path length that does not grow")
    ]
    exponents = Table(
        "Exponents of growth",
        ["Learner", "Exponent", "Note"],
        [["Scream", "0.52", "a fit"], ["Lazy Scream", "0.50", ""]],
    )
    words = ["Scream, no horizon", "Simplex(10)", "hindsight optimum"]
    cases = Table(
        "Every case: regret and bound",
        ["Case", "T", "Path length", "Regret", "Bound", "Regret / bound", "Seconds", "Learner", "Domain", "Comparator"],
        [
            [
                f"case {k}",
                f"{2**k:,}",
                f"{k / 3:.2f}",
                f"{1.5**k:.3g}",
                f"{1.7**k:.3g}",
                f"{0.88**k:.1%}",
                "0.4",
                *words,
            ]
            for k in range(40)
        ],
    )
    evil = Panel(
        f"{EVIL} < & $x$ $",
        "<i>x</i>",
        "a & b",
        [
            Series(EVIL, [1, 2, 3, 4], [1.0, float("nan"), 3.0, 2.0], [0.1, float("nan"), 0.2, 0.1]),
            Series("Scream", [1, 2, 3, 4], [2.0, float("inf"), 1.0, 2.5], None, "points"),
        ],
    )
    findings = [
        Finding(
            "Growth of the regret with the horizon",
            "Regret grows with the power 0.52 of the horizon, where the theorem allows 0.5 up to logarithms.",
            [exponents],
            [Claim("The exponent is 1/2, give or take 0.05", True, "0.52")],
            log,
            columns=2,
        ),
        Finding(
            "Bounds, case by case",
            "None of 40 regrets is above its bound; the closest is at 94 % of it.",
            [cases],
            [
                Claim("No regret is above its bound", True, "0 of 40"),
                Claim("The bound for general losses holds, too", None, "needs cvxpy, which is not installed"),
            ],
        ),
        Finding(
            f"Text with tags: {EVIL}",
            f"All of it is <em>text</em>. {EVIL}",
            [Table(EVIL, ["a", EVIL], [[EVIL, "1"]], detail=True)],
            [Claim(EVIL, True, EVIL)],
            [evil],
            columns=1,
        ),
    ]
    return Chapter("theory", "Theory & <practice>", SOURCE, findings)


def _growth(noise: np.random.Generator, points: int) -> np.ndarray:
    """Return a curve from 0 to 1 with slow bends."""
    steps = 1.0 + 0.5 * np.sin(np.linspace(0, 20, points) + noise.uniform(0, 6)) + noise.uniform(0, 0.5, points)
    return np.cumsum(steps) / np.sum(steps)
