"""Honest confidence: measured on labelled code, and on code that is watched while it runs."""

from __future__ import annotations

from collections import defaultdict

import pytest

from tests.extract.corpus import measure, traced
from vault_kg.extract import confidence
from vault_kg.extract.confidence import Signal

LEAST = {(1.0, 1.0): 0.97, (0.9, 0.9): 0.9, (0.7, 0.8): 0.7, (0.4, 0.6): 0.4, (0.1, 0.3): 0.1}
"""What each band promises; the recall that goes with it is held below."""


@pytest.fixture(scope="module")
def measured() -> measure.Measured:
    return measure.measure()


def test_the_corpus_is_large_enough(measured: measure.Measured) -> None:
    assert measured.sites >= 300


@pytest.mark.parametrize("band", LEAST, ids=str)
def test_each_band_is_as_right_as_it_says(
    measured: measure.Measured, band: tuple[float, float]
) -> None:
    found = measured.bands[band]
    print(measure.report(measured))
    assert found.count >= 5, "too few edges to judge the band"
    assert found.precision >= LEAST[band], found.wrong


def test_most_sites_are_found(measured: measure.Measured) -> None:
    total = measured.found + len(measured.missed)
    print(f"recall {measured.found} of {total}")
    assert measured.found / total >= 0.95, measured.missed


def test_real_code_calls_what_the_edges_say() -> None:
    counts: dict[float, list[int]] = defaultdict(lambda: [0, 0])
    wrong = []
    for edge, right in traced.judged():
        counts[edge.confidence][right] += 1
        if not right:
            wrong.append((edge.source, edge.line, edge.target))
    for weight, (bad, good) in sorted(counts.items()):
        print(f"{weight:.1f}: {good} of {good + bad}")
    assert sum(map(sum, counts.values())) >= 300
    for weight, (bad, good) in counts.items():
        assert good / (good + bad) >= min(weight, 0.97), wrong


def test_every_weight_lies_in_the_calibrated_bands() -> None:
    every = [value for value in vars(confidence).values() if isinstance(value, Signal)]
    assert len({signal.name for signal in every}) == len(every) > 10
    for signal in every:
        assert any(low <= signal.weight <= high for low, high in measure.BANDS), signal


def test_an_edge_is_as_sure_as_its_weakest_reason() -> None:
    assert confidence.confidence([]) == 1.0
    assert confidence.confidence([confidence.IMPORTED, confidence.STRING]) == 0.5
    for edge in measure.edges():
        assert edge.signals, edge
        assert edge.confidence == confidence.confidence(edge.signals) >= 0.1
