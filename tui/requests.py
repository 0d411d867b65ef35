"""Requests that are handed over to an agent: composed here exactly, and never sent from here."""

from __future__ import annotations

import json
import uuid
from datetime import UTC, datetime
from typing import Any

OPERATIONS = {
    "correct": "knowledge_correct",
    "withdraw": "knowledge_withdraw",
    "merge": "knowledge_merge",
}
_CLAIM = {"claimKind": "type", "owner": "owner", "entities": "entities", "expiresAt": "expiresAt"}
_RELATIONSHIP = {"type": "type", "from": "from", "to": "to"}
_SHARED = (
    "title", "confidence", "origin", "validFrom", "validUntil", "dependencies", "tags", "partition",
)  # fmt: skip
_CITED = ("source", "lines", "quote", "attribution")


def fence(view: dict[str, Any]) -> dict[str, Any]:
    """Return a record as it was looked at."""
    return {
        "id": view["id"], "expectedRevision": view["revision"], "expectedHash": view["hash"],
    }  # fmt: skip


def withdraw(view: dict[str, Any], reason: str, status: dict[str, Any]) -> dict[str, Any]:
    """Return the request to withdraw a record."""
    return _begun(status) | fence(view) | {"reason": reason}


def correct(
    view: dict[str, Any], reason: str, status: dict[str, Any], statement: str, fingerprint: str
) -> dict[str, Any]:
    """Return the request to replace a claim or relationship by another statement."""
    return (
        _begun(status)
        | fence(view)
        | {
            "reason": reason,
            "expectedOntologyFingerprint": fingerprint,
            "replacement": replacement(view, statement),
        }
    )


def merge(
    survivor: dict[str, Any], absorbed: dict[str, Any], reason: str, status: dict[str, Any]
) -> dict[str, Any]:
    """Return the request to merge two pages."""
    return _begun(status) | {
        "reason": reason,
        "survivor": fence(survivor),
        "absorbed": fence(absorbed),
    }


def replacement(view: dict[str, Any], statement: str) -> dict[str, Any]:
    """Return a complete record of the same kind with another statement and the same evidence."""
    own, words = (_CLAIM, "statement") if view["kind"] == "claim" else (_RELATIONSHIP, "fact")
    values = {key: view[at] for key, at in own.items()} | {key: view[key] for key in _SHARED}
    cited = [{k: item[k] for k in _CITED if item[k] is not None} for item in view["evidence"]]
    kept = {key: value for key, value in values.items() if value not in (None, [], "")}
    kept.pop("title", None)
    return {"kind": view["kind"], words: statement} | kept | {"evidence": cited}


def as_text(arguments: dict[str, Any]) -> str:
    """Return a request as the JSON that `vault-kg call NAME --json -` reads."""
    return json.dumps(arguments, ensure_ascii=False, indent=2) + "\n"


def file_name(operation: str, at: datetime | None = None) -> str:
    """Return the name of the file in `.vault-kg/requests/`."""
    moment = (at or datetime.now(UTC)).strftime("%Y%m%dT%H%M%S.%fZ")
    return f"{moment}-{operation}.json"


def _begun(status: dict[str, Any]) -> dict[str, Any]:
    return {"requestId": str(uuid.uuid4()), "expectedVaultId": status["vaultId"]}
