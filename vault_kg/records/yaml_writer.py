"""How values are written as YAML: text that every YAML 1.1 and 1.2 reader reads back the same.

A string stays plain only when no reader takes it for anything else. Lists and mappings are written
in block style (`  - item`) or, where they stand in flow style, on one line.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final

import yaml

from vault_kg.records.yaml_scalars import Instant, Value, resolve

INDENT: Final = 2
_MAX_SIMPLE_KEY: Final = 120  # readers refuse a plain `key:` of more than 1,024 characters

_INDICATORS: Final = frozenset("-?:,[]{}#&*!|>'\"%@`=<~")
_FLOW_INDICATORS: Final = frozenset(",[]{}:?")
_ESCAPED: Final = re.compile('[\\x00-\\x1f"\\\\\\x7f-\\x9f\u2028\u2029\ufeff\ufffe\uffff]')
_UNQUOTABLE: Final = re.compile("[\\x00-\\x1f\\x7f-\\x9f\u2028\u2029\ufeff\ufffe\uffff]")
_NO_LITERAL: Final = re.compile(
    "[\\x00-\\x08\\x0b-\\x1f\\x7f-\\x9f\u2028\u2029\ufeff\ufffe\uffff]"
    r"|[ \t](?:\n|\Z)|\A[ \t\n]|\n\n\Z"
)
_SHORT_ESCAPES: Final = {
    "\n": "\\n",
    "\t": "\\t",
    "\r": "\\r",
    "\0": "\\0",
    '"': '\\"',
    "\\": "\\\\",
}
_INSTANT: Final = re.compile(r"\d{4}-\d\d-\d\d(?:T\d\d:\d\d:\d\dZ)?")
_KEPT_LENGTH: Final = 32
_ONE_LETTER_BOOLEANS: Final = frozenset("yYnN")
_SPACED_NUMBER: Final = re.compile(r"[+.0-9][-+.:_0-9a-fA-FoOxX]*")
_YAML_1_1: Final = yaml.SafeLoader.yaml_implicit_resolvers


def scalar(
    value: bool | int | float | str | None, style: str | None = None, flow: bool = False
) -> str:
    """Return a scalar as it stands on one line.

    Args:
        value: The value.
        style: The quote that a string had before, kept where it can be.
        flow: Whether it will stand inside `[…]` or `{…}`.
    """
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float):
        return _float(value)
    if isinstance(value, int):
        return str(value)
    return _text(value, style, flow)


def flow_text(value: Value, style: str | None = None) -> str:
    """Return any value as it stands inside flow style, on one line."""
    if isinstance(value, list):
        return "[" + ", ".join(flow_text(item) for item in value) + "]"
    if isinstance(value, dict):
        return "{" + ", ".join(flow_entry(key, item) for key, item in value.items()) + "}"
    return scalar(value, style, flow=True)


def flow_entry(key: str, value: Value) -> str:
    """Return a key and its value as they stand inside a flow mapping."""
    name = _text(key, None, True)
    mark = "? " if len(name) > _MAX_SIMPLE_KEY else ""
    return f"{mark}{name}: {flow_text(value)}"


def literal(text: str) -> tuple[str, list[str]] | None:
    """Return the header and the lines of a text as a literal block, None where that would not do.

    It does not do for one line, for control characters, for white space at the end of a line (which
    editors strip) or the beginning of the text, and for more than one line break at its end.
    """
    if "\n" not in text.rstrip("\n") or _NO_LITERAL.search(text):
        return None
    header = "|" if text.endswith("\n") else "|-"
    return header, text.removesuffix("\n").split("\n")


def entry_lines(key: str, value: Value, column: int, literals: bool = True) -> list[str]:
    """Return the lines of a key with its value in a block mapping at `column`.

    Args:
        key: The key.
        value: Its value.
        column: How far the mapping is indented.
        literals: Whether text of several lines may be written as a literal block.
    """
    name = _text(key, None, False)
    pad = " " * column
    if len(name) <= _MAX_SIMPLE_KEY:
        return _with_value(f"{pad}{name}:", value, column, literals)
    return [f"{pad}? {name}", *_with_value(f"{pad}:", value, column, literals)]


def item_lines(value: Value, column: int, literals: bool = True) -> list[str]:
    """Return the lines of an item of a block list at `column`; arguments as of `entry_lines`."""
    pad = " " * column
    if isinstance(value, list | dict) and value:
        first, *rest = block_lines(value, column + INDENT, literals)
        return [f"{pad}- {first[column + INDENT :]}", *rest]
    return _with_value(f"{pad}-", value, column, literals)


def block_lines(
    value: list[Value] | dict[str, Value], column: int, literals: bool = True
) -> list[str]:
    """Return the lines of a list or mapping in block style; arguments as of `entry_lines`."""
    lines: list[str] = []
    if isinstance(value, dict):
        for key, item in value.items():
            lines += entry_lines(key, item, column, literals)
    else:
        for item in value:
            lines += item_lines(item, column, literals)
    return lines


def _with_value(head: str, value: Value, column: int, literals: bool) -> list[str]:
    if isinstance(value, list | dict):
        if value:
            return [head, *block_lines(value, column + INDENT, literals)]
        return [f"{head} {flow_text(value)}"]
    block = literal(value) if literals and isinstance(value, str) else None
    if block is None:
        return [f"{head} {scalar(value)}"]
    header, lines = block
    return [f"{head} {header}", *indented(lines, column + INDENT)]


def indented(lines: list[str], column: int) -> list[str]:
    """Return lines moved right to `column`, the empty ones left empty."""
    return [" " * column + line if line else "" for line in lines]


def _float(number: float) -> str:
    text = repr(number)
    if text in ("inf", "-inf", "nan"):
        return text.replace("inf", ".inf").replace("nan", ".nan")
    mantissa, exponent_mark, exponent = text.partition("e")
    if exponent_mark and "." not in mantissa:  # YAML 1.1 takes 1e+16 for text
        mantissa += ".0"
    return mantissa + exponent_mark + exponent


def _text(text: str, style: str | None, flow: bool) -> str:
    if isinstance(text, Instant) and _INSTANT.fullmatch(text):
        return str.__str__(text)
    if style == '"' or _UNQUOTABLE.search(text):
        return '"' + _ESCAPED.sub(_escape, text) + '"'
    if style == "'" or not _is_plain(text, flow):
        return "'" + text.replace("'", "''") + "'"
    return text


def _escape(match: re.Match[str]) -> str:
    character = match.group()
    if character in _SHORT_ESCAPES:
        return _SHORT_ESCAPES[character]
    code = ord(character)
    return f"\\x{code:02X}" if code < 0x100 else f"\\u{code:04X}"


def _is_plain(text: str, flow: bool) -> bool:
    """Tell whether every reader takes the bare text, free of control characters, for itself."""
    if not text or text[0] in _INDICATORS or text.startswith("..."):
        return False
    if ": " in text or " #" in text or text[-1] == ":" or text != text.strip():
        return False
    if flow and not _FLOW_INDICATORS.isdisjoint(text):
        return False
    return not (_is_typed_kept(text) if len(text) <= _KEPT_LENGTH else _is_typed(text))


def _is_typed(text: str) -> bool:
    """Tell whether some reader takes the bare text for something other than text."""
    if text in _ONE_LETTER_BOOLEANS or not isinstance(resolve(text), str):
        return True
    if "_" in text and _SPACED_NUMBER.fullmatch(text):  # 1_000 and even +_ are numbers to some
        return True
    candidates = _YAML_1_1.get(text[0], []) + _YAML_1_1.get(None, [])
    return any(pattern.match(text) for _, pattern in candidates)


_is_typed_kept: Final = lru_cache(maxsize=4096)(_is_typed)
"""Keys and short values repeat from record to record."""
