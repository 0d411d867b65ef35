"""JSON-RPC 2.0, one message a line: reading requests, and writing answers, errors and progress.

Source: https://www.jsonrpc.org/specification. Beyond it: `_progress_token` in params asks for progress
frames, which carry the request's id and are no answers; `_actor` names who acts.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any, Final

from vault_kg.errors import VaultError

PARSE_ERROR, INVALID_REQUEST, METHOD_NOT_FOUND, INVALID_PARAMS = -32700, -32600, -32601, -32602
REFUSED, UNAVAILABLE, AMBIGUOUS, IDENTITY_REFUSED = -32000, -32001, -32002, -32003

_CODES: Final = {
    "invalid_argument": INVALID_PARAMS,
    "unavailable": UNAVAILABLE,
    "ambiguous": AMBIGUOUS,
}

MAX_BATCH: Final = 1_000

Id = str | int | float | None


class _Missing:
    """The id of a notification, which is never answered."""


MISSING: Final = _Missing()


@dataclass(frozen=True)
class Call:
    """One request; a notification has the id `MISSING`."""

    id: Id | _Missing
    method: str
    params: dict[str, Any]
    progress_token: Any = None
    actor: str | None = None

    @property
    def wants_answer(self) -> bool:
        """Whether it is no notification."""
        return self.id is not MISSING


@dataclass(frozen=True)
class Malformed:
    """A message that is no request, and the answer that it gets."""

    answer: dict[str, Any]


def read(line: bytes) -> tuple[list[Call | Malformed], bool]:
    """Read one line.

    Returns:
        its requests, and whether they came as a batch, whose answers are one list.
    """
    try:
        message = json.loads(line)
    except (ValueError, RecursionError) as error:
        text = f"the line is not JSON: {error}" if not isinstance(error, RecursionError) else "too deep"
        return [Malformed(failure(None, PARSE_ERROR, text))], False
    if not isinstance(message, list):
        return [_one(message)], False
    if not message or len(message) > MAX_BATCH:
        text = f"a batch holds 1 to {MAX_BATCH:,} requests"
        return [Malformed(failure(None, INVALID_REQUEST, text))], False
    return [_one(item) for item in message], True


def _one(message: Any) -> Call | Malformed:
    if not isinstance(message, dict) or message.get("jsonrpc") != "2.0":
        return _malformed(message, 'a request is an object with "jsonrpc": "2.0"')
    request_id = message.get("id", MISSING)
    if isinstance(request_id, bool | dict | list):
        return Malformed(failure(None, INVALID_REQUEST, "id is a string, a number or null"))
    method, params = message.get("method"), message.get("params", {})
    if not isinstance(method, str):
        return _malformed(message, "method is missing")
    if not isinstance(params, dict):
        return _malformed(message, "params must be an object: arguments are named", INVALID_PARAMS)
    given = dict(params)
    token, actor = given.pop("_progress_token", None), given.pop("_actor", None)
    return Call(request_id, method, given, token, actor if isinstance(actor, str) else None)


def _malformed(message: Any, text: str, code: int = INVALID_REQUEST) -> Malformed:
    request_id = message.get("id") if isinstance(message, dict) else None
    usable = request_id if isinstance(request_id, str | int | float) else None
    return Malformed(failure(usable, code, text))


def success(request_id: Id | _Missing, result: Any) -> dict[str, Any]:
    """Return the answer of a request."""
    return {"jsonrpc": "2.0", "id": request_id, "result": result}


def failure(
    request_id: Id | _Missing, code: int, message: str, data: dict[str, Any] | None = None
) -> dict[str, Any]:
    """Return the error of a request."""
    error: dict[str, Any] = {"code": code, "message": message}
    return {"jsonrpc": "2.0", "id": request_id, "error": error | ({"data": data} if data else {})}


def refusal(request_id: Id | _Missing, error: VaultError) -> dict[str, Any]:
    """Return the error that tells a refusal; `data.code` is its stable code."""
    code = error.data.get("rpc_code") or _CODES.get(error.code, REFUSED)
    data = {k: v for k, v in error.data.items() if k != "rpc_code"}
    return failure(request_id, code, error.message, {"code": error.code, **data})


def progress(call: Call, done: int, total: int, message: str) -> dict[str, Any]:
    """Return a progress frame."""
    return {
        "type": "progress",
        "id": call.id,
        "token": call.progress_token,
        "progress": done,
        "total": total,
        "message": message,
    }


def encode(message: Any) -> bytes:
    """Return a message as one line."""
    text = json.dumps(message, ensure_ascii=False, separators=(",", ":"), default=str)
    return text.encode("utf-8", "replace") + b"\n"
