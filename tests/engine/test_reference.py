"""The NumPy round against arithmetic done by hand."""

import numpy as np

import driftwise as dw
from driftwise.engine.reference import Reference
from driftwise.learners import Ensemble, Meta, Pool, Surrogate


def test_two_rounds_by_pencil_and_paper() -> None:
    learner = Ensemble(
        dw.Ball(1),
        pool=Pool([0.2, 0.8]),
        meta=Meta(rate=0.5, prior=[0.75, 0.25]),
        surrogate=Surrogate(switching_cost=2.0),
        constant=True,
    )
    reference = Reference(learner.program, np.zeros(1))
    np.testing.assert_allclose(reference.weights, [0.75, 0.25], rtol=1e-15)

    reference.observe(np.array([1.0]))
    np.testing.assert_allclose(reference.points, [[-0.2], [-0.8]], rtol=1e-15)
    np.testing.assert_allclose(reference.decision, [-0.35], rtol=1e-15)

    reference.observe(np.array([-1.0]))
    # <g, w> is 0.2 and 0.8; the moves of 0.2 and 0.8 cost 2 each.
    odds = 3.0 * np.exp(-0.5 * (0.6 - 2.4))
    np.testing.assert_allclose(reference.totals, [0.6, 2.4], rtol=1e-15)
    np.testing.assert_allclose(reference.weights, [odds / (1.0 + odds), 1.0 / (1.0 + odds)], rtol=1e-14)
    np.testing.assert_allclose(reference.points, [[0.0], [0.0]], atol=1e-15)
