"""What the tests of the service stand on: a small vault, a service of it, and long operations."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.operations.builder import VaultBox
from tests.operations.conftest import fast_folder
from tests.serve import long_operations
from tests.serve.served import Running, ServiceProcess
from vault_kg.operations import registry


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> Iterator[VaultBox]:
    """A small vault that is closed, so that others can open it."""
    monkeypatch.setenv("VAULT_KG_EMBEDDING_MODEL", "off")
    with fast_folder() as name:
        box = VaultBox(Path(name) / "vault")
        box.page("Ada Lovelace")
        box.page("Charles Babbage")
        box.ws.close()
        yield box


@pytest.fixture
def long(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Operations that take as long as the test wants."""
    registry.operations()
    for name, operation in long_operations.OPERATIONS.items():
        monkeypatch.setitem(registry._OPERATIONS, name, operation)
    for kept in (long_operations.GATES, long_operations.STARTED, long_operations.ENDED):
        kept.clear()
    yield
    for gate in long_operations.GATES.values():
        gate.set()


@pytest.fixture
def served(small: VaultBox, long: None) -> Iterator[Running]:
    """A service of the small vault in this process."""
    running = Running(small.root)
    running.healthy()
    yield running
    for gate in long_operations.GATES.values():
        gate.set()
    running.stop()


@pytest.fixture
def process(small: VaultBox) -> Iterator[ServiceProcess]:
    """A service of the small vault in a process of its own."""
    started = ServiceProcess(small.root).wait_until_ready()
    yield started
    if started.process.poll() is None:
        started.kill()
