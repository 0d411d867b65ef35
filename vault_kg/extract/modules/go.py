"""Go's packages: the files of one folder."""

from __future__ import annotations

import posixpath

from vault_kg.extract.modules.protocol import Location
from vault_kg.extract.protocol import SymbolIndex


class GoModules:
    """The module rules of Go: `.` is the package of the file itself."""

    suffixes = frozenset({".go"})
    joins_names = False
    shares_names = False
    package: str | None = "."
    spreads_classes = True

    def find(self, index: SymbolIndex, module: str, source: str) -> Location | None:
        """Return the folder of a package: the one whose path most of the import path ends in."""
        if module == ".":
            return Location(None, posixpath.dirname(source))
        if "." not in module.partition("/")[0] and "/" not in module:
            return None  # the standard library
        fitting: dict[str, int] = {}
        for node in index.labelled(posixpath.basename(module)):
            if node.kind == "folder" and node.path:
                common = _common_end(module.split("/"), node.path.split("/"))
                fitting[node.path] = common
        best = max(fitting.values(), default=0)
        found = [path for path, common in fitting.items() if common == best]
        needed = min(2, best, *(path.count("/") + 1 for path in found)) if found else 0
        return Location(None, found[0]) if len(found) == 1 and best >= needed > 0 else None

    def inner(self, index: SymbolIndex, location: Location, name: str) -> Location | None:
        """Return the file of a package that defines a name."""
        if location.folder is None:
            return None
        files = {
            node.path
            for node in index.labelled(name)
            if node.path and node.path.endswith(".go") and node.kind != "method"
            and posixpath.dirname(node.path) == location.folder
        }  # fmt: skip
        return Location(files.pop()) if len(files) == 1 else None


def _common_end(one: list[str], other: list[str]) -> int:
    count = 0
    for left, right in zip(reversed(one), reversed(other), strict=False):
        if left != right:
            break
        count += 1
    return count
