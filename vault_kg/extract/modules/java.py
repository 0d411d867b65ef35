"""Java's packages: folders, and in them one file for each public class."""

from __future__ import annotations

import posixpath

from vault_kg.extract.modules.protocol import Location
from vault_kg.extract.protocol import SymbolIndex


class JavaModules:
    """The module rules of Java: `.` is the package of the file itself."""

    suffixes = frozenset({".java"})
    joins_names = False
    shares_names = False
    package: str | None = "."
    spreads_classes = False

    def find(self, index: SymbolIndex, module: str, source: str) -> Location | None:
        """Return a package; whether it is part of the tree shows by its classes."""
        if module == ".":
            return Location(None, posixpath.dirname(source))
        folder = module.replace(".", "/")
        known = [
            node.path
            for node in index.labelled(folder.rpartition("/")[2])
            if node.kind == "folder" and node.path and f"/{node.path}".endswith(f"/{folder}")
        ]
        if not known:
            return None
        return Location(None, known[0] if len(known) == 1 else f"*/{folder}")

    def inner(self, index: SymbolIndex, location: Location, name: str) -> Location | None:
        """Return the file of a class in a package, by its name or else by what it defines."""
        if location.folder is None:
            return None
        wanted = f"{location.folder}/{name}.java".lstrip("/")
        if wanted.startswith("*/"):
            found = index.paths_ending(wanted.removeprefix("*/"))
            return Location(found[0]) if len(found) == 1 else None
        if index.has_path(wanted):
            return Location(wanted)
        files = {
            node.path
            for node in index.labelled(name)
            if node.path and node.path.endswith(".java") and node.kind in ("class", "interface")
            and posixpath.dirname(node.path) == location.folder
        }  # fmt: skip
        return Location(files.pop()) if len(files) == 1 else None
