"""What opens when something is chosen: each kind of thing has its page."""

from __future__ import annotations

from typing import Any, NamedTuple

from textual.dom import DOMNode
from textual.screen import Screen


class ToRecord(NamedTuple):
    """A record or note, or a source by its id."""

    id: str
    tab: str | None = None


class ToSource(NamedTuple):
    """A source, at some lines."""

    id: str
    lines: str | None = None


class ToConflict(NamedTuple):
    """A conflict."""

    id: str


class ToPair(NamedTuple):
    """Two pages that may be one."""

    candidate: dict[str, Any]


class ToEntry(NamedTuple):
    """A journal entry."""

    entry: dict[str, Any]


class ToFinding(NamedTuple):
    """Something to mend."""

    finding: dict[str, Any]


class ToType(NamedTuple):
    """A type of the vocabulary."""

    definition: dict[str, Any]


class ToSession(NamedTuple):
    """A consolidation session."""

    id: str


class ToDebt(NamedTuple):
    """A graph's debt."""

    graph: dict[str, Any]


class ToChore(NamedTuple):
    """A piece of maintenance."""

    chore: dict[str, Any]


def open_value(node: DOMNode, value: Any) -> None:
    """Open the page of a chosen thing; nothing happens where it has none."""
    screen = _screen(value)
    if screen is not None:
        node.app.push_screen(screen)


def _screen(value: Any) -> Screen[Any] | None:
    from tui.screens.candidate import CandidateScreen
    from tui.screens.conflict import ConflictScreen
    from tui.screens.facts import entry_screen, finding_screen, type_screen
    from tui.screens.owed import DebtScreen, chore_screen
    from tui.screens.record import RecordScreen
    from tui.screens.session import SessionScreen
    from tui.screens.source import SourceScreen

    match value:
        case ToRecord(id=wanted) if wanted.startswith("sr_"):
            return SourceScreen(wanted)
        case ToRecord():
            return RecordScreen(value.id, tab=value.tab)
        case ToSource():
            return SourceScreen(value.id, value.lines)
        case ToConflict():
            return ConflictScreen(value.id)
        case ToPair():
            return CandidateScreen(value.candidate)
        case ToEntry(entry=entry):
            if entry["targetId"] and entry["state"] == "published":
                return _screen(ToRecord(entry["targetId"]))
            return entry_screen(entry)
        case ToFinding():
            return finding_screen(value.finding)
        case ToType():
            return type_screen(value.definition)
        case ToSession():
            return SessionScreen(value.id)
        case ToDebt():
            return DebtScreen(value.graph)
        case ToChore():
            return chore_screen(value.chore)
    return None
