"""What points at what: references between records, and links of Markdown resolved to files.

Links are resolved when asked, against the names that stand, so that renaming one file never leaves
another one's links stale.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from vault_kg.index.parsed import partition_of
from vault_kg.records import link_targets
from vault_kg.records.link_targets import Candidate
from vault_kg.state.database import Database


@dataclass(frozen=True)
class LinkRow:
    """A link as it stands in a file."""

    path: str
    kind: str
    target: str
    heading: str | None
    line: int


def standing_on(db: Database, targets: Sequence[str]) -> list[tuple[str, str, str, str, str]]:
    """Return (id, kind, title, partition, via) of every record that names one of these ids."""
    marks = ",".join("?" * len(targets))
    rows = db.rows(
        "SELECT DISTINCT record.id, record.kind, record.title, record.partition, edge.via "
        f"FROM edge JOIN record USING (key) WHERE edge.target IN ({marks}) "
        "ORDER BY record.id, edge.via",
        targets,
    )
    return [(r[0], r[1], r[2], r[3], r[4]) for r in rows]


def linking_to(
    db: Database, record_id: str, name: str | None = None
) -> list[tuple[str, str, str, str]]:
    """Return (id, kind, title, partition) of every record or note that links to a record.

    Args:
        db: the state.
        record_id: the record.
        name: only links by this of its names, as `names.lookup_key` folds it.
    """
    rows = db.rows(
        "SELECT DISTINCT source.id, source.kind, source.title, source.partition, source.path, "
        "link.target FROM record JOIN name ON name.key = record.key "
        "JOIN link_name ON link_name.name = name.name "
        "JOIN link ON link.key = link_name.key AND link.ordinal = link_name.ordinal "
        "JOIN record AS source ON source.key = link.key "
        "WHERE record.id = :id AND source.id <> :id AND (:name IS NULL OR name.name = :name) "
        "ORDER BY source.id",
        {"id": record_id, "name": name},
    )
    found = {
        (source, kind, title, partition): None
        for source, kind, title, partition, path, target in rows
        if record_id in resolve(db, target, path)
    }
    return list(found)


def links_of(db: Database, key: int) -> list[LinkRow]:
    """Return the links in a file, in order."""
    rows = db.rows(
        "SELECT record.path, link.kind, target, heading, line FROM link JOIN record USING (key) "
        "WHERE link.key = ? ORDER BY ordinal",
        (key,),
    )
    return [LinkRow(*row) for row in rows]


def resolve(
    db: Database, target: str, from_path: str, sees: Callable[[str], bool] = lambda _: True
) -> list[str]:
    """Return the ids that a link may mean, by the rules of `records.link_targets`.

    What lies in the partition of the link's own file comes before everything else.

    Args:
        db: the state.
        target: the link's target as written.
        from_path: the file that holds it.
        sees: whether a partition exists for the caller.
    """
    if not target:
        return [i for (i,) in db.rows("SELECT id FROM record WHERE path = ?", (from_path,))]
    wanted = link_targets.link_names(target)
    rows = db.rows(
        "SELECT partition, record.id, record.path, name.name, name.source "
        "FROM name JOIN record USING (key) "
        f"WHERE name.name IN ({','.join('?' * len(wanted))}) ORDER BY record.path",
        wanted,
    )
    here = partition_of(from_path)
    near = [Candidate(*row[1:]) for row in rows if row[0] == here]
    every = [Candidate(*row[1:]) for row in rows if sees(row[0])]
    return link_targets.choose(target, from_path, near) or link_targets.choose(
        target, from_path, every
    )


_CLEAR = """
    instr(target, '/') = 0 AND lower(substr(target, -3)) <> '.md' AND EXISTS (
        SELECT 1 FROM link_name
        JOIN name ON name.name = link_name.name
        JOIN record AS there ON there.key = name.key
        WHERE link_name.key = link.key AND link_name.ordinal = link.ordinal
          AND there.partition = record.partition
    )"""
"""A link by a bare name that something in its own partition has: it means that, or one of those."""


def unresolved(
    db: Database,
    limit: int,
    after: tuple[str, int] = ("", 0),
    sees: Callable[[str], bool] = lambda _: True,
) -> list[LinkRow]:
    """Return links that mean nothing to a caller, by file and line, after a position."""
    found: list[LinkRow] = []
    rows = db.rows(
        "SELECT record.path, link.kind, target, heading, line FROM link JOIN record USING (key) "
        f"WHERE (record.path, line) > (?, ?) AND target <> '' AND NOT ({_CLEAR}) "
        "ORDER BY record.path, line",
        after,
    )
    for row in rows:
        link = LinkRow(*row)
        if not sees(partition_of(link.path)):
            continue
        if not resolve(db, link.target, link.path, sees) and not _is_attachment(link.target):
            found.append(link)
            if len(found) == limit:
                break
    return found


def _is_attachment(target: str) -> bool:
    """Say whether a link names a file that is not Markdown, like an image."""
    _, dot, suffix = target.rpartition(".")
    return bool(dot) and suffix.isalnum() and len(suffix) <= 5 and suffix.lower() != "md"
