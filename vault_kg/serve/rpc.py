"""JSON-RPC 2.0, one message a line: reading requests, and writing answers, errors and progress.

Source: https://www.jsonrpc.org/specification. Arguments are named, never positional. Beyond the
arguments of its operation a request may carry in `params`

- `_progress_token`: asks for progress frames, which carry the request's id and are no answers;
- `_actor`: who acts, for receipts and history, where the service lets its clients say so;
- `_partitions`: narrows what the call sees to these partitions.
"""

from __future__ import annotations

import json
import math
from dataclasses import dataclass, field
from typing import Any, Final

from vault_kg.errors import VaultError

PARSE_ERROR, INVALID_REQUEST, METHOD_NOT_FOUND, INVALID_PARAMS = -32700, -32600, -32601, -32602
REFUSED, UNAVAILABLE, AMBIGUOUS = -32000, -32001, -32002

_CODES: Final = {
    "invalid_argument": INVALID_PARAMS,
    "unavailable": UNAVAILABLE,
    "ambiguous": AMBIGUOUS,
}

_NAMES: Final = {
    PARSE_ERROR: "parse_error",
    INVALID_REQUEST: "invalid_request",
    METHOD_NOT_FOUND: "not_found",
    INVALID_PARAMS: "invalid_argument",
    UNAVAILABLE: "unavailable",
    AMBIGUOUS: "ambiguous",
}
"""The stable code that an error without one of its own has."""

MAX_BATCH: Final = 100
MAX_ACTOR: Final = 100

Id = str | int | float | None


class _Missing:
    """The id of a notification, which is never answered."""


MISSING: Final = _Missing()


@dataclass(frozen=True)
class Call:
    """One request; a notification has the id `MISSING`."""

    id: Id | _Missing
    method: str
    params: dict[str, Any] = field(default_factory=dict)
    progress_token: str | int | None = None
    actor: str | None = None
    partitions: frozenset[str] | None = None

    @property
    def wants_answer(self) -> bool:
        """Whether it is no notification."""
        return self.id is not MISSING


@dataclass(frozen=True)
class Malformed:
    """A message that is no request, and the answer that it gets; None for a notification."""

    answer: dict[str, Any] | None


def read(line: bytes) -> tuple[list[Call | Malformed], bool]:
    """Read one line.

    Returns:
        its requests, and whether they came as a batch, whose answers are one list.
    """
    try:
        message = json.loads(line.decode(), parse_constant=_no_constant)
    except RecursionError:
        return [Malformed(failure(None, PARSE_ERROR, "the line is nested too deeply"))], False
    except ValueError as error:  # also what is not UTF-8
        return [Malformed(failure(None, PARSE_ERROR, f"the line is not JSON: {error}"))], False
    if not isinstance(message, list):
        return [_one(message)], False
    if not message or len(message) > MAX_BATCH:
        text = f"a batch holds 1 to {MAX_BATCH} requests, this one {len(message):,}"
        return [Malformed(failure(None, INVALID_REQUEST, text))], False
    return [_one(item) for item in message], True


def _no_constant(name: str) -> float:
    raise ValueError(f"{name} is not JSON")


def _one(message: Any) -> Call | Malformed:
    if not isinstance(message, dict) or message.get("jsonrpc") != "2.0":
        return _malformed(message, 'a request is an object with "jsonrpc": "2.0"')
    request_id = message.get("id", MISSING)
    if request_id is not None and request_id is not MISSING and not _is_id(request_id):
        return Malformed(failure(None, INVALID_REQUEST, "id is a string, a number or null"))
    method, params = message.get("method"), message.get("params")
    if not isinstance(method, str):
        return _malformed(message, "method is missing, or not a string")
    if params is not None and not isinstance(params, dict | list):
        return _malformed(message, "params is an object")
    call = Call(request_id, method)
    if isinstance(params, list):
        return _refused(call, "params must be an object: arguments are named")
    return _with_params(call, dict(params or {}))


def _is_id(value: Any) -> bool:
    if isinstance(value, float):
        return math.isfinite(value)
    return isinstance(value, str | int) and not isinstance(value, bool)


def _with_params(call: Call, given: dict[str, Any]) -> Call | Malformed:
    token, actor = given.pop("_progress_token", None), given.pop("_actor", None)
    partitions = given.pop("_partitions", None)
    if isinstance(token, bool) or not isinstance(token, str | int | None):
        return _refused(call, "_progress_token: a string or a number")
    if actor is not None and not (isinstance(actor, str) and one_line(actor)):
        return _refused(call, "_actor: a name")
    if partitions is not None and not _is_names(partitions):
        return _refused(call, "_partitions: a list of names")
    return Call(
        call.id,
        call.method,
        given,
        token,
        None if actor is None else one_line(actor),
        None if partitions is None else frozenset(partitions),
    )


def _is_names(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(name, str) for name in value)


def _refused(call: Call, text: str) -> Malformed:
    return Malformed(failure(call.id, INVALID_PARAMS, text) if call.wants_answer else None)


def _malformed(message: Any, text: str) -> Malformed:
    request_id = message.get("id") if isinstance(message, dict) else None
    return Malformed(failure(request_id if _is_id(request_id) else None, INVALID_REQUEST, text))


def one_line(name: str) -> str:
    """Return a name as it may stand in receipts and commits: one printable line, not long."""
    return "".join(c for c in " ".join(name.split()) if c.isprintable())[:MAX_ACTOR]


def success(request_id: Id | _Missing, result: Any) -> dict[str, Any]:
    """Return the answer of a request."""
    return {"jsonrpc": "2.0", "id": request_id, "result": result}


def failure(
    request_id: Id | _Missing, code: int, message: str, data: dict[str, Any] | None = None
) -> dict[str, Any]:
    """Return the error of a request; `data.code` is its stable code."""
    told = {"code": _NAMES.get(code, "error"), **(data or {})}
    error = {"code": code, "message": message, "data": told}
    return {"jsonrpc": "2.0", "id": request_id, "error": error}


def refusal(request_id: Id | _Missing, error: VaultError) -> dict[str, Any]:
    """Return the error that tells a refusal."""
    code = error.data.get("rpc_code") or _CODES.get(error.code, REFUSED)
    data = {k: v for k, v in error.data.items() if k != "rpc_code"}
    return failure(request_id, code, error.message, {**data, "code": error.code})


def progress(call: Call, done: int, total: int, message: str) -> dict[str, Any]:
    """Return a progress frame; `total` is null where it is not known."""
    return {
        "type": "progress",
        "id": call.id,
        "token": call.progress_token,
        "progress": done,
        "total": total or None,
        "message": message,
    }


def encode(message: Any) -> bytes:
    """Return a message as one line."""
    try:
        return _dump(message, ascii_only=False).encode() + b"\n"
    except UnicodeEncodeError:  # a lone surrogate, which only an escape can carry
        return _dump(message, ascii_only=True).encode() + b"\n"


def _dump(message: Any, *, ascii_only: bool) -> str:
    try:
        return _json(message, ascii_only)
    except ValueError:
        return _json(_finite(message), ascii_only)


def _json(message: Any, ascii_only: bool) -> str:
    return json.dumps(
        message, ensure_ascii=ascii_only, separators=(",", ":"), default=str, allow_nan=False
    )


def _finite(value: Any) -> Any:
    """Return a value with null for what JSON has no number for."""
    if isinstance(value, float) and not math.isfinite(value):
        return None
    if isinstance(value, dict):
        return {key: _finite(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_finite(item) for item in value]
    return value
