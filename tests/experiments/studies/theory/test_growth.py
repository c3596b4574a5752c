"""Growth of regret with rounds and prices."""

from driftwise.experiments.studies.theory import growth
from tests.experiments.claims import BOTH_SIZES, check_claims


@BOTH_SIZES
def test_regret_grows_like_the_root_of_the_rounds(quick: bool) -> None:
    finding = check_claims(growth.IN_ROUNDS, quick, count=1)
    ratios = [float(row[-1]) for row in finding.tables[0].rows]
    assert min(ratios) >= 0.18
    assert max(ratios) <= 0.26


@BOTH_SIZES
def test_regret_grows_no_faster_than_the_root_of_the_path(quick: bool) -> None:
    finding = check_claims(growth.IN_PATH, quick, count=2)
    paths = [float(row[0]) for row in finding.tables[0].rows]
    assert paths == sorted(paths)
    measured, bound, line = finding.panels[0].series
    assert all(m < b for m, b in zip(measured.y, bound.y, strict=True))
    assert max(abs(m / s - 1.0) for m, s in zip(measured.y, line.y, strict=True)) < 0.35


@BOTH_SIZES
def test_lazy_scream_grows_slowest_with_the_price(quick: bool) -> None:
    check_claims(growth.IN_PRICE, quick, count=1)


def test_the_wrong_growth_is_said_not_to_hold() -> None:
    tasks = [(T, 2, 1.0, 0) for T in (100, 1000)]
    claim = growth.IN_ROUNDS.conclude(
        tasks, [{"regret": r, "bound": 9.0 * r, "path": 0.0} for r in (1.0, 10.0)]
    ).claims[0]
    assert not claim.holds
    assert "T^1.000" in claim.measured


def test_growth_and_bounds_that_are_broken_are_said_not_to_hold() -> None:
    tasks = [(tau, 1.0, 9, 0) for tau in (2.0, 8.0)]
    results = [{"regret": 10.0 * r, "bound": 9.0 * r, "path": r} for r in (1.0, 10.0)]
    assert [claim.holds for claim in growth.IN_PATH.conclude(tasks, results).claims] == [False, False]


def test_the_wrong_order_is_said_not_to_hold() -> None:
    names = ["Scream, theorem", "Scream, appendix", "Lazy Scream"]
    grow = [
        {
            key: price**power
            for name, power in zip(names, (0.5, 0.5, 0.9), strict=True)
            for key in (name, f"{name}: bound")
        }
        for price in (1.0, 4.0)
    ]
    assert not growth.IN_PRICE.conclude([(1.0, 9, 0), (4.0, 9, 0)], grow).claims[0].holds
