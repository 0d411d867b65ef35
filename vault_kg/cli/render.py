"""What people read: clean text, tables and colour; and the JSON that programs read.

Text from records is data: what a terminal would obey or hide is shown as what it is.
"""

from __future__ import annotations

import json
import re
import shutil
import sys
import textwrap
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import click

from vault_kg.cli.revealing import reveal
from vault_kg.errors import VaultError, legible

_WHITE = re.compile(r"[ \t\n]+")
MIN_WIDTH, MAX_WIDTH = 40, 100


def text(value: Any) -> str:
    """Return text of several lines that is safe to print."""
    return reveal(value)


def piece(value: Any) -> str:
    """Return a part of a line that is safe to print; its spaces at the ends stay."""
    return _WHITE.sub(" ", text(value))


def line(value: Any) -> str:
    """Return text that is safe to print, on one line."""
    return piece(value).strip()


def width(shown: str) -> int:
    """Return how many columns of a terminal a text takes."""
    wide = sum(unicodedata.east_asian_width(c) in "WF" for c in shown)
    none = sum(bool(unicodedata.combining(c)) or unicodedata.category(c) == "Cf" for c in shown)
    return len(shown) + wide - none


def columns() -> int:
    """Return the width to print in; no limit where output is not a terminal."""
    if not sys.stdout.isatty():
        return sys.maxsize
    return max(MIN_WIDTH, shutil.get_terminal_size().columns)


def print_json(value: Any) -> None:
    """Print one JSON document, in UTF-8 whatever the locale."""
    encoded = json.dumps(value, ensure_ascii=False, indent=2 if sys.stdout.isatty() else None)
    binary = getattr(sys.stdout, "buffer", None)
    if binary is None:
        click.echo(encoded)
        return
    sys.stdout.flush()
    binary.write(encoded.encode("utf-8", errors="backslashreplace") + b"\n")
    binary.flush()


def print_refusal(error: VaultError) -> None:
    """Print a refusal on standard error: what was wrong, and what to choose from."""
    click.echo(f"vault-kg: {text(legible(error.message))}", err=True)
    for candidate in error.data.get("candidates") or ():
        click.echo(f"  {_candidate(candidate)}", err=True)
    request = error.data.get("request_id")
    if request and error.code != "request_mismatch":
        click.echo(f"To repeat this very request: --request-id {line(request)}", err=True)


def table(rows: Sequence[Sequence[str]], *, flexible: int, keep_end: bool = False) -> Iterator[str]:
    """Yield aligned lines of cells; on a terminal the flexible column is cut to its width.

    Args:
        rows: clean one-line cells; every row has as many.
        flexible: the column that may be cut; all others are shown whole.
        keep_end: cut its cells in their middle, because their ends say most.
    """
    if not rows:
        return
    widths = [max(width(row[n]) for row in rows) for n in range(len(rows[0]))]
    others = sum(w + 2 for n, w in enumerate(widths) if n != flexible)
    room = max(20, min(widths[flexible], columns() - others))
    widths[flexible] = room
    for row in rows:
        shorter = cut_inside if keep_end else cut
        cells = [shorter(c, room) if n == flexible else c for n, c in enumerate(row)]
        padded = (c + " " * (w - width(c)) for c, w in zip(cells, widths, strict=True))
        yield "  ".join(padded).rstrip()


def cut(shown: str, room: int) -> str:
    """Return a text that takes at most so many columns, with an ellipsis where it was cut."""
    if width(shown) <= room:
        return shown
    kept = shown[:room]
    while width(kept) > room - 1:
        kept = kept[:-1]
    return kept.rstrip() + "…"


def cut_inside(shown: str, room: int) -> str:
    """Return a text that takes at most so many columns: a little of its start, and its end."""
    if width(shown) <= room:
        return shown
    start, end = shown[: room // 4], shown
    while width(start) + width(end) > room - 1:
        end = end[1:]
    return f"{start}…{end}"


def wrapped(value: Any, indent: str = "") -> str:
    """Return a sentence wrapped for the terminal; unwrapped where output is not one."""
    if not sys.stdout.isatty():
        return indent + line(value)
    return textwrap.fill(
        line(value), min(columns(), MAX_WIDTH), initial_indent=indent, subsequent_indent=indent,
        break_long_words=False, break_on_hyphens=False,
    )  # fmt: skip


def block(value: Any, indent: str = "  ") -> str:
    """Return text of several lines, indented as it is."""
    return textwrap.indent(text(value), indent, lambda _: True).rstrip()


def heading(shown: str) -> str:
    """Return a heading."""
    return click.style(shown, bold=True)


def dim(shown: str) -> str:
    """Return what is less important."""
    return click.style(shown, dim=True)


def warn(shown: str) -> str:
    """Return what asks for attention."""
    return click.style(shown, fg="yellow")


def diff(value: str) -> str:
    """Return a unified diff, coloured by line."""
    return "\n".join(_diff_line(part) for part in text(value).split("\n"))


def listed(values: Iterable[Any]) -> str:
    """Return values with commas between them."""
    return ", ".join(line(value) for value in values)


def counted(counts: dict[str, int]) -> str:
    """Return counts as `1 claim, 4 pages`."""
    return ", ".join(f"{n:,} {what}{'s' * (n != 1)}" for what, n in counts.items())


def labelled(rows: Iterable[tuple[str, Any]], indent: str = "  ") -> Iterator[str]:
    """Yield `label  value` lines, aligned, for the values that there are."""
    shown = [(label, line(value)) for label, value in rows if value not in (None, "", [], {})]
    room = max((len(label) for label, _ in shown), default=0)
    for label, value in shown:
        yield f"{indent}{dim(label.ljust(room))}  {value}"


def echo_lines(lines: Iterable[str]) -> None:
    """Print lines."""
    for part in lines:
        click.echo(part)


def _diff_line(part: str) -> str:
    if part.startswith(("+++", "---")):
        return click.style(part, bold=True)
    colour = {"+": "green", "-": "red", "@": "cyan"}.get(part[:1])
    return click.style(part, fg=colour) if colour else part


def _candidate(candidate: Any) -> str:
    if not isinstance(candidate, dict):
        return line(candidate)
    keys = ("id", "type", "title", "path", "uid", "kind", "root", "lifecycle")
    parts = (candidate.get(key) for key in keys)
    return "  ".join(line(part) for part in parts if part)
