"""Imports and assignments: what they bind names to, in their scope or in the object of a method."""

from __future__ import annotations

import ast

from vault_kg.extract.extractors.python.declare import Declarations
from vault_kg.extract.extractors.python.paths import declared, path_of
from vault_kg.extract.extractors.python.values import bind_target, of_type, values_of
from vault_kg.extract.extractors.scoping.file import Attribute, Imported
from vault_kg.extract.extractors.scoping.scopes import Binding, Scope


class Assignments(Declarations):
    """Takes in statements that bind names."""

    def _import(self, scope: Scope, node: ast.Import | ast.ImportFrom, sure: bool) -> None:
        for alias in node.names:
            if isinstance(node, ast.Import):
                self.found.imports.append(Imported(alias.name, "", node.lineno, scope.uid))
                name = alias.asname or alias.name.partition(".")[0]
                module, path = (alias.name if alias.asname else name), ""
            else:
                module = "." * node.level + (node.module or "")
                self.found.imports.append(Imported(module, alias.name, node.lineno, scope.uid))
                if alias.name == "*":
                    self.found.stars.append(module)
                    continue
                name, path = alias.asname or alias.name, alias.name
            scope.bind(name, Binding("import", module, "", path, node.lineno, sure))

    def _assign(self, scope: Scope, node: ast.Assign, sure: bool) -> None:
        self.expressions.collect(scope, node.value)
        bindings = list(values_of(node.value, node.lineno, sure))
        for target in node.targets:
            self._bind(scope, target, node.value, bindings, node.lineno, sure)
            if isinstance(target, ast.Name):
                self._variable(scope, target.id, node)

    def _bind(
        self, scope: Scope, target: ast.expr, value: ast.expr, bindings: list[Binding], line: int,
        sure: bool,
    ) -> None:  # fmt: skip
        if isinstance(target, ast.Name):
            for binding in bindings:
                scope.bind(target.id, binding)
            return
        if (
            isinstance(target, ast.Tuple)
            and isinstance(value, ast.Tuple)
            and _matches(target, value)
        ):
            for part, given in zip(target.elts, value.elts, strict=True):
                bind_target(scope, part, path_of(given), line, sure=sure)
            return
        if isinstance(target, ast.Attribute) and isinstance(target.value, ast.Name):
            if scope.owner and target.value.id == scope.receiver:
                for binding in bindings:
                    self.found.attributes.append(
                        Attribute(scope.owner, target.attr, binding, scope)
                    )
        elif isinstance(target, ast.Subscript) and isinstance(target.value, ast.Name):
            found = path_of(value)
            if found and target.value.id in scope.bindings:
                scope.bind(target.value.id, Binding("choice", "", *found, line, False))
        bind_target(scope, target, None, line, sure=sure)
        self._stored(scope, target)

    def _annotated(self, scope: Scope, node: ast.AnnAssign, sure: bool) -> None:
        self.expressions.collect(scope, node.value)
        self.expressions.collect_type(scope, node.annotation, "has_type")
        found = declared(node.annotation)
        bindings = [of_type(found, node.lineno, sure)]
        if found is None and node.value is not None:
            bindings = list(values_of(node.value, node.lineno, sure))
        self._bind(scope, node.target, node.annotation, bindings, node.lineno, sure)
        if isinstance(node.target, ast.Name):
            self._variable(scope, node.target.id, node)

    def _stored(self, scope: Scope, target: ast.expr) -> None:
        """Note what stands inside a target: the object of an attribute, the index of an item."""
        if target.__class__ is ast.Name:
            return
        for part in ast.walk(target):
            if isinstance(part, ast.Attribute):
                self.expressions.collect(scope, part.value)
            elif isinstance(part, ast.Subscript):
                self.expressions.collect(scope, part.value, part.slice)

    def _variable(self, scope: Scope, name: str, node: ast.stmt) -> None:
        if scope.parent is None or scope.is_class:
            self._symbols.add_variable(scope.inside(name), name, node, scope.uid)


def _matches(target: ast.Tuple, value: ast.Tuple) -> bool:
    return len(target.elts) == len(value.elts)
