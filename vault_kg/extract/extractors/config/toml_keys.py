"""TOML: keys and tables; the standard parser says what is valid, a scan of lines where keys stand."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator
from typing import Any, Final

from vault_kg.extract.extractors.config.keys import Key, extraction_of
from vault_kg.extract.extractors.text import decoded
from vault_kg.extract.model import Extraction
from vault_kg.extract.protocol import ExtractorError

NAME: Final = "toml"
_PART: Final = r"""(?:[\w-]+|"(?:[^"\\]|\\.)*"|'[^']*')"""
_NAME: Final = rf"{_PART}(?:\s*\.\s*{_PART})*"
_TABLE: Final = re.compile(rf"\s*(\[\[?)\s*({_NAME})\s*\]\]?")
_ASSIGNED: Final = re.compile(rf"\s*({_NAME})\s*=\s*")
_PARTS: Final = re.compile(_PART)
_NOISE: Final = re.compile(r'"""|\'\'\'|"(?:[^"\\]|\\.)*"|\'[^\']*\'|#.*|[\[\]{}]')


class TomlExtractor:
    """Reads TOML files."""

    name = NAME
    version = 1
    suffixes = frozenset({".toml"})

    def extract(self, path: str, content: bytes) -> Extraction:
        """Return a file's keys.

        Raises:
            ExtractorError: it is not TOML.
        """
        text = decoded(content)
        try:
            values = tomllib.loads(text)
        except tomllib.TOMLDecodeError as error:
            raise ExtractorError(str(error)) from error
        except RecursionError as error:
            raise ExtractorError("nested too deeply to be parsed") from error
        lines = text.splitlines()
        return extraction_of(path, _keys(lines, values), len(lines), NAME)


def _keys(lines: list[str], values: dict[str, Any]) -> list[Key]:
    found: list[Key] = []
    table: tuple[str, ...] = ()
    opened: int | None = None
    number = 0
    while number < len(lines):
        line = lines[number]
        if header := _TABLE.match(line):
            if opened is not None:
                found[opened] = found[opened]._replace(end_line=number)
            table = _parts(header.group(2), values, is_list=header.group(1) == "[[")
            opened = len(found)
            found.append(Key(table, number + 1, len(lines)))
            number += 1
        elif assigned := _ASSIGNED.match(line):
            end = _value_end(lines, number, assigned.end())
            parts = table + tuple(_unquoted(part) for part in _PARTS.findall(assigned.group(1)))
            value = _value(values, parts)
            found.append(Key(parts, number + 1, end, value if isinstance(value, str) else None))
            if isinstance(value, dict):
                found += _inline(parts, value, number + 1)
            number = end
        else:
            number += 1
    return found


def _inline(parts: tuple[str, ...], value: dict[str, Any], line: int) -> Iterator[Key]:
    for name, inner in value.items():
        yield Key((*parts, name), line, line, inner if isinstance(inner, str) else None)


def _parts(name: str, values: dict[str, Any], *, is_list: bool) -> tuple[str, ...]:
    """Return the parts of a table's name; those that are lists of tables are marked."""
    plain = [_unquoted(part) for part in _PARTS.findall(name)]
    marked: list[str] = []
    at: Any = values
    for index, part in enumerate(plain):
        at = at.get(part) if isinstance(at, dict) else None
        listed = isinstance(at, list) or (is_list and index == len(plain) - 1)
        marked.append(f"{part}[]" if listed else part)
        at = at[0] if isinstance(at, list) and at else at
    return tuple(marked)


def _value(values: dict[str, Any], parts: tuple[str, ...]) -> Any:
    at: Any = values
    for part in parts:
        if not isinstance(at, dict) or part.endswith("[]"):
            return None
        at = at.get(part)
    return at


def _value_end(lines: list[str], number: int, start: int) -> int:
    """Return the last line, from 1, of a value that begins at `start` of a line."""
    depth = 0
    quote: str | None = None
    for index in range(number, len(lines)):
        pos = start if index == number else 0
        while True:
            if quote is not None:
                closed = lines[index].find(quote, pos)
                if closed < 0:
                    break
                pos, quote = closed + 3, None
            mark = _NOISE.search(lines[index], pos)
            if mark is None:
                break
            pos = mark.end()
            token = mark.group()
            if token in ('"""', "'''"):
                quote = token
            elif token in "[{":
                depth += 1
            elif token in "]}":
                depth -= 1
        if depth <= 0 and quote is None:
            return index + 1
    return len(lines)


def _unquoted(part: str) -> str:
    if part.startswith("'"):
        return part[1:-1]
    return str(tomllib.loads(f"k = {part}")["k"]) if part.startswith('"') else part
