"""Names, chains, types, `use` trees and attributes in Rust's trees."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from vault_kg.extract.extractors.treesitter.chains import Chains, Path, Step
from vault_kg.extract.extractors.treesitter.walk import text

if TYPE_CHECKING:
    from tree_sitter import Node

ROOTS: Final = frozenset({"crate", "self", "super"})
_NAMES: Final = frozenset({"identifier", "self", "crate", "super"})
CHAINS: Final = Chains(
    names=_NAMES | {"type_identifier"},
    steps={
        "scoped_identifier": Step("path", "name"),
        "scoped_type_identifier": Step("path", "name"),
        "field_expression": Step("value", "field"),
        "call_expression": Step("function", mark="()"),
        "struct_expression": Step("name", mark="()"),
        "generic_function": Step("function"),
        "index_expression": Step("", mark="[]"),
        "try_expression": Step(""),
        "await_expression": Step(""),
        "reference_expression": Step("value"),
        "parenthesized_expression": Step(""),
    },
    dotted_types={
        "scoped_type_identifier": ("path", "name"),
        "scoped_identifier": ("path", "name"),
    },
    through_types={"reference_type": "type", "generic_type": "type", "dynamic_type": "trait"},
    many_types={"array_type": "element"},
    plain_types=frozenset({"type_identifier", "identifier", *ROOTS}),
)


def type_of(node: Node | None) -> Path | None:
    """Return the path of a type; a box, result or option is taken by what it holds."""
    for _ in range(8):
        if node is None or node.type not in ("generic_type", "reference_type"):
            break
        named = node.child_by_field_name("type")
        if node.type == "generic_type":
            word = text(named).rpartition("::")[2] if named is not None else ""
            held = node.child_by_field_name("type_arguments")
            if held is None or not held.named_children:
                break
            if word in ("Vec", "VecDeque", "HashSet", "BTreeSet"):
                inner = type_of(held.named_children[0])
                return inner and inner._replace(many=True)
            if word not in ("Box", "Rc", "Arc", "Option", "Result", "RefCell", "Mutex"):
                break
            named = held.named_children[0]
        node = named
    return CHAINS.type_of(node)


def imported(node: Node) -> Iterator[tuple[str, str, str]]:
    """Give the module, name and local name of everything that a `use` brings."""
    stack: list[tuple[Node, str]] = [(node, "")]
    while stack:
        part, prefix = stack.pop()
        if part.type == "use_list":
            stack.extend((one, prefix) for one in reversed(part.named_children))
        elif part.type == "scoped_use_list":
            path = part.child_by_field_name("path")
            inner = part.child_by_field_name("list")
            if inner is not None:
                stack.append((inner, _joined(prefix, text(path) if path is not None else "")))
        elif part.type == "use_wildcard":
            below = part.named_children
            yield _joined(prefix, text(below[0]) if below else ""), "*", ""
        elif part.type == "use_as_clause":
            path, alias = part.child_by_field_name("path"), part.child_by_field_name("alias")
            if path is not None and alias is not None:
                module, _, name = _joined(prefix, text(path)).rpartition("::")
                yield module or name, name if module else "", text(alias)
        elif part.type == "self" and prefix:
            module, _, name = prefix.rpartition("::")
            yield module or name, name if module else "", name
        elif part.type in ("identifier", "scoped_identifier", "crate", "super"):
            module, _, name = _joined(prefix, text(part)).rpartition("::")
            yield module or name, name if module else "", name


def _joined(prefix: str, path: str) -> str:
    return f"{prefix}::{path}" if prefix and path else prefix or path


def attributes(node: Node) -> Iterator[tuple[str, str | None]]:
    """Give the name and the first text of each attribute before an item."""
    previous = node.prev_named_sibling
    while previous is not None and previous.type in ("attribute_item", "line_comment"):
        if previous.type == "attribute_item" and previous.named_children:
            inner = text(previous.named_children[0])
            name, _, given = inner.partition("(")
            quoted = given.split('"')
            yield name.strip().rpartition("::")[2], quoted[1] if len(quoted) > 2 else None
        previous = previous.prev_named_sibling
