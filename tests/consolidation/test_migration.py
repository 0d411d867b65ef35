"""A vault of the layout before sessions is brought up to date when it is opened, and loses nothing."""

from __future__ import annotations

from importlib import resources
from pathlib import Path

import apsw

from tests.consolidation.boards import Board
from tests.operations.builder import Clock
from vault_kg.operations.workspace import Workspace
from vault_kg.state.database import APPLICATION_ID

LATER = ("session", "candidate", "subscriber", "dead_letter", "relevance")


def test_a_state_of_the_first_layout_gets_the_tables_of_sessions(folder: Path) -> None:
    board = Board(folder / "vault", Clock())
    node = board.page("Retries", "Decision")
    board.ws.close()
    state = board.root / ".vault-kg/state.sqlite"
    as_first_layout(state)
    board.ws = Workspace.open(board.root, clock=board.clock)
    assert board.get(node)["title"] == "Retries" and board.ask("audit")["total"] == 0
    assert board.consolidate("Delays", "Double.") in board.listed()
    board.ws.close()


def as_first_layout(state: Path) -> None:
    """Take away what later layouts have brought."""
    first = (resources.files("vault_kg.state") / "migrations/0001_core.sql").read_text()
    model = apsw.Connection(":memory:")
    model.execute(first)
    kept = {name for (name,) in model.execute("SELECT name FROM sqlite_schema")}
    database = apsw.Connection(str(state))
    ours = [name for name in LATER if name not in kept]
    for name in reversed(ours):
        database.execute(f"DROP TABLE {name}")
    database.execute("DROP INDEX journal_operation; DROP INDEX journal_commit")
    database.execute("PRAGMA user_version=1")
    assert database.execute("PRAGMA application_id").fetchone() == (APPLICATION_ID,)
    later = [
        name
        for (name,) in database.execute("SELECT name FROM sqlite_schema WHERE type = 'table'")
        if name in _of_other_layouts() - kept
    ]
    for name in later:
        database.execute(f"DROP TABLE IF EXISTS {name}")
    database.close()


def _of_other_layouts() -> set[str]:
    """The tables of the layouts after ours, which would be there already."""
    folder = resources.files("vault_kg.state") / "migrations"
    scripts = sorted(f.name for f in folder.iterdir() if f.name.endswith(".sql"))
    made = apsw.Connection(":memory:")
    for name in scripts:
        made.execute((folder / name).read_text())
    return {name for (name,) in made.execute("SELECT name FROM sqlite_schema WHERE type = 'table'")}
