"""What a request names: groups, kinds, and entities by name, within what the caller sees."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import Any, Literal

from vault_kg.errors import Ambiguous, NotFound
from vault_kg.index import catalog, graph_rows, successors
from vault_kg.index.catalog import Row
from vault_kg.operations import checks
from vault_kg.operations.caller import Caller
from vault_kg.operations.workspace import Workspace
from vault_kg.records import names
from vault_kg.records.ontology import pascal_case
from vault_kg.records.ontology_types import ROOT_TYPE
from vault_kg.state import merges, revisions
from vault_kg.store import paths

Binding = Literal["bound", "unbound", "ambiguous"]
"""Whether a pointer leads to one page."""


def group_to_write(caller: Caller, name: str) -> str:
    """Return a group that the caller may write to; see `checks.partition_to_write`."""
    return checks.partition_to_write(name, caller, "group")


def groups_to_read(caller: Caller, given: Collection[str] | None) -> frozenset[str] | None:
    """Return the partitions that a read may look at; None is all, an empty set none."""
    if given is None:
        return caller.partitions
    return frozenset(name for name in given if caller.sees(name))


def kind_of(row: Row) -> str:
    """Return an entity's kind: its type, or Entity."""
    return row.type or ROOT_TYPE


def kind_to_write(ws: Workspace, group: str, kind: str | None) -> str:
    """Return a kind as it is stored: as declared, or in the form of page types."""
    declared = ws.ontology(group).page_type(kind or ROOT_TYPE)
    return declared.name if declared else pascal_case(kind or "")


def kinds_to_read(
    ws: Workspace, groups: Iterable[str] | None, kind: str | None
) -> frozenset[str] | None:
    """Return every spelling under which pages of a kind may be stored; None where any kind is."""
    if kind is None:
        return None
    declared = (
        ws.ontology(group).page_type(kind) for group in {paths.DEFAULT_PARTITION, *(groups or ())}
    )
    return frozenset({kind, pascal_case(kind), *(each.name for each in declared if each)})


def entities_named(
    ws: Workspace, group: str, name: str, kind: str | None, *, current: bool = True
) -> list[Row]:
    """Return the active pages of a group whose title or alias is this name, the oldest first.

    Args:
        ws: the opened vault.
        group: the partition.
        name: any spelling of the name.
        kind: only pages of this kind.
        current: only what default reads see; else every active page.
    """
    found = _named(ws, group, name, kind, "active")
    return [row for row, _ in found if not current or row.current(ws.now())]


def titled(ws: Workspace, group: str, name: str, kind: str) -> list[Row]:
    """Return the active pages that a new page of this name and kind would be the same as.

    Those with the title, or where there is none those with the alias.
    """
    found = _named(ws, group, name, kind, "active")
    return [row for row, is_title in found if is_title] or [row for row, _ in found]


def absorbed_named(ws: Workspace, group: str, name: str, kind: str | None) -> list[Row]:
    """Return the merged pages of a group that had this name."""
    return [row for row, _ in _named(ws, group, name, kind, "merged")]


def one_entity(
    ws: Workspace, group: str, name: str, kind: str | None, *, current: bool = True
) -> Row | None:
    """Return the page that a name means in a group, merges followed, or None.

    Raises:
        Ambiguous: several pages do, of one kind or of several; nothing is picked.
    """
    rows = entities_named(ws, group, name, kind, current=current)
    if not rows:
        rows = _survivors(ws, group, absorbed_named(ws, group, name, kind))
    if len(rows) > 1:
        raise ambiguous(name, group, rows)
    return rows[0] if rows else None


def ambiguous(name: str, group: str, rows: Collection[Row]) -> Ambiguous:
    """Return the error for a name that means several entities of a group."""
    kinds = sorted({kind_of(row) for row in rows})
    what_next = "give a kind" if len(kinds) > 1 else "use a uuid, or merge them"
    return Ambiguous(
        f"{name!r} means {len(rows)} entities in the group {group!r} ({', '.join(kinds)}); "
        f"{what_next}",
        reason="ambiguous_entity",
        name=name,
        group_id=group,
        candidates=[{"uuid": row.id, "kind": kind_of(row)} for row in rows][:50],
    )


def entity(ws: Workspace, caller: Caller, entity_uuid: str, group: str | None = None) -> Row:
    """Return the one page with an id, within a group where one is given; merges are not followed.

    Raises:
        NotFound: no entity that the caller sees has it.
    """
    head = revisions.head(ws.database, entity_uuid)
    rows = catalog.by_id(ws.database, entity_uuid)
    known = head is not None and head.kind == "page" and caller.sees(head.partition)
    if not known or not rows or (group is not None and rows[0].partition != group):
        where = f" in the group {group!r}" if group is not None else ""
        raise NotFound(
            f"there is no entity {entity_uuid}{where}; knowledge_resolve_entity finds one by name",
            uuid=entity_uuid,
        )
    return rows[0]


def all_ids(ws: Workspace, page_id: str) -> list[str]:
    """Return every id under which records may name a page: its own and all merged into it."""
    return successors.with_absorbed([page_id], successors.absorbed_by(ws.database))


def final(ws: Workspace, page_id: str) -> str | None:
    """Return the page that an id means, merges followed; None for a broken chain."""
    way = merges.way(ws.database, page_id)
    return way[-1] if way else None


def pointed_at(ws: Workspace, page_id: str | None, stated: Any) -> tuple[str | None, Binding]:
    """Return the current page that a pointer leads to, or None, and the state of its binding.

    Args:
        ws: the opened vault.
        page_id: the page that it was bound to.
        stated: the state of its binding in front matter.
    """
    page = final(ws, page_id or "")
    if any(row.current(ws.now()) for row in catalog.by_id(ws.database, page or "")):
        return page, "bound"
    return None, "ambiguous" if stated == "ambiguous" else "unbound"


def _named(
    ws: Workspace, group: str, name: str, kind: str | None, lifecycle: str
) -> list[tuple[Row, bool]]:
    types = kinds_to_read(ws, [group], kind)
    return graph_rows.named(ws.database, names.lookup_key(name), group, types, lifecycle)


def _survivors(ws: Workspace, group: str, absorbed: Collection[Row]) -> list[Row]:
    finals = {final(ws, row.id) for row in absorbed}
    rows = [
        row for each in sorted(filter(None, finals)) for row in catalog.by_id(ws.database, each)
    ]
    return [row for row in rows if row.partition == group and row.current(ws.now())]
