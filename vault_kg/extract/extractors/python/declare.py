"""Classes and functions: their nodes, the scopes within them, and what their headers name."""

from __future__ import annotations

import ast
from collections import deque
from collections.abc import Sequence
from typing import Final

from vault_kg.extract.confidence import OWN_METHOD
from vault_kg.extract.extractors.python.definitions import Definition, PythonSymbols
from vault_kg.extract.extractors.python.paths import declared, path_of
from vault_kg.extract.extractors.python.roles import Roles, roles_of
from vault_kg.extract.extractors.python.uses import Expressions
from vault_kg.extract.extractors.python.values import of_type
from vault_kg.extract.extractors.scoping.file import FileScopes, Returning
from vault_kg.extract.extractors.scoping.scopes import Binding, Scope, Use

Function = ast.FunctionDef | ast.AsyncFunctionDef
FUNCTIONS: Final = (ast.FunctionDef, ast.AsyncFunctionDef)
_NO_MEMBERS: Final = frozenset({"Generic", "Protocol"})
"""Bases that only say what kind of class it is."""
_CLASS_RECEIVER: Final = frozenset({"__new__", "__init_subclass__", "__class_getitem__"})


class Declarations:
    """Takes in definitions; their bodies wait until the scope around them is done."""

    def __init__(self, found: FileScopes, symbols: PythonSymbols) -> None:
        self.found = found
        self.expressions = Expressions(found)
        self.roles: list[tuple[str, Roles]] = []
        self._symbols = symbols
        self._bodies: deque[tuple[Scope, Sequence[ast.stmt]]] = deque()

    def _enter(self, scope: Scope, body: Sequence[ast.stmt]) -> None:
        self._bodies.append((scope, body))

    def _class(self, scope: Scope, node: ast.ClassDef, sure: bool) -> None:
        qualified = scope.inside(node.name)
        roles = ("test",) if node.name.startswith("Test") else ()
        uid = self._symbols.add("class", qualified, node, scope.uid, roles)
        scope.bind(node.name, Binding("symbol", "", "", qualified, node.lineno, sure))
        header = self._header(scope, uid, qualified, node)
        bases = []
        for base in node.bases:
            named = base.value if isinstance(base, ast.Subscript) else base
            if found := path_of(named):
                header.uses.append(Use(*found, "inherits", base.lineno))
                if (found[0] + found[1]).rpartition(".")[2] not in _NO_MEMBERS:
                    bases.append(found)
            if named is not base or not isinstance(base, ast.Name | ast.Attribute):
                self.expressions.collect(header, base)
        self.expressions.collect(header, *(keyword.value for keyword in node.keywords))
        self.found.bases.append((qualified, bases, header))
        inner = self.found.inner(scope, uid, qualified, is_class=True)
        self._enter(inner, node.body)

    def _header(self, scope: Scope, uid: str, qualified: str, node: Definition) -> Scope:
        """Return a scope for what stands around a definition but belongs to it."""
        header = scope.alias(uid, qualified)
        self.found.scopes.append(header)
        for decorator in node.decorator_list:
            named = decorator.func if isinstance(decorator, ast.Call) else decorator
            if found := path_of(named):
                header.uses.append(Use(*found, "decorated_by", decorator.lineno))
            if isinstance(decorator, ast.Call):
                given = [*decorator.args, *(keyword.value for keyword in decorator.keywords)]
                self.expressions.collect(header, *given)
        return header

    def _function(self, scope: Scope, node: Function, sure: bool) -> None:
        qualified = scope.inside(node.name)
        roles = roles_of(node, self._symbols.path)
        uid = self._symbols.add(
            "method" if scope.is_class else "function", qualified, node, scope.uid, roles.names
        )
        if roles.names:
            self.roles.append((uid, roles))
            if "property" in roles.names:
                self.found.properties.add(qualified)
        scope.bind(node.name, Binding("symbol", "", "", qualified, node.lineno, sure))
        header = self._header(scope, uid, qualified, node)
        inner = self.found.inner(scope, uid, qualified)
        if not scope.is_class:
            inner.owner = None
        self._parameters(scope, header, inner, node, is_static="static" in roles.names)
        self.expressions.collect_type(header, node.returns, "returns_type")
        returned = declared(node.returns)
        self.found.returns.append(
            Returning(
                qualified,
                (returned.root, returned.path) if returned else None,
                returned is not None and returned.many and not roles.is_manager,
                inner,
                node.returns is None,
            )
        )
        self._enter(inner, node.body)

    def _parameters(
        self, scope: Scope, header: Scope, inner: Scope, node: Function,
        *, is_static: bool,
    ) -> None:  # fmt: skip
        every = node.args
        self.expressions.collect(header, *every.defaults, *every.kw_defaults)
        positional = [*every.posonlyargs, *every.args]
        if scope.is_class and positional and not is_static and scope.owner:
            inner.receiver = positional.pop(0).arg
            by_class = node.name in _CLASS_RECEIVER or any(
                isinstance(d, ast.Name) and d.id == "classmethod" for d in node.decorator_list
            )
            owner = scope.owner if by_class else f"{scope.owner}()"
            inner.bind(
                inner.receiver, Binding("symbol", "", "", owner, node.lineno, True, OWN_METHOD)
            )
            inner.bind("Self", Binding("symbol", "", "", scope.owner, node.lineno, True))
        for argument in (*positional, *every.kwonlyargs):
            self.expressions.collect_type(header, argument.annotation, "has_type")
            inner.bind(argument.arg, of_type(declared(argument.annotation), node.lineno, True))
        for extra in (every.vararg, every.kwarg):
            if extra is not None:
                self.expressions.collect_type(header, extra.annotation, "has_type")
                held = declared(extra.annotation)
                many = held._replace(many=True) if held and not held.many else None
                inner.bind(extra.arg, of_type(many, node.lineno, True))
