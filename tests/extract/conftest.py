"""Each test of storing and indexing runs over every backend."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.extract.coded import Coded
from tests.extract.tiny import Tree
from tests.operations.builder import VaultBox
from tests.operations.conftest import clock, fast_folder, folder, vault  # noqa: F401 - fixtures
from vault_kg.extract.backends.memory import MemoryBackend
from vault_kg.extract.backends.protocol import GraphBackend
from vault_kg.extract.backends.sqlite import SqliteBackend


@pytest.fixture(autouse=True)
def _no_model(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("VAULT_KG_EMBEDDING_MODEL", "off")


def make(kind: str, where: Path) -> GraphBackend:
    return SqliteBackend(where / "graph.sqlite") if kind == "sqlite" else MemoryBackend()


@pytest.fixture(params=["sqlite", "memory"])
def graph(request: pytest.FixtureRequest) -> Iterator[GraphBackend]:
    with fast_folder() as name:
        found = make(request.param, Path(name))
        yield found
        found.close()


@pytest.fixture
def tree(graph: GraphBackend, tmp_path: Path) -> Tree:
    return Tree(tmp_path / "code", graph)


@pytest.fixture
def coded(vault: VaultBox, folder: Path, monkeypatch: pytest.MonkeyPatch) -> Coded:  # noqa: F811
    """A vault whose graph mirrors a folder of files in the small language."""
    return Coded(vault, folder / "project", monkeypatch)
