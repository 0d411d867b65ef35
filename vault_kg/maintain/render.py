"""A level as text, within its budget to the character.

What is charged is what is rendered: `layout` gives each node and edge the characters of its line, and
`text` writes just those. Where a level does not fit even so, the text is degraded in steps and says
what it left out: ids of archived nodes first, then edges, then the ends of the longest gists, then
nodes.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import deque
from collections.abc import Callable, Container, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar

from vault_kg.index.nodes import Edge, Node
from vault_kg.maintain.layout import LEVEL_BUDGET, Item, Layout, Tie
from vault_kg.state.tiers import ACTIVE, ARCHIVED

HEADER = "ACTIVE:\n"
ARCHIVE_HEADER = "ARCHIVED (ids only; reading one brings it back): "
SEPARATOR = ", "
NOTE_ROOM = 200
"""Characters that the note of what was left out may take."""

SHORT_GIST = 80
"""Characters to which a gist may be cut; where all so short do not fit, nodes are left out."""

Some = TypeVar("Some")


@dataclass(frozen=True)
class Picture:
    """What is needed to render a level: its nodes, its edges, and what nodes are called in it."""

    partition: str
    nodes: Sequence[Node]
    """In view or archived; the order does not matter."""
    edges: Sequence[Edge]
    called: Mapping[str, str]
    """What each end of an edge in view is called here, by record id; ends out of view are absent."""

    def of(self, tier: str) -> list[Node]:
        """Return the nodes in a tier."""
        return [node for node in self.nodes if node.tier == tier]


@dataclass(frozen=True)
class Rendered:
    """A level's text, the nodes whose gists it shows whole, and what it left out."""

    text: str
    shown: list[Node]
    left_out: list[str]


def node_line(name: str, gist: str) -> str:
    """Return the line of a node in view."""
    return f"  {name}: {gist}\n"


def edge_line(rel: str, other: str, *, outward: bool = True) -> str:
    """Return the line of an edge under one of its ends; it is as long either way."""
    return f"    → {rel} → {other}\n" if outward else f"    ← {rel} ← {other}\n"


def layout(
    every: Iterable[Node],
    edges: Iterable[Edge],
    called: Mapping[str, str],
    tiers: Mapping[str, str],
    budget: int = LEVEL_BUDGET,
) -> Layout:
    """Return the layout of a level, which charges what `text` renders.

    Args:
        every: all nodes of the level.
        edges: the edges of the level.
        called: what any node that an edge names is called here.
        tiers: the tiers of nodes of other levels that edges name.
        budget: characters of the level's text.
    """
    items = {
        node.id: Item(
            node.id, len(node_line(node.name, node.gist)), len(node.name), node.recorded_at
        )
        for node in every
    }
    ties = [
        Tie(edge.source, edge.target, len(_line_of(edge, called, items)))
        for edge in edges
        if edge.source in called
        and edge.target in called
        and (edge.source in items or edge.target in items)
    ]
    return Layout(
        items, ties, {**tiers, **{node.id: node.tier for node in every}}, len(HEADER),
        len(ARCHIVE_HEADER) + 1, len(SEPARATOR), budget,
    )  # fmt: skip


def text(picture: Picture, budget: int = LEVEL_BUDGET) -> Rendered:
    """Return a level's text, of at most so many characters."""
    active, archived = picture.of(ACTIVE), picture.of(ARCHIVED)
    own = {node.id for node in active}
    edges = [
        edge
        for edge in picture.edges
        if edge.source in picture.called and edge.target in picture.called
        and (edge.source in own or edge.target in own)
    ]  # fmt: skip
    whole = _write(picture, active, archived, edges)
    if len(whole) <= budget:
        return Rendered(whole, active, [])
    return _degraded(picture, active, archived, edges, budget)


