"""What all domains share: the plan that kernels read, no compilation before it is needed, and membership."""

import os
import pickle
import subprocess
import sys

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

import driftwise as dw
from driftwise._validate import Array
from driftwise.domains import base, kernels
from driftwise.domains.base import PLUGINS, ROUNDING, Block
from tests.cases import check_refused
from tests.domains.cases import compiled, domains, outside, points

MIXED = dw.Product(dw.Ball(2, 3.0, [1.0, -1.0]), dw.Box([0.0], [5.0]), dw.SpectralBalls((1, 2, 2), 0.5), dw.Simplex(2))


class Forbidden:
    """A plugin that must not be asked for."""

    @property
    def address(self) -> int:
        raise AssertionError("compiled")


def test_a_plan_says_where_everything_is() -> None:
    plan = MIXED.plan()
    heads = plan[1:17].reshape(4, kernels.PLAN_COLUMNS)
    assert plan[0] == 4.0
    kinds = (kernels.BALL, kernels.BOX, kernels.SPECTRAL, kernels.SIMPLEX)
    assert heads[:, kernels.ADDRESS].tolist() == [PLUGINS[kind].address for kind in kinds]
    assert heads[:, kernels.FIRST].tolist() == [0, 2, 3, 7]
    assert heads[:, kernels.SIZE].tolist() == [2, 1, 4, 2]
    numbers = [[3.0, 1.0, -1.0], [0.0, 5.0], [0.5, 2.0], [1.0]]
    assert plan[17:].tolist() == [number for group in numbers for number in group]
    for offset, expected in zip(heads[:, kernels.NUMBERS], numbers, strict=True):
        assert plan[int(offset) : int(offset) + len(expected)].tolist() == expected


def test_without_links_a_plan_has_no_addresses_and_compiles_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    linked = MIXED.plan()
    for kind in PLUGINS:
        monkeypatch.setitem(base.PLUGINS, kind, Forbidden())
    plan = MIXED.plan(link=False)
    assert plan[1:17].reshape(4, -1)[:, kernels.ADDRESS].tolist() == [0.0] * 4
    linked[1:17].reshape(4, -1)[:, kernels.ADDRESS] = 0.0
    assert plan.tobytes() == linked.tobytes()
    with pytest.raises(AssertionError, match="compiled"):
        MIXED.plan()


def test_only_the_kinds_that_a_domain_has_are_compiled(monkeypatch: pytest.MonkeyPatch) -> None:
    for kind in (kernels.BALL, kernels.SIMPLEX, kernels.SPECTRAL):
        monkeypatch.setitem(base.PLUGINS, kind, Forbidden())
    assert dw.Box([0.0], [1.0]).plan()[1] == PLUGINS[kernels.BOX].address


QUIET = """
import numpy as np, driftwise as dw
from numba.core import event
from driftwise.domains.base import PLUGINS
with event.install_recorder("numba:compile") as heard:
    for domain in (dw.Ball(2), dw.Box([0.0], [1.0]), dw.Simplex(3), dw.SpectralBalls((1, 2, 2), 1.0)):
        whole = dw.Product(domain, domain)
        x = 9.0 * np.ones((2, whole.dim))
        whole.project(x), whole.contains(x), whole.farthest(x), whole.support(x), whole.plan(link=False)
    p = dw.mirror.PNorm(1.5)
    p.gradient([0.5, 0.5], dw.Simplex(2)), p.radius_squared(dw.Simplex(2), np.array([0.5, 0.5]))
assert not heard.buffer, heard.buffer
assert not any("address" in vars(plugin) for plugin in PLUGINS.values())
"""


def test_python_projects_without_compiling_anything() -> None:
    subprocess.run([sys.executable, "-c", QUIET], check=True, env={**os.environ, "NUMBA_DISABLE_JIT": "0"})


INTERPRETED = """
import sys
from tests.domains.cases import compiled
from tests.domains.test_base import EXTREMES, MIXED
sys.stdout.write(compiled(MIXED, EXTREMES).tobytes().hex())
"""

EXTREMES = np.concatenate(
    [size * np.random.default_rng(0).standard_normal((6, MIXED.dim)) for size in (1e-200, 1e-3, 1.0, 1e200)]
    + [10.0 ** np.random.default_rng(1).uniform(-200.0, 200.0, (6, MIXED.dim))]
)


def test_plain_python_checks_every_index_and_gives_the_same_bits() -> None:
    run = subprocess.run(
        [sys.executable, "-c", INTERPRETED],
        check=True,
        capture_output=True,
        text=True,
        env={**os.environ, "NUMBA_DISABLE_JIT": "1", "PYTHONPATH": os.pathsep.join(sys.path)},
    )
    assert run.stdout == compiled(MIXED, EXTREMES).tobytes().hex()


