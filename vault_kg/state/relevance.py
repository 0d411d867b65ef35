"""How often pages were asked for and asserted anew: what their relevance is worked out from."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable
from dataclasses import dataclass

from vault_kg.state.database import Database


@dataclass(frozen=True)
class Use:
    """The use of one page. Its first assertion counts as one attestation."""

    hits: int = 0
    last_queried_at: str | None = None
    attestations: int = 1


def uses(db: Database, ids: Collection[str]) -> dict[str, Use]:
    """Return the use of those pages that were used."""
    rows = db.rows(
        "SELECT record_id, hits, last_queried_at, attestations FROM relevance "
        "WHERE record_id IN (SELECT value FROM json_each(?))",
        (json.dumps(sorted(ids)),),
    )
    return {row[0]: Use(*row[1:]) for row in rows}


def hit(db: Database, ids: Iterable[str], at: str) -> None:
    """Count that pages were asked for."""
    with db.write():
        db.executemany(
            "INSERT INTO relevance VALUES (?1, 1, ?2, 1) ON CONFLICT DO UPDATE SET "
            "hits = hits + 1, last_queried_at = ?2",
            ((record_id, at) for record_id in ids),
        )


def attest(db: Database, ids: Iterable[str]) -> None:
    """Count that pages were asserted anew, and found to stand as they are."""
    with db.write():
        db.executemany(
            "INSERT INTO relevance VALUES (?1, 0, NULL, 2) ON CONFLICT DO UPDATE SET "
            "attestations = attestations + 1",
            ((record_id,) for record_id in ids),
        )
