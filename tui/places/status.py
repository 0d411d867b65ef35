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
from tui.plain import content, joined, line, plural, stacked, when


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
        ask(self, lambda desk: described(desk.call("knowledge_status"), desk.through), self._show)

    def _show(self, said: Content) -> None:
        self.query_one("#said", Static).update(said)


def described(status: dict[str, Any], through: str) -> Content:
    """Return the state of a vault as lines of name and value."""
    rows = [
        ("vault", status["vaultId"] or "cannot be opened"),
        ("folder", status["root"]),
        ("version", status["version"]),
        ("reached", through),
    ]
    rows += _standing(status) if status["connected"] else _trouble(status)
    return stacked(
        *(joined(content(f"{name:<11}", "bold"), content(line(said))) for name, said in rows)
    )


def _trouble(status: dict[str, Any]) -> list[tuple[str, str]]:
    return [("reason", status["reason"])] + [("try", t) for t in status["recovery_available"]]


def _standing(status: dict[str, Any]) -> list[tuple[str, str]]:
    git, index, records = status["git"], status["index"], status["records"]
    return [
        ("journal", f"at entry {status['position']:,}"),
        ("current", ", ".join(plural(number, name) for name, number in records.items())),
        ("history", ", ".join(f"{number:,} {name}" for name, number in status["history"].items())),
        (
            "conflicts",
            f"{status['conflicts']} wait for a person" if status["conflicts"] else "none",
        ),
        ("Git", f"{git['pending']} wait: {git['reason']}" if git["pending"] else _settled(git)),
        ("index", f"{index['passages']:,} passages, looked at {when(index['scannedAt'])} UTC"),
        ("meaning", _meaning(status["semantic"])),
        ("vocabulary", status["ontologyFingerprint"]),
    ]


def _settled(git: dict[str, Any]) -> str:
    """Return how Git is where nothing waits for it: in a folder that is only read it has no part."""
    return git["reason"] or "up to date"


def _meaning(semantic: dict[str, Any]) -> str:
    """Return how search by meaning is: its state, the model, what is embedded, and what is amiss."""
    counts = (f"{semantic[k]:,} {k}" for k in ("ready", "pending", "failed") if semantic[k])
    said = (semantic["state"], semantic.get("model"), *counts, semantic.get("reason"))
    return ", ".join(part for part in said if part)
