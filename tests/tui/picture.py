"""What is on the screen as text that can be kept and compared: the cells, and how each is drawn.

A stored picture has the words once and the styles once for each theme, as runs of cells: `a12 b3`
is twelve cells drawn as `a` says, then three as `b` says. That words do not depend on the theme is
held at the same time.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator
from difflib import unified_diff
from itertools import groupby
from pathlib import Path

from rich.cells import cell_len
from rich.style import Style
from textual.app import App

FOLDER = Path(__file__).parent / "pictures"
UPDATE = "UPDATE_PICTURES"
"""Set it in the environment to store what is seen instead of comparing it."""

NAMES = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
ATTRIBUTES = ("bold", "dim", "italic", "underline", "reverse", "strike")

VARYING = (
    re.compile(r"\b[0-9a-f]{10,}\b|\bkgs_[0-9a-z]+"),
    re.compile(r"(?<=│ vault        )[^│]+"),
    re.compile(r"(?<=│ folder       )[^│]+"),
    re.compile(r"(?<=│ version      )[^│]+"),
)
"""What differs from run to run: hashes, ids, and places of the machine."""

Cell = tuple[str, str]


def words(app: App[None]) -> str:
    """Return the words on the screen, what varies drawn as dots of the same width."""
    text = "\n".join("".join(segment.text for segment in row) for row in _rows(app))
    for pattern in VARYING:
        text = pattern.sub(lambda found: "·" * len(found.group()), text)
    return "\n".join(line.rstrip() for line in text.split("\n"))


def styles(app: App[None]) -> str:
    """Return how the cells are drawn: a legend, then the runs of each row."""
    legend: dict[str, str] = {}
    rows = []
    for row in _rows(app):
        cells = (_described(s.style) for s in row for _ in range(cell_len(s.text)))
        runs = ((look, len(list(same))) for look, same in groupby(cells))
        rows.append(" ".join(f"{_name(legend, look)}{length}" for look, length in runs))
    named = [f"{name} {look}" for look, name in legend.items()]
    return "\n".join([*named, *_folded(rows)])


def difference(name: str, seen: str) -> str:
    """Return what differs from the stored picture; nothing where it is the same, or was stored."""
    path = FOLDER / f"{name}.txt"
    if os.environ.get(UPDATE):
        path.parent.mkdir(exist_ok=True)
        path.write_text(seen, encoding="utf-8")
    stored = path.read_text(encoding="utf-8") if path.is_file() else ""
    return "\n".join(
        unified_diff(stored.split("\n"), seen.split("\n"), "stored", "seen", "", "", 1)
    )


def _rows(app: App[None]) -> Iterable[Iterable[object]]:
    return app.screen._compositor.render_strips()


def _name(legend: dict[str, str], look: str) -> str:
    if look not in legend:
        number = len(legend)
        legend[look] = NAMES[number] if number < len(NAMES) else f"{NAMES[number % 52]}'"
    return legend[look]


def _described(style: Style | None) -> str:
    if style is None:
        return "plain"
    said = [a for a in ATTRIBUTES if getattr(style, a)]
    front, back = (c.get_truecolor().hex if c else "" for c in (style.color, style.bgcolor))
    return " ".join(filter(None, [front, f"on {back}" if back else "", *said])) or "plain"


def _folded(rows: list[str]) -> Iterator[str]:
    """Yield rows, those that repeat once and with their number."""
    for row, same in groupby(rows):
        number = len(list(same))
        yield row if number == 1 else f"{row}  x{number}"
