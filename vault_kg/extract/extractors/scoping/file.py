"""What a walk over a file collects: its scopes, imports, classes and what functions return."""

from __future__ import annotations

from typing import NamedTuple

from vault_kg.extract import uids
from vault_kg.extract.extractors.nodes import NodeList
from vault_kg.extract.extractors.scoping.scopes import Binding, Scope
from vault_kg.extract.model import Node, NodeKind


class Attribute(NamedTuple):
    """A value that a method gives an attribute of its class, and where."""

    owner: str
    name: str
    binding: Binding
    scope: Scope


class Returning(NamedTuple):
    """What a function returns: the path of a value of its declared type, if it declares one.

    `many` is a collection of such values; `is_open` says that the returned expressions may tell.
    """

    qualified: str
    declared: tuple[str, str] | None
    many: bool
    scope: Scope
    is_open: bool


class Imported(NamedTuple):
    """An import statement's name: `module` alone, or `name` of it; `*` is all of them."""

    module: str
    name: str
    line: int
    uid: str


class Definitions:
    """The names that a file defines: one node for each qualified name."""

    def __init__(self, path: str, nodes: NodeList) -> None:
        self.path = path
        self.kinds: dict[str, NodeKind] = {}
        """Kind of each qualified name, the first that was defined."""
        self._nodes = nodes
        self._uids: dict[tuple[str, str], str] = {}

    def add(self, node: Node, qualified: str, parent: str) -> None:
        """Take in a definition that another node contains."""
        self._nodes.add(node, parent)
        self.kinds.setdefault(qualified, node.kind)

    def uid(self, kind: NodeKind, qualified: str) -> str:
        """Return the uid of a definition of this file."""
        found = self._uids.get((kind, qualified))
        if found is None:
            found = self._uids[kind, qualified] = uids.symbol(kind, self.path, qualified)
        return found


class FileScopes:
    """Everything that a walk found out about the names of a file."""

    def __init__(self, uid: str, definitions: Definitions) -> None:
        self.definitions = definitions
        self.module = Scope(None, uid, "")
        self.scopes: list[Scope] = [self.module]
        self.imports: list[Imported] = []
        self.stars: list[str] = []
        """Modules all of whose names are imported."""
        self.strings: list[tuple[Scope, str, int]] = []
        """Strings that may spell the path of a symbol."""
        self.attributes: list[Attribute] = []
        self.returns: list[Returning] = []
        self.bases: list[tuple[str, list[tuple[str, str]], Scope]] = []
        self.classes: dict[str, Scope] = {}
        self.properties: set[str] = set()
        """Methods that are read like attributes."""

    def inner(self, parent: Scope, uid: str, qualified: str, *, is_class: bool = False) -> Scope:
        """Return a new scope within another."""
        scope = Scope(parent, uid, qualified, is_class=is_class)
        if is_class:
            scope.owner = qualified
            self.classes.setdefault(qualified, scope)
        self.scopes.append(scope)
        return scope
