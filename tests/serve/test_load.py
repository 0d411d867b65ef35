"""Fifty clients on one service: no error, and no acknowledged write is lost.

The whole measurement is `benchmarks/service.py`; `VAULT_KG_LOAD_SECONDS` makes this one longer.
"""

from __future__ import annotations

import asyncio
import os
from pathlib import Path

import pytest

from benchmarks import service as bench
from tests.operations.conftest import fast_folder
from tests.store.trials import opened

RECORDS, CLIENTS = 1_000, 50
SECONDS = float(os.environ.get("VAULT_KG_LOAD_SECONDS", "8"))


def test_fifty_clients_read_and_write_without_an_error_or_a_lost_write(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("VAULT_KG_EMBEDDING_MODEL", "off")
    with fast_folder() as name:
        root = Path(name) / "vault"
        root.mkdir()
        bench.make_vault(root, RECORDS)
        served = bench.Served(root)
        assert bench.health_until_ready(served.address)
        tally = asyncio.run(bench.load(served.address, CLIENTS, RECORDS, SECONDS, share=0.1))
        assert tally.errors == []
        assert len(tally.seconds["read"]) > CLIENTS
        assert len(tally.written) == len(tally.seconds["write"]) > 0
        assert asyncio.run(bench.lost_writes(served.address, tally)) == []
        served.stop()

        box = opened(root)
        assert box.call("knowledge_records", limit=1)["total"] == RECORDS + len(tally.written)
        assert not box.git("status", "--porcelain", "--untracked-files=no")
        for record, title in list(tally.written.items())[:20]:
            assert box.lookup(title) == record
            assert [r["operation"] for r in box.history(record)] == [bench.WRITE]
        box.ws.close()