def test_a_domain_that_was_used_can_be_pickled() -> None:
    plan = MIXED.plan()
    again = pickle.loads(pickle.dumps(MIXED))
    assert again.plan().tobytes() == plan.tobytes()
    assert not any(isinstance(value, int) and value in plan[1:17:4] for value in vars(again).values())


def test_room_is_that_of_the_largest_block() -> None:
    assert dw.Product(dw.Ball(2), dw.Box([0.0], [1.0]), dw.Simplex(3)).room == 0
    large = dw.SpectralBalls((1, 3, 4), 1.0)
    assert dw.Product(dw.SpectralBalls((2, 2, 2), 1.0), large).room == large.room == 3 * (4 + 3 + 1)


@given(outside(), st.lists(st.floats(0.0, 1.0), min_size=8, max_size=8))
def test_projections_and_their_mixtures_are_contained(case: tuple[dw.Domain, Array], shares: list[float]) -> None:
    domain, rows = case
    members = np.concatenate([domain.project(rows), compiled(domain, rows)])
    weights = (np.array(shares) + 1e-3) / (np.array(shares) + 1e-3).sum()
    for tol in (0.0, 1e-9):
        assert domain.contains(members, tol=tol)
        assert domain.contains(weights @ members, tol=tol)


@given(domains(), st.data(), st.floats(1e-6, 1e6))
def test_what_is_outside_by_a_share_of_the_diameter_is_not_contained(
    domain: dw.Domain, data: st.DataObject, share: float
) -> None:
    x = data.draw(points(domain.dim, -100.0, 100.0))
    edge = domain.project(x)
    away, distance = x - edge, share * domain.diameter
    assume(np.abs(away).max() > 1e-12 * np.abs(x).max())
    away /= np.abs(away).max()
    beyond = edge + distance * away / np.linalg.norm(away)
    size = max(float(np.linalg.norm(beyond)), float(np.linalg.norm(domain.numbers)))
    assume(distance > 100.0 * ROUNDING * size and np.abs(beyond).max() <= 1e100)
    assert not domain.contains(beyond)
    assert not domain.contains(beyond, tol=0.5 * share)
    assert domain.contains(beyond, tol=2.0 * share)


@pytest.mark.parametrize("width", [1e-100, 1e-12, 1.0, 1e12, 1e99])
def test_the_tolerance_is_in_diameters(width: float) -> None:
    half = 0.5 * width
    for domain in (dw.Ball(1, half), dw.Box([-half], [half]), dw.SpectralBalls((1, 1, 1), half)):
        assert domain.contains([width * (0.5 + 0.9e-6)], tol=1e-6)
        assert not domain.contains([width * (0.5 + 1.1e-6)], tol=1e-6)


def test_a_tiny_ball_in_a_far_place_contains_what_rounding_leaves_of_it() -> None:
    ball = dw.Ball(2, 1e-100, [1e100, -1e100])
    assert ball.contains(ball.project([0.0, 0.0]), tol=0.0)
    assert not ball.contains([1e100, -0.999e100])


def test_points_near_the_origin_are_as_uncertain_as_the_numbers_of_the_domain() -> None:
    ball = dw.Ball(2, 3.0, [3.0, 0.1])
    edge = ball.project(np.stack([np.full(50, -1.0), np.linspace(-0.1, 0.1, 50)], axis=1))
    small = edge[np.linalg.norm(edge, axis=1) < 1e-2]
    assert len(small) > 5
    assert ball.contains(small, tol=0.0)
    huge = dw.Ball(1, 1e100, [1e100])
    assert huge.contains([-1e85], tol=0.0)
    assert not huge.contains([-1e87], tol=0.0)


def test_a_single_point_is_a_domain_too() -> None:
    box = dw.Box([0.1, 1e50], [0.1, 1e50])
    assert box.contains(box.project([3.0, 3.0]), tol=0.0)
    assert not box.contains([0.1, 1.001e50])


@pytest.mark.parametrize(
    ("kind", "count", "rows"),
    [
        (kernels.BALL, 3, 0),
        (kernels.BOX, 5, 0),
        (kernels.SIMPLEX, 2, 0),
        (kernels.SPECTRAL, 1, 2),
        (kernels.SPECTRAL, 1, 0),
        (9, 1, 0),
    ],
)
def test_a_block_with_other_numbers_than_kernels_read_is_refused(kind: int, count: int, rows: int) -> None:
    class Odd(dw.Domain):
        def __init__(self) -> None:
            super().__init__((Block(kind, 3, np.ones(count), rows),), 1.0)

        def _support(self, rows: Array) -> Array:
            return rows[:, 0]

    check_refused(Odd, "Odd", "numbers")
