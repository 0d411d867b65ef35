"""Expressions: which names they use and bind, without following their depth by recursion."""

from __future__ import annotations

import ast
import re
from typing import TYPE_CHECKING, Final

from vault_kg.extract.extractors.python.paths import path_of
from vault_kg.extract.extractors.python.values import bind_items, bind_target, opaque
from vault_kg.extract.extractors.scoping.file import FileScopes
from vault_kg.extract.extractors.scoping.scopes import Scope

if TYPE_CHECKING:
    from vault_kg.extract.model import EdgeKind

_SYMBOL_PATH: Final = re.compile(r"[^\W\d]\w*(?:\.[^\W\d]\w*)+(?::[^\W\d]\w*(?:\.[^\W\d]\w*)*)?")
_COMPREHENSIONS: Final = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
_CHILDREN: Final[dict[type[ast.AST], tuple[str, ...]]] = {
    ast.BoolOp: ("values",),
    ast.BinOp: ("left", "right"),
    ast.UnaryOp: ("operand",),
    ast.IfExp: ("test", "body", "orelse"),
    ast.Set: ("elts",),
    ast.Await: ("value",),
    ast.Yield: ("value",),
    ast.YieldFrom: ("value",),
    ast.Compare: ("left", "comparators"),
    ast.FormattedValue: ("value",),
    ast.JoinedStr: ("values",),
    ast.Subscript: ("value", "slice"),
    ast.Starred: ("value",),
    ast.List: ("elts",),
    ast.Tuple: ("elts",),
    ast.Slice: ("lower", "upper", "step"),
}


