"""Files of older schemas load, and what is in them decides as it did when it was saved.

``python -m tests.test_checkpoint_schemas`` writes those of the present schema; older ones stay as they are.
"""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import driftwise as dw
from driftwise._container import unpack
from driftwise._saving import SCHEMA
from driftwise.checkpoint import MIGRATIONS, up_to_date

FILES = Path(__file__).parent / "data" / "checkpoints"
NAMES = ("scream", "self_tuned_scream", "self_tuned_learner", "rounded")


BOX = dw.Box([0.0, -1.0], [9.0, 4.0])
MAKERS: dict[str, Callable[[], dw.Learner]] = {
    "scream": lambda: dw.Scream(BOX, gradient_bound=3.0, switching_cost=1.0, late=4),
    "self_tuned_scream": lambda: dw.SelfTunedScream(BOX, switching_cost=dw.MoveCost(up=0.4, down=0.1), late=4),
    "self_tuned_learner": lambda: dw.SelfTunedLearner(BOX, switching_cost=0.3, late=4),
    "rounded": lambda: dw.rounded(dw.OGD(BOX, step=0.3, late=4), seed=5),
}


def record() -> None:
    """Write what learners know after rounds with and without feedback, some of it late, and what they decide next."""
    folder, rng, decisions = FILES / f"schema{SCHEMA}", np.random.default_rng(0), {}
    folder.mkdir(exist_ok=True)
    for name, make in MAKERS.items():
        learner = make()
        for t in range(21):
            learner.act()
            learner.skip() if t % 4 == 3 else learner.observe(rng.standard_normal(2))
            if t % 8 == 5:
                learner.observe(rng.standard_normal(2), round=t - 2)
        learner.save(folder / f"{name}.safetensors")
        decisions[name] = [learner.act().tolist()]
    (folder / "decisions.json").write_text(json.dumps(decisions, indent=1))


def load(schema: int, name: str) -> tuple[Any, Any]:
    """Return what is in a file, and the decision that it made next."""
    folder = FILES / f"schema{schema}"
    return dw.load(folder / f"{name}.safetensors"), json.loads((folder / "decisions.json").read_text())[name][0]


@pytest.mark.parametrize("schema", [1, 2])
@pytest.mark.parametrize("name", NAMES)
def test_the_next_decision_is_the_one_that_was_made_then(name: str, schema: int) -> None:
    learner, decision = load(schema, name)
    if schema == 1:
        assert (learner.skipped, learner.refused, learner.late, learner.on_bad_input) == (0, 0, 0, "raise")
    else:
        assert learner.skipped > 0
        assert learner.late == 4
    np.testing.assert_array_equal(learner.act(), decision)
    assert dw.from_bytes(learner.to_bytes()).round == learner.round == (20 if schema == 1 else 21)


def test_a_committee_of_schema_1_goes_on() -> None:
    committee, _ = load(1, "committee")
    assert (committee.round, committee.skipped) == (10, 0)
    weights = committee.weights
    committee.act([[0.0, 0.0], [1.0, 1.0]])
    committee.skip()
    np.testing.assert_array_equal(committee.weights, weights)


def test_a_file_of_schema_1_has_the_older_header() -> None:
    """The files are what they are said to be, so that the migration is what makes them load."""
    for name in (*NAMES, "committee"):
        header, arrays = unpack("test", (FILES / "schema1" / f"{name}.safetensors").read_bytes())
        assert header["schema"] == 1
        assert "missing" not in json.dumps(header)
        newer = up_to_date("test", header, arrays)
        assert newer["schema"] == SCHEMA
        assert '"missing": null' in json.dumps(newer)
    assert set(MIGRATIONS) == set(range(1, SCHEMA))


if __name__ == "__main__":
    record()
