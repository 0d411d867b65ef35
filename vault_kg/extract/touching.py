"""What a page says that it touches: a uid, a path, a symbol or heading in a file, or a bare name."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import NamedTuple

from vault_kg.extract import uids
from vault_kg.extract.backends.protocol import GraphReader
from vault_kg.extract.backends.values import NodeRow

_LINE = re.compile(r":\d+(?:-\d+)?$")
_NAMED = ("function", "class", "method", "interface", "variable")
_LIMIT = 100_000

ANYTHING = "*"
"""The key that every text needs: so much has changed that nothing is told one by one."""


class Touched(NamedTuple):
    """The nodes that a text may mean, and how it spells them: a key of `record_rules.TOUCHES`."""

    rows: list[NodeRow]
    spelling: str


def find(reader: GraphReader, text: str) -> Touched:
    """Return what a text means: one node where that is clear, several where it is not, or none.

    Args:
        reader: the graph as those see it who see the page.
        text: `code:function:a.py::f`, `src/a.py`, `a.py::Class.f`, `doc.md#A heading`, `f()`.
    """
    wanted = text.strip()
    if uids.parse(wanted) is not None:
        return Touched([row for row in reader.find(wanted) if not row.stub], "uid")
    wanted = _LINE.sub("", wanted).removeprefix("./").rstrip("/")
    path, sign, name = wanted.partition("::")
    if sign:
        return Touched(_at(reader, path, lambda row: _is_called(row, name)), "symbol")
    path, sign, name = wanted.rpartition("#")
    if sign and path:
        return Touched(_at(reader, path, lambda row: _is_heading(row, name)), "heading")
    files = _at(reader, wanted, lambda row: row.node.kind == "file")
    files += [] if files else reader.find(uids.folder(wanted))
    if files or "/" in wanted:
        return Touched(files, "path")
    return Touched(_called(reader, wanted.removesuffix("()")), "name")


def needs(text: str) -> set[str]:
    """Return the keys of what a text may mean: where a node of one of them comes or goes, ask again."""
    wanted = text.strip()
    if uids.parse(wanted) is not None:
        return {wanted}
    wanted = _LINE.sub("", wanted).removeprefix("./").rstrip("/")
    path, sign, name = wanted.partition("::")
    if sign:
        return {_symbol_key(path, name)}
    path, sign, name = wanted.rpartition("#")
    if sign and path:
        return {_heading_key(path)}
    own = {_path_key(wanted)}
    return own if "/" in wanted else own | {_symbol_key("", wanted.removesuffix("()"))}


def keys(uid: str) -> set[str]:
    """Return the keys of the node of a uid, as `needs` gives those of texts that may mean it."""
    found = uids.parse(uid)
    if found is None or found.path is None:
        return {uid}
    if found.kind in ("file", "folder"):
        return {uid, _path_key(found.path)}
    if found.kind == "heading":
        return {uid, _heading_key(found.path)}
    name = found.name or ""
    return {uid, _symbol_key(found.path, name), _symbol_key("", name)}


def ending(reader: GraphReader, text: str) -> list[NodeRow]:
    """Return the files, or symbols in them, whose path ends with the one that a text names."""
    path, sign, name = _LINE.sub("", text.strip()).strip("/").partition("::")
    if sign:
        found = _called(reader, name) if name else []
    else:
        found = reader.labelled(path.rpartition("/")[2], ("file",), _LIMIT)
    return [row for row in found if path and (row.node.path or "").endswith(f"/{path}")]


def _path_key(path: str) -> str:
    return f"/{path or '.'}"


def _heading_key(path: str) -> str:
    return f"{path}#"


def _symbol_key(path: str, name: str) -> str:
    """Return the key of a symbol: names end alike where their last parts are the same."""
    return f"{path}::{name.rpartition('.')[2]}"


def _at(reader: GraphReader, path: str, wanted: Callable[[NodeRow], bool]) -> list[NodeRow]:
    rows, _ = reader.under(path, None, _LIMIT)
    return [
        row for row in rows if row.node.path == path and row.node.kind != "record" and wanted(row)
    ]


def _called(reader: GraphReader, name: str) -> list[NodeRow]:
    if not name:
        return []
    rows = reader.labelled(name.rpartition(".")[2], _NAMED, _LIMIT)
    found = [row for row in rows if _is_called(row, name)]
    return [row for row in found if row.node.kind != "variable"] or found


def _is_called(row: NodeRow, name: str) -> bool:
    """Say whether a symbol's qualified name is this, or ends with it."""
    found = uids.parse(row.node.uid)
    own = found.name if found and row.node.kind in (*_NAMED, "key") else None
    return own is not None and (own == name or own.endswith("." + name))


def _is_heading(row: NodeRow, name: str) -> bool:
    found = uids.parse(row.node.uid)
    if found is None or row.node.kind != "heading":
        return False
    return found.name == uids.slug(name) or row.node.label.casefold() == name.strip().casefold()
