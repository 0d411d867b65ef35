"""What becomes of the relationships of pages that are merged.

One that the merge makes a true duplicate (same ends, type and fact), or one of a page with itself,
is collapsed: it is hidden while the merge stands, and comes back when the merge is taken back.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from vault_kg.index import graph_rows, successors
from vault_kg.index.catalog import Row
from vault_kg.index.graph_rows import GraphRow, Narrow
from vault_kg.index.listing import Filter
from vault_kg.operations.workspace import Workspace
from vault_kg.records import names
from vault_kg.state import merges
from vault_kg.state.merges import COLLAPSED, Contribution


@dataclass
class Joined:
    """What became of the relationships of one absorbed page."""

    absorbed: str
    name: str
    rewritten: int = 0
    """Those that are now the survivor's."""
    foreign: int = 0
    """Those of other partitions, which are left alone."""
    self_loops: list[str] = field(default_factory=list)
    duplicates: dict[str, str] = field(default_factory=dict)
    """Each duplicate with the relationship that says the same."""

    def contributions(self) -> list[Contribution]:
        """Return what is collapsed as contributions of the merge."""
        pairs = [(loop, None) for loop in self.self_loops] + [*self.duplicates.items()]
        return [
            Contribution(COLLAPSED, {"record": record, "into": into}, self.absorbed)
            for record, into in pairs
        ]


def join(ws: Workspace, survivor: str, absorbed: Sequence[Row], partition: str) -> list[Joined]:
    """Say what becomes of the relationships of pages that are absorbed, in order.

    Args:
        ws: the opened vault.
        survivor: the id of the page that stays.
        absorbed: the rows of the pages that become it.
        partition: only its relationships are counted as moved, and collapsed.
    """
    tree, chains = successors.absorbed_by(ws.database), merges.targets(ws.database)
    known: dict[tuple[Any, ...], str] = {}
    for each in _relationships(ws, successors.with_absorbed([survivor], tree)):
        if each.row.partition == partition:
            known.setdefault(_meaning(each, chains), each.row.id)
    joined, seen = [], set[str]()
    for one in absorbed:
        chains = chains | {one.id: survivor}
        found = Joined(one.id, one.title)
        for each in _relationships(ws, successors.with_absorbed([one.id], tree)):
            if each.row.id not in seen:
                seen.add(each.row.id)
                _place(found, each, chains, known, partition)
        joined.append(found)
    return joined


def _place(
    found: Joined,
    each: GraphRow,
    chains: dict[str, str],
    known: dict[tuple[Any, ...], str],
    partition: str,
) -> None:
    meaning = _meaning(each, chains)
    if each.row.partition != partition:
        found.foreign += 1
    elif meaning[0] == meaning[1] and each.row.from_id != each.row.to_id:
        found.self_loops.append(each.row.id)
    elif known.setdefault(meaning, each.row.id) != each.row.id:
        found.duplicates[each.row.id] = known[meaning]
    else:
        found.rewritten += 1


def _meaning(each: GraphRow, chains: dict[str, str]) -> tuple[Any, ...]:
    ends = (merges.resolve(chains, end or "") for end in (each.row.from_id, each.row.to_id))
    return (*ends, each.row.type, names.lookup_key(each.fact))


def _relationships(ws: Workspace, ids: Sequence[str]) -> list[GraphRow]:
    """Return the current relationships at a page, each once, the oldest first."""
    current = Filter(ws.now(), kinds=("relationship",))
    rows = [
        *graph_rows.every(ws.database, Narrow(current, sources=ids)),
        *graph_rows.every(ws.database, Narrow(current, targets=ids, not_sources=ids)),
    ]
    return sorted(rows, key=lambda each: each.row.id)
