"""Where a plan may put files: nowhere that the vault itself would not look at afterwards."""

from __future__ import annotations

from pathlib import Path

from vault_kg.errors import InvalidRecord
from vault_kg.index import ignoring, lost, walk
from vault_kg.store.plan import Plan


def checked(root: Path, plan: Plan) -> Plan:
    """Return a plan unchanged, unless it writes where a `.gitignore` leaves files out.

    Raises:
        InvalidRecord: a file of it would be acknowledged, and then found by nobody.
    """
    placed = [c.path for c in plan.changes if c.after is not None and walk.wanted(c.path)]
    folders = ignoring.with_those_above({path.rpartition("/")[0] for path in placed})
    if any((root / folder / ignoring.NAME).exists() for folder in folders):
        for path in placed:
            check_seen(root, path)
    return plan


def check_seen(root: Path, path: str) -> None:
    """Refuse a path that a `.gitignore` leaves out.

    Raises:
        InvalidRecord: says which line of which file does.
    """
    if walk.ignored(root, path) and (why := lost.ignored(root, path)) is not None:
        raise InvalidRecord(f"{why.message}. To write there, {why.hint}", path=path)
