"""Pointers: ends of edges that name an entity of another group, and where they lead now."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import Any

from vault_kg.index import graph_rows
from vault_kg.index.graph_rows import GraphRow, Narrow
from vault_kg.index.listing import Filter
from vault_kg.operations.caller import Caller
from vault_kg.operations.graph import finding
from vault_kg.operations.graph.edges import End
from vault_kg.operations.graph.finding import Binding
from vault_kg.operations.workspace import Workspace
from vault_kg.state.revisions import last_seq_of

NOWHERE = "unbound"
"""What stands for the id of a page where a pointer leads nowhere."""


@dataclass(frozen=True)
class Pointer:
    """A foreign end: what it is called, and in which group."""

    group: str
    name: str
    kind: str | None = None

    @classmethod
    def read(cls, stated: Any) -> Pointer | None:
        """Read a pointer of front matter, or None where it is none."""
        if not isinstance(stated, dict) or not stated.get("group") or not stated.get("name"):
            return None
        kind = stated.get("kind")
        return cls(str(stated["group"]), str(stated["name"]), str(kind) if kind else None)


@dataclass(frozen=True)
class Bound:
    """Where a pointer leads: a page where it is bound, and what is known of that."""

    pointer: Pointer
    state: Binding
    end: End
    seq: int

    @property
    def stated(self) -> dict[str, Any]:
        """The pointer as it stands in front matter."""
        kind = {"kind": self.pointer.kind} if self.pointer.kind else {}
        return {
            "group": self.pointer.group,
            "name": self.pointer.name,
            **kind,
            "state": self.state,
            "bound_at": self.seq,
        }


def bind(ws: Workspace, pointer: Pointer) -> Bound:
    """Look for what a pointer names, within its kind where it is pinned to one; never guess."""
    seq = last_seq_of(ws.database, pointer.group)
    rows = finding.entities_named(ws, pointer.group, pointer.name, pointer.kind)
    if len(rows) == 1:
        return Bound(pointer, "bound", End.of(rows[0]), seq)
    state: Binding = "ambiguous" if rows else "unbound"
    return Bound(pointer, state, End(NOWHERE, pointer.name), seq)


def carrying(ws: Workspace, caller: Caller) -> list[tuple[GraphRow, dict[str, Pointer]]]:
    """Return every active edge that the caller sees and that has pointers, with them by end."""
    wanted = Filter(
        ws.now(), kinds=("relationship",), partitions=caller.partitions, lifecycle="all"
    )
    found = []
    for each in graph_rows.every(ws.database, Narrow(wanted, pointing=True)):
        if each.row.lifecycle != "active":
            continue
        stated = each.stated.get("pointers", {})
        pointers = {end: Pointer.read(stated.get(end)) for end in ("from", "to")}
        found.append((each, {end: p for end, p in pointers.items() if p is not None}))
    return found


def state_now(ws: Workspace, each: GraphRow, end: str) -> Binding:
    """Return whether an end of an edge leads to a current page now."""
    named = each.row.from_id if end == "from" else each.row.to_id
    stated = each.stated.get("pointers", {}).get(end, {})
    return finding.pointed_at(ws, named, stated.get("state"))[1]


def counts(ws: Workspace, caller: Caller) -> dict[str, int]:
    """Return how many pointers are bound, unbound and ambiguous now."""
    found = {"bound": 0, "unbound": 0, "ambiguous": 0}
    for each, pointers in carrying(ws, caller):
        for end, pointer in pointers.items():
            if caller.sees(pointer.group):
                found[state_now(ws, each, end)] += 1
    return found


def into(ws: Workspace, caller: Caller, groups: Collection[str]) -> dict[str, int]:
    """Return how many bound pointers of each other group lead into these groups."""
    found: dict[str, int] = {}
    for each, pointers in carrying(ws, caller):
        if each.row.partition in groups:
            continue
        for end, pointer in pointers.items():
            if pointer.group in groups and state_now(ws, each, end) == "bound":
                found[each.row.partition] = found.get(each.row.partition, 0) + 1
    return found
