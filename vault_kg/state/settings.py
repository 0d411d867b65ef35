"""The `store` table: single named values (vault id, creation time, clocks of the index)."""

from __future__ import annotations

from vault_kg.state.database import Database


def get(db: Database, name: str) -> str | None:
    """Return a named value, or None."""
    value: str | None = db.value("SELECT value FROM store WHERE name = ?", (name,))
    return value


def beginning(db: Database, prefix: str) -> dict[str, str]:
    """Return every value whose name begins so, by name."""
    return dict(
        db.rows(
            "SELECT name, value FROM store WHERE substr(name, 1, length(?1)) = ?1 ORDER BY name",
            (prefix,),
        )
    )


def remove(db: Database, name: str) -> None:
    """Forget a named value."""
    with db.write():
        db.execute("DELETE FROM store WHERE name = ?", (name,))


def put(db: Database, name: str, value: str) -> None:
    """Set a named value."""
    with db.write():
        db.execute(
            "INSERT INTO store VALUES (?, ?) ON CONFLICT DO UPDATE SET value = excluded.value",
            (name, value),
        )
