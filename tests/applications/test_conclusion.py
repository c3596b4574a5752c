"""What a case says, as a finding."""

from driftwise.applications.conclusion import conclude
from driftwise.applications.ours import SELF_TUNED
from tests.applications.cases import MAKERS, contest


def test_claims_follow_from_the_numbers() -> None:
    for application in MAKERS:
        held = [contest(application, cost) for cost in (0.5, 20.0)]
        finding = conclude(held)
        default = next(label for label in held[0].case.rules if "default" in label)
        ratios = [one[SELF_TUNED].overall / one[default].overall for one in held]
        beaten, certified = finding.claims
        assert beaten.holds == (max(ratios) < 1.0)
        assert beaten.measured == f"{ratios[0]:.3f} at 0.5, {ratios[1]:.3f} at 20, as a ratio"
        assert beaten.text.endswith(f"with default settings, {application} on {held[0].case.data.name}")
        assert certified.holds


def test_there_is_a_table_for_every_price_and_one_for_the_problem() -> None:
    titles = [table.title for table in conclude([contest("energy", cost) for cost in (0.5, 20.0)]).tables]
    assert [title.partition(";")[0] for title in titles] == [
        "Move cost 0.5",
        "Move cost 20",
        "The problem",
        "Picked in hindsight",
        "Where SelfTunedScream loses",
    ]
