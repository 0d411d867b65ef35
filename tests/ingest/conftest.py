"""A vault of its own for each test, and a model that was taught what the test's texts say."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.ingest.oracle import Oracle
from tests.operations.builder import ANYBODY, Clock
from tests.operations.conftest import fast_folder
from tests.operations.graph.graphs import Graph
from vault_kg.ingest import configured
from vault_kg.operations.caller import Caller


class Library(Graph):
    """A vault that documents are ingested into."""

    def ingest(
        self, text: str, name: str = "notes.md", caller: Caller = ANYBODY, /, **more: Any
    ) -> dict[str, Any]:
        arguments = {"chunk_text": text, "chunk_id": name, "source_file": name} | more
        return self.ask("process_chunk", caller, **arguments)

    def titles(self, kind: str = "page") -> set[str]:
        found = self.call("knowledge_records", kind=kind, limit=1000)["records"]
        return {record["title"] for record in found}

    def id_of(self, title: str, kind: str = "page", lifecycle: str = "active") -> str:
        found = self.call("knowledge_records", kind=kind, limit=1000, lifecycle=lifecycle)
        (record,) = [r for r in found["records"] if r["title"] == title]
        return str(record["id"])


@pytest.fixture(scope="module", autouse=True)
def _no_model() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("VAULT_KG_EMBEDDING_MODEL", "off")
        for name in [name for name in os.environ if name.startswith("VAULT_KG_EXTRACTION")]:
            patch.delenv(name)
        yield


@pytest.fixture
def vault() -> Iterator[Library]:
    with fast_folder() as folder:
        box = Library(Path(folder) / "vault", Clock())
        yield box
        box.ws.close()


@pytest.fixture
def oracle(monkeypatch: pytest.MonkeyPatch) -> Oracle:
    """The model that ingestion uses in this test."""
    made = Oracle()
    monkeypatch.setattr(configured, "extractor", lambda: made)
    return made
