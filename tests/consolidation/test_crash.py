"""A process that dies in a commit of fifty candidates: everything of it, or nothing."""

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

from tests.consolidation.boards import Board
from tests.operations.builder import Clock
from tests.operations.conftest import fast_folder
from vault_kg.operations.workspace import Workspace
from vault_kg.state import revisions
from vault_kg.store import failpoints

POINTS = ("lane.held", "accept.before", "accept.after", "install.temp-written",
          "install.temp-written:40", "install.exchanged", "install.exchanged:25",
          "install.file-done:60", "install.all-done", "publish.before", "publish.inside",
          "publish.after", "git.before", "git.committed", "git.after")  # fmt: skip
LONG = 366 * 86_400
"""The process that is killed has a clock of its own."""

ADDED, UPDATED, SUPERSEDED = 30, 10, 10


@pytest.fixture(scope="module")
def made() -> Iterator[tuple[Path, str]]:
    """A vault with an open session of fifty nodes and thirty edges, and the session."""
    with pytest.MonkeyPatch.context() as patch, fast_folder() as name:
        patch.setenv("VAULT_KG_EMBEDDING_MODEL", "off")
        board = Board(Path(name) / "vault", Clock())
        board.configure(f"[consolidation]\nsession_ttl_seconds = {LONG}\n")
        fill(board)
        session = board.begin()
        for n in range(ADDED):
            board.node(session, f"New {n:02d} {chr(97 + n % 26) * 8}", f"Text {n}.", "Requirement")
        for n in range(UPDATED):
            board.node(session, f"Standing {n}", f"Standing {n}.", "Constraint",
                       attributes={"severity": "high"})  # fmt: skip
        for n in range(SUPERSEDED):
            board.node(session, f"Settled {n}", f"Otherwise {n}.", source_ref=f"spec_007#{n}")
        for n in range(1, ADDED):
            board.edge(session, f"cand_{n:03d}", "depends_on", f"cand_{n + 1:03d}")
        hints = [p["hint"] for p in board.propose(session).values()]
        assert {h: hints.count(h) for h in set(hints)} == {
            "ADD": ADDED + ADDED - 1, "UPDATE": UPDATED, "SUPERSEDE": SUPERSEDED,
        }  # fmt: skip
        board.ws.close()
        yield board.root, session


def fill(board: Board) -> None:
    for n in range(UPDATED):
        board.page(f"Standing {n}", "Constraint", body=f"Standing {n}.")
    for n in range(SUPERSEDED):
        board.page(
            f"Settled {n}", "Decision", body=f"Once {n}.", fields={"source_ref": f"spec_007#{n}"}
        )


def killed(root: Path, session: str, point: str) -> int:
    command = [sys.executable, "-m", "vault_kg.cli", "call", "kg_commit_consolidation"]
    arguments = json.dumps({"session_id": session})
    done = subprocess.run(
        [*command, "--vault", str(root), "--actor", "tester", "--json", arguments],
        env=os.environ | {failpoints.ENVIRONMENT: point, "VAULT_KG_EMBEDDING_MODEL": "off"},
        capture_output=True, check=False,
    )  # fmt: skip
    return done.returncode


def reopened(root: Path) -> Board:
    board = Board.__new__(Board)
    board.root, board.clock = root, Clock()
    board.ws = Workspace.open(root, clock=board.clock)
    return board


@pytest.mark.parametrize("point", POINTS)
def test_a_commit_is_whole_or_never_happened(
    made: tuple[Path, str], folder: Path, point: str
) -> None:
    root, session = Path(shutil.copytree(made[0], folder / "copy", symlinks=True)), made[1]
    assert killed(root, session, point) == failpoints.EXIT_CODE
    board = reopened(root)
    try:
        never = point in ("lane.held", "accept.before")
        assert (board.ask("audit")["total"], len(board.ask("outbox_read")["events"])) == (
            (0, 0) if never else (1, 1)
        ), "one audit row and one event, or neither"
        before = standing(board)
        assert before == ((0, 0, 0, 0) if never else (ADDED, UPDATED, SUPERSEDED, 39))
        assert board.ask("sessions")["count"] == int(never), "the session says the same"
        first = board.commit(session)
        assert board.commit(session) == first and first["git"]["state"] == "committed"
        assert standing(board) == (ADDED, UPDATED, SUPERSEDED, 39)
        assert board.ask("audit")["total"] == len(board.ask("outbox_read")["events"]) == 1
        assert list((root / ".vault-kg/tmp").glob("*")) == []
        assert board.git("status", "--short", "--", "main") == ""
        messages = board.git("log", "--format=%s").splitlines()
        assert sum(m.startswith("kg_commit") for m in messages) == 1
        board.scan()
        assert board.findings() == []
    finally:
        board.ws.close()


def standing(board: Board) -> tuple[int, int, int, int]:
    """How many nodes are new, changed and superseded, and how many edges there are."""
    every: list[dict[str, Any]] = board.call("knowledge_records", lifecycle="all", limit=1000)[
        "records"
    ]
    new = [r for r in every if r["title"].startswith("New")]
    changed = [r for r in every if r["type"] == "Constraint" and r["revision"] == 2]
    old = [r for r in every if r["lifecycle"] == "superseded"]
    edges = [r for r in every if r["kind"] == "relationship"]
    for record in (*new, *old, *edges):
        head = revisions.head(board.ws.database, record["id"])
        assert head is not None and (board.root / head.path).is_file()
    return len(new), len(changed), len(old), len(edges)
