"""What a vault should be after any sequence of events: plain sets and dictionaries, no database."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import cache

from vault_kg.records import model
from vault_kg.records.frontmatter import parse

MAX_HOPS = 8


@dataclass
class Expected:
    """One record. `path` is None while its file is gone; `copies` are other files with its id."""

    id: str
    kind: str
    path: str | None
    content: bytes
    revision: int = 1
    first: int = 1
    lifecycle: str = "active"
    successor: str | None = None
    superseded: bool = False
    copies: dict[str, bytes] = field(default_factory=dict)
    collapsed: set[str] = field(default_factory=set)
    """Relationships that the merge of this page made ones of a page with itself."""
    versions: list[bytes] = field(default_factory=list)

    @property
    def editable(self) -> bool:
        """Whether it has one file, so that it can be looked up and changed."""
        return self.path is not None and not self.copies


class Expectation:
    """All records, all files, and what follows from them."""

    def __init__(self) -> None:
        self.records: dict[str, Expected] = {}
        self.files: dict[str, bytes] = {}

    def add(self, record: Expected) -> None:
        record.versions.append(record.content)
        self.records[record.id] = record

    def saved(self, record: Expected, content: bytes, path: str | None = None) -> None:
        """Note the bytes that a record's file has now; other bytes than before are a revision."""
        if content != record.content:
            record.revision += 1
            record.content = content
            record.versions.append(content)
        record.path = path or record.path

    # What follows

    def references(self, record: Expected) -> tuple[str, ...]:
        return _references(record.content)

    def resolve(self, record_id: str) -> str | None:
        for _ in range(MAX_HOPS + 1):
            record = self.records[record_id]
            if record.lifecycle != "merged" or record.successor is None:
                return record_id
            record_id = record.successor
        return None

    def eligible(self) -> set[str]:
        """The greatest set of active records with a file whose references all lie in it."""
        collapsed = {i for r in self.records.values() for i in r.collapsed}
        found = {
            r.id for r in self.records.values()
            if r.lifecycle == "active" and r.path is not None and r.id not in collapsed
        }  # fmt: skip
        while True:
            kept = {
                i for i in found
                if all(self.resolve(t) in found for t in self.references(self.records[i]))
            }  # fmt: skip
            if kept == found:
                return found
            found = kept

    def dependents(self, record_id: str) -> set[str]:
        """Everything with a file that stands on a record, directly or through others."""
        seen, frontier = {record_id}, [record_id]
        while frontier:
            named = self.with_absorbed(frontier)
            frontier = [
                r.id for r in self.records.values()
                if r.path is not None and r.id not in seen
                and named & set(self.references(r))
            ]  # fmt: skip
            seen.update(frontier)
        return seen - {record_id}

    def with_absorbed(self, ids: Iterable[str]) -> set[str]:
        found = set(ids)
        while True:
            more = {
                r.id for r in self.records.values()
                if r.lifecycle == "merged" and r.successor in found
            }  # fmt: skip
            if more <= found:
                return found
            found |= more

    def merge(self, survivor: Expected, absorbed: Expected) -> None:
        """Note a merge, with the relationships that it collapses."""
        named = self.with_absorbed([absorbed.id])
        seen = {i for i in self.eligible() if named & set(self.references(self.records[i]))}
        absorbed.lifecycle, absorbed.successor = "merged", survivor.id
        absorbed.collapsed = {i for i in seen if self._is_loop(self.records[i])}

    def unmerge(self, absorbed: Expected) -> None:
        absorbed.lifecycle, absorbed.successor, absorbed.collapsed = "active", None, set()

    def _is_loop(self, record: Expected) -> bool:
        if record.kind != "relationship":
            return False
        start, end = self.references(record)
        return start != end and self.resolve(start) == self.resolve(end)

    def depth_below(self, page_id: str) -> int:
        """How many merges lead into a page at most."""
        below = [
            self.depth_below(r.id) + 1 for r in self.records.values()
            if r.lifecycle == "merged" and r.successor == page_id
        ]  # fmt: skip
        return max(below, default=0)

    def stands(self, record_id: str) -> str | None:
        """The active record that stands for one, merges and corrections followed."""
        final = self.resolve(record_id)
        if final is None:
            return None
        record = self.records[final]
        if record.lifecycle == "superseded" and record.successor:
            return self.stands(record.successor)
        return final if record.lifecycle == "active" else None


@cache
def _references(content: bytes) -> tuple[str, ...]:
    found, _ = model.read_record(parse(content))
    assert found is not None
    return tuple(reference.target for reference in found.references())
