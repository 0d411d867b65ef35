"""Names that no scope of a Python file binds: built-ins, `super`, and what a star import brings."""

from __future__ import annotations

import builtins
from typing import Final

from vault_kg.extract.confidence import STAR_IMPORT
from vault_kg.extract.extractors.scoping.evaluate import (
    NO_PLACE,
    UNBOUND,
    Found,
    Place,
    Unbound,
    method_owner,
)
from vault_kg.extract.extractors.scoping.scopes import Scope

BUILTINS: Final = frozenset(dir(builtins)) | {"reveal_type", "WindowsError", "__file__", "__name__"}


def python_names(has_star_import: bool) -> Unbound:
    """Return what a Python file says of names that it does not bind."""

    def unbound(scope: Scope, root: str, path: str) -> Found:
        if root == "super" and path.startswith("()."):
            owner = method_owner(scope)
            if owner is not None:
                return Found([Place("", f"{owner}^{path}", ())], bound=True)
        if root in BUILTINS:
            return NO_PLACE
        if has_star_import:
            return Found([Place("", root + path, (STAR_IMPORT,))], bound=True)
        return UNBOUND

    return unbound
