"""The engine's values as JSON values, each in the form in which a reader expects its type.

Times are RFC 3339, durations ISO 8601, decimals and very large or infinite numbers text, bytes
hexadecimal. A node or relationship is its properties with its `_label`.
"""

from __future__ import annotations

import math
from datetime import date, datetime, timedelta
from decimal import Decimal
from typing import Any
from uuid import UUID


def to_json(value: Any) -> Any:
    """Return a value of the engine as a JSON value."""
    if isinstance(value, dict):
        return _mapping(value)
    if isinstance(value, list | tuple | set):
        return [to_json(item) for item in value]
    if isinstance(value, bool | int | str) or value is None:
        return value
    return _scalar(value)


def _mapping(value: dict[Any, Any]) -> Any:
    if value.keys() == {"offset", "table"}:
        return f"{value['table']}:{value['offset']}"
    if value.keys() == {"_NODES", "_RELS"}:
        return {"nodes": to_json(value["_NODES"]), "relationships": to_json(value["_RELS"])}
    if "_LABEL" not in value:
        return {str(key): to_json(item) for key, item in value.items()}
    kept = {key: item for key, item in value.items() if key not in _INTERNAL and item is not None}
    return {"_label": value["_LABEL"]} | {key: to_json(item) for key, item in kept.items()}


_INTERNAL = {"_ID", "_LABEL", "_SRC", "_DST"}


def _scalar(value: Any) -> Any:
    if isinstance(value, float):
        return value if math.isfinite(value) else str(value)
    if isinstance(value, datetime):
        return value.isoformat() + ("Z" if value.tzinfo is None else "")
    if isinstance(value, date):
        return value.isoformat()
    if isinstance(value, timedelta):
        return f"P{value.days}DT{value.seconds + value.microseconds / 1e6:g}S"
    if isinstance(value, Decimal):
        return int(value) if value == int(value) and not value.as_tuple().exponent else str(value)
    if isinstance(value, bytes):
        return value.hex()
    assert isinstance(value, UUID), f"the engine answered with a {type(value).__name__}"
    return str(value)
