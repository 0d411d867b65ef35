"""What stands that candidates may be the same as: gathered for all of a session's nodes at once.

Nothing here is called under the write lane but `collisions`, which asks no model.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Literal

from vault_kg.consolidation.candidates import Contents, Node
from vault_kg.consolidation.hints import Facts, Known
from vault_kg.consolidation.settings import Rules
from vault_kg.errors import VaultError
from vault_kg.index import catalog, matching
from vault_kg.index.catalog import Row
from vault_kg.index.listing import Filter
from vault_kg.operations import namesakes, steps, targets
from vault_kg.operations.caller import Caller
from vault_kg.operations.workspace import Workspace
from vault_kg.records.passages import split_passages
from vault_kg.state import guards
from vault_kg.state.sessions import Session

Mode = Literal["vector", "title_prefix"]

MATCHES = 5
MAX_CATCH_UP = 500
"""So many passages without a vector are embedded before candidates are compared."""


@dataclass(frozen=True)
class Similar:
    """The pages most similar to each of some nodes, and how they were found."""

    mode: Mode
    reason: str | None
    """Why titles were compared and not vectors, or why some pages could not be."""
    found: Mapping[str, list[tuple[Row, float]]]


def similar(
    ws: Workspace, caller: Caller, session: Session, nodes: Sequence[Node], limit: int, floor: float
) -> Similar:
    """Find the active pages of each node's type that are most similar to it.

    Args:
        ws: the opened vault.
        caller: who asks, and is told how far it is.
        session: whose nodes they are.
        nodes: the nodes.
        limit: how many pages for each.
        floor: leave out what is less similar.
    """
    found, reason = _by_meaning(ws, caller, session, nodes, limit, floor)
    if found is not None:
        return Similar("vector", reason, found)
    alike = {
        node.id: matching.by_beginning(
            ws.database, _pages(ws, session, [node.type]), node.title, limit, floor
        )
        for node in nodes
    }
    return Similar("title_prefix", reason, alike)


def _by_meaning(
    ws: Workspace, caller: Caller, session: Session, nodes: Sequence[Node], limit: int, floor: float
) -> tuple[dict[str, list[tuple[Row, float]]] | None, str | None]:
    """Return the pages most similar to each node, and what is not embedded; or None and why."""
    reason = ws.semantics.missing()
    if reason is not None:
        return None, reason
    types = sorted({node.type for node in nodes})
    of_types = _pages(ws, session, types)
    if 0 < ws.semantics.pending(of_types) <= MAX_CATCH_UP:
        told = partial(_tell, caller, "embedding pages")
        ws.semantics.embed_pending(told, wanted=of_types)
    found: dict[str, list[tuple[Row, float]]] = {}
    for type_name in types:
        alike = [node for node in nodes if node.type == type_name]
        near, reason = ws.semantics.nearest_records(
            [_parts(node) for node in alike], _pages(ws, session, [type_name]), limit, floor,
            partial(_tell, caller, f"comparing {type_name} candidates"),
        )  # fmt: skip
        if near is None:
            return None, reason
        rows = catalog.by_key(ws.database, sorted({key for one in near for key, _ in one}))
        for node, one in zip(alike, near, strict=True):
            found[node.id] = [(rows[key], score) for key, score in one if key in rows]
    left = ws.semantics.pending(of_types)
    return found, f"{left} passages are not embedded yet; `vault-kg reindex`" if left else None


def _tell(caller: Caller, what: str, done: int, total: int) -> None:
    """Tell the caller how far it is, and end where it takes the call back."""
    steps.step(caller, done, total, what)


def facts(
    ws: Workspace,
    caller: Caller,
    session: Session,
    held: Contents,
    rules: Rules,
    *,
    unchanged: bool,
) -> tuple[dict[str, Facts], Similar]:
    """Return what is known for every node candidate of a session, and how pages were compared."""
    stated = {name: edge.dst.node or "" for name, edge in held.superseding.items()}
    for _ in range(2):  # once more where somebody has saved one of the pages
        near = similar(ws, caller, session, held.nodes, MATCHES, rules.least_similarity)
        exact = _exact(ws, session, held.nodes)
        read = [*exact.rows(), *_current(ws, stated.values())]
        alike = (row for rows in near.found.values() for row, _ in rows)
        if not ws.look_at({row.path for row in (*read, *alike)}):
            break
    distinct = {row.id: row for row in read}
    pages = {name: page for name, row in distinct.items() if (page := _known(ws, row)) is not None}

    def known(rows: Iterable[Row]) -> list[Known]:
        return [pages[row.id] for row in rows if row.id in pages]

    found = {
        node.id: Facts(
            unchanged=unchanged,
            supersedes=pages.get(stated.get(node.id, "")),
            referenced=known(exact.referenced(node)),
            shared=held.shares_reference(node),
            titled=known(exact.titled(node)),
            gone=known(exact.gone(node)),
            near=near.found[node.id],
        )
        for node in held.nodes
    }
    return found, near


def collisions(ws: Workspace, session: Session, nodes: Sequence[Node]) -> dict[str, set[str]]:
    """Return the ids of active pages that each node may be the same as, by title or reference."""
    exact = _exact(ws, session, nodes)
    return {
        node.id: {row.id for row in (*exact.titled(node), *exact.referenced(node))}
        for node in nodes
    }


_Key = tuple[str | None, str | None]


@dataclass(frozen=True)
class _Exact:
    """Pages found by reference and title, for all nodes of a session: by type and what was found."""

    references: Mapping[_Key, Sequence[Row]]
    titles: Mapping[_Key, Sequence[Row]]
    past: Mapping[_Key, Sequence[Row]]

    def rows(self) -> list[Row]:
        every = (self.references, self.titles, self.past)
        return [row for found in every for rows in found.values() for row in rows]

    def referenced(self, node: Node) -> Sequence[Row]:
        return self.references.get((node.type, node.source_ref), ())

    def titled(self, node: Node) -> Sequence[Row]:
        return self.titles.get(node.key, ())

    def gone(self, node: Node) -> Sequence[Row]:
        return self.past.get(node.key, ())


def _by_key(found: Iterable[tuple[str, Row]]) -> dict[_Key, list[Row]]:
    grouped: dict[_Key, list[Row]] = {}
    for key, row in found:
        grouped.setdefault((row.type, key), []).append(row)
    return grouped


def _exact(ws: Workspace, session: Session, nodes: Sequence[Node]) -> _Exact:
    types = sorted({node.type for node in nodes})
    titles = {node.title for node in nodes}
    active = _pages(ws, session, types)
    past = [
        found
        for lifecycle in ("withdrawn", "superseded")
        for found in matching.by_title(
            ws.database, _pages(ws, session, types, lifecycle), titles
        )
    ]  # fmt: skip
    references = {node.source_ref for node in nodes if node.source_ref}
    return _Exact(
        _by_key(matching.by_reference(ws.database, active, references) if references else ()),
        _by_key(matching.by_title(ws.database, active, titles)),
        _by_key((key, row) for key, row in past if not _was_undone(ws, row)),
    )


def _current(ws: Workspace, ids: Iterable[str]) -> list[Row]:
    """Return the current pages among some ids."""
    now = ws.now()
    rows = [row for name in ids for row in catalog.by_id(ws.database, name)]
    return [row for row in rows if row.current(now)]


def _was_undone(ws: Workspace, row: Row) -> bool:
    """Say whether a page is withdrawn because its session was taken back: nobody judged it."""
    guard = guards.of(ws.database, row.id).get(guards.WITHDRAWN)
    return guard is not None and not namesakes.is_judged(guard)


def _pages(
    ws: Workspace, session: Session, types: Sequence[str], lifecycle: str = "active"
) -> Filter:
    return Filter(
        ws.now(), kinds=("page",), types=types, partitions=(session.partition,),
        lifecycle=lifecycle,
    )  # fmt: skip


def _known(ws: Workspace, row: Row) -> Known | None:
    """Read a page as it stands; one that cannot be read is nothing to be compared with."""
    try:
        content = targets.bytes_at(ws, row.path)
        if content is None:
            return None
        _, record = targets.read(row.path, content)
    except VaultError:
        return None
    return Known(
        row.id, row.title, record.body, record.fields, row.revision, row.hash, row.lifecycle,
        _note(ws, row),
    )  # fmt: skip


def _note(ws: Workspace, row: Row) -> str:
    found = guards.of(ws.database, row.id)
    if (guard := found.get(guards.WITHDRAWN)) is not None:
        return f"{guard.at[:10]}: {guard.reason}"
    superseded = found.get(guards.SUPERSEDED)
    return (superseded.successor or "another") if superseded is not None else ""


def _parts(node: Node) -> list[str]:
    """Return the texts that are embedded for the page that a node would become."""
    from vault_kg.index.vectors import embedded_texts  # with numpy, which little else needs

    passages = split_passages(f"\n{node.body.strip()}\n", title=node.title)
    found = [
        text
        for passage in passages
        for text in embedded_texts(node.title, "\n".join(passage.heading_path), passage.text)
    ]
    return found or embedded_texts(node.title, "", "")
