"""Browse: a tree of partitions, kinds and types, and the records of what is chosen in it."""

from __future__ import annotations

from typing import Any, NamedTuple

from textual import on
from textual.app import ComposeResult
from textual.containers import Horizontal, Vertical
from textual.widget import Widget
from textual.widgets import Input, Tree

from tui import keys, looks
from tui.asking import ask
from tui.desk import Desk
from tui.listing import Item, Listing, Page, Reader
from tui.opening import ToRecord
from tui.places.base import PlaceView
from tui.plain import line

LIFECYCLES = ("active", "unresolved", "superseded", "withdrawn", "merged", "all")


class Shelf(NamedTuple):
    """What a node of the tree stands for; None is all."""

    partition: str | None = None
    kind: str | None = None
    type: str | None = None


def reader(shelf: Shelf, text: str, lifecycle: str) -> Reader:
    """Return what reads the records of a shelf by title."""

    def read(desk: Desk, cursor: str | None, limit: int) -> Page:
        found = desk.call(
            "knowledge_browse", **shelf._asdict(), text=text.strip() or None, lifecycle=lifecycle,
            cursor=cursor, limit=limit,
        )  # fmt: skip
        items = [
            Item(f"{r['id']}-{r['path']}", looks.record(r), ToRecord(r["id"]))
            for r in found["records"]
        ]
        return Page(items, found["total"], found["nextCursor"])

    return read


class Filter(Input):
    """Where the filter is typed."""

    BINDINGS = keys.bindings("filter", priority=True)

    def action_leave(self) -> None:
        """Go to the list."""
        self.screen.set_focus(self.screen.query_one("#records"))

    def action_clear(self) -> None:
        """Take the filter away, and go to the list."""
        self.value = ""
        self.action_leave()


class Browse(PlaceView):
    """The tree, a filter, and the list."""

    BINDINGS = keys.bindings("browse", priority=True)
    DEFAULT_CSS = """
    Browse Tree { width: 30; border: round $panel; scrollbar-size-horizontal: 0; }
    Browse Tree:focus { border: round $primary; }
    Browse Input { margin: 0 1; background: $surface; }
    """

    def __init__(self, id: str | None = None) -> None:
        super().__init__(id=id)
        self._shelf = Shelf()
        self._lifecycle = "active"
        self._counts: list[dict[str, Any]] = []

    def compose(self) -> ComposeResult:
        """Lay out the tree, the filter and the list."""
        with Horizontal():
            yield Tree("everything", data=Shelf(), id="shelves")
            with Vertical():
                yield Filter(placeholder="f: filter by title or path", id="filter", compact=True)
                yield Listing(reader(Shelf(), "", "active"), title="Records", id="records")

    def on_mount(self) -> None:
        """Count the shelves."""
        tree = self.query_one(Tree)
        tree.border_title = "Shelves"
        tree.root.expand()
        tree.auto_expand = False  # Enter leads to the list
        self._count()

    def first_focus(self) -> Widget | None:
        """Return the tree."""
        return self.query_one(Tree)

    def refresh_place(self) -> None:
        """Count and read again."""
        self._count()
        self.query_one(Listing).read_again()

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:  # noqa: ARG002
        """Leave letters to the filter while it is typed into; else they go before what is next."""
        return not isinstance(self.screen.focused, Input)

    def action_open_shelf(self) -> None:
        """Open or close the shelf under the cursor."""
        self.query_one(Tree).action_toggle_node()

    def action_filter(self) -> None:
        """Go to the filter."""
        self.screen.set_focus(self.query_one("#filter"))

    def action_lifecycle(self) -> None:
        """Show the next lifecycle."""
        at = LIFECYCLES.index(self._lifecycle)
        self._lifecycle = LIFECYCLES[(at + 1) % len(LIFECYCLES)]
        named = "" if self._lifecycle == "active" else f", {self._lifecycle}"
        self.query_one(Listing).border_title = f"Records{named}"
        self._count()
        self._list()

    @on(Input.Changed, "#filter")
    def _list(self) -> None:
        text = self.query_one("#filter", Input).value
        self.query_one(Listing).show(reader(self._shelf, text, self._lifecycle))

    @on(Tree.NodeHighlighted)
    def _choose(self, event: Tree.NodeHighlighted[Shelf]) -> None:
        if event.node.data is not None and event.node.data != self._shelf:
            self._shelf = event.node.data
            self._list()

    @on(Tree.NodeSelected)
    def _enter(self) -> None:
        self.screen.set_focus(self.query_one(Listing))

    def _count(self) -> None:
        ask(
            self,
            lambda desk: desk.call("knowledge_shelves", lifecycle=self._lifecycle)["shelves"],
            self._grow,
            group="count",
        )

    def _grow(self, shelves: list[dict[str, Any]]) -> None:
        if shelves == self._counts:
            return
        self._counts = shelves
        tree: Tree[Shelf] = self.query_one(Tree)
        kept, at = self._shelf, tree.cursor_line
        tree.root.remove_children()
        for partition in _distinct(s["partition"] for s in shelves):
            mine = [s for s in shelves if s["partition"] == partition]
            branch = tree.root.add(_label(partition, mine), Shelf(partition), expand=True)
            for kind in _distinct(s["kind"] for s in mine):
                of_kind = [s for s in mine if s["kind"] == kind]
                typed = [s for s in of_kind if s["type"]]
                node = branch.add(
                    _label(f"{kind}s", of_kind), Shelf(partition, kind), expand=kind == "page",
                    allow_expand=bool(typed),
                )  # fmt: skip
                for shelf in typed:
                    node.add_leaf(
                        _label(shelf["type"], [shelf]), Shelf(partition, kind, shelf["type"])
                    )
        self._shelf = kept
        tree.call_after_refresh(setattr, tree, "cursor_line", at)


def _distinct(names: Any) -> list[str]:
    return list(dict.fromkeys(names))


def _label(name: str, shelves: list[dict[str, Any]]) -> Any:
    from rich.text import Text

    number = sum(s["records"] for s in shelves)
    return Text.assemble(line(name, 40), (f" {number:,}", "dim"))