class Expressions:
    """Collects the uses of expressions into their scopes; lambdas and comprehensions wait."""

    def __init__(self, found: FileScopes) -> None:
        self._strings = found.strings
        self._scopes = found.scopes
        self._waiting: list[tuple[Scope, list[ast.expr]]] = []

    def collect(self, scope: Scope, *nodes: ast.expr | None) -> None:
        """Note the uses in expressions, and in all that stands inside them."""
        stack = list(nodes) if None not in nodes else [node for node in nodes if node is not None]
        self._collect(scope, stack)  # type: ignore[arg-type]
        while self._waiting:
            inner, expressions = self._waiting.pop()
            self._collect(inner, expressions)

    def collect_type(self, scope: Scope, node: ast.expr | None, kind: EdgeKind) -> None:
        """Note the classes that an annotation names, also within strings."""
        stack: list[ast.AST] = [node] if node is not None else []
        while stack:
            part = stack.pop()
            if isinstance(part, ast.Name | ast.Attribute):
                found = path_of(part)
                if found:
                    scope.uses.append((*found, kind, part.lineno))
            elif isinstance(part, ast.Constant):
                if isinstance(part.value, str) and len(part.value) <= 500:
                    stack.extend(_parsed(part.value, part.lineno))
            elif not _is_literal(part):
                stack.extend(ast.iter_child_nodes(part))

    def _collect(self, scope: Scope, stack: list[ast.expr]) -> None:
        uses = scope.uses
        while stack:
            node = stack.pop()
            kind = node.__class__
            if kind is ast.Name:
                if not scope.hides(node.id):  # type: ignore[attr-defined]
                    uses.append((node.id, "", "references", node.lineno))  # type: ignore[attr-defined]
            elif kind is ast.Constant:
                self._string(scope, node)  # type: ignore[arg-type]
            elif kind is ast.Attribute:
                self._attribute(scope, node, "references", stack)  # type: ignore[arg-type]
            elif kind is ast.Call:
                self._call(scope, node, stack)  # type: ignore[arg-type]
            elif kind in _CHILDREN:
                for name in _CHILDREN[kind]:
                    child = getattr(node, name)
                    if child.__class__ is list:
                        stack.extend(child)
                    elif child is not None:
                        stack.append(child)
            else:
                self._rare(scope, node, stack)

    def _string(self, scope: Scope, node: ast.Constant) -> None:
        text = node.value
        if not isinstance(text, str) or "." not in text or len(text) > 120:
            return
        if _SYMBOL_PATH.fullmatch(text):
            self._strings.append((scope, text, node.lineno))

    def _attribute(
        self, scope: Scope, node: ast.Attribute, kind: EdgeKind, stack: list[ast.expr]
    ) -> None:
        found = path_of(node)
        if found is None:
            stack.append(node.value)
            return
        scope.uses.append((*found, kind, node.lineno))
        _inner(node, stack)

    def _call(self, scope: Scope, node: ast.Call, stack: list[ast.expr]) -> None:
        func = node.func
        kind = func.__class__
        if kind is ast.Name:
            scope.uses.append((func.id, "", "calls", node.lineno))  # type: ignore[attr-defined]
        elif kind is ast.Attribute:
            found = path_of(func)
            if found is not None:
                scope.uses.append((*found, "calls", func.end_lineno or node.lineno))
                _inner(func, stack)
            else:
                scope.uses.append(("", "." + func.attr, "calls", func.end_lineno or 0))  # type: ignore[attr-defined]
                stack.append(func.value)  # type: ignore[attr-defined]
        else:
            found = path_of(func)
            if found is not None:
                scope.uses.append((*found, "calls", node.lineno))
            stack.append(func)
        for argument in node.args:
            self._handed(scope, argument, stack)
        for keyword in node.keywords:
            self._handed(scope, keyword.value, stack)

    def _handed(self, scope: Scope, node: ast.expr, stack: list[ast.expr]) -> None:
        """Take in an expression whose value is handed on: what is called, is called elsewhere."""
        kind = node.__class__
        if kind is ast.Name:
            if not scope.hides(node.id):  # type: ignore[attr-defined]
                scope.uses.append((node.id, "", "dispatches", node.lineno))  # type: ignore[attr-defined]
        elif kind is ast.Attribute:
            self._attribute(scope, node, "dispatches", stack)  # type: ignore[arg-type]
        else:
            stack.append(node)

    def _rare(self, scope: Scope, node: ast.expr, stack: list[ast.expr]) -> None:
        if isinstance(node, ast.Dict):
            stack.extend(key for key in node.keys if key is not None)
            for value in node.values:
                self._handed(scope, value, stack)
        elif isinstance(node, ast.Lambda):
            self._lambda(scope, node, stack)
        elif isinstance(node, _COMPREHENSIONS):
            self._comprehension(scope, node)
        elif isinstance(node, ast.NamedExpr):
            holder = scope
            while holder.is_inner and holder.parent is not None:
                holder = holder.parent
            bind_target(holder, node.target, path_of(node.value), node.lineno, sure=False)
            stack.append(node.value)
        else:
            stack.extend(n for n in ast.iter_child_nodes(node) if isinstance(n, ast.expr))

    def _inner_scope(self, scope: Scope) -> Scope:
        inner = Scope(scope, scope.uid, scope.qualified)
        inner.is_inner = True
        self._scopes.append(inner)
        return inner

    def _lambda(self, scope: Scope, node: ast.Lambda, stack: list[ast.expr]) -> None:
        inner = self._inner_scope(scope)
        every = node.args
        for argument in (*every.posonlyargs, *every.args, *every.kwonlyargs):
            inner.bind(argument.arg, opaque(node.lineno))
        for extra in (every.vararg, every.kwarg):
            if extra:
                inner.bind(extra.arg, opaque(node.lineno))
        stack.extend(default for default in (*every.defaults, *every.kw_defaults) if default)
        self._waiting.append((inner, [node.body]))

    def _comprehension(
        self, scope: Scope, node: ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp
    ) -> None:
        inner = self._inner_scope(scope)
        parts: list[ast.expr] = []
        for clause in node.generators:
            bind_items(inner, clause.target, clause.iter, node.lineno)
            parts += [clause.iter, *clause.ifs]
        parts += [node.key, node.value] if isinstance(node, ast.DictComp) else [node.elt]
        self._waiting.append((inner, parts))


def _inner(node: ast.expr, stack: list[ast.expr]) -> None:
    """Push what stands within a chain: the calls and subscripts in it, not its names."""
    while isinstance(node, ast.Attribute):
        node = node.value
    if node.__class__ is not ast.Name:
        stack.append(node)


def _parsed(text: str, line: int) -> list[ast.AST]:
    try:
        tree = ast.parse(text.strip(), mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return []
    for part in ast.walk(tree):
        if isinstance(part, ast.expr):
            part.lineno = line
    return [tree]


def _is_literal(part: ast.AST) -> bool:
    """Whether it is `Literal[…]`, whose strings are no names."""
    if not isinstance(part, ast.Subscript):
        return False
    found = path_of(part.value)
    return found is not None and (found[0] + found[1]).rpartition(".")[2] == "Literal"
