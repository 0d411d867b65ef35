"""What the tests of the operations stand on: a small vault of their own, without a model."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.operations.builder import Clock, VaultBox

MEMORY = Path("/dev/shm")


def fast_folder() -> tempfile.TemporaryDirectory[str]:
    """Return a temporary folder in memory, where flushing costs nothing, or else an ordinary one."""
    in_memory = MEMORY.is_dir() and os.access(MEMORY, os.W_OK)
    return tempfile.TemporaryDirectory(dir=MEMORY if in_memory else None, prefix="vault-kg-test-")


@pytest.fixture(scope="module", autouse=True)
def _no_model() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("VAULT_KG_EMBEDDING_MODEL", "off")
        yield


@pytest.fixture
def folder() -> Iterator[Path]:
    """A fast folder beside which the vault lies."""
    with fast_folder() as name:
        yield Path(name)


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def vault(folder: Path, clock: Clock) -> Iterator[VaultBox]:
    box = VaultBox(folder / "vault", clock)
    yield box
    box.ws.close()
