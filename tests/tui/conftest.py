"""What the tests of the review UI stand on: a small vault, as those of the operations do."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.operations.builder import VaultBox
from tests.operations.conftest import fast_folder


@pytest.fixture(autouse=True)
def _environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("VAULT_KG_EMBEDDING_MODEL", "off")
    monkeypatch.delenv("VISUAL", raising=False)


@pytest.fixture
def folder() -> Iterator[Path]:
    with fast_folder() as name:
        yield Path(name)


@pytest.fixture
def vault(folder: Path) -> Iterator[VaultBox]:
    box = VaultBox(folder / "vault")
    yield box
    box.ws.close()
