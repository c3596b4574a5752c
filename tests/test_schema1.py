"""Files of schema 1, written before gradients were clipped: they load, and go on as they were recorded to."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import driftwise as dw
from driftwise.engine import layout

FOLDER = Path(__file__).parent / "data" / "checkpoints" / "schema1"


@pytest.mark.parametrize("path", sorted(FOLDER.glob("*.safetensors")), ids=lambda path: path.stem)
def test_the_first_decision_is_the_one_recorded(path: Path) -> None:
    loaded: Any = dw.load(path)
    recorded = json.loads((FOLDER / "decisions.json").read_text())[path.stem]
    assert loaded.round == (10 if path.stem == "committee" else 20)
    if isinstance(loaded, dw.Ensemble):
        np.testing.assert_allclose(loaded.act(), recorded[0], rtol=1e-12)
    assert type(dw.from_bytes(loaded.to_bytes())) is type(loaded)


def test_what_was_never_clipped_counts_as_usual() -> None:
    loaded = dw.load(FOLDER / "self_tuned_scream.safetensors")
    usual = np.sqrt(loaded._number(layout.SQUARES) / loaded._number(layout.UPDATES))
    numbers = [loaded._number(place) for place in (layout.COUNTED, layout.LAST, layout.LARGEST, layout.CUT)]
    assert numbers == [20.0, usual, usual, 0.0]
    steps = loaded.step_sizes[0]
    loaded.act()
    loaded.observe([1e9 * usual, 0.0])
    assert loaded.clipping == pytest.approx(1e9 * usual, rel=1e-6)
    assert loaded.step_sizes[0] > 0.95 * steps


def test_other_learners_have_no_size_of_gradients() -> None:
    loaded = dw.load(FOLDER / "scream.safetensors")
    assert loaded._state[16:20].tolist() == [0.0] * 4
