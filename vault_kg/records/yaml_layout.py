"""Where things stand in a YAML text: lines, columns, the real end of a value, its `:` or `-`."""

from __future__ import annotations

import re
from bisect import bisect_right
from typing import Final

from vault_kg.records.yaml_nodes import Entry, Mapping, Node, Scalar, Sequence, walk

LINE_BREAK: Final = re.compile(r"(?>\r\n|\n|\r)")

_COLON: Final = re.compile(r"[ \t]*:")
_KEY_LEAD: Final = re.compile(r"[ ]*(?:-[ \t]+)*")
_TO_DASH: Final = re.compile(r"(?:[ \t]*(?:#[^\r\n]*)?(?>\r\n|\n|\r))*[ \t]*(?=-)")
_COMMENT: Final = re.compile(r"(?<![^\r\n])[ \t]*(#[^\r\n]*)")
_PROPERTIES: Final = re.compile(r"(?:[&!][^\s]*[ \t]*)*")
_BLOCK_HEADER: Final = re.compile(r"[|>][-+0-9]*")


class TooTangled(Exception):
    """A place cannot be rewritten alone; what stands around it has to be written anew as well."""


class Layout:
    """Answers where the parts of composed nodes stand in the text they were read from."""

    def __init__(self, text: str) -> None:
        self.text = text
        self._starts = [0, *(match.end() for match in LINE_BREAK.finditer(text))]

    def line_start(self, position: int) -> int:
        """Return where the line of a position begins."""
        return self._starts[bisect_right(self._starts, position) - 1]

    def line_end(self, position: int) -> int:
        """Return where the next line begins."""
        following = bisect_right(self._starts, position)
        return self._starts[following] if following < len(self._starts) else len(self.text)

    def column(self, position: int) -> int:
        """Return how many characters stand before a position on its line."""
        return position - self.line_start(position)

    def same_line(self, left: int, right: int) -> bool:
        """Tell whether two positions are on one line."""
        return self.line_start(left) == self.line_start(right)

    def lead(self, position: int) -> str:
        """Return what stands before a position on its line, without the indentation."""
        return self.text[self.line_start(position) : position].strip(" ")

    def tail(self, node: Node) -> int:
        """Return the end of a value's last character, before any comment or line break."""
        if is_block(node):
            if isinstance(node, Sequence):
                return self.tail(node.items[-1])
            if isinstance(node, Mapping):
                return self.entry_tail(node.entries[-1])
            return self._block_scalar_tail(node)
        return node.end

    def entry_tail(self, entry: Entry) -> int:
        """Return the end of an entry's last character."""
        if not is_empty(entry.value):
            return self.tail(entry.value)
        colon = self.colon(entry)
        if colon is not None:
            return colon
        before = entry.value.start
        return before if self.text[before - 1 : before] == ":" else self.tail(entry.key)

    def colon(self, entry: Entry) -> int | None:
        """Return the position behind the `:` of an entry, None for one written as `? key`."""
        lead = self.text[self.line_start(entry.key.start) : entry.key.start]
        match = _COLON.match(self.text, entry.key.end)
        return match.end() if match and _KEY_LEAD.fullmatch(lead) else None

    def dashes(self, sequence: Sequence) -> list[int]:
        """Return the position of each item's `-` in a block list.

        Raises:
            TooTangled: They are not where they are in an ordinary list.
        """
        found: list[int] = []
        position = self.properties_end(sequence)
        for item in sequence.items:
            match = _TO_DASH.match(self.text, position)
            if not match:
                raise TooTangled
            found.append(match.end())
            position = self.line_end(self.tail(item))
        return found

    def comments(self, begin: int, root: Node | None) -> list[str]:
        """Return the comments that have lines of their own, from a position on."""
        texts = [node for node in walk(root) if isinstance(node, Scalar)] if root else []
        return [
            match.group(1)
            for match in _COMMENT.finditer(self.text, begin)
            if not any(node.start < match.start(1) < node.end for node in texts)
        ]

    def properties_end(self, node: Node) -> int:
        """Return the position behind a node's anchor and tag, if it has any."""
        match = _PROPERTIES.match(self.text, node.start)
        return match.end() if match else node.start

    def has_braces(self, node: Mapping) -> bool:
        """Tell whether a flow mapping has braces; the pair in `[a: b]` has none."""
        return self.text[node.end - 1] == "}"

    def head_end(self, node: Node) -> int:
        """Return the end of what a value has on the line on which it starts.

        That is the whole of an inline value, the header of a block scalar, and the anchor or tag of
        a block collection.
        """
        if not is_block(node):
            return node.end
        end = self.properties_end(node)
        header = _BLOCK_HEADER.match(self.text, end)
        if isinstance(node, Scalar) and header:
            return header.end()
        return node.start + len(self.text[node.start : end].rstrip(" \t"))

    def _block_scalar_tail(self, node: Node) -> int:
        written = self.text[node.start : node.end]
        header = _BLOCK_HEADER.search(written)
        if header and "+" in header.group():  # blank lines at the end belong to it
            return node.end - len(written) + len(re.sub(r"(?:\r\n|\n|\r)\Z", "", written))
        return node.start + len(written.rstrip(" \t\r\n"))


def is_block(node: Node) -> bool:
    """Tell whether a value takes lines of its own: a block collection or a block scalar."""
    if isinstance(node, Sequence | Mapping):
        return not node.flow
    return isinstance(node, Scalar) and node.style in ("|", ">")


def is_empty(node: Node) -> bool:
    """Tell whether a value is written as nothing at all."""
    return isinstance(node, Scalar) and node.start == node.end


def quote(node: Node) -> str | None:
    """Return the quote that a value is written in, None for a value without."""
    return node.style if isinstance(node, Scalar) and node.style in ("'", '"') else None
