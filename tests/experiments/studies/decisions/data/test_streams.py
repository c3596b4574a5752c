"""Which streams there are."""

from driftwise.experiments.studies.decisions.data import demand
from driftwise.experiments.studies.decisions.data.problems import Level, recordings
from driftwise.experiments.studies.decisions.data.recordings import RECORDINGS
from driftwise.experiments.studies.decisions.data.streams import DESIGN, EVERY, HELD_OUT


def test_no_column_that_was_used_for_design_is_held_out() -> None:
    used, fresh = ({(spec.recording, spec.target) for spec in streams.values()} for streams in (DESIGN, HELD_OUT))
    assert not used & fresh
    assert not set(DESIGN) & set(HELD_OUT)
    used, fresh = ({(s.recording, s.column) for s in demands.values()} for demands in (demand.DESIGN, demand.HELD_OUT))
    assert not used & fresh
    assert not set(demand.DESIGN) & set(demand.HELD_OUT)


def test_there_are_enough_of_both_kinds() -> None:
    levels = [name for name, spec in HELD_OUT.items() if isinstance(spec, Level)]
    assert len(levels) >= 5
    assert len(HELD_OUT) - len(levels) >= 5
    assert len(demand.HELD_OUT) >= 4


def test_their_recordings_are_known_and_have_their_columns() -> None:
    for spec in EVERY.values():
        assert spec.target in RECORDINGS[spec.recording].columns
        assert set(recordings(spec)) <= set(RECORDINGS)
