"""A conflict: what was there, what was proposed, what an edit made; and the choice."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

from textual import events
from textual.app import ComposeResult
from textual.containers import Horizontal, Vertical, VerticalScroll
from textual.widgets import Static

from tui import diff, editor, keys, looks
from tui.asking import ask, refuse, tell
from tui.merging import MARKS, both
from tui.plain import content, joined, one, stacked, when
from tui.screens.base import Inner
from tui.screens.prompt import Prompt
from vault_kg.errors import VaultError

NARROW = 110
VERSIONS = ("original", "proposed", "displaced")
NAMES = {"original": "Original", "proposed": "Proposed", "displaced": "On disk, edited"}
CHOICES = {
    "keep_disk": "Keep the file as it is on disk. What was proposed is not written.",
    "apply_proposed": "Write what was proposed over the edit, as the next revision.",
    "merged": "Write the file that you made, as the next revision.",
}


class ConflictScreen(Inner):
    """The three versions level with each other; narrow terminals show one or two at a time."""

    own_keys = "conflict"
    BINDINGS = keys.bindings(own_keys)
    DEFAULT_CSS = """
    ConflictScreen #versions { height: auto; }
    ConflictScreen .version { width: 1fr; height: auto; border: round $panel; padding: 0; }
    ConflictScreen .version Static { text-wrap: nowrap; text-overflow: ellipsis; height: auto; }
    ConflictScreen.narrow .version { display: none; }
    ConflictScreen.narrow .version.shown { display: block; }
    """

    def __init__(self, conflict_id: str) -> None:
        super().__init__()
        self._conflict_id = conflict_id
        self._conflict: dict[str, Any] | None = None
        self._shown = 1

    def page(self) -> ComposeResult:
        """Lay out the versions."""
        with VerticalScroll(id="scroll"), Horizontal(id="versions"):
            for version in VERSIONS:
                with Vertical(classes="version", id=version) as box:
                    box.border_title = NAMES[version]
                    yield Static("", markup=False)

    def on_mount(self) -> None:
        """Read the conflict."""
        self.refresh_place()
        self.query_one("#scroll").focus()
        self._fit()

    def on_resize(self, event: events.Resize) -> None:  # noqa: ARG002 - textual's signature
        """Show as many versions as fit."""
        self._fit()

    def refresh_place(self) -> None:
        """Read again."""
        ask(self, lambda d: d.call("knowledge_conflict", conflictId=self._conflict_id), self._show)

    def _show(self, conflict: dict[str, Any]) -> None:
        self._conflict = conflict
        resolved = conflict["resolvedAt"]
        state = f"✓ resolved: {conflict['choice']}" if resolved else "! waits for your choice"
        self.head(
            stacked(
                joined(
                    content("Conflict", "bold"), one(conflict["path"]), content(state, "reverse")
                ),
                joined(
                    one(conflict["actor"], "bold", 40),
                    content(
                        f"{looks.done(conflict['operation'])}, found {when(conflict['foundAt'])}"
                    ),
                    one(conflict["reason"] or "", "italic"),
                ),
                content("~ changed  + added  - removed, each against the original", "dim"),
            )
        )
        rows = diff.three_way(*(conflict[v] or "" for v in VERSIONS))
        for n, version in enumerate(VERSIONS):
            box = self.query_one(f"#{version}")
            missing = conflict[version] is None
            box.border_subtitle = "no file in this version" if missing else None
            box.query_one(Static).update("" if missing else diff.column(rows, n))
        self.refresh_bindings()

    def _fit(self) -> None:
        self.set_class(self.size.width < NARROW, "narrow")
        shown = (
            {0: {0, 1}, 1: {1, 2}, 2: {0, 2}}[self._shown]
            if self.size.width >= 70
            else {self._shown}
        )
        for n, version in enumerate(VERSIONS):
            self.query_one(f"#{version}").set_class(n in shown, "shown")

    def action_next_version(self, by: int = 1) -> None:
        """Show the next versions."""
        self._shown = (self._shown + by) % len(VERSIONS)
        self._fit()

    def action_previous_version(self) -> None:
        """Show the versions before."""
        self.action_next_version(-1)

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:  # noqa: ARG002
        """Offer choices while the conflict waits, and other versions where not all fit."""
        if action in ("choose", "merge_by_hand"):
            return self._conflict is not None and not self._conflict["resolvedAt"]
        if action in ("next_version", "previous_version"):
            return self.size.width < NARROW
        return True

    def action_choose(self, choice: str, merged: str | None = None) -> None:
        """Ask why, and resolve the conflict."""

        def resolve(reason: str | None) -> None:
            if reason:
                ask(
                    self,
                    lambda d: d.change(
                        "knowledge_review", conflictId=self._conflict_id, choice=choice,
                        reason=reason, merged=merged,
                    ),
                    self._resolved,
                    group="write",
                    otherwise=self._refused,
                )  # fmt: skip

        question = f"{CHOICES[choice]}\nAll three versions stay in the history or the conflict."
        self.app.push_screen(Prompt("Resolve", question, placeholder="why"), resolve)

    def _resolved(self, receipt: dict[str, Any]) -> None:
        tell(self, f"{receipt['path'] or self._conflict_id}: {receipt['choice']}", "Resolved")
        self.dismiss()

    def _refused(self, error: VaultError) -> None:
        refuse(self, error)
        self.refresh_place()

    def action_edit(self) -> None:
        """Open the file on disk."""
        if self._conflict is not None:
            editor.edit(self, self._conflict["path"], 1, self.refresh_place)

    def action_merge_by_hand(self) -> None:
        """Let the person write the file from both versions."""
        conflict = self._conflict
        if conflict is None:
            return
        with tempfile.TemporaryDirectory(prefix="vault-kg-") as folder:
            path = Path(folder) / "merged.md"
            start = both(conflict["original"], conflict["proposed"], conflict["displaced"])
            path.write_text(start, encoding="utf-8", newline="")
            if not editor.run(self, path):
                return
            made = path.read_bytes().decode("utf-8", errors="replace")
        if any(text.startswith(MARKS) for text in made.split("\n")):
            self.notify("There are still <<<<<<< marks in the file; nothing was done.",
                        severity="warning", markup=False)  # fmt: skip
            return
        self.action_choose("merged", made)
