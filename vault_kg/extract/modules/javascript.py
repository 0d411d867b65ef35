"""JavaScript's and TypeScript's modules: relative paths, folders with an index, path aliases."""

from __future__ import annotations

import posixpath
from typing import Final

from vault_kg.extract.modules.protocol import Location
from vault_kg.extract.protocol import SymbolIndex

_SUFFIXES: Final = (
    ".ts",
    ".tsx",
    ".d.ts",
    ".mts",
    ".cts",
    ".js",
    ".jsx",
    ".mjs",
    ".cjs",
    ".json",
    ".vue",
)
_COMPILED: Final = {".js": (".ts", ".tsx"), ".jsx": (".tsx",), ".mjs": (".mts",), ".cjs": (".cts",)}
_ALIASES: Final = ("@/", "~/", "src/")
_NOWHERE: Final = Location(None)


class JavaScriptModules:
    """The module rules of bundlers and of Node."""

    suffixes = frozenset({".js", ".jsx", ".mjs", ".cjs", ".ts", ".tsx", ".mts", ".cts"})
    joins_names = False
    shares_names = False
    package: str | None = None
    spreads_classes = False

    def find(self, index: SymbolIndex, module: str, source: str) -> Location | None:
        """Return where a module is; one that is neither a path nor an alias is a package outside."""
        if module.startswith("."):
            stem = posixpath.normpath(posixpath.join(posixpath.dirname(source), module))
            if stem.startswith(".."):
                return _NOWHERE
            return next(
                (
                    Location(path)
                    for path in _files("" if stem == "." else stem)
                    if index.has_path(path)
                ),
                _NOWHERE,
            )
        for alias in _ALIASES:
            if module.startswith(alias):
                return self._by_suffix(index, f"src/{module.removeprefix(alias)}") or _NOWHERE
        if "/" in module and not module.startswith("@"):
            return self._by_suffix(index, module)
        return None

    def inner(self, index: SymbolIndex, location: Location, name: str) -> Location | None:  # noqa: ARG002
        """Return None: a module holds no modules."""
        return None

    def _by_suffix(self, index: SymbolIndex, stem: str) -> Location | None:
        for suffix in _files(stem):
            found = index.paths_ending(suffix)
            if found:
                return Location(found[0]) if len(found) == 1 else _NOWHERE
        return None


def _files(stem: str) -> list[str]:
    """Return the files that a path without a suffix may mean, the likeliest first."""
    bare, suffix = posixpath.splitext(stem)
    exact = [stem, *(bare + other for other in _COMPILED.get(suffix, ()))]
    index = f"{stem}/index" if stem else "index"
    return [
        *(exact if suffix else []),
        *(stem + s for s in _SUFFIXES),
        *(index + s for s in _SUFFIXES),
    ]
