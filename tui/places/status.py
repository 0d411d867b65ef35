"""Status: how the vault is."""

from __future__ import annotations

from typing import Any

from textual.app import ComposeResult
from textual.containers import VerticalScroll
from textual.content import Content
from textual.widget import Widget
from textual.widgets import Static

from tui.asking import ask
from tui.places.base import PlaceView
from tui.plain import content, joined, line, stacked, when


class Status(PlaceView):
    """The state of the vault in words and numbers."""

    DEFAULT_CSS = """
    Status VerticalScroll { border: round $panel; padding: 0 1; }
    Status VerticalScroll:focus { border: round $primary; }
    """

    def compose(self) -> ComposeResult:
        """Lay out the text."""
        with VerticalScroll() as scroll:
            scroll.border_title = "Status"
            yield Static("reading…", id="said", markup=False)

    def on_mount(self) -> None:
        """Read it."""
        self.refresh_place()

    def first_focus(self) -> Widget | None:
        """Return the text."""
        return self.query_one(VerticalScroll)

    def refresh_place(self) -> None:
        """Read it again."""
        ask(self, lambda desk: desk.call("knowledge_status"), self._show)

    def _show(self, status: dict[str, Any]) -> None:
        self.query_one("#said", Static).update(described(status))


def described(status: dict[str, Any]) -> Content:
    """Return the state of a vault as lines of name and value."""
    git, index, semantic = status["git"], status["index"], status["semantic"]
    rows = [
        ("vault", status["vaultId"]),
        ("folder", status["root"]),
        ("version", status["version"]),
        ("journal", f"at entry {status['position']:,}"),
        ("current", _counted(status["records"])),
        ("history", _counted(status["history"])),
        (
            "conflicts",
            f"{status['conflicts']} wait for a person" if status["conflicts"] else "none",
        ),
        ("Git", f"{git['pending']} wait: {git['reason']}" if git["pending"] else "up to date"),
        ("index", f"{index['passages']:,} passages, looked at {when(index['scannedAt'])} UTC"),
        ("meaning", ", ".join(f"{k} {v}" for k, v in semantic.items() if v is not None)),
        ("vocabulary", status["ontologyFingerprint"]),
    ]
    return stacked(
        *(joined(content(f"{name:<11}", "bold"), content(line(said))) for name, said in rows)
    )


def _counted(counts: dict[str, int]) -> str:
    return ", ".join(f"{number:,} {name}" for name, number in counts.items())
