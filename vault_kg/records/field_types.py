"""Field types of the ontology: what a page's field may hold, and how a value is checked.

Nothing is converted behind the writer's back: `"1843"` is no integer and `1843` no text. Only the
spelling of an allowed value and a single value where a list is declared are put in order.
"""

from __future__ import annotations

import math
import re
import unicodedata
from dataclasses import dataclass
from datetime import date, datetime
from functools import lru_cache
from typing import Any, Literal
from urllib.parse import urlsplit

from vault_kg.records import ids

Origin = Literal["builtin", "vault", "partition"]
Level = Literal["error", "warning"]

_DATE = re.compile(r"\d{4}-\d{2}-\d{2}")
_DATETIME = re.compile(r"\d{4}-\d{2}-\d{2}[Tt]\d{2}:\d{2}:\d{2}(\.\d+)?([Zz]|[+-]\d{2}:\d{2})")
_WIKILINK = re.compile(r"\[\[[^\[\]\n]+\]\]")
_NOT_ALPHANUMERIC = re.compile(r"[\W_]+")
_KEPT_LENGTH = 64


def fold(name: str) -> str:
    """Return the form in which two spellings of one declared name are equal.

    Case, white space, underscores, hyphens and other punctuation do not count: `APIContract`,
    `api_contract` and "API contract" are one name.
    """
    return _fold_kept(name) if len(name) <= _KEPT_LENGTH else _fold(name)


def _fold(name: str) -> str:
    folded = unicodedata.normalize("NFKC", name).casefold()
    return _NOT_ALPHANUMERIC.sub("", unicodedata.normalize("NFKC", folded))


_fold_kept = lru_cache(maxsize=4096)(_fold)
"""Each record is judged by the same declared names."""


@dataclass(frozen=True)
class FieldProblem:
    """One field of a page that breaks the ontology, and how.

    A warning is reported and does not stop a write; an error does.
    """

    field: str
    reason: str
    level: Level = "error"


@dataclass(frozen=True)
class FieldType:
    """One field that an ontology declares for a page type."""

    name: str
    type: str = "text"
    required: bool = False
    many: bool = False
    values: tuple[str | int | float, ...] = ()
    minimum: float | None = None
    maximum: float | None = None
    description: str = ""
    origin: Origin = "builtin"

    def check(self, value: Any) -> tuple[Any, str | None]:
        """Check one value of this field.

        Args:
            value: as read from front matter or a request; never None.

        Returns:
            The value in its stored form, and the reason why it is refused, or None.
        """
        if not self.many:
            if isinstance(value, list | tuple):
                return value, "takes one value, not a list"
            return self._check_one(value)
        items = list(value) if isinstance(value, list | tuple) else [value]
        checked = [self._check_one(item) for item in items]
        reason = next((reason for _, reason in checked if reason), None)
        return [item for item, _ in checked], reason

    def _check_one(self, value: Any) -> tuple[Any, str | None]:
        reason = _CHECKS[self.type](value)
        if reason:
            return value, f"must be {reason}, not {_shown(value)}"
        if self.values:
            return self._check_allowed(value)
        if self.minimum is not None and value < self.minimum:
            return value, f"must be at least {self.minimum:g}, not {value}"
        if self.maximum is not None and value > self.maximum:
            return value, f"must be at most {self.maximum:g}, not {value}"
        return value, None

    def _check_allowed(self, value: Any) -> tuple[Any, str | None]:
        for allowed in self.values:
            if value == allowed or (self.type == "text" and fold(value) == fold(str(allowed))):
                return allowed, None
        choices = ", ".join(str(allowed) for allowed in self.values)
        return value, f"must be one of {choices}, not {_shown(value)}"


def parse_scalar(type_name: str, text: str) -> str | int | float | None:
    """Return a value that a manifest writes as text in the form of a field type, or None.

    Args:
        type_name: one of `TYPE_NAMES`.
        text: the value as the manifest's YAML spells it.
    """
    if type_name not in ("integer", "number"):
        return text
    try:
        value = int(text) if type_name == "integer" else float(text)
    except ValueError:
        return None
    return value if math.isfinite(value) else None


def _text(value: Any) -> str | None:
    return None if isinstance(value, str) else "text (put it in quotes)"


def _integer(value: Any) -> str | None:
    is_integer = isinstance(value, int) and not isinstance(value, bool)
    return None if is_integer else "a whole number"


def _number(value: Any) -> str | None:
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    return None if is_number and math.isfinite(value) else "a number"


def _boolean(value: Any) -> str | None:
    return None if isinstance(value, bool) else "true or false"


def _date(value: Any) -> str | None:
    wanted = "a date YYYY-MM-DD"
    if not isinstance(value, str) or not _DATE.fullmatch(value):
        return wanted
    return None if _parses(date.fromisoformat, value) else wanted


def _datetime(value: Any) -> str | None:
    wanted = "a time YYYY-MM-DDThh:mm:ss with Z or an offset"
    if not isinstance(value, str) or not _DATETIME.fullmatch(value):
        return wanted
    return None if _parses(datetime.fromisoformat, value.upper()) else wanted


def _url(value: Any) -> str | None:
    wanted = "a URL with its scheme, as in https://example.org/"
    if not isinstance(value, str) or any(c.isspace() for c in value):
        return wanted
    return None if _parses(_split_url, value) else wanted


def _page(value: Any) -> str | None:
    if isinstance(value, str):
        is_page = ids.is_id(value) and ids.kind_of(value) == "page"
        if is_page or _WIKILINK.fullmatch(value):
            return None
    return "a page id (pg_…) or a [[wikilink]]"


def _split_url(value: str) -> None:
    parts = urlsplit(value)
    if not parts.scheme or not (parts.netloc or parts.path):
        raise ValueError(value)


def _parses(parse: Any, value: str) -> bool:
    try:
        parse(value)
    except ValueError:
        return False
    return True


def _shown(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 60 else text[:57] + "…"


_CHECKS = {
    "text": _text,
    "integer": _integer,
    "number": _number,
    "boolean": _boolean,
    "date": _date,
    "datetime": _datetime,
    "url": _url,
    "page": _page,
}

TYPE_NAMES = tuple(_CHECKS)
