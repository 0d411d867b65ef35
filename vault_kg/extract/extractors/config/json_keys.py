"""JSON: keys of objects. Comments and trailing commas are read too, as in many tools' settings."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Final

from vault_kg.extract.extractors.config.keys import MAX_DEPTH, Key, extraction_of
from vault_kg.extract.extractors.text import decoded
from vault_kg.extract.model import Extraction
from vault_kg.extract.protocol import ExtractorError

NAME: Final = "json"
_TOKEN: Final = re.compile(
    r'"((?:[^"\\\n]|\\.)*)"|([{}\[\],:])|(//[^\n]*|/\*.*?\*/|\s+)|([^\s"{}\[\],:/]+)|(.)', re.DOTALL
)


class JsonExtractor:
    """Reads JSON files, and those with comments."""

    name = NAME
    version = 1
    suffixes = frozenset({".json", ".jsonc"})

    def extract(self, path: str, content: bytes) -> Extraction:
        """Return a file's keys.

        Raises:
            ExtractorError: it is not JSON.
        """
        text = decoded(content)
        keys = list(_keys(text))
        return extraction_of(path, keys, text.count("\n") + 1, NAME)


class _Level:
    """An open object or list."""

    __slots__ = ("closer", "name", "parts")

    def __init__(self, closer: str, parts: tuple[str, ...]) -> None:
        self.closer = closer
        self.parts = parts
        self.name: tuple[str, int] | None = None
        """The key whose value comes next, and its line."""


def _keys(text: str) -> Iterator[Key]:
    """Give the keys in order.

    Raises:
        ExtractorError: brackets do not match, or a token is none of JSON's.
    """
    line = 1
    levels: list[_Level] = []
    last: tuple[str, int] | None = None
    empty = True
    for token in _TOKEN.finditer(text):
        string, mark, space, literal, bad = token.groups()
        if bad is not None:
            raise ExtractorError(f"line {line}: unexpected {bad!r}")
        level = levels[-1] if levels else None
        if space is not None:
            line += space.count("\n")
            continue
        empty = False
        if mark in ("{", "["):
            levels.append(_opened(mark, level))
            if level is not None and level.name is not None:
                yield _key(level, line, None, mark)
                level.name = None
        elif mark in ("}", "]"):
            if level is None or level.closer != mark:
                raise ExtractorError(f"line {line}: {mark} closes nothing")
            levels.pop()
        elif mark == ":":
            if level is None or last is None or level.closer != "}":
                raise ExtractorError(f"line {line}: a colon without a key")
            level.name = last
        elif mark is None and level is not None and level.name is not None:
            yield _key(level, line, _text(string) if string is not None else None, "")
            level.name = None
        last = (_text(string), line) if string is not None else None
        del literal
    if levels or empty:
        raise ExtractorError(f"line {line}: the file ends too early")


def _opened(mark: str, level: _Level | None) -> _Level:
    parts = level.parts if level else ()
    if level is not None and level.name is not None:
        parts = (*parts, level.name[0] + ("[]" if mark == "[" else ""))
    return _Level(
        "}" if mark == "{" else "]", parts if len(parts) <= MAX_DEPTH else parts[: MAX_DEPTH + 1]
    )


def _key(level: _Level, end_line: int, text: str | None, mark: str) -> Key:
    assert level.name is not None
    name, line = level.name
    return Key((*level.parts, name + ("[]" if mark == "[" else "")), line, end_line, text)


def _text(raw: str) -> str:
    if "\\" not in raw:
        return raw
    try:
        return str(json.loads(f'"{raw}"'))
    except ValueError:
        return raw
