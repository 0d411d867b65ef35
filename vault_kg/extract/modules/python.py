"""Python's modules: relative ones by folder, absolute ones from any folder that can be a root."""

from __future__ import annotations

import posixpath
import sys
from typing import Final

from vault_kg.extract.modules.protocol import Location
from vault_kg.extract.protocol import SymbolIndex

_FILES: Final = (".py", "/__init__.py", ".pyi", "/__init__.pyi")
_NOWHERE: Final = Location(None)


class PythonModules:
    """The module rules of Python."""

    suffixes = frozenset({".py", ".pyi", ".pyw"})
    joins_names = True
    shares_names = False
    package: str | None = None
    spreads_classes = False

    def find(self, index: SymbolIndex, module: str, source: str) -> Location | None:
        """Return where a module is; one of the standard library is never shadowed by the tree."""
        if module.startswith("."):
            return self._relative(index, module, source)
        top, _, rest = module.partition(".")
        found = self._absolute(index, module, source)
        if found is None and rest and self._absolute(index, top, source) is not None:
            return _NOWHERE
        return found

    def inner(self, index: SymbolIndex, location: Location, name: str) -> Location | None:
        """Return where a submodule of a package is."""
        folder = location.folder
        if (
            folder is None
            and location.path
            and location.path.rpartition("/")[2].startswith("__init__.")
        ):
            folder = posixpath.dirname(location.path)
        if folder is None:
            return None
        return _at(index, f"{folder}/{name}" if folder else name)

    def _relative(self, index: SymbolIndex, module: str, source: str) -> Location | None:
        name = module.lstrip(".")
        folder = posixpath.dirname(source)
        for _ in range(len(module) - len(name) - 1):
            if not folder:
                return _NOWHERE
            folder = posixpath.dirname(folder)
        stem = posixpath.join(folder, name.replace(".", "/")) if name else folder
        return _at(index, stem, is_folder=True) or _NOWHERE

    def _absolute(self, index: SymbolIndex, module: str, source: str) -> Location | None:
        stem = module.replace(".", "/")
        roots: dict[str, str] = {}
        for tail in _FILES:
            for path in index.paths_ending(stem + tail):
                root = path[: -len(stem + tail)].rstrip("/")
                if root not in roots and self._is_root(index, root, module):
                    roots[root] = path
        if len(roots) > 1:
            roots = _nearest(roots, source) or roots
        if len(roots) == 1:
            return Location(next(iter(roots.values())))
        return _NOWHERE if roots else None

    def _is_root(self, index: SymbolIndex, root: str, module: str) -> bool:
        """Whether absolute imports can begin in a folder: it is no package itself."""
        prefix = f"{root}/" if root else ""
        if module.partition(".")[0] in sys.stdlib_module_names:
            return index.has_path(f"{prefix}os.py")  # the tree is the standard library's own
        return not root or not index.has_path(f"{prefix}__init__.py")


def _nearest(roots: dict[str, str], source: str) -> dict[str, str]:
    """Keep the innermost of the roots that the importing file is in."""
    around = [root for root in roots if not root or source.startswith(root + "/")]
    if not around:
        return {}
    nearest = max(around, key=len)
    return {nearest: roots[nearest]}


def _at(index: SymbolIndex, stem: str, *, is_folder: bool = False) -> Location | None:
    for tail in _FILES:
        path = stem + tail if stem else tail.lstrip("/")
        if index.has_path(path):
            return Location(path)
    return Location(None, stem) if is_folder else None
