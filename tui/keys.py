"""Every key, once: bindings, footer, help and command palette are all made from this table."""

from __future__ import annotations

from typing import NamedTuple

from textual.binding import Binding, BindingType


class Key(NamedTuple):
    """One key of a place: what it does, and how footer and help say so."""

    key: str
    action: str
    label: str
    help: str
    footer: bool = True


class Place(NamedTuple):
    """One of the places between which the number keys switch."""

    id: str
    key: str
    title: str
    help: str


PLACES = (
    Place("recent", "1", "Recent", "what was accepted lately, and what waits for you"),
    Place("review", "2", "Review", "what waits for your decision, or for repair"),
    Place("search", "3", "Search", "by words and meaning, as you type"),
    Place("browse", "4", "Browse", "everything by partition and type"),
    Place("issues", "5", "Issues", "what to mend, the journal, and Git"),
    Place("sources", "6", "Sources", "what was retained as evidence"),
    Place("types", "7", "Types", "the vocabulary, with counts and examples"),
    Place("status", "8", "Status", "how the vault is"),
    Place("sessions", "9", "Sessions", "consolidations with hints, open and committed"),
)

_REQUESTS = (
    Key("c", "hand_over('correct')", "Correct…", "Ask an agent to correct this record"),
    Key("w", "hand_over('withdraw')", "Withdraw…", "Ask an agent to withdraw this record"),
    Key("m", "hand_over('merge')", "Merge…", "Ask an agent to merge this page with another one"),
)

