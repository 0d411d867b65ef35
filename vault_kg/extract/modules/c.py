"""C's and C++'s headers: beside the file that includes them, or wherever exactly one has the name."""

from __future__ import annotations

import posixpath

from vault_kg.extract.modules.protocol import Location
from vault_kg.extract.protocol import SymbolIndex


class CModules:
    """The rules of `#include`."""

    suffixes = frozenset({".c", ".h", ".hh", ".hpp", ".hxx", ".cc", ".cpp", ".cxx"})
    joins_names = False
    shares_names = True
    package: str | None = None
    spreads_classes = True

    def find(self, index: SymbolIndex, module: str, source: str) -> Location | None:
        """Return the file that an include names."""
        beside = posixpath.normpath(posixpath.join(posixpath.dirname(source), module))
        if index.has_path(beside):
            return Location(beside)
        found = index.paths_ending(module.lstrip("./"))
        if len(found) == 1:
            return Location(found[0])
        return Location(None) if found else None

    def inner(self, index: SymbolIndex, location: Location, name: str) -> Location | None:  # noqa: ARG002
        """Return None: a header holds no modules."""
        return None
