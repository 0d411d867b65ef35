"""The symbols of a root that is itself a package, whose files call one another by its name."""

from __future__ import annotations

from collections.abc import Sequence

from vault_kg.extract.model import Node
from vault_kg.extract.protocol import SymbolIndex


class PackageSymbols:
    """A `SymbolIndex` in which `<package>/a.py` is the file `a.py` of the root."""

    def __init__(self, symbols: SymbolIndex, package: str) -> None:
        self._prefix = package + "/"
        self._symbols = symbols

    def node(self, uid: str) -> Node | None:
        """Return the node of a uid."""
        return self._symbols.node(uid)

    def first(self, uids: Sequence[str]) -> Node | None:
        """Return the node of the first of these uids that has one."""
        return self._symbols.first(uids)

    def labelled(self, label: str) -> Sequence[Node]:
        """Return the nodes of a label, those of one file in the order of the file."""
        return self._symbols.labelled(label)

    def has_path(self, path: str) -> bool:
        """Say whether a file is part of the graph."""
        return self._symbols.has_path(path)

    def exported(self, path: str, name: str) -> str | None:
        """Return what a name of a file stands for, or None."""
        return self._symbols.exported(path, name)

    def paths_ending(self, suffix: str) -> Sequence[str]:
        """Return the files whose path is, or ends in a slash and, these parts."""
        found = self._symbols.paths_ending(suffix)
        inside = suffix.removeprefix(self._prefix)
        if found or inside == suffix or not self._symbols.has_path(inside):
            return found
        return [inside]


def seen_from_outside(symbols: SymbolIndex, package: str | None) -> SymbolIndex:
    """Return the symbols as the files of a package name them; as they are, where it is none."""
    return symbols if package is None else PackageSymbols(symbols, package)
