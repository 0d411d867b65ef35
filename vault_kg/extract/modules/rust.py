"""Rust's modules: files below the root of a crate."""

from __future__ import annotations

import posixpath

from vault_kg.extract.modules.protocol import Location
from vault_kg.extract.protocol import SymbolIndex

_ROOTS = ("lib.rs", "main.rs")
_NOWHERE = Location(None)


class RustModules:
    """The module rules of Rust: paths from `crate`, `self`, `super`, or a crate of the workspace."""

    suffixes = frozenset({".rs"})
    joins_names = False
    shares_names = False
    package: str | None = None
    spreads_classes = True

    def find(self, index: SymbolIndex, module: str, source: str) -> Location | None:
        """Return the file of a module."""
        first, *rest = module.split("::")
        match first:
            case "crate":
                at = _crate_root(index, source)
            case "self":
                at = source
            case "super":
                at = _parent(index, source)
            case _:
                at = _other_crate(index, first)
                if at is None:
                    beside = self.inner(index, Location(source), first)
                    if beside is None:
                        return None
                    at = beside.path
        for name in rest:
            if at is None:
                return _NOWHERE
            if name == "super":
                at = _parent(index, at)
                continue
            inner = self.inner(index, Location(at), name)
            if inner is None:
                return _NOWHERE
            at = inner.path
        return Location(at) if at else _NOWHERE

    def inner(self, index: SymbolIndex, location: Location, name: str) -> Location | None:
        """Return the file of a module within a module."""
        if location.path is None:
            return None
        folder, file = posixpath.split(location.path)
        if file not in (*_ROOTS, "mod.rs"):
            folder = location.path.removesuffix(".rs")
        prefix = f"{folder}/{name}" if folder else name
        for path in (f"{prefix}.rs", f"{prefix}/mod.rs"):
            if index.has_path(path):
                return Location(path)
        return None


def _crate_root(index: SymbolIndex, source: str) -> str | None:
    folder = posixpath.dirname(source)
    while True:
        for name in _ROOTS:
            path = f"{folder}/{name}" if folder else name
            if index.has_path(path):
                return path
        if not folder:
            return None
        folder = posixpath.dirname(folder)


def _parent(index: SymbolIndex, source: str) -> str | None:
    folder, file = posixpath.split(source)
    if file == "mod.rs":
        folder = posixpath.dirname(folder)
    for path in (*(posixpath.join(folder, name) for name in ("mod.rs", *_ROOTS)), f"{folder}.rs"):
        if path != source and index.has_path(path):
            return path
    return None


def _other_crate(index: SymbolIndex, name: str) -> str | None:
    for folder in dict.fromkeys((name, name.replace("_", "-"))):
        found = index.paths_ending(f"{folder}/src/lib.rs")
        if len(found) == 1:
            return found[0]
    return None
