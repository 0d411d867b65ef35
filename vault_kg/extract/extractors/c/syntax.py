"""Names, chains, types and declarators in C's and C++'s trees."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from vault_kg.extract.extractors.scoping.scopes import Scope
from vault_kg.extract.extractors.treesitter.chains import Chains, Path, Step, names_in
from vault_kg.extract.extractors.treesitter.walk import text

if TYPE_CHECKING:
    from tree_sitter import Node

_DECLARATORS: Final = frozenset(
    """pointer_declarator reference_declarator array_declarator parenthesized_declarator
    init_declarator function_declarator attributed_declarator""".split()
)
_DECLARED: Final = frozenset(
    """identifier field_identifier qualified_identifier type_identifier destructor_name
    operator_name""".split()
)
CLASSES: Final = {
    "struct_specifier": "class",
    "class_specifier": "class",
    "union_specifier": "class",
    "enum_specifier": "class",
}
CHAINS: Final = Chains(
    names=frozenset({"identifier", "this", "namespace_identifier"}),
    steps={
        "field_expression": Step("argument", "field"),
        "call_expression": Step("function", mark="()"),
        "qualified_identifier": Step("scope", "name"),
        "subscript_expression": Step("argument", mark="[]"),
        "parenthesized_expression": Step(""),
        "pointer_expression": Step("argument"),
        "template_function": Step("name"),
        "new_expression": Step("type", mark="()", is_new=True),
    },
    dotted_types={"qualified_identifier": ("scope", "name")},
    through_types={
        "template_type": "name",
        "type_descriptor": "type",
        **dict.fromkeys(CLASSES, "name"),
    },
    plain_types=frozenset({"type_identifier", "identifier", "namespace_identifier"}),
)


def type_of(node: Node | None) -> Path | None:
    """Return the path of a type; a smart pointer by what it points to, a container by its items."""
    if node is not None and node.type == "qualified_identifier":
        inner = node.child_by_field_name("name")
        if inner is not None and inner.type == "template_type":
            node = inner
    if node is not None and node.type == "template_type":
        word = text(node.child_by_field_name("name") or node)
        given = node.child_by_field_name("arguments")
        held = given.named_children[0] if given is not None and given.named_children else None
        if word in ("unique_ptr", "shared_ptr", "weak_ptr", "optional"):
            return CHAINS.type_of(held)
        if word in ("vector", "list", "set", "deque", "array"):
            found = CHAINS.type_of(held)
            return found and found._replace(many=True)
    return CHAINS.type_of(node)


def function_declarator(node: Node) -> Node | None:
    """Return the part of a definition that holds a function's name and parameters."""
    inner = node.child_by_field_name("declarator")
    while inner is not None and inner.type in _DECLARATORS:
        if inner.type == "function_declarator":
            return inner
        inner = inner.child_by_field_name("declarator") or _first(inner)
    return None


def declared_name(node: Node | None) -> Node | None:
    """Return the name that a declarator declares."""
    while node is not None and node.type in _DECLARATORS:
        node = node.child_by_field_name("declarator") or _first(node)
    if node is None or node.type not in _DECLARED or node.is_missing:
        return None  # a missing name is one that the parser made up to go on
    return node


def _first(node: Node) -> Node | None:
    return next(
        (child for child in node.named_children if child.type in _DECLARATORS | _DECLARED), None
    )


def is_prototype(declarator: Node) -> bool:
    """Whether a declarator declares a function."""
    return bool(names_in([declarator], frozenset({"function_declarator"}), limit=1))


def split(name: Node, scope: Scope) -> tuple[str | None, str]:
    """Return the class that a definition outside of it names, and the definition's own name."""
    whole = text(name).replace("::", ".").replace("operator()", "operator_call")
    owner, _, label = whole.rpartition(".")
    if not owner:
        return None, label
    return scope.inside(owner), label
