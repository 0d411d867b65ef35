"""What a value of a record is, and what a plain YAML scalar means: the YAML 1.2 core schema.

Only null, booleans, numbers, text, lists and mappings exist. Dates and times stay the text they are
written as, `no` and `on` are words, `0755` is a decimal number.
"""

from __future__ import annotations

import re
from typing import Final, TypeAlias

Value: TypeAlias = bool | int | float | str | list["Value"] | dict[str, "Value"] | None

MAX_DEPTH: Final = 50
MAX_NUMBER_LENGTH: Final = 1000  # below the interpreter's own limit on digits, in any base

_WORDS: Final[dict[str, bool | float | None]] = {
    **dict.fromkeys(("", "~", "null", "Null", "NULL")),
    **dict.fromkeys(("true", "True", "TRUE"), True),
    **dict.fromkeys(("false", "False", "FALSE"), False),
    **dict.fromkeys(
        (f"{sign}.{word}" for sign in ("", "+") for word in ("inf", "Inf", "INF")), float("inf")
    ),
    **dict.fromkeys(("-.inf", "-.Inf", "-.INF"), float("-inf")),
    **dict.fromkeys((".nan", ".NaN", ".NAN"), float("nan")),
}
_STARTS: Final = frozenset("+-.0123456789~nNtTfF")
_DECIMAL: Final = re.compile(r"[-+]?[0-9]+")
_OCTAL: Final = re.compile(r"0o[0-7]+")
_HEXADECIMAL: Final = re.compile(r"0x[0-9a-fA-F]+")
_FLOAT: Final = re.compile(r"[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?")
SURROGATE: Final = re.compile("[\ud800-\udfff]")


class SpelledInt(int):
    """An integer that is not written as `str` would write it: `0755`. As text it is as written."""

    text: str

    def __str__(self) -> str:
        return self.text


class SpelledFloat(float):
    """A number that is not written as `str` would write it: `1.10`. As text it is as written."""

    text: str

    def __str__(self) -> str:
        return self.text


def resolve(text: str) -> bool | int | float | str | None:
    """Return what an untagged plain scalar means under the YAML 1.2 core schema.

    A number of more than `MAX_NUMBER_LENGTH` characters stays the text it is written as.
    """
    if text and text[0] not in _STARTS:
        return text
    if text in _WORDS:
        return _WORDS[text]
    if len(text) > MAX_NUMBER_LENGTH:
        return text
    if _DECIMAL.fullmatch(text):
        return _integer(int(text), text)
    if _FLOAT.fullmatch(text):
        return _float(float(text), text)
    if _OCTAL.fullmatch(text):
        return _integer(int(text[2:], 8), text)
    if _HEXADECIMAL.fullmatch(text):
        return _integer(int(text[2:], 16), text)
    return text


def _integer(number: int, text: str) -> int:
    if str(number) == text:
        return number
    spelled = SpelledInt(number)
    spelled.text = text
    return spelled


def _float(number: float, text: str) -> float:
    if str(number) == text:
        return number
    spelled = SpelledFloat(number)
    spelled.text = text
    return spelled


class Instant(str):
    """A date, or a time in RFC 3339 and UTC, which the record format writes without quotes.

    It is text like any other to us and to YAML 1.2; a reader of YAML 1.1 takes it for a timestamp,
    which it is.
    """

    __slots__ = ()


def identity(value: Value) -> tuple[object, ...]:
    """Return a hashable form that is equal for the same value of the same types, and only then.

    `1`, `1.0`, `True` and `"1"` all differ; a NaN equals itself; the order of keys does not count.
    """
    if isinstance(value, dict):
        return ("map", frozenset((key, identity(item)) for key, item in value.items()))
    if isinstance(value, list):
        return ("list", *map(identity, value))
    if isinstance(value, float):
        return ("float", repr(value))
    if isinstance(value, str):
        return ("str", str.__str__(value))
    if isinstance(value, int) and not isinstance(value, bool):
        return ("int", int(value))
    return (type(value).__name__, value)


def same(left: Value, right: Value) -> bool:
    """Tell whether two values are equal, types included, at every level: have one `identity`."""
    if left is right:
        return True
    if isinstance(left, str):
        return isinstance(right, str) and left == right
    if isinstance(left, dict):
        return (
            isinstance(right, dict)
            and left.keys() == right.keys()
            and all(same(value, right[key]) for key, value in left.items())
        )
    if isinstance(left, list):
        return isinstance(right, list) and len(left) == len(right) and all(map(same, left, right))
    return not isinstance(right, str | dict | list) and identity(left) == identity(right)


def checked(value: object, where: str, depth: int = 0) -> Value:
    """Return a copy of a value in exactly the types that front matter has.

    Args:
        value: What somebody wants written.
        where: Its place (`fields.born`), for the message.
        depth: How many collections it already stands in.

    Raises:
        TypeError: It holds something that is not a `Value`, such as a date or a tuple.
        ValueError: It nests too deeply, or holds text that no UTF-8 file can hold.
    """
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, str):
        return _checked_text(value, where)
    if isinstance(value, int):
        return _checked_integer(int(value), where)
    if isinstance(value, float):
        return float(value)
    if not isinstance(value, list | dict):
        raise TypeError(
            f"{where}: {type(value).__name__} cannot be written to front matter; "
            "give null, true/false, a number, text, a list or a mapping"
        )
    if depth >= MAX_DEPTH:
        raise ValueError(f"{where}: nested more than {MAX_DEPTH} levels deep")
    if isinstance(value, list):
        return [checked(item, f"{where}[{i}]", depth + 1) for i, item in enumerate(value)]
    return {
        checked_key(key, where): checked(item, f"{where}.{key}", depth + 1)
        for key, item in value.items()
    }


def copied(value: Value) -> Value:
    """Return a value that shares no list or mapping with another."""
    if isinstance(value, dict):
        return {key: copied(item) for key, item in value.items()}
    if isinstance(value, list):
        return [copied(item) for item in value]
    return value


def checked_key(key: object, where: str) -> str:
    """Return a key as exact text.

    Raises:
        TypeError: It is not text.
        ValueError: It holds a lone surrogate.
    """
    if not isinstance(key, str):
        raise TypeError(f"{where}: the key {key!r} is not text")
    return _checked_text(key, where)


def _checked_text(text: str, where: str) -> str:
    if SURROGATE.search(text):
        raise ValueError(f"{where}: holds half of a surrogate pair, which no UTF-8 file can hold")
    return text if type(text) is Instant else str.__str__(text)


def _checked_integer(number: int, where: str) -> int:
    if number.bit_length() > 3 * MAX_NUMBER_LENGTH:
        raise ValueError(f"{where}: an integer of more than {MAX_NUMBER_LENGTH} digits; give text")
    return number
