"""What the graph holds of records that is not so any more, and who is not told of it until it follows.

What holds of records holds at once: one that default reads see no more is told to nobody, and one
that went to another partition to nobody who does not see that. The same goes for what was read from
their files, where these are gone.
"""

from __future__ import annotations

import weakref
from collections.abc import Iterable
from functools import cache
from typing import NamedTuple

from vault_kg.extract import record_edges, roots, uids
from vault_kg.extract.backends.protocol import GraphBackend
from vault_kg.extract.backends.values import Choice
from vault_kg.extract.roots import Root
from vault_kg.index import catalog, eligibility, graph_rows, successors
from vault_kg.index.graph_rows import Narrow
from vault_kg.index.listing import Filter
from vault_kg.operations.workspace import Workspace

_EVERY = 1 << 40

_Sight = frozenset[str] | None
"""The partitions that one must see to see something; None where nobody does."""


class _Changed(NamedTuple):
    """What is not in the graph as the records are, and for which time that holds."""

    stand: tuple[str, str | None]
    since: str
    until: str
    keys: dict[int, _Sight]
    """Nodes of records."""
    paths: dict[str, _Sight]
    """Where in the vault their files were, if they are there no more."""


_known: weakref.WeakKeyDictionary[Workspace, _Changed] = weakref.WeakKeyDictionary()
"""What was found last."""


def hidden(ws: Workspace, graph: GraphBackend, partitions: frozenset[str] | None) -> frozenset[int]:
    """Return the keys of nodes that a caller is not told of, whatever the graph says of them.

    Args:
        ws: the vault.
        graph: its graph.
        partitions: what the caller sees; None is all.
    """
    changed = _changed(ws, graph)
    if changed is None or not changed.keys:
        return frozenset()

    def hides(wanted: _Sight) -> bool:
        return wanted is None or (partitions is not None and not wanted <= partitions)

    keys = {key for key, wanted in changed.keys.items() if hides(wanted)}
    paths = [path for path, wanted in changed.paths.items() if hides(wanted)]
    for root in roots.of(ws.vault.root) if paths else ():
        keys.update(key for path in paths for key in _keys_at(graph, root, path))
    return frozenset(keys)


def left_behind(ws: Workspace, graph: GraphBackend) -> list[str]:
    """Return the paths in the vault from which such records are gone."""
    changed = _changed(ws, graph)
    return sorted(changed.paths) if changed is not None else []


def _changed(ws: Workspace, graph: GraphBackend) -> _Changed | None:
    """Return what is not in the graph as it is; None where everything is."""
    if record_edges.is_fresh(ws, graph):
        return None
    now, stand = ws.now(), record_edges.stand(ws, graph)
    known = _known.get(ws)
    if known is None or known.stand != stand or not known.since <= now < known.until:
        known = _known[ws] = _look(ws, graph, now, stand)
    return known


def _look(ws: Workspace, graph: GraphBackend, now: str, stand: tuple[str, str | None]) -> _Changed:
    """Compare the nodes of records with the records."""
    rows, _ = graph.reader(None).select(Choice(kinds=("record",)), _EVERY)
    partitions = _partitions(ws, now) if rows else {}
    keys: dict[int, _Sight] = {}
    paths: dict[str, _Sight] = {}
    for row in rows:
        partition = partitions.get(row.node.uid)
        if partition == row.partition:
            continue
        wanted = frozenset(partition.split("/")) if partition is not None else None
        keys[row.key] = wanted
        there = catalog.by_path(ws.database, row.node.path) if row.node.path else None
        if row.node.path and (there is None or uids.record(there.id) != row.node.uid):
            paths[row.node.path] = wanted
    until = eligibility.holds_until(ws.database, now)
    return _Changed(stand, now, until, keys, paths)


def _partitions(ws: Workspace, now: str) -> dict[str, str]:
    """Return which partition one must see to see each record that default reads see, by uid."""
    places = graph_rows.places(ws.database, Narrow(Filter(now)))

    @cache
    def partition_of(record: str) -> str | None:
        found = places.get(record) or places.get(successors.current(ws.database, record) or "")
        return found.partition if found is not None else None

    return {
        uids.record(record): record_edges.seen_in(place, partition_of)
        for record, place in places.items()
    }


def _keys_at(graph: GraphBackend, root: Root, path: str) -> Iterable[int]:
    """Return the keys of what a root holds of a file of the vault."""
    if root.in_vault is None or not path.startswith(root.in_vault):
        return ()
    return graph.keys_at(root.name, path.removeprefix(root.in_vault)).values()
