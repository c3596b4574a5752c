"""Claims that are checked on every seed by itself."""

import numpy as np

from driftwise.experiments.studies.paired import Ratio, paired, ratio_table


def test_a_claim_holds_if_it_does_on_all_seeds() -> None:
    costs = {"a": [1.0, 2.0, 30.0], "b": [2.0, 4.0, 40.0]}
    claim = paired("a below b", [Ratio("a", "b", 0.0, 1.0)], costs)
    assert claim.holds
    assert claim.measured == "on 3 of 3 seeds; a / b 0.500 to 0.750, mean 0.583"


def test_one_seed_is_enough_to_fail_even_if_the_means_say_otherwise() -> None:
    costs = {"a": [1.0, 1.0], "b": [100.0, 0.9]}
    claim = paired("a below b", [Ratio("a", "b", 0.0, 1.0)], costs)
    assert np.mean(costs["a"]) < np.mean(costs["b"])
    assert claim.holds is False
    assert "on 1 of 2 seeds" in claim.measured


def test_all_ratios_must_be_in_range_on_the_same_seed() -> None:
    costs = {"a": [1.0, 3.0], "b": [2.0, 2.0], "c": [2.0, 2.0]}
    ratios = [Ratio("a", "b", 0.0, 1.0), Ratio("b", "c", 0.9, 1.1)]
    assert "on 1 of 2 seeds" in paired("both", ratios, costs).measured
    assert "b / c 1.000" in paired("both", ratios, costs).measured


def test_a_table_has_a_row_for_every_seed_and_the_mean() -> None:
    table = ratio_table("a and b", [5, 6], {"a / b": np.array([0.5, 0.75])})
    assert table.header == ["seed", "a / b"]
    assert table.rows == [["5", "0.5000"], ["6", "0.7500"], ["mean", "0.6250"]]
