"""Journal entries as lists show them: without payload, and with the first of what each changed.

An entry that took in hundreds of edited files holds a row of each; a list that shows only how many
they are need not read them.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

from vault_kg.state.database import Database


@dataclass(frozen=True)
class Glimpse:
    """One accepted request, without what it was asked."""

    seq: int
    request_id: str
    operation: str
    partition: str
    actor: str
    reason: str | None
    state: str
    accepted_at: str
    published_at: str | None
    commit_id: str | None
    label: str
    receipt: dict[str, Any]
    revisions: list[dict[str, Any]]
    """Those that were asked for, in order."""
    revisions_total: int


_COLUMNS = (
    "seq, request_id, operation, partition, actor, reason, state, accepted_at, published_at, "
    "commit_id, effects ->> '$.label', coalesce(receipt, effects -> '$.receipt')"
)


def recent(db: Database, limit: int, before: int | None, most: int | None) -> list[Glimpse]:
    """Return the newest entries, newest first.

    Args:
        db: the state.
        limit: so many entries.
        before: older than this number; the newest of all where None.
        most: so many revisions of each; all where None.
    """
    firsts = ", ".join(f"'$.revisions[{n}]'" for n in range(most or 0))
    told = "effects -> '$.revisions'" if most is None else f"json_extract(effects, {firsts})"
    rows = db.rows(
        f"SELECT {_COLUMNS}, {told}, json_array_length(effects, '$.revisions') FROM journal "
        "WHERE seq < ? ORDER BY seq DESC LIMIT ?",
        (before if before is not None else 1 << 62, limit),
    )
    return [_glimpse(row) for row in rows]


def _glimpse(row: tuple[Any, ...]) -> Glimpse:
    revisions = [each for each in json.loads(row[-2]) if each is not None]
    values: list[Any] = [*row[:-3], json.loads(row[-3]), revisions, row[-1]]
    return Glimpse(*values)
