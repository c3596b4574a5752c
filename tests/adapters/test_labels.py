"""Who gets a model as labels come, and probabilities that add up to 1 whatever the scores."""

import numpy as np
import pytest

from driftwise.adapters._labels import joining, probabilities


def test_one_model_is_enough_for_two_labels_and_each_has_one_from_three_on() -> None:
    labels: list[str] = []
    models: dict[object, object] = {}
    for count, label in enumerate("abcde", start=1):
        models |= joining(labels, label)
        labels.append(label)
        assert list(models) == (["a"] if count < 3 else labels)
    assert {label: other for label, other in models.items() if other is not None} == {"b": "a"}


@pytest.mark.parametrize("count", [1, 2, 3, 7])
def test_probabilities_add_up_and_keep_the_order_of_scores(count: int) -> None:
    rng = np.random.default_rng(count)
    scores = rng.normal(size=(400, count)) * np.exp(rng.uniform(-10.0, 30.0, size=(400, 1)))
    shares = probabilities(scores)
    assert shares.shape == (400, max(count, 2))
    assert shares.min() >= 0.0
    assert shares.sum(axis=1) == pytest.approx(np.ones(400), abs=1e-12)
    full = np.column_stack([-scores, scores]) if count == 1 else scores
    assert (np.take_along_axis(shares, full.argmax(axis=1)[:, None], 1)[:, 0] == shares.max(axis=1)).all()


def test_a_single_score_is_log_odds() -> None:
    scores = np.array([[-3.0], [0.0], [0.5]])
    assert probabilities(scores)[:, 1] == pytest.approx(1.0 / (1.0 + np.exp(-scores[:, 0])))
