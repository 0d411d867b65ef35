"""Names, chains and strings in JavaScript's and TypeScript's trees."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from vault_kg.extract.extractors.treesitter.chains import Chains, Step
from vault_kg.extract.extractors.treesitter.walk import text

if TYPE_CHECKING:
    from tree_sitter import Node

NAMES: Final = frozenset({"identifier", "this", "super", "shorthand_property_identifier"})
PATTERN_NAMES: Final = NAMES | {"shorthand_property_identifier_pattern"}
FUNCTIONS: Final = frozenset({"arrow_function", "function_expression", "generator_function"})
CHAINS: Final = Chains(
    names=NAMES,
    steps={
        "member_expression": Step("object", "property"),
        "call_expression": Step("function", mark="()"),
        "new_expression": Step("constructor", mark="()", is_new=True),
        "subscript_expression": Step("object", mark="[]"),
        "await_expression": Step(""),
        "non_null_expression": Step(""),
        "parenthesized_expression": Step(""),
        "as_expression": Step(""),
    },
    dotted_types={
        "nested_type_identifier": ("module", "name"),
        "member_expression": ("object", "property"),
    },
    through_types={"type_annotation": "", "generic_type": "name", "parenthesized_type": ""},
    many_types={"array_type": ""},
)


def required(node: Node | None) -> str | None:
    """Return the module of `require("…")` or `import("…")`."""
    if node is not None and node.type == "await_expression" and node.named_children:
        node = node.named_children[0]
    if node is None or node.type != "call_expression":
        return None
    function = node.child_by_field_name("function")
    arguments = node.child_by_field_name("arguments")
    if function is None or arguments is None or text(function) not in ("require", "import"):
        return None
    given = arguments.named_children
    return string(given[0]) if len(given) == 1 and given[0].type == "string" else None


def string(node: Node) -> str:
    """Return the text of a string without its quotes."""
    return text(node)[1:-1]
