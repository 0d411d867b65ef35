"""What assignments, loops and declarations of a Python file bind names to."""

from __future__ import annotations

import ast
from collections.abc import Iterable
from typing import Final

from vault_kg.extract.confidence import ANNOTATED, CONSTRUCTED
from vault_kg.extract.extractors.python.paths import Type, path_of
from vault_kg.extract.extractors.scoping.scopes import MANY_CHOICES, Binding, Scope

_ALTERNATIVES: Final = frozenset({ast.IfExp, ast.BoolOp})
_COLLECTIONS: Final = frozenset({ast.Dict, ast.List, ast.Tuple, ast.Set})

_TYPE_MAKERS: Final = frozenset({"TypeVar", "NewType", "namedtuple", "NamedTuple", "TypedDict"})


def values_of(value: ast.expr, line: int, sure: bool) -> Iterable[Binding]:
    """Return what an assigned expression may be: itself, its alternatives, or what it collects."""
    kind = value.__class__
    if kind in _ALTERNATIVES:
        for option in _options(value):
            yield from values_of(option, line, False)
    elif kind in _COLLECTIONS:
        held = value.values if isinstance(value, ast.Dict) else value.elts  # type: ignore[attr-defined]
        found = [path for element in held[:MANY_CHOICES] if (path := path_of(element))]
        for path in found:
            yield Binding("choice", "", *path, line, sure)
        if not found:
            yield opaque(line, sure=sure)
    elif kind is ast.Constant:
        nothing = value.value is None  # type: ignore[attr-defined]
        yield Binding("nothing", "", "", "", line, sure) if nothing else opaque(line, sure=sure)
    elif kind is ast.Call and (made := _made_type(value)):  # type: ignore[arg-type]
        yield made._replace(line=line, sure=sure)
    elif named := path_of(value):
        yield Binding("value", "", *named, line, sure, CONSTRUCTED if kind is ast.Call else None)
    else:
        yield opaque(line, sure=sure)


def _made_type(call: ast.Call) -> Binding | None:
    """Return what a name for a type stands for: a variable's bound, a new type's base, or unknown."""
    found = path_of(call.func)
    word = (found[0] + found[1]).rpartition(".")[2] if found else ""
    if word not in _TYPE_MAKERS:
        return None
    stands_for = [keyword.value for keyword in call.keywords if keyword.arg == "bound"]
    if word == "NewType":
        stands_for = call.args[1:2]
    named = path_of(stands_for[0]) if stands_for else None
    return Binding("value", "", *named, 0, True) if named else opaque(0)


def _options(value: ast.expr) -> list[ast.expr]:
    if isinstance(value, ast.IfExp):
        return [value.body, value.orelse]
    return value.values if isinstance(value, ast.BoolOp) else []


def of_type(found: Type | None, line: int, sure: bool) -> Binding:
    """Return a binding to a value of a declared type."""
    if found is None:
        return opaque(line, sure=sure)
    return Binding("value", "", found.root, found.path, line, sure, ANNOTATED, found.many)


def opaque(line: int, *, sure: bool = True) -> Binding:
    """Return a binding to something of which nothing is known."""
    return Binding("opaque", "", "", "", line, sure)


def bind_target(
    scope: Scope, target: ast.expr, value: tuple[str, str] | None, line: int, *, sure: bool
) -> None:
    """Bind what an assignment's target names; the parts of a tuple get an unknown value."""
    stack = [target]
    while stack:
        part = stack.pop()
        if isinstance(part, ast.Name):
            if value is not None and part is target:
                scope.bind(part.id, Binding("value", "", *value, line, sure))
            else:
                scope.bind(part.id, opaque(line, sure=sure))
        elif isinstance(part, ast.Tuple | ast.List):
            stack.extend(part.elts)
        elif isinstance(part, ast.Starred):
            stack.append(part.value)


def bind_items(scope: Scope, target: ast.expr, iterated: ast.expr, line: int) -> None:
    """Bind the target of a loop to what the iterated expression holds."""
    if isinstance(target, ast.Tuple) and len(target.elts) == 2 and (source := _paired(iterated)):
        bind_target(scope, target.elts[0], None, line, sure=False)
        bind_target(scope, target.elts[1], (source[0], source[1] + "[]"), line, sure=False)
    elif isinstance(target, ast.Name) and isinstance(iterated, ast.List | ast.Tuple):
        for element in iterated.elts:
            bind_target(scope, target, path_of(element), line, sure=False)
    else:
        found = path_of(iterated)
        held = found and (found[0], found[1].removesuffix(".values()") + "[]")
        bind_target(scope, target, held, line, sure=False)


def _paired(iterated: ast.expr) -> tuple[str, str] | None:
    """Return what `enumerate(x)` and `x.items()` give beside a number or a key."""
    if not isinstance(iterated, ast.Call):
        return None
    func = iterated.func
    if isinstance(func, ast.Name) and func.id == "enumerate" and iterated.args:
        return path_of(iterated.args[0])
    if isinstance(func, ast.Attribute) and func.attr == "items" and not iterated.args:
        return path_of(func.value)
    return None
