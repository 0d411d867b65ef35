"""What a model answers, item by item: one that is no use is put aside, and the rest is kept."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from json import JSONDecodeError, JSONDecoder
from typing import Any, Literal

from vault_kg.index.validate import is_instant
from vault_kg.ingest.prompt import MAX_NAME

MAX_TEXT = 2_000
_KEYS = {
    "entity": {"name", "type", "summary"},
    "relationship": {"source", "type", "target", "fact", "quote", "valid_from", "valid_until"},
    "claim": {"about", "kind", "statement", "quote", "valid_from", "valid_until"},
}
_CONTROLS = re.compile(r"[\x00-\x1f\x7f\x85\u2028\u2029]+")


Kind = Literal["entity", "claim", "relationship"]
Aside = tuple[Kind, Any, str]
"""(kind, the item as it came, why it was put aside or what was mended)."""


@dataclass(frozen=True)
class Entity:
    """A thing that a piece names."""

    name: str
    type: str
    summary: str = ""


@dataclass(frozen=True)
class Statement:
    """What a piece says: a relation of two names, or a claim on one (its target is None)."""

    source: str
    target: str | None
    type: str
    text: str
    quote: str
    valid_from: str | None = None
    valid_until: str | None = None


@dataclass
class Read:
    """The items of one answer, and what was put aside."""

    entities: list[Entity] = field(default_factory=list)
    statements: list[Statement] = field(default_factory=list)
    malformed: list[Aside] = field(default_factory=list)
    salvaged: list[Aside] = field(default_factory=list)


class NotJson(ValueError):
    """An answer holds no JSON object."""


def load(text: str) -> dict[str, Any]:
    """Read the JSON object of an answer, also one in a fence, after words, or cut short.

    Of an object that ends too early every item that is whole is kept.

    Raises:
        NotJson: there is none.
    """
    start = text.find("{")
    if start < 0:
        raise NotJson("the answer holds no JSON object")
    try:
        found, _ = JSONDecoder().raw_decode(text, start)
    except (JSONDecodeError, RecursionError):
        found = _whole_items(text[start:])
    if not isinstance(found, dict):
        raise NotJson("the answer is no JSON object")
    return found


def read(answer: Mapping[str, Any]) -> Read:
    """Take the items of an answer one by one."""
    done = Read()
    for item in _listed(answer, "entities"):
        _take_entity(item, done)
    for item in _listed(answer, "relations"):
        _take_statement(item, "relationship", ("source", "target", "fact"), done)
    for item in _listed(answer, "claims"):
        _take_statement(item, "claim", ("about", None, "statement"), done)
    return done


def _listed(answer: Mapping[str, Any], key: str) -> list[Any]:
    value = answer.get(key)
    return value if isinstance(value, list) else []


def _take_entity(item: Any, done: Read) -> None:
    if not isinstance(item, Mapping):
        done.malformed.append(("entity", item, "it is no object"))
        return
    name = _text(item.get("name"))
    if name is None or not any(c.isalnum() for c in name):
        done.malformed.append(("entity", item, "it has no name"))
        return
    if len(name) > MAX_NAME:
        done.malformed.append(("entity", item, f"its name has over {MAX_NAME} characters"))
        return
    kind, summary = _text(item.get("type")), _text(item.get("summary"))
    mended = [] if kind else ["without a type"]
    if not isinstance(item.get("summary"), str):
        mended.append("without a summary")
    _note_mended("entity", item, mended, done)
    done.entities.append(Entity(name, kind or "", summary or ""))


def _take_statement(item: Any, kind: Kind, keys: tuple[str, str | None, str], done: Read) -> None:
    if not isinstance(item, Mapping):
        done.malformed.append((kind, item, "it is no object"))
        return
    wanted = [key for key in (*keys, "quote") if key is not None]
    missing = [key for key in wanted if _text(item.get(key)) is None]
    if missing:
        done.malformed.append((kind, item, f"it has no {' and no '.join(missing)}"))
        return
    source, target, text = (None if key is None else _text(item.get(key)) for key in keys)
    dates = {key: _text(item.get(key)) for key in ("valid_from", "valid_until")}
    wrong = [key for key, value in dates.items() if value is not None and not is_instant(value)]
    stated = _text(item.get("kind" if kind == "claim" else "type"))
    mended = [f"{key} is no date" for key in wrong] + ([] if stated else ["without a type"])
    _note_mended(kind, item, mended, done)
    kept = {key: None if key in wrong else value for key, value in dates.items()}
    assert source is not None and text is not None, "neither is missing"
    quote = str(item["quote"]).strip()
    done.statements.append(Statement(source, target, stated or "", text, quote, **kept))


def _note_mended(kind: Kind, item: Mapping[str, Any], mended: list[str], done: Read) -> None:
    """Tell what an item is kept without; a key that nobody asked for is never obeyed."""
    strange = sorted(str(key) for key in item if key not in _KEYS[kind])
    if strange:
        mended = [*mended, f"without {', '.join(strange)}, which nobody asked for"]
    if mended:
        done.salvaged.append((kind, item, "; ".join(mended)))


def _text(value: Any) -> str | None:
    """Return a text as one line, or None where it is none or blank."""
    if not isinstance(value, str):
        return None
    line = " ".join(_CONTROLS.sub(" ", value).split())
    return line[:MAX_TEXT] or None


def _whole_items(text: str) -> dict[str, list[Any]]:
    """Return the items of each list of an object that ends too early, as far as they are whole."""
    found: dict[str, list[Any]] = {}
    for key, start in _lists(text):
        found[key] = list(_items(text, start))
    return found


_LIST = re.compile(r'"(entities|relations|claims)"\s*:\s*\[')
_SEPARATOR = re.compile(r"[\s,]*")


def _lists(text: str) -> Iterator[tuple[str, int]]:
    for match in _LIST.finditer(text):
        yield match[1], match.end()


def _items(text: str, at: int) -> Iterator[Any]:
    while True:
        space = _SEPARATOR.match(text, at)
        at = space.end() if space else at
        try:
            item, at = json.JSONDecoder().raw_decode(text, at)
        except (JSONDecodeError, RecursionError):
            return
        yield item