def _degraded(
    picture: Picture, active: list[Node], archived: list[Node], edges: list[Edge], budget: int
) -> Rendered:
    """Leave out the least telling until the rest fits; the last line says what."""
    room = max(0, budget - NOTE_ROOM)
    left_out: list[str] = []
    kept = _first(archived, room, lambda some: _write(picture, active, some, edges))
    _note(left_out, len(archived) - len(kept), "archived id(s)")
    shown, visible, most = edges, active, None
    if not kept:
        shown = _first(edges, room, lambda some: _write(picture, active, (), some))
        _note(left_out, len(edges) - len(shown), "edge(s)")
    if not kept and not shown:
        most = _most_of_a_gist(active, room, lambda most: _write(picture, active, (), (), most))
        visible = _first(active, room, lambda some: _write(picture, some, (), (), most))
        _note(left_out, sum(not _is_whole(node, most) for node in visible), "gist end(s)")
        _note(left_out, len(active) - len(visible), "node(s)")
    note = f"NOTE: degraded to fit {budget} characters; left out: {', '.join(left_out)}.\n"
    said = _write(picture, visible, kept, shown, most) + note
    if len(said) > budget:  # no room for more than a part of the note
        return Rendered(note[:budget], [], left_out)
    return Rendered(said, [node for node in visible if _is_whole(node, most)], left_out)


def _most_of_a_gist(
    active: list[Node], room: int, write: Callable[[int | None], str]
) -> int | None:
    """Return the most characters of a gist with which all nodes fit; None where whole ones do.

    It is never less than `SHORT_GIST`, also where that is too much.
    """
    if len(write(None)) <= room:
        return None
    lengths = range(SHORT_GIST + 1, max((len(node.gist) for node in active), default=0))
    return SHORT_GIST + bisect_left(lengths, True, key=lambda most: len(write(most)) > room)


def _is_whole(node: Node, most: int | None) -> bool:
    return most is None or len(node.gist) <= most


def _shortened(gist: str, most: int | None) -> str:
    return gist if most is None or len(gist) <= most else gist[: most - 1] + "…"


def _note(left_out: list[str], number: int, what: str) -> None:
    if number:
        left_out.append(f"{number} {what}")


def _first(every: list[Some], room: int, write: Callable[[list[Some]], str]) -> list[Some]:
    """Return as many of the first as fit."""
    low, high = 0, len(every)
    while low < high:
        middle = (low + high + 1) // 2
        if len(write(every[:middle])) <= room:
            low = middle
        else:
            high = middle - 1
    return every[:low]


def _line_of(edge: Edge, called: Mapping[str, str], own: Container[str]) -> str:
    outward = edge.source in own
    return edge_line(edge.rel, called[edge.target if outward else edge.source], outward=outward)


def _in_order(active: Sequence[Node], edges: Iterable[Edge]) -> list[Node]:
    """Return nodes with those that belong together side by side: each component from its hub."""
    known = {node.id: node for node in active}
    near: dict[str, list[str]] = {}
    for edge in edges:
        if edge.source in known and edge.target in known:
            near.setdefault(edge.source, []).append(edge.target)
            near.setdefault(edge.target, []).append(edge.source)
    ordered: dict[str, None] = {}
    for hub in sorted(known, key=lambda one: (-len(near.get(one, ())), known[one].name)):
        waiting = deque([] if hub in ordered else [hub])
        while waiting:
            following = waiting.popleft()
            if following not in ordered:
                ordered[following] = None
                waiting += (other for other in near.get(following, ()) if other not in ordered)
    return [known[one] for one in ordered]


def _write(
    picture: Picture,
    active: Sequence[Node],
    archived: Sequence[Node],
    edges: Sequence[Edge],
    most: int | None = None,
) -> str:
    """Return a level's text with some of its nodes and edges, gists of at most so many characters."""
    own = {node.id for node in active}
    under: dict[str, list[Edge]] = {}
    for edge in edges:
        under.setdefault(edge.source if edge.source in own else edge.target, []).append(edge)
    lines = [HEADER]
    for node in _in_order(active, edges):
        lines.append(node_line(node.name, _shortened(node.gist, most)))
        lines += [_line_of(edge, picture.called, own) for edge in under.get(node.id, ())]
    if archived:
        lines.append(ARCHIVE_HEADER + SEPARATOR.join(node.name for node in archived) + "\n")
    return "".join(lines)
