"""The walk that all tree-sitter languages share: definitions, bindings and uses, without recursion."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, ClassVar, Final

from vault_kg.extract.confidence import ANNOTATED, CONSTRUCTED, OWN_METHOD
from vault_kg.extract.extractors.nodes import NodeList
from vault_kg.extract.extractors.scoping.evaluate import NO_PLACE, Found
from vault_kg.extract.extractors.scoping.file import Attribute, FileScopes, Returning
from vault_kg.extract.extractors.scoping.scopes import Binding, Scope, Use
from vault_kg.extract.extractors.treesitter import comments
from vault_kg.extract.extractors.treesitter.chains import Chains, Path
from vault_kg.extract.model import EdgeKind, NodeKind
from vault_kg.extract.model import Node as Symbol

if TYPE_CHECKING:
    from tree_sitter import Node

Handler = Callable[[Scope, "Node"], None]
MAX_SIGNATURE: Final = 300


class TreeWalk:
    """One pass over a tree; a language adds handlers for its kinds of nodes.

    A handler takes in a node and pushes those below it that are still to be visited; a node without
    a handler has its children visited.
    """

    CHAINS: ClassVar[Chains]
    TYPES: ClassVar[frozenset[str]] = frozenset({"type_identifier"})
    """Nodes that name a type."""

    def __init__(self, root: Node, found: FileScopes, nodes: NodeList) -> None:
        self.found = found
        self.nodes = nodes
        self.path = found.definitions.path
        self.routes: list[tuple[str, tuple[str, ...], dict[str, str]]] = []
        """Functions that are handed to a web framework by name, with their roles and detail."""
        self._handlers: Mapping[str, Handler] = self.handlers()
        self._stack: list[tuple[Scope, Node]] = []
        self.visit(found.module, root.children)
        while self._stack:
            scope, node = self._stack.pop()
            self._take(scope, node)
        for name, roles, detail in self.routes:
            uid = found.definitions.uid("function", name)
            if self.nodes.get(uid) is not None:
                self.nodes.amend(uid, roles, detail)

    def handlers(self) -> dict[str, Handler]:
        """Return what to do with the kinds of nodes that the language tells apart."""
        raise NotImplementedError

    def unbound(self, scope: Scope, root: str, path: str) -> Found:  # noqa: ARG002
        """Return what a name means that no scope of the file binds."""
        return NO_PLACE

    def visit(self, scope: Scope, nodes: Iterable[Node | None]) -> None:
        """Have nodes visited in a scope, in their order."""
        found = [(scope, node) for node in nodes if node is not None]
        found.reverse()
        self._stack.extend(found)

    def _take(self, scope: Scope, node: Node) -> None:
        kind = node.type
        handler = self._handlers.get(kind)
        if handler is not None:
            handler(scope, node)
        elif kind in self.CHAINS.steps or kind in self.CHAINS.names:
            self.use(scope, node, "references")
        elif kind in self.TYPES:
            scope.uses.append(Use(text(node), "", "has_type", line_of(node)))
        elif node.child_count:
            self.visit(scope, node.children)

    def use(self, scope: Scope, node: Node, kind: EdgeKind) -> None:
        """Note the use of a chain of names, and have what stands within it visited."""
        step = self.CHAINS.steps.get(node.type)
        if step is not None and step.is_call:
            self._call(scope, node)
            return
        found = self.CHAINS.path_of(node)
        if found is not None:
            scope.uses.append(Use(*found, kind, line_of(node)))
        self.visit(scope, self.CHAINS.inside(node))

    def _call(self, scope: Scope, node: Node) -> None:
        called = self.CHAINS.called(node)
        if called is not None:
            scope.uses.append(Use(*called, "calls", line_of(node)))
        for argument in self.CHAINS.arguments(node):
            plain = argument.type in self.CHAINS.names or argument.type in self.CHAINS.steps
            step = self.CHAINS.steps.get(argument.type)
            if plain and argument.type not in self._handlers and not (step and step.is_call):
                self.use(scope, argument, "dispatches")
            else:
                self.visit(scope, [argument])
        self.visit(scope, self.CHAINS.inside(node))

    def define(
        self, scope: Scope, node: Node, kind: NodeKind, name: str, *, body: Node | None = None,
        owner: str | None = None, roles: tuple[str, ...] = (), around: Node | None = None,
    ) -> Scope:  # fmt: skip
        """Add a definition, bind its name, and return the scope within it.

        Args:
            scope: where it stands.
            node: all of it.
            kind: what it is.
            name: its own name.
            body: where its signature ends.
            owner: the class that it is a method of, where that is not the scope around it.
            roles: what else it is.
            around: a statement around it, before which its comment stands.
        """
        if not name:  # the parser went on without one; what is within belongs to what is around
            return self.found.inner(scope, scope.uid, scope.inside("?"))
        qualified = f"{owner}.{name}" if owner else scope.inside(name)
        uid = self.found.definitions.uid(kind, qualified)
        outer = around or node
        symbol = Symbol(
            uid, kind, name, self.path, line_of(outer), end_line_of(node),
            signature(node, body), comments.before(outer), roles,
        )  # fmt: skip
        self.found.definitions.add(symbol, qualified, self._parent(scope, owner))
        if owner is None:
            signal = OWN_METHOD if scope.is_open and kind == "method" else None
            scope.bind(name, Binding("symbol", "", "", qualified, line_of(node), True, signal))
        is_class = kind in ("class", "interface")
        inner = self.found.inner(scope, uid, qualified, is_class=is_class)
        if kind == "method":
            inner.owner = owner or scope.owner
        return inner

    def _parent(self, scope: Scope, owner: str | None) -> str:
        kinds = self.found.definitions.kinds
        if owner is not None and (kind := kinds.get(owner)) in ("class", "interface"):
            return self.found.definitions.uid(kind, owner)
        return scope.uid

    def define_variable(
        self, scope: Scope, node: Node, name: str, value: Node | None, declared: Path | None
    ) -> None:
        """Add a variable of the module or a class, and bind it in its scope."""
        if not name:
            return
        if scope.parent is None or scope.is_class:
            qualified = scope.inside(name)
            if qualified not in self.found.definitions.kinds:
                uid = self.found.definitions.uid("variable", qualified)
                symbol = Symbol(
                    uid, "variable", name, self.path, line_of(node), end_line_of(node),
                    signature(node, None, 120), comments.before(node),
                )  # fmt: skip
                self.found.definitions.add(symbol, qualified, scope.uid)
        self.bind(scope, name, value, declared, line_of(node))

    def bind(
        self, scope: Scope, name: str, value: Node | None, declared: Path | None, line: int
    ) -> None:
        """Bind a name to a value of a declared type, or else to what is assigned to it."""
        scope.bind(name, self.binding(value, declared, line))

    def binding(self, value: Node | None, declared: Path | None, line: int) -> Binding:
        """Return what a name is bound to by a declaration or an assignment."""
        if declared is not None:
            root, path, many = declared.root, declared.path, declared.many
            return Binding("value", "", root, path, line, False, ANNOTATED, many)
        given = self.CHAINS.path_of(value) if value is not None else None
        if given is None:
            return Binding("opaque", "", "", "", line, False)
        signal = CONSTRUCTED if value is not None and self.CHAINS.constructs(value) else None
        return Binding("value", "", *given, line, False, signal)

    def bind_receiver(self, scope: Scope, name: str, owner: str) -> None:
        """Bind the name by which a method calls its object."""
        scope.receiver = name
        scope.owner = owner
        scope.bind(name, Binding("symbol", "", "", f"{owner}()", 0, True, OWN_METHOD))

    def assign_attribute(
        self, scope: Scope, name: str, value: Node | None, declared: Path | None, line: int
    ) -> None:
        """Note what a method assigns to an attribute of its object."""
        if scope.owner is not None:
            binding = self.binding(value, declared, line)
            self.found.attributes.append(Attribute(scope.owner, name, binding, scope))

    def returns(self, scope: Scope, declared: Path | None) -> None:
        """Note what a function is declared to return."""
        given = (declared.root, declared.path) if declared else None
        many = declared is not None and declared.many
        self.found.returns.append(Returning(scope.qualified, given, many, scope, False))

    def inherits(self, scope: Scope, bases: Iterable[tuple[Node, EdgeKind]]) -> None:
        """Note the bases of a class, given its inner scope."""
        outer = scope.parent or scope
        header = outer.alias(scope.uid, scope.qualified)
        self.found.scopes.append(header)
        named: list[tuple[str, str]] = []
        for node, kind in bases:
            found = self.CHAINS.type_of(node)
            if found is not None:
                path = found.path.removesuffix("()")
                header.uses.append(Use(found.root, path, kind, line_of(node)))
                named.append((found.root, path))
        self.found.bases.append((scope.qualified, named, header))


def text(node: Node) -> str:
    """Return the source of a node."""
    return (node.text or b"").decode("utf-8", "replace")


def line_of(node: Node) -> int:
    """Return the line on which a node begins, from 1."""
    return node.start_point[0] + 1


def end_line_of(node: Node) -> int:
    """Return the line on which a node ends, from 1; one that ends with a line break ends before it."""
    row, column = node.end_point
    return row + 1 if column or row == node.start_point[0] else row


def signature(node: Node, body: Node | None, limit: int = MAX_SIGNATURE) -> str:
    """Return the source of a definition up to its body on one line."""
    raw = node.text or b""
    if body is not None:
        raw = raw[: body.start_byte - node.start_byte]
    return " ".join(raw[: 4 * limit].decode("utf-8", "replace").split())[:limit].rstrip(" {:=")
