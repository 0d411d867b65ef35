"""The walk over a C or C++ file: definitions, bindings and uses."""

from __future__ import annotations

from typing import TYPE_CHECKING

from vault_kg.extract.confidence import IMPORTED, OWN_METHOD
from vault_kg.extract.extractors.c.syntax import (
    CHAINS,
    CLASSES,
    declared_name,
    function_declarator,
    is_prototype,
    split,
    type_of,
)
from vault_kg.extract.extractors.scoping.evaluate import (
    NO_PLACE,
    UNBOUND,
    Found,
    Place,
    method_owner,
)
from vault_kg.extract.extractors.scoping.file import Imported
from vault_kg.extract.extractors.scoping.scopes import Scope, Use
from vault_kg.extract.extractors.treesitter.chains import Path
from vault_kg.extract.extractors.treesitter.walk import Handler, TreeWalk, line_of, text

if TYPE_CHECKING:
    from tree_sitter import Node

    from vault_kg.extract.model import NodeKind


class CWalk(TreeWalk):
    """The walk over a C or C++ file."""

    CHAINS = CHAINS

    def handlers(self) -> dict[str, Handler]:
        """Return what to do with each kind of node."""
        return {
            "preproc_include": self._include,
            "preproc_def": self._macro,
            "preproc_function_def": self._macro,
            "function_definition": self._function,
            **dict.fromkeys(CLASSES, self._class),
            "namespace_definition": self._namespace,
            "declaration": self._declaration,
            "field_declaration": self._field,
            "type_definition": self._typedef,
            "alias_declaration": self._typedef,
            "for_range_loop": self._range,
            "lambda_expression": self._lambda,
            "type_identifier": self._type_name,
            "field_identifier": _nothing,
            "using_declaration": _nothing,
            "enumerator": self._enumerator,
        }

    def unbound(self, scope: Scope, root: str, path: str) -> Found:
        """Return a member of the class around a use, a name of this file's headers, or none.

        A function that no scope binds is left to the linker, which joins all files.
        """
        owner = method_owner(scope)
        if owner is not None and root[:1].islower() and root != "this":
            return Found([Place("", f"{owner}().{root}{path}", (OWN_METHOD,))], bound=True)
        if root == "this":
            return NO_PLACE
        if path or root[:1].isupper():
            around = "" if path.startswith(".") else self._namespace_of(scope)
            return Found([Place("", f"{around}{root}{path}", (IMPORTED,))], bound=True)
        return UNBOUND

    def _namespace_of(self, scope: Scope) -> str:
        """Return the namespace around a scope, with a dot behind it, "" where there is none."""
        inner: Scope | None = scope
        while inner is not None and inner.uid != self.found.module.uid:
            inner = inner.parent
        return f"{inner.qualified}." if inner is not None and inner.qualified else ""

    def _include(self, scope: Scope, node: Node) -> None:
        path = node.child_by_field_name("path")
        if path is not None:
            raw = text(path)
            module = raw.strip('"<> ')
            self.found.imports.append(Imported(module, "", line_of(node), scope.uid))
            if raw.startswith('"'):
                self.found.stars.append(module)

    def _macro(self, scope: Scope, node: Node) -> None:
        name = node.child_by_field_name("name")
        if name is None:
            return
        if node.type == "preproc_function_def":
            self.define(scope, node, "function", text(name), roles=("macro", "static"))
        elif node.child_by_field_name("value") is not None:
            self.define_variable(self.found.module, node, text(name), None, None)

    def _function(self, scope: Scope, node: Node) -> None:
        declarator = function_declarator(node)
        name = declared_name(declarator)
        if declarator is None or name is None:
            self.visit(scope, [node.child_by_field_name("body")])
            return
        owner, label = split(name, scope)
        body = node.child_by_field_name("body")
        roles: tuple[str, ...] = ("entry:main",) if label == "main" and scope.parent is None else ()
        if any(c.type == "storage_class_specifier" and text(c) == "static" for c in node.children):
            roles += ("static",) if owner is None and not scope.is_class else ()
        kind: NodeKind = "method" if owner or scope.is_class else "function"
        around = node.parent if node.parent and node.parent.type == "template_declaration" else None
        inner = self.define(
            scope, node, kind, label, body=body, owner=owner, roles=roles, around=around
        )
        if kind == "method":
            self.bind_receiver(inner, "this", owner or scope.qualified)
        self._parameters(inner, declarator)
        self.returns(inner, type_of(node.child_by_field_name("type")))
        initialisers = [c for c in node.named_children if c.type == "field_initializer_list"]
        self.visit(inner, [node.child_by_field_name("type"), *initialisers, body])

    def _parameters(self, inner: Scope, declarator: Node) -> None:
        given = declarator.child_by_field_name("parameters")
        for part in given.named_children if given is not None else ():
            declared = part.child_by_field_name("type")
            name = declared_name(part.child_by_field_name("declarator"))
            if name is not None:
                self.bind(inner, text(name), None, type_of(declared), line_of(part))
            self.visit(inner, [declared, part.child_by_field_name("default_value")])

    def _class(self, scope: Scope, node: Node) -> None:
        name = node.child_by_field_name("name")
        body = node.child_by_field_name("body")
        if body is None:
            self.visit(scope, [name])
            return
        if name is None:
            self.visit(scope, [body])
            return
        around = node.parent if node.parent and node.parent.type == "template_declaration" else None
        inner = self.define(scope, node, "class", text(name), body=body, around=around)
        inner.is_open = True
        clause = next((c for c in node.named_children if c.type == "base_class_clause"), None)
        bases = [c for c in clause.named_children if c.type != "access_specifier"] if clause else []
        self.inherits(inner, [(base, "inherits") for base in bases])
        self.visit(inner, [body])

    def _namespace(self, scope: Scope, node: Node) -> None:
        name = node.child_by_field_name("name")
        inner = scope
        if name is not None:
            inner = self.found.inner(scope, scope.uid, scope.inside(text(name).replace("::", ".")))
        self.visit(inner, [node.child_by_field_name("body")])

    def _declaration(self, scope: Scope, node: Node) -> None:
        declared = node.child_by_field_name("type")
        for declarator in node.children_by_field_name("declarator"):
            name = declared_name(declarator)
            value = declarator.child_by_field_name("value")
            if name is not None and name.type == "identifier" and not is_prototype(declarator):
                given = None if declared is None or text(declared) == "auto" else type_of(declared)
                if scope.parent is None:
                    self.define_variable(scope, node, text(name), value, given)
                else:
                    self.bind(scope, text(name), value, given, line_of(node))
            self.visit(scope, [value])
        self.visit(scope, [declared])

    def _field(self, scope: Scope, node: Node) -> None:
        declared = node.child_by_field_name("type")
        for declarator in node.children_by_field_name("declarator"):
            name = declared_name(declarator)
            if name is None:
                continue
            if is_prototype(declarator) and scope.is_class:
                self._prototype(scope, node, text(name))
            else:
                self.bind(scope, text(name), None, type_of(declared), line_of(node))
        self.visit(scope, [declared])

    def _prototype(self, scope: Scope, node: Node, name: str) -> None:
        """Note the return type of a method that is defined elsewhere."""
        inner = self.found.inner(scope, scope.uid, scope.inside(name))
        inner.is_inner = True
        self.returns(inner, type_of(node.child_by_field_name("type")))

    def _typedef(self, scope: Scope, node: Node) -> None:
        declared = node.child_by_field_name("type")
        self.visit(scope, [declared])
        declarator = node.child_by_field_name("declarator") or node.child_by_field_name("name")
        name = declared_name(declarator)
        if name is None:
            return
        body = declared.child_by_field_name("body") if declared is not None else None
        if (
            declared is not None
            and body is not None
            and declared.child_by_field_name("name") is None
        ):
            self.define(scope, node, "class", text(name), body=body)
        elif (found := type_of(declared)) and found.root != text(name):
            path = found.path.removesuffix("()")
            scope.bind(
                text(name),
                self.binding(None, Path(found.root, path), line_of(node))._replace(signal=None),
            )

    def _enumerator(self, scope: Scope, node: Node) -> None:
        name = node.child_by_field_name("name")
        if name is not None:
            self.define_variable(scope, node, text(name), None, None)

    def _range(self, scope: Scope, node: Node) -> None:
        declared = node.child_by_field_name("type")
        name = declared_name(node.child_by_field_name("declarator"))
        right = node.child_by_field_name("right")
        if name is not None:
            found = self.CHAINS.path_of(right)
            given = type_of(declared) if declared and "auto" not in text(declared) else None
            held = given or (Path(found[0], found[1] + "[]") if found else None)
            scope.bind(text(name), self.binding(None, held, line_of(node)))
        self.visit(scope, [right, node.child_by_field_name("body")])

    def _lambda(self, scope: Scope, node: Node) -> None:
        inner = self.found.inner(scope, scope.uid, scope.qualified)
        inner.is_inner = True
        declarator = node.child_by_field_name("declarator")
        if declarator is not None:
            self._parameters(inner, declarator)
        self.visit(inner, [node.child_by_field_name("body")])

    def _type_name(self, scope: Scope, node: Node) -> None:
        scope.uses.append(Use(text(node), "", "has_type", line_of(node)))


def _nothing(scope: Scope, node: Node) -> None:
    """Pass over a node that names nothing of the file."""
