"""Nodes in full, as many as one answer has room for; what had no room is named, and not counted as read."""

from __future__ import annotations

from dataclasses import dataclass, field

from vault_kg.errors import VaultError
from vault_kg.index import nodes
from vault_kg.index.nodes import Node
from vault_kg.maintain import finding, guarding, sessions, tending, views
from vault_kg.maintain.request import NodeView
from vault_kg.maintain.sessions import Session
from vault_kg.state import usage

_PROBLEM, _PROBLEMS = 300, 5
"""Characters of what is said of an id that means no node, and of how many it is said."""

_NOTES = 2_000
"""Characters kept for what is missing and what was left out."""

_CUT = 200
"""Characters kept for saying that a node was cut."""


@dataclass
class Found:
    """What was read: parts of the answer's text, and the same as values."""

    parts: list[str] = field(default_factory=list)
    shown: list[NodeView] = field(default_factory=list)
    missing: list[str] = field(default_factory=list)
    left_out: list[str] = field(default_factory=list)


def read(session: Session, wanted: list[str], within: list[str] | None, room: int) -> Found:
    """Read nodes; outside maintenance that is a use of them.

    Args:
        session: who reads.
        wanted: the ids of the nodes.
        within: only in these partitions.
        room: characters of the answer.

    Raises:
        VaultError: only one was asked for, and it is not there.
    """
    every, problems = _find(session, wanted, within)
    if not session.maintenance:
        _use(session, every)
    answer = Found(missing=[name for name, _ in problems])
    room -= _NOTES
    fresh = nodes.of_ids(session.ws.database, [node.id for node in every])
    for node in every:
        room -= _show(session, fresh.get(node.id, node), answer, room)
    for _, said in problems[:_PROBLEMS]:
        answer.parts.append(f"Error: {said[:_PROBLEM]}")
    if len(problems) > _PROBLEMS:
        answer.parts.append(f"Error: {len(problems) - _PROBLEMS} more ids mean no node")
    if answer.left_out:
        first = ", ".join(answer.left_out[:_PROBLEMS])
        more = len(answer.left_out) - _PROBLEMS
        said = f"{first} and {more} more" if more > 0 else first
        answer.parts.append(f"NOTE: left out to fit; read them next: {said}")
    return answer


def _show(session: Session, node: Node, answer: Found, room: int) -> int:
    """Add a node to an answer where it fits, the first one cut if it must be; returns what it takes."""
    view = views.full(session, node).view()
    text = views.text(view)
    if len(text) > room:
        if answer.shown:
            answer.left_out.append(node.name)
            return 0
        cut = text[: max(0, room - len(node.path) - _CUT)]
        text = f"{cut}\n  NOTE: cut to fit; the file {node.path} has the rest\n"
    else:
        edges = [edge.id for edge in nodes.edges_at(session.ws.database, [node.id])]
        guarding.saw_node(session, node.id, node.revision, edges, "read")
    answer.parts.append(text)
    answer.shown.append(view)
    return len(text) + 1


def _use(session: Session, every: list[Node]) -> None:
    tending.promote(session.ws, every)
    usage.read(session.ws.database, [node.id for node in every], session.ws.now())
    for partition in sorted({node.partition for node in every}):
        session.used(partition)


def _find(
    session: Session, wanted: list[str], within: list[str] | None
) -> tuple[list[Node], list[tuple[str, str]]]:
    """Return the nodes that are there, their files looked at freshly, and (id, why) of those not."""
    there, problems = _look(session, wanted, within)
    if session.ws.look_at([node.path for node in there]):
        sessions.settle(session.ws)
        there, problems = _look(session, wanted, within)
    return there, problems


def _look(
    session: Session, wanted: list[str], within: list[str] | None
) -> tuple[list[Node], list[tuple[str, str]]]:
    there: dict[str, Node] = {}
    problems: list[tuple[str, str]] = []
    for name in wanted:
        try:
            node = finding.node(session, name, within)
        except VaultError as error:
            if len(wanted) == 1:
                raise
            problems.append((name, error.message))
        else:
            there[node.id] = node
    return list(there.values()), problems
