"""Expressions and annotations as paths: `self.repo.find(x).name` is `self` `.repo.find().name`."""

from __future__ import annotations

import ast
import re
from typing import Final, NamedTuple

MAX_STEPS: Final = 12
"""Longer chains say nothing that can be followed."""

_DOTTED: Final = re.compile(r"[^\W\d]\w*(?:\.[^\W\d]\w*)*")
_WRAPPERS: Final = frozenset(
    "Optional Final ClassVar Annotated Required NotRequired ReadOnly Awaitable Coroutine".split()
)
_COLLECTIONS: Final = frozenset(
    """list List set Set frozenset FrozenSet tuple Tuple deque Deque Sequence MutableSequence Collection
    Container Iterable Iterator Generator AsyncIterable AsyncIterator AsyncGenerator KeysView
    AbstractSet""".split()
)
_MAPPINGS: Final = frozenset(
    "dict Dict Mapping MutableMapping defaultdict DefaultDict OrderedDict ValuesView".split()
)

_ANYTHING: Final = frozenset({"Any", "object"})


def path_of(node: ast.expr) -> tuple[str, str] | None:
    """Return an expression's first name and what follows it, None if it is no such chain.

    Calls are `()` and subscripts `[]`, whatever stands in them.
    """
    steps: list[str] = []
    while len(steps) <= MAX_STEPS:
        kind = node.__class__
        if kind is ast.Name:
            if not steps:
                return node.id, ""  # type: ignore[attr-defined]
            if len(steps) > 1:
                steps.reverse()
                return node.id, "".join(steps)  # type: ignore[attr-defined]
            return node.id, steps[0]  # type: ignore[attr-defined]
        if kind is ast.Attribute:
            steps.append("." + node.attr)  # type: ignore[attr-defined]
            node = node.value  # type: ignore[attr-defined]
        elif kind is ast.Call:
            steps.append("()")
            node = node.func  # type: ignore[attr-defined]
        elif kind is ast.Subscript:
            steps.append("[]")
            node = node.value  # type: ignore[attr-defined]
        elif kind is ast.Await or kind is ast.NamedExpr:
            node = node.value  # type: ignore[attr-defined]
        else:
            return None
    return None


class Type(NamedTuple):
    """What an annotation declares: the path of a value of it, or of what a collection holds."""

    root: str
    path: str
    many: bool


def declared(annotation: ast.expr | None, depth: int = 0) -> Type | None:
    """Return what an annotation declares, None where it is not one class.

    `X | None` and `Optional[X]` are X; `type[X]` is the class itself; a collection is taken by what
    it holds, a mapping by its values.
    """
    if annotation is None or depth > MAX_STEPS:
        return None
    if isinstance(annotation, ast.Constant):
        return _from_text(annotation.value, depth) if isinstance(annotation.value, str) else None
    if isinstance(annotation, ast.BinOp):
        return _one_of([annotation.left, annotation.right], depth)
    if isinstance(annotation, ast.Subscript):
        return _generic(annotation, depth)
    found = path_of(annotation)
    if found is None or found[0] in _ANYTHING:
        return None
    return Type(found[0], found[1] + "()", many=False)


def _from_text(text: str, depth: int) -> Type | None:
    if _DOTTED.fullmatch(text) and text not in _ANYTHING:
        root, dot, rest = text.partition(".")
        return Type(root, f"{dot}{rest}()", many=False)
    if len(text) > 500:
        return None
    try:
        return declared(ast.parse(text, mode="eval").body, depth + 1)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


def _one_of(options: list[ast.expr], depth: int) -> Type | None:
    real = [o for o in options if not (isinstance(o, ast.Constant) and o.value is None)]
    return declared(real[0], depth + 1) if len(real) == 1 else None


def _generic(annotation: ast.Subscript, depth: int) -> Type | None:
    found = path_of(annotation.value)
    if found is None:
        return None
    name = (found[0] + found[1]).rpartition(".")[2]
    inner = annotation.slice.elts if isinstance(annotation.slice, ast.Tuple) else [annotation.slice]
    if not inner:
        return None
    if name == "Union":
        return _one_of(inner, depth)
    if name in _WRAPPERS:
        return declared(inner[-1] if name == "Coroutine" else inner[0], depth + 1)
    if name in ("type", "Type"):
        named = declared(inner[0], depth + 1)
        return named and named._replace(path=named.path.removesuffix("()"))
    if name in _COLLECTIONS or name in _MAPPINGS:
        held = declared(inner[-1 if name in _MAPPINGS else 0], depth + 1)
        if held is None or held.many or (name in ("tuple", "Tuple") and not _uniform(inner)):
            return None
        return held._replace(many=True)
    return Type(found[0], found[1] + "()", many=False)


def _uniform(inner: list[ast.expr]) -> bool:
    return len(inner) == 1 or (isinstance(inner[1], ast.Constant) and inner[1].value is ...)
