"""The walk over a JavaScript or TypeScript file: definitions, bindings and uses."""

from __future__ import annotations

from typing import TYPE_CHECKING

from vault_kg.extract.extractors.javascript.imports import Imports
from vault_kg.extract.extractors.javascript.syntax import (
    FUNCTIONS,
    NAMES,
    PATTERN_NAMES,
    required,
    string,
)
from vault_kg.extract.extractors.scoping.evaluate import NO_PLACE, Found, Place, method_owner
from vault_kg.extract.extractors.scoping.file import Imported
from vault_kg.extract.extractors.scoping.scopes import Binding, Scope, Use
from vault_kg.extract.extractors.treesitter.chains import Path, names_in
from vault_kg.extract.extractors.treesitter.walk import Handler, line_of, text
from vault_kg.extract.extractors.web_roles import http_role

if TYPE_CHECKING:
    from tree_sitter import Node

    from vault_kg.extract.model import EdgeKind


class JavaScriptWalk(Imports):
    """The walk over a JavaScript or TypeScript file."""

    def handlers(self) -> dict[str, Handler]:
        """Return what to do with each kind of node."""
        return {
            "import_statement": self._import,
            "export_statement": self._export,
            "function_declaration": self._function,
            "generator_function_declaration": self._function,
            "function_signature": self._function,
            "class_declaration": self._class,
            "abstract_class_declaration": self._class,
            "class": self._class,
            "interface_declaration": self._class,
            "enum_declaration": self._class,
            "type_alias_declaration": self._alias,
            "method_definition": self._method,
            "method_signature": self._method,
            "abstract_method_signature": self._method,
            "public_field_definition": self._field,
            "field_definition": self._field,
            "variable_declarator": self._declarator,
            "assignment_expression": self._assignment,
            "arrow_function": self._closure,
            "function_expression": self._closure,
            "for_in_statement": self._loop,
            "catch_clause": self._catch,
            "call_expression": self._call_expression,
            "jsx_opening_element": self._element,
            "jsx_self_closing_element": self._element,
            "predefined_type": _nothing,
            "type_parameters": _nothing,
        }

    def unbound(self, scope: Scope, root: str, path: str) -> Found:
        """Return what `super` means; other names that nothing binds are the platform's."""
        owner = method_owner(scope)
        if root == "super" and owner is not None:
            return Found([Place("", f"{owner}^{path}", ())], bound=True)
        return NO_PLACE

    def _function(self, scope: Scope, node: Node) -> None:
        name = node.child_by_field_name("name")
        if name is not None:
            self._define_function(scope, node, text(name), node, "function")

    def _define_function(
        self, scope: Scope, node: Node, name: str, function: Node, kind: str
    ) -> Scope:
        body = function.child_by_field_name("body")
        around = node.parent if node.parent and node.parent.type == "export_statement" else None
        inner = self.define(
            scope,
            node,
            "method" if kind == "method" else "function",
            name,
            body=body,
            around=around,
        )
        self._parameters(inner, function)
        returned = function.child_by_field_name("return_type")
        self.returns(inner, self.CHAINS.type_of(_awaited(returned)))
        self.visit(inner, [returned, body])
        return inner

    def _parameters(self, inner: Scope, function: Node) -> None:
        single = function.child_by_field_name("parameter")
        given = function.child_by_field_name("parameters")
        for part in [single] if single is not None else given.named_children if given else []:
            declared = part.child_by_field_name("type")
            pattern = (
                part.child_by_field_name("pattern") or part.child_by_field_name("left") or part
            )
            names = names_in([pattern], PATTERN_NAMES)
            path = self.CHAINS.type_of(declared) if len(names) == 1 else None
            for name in names:
                self.bind(inner, text(name), None, path, line_of(part))
            if path and names and any(c.type == "accessibility_modifier" for c in part.children):
                self.assign_attribute(inner, text(names[0]), None, path, line_of(part))
            self.visit(inner, [declared, part.child_by_field_name("value")])
            self.visit(inner, (c for c in part.named_children if c.type == "decorator"))

    def _closure(self, scope: Scope, node: Node) -> None:
        inner = self.found.inner(scope, scope.uid, scope.qualified)
        inner.is_inner = True
        inner.owner = scope.owner
        self._parameters(inner, node)
        self.visit(inner, [node.child_by_field_name("body")])

    def _class(self, scope: Scope, node: Node) -> None:
        name = node.child_by_field_name("name")
        if name is None:
            self.visit(scope, node.named_children)
            return
        body = node.child_by_field_name("body")
        kind = "interface" if node.type == "interface_declaration" else "class"
        around = node.parent if node.parent and node.parent.type == "export_statement" else None
        inner = self.define(
            scope, node, "interface" if kind == "interface" else "class", text(name), body=body,
            around=around,
        )  # fmt: skip
        self.inherits(inner, _bases(node))
        self._decorators(scope, node, inner)
        self.visit(inner, [body])

    def _decorators(self, scope: Scope, node: Node, inner: Scope) -> None:
        header = scope.alias(inner.uid, inner.qualified)
        self.found.scopes.append(header)
        siblings = node.children
        previous = node.prev_named_sibling
        while previous is not None and previous.type == "decorator":
            siblings = [previous, *siblings]
            previous = previous.prev_named_sibling
        for child in siblings:
            if child.type == "decorator" and child.named_children:
                named = child.named_children[0]
                found = self.CHAINS.path_of(named)
                if found is not None:
                    path = found[1].removesuffix("()")
                    header.uses.append(Use(found[0], path, "decorated_by", line_of(child)))
                    arguments = self.CHAINS.arguments(named)
                    self._route(inner.uid, found[0] + path, arguments)
                    self.visit(header, arguments)

    def _route(self, uid: str, called: str, arguments: list[Node]) -> None:
        given = string(arguments[0]) if arguments and arguments[0].type == "string" else None
        if role := http_role(called.rpartition(".")[2], given):
            self.nodes.amend(uid, *role)

    def _alias(self, scope: Scope, node: Node) -> None:
        name = node.child_by_field_name("name")
        if name is not None:
            value = node.child_by_field_name("value")
            inner = self.define(scope, node, "interface", text(name), body=value)
            self.visit(inner, [value])

    def _method(self, scope: Scope, node: Node) -> None:
        name = node.child_by_field_name("name")
        if name is None or not scope.is_class:
            self._closure(scope, node)
            return
        inner = self._define_function(scope, node, text(name), node, "method")
        is_static = any(child.type == "static" for child in node.children)
        owner = scope.qualified
        self.bind_receiver(inner, "this", owner)
        if is_static:
            inner.bindings["this"] = [Binding("symbol", "", "", owner, 0, True)]
        if any(child.type in ("get",) for child in node.children):
            self.found.properties.add(inner.qualified)
        self._decorators(scope, node, inner)

    def _field(self, scope: Scope, node: Node) -> None:
        name = node.child_by_field_name("name") or node.child_by_field_name("property")
        if name is None:
            return
        value = node.child_by_field_name("value")
        if value is not None and value.type in FUNCTIONS:
            inner = self._define_function(scope, node, text(name), value, "method")
            self.bind_receiver(inner, "this", scope.qualified)
            return
        declared = node.child_by_field_name("type")
        self.define_variable(scope, node, text(name), value, self.CHAINS.type_of(declared))
        self.visit(scope, [declared, value])

    def _declarator(self, scope: Scope, node: Node) -> None:
        name = node.child_by_field_name("name")
        value = node.child_by_field_name("value")
        if name is None:
            return
        declared = node.child_by_field_name("type")
        module = required(value)
        if value is not None and value.type in FUNCTIONS and name.type == "identifier":
            self._define_function(scope, node, text(name), value, "function")
            return
        if module is not None:
            self._required(scope, name, module, line_of(node))
        elif name.type == "identifier":
            self.define_variable(scope, node, text(name), value, self.CHAINS.type_of(declared))
        else:
            for part in names_in([name], PATTERN_NAMES):
                self.bind(scope, text(part), None, None, line_of(node))
        self.visit(scope, [declared, value])

    def _assignment(self, scope: Scope, node: Node) -> None:
        left = node.child_by_field_name("left")
        right = node.child_by_field_name("right")
        target = self.CHAINS.path_of(left)
        if target is not None and target[0] == "this" and target[1].count(".") == 1:
            self.assign_attribute(scope, target[1][1:], right, None, line_of(node))
        elif target == ("module", ".exports") and right is not None:
            found = self.CHAINS.path_of(right)
            if found:
                scope.bind("default", Binding("value", "", *found, line_of(node), True))
        elif left is not None and left.type == "identifier" and right is not None:
            holder = scope.find(text(left)) or scope
            self.bind(holder, text(left), right, None, line_of(node))
        self.visit(scope, [left, right])

    def _loop(self, scope: Scope, node: Node) -> None:
        left = node.child_by_field_name("left")
        right = node.child_by_field_name("right")
        found = self.CHAINS.path_of(right)
        if left is not None:
            for name in names_in([left], NAMES):
                held = Path(found[0], found[1] + "[]") if found and left is name else None
                binding = self.binding(None, held, line_of(node))
                scope.bind(text(name), binding._replace(signal=None))
        self.visit(scope, [right, node.child_by_field_name("body")])

    def _catch(self, scope: Scope, node: Node) -> None:
        parameter = node.child_by_field_name("parameter")
        if parameter is not None:
            for name in names_in([parameter], NAMES):
                self.bind(scope, text(name), None, None, line_of(node))
        self.visit(scope, [node.child_by_field_name("body")])

    def _call_expression(self, scope: Scope, node: Node) -> None:
        module = required(node)
        if module is not None:
            self.found.imports.append(Imported(module, "", line_of(node), scope.uid))
            return
        called = self.CHAINS.called(node)
        given = self.CHAINS.arguments(node)
        if called is not None and len(given) > 1 and given[0].type == "string":
            role = http_role(called[1].rpartition(".")[2], string(given[0]))
            self.routes += [(text(given[-1]), *role)] if role else []
        self.use(scope, node, "calls")

    def _element(self, scope: Scope, node: Node) -> None:
        name = node.child_by_field_name("name")
        found = self.CHAINS.path_of(name)
        if found is not None and (found[1] or found[0][:1].isupper()):
            scope.uses.append(Use(*found, "calls", line_of(node)))
        self.visit(scope, (child for child in node.named_children if child != name))


def _nothing(scope: Scope, node: Node) -> None:
    """Pass over a node that names nothing of the file."""


def _bases(node: Node) -> list[tuple[Node, EdgeKind]]:
    found: list[tuple[Node, EdgeKind]] = []
    for heritage in node.named_children:
        if heritage.type == "class_heritage":
            for clause in heritage.named_children:
                if clause.type == "implements_clause":
                    found += [(one, "implements") for one in clause.named_children]
                elif clause.type == "extends_clause":
                    found += [(one, "inherits") for one in clause.children_by_field_name("value")]
                else:
                    found.append((clause, "inherits"))
        elif heritage.type in ("extends_type_clause", "extends_clause"):
            found += [(one, "inherits") for one in heritage.named_children]
    return found


def _awaited(annotation: Node | None) -> Node | None:
    """Return what a promise of a return type holds."""
    node = annotation.named_children[0] if annotation and annotation.named_children else None
    if node is not None and node.type == "generic_type":
        name = node.child_by_field_name("name")
        if name is not None and text(name) == "Promise" and node.named_child_count > 1:
            inner = node.named_children[1].named_children
            return inner[0] if inner else None
    return annotation
