"""Merges that stand, what each added to its survivor, and pairs that a person declined."""

from __future__ import annotations

import json
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any

from vault_kg.state.database import Database

MAX_HOPS = 8
COLLAPSED = "collapsed"


@dataclass(frozen=True)
class Merge:
    """One page absorbed by another. The revisions are those that the merge itself made."""

    partition: str
    absorbed: str
    survivor: str
    reason: str
    at: str
    absorbed_revision: int
    survivor_revision: int
    id: int = 0
    seq: int = 0
    undone_by: int | None = None


@dataclass(frozen=True)
class Contribution:
    """One value that a merge added to a field of its survivor.

    The field `COLLAPSED` is of no page: its value `{record, into}` names a relationship that the
    merge made a duplicate of another one, or (`into` None) one of a page with itself.
    """

    field: str
    value: Any
    of: str | None = None
    """The absorbed page whose merge it belongs to, where an entry holds several merges."""


@dataclass(frozen=True)
class Declined:
    """Two pages that a person said are not one, in sorted order."""

    first: str
    second: str
    reason: str
    actor: str
    at: str


_COLUMNS = (
    "partition, absorbed, survivor, reason, at, absorbed_revision, survivor_revision, id, seq, "
    "undone_by"
)


def add(db: Database, merge: Merge, contributions: Sequence[Contribution]) -> None:
    """Write a merge and what it added; a page that is absorbed already stays where it is."""
    if standing(db, merge.absorbed) is not None:
        return
    with db.write():
        db.execute(
            "INSERT INTO merge (partition, absorbed, survivor, reason, at, absorbed_revision, "
            "survivor_revision, seq) VALUES (?,?,?,?,?,?,?,?)",
            (
                merge.partition, merge.absorbed, merge.survivor, merge.reason, merge.at,
                merge.absorbed_revision, merge.survivor_revision, merge.seq,
            ),
        )  # fmt: skip
        made = db.connection.last_insert_rowid()
        db.executemany(
            "INSERT INTO merge_contribution VALUES (?,?,?,?)",
            (
                (made, n, c.field, json.dumps(c.value, ensure_ascii=False))
                for n, c in enumerate(contributions)
            ),
        )


def settle(db: Database, merge: Merge, contributions: Sequence[Contribution]) -> Merge | None:
    """Write a merge that another clone made, so that the same merges stand in every clone.

    Of two merges of one page the earlier stands, and of those that lead in a circle all but the last.

    Returns:
        The merge that does not stand because of others, if there is one.
    """
    there = standing(db, merge.absorbed)
    rivals = [there] if there is not None else _leading_back(db, merge)
    if not rivals:
        add(db, merge, contributions)
        return None
    last = max([merge, *rivals], key=lambda each: (each.at, each.absorbed, each.survivor))
    if last is not merge:
        undo(db, last.absorbed, merge.seq)
        add(db, merge, contributions)
    return last


def _leading_back(db: Database, merge: Merge) -> list[Merge]:
    """Return the standing merges that would lead from the survivor of a merge to what it absorbs."""
    found: list[Merge] = []
    at = merge.survivor
    while at != merge.absorbed:
        following = standing(db, at)
        if following is None or following in found:
            return []
        found.append(following)
        at = following.survivor
    return found


def undo(db: Database, absorbed: str, undone_by: int) -> None:
    """Record that the merge of a page was undone by a later entry."""
    with db.write():
        db.execute(
            "UPDATE merge SET undone_by = ? WHERE absorbed = ? AND undone_by IS NULL",
            (undone_by, absorbed),
        )


def standing(db: Database, absorbed: str) -> Merge | None:
    """Return the merge that a page is absorbed by."""
    return standing_of(db, [absorbed]).get(absorbed)


def standing_of(db: Database, pages: Collection[str]) -> dict[str, Merge]:
    """Return the merges that some pages are absorbed by, by page."""
    sql = f"SELECT {_COLUMNS} FROM merge WHERE absorbed IN ({{}}) AND undone_by IS NULL"
    return {row[1]: Merge(*row) for row in db.among(sql, pages)}


def into(db: Database, survivor: str) -> list[Merge]:
    """Return the standing merges into a page, oldest first."""
    rows = db.rows(
        f"SELECT {_COLUMNS} FROM merge WHERE survivor = ? AND undone_by IS NULL ORDER BY id",
        (survivor,),
    )
    return [Merge(*row) for row in rows]


def of_seq(db: Database, seq: int) -> list[Merge]:
    """Return the merges that a journal entry made."""
    return [Merge(*row) for row in db.rows(f"SELECT {_COLUMNS} FROM merge WHERE seq = ?", (seq,))]


def undone_by(db: Database, seq: int) -> list[str]:
    """Return the pages whose merge a journal entry took back."""
    return [absorbed for (absorbed,) in db.rows(
        "SELECT absorbed FROM merge WHERE undone_by = ? ORDER BY absorbed", (seq,)
    )]  # fmt: skip


def contributions(db: Database, merge_id: int) -> list[Contribution]:
    """Return what a merge added to its survivor, in order."""
    rows = db.rows(
        "SELECT field, value FROM merge_contribution WHERE merge = ? ORDER BY ordinal", (merge_id,)
    )
    return [Contribution(field, json.loads(value)) for field, value in rows]


def collapsed(db: Database) -> dict[str, str | None]:
    """Return the relationships that standing merges collapsed, with what each is a duplicate of."""
    rows = db.rows(
        "SELECT merge_contribution.value FROM merge_contribution "
        "JOIN merge ON merge.id = merge_contribution.merge "
        "WHERE field = ? AND undone_by IS NULL ORDER BY merge.id, ordinal",
        (COLLAPSED,),
    )
    found = (json.loads(value) for (value,) in rows)
    return {each["record"]: each["into"] for each in found}


def targets(db: Database) -> dict[str, str]:
    """Return the survivor of each absorbed page, one hop."""
    return dict(db.rows("SELECT absorbed, survivor FROM merge WHERE undone_by IS NULL"))


def resolve(targets: dict[str, str], record_id: str) -> str | None:
    """Follow a merge chain to its end.

    Returns:
        The id at the end (the id itself where it was not merged), or None where the chain is a
        cycle or longer than `MAX_HOPS`.
    """
    for _ in range(MAX_HOPS + 1):
        following = targets.get(record_id)
        if following is None:
            return record_id
        record_id = following
    return None


def way(db: Database, record_id: str) -> list[str] | None:
    """Return the pages that a single merge chain leads through, from the id itself to its end.

    Where many ids are followed, `targets` with `resolve` asks once.

    Returns:
        The ids in order, only the first where it was not merged; None where the chain is a cycle or
        longer than `MAX_HOPS`.
    """
    passed = [record_id]
    for _ in range(MAX_HOPS + 1):
        following = db.value(
            "SELECT survivor FROM merge WHERE absorbed = ? AND undone_by IS NULL", (passed[-1],)
        )
        if following is None:
            return passed
        passed.append(following)
    return None


def decline(db: Database, pair: Declined) -> None:
    """Remember that a person said two pages are not one; what was said first stays."""
    with db.write():
        db.execute(
            "INSERT OR IGNORE INTO merge_declined VALUES (?,?,?,?,?)",
            (pair.first, pair.second, pair.reason, pair.actor, pair.at),
        )


def declined(db: Database) -> set[tuple[str, str]]:
    """Return the declined pairs, each in sorted order."""
    return set(db.rows("SELECT first, second FROM merge_declined"))
