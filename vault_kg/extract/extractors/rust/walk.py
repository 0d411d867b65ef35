"""The walk over a Rust file: definitions, bindings and uses."""

from __future__ import annotations

from typing import TYPE_CHECKING

from vault_kg.extract.extractors.rust.syntax import (
    CHAINS,
    ROOTS,
    attributes,
    imported,
    type_of,
)
from vault_kg.extract.extractors.scoping.evaluate import NO_PLACE, Found, Place
from vault_kg.extract.extractors.scoping.file import Imported
from vault_kg.extract.extractors.scoping.scopes import Binding, Scope, Use
from vault_kg.extract.extractors.treesitter.chains import Path, names_in
from vault_kg.extract.extractors.treesitter.walk import Handler, TreeWalk, line_of, text
from vault_kg.extract.extractors.web_roles import http_role

if TYPE_CHECKING:
    from tree_sitter import Node


class RustWalk(TreeWalk):
    """The walk over a Rust file."""

    CHAINS = CHAINS

    def handlers(self) -> dict[str, Handler]:
        """Return what to do with each kind of node."""
        return {
            "use_declaration": self._use_declaration,
            "mod_item": self._module,
            "function_item": self._function,
            "function_signature_item": self._function,
            "struct_item": self._struct,
            "enum_item": self._struct,
            "union_item": self._struct,
            "trait_item": self._trait,
            "type_item": self._struct,
            "impl_item": self._impl,
            "const_item": self._constant,
            "static_item": self._constant,
            "let_declaration": self._let,
            "for_expression": self._loop,
            "closure_expression": self._closure,
            "struct_expression": self._literal,
            "macro_definition": _nothing,
            "attribute_item": _nothing,
            "inner_attribute_item": _nothing,
            "type_parameters": _nothing,
            "primitive_type": _nothing,
            "type_identifier": self._type_name,
            "scoped_type_identifier": self._type_name,
            "field_identifier": _nothing,
        }

    def unbound(self, scope: Scope, root: str, path: str) -> Found:  # noqa: ARG002
        """Return the place that a path from the crate's root, or from a module around, begins in."""
        if root in ROOTS and path:
            return Found([Place(root, path.removeprefix("."), ())], bound=True)
        return NO_PLACE

    def _use_declaration(self, scope: Scope, node: Node) -> None:
        argument = node.child_by_field_name("argument")
        for spelled, name, alias in imported(argument) if argument is not None else ():
            line = line_of(node)
            inline = scope.parent is not None  # in a module within the file, `super` is the file
            module = spelled.replace("super", "self", 1) if inline else spelled
            self.found.imports.append(
                Imported(module, "" if name == "*" else name, line, scope.uid)
            )
            if name == "*":
                self.found.stars.append(module)
            else:
                scope.bind(alias, Binding("import", module, "", name, line, True))

    def _module(self, scope: Scope, node: Node) -> None:
        name = node.child_by_field_name("name")
        body = node.child_by_field_name("body")
        if name is None:
            return
        if body is None:
            self.found.imports.append(Imported(f"self::{text(name)}", "", line_of(node), scope.uid))
            scope.bind(
                text(name), Binding("import", f"self::{text(name)}", "", "", line_of(node), True)
            )
            return
        inner = self.found.inner(scope, scope.uid, scope.inside(text(name)))
        self.visit(inner, [body])

    def _function(self, scope: Scope, node: Node) -> None:
        name = node.child_by_field_name("name")
        if name is None:
            return
        owner = scope.owner if scope.receiver == "Self" else None
        body = node.child_by_field_name("body")
        marks = list(attributes(node))
        roles: tuple[str, ...] = ("test",) if any(a.endswith("test") for a, _ in marks) else ()
        if text(name) == "main" and scope.parent is None:
            roles = ("entry:main",)
        kind = "method" if owner or scope.is_class else "function"
        inner = self.define(
            scope, node, "method" if kind == "method" else "function", text(name), body=body,
            owner=owner, roles=roles,
        )  # fmt: skip
        for word, given in marks:
            if role := http_role(word, given):
                self.nodes.amend(inner.uid, *role)
        self._parameters(inner, node.child_by_field_name("parameters"), owner or scope.owner)
        returned = node.child_by_field_name("return_type")
        self.returns(inner, type_of(returned))
        self.visit(inner, [returned, body])

    def _parameters(self, inner: Scope, given: Node | None, owner: str | None) -> None:
        for part in given.named_children if given is not None else ():
            if part.type == "self_parameter" and owner is not None:
                self.bind_receiver(inner, "self", owner)
                continue
            declared = part.child_by_field_name("type")
            pattern = part.child_by_field_name("pattern") or part
            for name in names_in([pattern], frozenset({"identifier"})):
                path = type_of(declared) if pattern is name else None
                self.bind(inner, text(name), None, path, line_of(part))
            self.visit(inner, [declared])

    def _struct(self, scope: Scope, node: Node) -> None:
        name = node.child_by_field_name("name")
        if name is None:
            return
        body = node.child_by_field_name("body")
        inner = self.define(scope, node, "class", text(name), body=body)
        for field in names_in(
            [body] if body else [], frozenset({"field_declaration", "enum_variant"})
        ):
            label = field.child_by_field_name("name")
            declared = field.child_by_field_name("type")
            if label is not None:
                self.bind(inner, text(label), None, type_of(declared), line_of(field))
            self.visit(inner, [declared])

    def _trait(self, scope: Scope, node: Node) -> None:
        name = node.child_by_field_name("name")
        if name is None:
            return
        body = node.child_by_field_name("body")
        inner = self.define(scope, node, "interface", text(name), body=body)
        bounds = node.child_by_field_name("bounds")
        self.inherits(inner, [(one, "inherits") for one in bounds.named_children] if bounds else [])
        self.visit(inner, [body])

    def _impl(self, scope: Scope, node: Node) -> None:
        found = self.CHAINS.type_of(node.child_by_field_name("type"))
        if found is None or found.path != "()":
            return
        holder = scope.find(found.root)
        bindings = holder.bindings[found.root] if holder else []
        symbol = next((b.path for b in bindings if b.origin == "symbol"), None)
        owner = symbol or scope.inside(found.root)
        trait = node.child_by_field_name("trait")
        inner = self.found.inner(scope, scope.uid, owner)
        inner.owner = owner
        inner.receiver = "Self"
        inner.bind("Self", Binding("symbol", "", "", owner, line_of(node), True))
        kind = self.found.definitions.kinds.get(owner)
        trait_path = self.CHAINS.type_of(trait)
        if trait_path is not None and kind is not None:
            header = scope.alias(self.found.definitions.uid(kind, owner), owner)
            self.found.scopes.append(header)
            path = trait_path.path.removesuffix("()")
            header.uses.append(Use(trait_path.root, path, "implements", line_of(node)))
        self.visit(inner, [node.child_by_field_name("body")])

    def _constant(self, scope: Scope, node: Node) -> None:
        name = node.child_by_field_name("name")
        value = node.child_by_field_name("value")
        declared = node.child_by_field_name("type")
        if name is not None:
            self.define_variable(scope, node, text(name), value, type_of(declared))
        self.visit(scope, [declared, value])

    def _let(self, scope: Scope, node: Node) -> None:
        pattern = node.child_by_field_name("pattern")
        value = node.child_by_field_name("value")
        declared = type_of(node.child_by_field_name("type"))
        for name in names_in([pattern] if pattern else [], frozenset({"identifier"})):
            whole = pattern is not None and (pattern is name or pattern.type == "mut_pattern")
            given = value if whole else None
            self.bind(scope, text(name), given, declared if whole else None, line_of(node))
        self.visit(
            scope,
            [node.child_by_field_name("type"), value, node.child_by_field_name("alternative")],
        )

    def _loop(self, scope: Scope, node: Node) -> None:
        pattern = node.child_by_field_name("pattern")
        value = node.child_by_field_name("value")
        found = self.CHAINS.path_of(value)
        for name in names_in([pattern] if pattern else [], frozenset({"identifier"})):
            path = found[1].removesuffix(".iter()") + "[]" if found else ""
            held = Path(found[0], path) if found and pattern is name else None
            scope.bind(text(name), self.binding(None, held, line_of(node))._replace(signal=None))
        self.visit(scope, [value, node.child_by_field_name("body")])

    def _closure(self, scope: Scope, node: Node) -> None:
        inner = self.found.inner(scope, scope.uid, scope.qualified)
        inner.is_inner = True
        given = node.child_by_field_name("parameters")
        for name in names_in([given] if given else [], frozenset({"identifier"})):
            self.bind(inner, text(name), None, None, line_of(node))
        self.visit(inner, [node.child_by_field_name("body")])

    def _literal(self, scope: Scope, node: Node) -> None:
        found = self.CHAINS.path_of(node.child_by_field_name("name"))
        if found is not None:
            scope.uses.append(Use(*found, "calls", line_of(node)))
        self.visit(scope, [node.child_by_field_name("body")])

    def _type_name(self, scope: Scope, node: Node) -> None:
        found = self.CHAINS.type_of(node)
        if found is not None:
            path = found.path.removesuffix("()")
            scope.uses.append(Use(found.root, path, "has_type", line_of(node)))


def _nothing(scope: Scope, node: Node) -> None:
    """Pass over a node that names nothing of the file."""