KEYS: dict[str, tuple[Key, ...]] = {
    "everywhere": (
        *(
            Key(p.key, f"go('{p.id}')", p.title, f"{p.title}: {p.help}", footer=False)
            for p in PLACES
        ),
        Key("slash", "go('search')", "Search", "Search the vault"),
        Key("question_mark", "help", "Help", "Show every key, and find one by typing"),
        Key("ctrl+o", "jump", "Jump", "Go to a part of the screen by its letter", footer=False),
        Key("ctrl+p", "command_palette", "Commands", "Find a command or a record", footer=False),
        Key("f5", "refresh", "Refresh", "Read again what is shown", footer=False),
        Key("ctrl+t", "next_theme", "Theme", "Use the next theme", footer=False),
        Key("q", "quit", "Quit", "Leave"),
    ),
    "list": (
        Key("enter", "select", "Open", "Open what is under the cursor"),
        Key("j,down", "cursor_down", "Down", "Go down", footer=False),
        Key("k,up", "cursor_up", "Up", "Go up", footer=False),
        Key("g,home", "first", "First", "Go to the first", footer=False),
        Key("G,end", "last", "Last", "Go to the last that is loaded", footer=False),
        Key("ctrl+d,pagedown", "page_down", "Page down", "Go down a page", footer=False),
        Key("ctrl+u,pageup", "page_up", "Page up", "Go up a page", footer=False),
    ),
    "pushed": (
        Key("escape", "back", "Back", "Go back to where you came from"),
        Key("backspace", "back", "Back", "Go back to where you came from", footer=False),
    ),
    "record": (
        Key("right_square_bracket,l", "next_tab", "Part", "Show the next part"),
        Key(
            "left_square_bracket,h",
            "previous_tab",
            "Part before",
            "Show the part before",
            footer=False,
        ),
        Key("e", "edit", "Edit", "Open the file in $EDITOR, at its line"),
        *_REQUESTS,
        Key("a", "adopt", "Adopt", "Make this note a page with an id and history"),
        Key("y", "copy_id", "Copy id", "Copy the record's id to the clipboard", footer=False),
        Key(
            "o",
            "open_successor",
            "Successor",
            "Open the record that stands for this one",
            footer=False,
        ),
    ),
    "history": (
        Key("d", "toggle_sides", "Side", "Show the difference in one or two columns", footer=False),
    ),
    "conflict": (
        Key("d", "choose('keep_disk')", "Keep disk", "Keep the file as it is on disk"),
        Key("p", "choose('apply_proposed')", "Apply proposed", "Write what was proposed"),
        Key("m", "merge_by_hand", "Merge", "Write the file yourself, in $EDITOR"),
        Key("e", "edit", "Edit", "Open the file on disk in $EDITOR", footer=False),
        Key(
            "right_square_bracket,l",
            "next_version",
            "Next",
            "Show the next version, where not all fit",
        ),
        Key(
            "left_square_bracket,h",
            "previous_version",
            "Before",
            "Show the version before",
            footer=False,
        ),
    ),
    "candidate": (
        Key("d", "decline", "Not one thing", "Remember that these pages are not one thing"),
        Key("l", "merge('first')", "Keep left…", "Ask an agent to merge; the left page survives"),
        Key(
            "r", "merge('second')", "Keep right…", "Ask an agent to merge; the right page survives"
        ),
        Key("o", "open_page('first')", "Open left", "Open the left page", footer=False),
        Key("p", "open_page('second')", "Open right", "Open the right page", footer=False),
    ),
    "facts": (Key("e", "edit", "Edit", "Open the file in $EDITOR, at its line"),),
    "request": (
        Key("ctrl+s", "hand_over", "Copy and keep", "Copy the request, and keep it as a file"),
    ),
    "lists": (Key("tab", "app.focus_next", "Other list", "Go to the other list"),),
    "filter": (
        Key("enter,down", "leave", "To the list", "Go from the filter to the list"),
        Key("escape", "clear", "No filter", "Take the filter away, and go to the list"),
    ),
    "search": (
        Key("escape", "leave", "To the hits", "Go from the words to the hits"),
        Key(
            "enter",
            "enter_hits",
            "To the hits",
            "Go to the hits, where there are any",
            footer=False,
        ),
        Key("down", "leave", "To the hits", "Go from the words to the hits", footer=False),
        Key("ctrl+r", "historical", "History too", "Search replaced and merged records too"),
    ),
    "browse": (
        Key("f", "filter", "Filter", "Filter by title as you type"),
        Key(
            "z",
            "lifecycle",
            "Lifecycle",
            "Active, unresolved, superseded, withdrawn, merged or all",
        ),
        Key("tab", "app.focus_next", "Tree/list", "Go between the tree and the list"),
    ),
    "issues": (
        Key("e", "edit", "Edit", "Open the file in $EDITOR, at the line"),
        Key("r", "retry", "Retry Git", "Try again to commit what waits for Git"),
        Key("s", "restore", "Restore", "Bring a deleted record's file back"),
        Key("tab", "app.focus_next", "Journal", "Go between issues and journal"),
    ),
    "jump": (Key("escape", "cancel", "Cancel", "Stay where you were"),),
    "prompt": (Key("escape", "cancel", "Cancel", "Change nothing"),),
}

TITLES = {
    "everywhere": "Everywhere",
    "list": "In a list",
    "pushed": "On a page",
    "record": "On a record",
    "history": "In a record's history",
    "conflict": "On a conflict",
    "candidate": "On two pages that may be one",
    "facts": "On an issue",
    "request": "Handing over a request",
    "lists": "Where there are two lists",
    "filter": "In the filter of Browse",
    "search": "Searching",
    "browse": "Browsing",
    "issues": "On issues",
    "jump": "While letters stand over the parts",
    "prompt": "In a question",
}


def bindings(*places: str, priority: bool = False) -> list[BindingType]:
    """Return the bindings of places, for Textual."""
    return [
        Binding(k.key, k.action, k.label, show=k.footer, tooltip=k.help, priority=priority)
        for place in places
        for k in KEYS[place]
    ]


def shown(key: str) -> str:
    """Return a key as people write it."""
    names = {
        "question_mark": "?", "slash": "/", "right_square_bracket": "]",
        "left_square_bracket": "[", "escape": "esc", "pagedown": "pgdn", "pageup": "pgup",
    }  # fmt: skip
    return " ".join(names.get(part, part) for part in key.split(","))
