"""A board of its own for each test, without a model unless the test asks for the real one."""

from __future__ import annotations

import importlib.util
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.consolidation.boards import Board
from tests.operations.builder import Clock
from tests.operations.conftest import _no_model, clock, folder  # noqa: F401 - fixtures
from vault_kg.embedding.models import DEFAULT_MODEL, model_path


@pytest.fixture
def board(folder: Path, clock: Clock) -> Iterator[Board]:  # noqa: F811 - a fixture
    box = Board(folder / "vault", clock)
    yield box
    box.ws.close()


@pytest.fixture
def meaning(_no_model: None, monkeypatch: pytest.MonkeyPatch) -> None:  # noqa: F811 - a fixture
    """Search by meaning with the real model; ask for it before the board."""
    if importlib.util.find_spec("llama_cpp") is None or not model_path(DEFAULT_MODEL).exists():
        pytest.skip("no embedding model: run `make setup`")
    monkeypatch.delenv("VAULT_KG_EMBEDDING_MODEL")
