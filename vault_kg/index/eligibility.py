"""Eligibility: which records a default read may see. Computed here, and nowhere else.

A record is eligible while it is active, valid, not past its own end (`expires_at`, `valid_until`),
and everything that it stands on (dependencies, owner, entities, endpoints) is eligible. A reference
to a merged page stands on the survivor. The catalog keeps the outcome with the time until which it
holds, so that a read is one comparison and filters come before counts and limits.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass
from datetime import UTC, datetime

from vault_kg.index import counters, successors
from vault_kg.state import merges
from vault_kg.state.database import Database

FOREVER = "9999"

CURRENT = (
    "(record.eligible = 1 AND (record.eligible_until IS NULL OR record.eligible_until > :now))"
)
"""The condition of every default read, on a `record` row; binds `:now`."""

NOT_BLOCKED = (
    "record.id NOT IN (SELECT record_id FROM conflict "
    "WHERE resolved_at IS NULL AND record_id IS NOT NULL)"
)
"""No default read shows a record whose conflict waits for a person."""


@dataclass
class _Node:
    """One id in the computation: its own standing, and what it stands on."""

    own: bool
    until: str
    targets: list[str]


@dataclass(frozen=True)
class Reason:
    """Why a record is not eligible: a code, the record that causes it, and a sentence."""

    code: str
    record: str | None
    message: str


def refresh(db: Database, changed: Collection[str]) -> int:
    """Bring eligibility up to date after records changed, appeared or vanished.

    Args:
        db: the state; the caller's transaction.
        changed: ids of records whose row, lifecycle or merge changed.

    Returns:
        How many ids were computed: the changed ones and all that stand on them.
    """
    affected = _dependents(db, changed)
    counters.mark(db, affected)
    targets = merges.targets(db)
    nodes = _load(db, affected, merges.collapsed(db))
    outside = _standing(db, _outside(nodes, targets))
    _settle(nodes, targets, outside)
    db.executemany(
        "UPDATE record SET eligible = ?, eligible_until = ? WHERE id = ?",
        (
            (int(node.own), None if node.until == FOREVER else node.until, record_id)
            for record_id, node in nodes.items()
        ),
    )
    return len(nodes)


def refresh_all(db: Database) -> int:
    """Compute the eligibility of everything."""
    return refresh(db, {record_id for (record_id,) in db.rows("SELECT DISTINCT id FROM record")})


def explain(db: Database, record_id: str, now: str) -> list[Reason]:
    """Return why a record is not eligible now; empty where it is.

    Of what it stands on only the immediate reasons are named; each of those explains itself.
    """
    rows = db.rows(
        "SELECT lifecycle, valid, expires_at, valid_until FROM record WHERE id = ?", (record_id,)
    )
    reasons = [
        reason
        for lifecycle, valid, expires, until in rows
        for reason in _own_reasons(record_id, lifecycle, valid, expires, until, now)
    ]
    collapsed = merges.collapsed(db)
    if record_id in collapsed:
        kept = collapsed[record_id]
        said = (
            f"a merge made it the same as {kept}" if kept else "a merge made its two ends one page"
        )
        reasons.append(Reason("is_collapsed", kept, said))
    chains = merges.targets(db)
    for target, via in db.rows(
        "SELECT DISTINCT target, via FROM edge WHERE key IN (SELECT key FROM record WHERE id = ?) "
        "ORDER BY target, via",
        (record_id,),
    ):
        reasons += _reference_reasons(db, chains, target, via, now)
    return reasons


def holds_until(db: Database, now: str) -> str:
    """Return when the first of what is eligible now stops being so by the passing of time."""
    sql = "SELECT min(eligible_until) FROM record WHERE eligible = 1 AND eligible_until > ?"
    return db.value(sql, (now,)) or FOREVER


def ended(db: Database, since: str, now: str) -> set[str]:
    """Return the ids of what stopped being eligible by the passing of time alone."""
    sql = "SELECT id FROM record WHERE eligible = 1 AND eligible_until > ? AND eligible_until <= ?"
    return {record_id for (record_id,) in db.rows(sql, (since, now))}


def comparable(instant: str | None) -> str:
    """Return the end that a date or time means, as the text that ends are compared by.

    None is for ever; a bare date holds to the end of that day; a time without an offset is UTC.
    """
    if not instant:
        return FOREVER
    text = instant.strip()
    return f"{text}T23:59:59Z" if len(text) == 10 else _in_utc(text)


def start(instant: str | None) -> str:
    """Return the beginning that a date or time means, in the form of `comparable`."""
    text = (instant or "").strip()
    return f"{text}T00:00:00Z" if len(text) == 10 else _in_utc(text)


def _in_utc(text: str) -> str:
    try:
        at = datetime.fromisoformat(text)
        at = at.replace(tzinfo=UTC) if at.tzinfo is None else at.astimezone(UTC)
    except (ValueError, OverflowError):
        return text.replace(" ", "T")
    return at.isoformat(timespec="seconds").replace("+00:00", "Z")


def _own_reasons(
    record_id: str, lifecycle: str, valid: int, expires: str | None, until: str | None, now: str
) -> Iterable[Reason]:
    if lifecycle != "active":
        yield Reason(f"is_{lifecycle}", record_id, f"it is {lifecycle}")
    if not valid:
        yield Reason("is_invalid", record_id, "it has validation findings; see diagnostics")
    for end in (expires, until):
        if comparable(end) <= now:
            yield Reason("is_past", record_id, f"it held until {end}")


def _reference_reasons(
    db: Database, chains: dict[str, str], target: str, via: str, now: str
) -> Iterable[Reason]:
    final = merges.resolve(chains, target)
    if final is None:
        yield Reason(
            "merge_chain", target, f"{via} {target} is merged in a cycle or too long a chain"
        )
        return
    rows = db.rows("SELECT eligible, eligible_until, lifecycle FROM record WHERE id = ?", (final,))
    if not rows:
        yield Reason(
            "reference_missing", target, f"{via} {target} does not exist or its file is gone"
        )
    elif not any(e and (until is None or until > now) for e, until, _ in rows):
        state = rows[0][2] if rows[0][2] != "active" else "not eligible itself"
        yield Reason("reference_ineligible", target, f"{via} {target} is {state}")


def _dependents(db: Database, changed: Collection[str]) -> set[str]:
    """Return the ids and, transitively, every id that stands on one of them."""
    absorbed = successors.absorbed_by(db)
    seen, frontier = set(changed), list(changed)
    while frontier:
        named = successors.with_absorbed(frontier, absorbed)
        seen.update(named)
        following = db.among(
            "SELECT DISTINCT record.id FROM edge JOIN record USING (key) WHERE edge.target IN ({})",
            set(named),
        )
        frontier = [record_id for (record_id,) in following if record_id not in seen]
    return seen


def _load(db: Database, affected: set[str], collapsed: Collection[str]) -> dict[str, _Node]:
    nodes: dict[str, _Node] = {}
    for record_id, lifecycle, valid, expires, until in db.among(
        "SELECT id, lifecycle, valid, expires_at, valid_until FROM record WHERE id IN ({})",
        affected,
    ):
        end = min(comparable(expires), comparable(until))
        own = lifecycle == "active" and bool(valid) and record_id not in collapsed
        nodes[record_id] = _Node(own, end, [])
    for record_id, target in db.among(
        "SELECT record.id, edge.target FROM record JOIN edge USING (key) WHERE record.id IN ({})",
        affected,
    ):
        nodes[record_id].targets.append(target)
    return nodes


def _outside(nodes: dict[str, _Node], chains: dict[str, str]) -> set[str]:
    finals = (merges.resolve(chains, t) for node in nodes.values() for t in node.targets)
    return {final for final in finals if final is not None and final not in nodes}


def _standing(db: Database, outside: set[str]) -> dict[str, tuple[bool, str]]:
    return {
        record_id: (bool(eligible), until or FOREVER)
        for record_id, eligible, until in db.among(
            "SELECT id, max(eligible), max(eligible_until) FROM record WHERE id IN ({}) "
            "GROUP BY id",
            outside,
        )
    }


def _settle(
    nodes: dict[str, _Node], chains: dict[str, str], outside: dict[str, tuple[bool, str]]
) -> None:
    """Take away what does not hold until nothing changes: the greatest fixed point."""
    dependents: dict[str, list[str]] = {}
    resolved: dict[str, list[str | None]] = {}
    for record_id, node in nodes.items():
        resolved[record_id] = [merges.resolve(chains, t) for t in node.targets]
        for final in resolved[record_id]:
            if final is not None:
                dependents.setdefault(final, []).append(record_id)

    def standing(final: str | None) -> tuple[bool, str]:
        if final is None:
            return False, FOREVER
        inside = nodes.get(final)
        return (inside.own, inside.until) if inside else outside.get(final, (False, FOREVER))

    _propagate(nodes, resolved, dependents, standing)


def _propagate(
    nodes: dict[str, _Node],
    resolved: dict[str, list[str | None]],
    dependents: dict[str, list[str]],
    standing: Callable[[str | None], tuple[bool, str]],
) -> None:
    waiting = list(nodes)
    while waiting:
        record_id = waiting.pop()
        node = nodes[record_id]
        held = [standing(final) for final in resolved[record_id]]
        own = node.own and all(ok for ok, _ in held)
        until = min([node.until, *(end for _, end in held)])
        if (own, until) != (node.own, node.until):
            node.own, node.until = own, until
            waiting += dependents.get(record_id, ())
