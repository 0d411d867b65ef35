"""What a caller hands in, as the text that is read and retained.

JSON that is a conversation becomes a transcript, one line a message, so that a quote of it is what
somebody said and not how JSON spells it. Everything else is retained as it was sent.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, Literal

Kind = Literal["text", "message", "json"]

_WHO = ("speaker", "author", "sender", "name", "user", "from", "role")
_SAID = ("content", "text", "message", "body")
_WHEN = ("time", "timestamp", "date", "created_at", "ts")
_LISTS = ("messages", "conversation", "items")


def kind_of(filename: str) -> Kind:
    """Return what a file holds, by its name."""
    return "json" if filename.lower().endswith(".json") else "text"


def as_text(body: str, kind: Kind) -> tuple[str, bool]:
    """Return a document's text, and whether it is a transcript made of JSON messages."""
    if kind == "text":
        return body, False
    try:
        messages = _messages(json.loads(body))
    except (ValueError, RecursionError):
        return body, False
    if not messages:
        return body, False
    return "\n".join(_line(message) for message in messages) + "\n", True


def fault(body: str, kind: Kind) -> str | None:
    """Return what keeps a document from being the JSON that it is called, None where nothing does."""
    if kind != "json":
        return None
    try:
        json.loads(body)
    except (ValueError, RecursionError) as error:
        return f"it is no JSON, and was read as plain text: {error}"
    return None


def _messages(value: Any) -> list[Mapping[str, Any]] | None:
    """Return the messages of a conversation, or None where the value is something else."""
    if isinstance(value, Mapping):
        value = next((value[key] for key in _LISTS if isinstance(value.get(key), list)), None)
    if not isinstance(value, list) or not all(isinstance(item, Mapping) for item in value):
        return None
    return value if all(_first(item, _SAID) is not None for item in value) else None


def _line(message: Mapping[str, Any]) -> str:
    who, when = _first(message, _WHO) or "somebody", _first(message, _WHEN)
    said = " ".join((_first(message, _SAID) or "").split())
    return f"{who} ({when}): {said}" if when else f"{who}: {said}"


def _first(message: Mapping[str, Any], keys: tuple[str, ...]) -> str | None:
    """Return the first of these keys that holds text, as one line."""
    found = (message[key] for key in keys if isinstance(message.get(key), str | int | float))
    text = next((str(value) for value in found), None)
    return text if text is None else text.strip()
