"""Answers that fit a client: nothing is cut silently.

An answer over the budget is asked for again, smaller, in the operation's own way of answering less
(fewer records, fewer characters), so that it says itself how to go on. The budget stands for tokens
and is given in characters of English: a Chinese character takes a token, as about four of those do.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from pydantic.alias_generators import to_camel

from vault_kg.errors import InvalidArgument
from vault_kg.operations.plain import Plain
from vault_kg.operations.registry import Operation
from vault_kg.serve.schemas import compact

MAX_CHARS = 100_000
"""About 25,000 tokens: what clients take of one answer."""

_LIMITS = ("limit", "num_results", "last_n", "top", "top_k", "max_nodes")
"""What operations call how many items they answer with."""

MARGIN = 0.9

_LEADS_OF_THREE = bytes(range(0xE0, 0xF0))
"""The first bytes of the characters that take three bytes in UTF-8."""

Ask = Callable[[dict[str, Any]], dict[str, Any]]


def fitting(
    operation: Operation, arguments: Mapping[str, Any], ask: Ask, budget: int = MAX_CHARS
) -> dict[str, Any]:
    """Return an answer that takes no more room than so many characters of English, as JSON.

    One that cannot be made smaller may take more, up to so many characters of any script.

    Args:
        operation: what is asked.
        arguments: its arguments, as they came.
        ask: runs the operation.
        budget: the most characters.

    Raises:
        InvalidArgument: it cannot be made to fit; says what to ask for instead.
    """
    asked = dict(arguments)
    while True:
        answer = ask(asked)
        if room_of(answer) <= budget:
            return answer
        smaller = None if not operation.read_only else _smaller(operation, asked, answer, budget)
        if smaller is None:
            size = len(compact(answer))
            if not operation.read_only or size <= budget:
                return answer  # a receipt is never withheld: the change is done
            raise _too_large(operation, size, budget)
        asked = smaller


def room_of(value: Any) -> int:
    """Return how many characters of English take as many tokens as a value does as JSON.

    A letter of Latin, Greek, Cyrillic, Hebrew or Arabic beyond ASCII counts two, what comes after
    these (U+0800: Indic and East Asian scripts, signs) four.
    """
    raw = compact(value).encode("utf-8", "surrogatepass")
    return len(raw) + len(raw) - len(raw.translate(None, _LEADS_OF_THREE))


def short(value: Any) -> Any:
    """Return an answer without what is null or empty, for the text form."""
    if isinstance(value, dict):
        return {k: short(v) for k, v in value.items() if v is not None and v != [] and v != {}}
    if isinstance(value, list):
        return [short(item) for item in value]
    return value


def is_plain(operation: Operation | None) -> bool:
    """Say whether an operation's answers and refusals are plain text for a model."""
    return operation is not None and issubclass(operation.result, Plain)


def _smaller(
    operation: Operation, asked: dict[str, Any], answer: dict[str, Any], budget: int
) -> dict[str, Any] | None:
    """Return arguments for a smaller answer, or None where there are none."""
    fields = operation.request.model_fields
    share = budget * MARGIN / room_of(answer)
    if "body_limit" in fields and isinstance(answer.get("body"), str):
        return _with(operation, asked, "body_limit", _body_room(answer, budget))
    limit = next((name for name in _LIMITS if name in fields), None)
    if limit is not None and (count := _count(answer)) > 1:
        now = _asked_for(operation, asked, limit)
        fewer = max(1, min(count - 1, int(min(count, now) * share)))
        return _with(operation, asked, limit, fewer) if fewer < now else None
    if "max_chars" in fields and isinstance(answer.get("text"), str):
        length = len(answer["text"])
        return _with(operation, asked, "max_chars", int(length * share) if length > 256 else 0)
    return None


def _asked_for(operation: Operation, asked: dict[str, Any], field: str) -> int:
    """Return the limit that was asked for, or the one that holds where none was."""
    known = operation.request.model_fields[field]
    spellings = (field, known.alias or field, to_camel(field))
    return int(next((asked[name] for name in spellings if name in asked), known.default))


def _body_room(answer: dict[str, Any], budget: int) -> int:
    body = answer["body"]
    encoded = room_of(body)
    room = (budget - (room_of(answer) - encoded)) * MARGIN
    return int(len(body) * room / encoded) if room > 0 and len(body) > 1 else 0


def _count(answer: dict[str, Any]) -> int:
    """Return how many items the longest list of an answer, or of its envelope's data, has."""
    inner = answer.get("data")
    values = [*answer.values(), *(inner.values() if isinstance(inner, dict) else ())]
    return max((len(value) for value in values if isinstance(value, list)), default=0)


def _with(
    operation: Operation, asked: dict[str, Any], field: str, value: int
) -> dict[str, Any] | None:
    if value < 1:
        return None
    alias = operation.request.model_fields[field].alias or field
    spellings = (field, alias, to_camel(field))
    return {k: v for k, v in asked.items() if k not in spellings} | {alias: value}


def _too_large(operation: Operation, size: int, budget: int) -> InvalidArgument:
    return InvalidArgument(
        f"the answer of {operation.name} would be {size:,} characters, and this client takes "
        f"{budget:,}; ask for less: a narrower filter, a smaller limit, without diff, some lines "
        "of a source, or a part of a body (bodyOffset, bodyLimit)",
        chars=size,
        max_chars=budget,
    )
