"""Which language's module rules hold for a file."""

from __future__ import annotations

from functools import cache

from vault_kg.extract.modules.c import CModules
from vault_kg.extract.modules.go import GoModules
from vault_kg.extract.modules.java import JavaModules
from vault_kg.extract.modules.javascript import JavaScriptModules
from vault_kg.extract.modules.paths import PathModules
from vault_kg.extract.modules.protocol import Modules
from vault_kg.extract.modules.python import PythonModules
from vault_kg.extract.modules.rust import RustModules


@cache
def _by_suffix() -> dict[str, Modules]:
    every: tuple[Modules, ...] = (
        PythonModules(),
        PathModules(),
        JavaScriptModules(),
        GoModules(),
        JavaModules(),
        RustModules(),
        CModules(),
    )
    return {suffix: modules for modules in every for suffix in modules.suffixes}


def modules_for(suffix: str) -> Modules | None:
    """Return the module rules for files of a suffix, None where there are none."""
    return _by_suffix().get(suffix)
