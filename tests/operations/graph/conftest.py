"""A graph of its own for each test, without a model."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.operations.builder import Clock
from tests.operations.graph.graphs import Graph


@pytest.fixture
def graph(folder: Path, clock: Clock) -> Iterator[Graph]:
    box = Graph(folder / "vault", clock)
    yield box
    box.ws.close()
