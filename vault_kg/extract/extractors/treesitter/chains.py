"""Chains of names in a syntax tree as paths: `this.repo.find(x).name` is `this` `.repo.find().name`."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final, NamedTuple

if TYPE_CHECKING:
    from tree_sitter import Node

MAX_STEPS: Final = 12


class Step(NamedTuple):
    """How one kind of node continues a chain.

    `inner` is the field of what comes before ("" its first named child) and `name` the field of the
    name that it adds; `mark` is what is added besides: `()` or `[]`.
    """

    inner: str
    name: str = ""
    mark: str = ""
    is_new: bool = False
    """Whether it makes an instance of what `inner` names."""

    @property
    def is_call(self) -> bool:
        """Whether it calls something."""
        return self.mark == "()"


class Path(NamedTuple):
    """A path, and whether it is what a declared collection holds."""

    root: str
    path: str
    many: bool = False


@dataclass(frozen=True)
class Chains:
    """The nodes that are names, continue chains, or declare types, in one language."""

    names: frozenset[str]
    steps: Mapping[str, Step]
    arguments_field: str = "arguments"
    plain_types: frozenset[str] = frozenset({"type_identifier", "identifier"})
    dotted_types: Mapping[str, tuple[str, str]] = field(default_factory=dict)
    """Types with a prefix: the fields of the prefix and of the name."""
    through_types: Mapping[str, str] = field(default_factory=dict)
    """Types that mean another one: pointers, references, generics; the field that holds it."""
    many_types: Mapping[str, str] = field(default_factory=dict)
    """Types of collections, and the field of what they hold."""

    def path_of(self, node: Node | None) -> tuple[str, str] | None:
        """Return an expression's first name and what follows it, None if it is no such chain."""
        parts: list[str] = []
        while node is not None and len(parts) <= MAX_STEPS:
            if node.type in self.names:
                parts.reverse()
                return _text(node), "".join(parts)
            step = self.steps.get(node.type)
            if step is None:
                return None
            if step.mark:
                parts.append(step.mark)
            inner = _child(node, step.inner)
            if step.is_new and inner is not None:
                found = self.type_of(inner)
                parts.reverse()
                return (found.root, found.path + "".join(parts[1:])) if found else None
            if step.name:
                name = node.child_by_field_name(step.name)
                if name is None:
                    return None
                if inner is None:
                    parts.reverse()
                    return _text(name), "".join(parts)
                parts.append("." + _text(name))
            node = inner
        return None

    def called(self, node: Node) -> tuple[str, str] | None:
        """Return the path of what a call calls."""
        found = self.path_of(node)
        return (found[0], found[1].removesuffix("()")) if found else self._last_name(node)

    def _last_name(self, node: Node) -> tuple[str, str] | None:
        """Return the name of a method whose object is no chain."""
        step = self.steps[node.type]
        member = node if step.name else _child(node, step.inner)
        inner = self.steps.get(member.type) if member is not None else None
        if member is None or inner is None or not inner.name:
            return None
        name = member.child_by_field_name(inner.name)
        return ("", "." + _text(name)) if name is not None else None

    def constructs(self, node: Node) -> bool:
        """Whether an expression makes an instance of what it names."""
        step = self.steps.get(node.type)
        return step is not None and (step.is_new or step.is_call)

    def arguments(self, node: Node) -> list[Node]:
        """Return the arguments of a call."""
        given = node.child_by_field_name(self.arguments_field)
        return list(given.named_children) if given is not None else []

    def inside(self, node: Node) -> list[Node]:
        """Return what stands within a chain and is to be visited: calls in it, indexes, parts."""
        found: list[Node] = []
        step = self.steps.get(node.type)
        while step is not None:
            inner = _child(node, step.inner)
            name = node.child_by_field_name(step.name) if step.name else None
            given = node.child_by_field_name(self.arguments_field) if step.is_call else None
            skipped = {n.id for n in (inner, name, given) if n is not None}
            found += [child for child in node.named_children if child.id not in skipped]
            if inner is None or step.is_new or inner.type in self.names:
                return found
            node = inner
            step = self.steps.get(node.type)
            if step is None or step.mark:
                return [*found, node]
        return found

    def type_of(self, node: Node | None) -> Path | None:
        """Return the path of a value of a type, None where it is not one class."""
        many = False
        for _ in range(MAX_STEPS):
            if node is None:
                return None
            kind = node.type
            if kind in self.plain_types:
                return Path(_text(node), "()", many)
            if kind in self.dotted_types:
                found = self._dotted(node)
                return Path(found[0], found[1] + "()", many) if found else None
            if kind in self.many_types:
                if many:
                    return None
                many = True
                node = _child(node, self.many_types[kind])
            elif kind in self.through_types:
                node = _child(node, self.through_types[kind])
            else:
                return None
        return None

    def _dotted(self, node: Node) -> tuple[str, str] | None:
        parts: list[str] = []
        inner: Node | None = node
        while inner is not None and inner.type in self.dotted_types and len(parts) <= MAX_STEPS:
            before, after = self.dotted_types[inner.type]
            name = inner.child_by_field_name(after) if after else inner.named_children[-1]
            if name is None:
                return None
            while name.type in self.through_types:  # a generic at the end of a path
                name = _child(name, self.through_types[name.type]) or name
            parts.append("." + _text(name))
            inner = _child(inner, before)
        if inner is None:
            return None
        parts.reverse()
        return _text(inner), "".join(parts)


def _child(node: Node, name: str) -> Node | None:
    if name:
        return node.child_by_field_name(name)
    return node.named_children[0] if node.named_child_count else None


def _text(node: Node) -> str:
    return (node.text or b"").decode("utf-8", "replace").replace("::", ".")


def names_in(nodes: Iterable[Node], kinds: frozenset[str], limit: int = 1000) -> list[Node]:
    """Return the nodes of some kinds that stand below others, in order."""
    found: list[Node] = []
    stack = list(nodes)[::-1]
    while stack and len(found) < limit:
        node = stack.pop()
        if node.type in kinds:
            found.append(node)
        else:
            stack.extend(reversed(node.named_children))
    return found
