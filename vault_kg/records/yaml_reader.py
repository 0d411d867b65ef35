"""The bounded YAML reader: text in, a tree of values that know where they stand in the text.

PyYAML's C parser (its Python one where that is missing) delivers the events. Values are those of
the YAML 1.2 core schema; `<<` is a key like any other.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from functools import lru_cache
from itertools import chain
from typing import Any, Final

import yaml

from vault_kg.records.yaml_composer import Composer
from vault_kg.records.yaml_layout import LINE_BREAK
from vault_kg.records.yaml_nodes import Node, Notice, Scalar, Tree, YamlError
from vault_kg.records.yaml_scalars import Value

_MAX_COLONS: Final = 20  # how often reading starts again behind an unquoted colon
_ODD: Final = re.compile("[\x85\u2028\u2029\ufeff]")
_MARK_ON_LINE: Final = re.compile("(?:\\A|[\r\n])\ufeff")
_UNREADABLE: Final = re.compile(
    "[^\t\n\r\x20-\x7e\x85\xa0-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]"
)
_STAND_INS: Final = (range(0xE000, 0xF900), range(0xF0000, 0xFFFFE))
_NO_COLON: Final = "mapping values are not allowed"
_WORD: Final = r"[^\s:#'\"\[\]{}&*!|>%@`,?-]"  # how a plain scalar may begin, and more strictly so
_KEY: Final = rf"""(?:"[^"\\\r\n]*"|'[^'\r\n]*'|{_WORD}(?:[^:#\r\n]|:(?!\s))*)"""
_PLAIN_ENTRY: Final = re.compile(rf"([ ]*(?:- +)*){_KEY}:[ \t]+{_WORD}")
_NEXT_LINE: Final = re.compile(r"[^\r\n]*(?:[\r\n][ \t]*)*[\r\n]([ \t]*)([^\s])")
_KEPT: Final = 500
_KEPT_LENGTH: Final = 4_000
"""Of a text of so many characters the tree is kept: a write reads the same front matter when it is
written, checked and indexed. Nobody changes a tree."""

_PARSER: Callable[[str], Any] = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


def compose(text: str) -> Tree:
    """Read one YAML document.

    One fault of people's notes is forgiven and noticed: `title: Foo: bar`, a plain value on one
    line that holds a colon and a space, is the text it looks like.

    Args:
        text: The document, without a byte order mark.

    Raises:
        YamlError: It is not YAML, holds more than one document, or exceeds a bound.
    """
    return _kept(text) if len(text) <= _KEPT_LENGTH else _compose(text)


def _compose(text: str) -> Tree:
    shown, restore = _hide_odd(text)
    notices: list[Notice] = []
    while True:
        try:
            return Tree(_read(shown, restore), tuple(notices))
        except _UnquotedColon as fault:
            if len(notices) >= _MAX_COLONS or not _is_forgivable(shown, fault.index):
                raise YamlError(fault.line, fault.reason) from None
            notices.append(Notice(fault.line, "a value that holds ': ' should be quoted"))
            stand_in = next(_unused(shown))
            shown = shown[: fault.index] + stand_in + shown[fault.index + 1 :]
            restore[ord(stand_in)] = ":"


_kept = lru_cache(_KEPT)(_compose)


def load(text: str) -> Value:
    """Read one YAML document and return its value, None for an empty one.

    Raises:
        YamlError: See `compose`.
    """
    root = _compose(text.removeprefix("\ufeff")).root
    return root.value if root else None


class _UnquotedColon(YamlError):
    """The parser met `: ` inside a plain value; `index` says where."""

    index: int


def _read(shown: str, restore: dict[int, str]) -> Node | None:
    composer = Composer(restore)
    try:
        root = composer.run(_PARSER(shown))
    except YamlError:
        raise
    except yaml.reader.ReaderError:
        raise _unreadable(shown) from None
    except yaml.MarkedYAMLError as error:
        raise _parse_error(error) from None
    except (yaml.YAMLError, ValueError, OverflowError) as error:  # an escape beyond Unicode
        raise YamlError(composer.line, f"not readable as YAML ({error})") from None
    if isinstance(root, Scalar) and root.start == root.end:  # `---` and nothing behind it
        return None
    return root


def _parse_error(error: yaml.MarkedYAMLError) -> YamlError:
    mark: Any = error.problem_mark or error.context_mark
    line = mark.line + 1
    reason = " ".join(part for part in (error.problem, error.context) if part)
    context: Any = error.context_mark
    if context and context.line != mark.line:
        reason += f" that begins on line {context.line + 1}"
    if not reason.startswith(_NO_COLON):
        return YamlError(line, reason)
    fault = _UnquotedColon(line, reason + "; quote a value that holds ': '")
    fault.index = mark.index
    return fault


def _unreadable(shown: str) -> YamlError:
    found = _UNREADABLE.search(shown)
    if not found:
        return YamlError(1, "holds a character that YAML does not allow")
    line = len(LINE_BREAK.findall(shown, 0, found.start())) + 1
    code = f"U+{ord(found.group()):04X}"
    return YamlError(line, f"holds the control character {code}; remove it, or quote and escape it")


def _is_forgivable(shown: str, index: int) -> bool:
    """Tell whether the colon at `index` stands in a plain value that is on its key's line alone."""
    begin = max(shown.rfind("\n", 0, index), shown.rfind("\r", 0, index)) + 1
    entry = _PLAIN_ENTRY.match(shown, begin)
    if entry is None or entry.end() > index or shown[index] != ":":
        return False
    following = _NEXT_LINE.match(shown, index)
    if following is None or following.group(2) == "#":
        return True
    return len(following.group(1)) <= len(entry.group(1))


def _hide_odd(text: str) -> tuple[str, dict[int, str]]:
    """Show NEL, LS, PS and byte order marks to the parser as private characters.

    PyYAML follows YAML 1.1, where the first three end a line, and skips a mark at the beginning of
    one; in YAML 1.2 they are characters like any other.
    """
    found = sorted(set(_ODD.findall(text)))
    if not found:
        return text, {}
    if mark := _MARK_ON_LINE.search(text):
        line = len(LINE_BREAK.findall(text, 0, mark.end())) + 1
        raise YamlError(line, "begins with a byte order mark; remove it")
    stand_in = dict(zip(found, _unused(text), strict=False))
    shown = text.translate({ord(old): new for old, new in stand_in.items()})
    return shown, {ord(new): old for old, new in stand_in.items()}


def _unused(text: str) -> Iterator[str]:
    """Return private characters that a text does not hold."""
    present = set(text)
    return (character for character in map(chr, chain(*_STAND_INS)) if character not in present)
