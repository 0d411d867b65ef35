"""The front matter of a Markdown file, read within bounds and written without touching the rest.

The block is a line `---` at the first byte (a byte order mark may stand before it), YAML, and a
line `---` or `...`; what follows is the body. A block behind blank lines is not front matter. What
a write does not change keeps its bytes: comments, order, quoting, line breaks, mark and body.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from difflib import SequenceMatcher
from enum import Enum
from functools import lru_cache
from typing import Final, NamedTuple

from vault_kg.records import merge_markers, yaml_edit
from vault_kg.records.yaml_layout import LINE_BREAK
from vault_kg.records.yaml_nodes import Mapping as MappingNode
from vault_kg.records.yaml_nodes import Notice, Tree, YamlError
from vault_kg.records.yaml_reader import compose
from vault_kg.records.yaml_scalars import Value, checked, checked_key, copied, same

__all__ = [
    "MAX_RECORD_BYTES",
    "REMOVE",
    "Document",
    "FrontMatterError",
    "Remove",
    "Value",
    "displaced_block",
    "edit",
    "new_document",
    "parse",
]

MAX_RECORD_BYTES: Final = 10_000_000

_BOM: Final = "\ufeff"
_OPENING: Final = re.compile(r"---[ \t]*(?:\r\n|\n|\r|\Z)")
_CLOSING: Final = re.compile(r"(?<=[\r\n])(?:---|\.\.\.)[ \t]*(?:\r\n|\n|\r|\Z)")
_BLANK_THEN_FENCE: Final = re.compile(r"(?:[ \t]*(?>\r\n|\n|\r))+(?=---[ \t]*[\r\n])")


class FrontMatterError(ValueError):
    """The front matter of a file cannot be read; `line` (from 1, of the file) says where."""

    def __init__(self, line: int, reason: str) -> None:
        super().__init__(f"line {line}: {reason}")
        self.line = line
        self.reason = reason


class Remove(Enum):
    """The type of `REMOVE`, which in the place of a value means: take the key away."""

    REMOVE = "remove"


REMOVE: Final = Remove.REMOVE


KEPT: Final = 500
KEPT_BYTES: Final = 8_000
"""Of so many files of at most so many bytes it is kept what they were read as: a write reads the same
bytes when they are checked, indexed and looked at again."""


@dataclass(frozen=True, eq=False)
class Document:
    """A Markdown file as read.

    Attributes:
        raw: Its exact bytes.
        has_bom: Whether it begins with a byte order mark.
        newline: Its first line break, or a line feed if it has none.
        has_front_matter: Whether it begins with a block of front matter.
        fields: The values of the block, by key; nobody changes them.
        lines: The line of the file, from 1, on which each key stands.
        body: The text behind the block, its line breaks as they are.
        body_line: The line of the file on which the body begins.
        notices: What was read although YAML forbids it.
        tree: What the block was read as; nobody changes it.
    """

    raw: bytes
    has_bom: bool
    newline: str
    has_front_matter: bool
    fields: Mapping[str, Value]
    lines: Mapping[str, int]
    body: str
    body_line: int
    notices: tuple[Notice, ...] = ()
    tree: Tree | None = field(default=None, repr=False, compare=False)


class Block(NamedTuple):
    """Where a block of front matter stands: the ends of its fences, in a text without its mark."""

    begin: int  # behind the opening fence
    end: int  # before the closing fence
    body: int  # behind the closing fence


def find_block(text: str) -> Block | None:
    """Return where the front matter of a text stands, None if it has none.

    Raises:
        FrontMatterError: The block is never closed.
    """
    opening = _OPENING.match(text)
    if not opening:
        return None
    closing = _CLOSING.search(text, opening.end())
    if not closing:
        raise FrontMatterError(1, "the front matter is not closed; end it with a line `---`")
    return Block(opening.end(), closing.start(), closing.end())


def parse(raw: bytes) -> Document:
    """Read a Markdown file. The same document may be given to who reads the same bytes again.

    Args:
        raw: The bytes of the file.

    Raises:
        FrontMatterError: It is not UTF-8, too large, or its front matter is not closed, not YAML,
            not a mapping, repeats a key or exceeds the bounds of the reader.
    """
    return _parse_kept(raw) if len(raw) <= KEPT_BYTES else _parse(raw)


def _parse(raw: bytes) -> Document:
    text = _decoded(raw)
    has_bom = text.startswith(_BOM)
    text = text.removeprefix(_BOM)
    first_break = LINE_BREAK.search(text)
    newline = first_break.group() if first_break else "\n"
    try:
        block = find_block(text)
        if block is None:
            return Document(raw, has_bom, newline, False, {}, {}, text, 1)
        tree = _composed(text[: block.end])
    except FrontMatterError as error:
        raise _as_conflict(text) or error from None
    lines: dict[str, int] = {}
    if isinstance(tree.root, MappingNode):
        lines = {entry.name: entry.key.line for entry in tree.root.entries}
    body_line = len(LINE_BREAK.findall(text, 0, block.end)) + 2
    body = text[block.body :]
    fields = {key: copied(value) for key, value in _fields(tree).items()}
    return Document(raw, has_bom, newline, True, fields, lines, body, body_line, tree.notices, tree)


_parse_kept = lru_cache(KEPT)(_parse)


def edit(
    document: Document, changes: Mapping[str, Value | Remove], body: str | None = None
) -> bytes:
    """Return the bytes of a file with some of its fields, or its body, changed.

    Only lines of what really changes are written: a value that equals the one that stands, types
    included, keeps its bytes. New keys come before the closing fence. A file without front matter
    gets a block above its first byte.

    Args:
        document: The file as read.
        changes: A new value for each key, or `REMOVE`.
        body: A new body; its line breaks become those of the file.

    Raises:
        TypeError: A value is of a type that front matter does not have.
        ValueError: A value cannot be written (half a surrogate pair, nested too deeply).
        FrontMatterError: What would result exceeds the bounds of the reader.
    """
    tree = document.tree or parse(document.raw).tree
    standing = _fields(tree) if tree else {}
    fields = _changed(standing, changes)
    new_body = document.body if body is None else _with_breaks(document, body)
    if same(standing, fields) and new_body == document.body:
        return document.raw
    text = document.raw.decode().removeprefix(_BOM)
    block = find_block(text)
    if block is None:
        return _built(document.has_bom, fields, new_body, document.newline)
    front = _edited(text[: block.end], block.begin, fields, document.newline, tree)
    fence = text[block.end : block.body]
    if new_body and fence[-1] not in "\r\n":
        fence += document.newline
    return _encoded(document.has_bom, front + fence + new_body)


def new_document(fields: Mapping[str, Value], body: str, newline: str = "\n") -> bytes:
    """Return the bytes of a new file.

    Args:
        fields: Its front matter, in the order in which it shall stand.
        body: Its body; its line breaks become `newline`.
        newline: The line break of the file.

    Raises:
        TypeError: A value is of a type that front matter does not have.
        ValueError: A value cannot be written (half a surrogate pair, nested too deeply).
        FrontMatterError: What would result exceeds the bounds of the reader.
    """
    front = _edited(f"---{newline}", 3 + len(newline), _changed({}, fields), newline)
    return _encoded(False, f"{front}---{newline}{_broken_by(newline, body)}")


def displaced_block(document: Document) -> int | None:
    """Return the line of a `---` that only blank lines keep from being front matter.

    A block put above such a file would be its second one.
    """
    if document.has_front_matter:
        return None
    match = _BLANK_THEN_FENCE.match(document.body)
    return len(LINE_BREAK.findall(match.group())) + 1 if match else None


def _decoded(raw: bytes) -> str:
    if len(raw) > MAX_RECORD_BYTES:
        raise FrontMatterError(1, f"the file is larger than {MAX_RECORD_BYTES // 1_000_000} MB")
    try:
        return raw.decode()
    except UnicodeDecodeError as error:
        line = len(LINE_BREAK.findall(raw[: error.start].decode())) + 1
        raise FrontMatterError(line, "the file is not UTF-8 text; save it as UTF-8") from None


def _as_conflict(text: str) -> FrontMatterError | None:
    """Return what is wrong with a text that cannot be read, where Git could not merge its block."""
    closing = _CLOSING.search(text, 3)
    line = merge_markers.line_in(text)
    end = len(LINE_BREAK.findall(text, 0, closing.start())) if closing else line
    return FrontMatterError(line, merge_markers.REASON) if line and line <= (end or 0) else None


def _composed(front: str) -> Tree:
    try:
        tree = compose(front)
    except YamlError as error:
        raise FrontMatterError(error.line, error.reason) from None
    if tree.root is not None and not isinstance(tree.root, MappingNode):
        raise FrontMatterError(tree.root.line, "the front matter is not made of `key: value` lines")
    return tree


def _fields(tree: Tree) -> dict[str, Value]:
    return tree.root.value if isinstance(tree.root, MappingNode) else {}


def _changed(
    fields: Mapping[str, Value], changes: Mapping[str, Value | Remove]
) -> dict[str, Value]:
    result = dict(fields)
    for key, value in changes.items():
        name = checked_key(key, "front matter")
        if isinstance(value, Remove):
            result.pop(name, None)
        else:
            result[name] = checked(value, name, 1)
    return result


def _edited(
    front: str, begin: int, fields: dict[str, Value], newline: str, tree: Tree | None = None
) -> str:
    try:
        return yaml_edit.edit(front, begin, fields, newline, tree)
    except YamlError as error:
        raise FrontMatterError(error.line, f"cannot be written: {error.reason}") from None


def _built(has_bom: bool, fields: dict[str, Value], body: str, newline: str) -> bytes:
    """Return a file whose front matter is ours, and none where it needs none."""
    if not fields and not _OPENING.match(body) and (has_bom or not body.startswith(_BOM)):
        return _encoded(has_bom, body)
    front = _edited(f"---{newline}", 3 + len(newline), fields, newline)
    return _encoded(has_bom, f"{front}---{newline}{body}")


def _encoded(has_bom: bool, text: str) -> bytes:
    try:
        raw = ((_BOM if has_bom else "") + text).encode()
    except UnicodeEncodeError:
        raise ValueError(
            "body: holds half of a surrogate pair, which no UTF-8 file can hold"
        ) from None
    if len(raw) > MAX_RECORD_BYTES:
        raise FrontMatterError(1, f"would be larger than {MAX_RECORD_BYTES // 1_000_000} MB")
    return raw


def _broken_by(newline: str, body: str) -> str:
    return body if newline == "\n" else re.sub(r"(?<!\r)\n", newline, body)


def _with_breaks(document: Document, body: str) -> str:
    """Return a new body with the line breaks of the file, and of each line that stays its own."""
    body = _broken_by(document.newline, body)
    if set(LINE_BREAK.findall(document.body)) <= {document.newline}:
        return body
    old, new = _lines(document.body), _lines(body)
    matcher = SequenceMatcher(None, [text for text, _ in old], [text for text, _ in new])
    for block in matcher.get_matching_blocks():
        for i in range(block.size):
            text, newline = old[block.a + i]
            if newline and new[block.b + i][1]:
                new[block.b + i] = (text, newline)
    return "".join(text + newline for text, newline in new)


def _lines(text: str) -> list[tuple[str, str]]:
    """Return the lines of a text, each with its line break."""
    parts = re.split(f"({LINE_BREAK.pattern})", text)
    return list(zip(parts[::2], [*parts[1::2], ""], strict=True))
