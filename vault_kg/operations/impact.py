"""Impact: what stands on a record, directly or through others. It is reported, never repaired."""

from __future__ import annotations

from collections.abc import Iterator

from vault_kg.index import links, successors
from vault_kg.operations import sight
from vault_kg.operations.base import Impact, ImpactItem
from vault_kg.operations.caller import Caller
from vault_kg.operations.workspace import Workspace

MAX_ITEMS = 200
_CHUNK = 400


def impact_of(ws: Workspace, caller: Caller, record_id: str) -> Impact:
    """Return the direct and transitive dependents of a record that this caller may see.

    A record that names a page merged into this one stands on it too. Wikilinks count for the record
    itself only: prose that mentions a page does not pass its standing on.
    """
    items = [
        item
        for item, partition in (*dependents(ws, record_id), *_linking(ws, record_id))
        if caller.sees(partition) and not sight.stands_on_hidden(ws, caller, item.id)
    ]
    distinct = {item.id: item for item in reversed(items)}  # what stands on it before what links
    found = sorted(distinct.values(), key=lambda item: (item.depth, item.id))
    return Impact(items=found[:MAX_ITEMS], total=len(found), truncated=len(found) > MAX_ITEMS)


def dependents(ws: Workspace, record_id: str) -> Iterator[tuple[ImpactItem, str]]:
    """Yield all that stands on a record, whoever may see it, the nearest first, with its partition."""
    absorbed = successors.absorbed_by(ws.database)
    frontier, depth = [record_id], 1
    seen = {record_id}
    while frontier:
        following = []
        named = successors.with_absorbed(frontier, absorbed)
        for dependent, kind, title, partition, via in _dependents(ws, named):
            if dependent not in seen:
                seen.add(dependent)
                following.append(dependent)
                yield (
                    ImpactItem(id=dependent, kind=kind, title=title, via=via, depth=depth),
                    partition,
                )
        frontier, depth = following, depth + 1


def _linking(ws: Workspace, record_id: str) -> Iterator[tuple[ImpactItem, str]]:
    for linking, kind, title, partition in links.linking_to(ws.database, record_id):
        yield ImpactItem(id=linking, kind=kind, title=title, via="wikilink", depth=1), partition


def depends_on(ws: Workspace, record_id: str, references: set[str]) -> str | None:
    """Return the reference through which a new record would stand on another one, or None."""
    absorbed = successors.absorbed_by(ws.database)
    seen, frontier = {record_id}, [record_id]
    while frontier:
        named = successors.with_absorbed(frontier, absorbed)
        seen.update(named)
        frontier = []
        for dependent, *_ in _dependents(ws, named):
            if dependent not in seen:
                seen.add(dependent)
                frontier.append(dependent)
    return next(iter(sorted(references & seen)), None)


def _dependents(ws: Workspace, targets: list[str]) -> list[tuple[str, str, str, str, str]]:
    rows: list[tuple[str, str, str, str, str]] = []
    for start in range(0, len(targets), _CHUNK):
        rows += links.standing_on(ws.database, targets[start : start + _CHUNK])
    return rows
