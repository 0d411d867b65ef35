"""Cursors: where a list goes on, bound to the query that they belong to.

Lists in the order of a key go on after the last one shown, whatever was added meanwhile; lists in the
order of a score, and lists of the past, after so many.
"""

from __future__ import annotations

import base64
import hashlib
import json
from typing import Any

from vault_kg.errors import InvalidArgument
from vault_kg.operations.base import Request

_NOT_THE_QUERY = {"cursor", "limit", "max_rows", "num_results", "last_n", "fields"}
"""How much is asked for at a time, and how it is shown, may change from page to page."""


def encode(request: Request, position: list[Any]) -> str:
    """Return the cursor for what follows a position."""
    text = json.dumps([_query(request), position], ensure_ascii=False, separators=(",", ":"))
    return base64.urlsafe_b64encode(text.encode()).decode()


def decode(request: Request, cursor: str | None) -> list[Any] | None:
    """Return the position in a cursor, or None where the list starts.

    Raises:
        InvalidArgument: it is not a cursor, or one of another query.
    """
    if not cursor:
        return None
    try:
        query, position = json.loads(base64.urlsafe_b64decode(cursor.encode()))
        if query != _query(request) or not isinstance(position, list) or not position:
            raise ValueError
    except (ValueError, TypeError, RecursionError):
        raise _foreign() from None
    return position


def offset(request: Request, cursor: str | None) -> int | None:
    """Return the number in a cursor, or None where the list starts.

    Raises:
        InvalidArgument: it is not a cursor, or one of another query.
    """
    position = decode(request, cursor)
    if position is None:
        return None
    if len(position) != 1 or type(position[0]) is not int or not 0 <= position[0] < 1 << 53:
        raise _foreign()
    return position[0]


def _foreign() -> InvalidArgument:
    return InvalidArgument(
        "the cursor is not one of this query; start again without it", field="cursor"
    )


def _query(request: Request) -> str:
    asked = request.model_dump(mode="json", exclude=_NOT_THE_QUERY, exclude_defaults=True)
    text = type(request).__name__ + json.dumps(asked, sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()[:16]
