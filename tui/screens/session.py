"""A consolidation session: what it would write, what was proposed for it, and why."""

from __future__ import annotations

from typing import Any, NamedTuple

from textual.app import ComposeResult
from textual.content import Content

from tui import work
from tui.asking import ask
from tui.desk import Desk
from tui.listing import Item, Listing, Page
from tui.opening import ToRecord
from tui.plain import content, joined, one, plural, stacked, when
from tui.screens.base import Inner


class Found(NamedTuple):
    """A session with its candidates, open or committed."""

    row: dict[str, Any]
    is_open: bool

    @property
    def records(self) -> dict[str, str]:
        """The records that candidates became, where they were committed."""
        applied = {} if self.is_open else self.row["applied"]
        return {
            done["candidate_id"]: done["node_id"]
            for group in applied.values()
            for done in group
            if done.get("node_id")
        }


def read_session(desk: Desk, session_id: str) -> Found | None:
    """Read a session; None where it was dropped, or has expired."""
    for row in desk.call("kg_sessions", session_id=session_id)["sessions"]:
        return Found(row, is_open=True)
    for row in desk.call("kg_audit", session_id=session_id)["rows"]:
        return Found(row, is_open=False)
    return None


class SessionScreen(Inner):
    """The candidates of a session with their hints."""

    is_live = True

    def __init__(self, session_id: str) -> None:
        super().__init__()
        self._session_id = session_id

    def page(self) -> ComposeResult:
        """Lay out the candidates."""
        yield Listing(self._read, title="Candidates", empty="no candidate yet", id="candidates")

    def on_mount(self) -> None:
        """Put the keys to the candidates."""
        self.screen.set_focus(self.query_one(Listing))
        self._describe()

    def refresh_place(self) -> None:
        """Read again what is shown."""
        super().refresh_place()
        self._describe()

    def _describe(self) -> None:
        ask(self, lambda d: described(read_session(d, self._session_id)), self.head, group="head")

    def _read(self, desk: Desk, cursor: str | None, limit: int) -> Page:  # noqa: ARG002 - a reader
        found = read_session(desk, self._session_id)
        if found is None:
            return Page()
        overrides = {o["candidate_id"]: o for o in found.row.get("overrides") or ()}
        items = [
            Item(
                c["candidate_id"],
                work.session_candidate(c, overrides.get(c["candidate_id"])),
                _leads_to(c, found.records),
            )
            for c in found.row["candidates"] or ()
        ]
        return Page(items, len(items))


def described(found: Found | None) -> Content:
    """Return what a session's head says: of what it is, whose, and how it stands."""
    if found is None:
        return content("This session was dropped, or it has expired; nothing of it was written.")
    row = found.row
    if found.is_open:
        state = "… open" if row["committable"] else "! its commit failed"
        stand = f"opened {when(row['opened_at'])}, expires {when(row['expires_at'])}"
        rest = one(row["failure"] or "", "italic", 300)
    else:
        state = "✗ undone" if row["undone"] else "✓ committed"
        stand = f"{when(row['committed_at'])}, {plural(len(row['edges_added']), 'edge')} added"
        rest = one(row["summary"] or "", "italic", 300)
    return stacked(
        joined(content("Session", "bold"), one(work.artefact(row)), content(state, "reverse")),
        joined(one(row["agent"], "bold", 40), content(stand), one(row["session_id"], "dim")),
        rest,
    )


def _leads_to(candidate: dict[str, Any], records: dict[str, str]) -> ToRecord | None:
    """Return the record that a candidate became, or that it would change."""
    target = records.get(candidate["candidate_id"]) or (candidate["proposal"] or {}).get("target")
    return ToRecord(target) if target else None
