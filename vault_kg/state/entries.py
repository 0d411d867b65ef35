"""One entry of the journal: an accepted request, and the bytes that it installs."""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cached_property
from typing import Any


@dataclass(frozen=True)
class FileRow:
    """The bytes of one file before and after an entry; None where there is no file."""

    path: str
    record_id: str | None
    before: bytes | None
    after: bytes | None
    before_hash: str | None
    after_hash: str | None


@dataclass(frozen=True)
class Entry:
    """One accepted request. `effects` is what publishing does to the other tables.

    What it holds as JSON can be large, and is read where it is asked for.
    """

    seq: int
    request_id: str
    operation: str
    partition: str
    actor: str
    reason: str | None
    payload_hash: str
    payload_text: str
    effects_text: str
    state: str
    accepted_at: str
    published_at: str | None
    receipt_text: str | None
    commit_id: str | None

    @cached_property
    def payload(self) -> dict[str, Any]:
        """The arguments of the request."""
        return _load(self.payload_text)

    @cached_property
    def effects(self) -> dict[str, Any]:
        """What publishing does besides installing files."""
        return _load(self.effects_text)

    @cached_property
    def receipt(self) -> dict[str, Any] | None:
        """What was answered; None before its publication."""
        return _load(self.receipt_text) if self.receipt_text else None


def _load(text: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(text)
    return found


def dump(value: Any) -> str:
    """Return a value as the journal keeps it."""
    return json.dumps(value, ensure_ascii=False, sort_keys=True, separators=(",", ":"))
