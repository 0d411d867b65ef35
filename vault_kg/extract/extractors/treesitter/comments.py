"""The comment before a definition, as its documentation."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from vault_kg.extract.extractors.nodes import first_paragraph

if TYPE_CHECKING:
    from tree_sitter import Node

_COMMENTS: Final = frozenset({"comment", "line_comment", "block_comment"})
_BETWEEN: Final = frozenset({"attribute_item", "decorator"})
_MARKS: Final = re.compile(
    r"^[ \t]*(?:/\*+!?|\*+/|\*(?!/)|//[/!]?)[ \t]?|[ \t]*\*+/[ \t]*$", re.MULTILINE
)
_MAX_LINES: Final = 40


def before(node: Node) -> str:
    """Return the first paragraph of the comment that ends just above a node, "" without one."""
    found: list[str] = []
    line = node.start_point[0]
    comment = node.prev_sibling
    while comment is not None and len(found) < _MAX_LINES:
        if comment.type in _BETWEEN:
            line = comment.start_point[0]
        elif comment.type in _COMMENTS and line - _last_line(comment) <= 1:
            found.append((comment.text or b"").decode("utf-8", "replace").rstrip("\n"))
            line = comment.start_point[0]
        else:
            break
        comment = comment.prev_sibling
    found.reverse()
    return first_paragraph(_MARKS.sub("", "\n".join(found)))


def _last_line(comment: Node) -> int:
    row, column = comment.end_point
    return row if column else row - 1
