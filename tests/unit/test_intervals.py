"""Intervals: the published one with the right z, and the bootstrap's coverage."""

import random
from statistics import NormalDist

import numpy as np
import pytest

from indexer.lab.evaluation.precision_recall import bootstrap, mitchell, z_value


def test_conrad_and_raymond_print_one_standard_deviation_as_95_per_cent() -> None:
    """ICAIL 2007, 5.3: 22 errors of 942 are printed as 2.34 % -+ .49 %, 44 of 1,884 as -+ .35 %."""
    for errors, trials, printed in ((22, 942, 0.0049), (44, 1884, 0.0035)):
        low, high = mitchell(errors, trials, confidence=NormalDist().cdf(1) * 2 - 1)
        assert round((high - low) / 2, 4) == printed
        low, high = mitchell(errors, trials)
        assert (high - low) / 2 == pytest.approx(1.96 * printed, rel=0.02)


def test_mitchell_by_hand() -> None:
    """Machine Learning, 5.2.2: 12 errors of 40 are .30 -+ .14."""
    low, high = mitchell(12, 40)
    assert (round(low, 2), round(high, 2)) == (0.16, 0.44)
    assert z_value(0.95) == pytest.approx(1.959964)


def test_no_trials_give_no_interval() -> None:
    assert mitchell(0, 0) == (0.0, 1.0)


def shares(sums: np.ndarray) -> list[np.ndarray]:
    return [np.where(sums[:, 1] > 0, sums[:, 0] / np.maximum(sums[:, 1], 1), np.nan)]


@pytest.mark.long
def test_bootstrap_covers_the_true_share() -> None:
    chance, covered, trials = random.Random(1), 0, 150
    for seed in range(trials):
        units = np.array([(chance.random() < 0.7, 1) for _ in range(60)], dtype=float)
        [(low, high)] = bootstrap(units, shares, seed * 1000, draws=300)
        covered += low <= 0.7 <= high
    assert 0.87 <= covered / trials <= 0.99


def test_bootstrap_of_clusters_is_wider_than_of_what_is_in_them() -> None:
    chance = random.Random(2)
    clusters = [(float(10 * (chance.random() < 0.7)), 10.0) for _ in range(30)]
    alone = np.array([(right / 10, 1.0) for right, _ in clusters for _ in range(10)])
    [wide], [narrow] = (bootstrap(units, shares) for units in (np.array(clusters), alone))
    assert wide[1] - wide[0] > 2 * (narrow[1] - narrow[0])


def test_bootstrap_is_the_same_for_the_same_seed() -> None:
    units = np.array([(1.0, 1.0), (0.0, 1.0), (1.0, 1.0)])
    assert bootstrap(units, shares, 3) == bootstrap(units, shares, 3)
    assert bootstrap(units, shares, 3) != bootstrap(np.tile(units, (5, 1)), shares, 4)
    assert bootstrap(units[:1], shares) == [None]
    assert bootstrap(np.zeros((4, 2)), shares) == [None]
