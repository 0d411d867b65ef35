"""What the journal is given: who asks, and everything that the request will do, decided beforehand.

A plan is made under the write lane from what stands, and is carried out whole or not at all. Its
effects are kept with the journal entry, so that any process can finish it after a crash.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from typing import Any

from vault_kg.state.guards import Guard
from vault_kg.state.journal import FileRow
from vault_kg.state.merges import Contribution, Declined, Merge
from vault_kg.store import files

Tell = Callable[[int, int, str], None]
"""Told (done, total, what) while an accepted plan is carried out."""


def quiet(done: int, total: int, what: str) -> None:
    """Tell nobody."""


@dataclass(frozen=True)
class Request:
    """Who asks for what; the same id and payload is the same request."""

    id: str
    operation: str
    actor: str
    payload: Mapping[str, Any]

    @property
    def digest(self) -> str:
        """SHA-256 of the operation and its payload in canonical form."""
        text = json.dumps([self.operation, self.payload], sort_keys=True, ensure_ascii=False)
        return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


@dataclass(frozen=True)
class Change:
    """One file of a plan. With a `record_id` it makes a revision; without, it is just a file.

    A revision of a file that is removed is of the bytes that it had.
    """

    path: str
    before: bytes | None
    after: bytes | None
    record_id: str | None = None
    kind: str = ""
    revision: int = 0
    lifecycle: str = "active"
    partition: str = ""

    def file_row(self) -> FileRow:
        """Return the change as the journal keeps it."""
        before, after = self.before, self.after
        return FileRow(
            self.path, self.record_id, before, after,
            files.content_hash(before) if before is not None else None,
            files.content_hash(after) if after is not None else None,
        )  # fmt: skip

    def revision_row(self) -> dict[str, Any] | None:
        """Return the revision that the change makes, without its number in the journal."""
        content = self.before if self.after is None else self.after
        if not self.record_id or not self.revision or content is None:
            return None
        return {
            "record_id": self.record_id, "revision": self.revision, "kind": self.kind,
            "path": self.path, "partition": self.partition, "lifecycle": self.lifecycle,
            "hash": files.content_hash(content), "blob": files.blob_id(content),
        }  # fmt: skip


@dataclass(frozen=True)
class Plan:
    """What a request will do, all of it or nothing."""

    partition: str
    receipt: dict[str, Any]
    changes: tuple[Change, ...] = ()
    label: str = ""
    """What the commit calls it: the title of the record concerned."""
    guards: tuple[Guard, ...] = ()
    merges: tuple[Merge, ...] = ()
    contributions: tuple[Contribution, ...] = ()
    """What the merges of this plan add to their survivor."""
    undo_merge: str | None = None
    """The absorbed page whose merge this plan takes back."""
    declines: tuple[Declined, ...] = ()
    """Pairs of pages that are not one."""
    reason: str | None = None
    resolves: tuple[str, ...] = ()
    """Conflicts that this plan closes, with `receipt["choice"]`."""
    lifts: tuple[tuple[str, str], ...] = ()
    """(record id, kind) of guards that this plan takes back."""
    moves: tuple[tuple[str, str], ...] = ()
    """(record id, new path) of files that a person moved: their revision stays."""

    def effects(self) -> dict[str, Any]:
        """Return what the publication does besides installing files, as JSON values."""
        rows = (change.revision_row() for change in self.changes)
        return {
            "revisions": [row for row in rows if row is not None],
            "guards": [asdict(g) for g in self.guards],
            "lifts": [list(lift) for lift in self.lifts],
            "merges": [asdict(m) for m in self.merges],
            "contributions": [asdict(c) for c in self.contributions],
            "undo_merge": self.undo_merge,
            "declines": [asdict(d) for d in self.declines],
            "resolves": list(self.resolves),
            "moves": [list(move) for move in self.moves],
            "receipt": self.receipt,
            "label": self.label,
        }
