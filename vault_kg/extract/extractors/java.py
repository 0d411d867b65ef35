"""Java."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from vault_kg.extract.confidence import OWN_METHOD, SAME_PACKAGE
from vault_kg.extract.extractors.scoping.evaluate import NO_PLACE, Found, Place, method_owner
from vault_kg.extract.extractors.scoping.file import Imported
from vault_kg.extract.extractors.scoping.scopes import Binding, Scope, Use
from vault_kg.extract.extractors.treesitter.chains import Chains, Path, Step
from vault_kg.extract.extractors.treesitter.extractor import TreeSitterExtractor
from vault_kg.extract.extractors.treesitter.walk import Handler, TreeWalk, line_of, text
from vault_kg.extract.extractors.web_roles import http_role

if TYPE_CHECKING:
    from tree_sitter import Node

    from vault_kg.extract.model import EdgeKind

_LANG: Final = frozenset(
    """String Object Integer Long Double Float Boolean Byte Short Character Math System Thread Runnable
    Exception RuntimeException Error Throwable Iterable Comparable Override Deprecated Class Void Record
    Enum IllegalArgumentException IllegalStateException NullPointerException StringBuilder Number
    SuppressWarnings FunctionalInterface SafeVarargs CharSequence AutoCloseable Cloneable""".split()
)
_COLLECTIONS: Final = frozenset("List Set Collection Iterable Stream Queue Deque ArrayList".split())


class JavaWalk(TreeWalk):
    """The walk over a Java file."""

    CHAINS = Chains(
        names=frozenset({"identifier", "this", "super"}),
        steps={
            "field_access": Step("object", "field"),
            "method_invocation": Step("object", "name", "()"),
            "object_creation_expression": Step("type", mark="()", is_new=True),
            "array_access": Step("array", mark="[]"),
            "parenthesized_expression": Step(""),
            "cast_expression": Step("value"),
        },
        dotted_types={"scoped_type_identifier": ("", "")},
        through_types={"generic_type": ""},
        many_types={"array_type": "element"},
    )

    def handlers(self) -> dict[str, Handler]:
        """Return what to do with each kind of node."""
        classes = "class enum record interface annotation_type".split()
        return {
            "import_declaration": self._import,
            **{f"{word}_declaration": self._class for word in classes},
            "method_declaration": self._method,
            "constructor_declaration": self._method,
            "compact_constructor_declaration": self._method,
            "field_declaration": self._field,
            "constant_declaration": self._field,
            "enum_constant": self._constant,
            "local_variable_declaration": self._local,
            "enhanced_for_statement": self._loop,
            "catch_formal_parameter": self._parameter,
            "resource": self._parameter,
            "lambda_expression": self._lambda,
            "package_declaration": _nothing,
            "marker_annotation": _nothing,
            "annotation": _nothing,
            "type_parameters": _nothing,
        }

    def unbound(self, scope: Scope, root: str, path: str) -> Found:
        """Return a member of the class around a use, or else a class of the same package."""
        owner = method_owner(scope)
        if root == "super" and owner is not None:
            return Found([Place("", f"{owner}^{path}", ())], bound=True)
        if root[:1].islower():
            if owner is None:
                return NO_PLACE
            return Found([Place("", f"{owner}().{root}{path}", (OWN_METHOD,))], bound=True)
        if root in _LANG:
            return NO_PLACE
        return Found([Place(".", root + path, (SAME_PACKAGE,))], bound=True)

    def _import(self, scope: Scope, node: Node) -> None:
        whole = text(node).removeprefix("import").rstrip(";").strip()
        static = whole.startswith("static ")
        whole = whole.removeprefix("static ").replace(" ", "")
        module, _, name = whole.rpartition(".")
        line = line_of(node)
        if static:
            module, _, owner = module.rpartition(".")
            if name != "*":
                self.found.imports.append(Imported(module, f"{owner}.{name}", line, scope.uid))
                scope.bind(name, Binding("import", module, "", f"{owner}.{name}", line, True))
            return
        self.found.imports.append(Imported(module, name, line, scope.uid))
        if name == "*":
            self.found.stars.append(module)
        else:
            scope.bind(name, Binding("import", module, "", name, line, True))

    def _class(self, scope: Scope, node: Node) -> None:
        name = node.child_by_field_name("name")
        body = node.child_by_field_name("body")
        if name is None:
            return
        kind = node.type.removesuffix("_declaration")
        is_interface = kind in ("interface", "annotation_type")
        roles = ("test",) if text(name).endswith(("Test", "Tests")) else ()
        inner = self.define(
            scope,
            node,
            "interface" if is_interface else "class",
            text(name),
            body=body,
            roles=roles,
        )
        inner.is_open = True
        self.bind_receiver(inner, "this", inner.qualified)
        bases: list[tuple[Node, EdgeKind]] = []
        for part in node.named_children:
            if part.type == "superclass":
                bases += [(one, "inherits") for one in part.named_children]
            elif part.type in ("super_interfaces", "extends_interfaces"):
                link: EdgeKind = "implements" if part.type == "super_interfaces" else "inherits"
                bases += [
                    (one, link) for listed in part.named_children for one in listed.named_children
                ]
        self.inherits(inner, bases)
        self._annotations(scope, node, inner)
        for part in _parameters(node):
            self._parameter(inner, part)
        self.visit(inner, [body])

    def _annotations(self, scope: Scope, node: Node, inner: Scope) -> None:
        modifiers = node.named_children[0] if node.named_children else None
        if modifiers is None or modifiers.type != "modifiers":
            return
        header = scope.alias(inner.uid, inner.qualified)
        self.found.scopes.append(header)
        for child in modifiers.named_children:
            name = child.child_by_field_name("name")
            if name is None:
                continue
            word = text(name)
            header.uses.append(Use(word, "", "decorated_by", line_of(child)))
            if word in ("Test", "ParameterizedTest"):
                self.nodes.amend(inner.uid, ("test",))
            elif word == "Scheduled":
                self.nodes.amend(inner.uid, ("entry:cron",))
            elif role := http_role(word, _annotated_text(child)):
                self.nodes.amend(inner.uid, *role)

    def _method(self, scope: Scope, node: Node) -> None:
        name = node.child_by_field_name("name")
        if name is None:
            return
        body = node.child_by_field_name("body")
        modifiers = text(node.named_children[0]) if node.named_children else ""
        is_main = text(name) == "main" and "static" in modifiers
        roles = ("entry:main",) if is_main else ()
        constructs = node.type != "method_declaration"
        inner = self.define(
            scope, node, "method", text(name), body=body, roles=roles,
            owner=scope.qualified if constructs else None,
        )  # fmt: skip
        self.bind_receiver(inner, "this", scope.qualified)
        for part in _parameters(node):
            self._parameter(inner, part)
        returned = node.child_by_field_name("type")
        self.returns(inner, self._type_of(returned))
        self._annotations(scope, node, inner)
        self.visit(inner, [returned, body])

    def _type_of(self, node: Node | None) -> Path | None:
        """Return the path of a declared type; a collection is taken by what it holds."""
        found = self.CHAINS.type_of(node)
        if (
            found
            and found.root in _COLLECTIONS
            and node is not None
            and node.type == "generic_type"
        ):
            held = node.named_children[-1].named_children
            inner = self.CHAINS.type_of(held[0]) if held else None
            return inner and inner._replace(many=True)
        return None if found and found.root == "var" else found

    def _parameter(self, scope: Scope, node: Node) -> None:
        declared = node.child_by_field_name("type")
        name = node.child_by_field_name("name")
        value = node.child_by_field_name("value")
        if name is not None:
            self.bind(scope, text(name), value, self._type_of(declared), line_of(node))
        self.visit(scope, [declared, value])

    def _field(self, scope: Scope, node: Node) -> None:
        declared = node.child_by_field_name("type")
        for declarator in node.children_by_field_name("declarator"):
            name = declarator.child_by_field_name("name")
            value = declarator.child_by_field_name("value")
            if name is not None:
                self.define_variable(scope, node, text(name), value, self._type_of(declared))
            self.visit(scope, [value])
        self.visit(scope, [declared])

    def _constant(self, scope: Scope, node: Node) -> None:
        name = node.child_by_field_name("name")
        if name is not None:
            self.define_variable(scope, node, text(name), None, None)
        self.visit(scope, [node.child_by_field_name("arguments"), node.child_by_field_name("body")])

    def _local(self, scope: Scope, node: Node) -> None:
        declared = node.child_by_field_name("type")
        for declarator in node.children_by_field_name("declarator"):
            name = declarator.child_by_field_name("name")
            value = declarator.child_by_field_name("value")
            if name is not None:
                self.bind(scope, text(name), value, self._type_of(declared), line_of(node))
            self.visit(scope, [value])
        self.visit(scope, [declared])

    def _loop(self, scope: Scope, node: Node) -> None:
        self._parameter(scope, node)
        self.visit(scope, [node.child_by_field_name("body")])

    def _lambda(self, scope: Scope, node: Node) -> None:
        inner = self.found.inner(scope, scope.uid, scope.qualified)
        inner.is_inner = True
        given = node.child_by_field_name("parameters")
        if given is not None and given.type == "identifier":
            self.bind(inner, text(given), None, None, line_of(node))
        for part in given.named_children if given is not None else ():
            if part.type == "identifier":
                self.bind(inner, text(part), None, None, line_of(node))
            else:
                self._parameter(inner, part)
        self.visit(inner, [node.child_by_field_name("body")])


def _nothing(scope: Scope, node: Node) -> None:
    """Pass over a node that names nothing of the file."""


def _parameters(node: Node) -> list[Node]:
    given = node.child_by_field_name("parameters")
    return given.named_children if given is not None else []


def _annotated_text(annotation: Node) -> str | None:
    """Return the text that an annotation is given: its own, or that of `value` or `path`."""
    given = annotation.child_by_field_name("arguments")
    for part in given.named_children if given is not None else ():
        value = part.child_by_field_name("value") or part
        if value.type == "string_literal":
            return text(value)[1:-1]
    return "" if given is None else None


class JavaExtractor(TreeSitterExtractor):
    """Reads Java."""

    name = "java"
    suffixes = frozenset({".java"})
    grammar = "tree_sitter_java"
    walk = JavaWalk
