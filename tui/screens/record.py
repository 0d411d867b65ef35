"""A record: its text, evidence, claims, connections, history, and its file as it is."""

from __future__ import annotations

from typing import Any

from textual import on
from textual.app import ComposeResult
from textual.containers import VerticalScroll
from textual.content import Content
from textual.widgets import Markdown, Static, TabbedContent, TabPane

from tui import editor, keys
from tui.asking import ask, refuse, tell
from tui.desk import Desk
from tui.listing import Listing, Reader
from tui.markdown import MAX_BODY, SCHEME, RecordMarkdown
from tui.opening import ToConflict, ToRecord, open_value
from tui.parts import describing, reading
from tui.parts.history import HistoryPart, revisions
from tui.plain import many
from tui.screens.base import Inner
from vault_kg.errors import VaultError

TABS = ("text", "evidence", "claims", "links", "history", "file")


class Parts(TabbedContent):
    """The parts as tabs; a late notice that a part has the focus does not bring that part back."""

    def on_tab_pane_focused(self, event: TabPane.Focused) -> None:
        """Leave the choice of the part to the keys and the mouse."""
        event.stop()
        event.prevent_default()


class RecordScreen(Inner):
    """Everything known of one record, in parts that are read when they are looked at."""

    own_keys = "record"
    BINDINGS = keys.bindings(own_keys)
    DEFAULT_CSS = """
    RecordScreen #body { padding: 0 1; }
    RecordScreen #body RecordMarkdown { padding: 0; margin: 1 0 0 0; background: transparent; }
    RecordScreen #raw { padding: 0 1; }
    RecordScreen TabbedContent { height: 1fr; }
    RecordScreen TabPane { padding: 0; height: 1fr; }
    RecordScreen ContentSwitcher { height: 1fr; }
    """

    def __init__(self, record_id: str, *, tab: str | None = None) -> None:
        super().__init__()
        self.record_id = record_id
        self.view: dict[str, Any] | None = None
        self._tab = tab or "text"
        self._loaded: set[str] = set()

    @property
    def watched(self) -> str:
        """The record whose file is looked at while it is shown."""
        return self.record_id

    def page(self) -> ComposeResult:
        """Lay out the parts."""
        with Parts(initial=self._tab, id="parts"):
            with TabPane("Text", id="text"), VerticalScroll(id="body"):
                yield Static("", id="facts", markup=False)
                yield RecordMarkdown(id="markdown")
            with TabPane("Evidence", id="evidence"):
                yield Listing(title="Evidence", empty="no evidence is cited", id="cited")
            with TabPane("Claims", id="claims"):
                yield Listing(title="Claims", empty="no claim is about it", id="claimed")
            with TabPane("Links", id="links"):
                yield Listing(title="Connections", empty="nothing is joined to it", id="joined")
            with TabPane("History", id="history"):
                yield HistoryPart()
            with TabPane("File", id="file"), VerticalScroll(id="raw"):
                yield Static("", id="bytes", markup=False)

    def on_mount(self) -> None:
        """Read the record."""
        self.refresh_place()

    def refresh_place(self) -> None:
        """Read again what is shown."""
        ask(
            self,
            lambda d: d.call("knowledge_get", id=self.record_id, bodyLimit=MAX_BODY),
            self._show,
            otherwise=self._refused,
        )
        self._read_part()

    def _show(self, view: dict[str, Any]) -> None:
        if not self.query("#facts"):
            self.call_after_refresh(self._show, view)  # the parts are still being laid out
            return
        changed = self.view is None or self.view["hash"] != view["hash"]
        self.view = view
        if self.record_id != view["id"]:
            self.record_id = view["id"]
            self._loaded.clear()
        self.head(describing.head(view))
        self.query_one("#facts", Static).update(describing.stated(view, {}))
        if changed:
            rest = view["bodyTotal"] - len(view["body"])
            more = f"\n\n… {rest:,} characters more; press e to see the whole file"
            self.query_one(RecordMarkdown).show(view["body"] + (more if rest else ""))
        self._load("evidence", "#cited", reading.evidence(view))
        self._focus_part()
        self.refresh_bindings()
        ask(self, lambda d: reading.names(d, view), self._named, group="names")

    def _named(self, names: dict[str, str]) -> None:
        if self.view is not None:
            self.query_one("#facts", Static).update(describing.stated(self.view, names))

    def _refused(self, error: VaultError) -> None:
        conflict = error.data.get("conflict_id")
        if error.code == "conflict_blocked" and conflict:
            self.dismiss()
            open_value(self.app, ToConflict(conflict))
            return
        refuse(self, error)
        self.head(many(error.message, "bold"))

    @on(TabbedContent.TabActivated)
    def _read_part(self) -> None:
        wanted, part = self.record_id, self.query_one(TabbedContent).active
        if part == "claims":
            self._load(part, "#claimed", reading.claims(wanted))
        elif part == "links":
            self._load(part, "#joined", reading.connections(wanted))
        elif part == "history":
            self._load(part, "#revisions", revisions(wanted))
        elif part == "file" and self.view is not None:
            path = self.view["path"]
            ask(self, lambda d: many(d.raw(path)), self._show_file, group="file")
        self._focus_part()

    def _load(self, part: str, listing: str, reader: Reader) -> None:
        """Show a part's list from its start, or read it again where it stands."""
        shown = self.query_one(listing, Listing)
        if part in self._loaded:
            shown.reader = reader
            shown.read_again()
        else:
            self._loaded.add(part)
            shown.show(reader)

    def _show_file(self, text: Content) -> None:
        self.query_one("#bytes", Static).update(text)

    def _focus_part(self) -> None:
        pane = self.query_one(TabbedContent).active_pane
        if pane is not None and self.app.screen is self:
            first = next((w for w in pane.query("*") if w.focusable), None)
            if first is not None and (self.focused is None or pane not in self.focused.ancestors):
                first.focus()

    def action_next_tab(self, by: int = 1) -> None:
        """Show the next part."""
        parts = self.query_one(TabbedContent)
        parts.active = TABS[(TABS.index(parts.active) + by) % len(TABS)]

    def action_previous_tab(self) -> None:
        """Show the part before."""
        self.action_next_tab(-1)

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Offer what can be done with this kind of record."""
        kind = self.view["kind"] if self.view else None
        if action == "adopt":
            return kind == "note"
        if action == "hand_over":
            active = self.view is not None and self.view["lifecycle"] == "active"
            wanted = {"merge": ("page",), "correct": ("claim", "relationship")}
            kinds = wanted.get(str(parameters[0]), ("page", "claim", "relationship"))
            return active and kind in kinds
        if action == "open_successor":
            return self._successor() is not None
        return True

    def action_edit(self) -> None:
        """Open the file at the first line of its text."""
        view = self.view
        if view is None:
            return
        ask(
            self,
            lambda d: _body_line(d, view["path"]),
            lambda line: editor.edit(self, view["path"], line, self.refresh_place),
            group="line",
        )

    def action_hand_over(self, operation: str) -> None:
        """Compose a request for an agent."""
        from tui.screens.request import RequestScreen

        if self.view is not None:
            self.app.push_screen(RequestScreen(operation, self.view))

    def action_adopt(self) -> None:
        """Ask for the type, and make the note a page."""
        from tui.screens.prompt import Prompt

        view = self.view
        if view is None or view["kind"] != "note":
            return

        def adopt(kind: str | None) -> None:
            if kind:
                ask(
                    self,
                    lambda d: d.change("knowledge_adopt", path=view["path"], type=kind),
                    self._adopted,
                    group="write",
                )

        question = "Which type of page does this note become? Its text stays byte for byte."
        self.app.push_screen(Prompt("Adopt a note", question, value="Document"), adopt)

    def _adopted(self, receipt: dict[str, Any]) -> None:
        tell(self, f"{receipt['path']} is a page now: {receipt['targetId']}", "Adopted")
        self.record_id = receipt["targetId"]
        self.refresh_place()

    def action_copy_id(self) -> None:
        """Copy the id."""
        self.app.copy_to_clipboard(self.record_id)
        tell(self, f"{self.record_id} is in the clipboard")

    def _successor(self) -> str | None:
        if self.view is None:
            return None
        return self.view["currentId"] if self.view["currentId"] != self.view["id"] else None

    def action_open_successor(self) -> None:
        """Open what stands for this record now."""
        if (successor := self._successor()) is not None:
            open_value(self, ToRecord(successor))

    def on_markdown_link_clicked(self, event: Markdown.LinkClicked) -> None:
        """Open a record that a link means; what leads elsewhere is only told and copied."""
        event.stop()
        name = event.href.removeprefix(SCHEME)
        if event.href.startswith(SCHEME) or "://" not in event.href:
            ask(
                self,
                lambda d: str(d.call("knowledge_lookup", text=name)["record"]["id"]),
                lambda found: open_value(self, ToRecord(found)),
                group="link",
            )
        else:
            self.app.copy_to_clipboard(event.href)
            tell(self, event.href, "A link out of the vault; copied, not opened")


def _body_line(desk: Desk, path: str) -> int:
    """Return the line on which a file's text begins, after its front matter."""
    lines = desk.raw(path).split("\n")
    if lines[0].strip().lstrip("\ufeff") != "---":
        return 1
    closed = next((n for n, text in enumerate(lines[1:], 2) if text.strip() == "---"), 0)
    return next((n for n, t in enumerate(lines[closed:], closed + 1) if t.strip()), closed + 1)
