"""Statements: what a Python file imports, assigns and runs, scope by scope."""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence
from typing import Any, Final

from vault_kg.extract.confidence import ANNOTATED
from vault_kg.extract.extractors.python.assign import Assignments
from vault_kg.extract.extractors.python.declare import FUNCTIONS
from vault_kg.extract.extractors.python.definitions import PythonSymbols
from vault_kg.extract.extractors.python.paths import path_of
from vault_kg.extract.extractors.python.values import bind_items, bind_target, opaque
from vault_kg.extract.extractors.scoping.file import FileScopes
from vault_kg.extract.extractors.scoping.scopes import Binding, Scope

_IMPORTS: Final = (ast.Import, ast.ImportFrom)
_YIELDS: Final = (ast.Yield, ast.YieldFrom)
_EMPTY: Final = (ast.Pass, ast.Break, ast.Continue, ast.Nonlocal)


class Walker(Assignments):
    """One pass over the statements of a file."""

    def __init__(self, tree: ast.Module, found: FileScopes, symbols: PythonSymbols) -> None:
        super().__init__(found, symbols)
        self.has_main = False
        self._enter(found.module, tree.body)
        while self._bodies:
            self._statements(*self._bodies.popleft())

    def _statements(self, scope: Scope, body: Sequence[ast.stmt]) -> None:
        stack = [(statement, True) for statement in reversed(body)]
        while stack:
            statement, sure = stack.pop()
            kind = statement.__class__
            if kind is ast.Expr:
                self._expression(scope, statement.value)  # type: ignore[attr-defined]
            elif kind is ast.Assign:
                self._assign(scope, statement, sure)  # type: ignore[arg-type]
            elif kind is ast.Return:
                self._return(scope, statement)  # type: ignore[arg-type]
            elif kind in _HANDLERS:
                inner = _HANDLERS[kind](self, scope, statement, sure)
                stack.extend([(part, False) for part in reversed(inner)])
            else:
                self._simple(scope, statement, sure)

    def _simple(self, scope: Scope, statement: ast.stmt, sure: bool) -> None:
        """Take in a statement that holds no others of the same scope."""
        if isinstance(statement, FUNCTIONS):
            self._function(scope, statement, sure)
        elif isinstance(statement, ast.ClassDef):
            self._class(scope, statement, sure)
        elif isinstance(statement, _IMPORTS):
            self._import(scope, statement, sure)
        elif isinstance(statement, ast.AnnAssign):
            self._annotated(scope, statement, sure)
        elif isinstance(statement, ast.AugAssign):
            self.expressions.collect(scope, statement.value, statement.target)
        elif isinstance(statement, ast.Global):
            scope.globals.update(statement.names)
        elif not isinstance(statement, _EMPTY):
            self.expressions.collect(
                scope, *(n for n in ast.iter_child_nodes(statement) if isinstance(n, ast.expr))
            )

    def _expression(self, scope: Scope, value: ast.expr) -> None:
        if value.__class__ is ast.Constant:
            return  # a docstring names nothing
        if isinstance(value, _YIELDS):
            scope.yields = True
        self.expressions.collect(scope, value)

    def _return(self, scope: Scope, statement: ast.Return) -> None:
        scope.returns.append(path_of(statement.value) if statement.value else None)
        self.expressions.collect(scope, statement.value)

    def _if(self, scope: Scope, node: ast.If, sure: bool) -> list[ast.stmt]:  # noqa: ARG002
        self.expressions.collect(scope, node.test)
        if scope is self.found.module and _is_main_guard(node.test):
            self.has_main = True
        return node.body + node.orelse if node.orelse else node.body

    def _for(self, scope: Scope, node: ast.For, sure: bool) -> list[ast.stmt]:  # noqa: ARG002
        self.expressions.collect(scope, node.iter)
        bind_items(scope, node.target, node.iter, node.lineno)
        self._stored(scope, node.target)
        return node.body + node.orelse

    def _while(self, scope: Scope, node: ast.While, sure: bool) -> list[ast.stmt]:  # noqa: ARG002
        self.expressions.collect(scope, node.test)
        return node.body + node.orelse

    def _with(self, scope: Scope, node: ast.With, sure: bool) -> list[ast.stmt]:
        for item in node.items:
            self._with_item(scope, item, sure)
        return node.body

    def _try(self, scope: Scope, node: ast.Try, sure: bool) -> list[ast.stmt]:  # noqa: ARG002
        for handler in node.handlers:
            self.expressions.collect(scope, handler.type)
            if handler.name:
                caught = path_of(handler.type) if handler.type is not None else None
                scope.bind(handler.name, _caught(caught, handler.lineno))
        parts = [part for handler in node.handlers for part in handler.body]
        return [*node.body, *parts, *node.orelse, *node.finalbody]

    def _match(self, scope: Scope, node: ast.Match, sure: bool) -> list[ast.stmt]:  # noqa: ARG002
        self.expressions.collect(scope, node.subject)
        for case in node.cases:
            self._pattern(scope, case)
        return [part for case in node.cases for part in case.body]

    def _with_item(self, scope: Scope, item: ast.withitem, sure: bool) -> None:
        self.expressions.collect(scope, item.context_expr)
        if item.optional_vars is not None:
            value = path_of(item.context_expr)
            bind_target(scope, item.optional_vars, value, item.context_expr.lineno, sure=sure)
            self._stored(scope, item.optional_vars)

    def _pattern(self, scope: Scope, case: ast.match_case) -> None:
        for part in ast.walk(case.pattern):
            if isinstance(part, ast.MatchClass):
                self.expressions.collect(scope, part.cls)
            elif isinstance(part, ast.MatchValue):
                self.expressions.collect(scope, part.value)
            elif isinstance(part, ast.MatchAs | ast.MatchStar) and part.name:
                self._captured(scope, part)
            elif isinstance(part, ast.MatchMapping) and part.rest:
                scope.bind(part.rest, opaque(case.pattern.lineno, sure=False))
        self.expressions.collect(scope, case.guard)

    def _captured(self, scope: Scope, part: ast.MatchAs | ast.MatchStar) -> None:
        inner = part.pattern if isinstance(part, ast.MatchAs) else None
        found = path_of(inner.cls) if isinstance(inner, ast.MatchClass) else None
        if found and part.name:
            scope.bind(
                part.name,
                Binding("value", "", found[0], found[1] + "()", part.lineno, False, ANNOTATED),
            )
        elif part.name:
            scope.bind(part.name, opaque(part.lineno, sure=False))


_HANDLERS: Final[dict[type[ast.stmt], Callable[[Walker, Scope, Any, bool], list[ast.stmt]]]] = {
    ast.If: Walker._if,
    ast.For: Walker._for,
    ast.AsyncFor: Walker._for,
    ast.While: Walker._while,
    ast.With: Walker._with,
    ast.AsyncWith: Walker._with,
    ast.Try: Walker._try,
    ast.TryStar: Walker._try,
    ast.Match: Walker._match,
}
"""Of each statement that holds others: takes it in, and returns these."""


def _caught(found: tuple[str, str] | None, line: int) -> Binding:
    """Return what an exception handler's name is bound to: an instance of the class it names."""
    if found is None:
        return opaque(line, sure=False)
    return Binding("value", "", found[0], found[1] + "()", line, False, ANNOTATED)


def _is_main_guard(test: ast.expr) -> bool:
    return (
        isinstance(test, ast.Compare)
        and isinstance(test.left, ast.Name)
        and test.left.id == "__name__"
    )
