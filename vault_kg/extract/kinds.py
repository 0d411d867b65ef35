"""How the kind of an edge depends on its target, and which names of methods say nothing."""

from __future__ import annotations

from typing import Final

from vault_kg.extract.model import EdgeKind, NodeKind

_BUILT_IN: Final = (str, bytes, list, dict, set, frozenset, tuple, int, float, Exception, object)
COMMON_METHODS: Final = frozenset(name for kind in _BUILT_IN for name in dir(kind)) | frozenset(
    """close read write open flush seek readline readlines name start run push shift slice map filter
    forEach toString length size then catch len iter next clone unwrap into equals hashCode""".split()
)
"""Methods of built-in types, and of files: their name says nothing about the receiver."""


def kind_for(kind: EdgeKind, target: NodeKind) -> EdgeKind:
    """Return the kind of an edge whose target is of a kind.

    A class that is called is constructed; only functions are dispatched to; a variable is read; an
    interface that is among a class's bases is implemented.
    """
    if target == "class":
        return {"calls": "constructs", "dispatches": "references"}.get(kind, kind)  # type: ignore[return-value]
    if target == "variable":
        return "reads" if kind in ("references", "dispatches") else kind
    if target == "interface":
        return {"inherits": "implements", "dispatches": "references"}.get(kind, kind)  # type: ignore[return-value]
    if target in ("file", "module"):
        return "references" if kind == "dispatches" else kind
    return kind
