"""What resolution asks of a language about its modules."""

from __future__ import annotations

from typing import NamedTuple, Protocol

from vault_kg.extract.protocol import SymbolIndex


class Location(NamedTuple):
    """Where a module is: its file, or its folder where a module is all files of one.

    Neither means that the tree should have it but no file, or more than one, fits.
    """

    path: str | None
    folder: str | None = None


class Modules(Protocol):
    """The module rules of a language."""

    suffixes: frozenset[str]
    """Suffixes of the files that it speaks for; names are only looked for in these."""
    joins_names: bool
    """Whether a name in a module that is no file may be a module itself (namespace packages)."""
    shares_names: bool
    """Whether a name with no module may be a function of any file (C's linkage)."""
    package: str | None
    """The module by which a file's own package goes, where its files share their names."""
    spreads_classes: bool
    """Whether methods of a class may stand in other files than the class."""

    def find(self, index: SymbolIndex, module: str, source: str) -> Location | None:
        """Return where a module is that a file names, None if it is no part of the tree.

        Args:
            index: the symbols and paths of the tree.
            module: as the language spells it.
            source: path of the file that names it.
        """
        ...

    def inner(self, index: SymbolIndex, location: Location, name: str) -> Location | None:
        """Return where the module `name` within a module is, None if there is none."""
        ...
