"""A process that dies while it ingests: the document is wholly there or not at all, and told once."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.ingest.conftest import Library
from tests.ingest.oracle import Oracle
from tests.operations.builder import Clock
from tests.operations.conftest import fast_folder
from vault_kg.ingest import configured
from vault_kg.ingest.replay import Recorded
from vault_kg.operations.workspace import Workspace
from vault_kg.state import journal as rows
from vault_kg.store import failpoints

OLD = "Ada Lovelace wrote the notes.\n\nCharles Babbage designed the engine.\n"
NEW = "Ada Lovelace wrote the notes.\n\nCharles Babbage built the engine in London.\n"
ARGUMENTS: dict[str, Any] = {
    "chunk_text": NEW, "chunk_id": "notes.md", "source_file": "notes.md", "request_id": "once",
}  # fmt: skip
POINTS = ("accept.before", "accept.after", "install.temp-written", "install.exchanged",
          "install.file-done:2", "install.all-done", "publish.before", "publish.inside",
          "publish.after", "git.before", "git.committed")  # fmt: skip


@pytest.fixture(scope="module")
def made() -> Iterator[tuple[Path, Path]]:
    """A vault with a document, and what a model says of its new edition."""
    oracle = Oracle().thing("Ada Lovelace").thing("Charles Babbage").thing("London", "Place")
    oracle.claim("Ada Lovelace", "Ada Lovelace wrote the notes.")
    oracle.claim("Charles Babbage", "Charles Babbage designed the engine.")
    oracle.claim("Charles Babbage", "Charles Babbage built the engine in London.")
    with pytest.MonkeyPatch.context() as patch, fast_folder() as name:
        recording = Path(name) / "answers.jsonl"
        patch.setattr(configured, "extractor", lambda: Recorded(oracle, recording))
        box = Library(Path(name) / "vault", Clock())
        box.ingest(OLD)
        box.ingest(NEW, dry_run=True)
        box.ws.close()
        yield box.root, recording


def killed(root: Path, recording: Path, point: str) -> int:
    command = [sys.executable, "-m", "vault_kg.cli", "call", "knowledge_process_chunk"]
    done = subprocess.run(
        [*command, "--vault", str(root), "--json", json.dumps(ARGUMENTS)],
        env=os.environ | {failpoints.ENVIRONMENT: point, configured.REPLAY: str(recording)},
        capture_output=True, check=False,
    )  # fmt: skip
    return done.returncode


@pytest.mark.parametrize("point", POINTS)
def test_a_document_is_whole_or_not_there(
    made: tuple[Path, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, point: str
) -> None:
    root = Path(shutil.copytree(made[0], tmp_path / "copy", symlinks=True))
    assert killed(root, made[1], point) == failpoints.EXIT_CODE
    monkeypatch.setenv(configured.REPLAY, str(made[1]))
    box = Library.__new__(Library)
    box.root, box.clock = root, Clock()
    box.ws = Workspace.open(root, clock=box.clock)
    try:
        entries = [e for e in rows.published(box.ws.database, 0, 1_000) if e.request_id == "once"]
        assert len(entries) == (0 if point == "accept.before" else 1)
        claims = {"Ada Lovelace wrote the notes."}
        before, after = (
            claims | {f"Charles Babbage {said}."}
            for said in ("designed the engine", "built the engine in London")
        )
        assert box.titles("claim") == (after if entries else before)
        first = box.ask("process_chunk", **ARGUMENTS)
        assert box.ask("process_chunk", **ARGUMENTS) == first
        assert first["git"]["state"] == "committed"
        assert box.titles("claim") == after and "London" in box.titles()
        assert list((root / ".vault-kg/tmp").glob("*")) == []
        assert box.git("status", "--short", "--", "main") == ""
    finally:
        box.ws.close()
