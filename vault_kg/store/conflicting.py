"""What becomes of a request that met an editor's change: all versions kept, and a person asked."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from vault_kg.errors import ConflictBlocked, UnsafePath
from vault_kg.state import conflicts
from vault_kg.state import journal as rows
from vault_kg.state.conflicts import Conflict
from vault_kg.state.database import Database
from vault_kg.state.journal import Entry, FileRow
from vault_kg.store import files
from vault_kg.store.files import Displaced

if TYPE_CHECKING:
    from vault_kg.store.vault import Vault


def record(vault: Vault, entry: Entry, changed: Sequence[FileRow], met: Displaced, at: str) -> None:
    """Keep the original, proposed and displaced bytes of each file of an entry."""
    found = [
        Conflict(
            f"cf_{entry.seq}_{n}", entry.seq, f.path, f.record_id, f.before, f.after,
            met.found if f.path == met.path else _present(vault, f.path), at,
        )
        for n, f in enumerate(changed)
    ]  # fmt: skip
    with vault.database.write():
        conflicts.add(vault.database, found)
        rows.set_state(vault.database, entry.seq, rows.CONFLICTED)


def blocked(database: Database, entry: Entry) -> ConflictBlocked:
    """Return the refusal that names the conflict of an entry."""
    waiting = conflicts.of_entry(database, entry.seq)
    met = next((c for c in waiting if c.displaced != c.original), waiting[0])
    return ConflictBlocked(
        f"{met.path} was edited while {entry.operation} was being written. Nothing was "
        "overwritten: all versions are kept. A person has to choose, with `vault-kg review "
        f"{met.id}` or in the review UI",
        conflict_id=met.id,
        path=met.path,
        request_id=entry.request_id,
    )


def _present(vault: Vault, path: str) -> bytes | None:
    try:
        return files.read(vault.root, path)
    except (UnsafePath, OSError):
        return None  # a folder, link or pipe has the name; it stays as it is
