"""What documents and configuration name: files by their path, and Python's modules by their name."""

from __future__ import annotations

import posixpath
from typing import Final

from vault_kg.extract.modules.protocol import Location
from vault_kg.extract.modules.python import PythonModules
from vault_kg.extract.protocol import SymbolIndex

_NOWHERE: Final = Location(None)


class PathModules:
    """The rules of Markdown, TOML, YAML and JSON files.

    A path is meant from the folder of the file that names it, then from the root of the tree, then
    from wherever exactly one file has it. A name without a slash may leave out `.md`.
    """

    suffixes = frozenset({".md", ".markdown", ".toml", ".yaml", ".yml", ".json", ".jsonc"})
    joins_names = True
    shares_names = False
    package: str | None = None
    spreads_classes = False

    def __init__(self) -> None:
        self._python = PythonModules()

    def find(self, index: SymbolIndex, module: str, source: str) -> Location | None:
        """Return where a file or Python module is."""
        for tried in self._spellings(module, source):
            if index.has_path(tried):
                return Location(tried)
        wanted = module.strip("/").removeprefix("./")
        if wanted and not wanted.startswith(".."):
            for suffix in (wanted, f"{wanted}.md"):
                found = index.paths_ending(suffix)
                if found:
                    return Location(found[0]) if len(found) == 1 else _NOWHERE
        if "/" in module or not module:
            return None
        return self._python.find(index, module, source)

    def inner(self, index: SymbolIndex, location: Location, name: str) -> Location | None:
        """Return where a submodule of a Python package is."""
        return self._python.inner(index, location, name)

    def _spellings(self, module: str, source: str) -> list[str]:
        folder = posixpath.dirname(source)
        beside = posixpath.normpath(posixpath.join(folder, module)) if module else source
        tried = [module.strip("/")] if module.startswith("/") else [beside, module]
        return [spelling for path in tried for spelling in (path, f"{path}.md")]
