"""The record model: pages, claims and relationships as values, read from a parsed document.

Reading is tolerant: what can be understood is, and every departure from the format is a `Problem`
with its line. A problem that is an error makes the record invalid (it stays inspectable, and out of
default reads); a warning does not.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, fields
from functools import lru_cache
from typing import Any, Literal

from vault_kg.records import frontmatter, ids, merge_markers, names
from vault_kg.records.frontmatter import Document, Value

FORMAT = "knowledge-record-v1"
KINDS = ("page", "claim", "relationship")
LIFECYCLES = ("active", "superseded", "withdrawn", "merged")
ORIGINS = ("user", "agent", "source", "inference")

TYPE_KEY = {"page": "type", "claim": "claim_kind", "relationship": "type"}
SUMMARY_WANTED = 300

Severity = Literal["error", "warning"]


@dataclass(frozen=True)
class Problem:
    """One departure from the format or the ontology, at a line of the file (1-based)."""

    code: str
    message: str
    line: int | None = None
    hint: str | None = None
    severity: Severity = "error"


@dataclass(frozen=True)
class Evidence:
    """A citation: a retained source, and where in it (inclusive 1-based lines) or what it says."""

    source: str
    lines: str | None = None
    quote: str | None = None
    attribution: str | None = None

    def to_value(self) -> dict[str, Value]:
        """Return the citation as it stands in front matter, without empty keys."""
        pairs = ((f.name, getattr(self, f.name)) for f in fields(self))
        return {name: value for name, value in pairs if value is not None}


@dataclass(frozen=True)
class Reference:
    """A record named by another, and through which part of it."""

    via: Literal["dependencies", "entities", "owner", "endpoint"]
    target: str


@dataclass(frozen=True)
class Record:
    """One page, claim or relationship as its file states it.

    `lifecycle` and `revision` are what the file says; what counts is what the state holds.
    """

    id: str
    kind: str
    revision: int
    title: str
    lifecycle: str
    recorded_at: str
    updated_at: str
    type: str | None = None
    aliases: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    dependencies: tuple[str, ...] = ()
    evidence: tuple[Evidence, ...] = ()
    supersedes: str | None = None
    superseded_by: str | None = None
    merged_into: str | None = None
    lifecycle_change: Mapping[str, Any] | None = None
    summary: str | None = None
    fields: Mapping[str, Value] = field(default_factory=dict)
    touches: tuple[str, ...] = ()
    owner: str | None = None
    entities: tuple[str, ...] = ()
    origin: str | None = None
    confidence: float | None = None
    valid_from: str | None = None
    valid_until: str | None = None
    expires_at: str | None = None
    from_id: str | None = None
    to_id: str | None = None
    predicate: str | None = None
    pointers: Mapping[str, Value] = field(default_factory=dict)
    """Ends of a relationship that are named, by `from` or `to`: {group, name, kind?, state?}."""
    body: str = ""

    def references(self) -> Iterator[Reference]:
        """Yield every record that this one stands on, in the order of the format."""
        for target in self.dependencies:
            yield Reference("dependencies", target)
        for target in self.entities:
            yield Reference("entities", target)
        if self.owner:
            yield Reference("owner", self.owner)
        for end in (self.from_id, self.to_id):
            if end:
                yield Reference("endpoint", end)


def is_record(document: Document) -> bool:
    """Say whether a document claims to be a record (any version of the format)."""
    return str(document.fields.get("format", "")).startswith("knowledge-record-")


def read_record(document: Document) -> tuple[Record | None, list[Problem]]:
    """Read a record from a parsed document.

    Returns:
        The record, or None where it has no usable identity or kind; and every problem found.
    """
    kept = len(document.raw) <= frontmatter.KEPT_BYTES
    record, problems = _read_kept(document) if kept else _read(document)
    return record, list(problems)


def _read(document: Document) -> tuple[Record | None, list[Problem]]:
    reader = _Reader(document)
    for notice in document.notices:
        reader.problems.append(
            Problem("lenient_yaml", notice.reason, notice.line, severity="warning")
        )
    if document.fields.get("format") != FORMAT:
        reader.error("unsupported_format", "format", f"this version reads {FORMAT!r} only")
        return None, reader.problems
    record_id, kind = reader.text("id"), reader.text("kind")
    if kind not in KINDS:
        reader.error("invalid_kind", "kind", f"kind must be one of {', '.join(KINDS)}")
        return None, reader.problems
    if not record_id or not ids.is_id(record_id) or ids.kind_of(record_id) != kind:
        reader.error("invalid_id", "id", f"id must be an id of a {kind}, not {record_id!r}")
        return None, reader.problems
    return _build(reader, record_id, kind), reader.problems + conflict_in(document)


_read_kept = lru_cache(frontmatter.KEPT)(_read)
"""Nobody changes a record, as nobody changes a document."""


def conflict_in(document: Document, severity: Severity = "error") -> list[Problem]:
    """Return what Git left in a document's body where it could not merge it."""
    line = merge_markers.line_in_body(document.body, document.body_line)
    said = (merge_markers.REASON, line, merge_markers.HINT, severity)
    return [Problem("merge_markers", *said)] if line is not None else []


def _build(reader: _Reader, record_id: str, kind: str) -> Record:
    return Record(
        id=record_id,
        kind=kind,
        revision=reader.revision(),
        title=reader.title(),
        lifecycle=reader.choice("lifecycle", LIFECYCLES, "active"),
        recorded_at=reader.required("recorded_at"),
        updated_at=reader.required("updated_at"),
        type=reader.type_name(kind),
        aliases=reader.texts("aliases"),
        tags=reader.texts("tags"),
        dependencies=reader.texts("dependencies"),
        evidence=reader.evidence(required=kind != "page"),
        supersedes=reader.text("supersedes"),
        superseded_by=reader.text("superseded_by"),
        merged_into=reader.text("merged_into"),
        lifecycle_change=reader.mapping("lifecycle_change") or None,
        summary=reader.text("summary"),
        fields=reader.mapping("fields"),
        touches=reader.texts("touches"),
        owner=reader.required("owner") or None if kind == "claim" else None,
        entities=reader.texts("entities"),
        origin=reader.choice("origin", ORIGINS, "") or None,
        confidence=reader.confidence(),
        valid_from=reader.text("valid_from"),
        valid_until=reader.text("valid_until"),
        expires_at=reader.text("expires_at"),
        from_id=reader.required("from") or None if kind == "relationship" else None,
        to_id=reader.required("to") or None if kind == "relationship" else None,
        predicate=reader.text("predicate") if kind == "relationship" else None,
        pointers=reader.mapping("pointers") if kind == "relationship" else {},
        body=reader.document.body,
    )


class _Reader:
    """Reads typed values out of front matter and keeps the problems met on the way."""

    def __init__(self, document: Document) -> None:
        self.document = document
        self.problems: list[Problem] = []

    def error(self, code: str, key: str, message: str) -> None:
        self._add(code, key, message, "error")

    def warn(self, code: str, key: str, message: str) -> None:
        self._add(code, key, message, "warning")

    def _add(self, code: str, key: str, message: str, severity: Severity) -> None:
        line = self.document.lines.get(key, 1)
        self.problems.append(Problem(code, message, line, severity=severity))

    def _value(self, key: str) -> Value:
        return self.document.fields.get(key)

    def text(self, key: str) -> str | None:
        value = self._value(key)
        if value is None:
            return None
        if isinstance(value, (dict, list)):
            self.error("invalid_field", key, f"{key} must be a single value")
            return None
        return _as_text(value)

    def required(self, key: str) -> str:
        text = self.text(key)
        if not text:
            self.error("missing_field", key, f"{key} is required")
        return text or ""

    def title(self) -> str:
        text = self.text("title")
        if not names.is_visible(text or ""):
            self.warn("missing_title", "title", "title is empty; the file's name serves for it")
        return text or ""

    def revision(self) -> int:
        value = self._value("revision")
        if isinstance(value, int) and not isinstance(value, bool) and value > 0:
            return value
        self.error("invalid_field", "revision", "revision must be a positive integer")
        return 1

    def type_name(self, kind: str) -> str | None:
        key = TYPE_KEY[kind]
        text = self.text(key)
        if not text and kind == "claim":
            self.error("missing_field", key, f"{key} is required")
        return text or None

    def choice(self, key: str, allowed: tuple[str, ...], default: str) -> str:
        text = self.text(key)
        if text is None:
            if key == "lifecycle":
                self.warn("missing_field", key, "lifecycle is missing; read as active")
            return default
        if text not in allowed:
            self.error("invalid_field", key, f"{key} must be one of {', '.join(allowed)}")
            return default
        return text

    def texts(self, key: str) -> tuple[str, ...]:
        value = self._value(key)
        items = value if isinstance(value, list) else [value]
        if any(isinstance(item, (dict, list)) for item in items):
            self.error("invalid_field", key, f"{key} must be a list of single values")
        return tuple(
            _as_text(item)
            for item in items
            if item not in (None, "") and not isinstance(item, dict | list)
        )

    def mapping(self, key: str) -> dict[str, Value]:
        value = self._value(key)
        if value is None:
            return {}
        if not isinstance(value, dict):
            self.error("invalid_field", key, f"{key} must be a mapping")
            return {}
        return value

    def confidence(self) -> float | None:
        value = self._value("confidence")
        if value is None:
            return None
        if isinstance(value, bool) or not isinstance(value, (int, float)) or not 0 <= value <= 1:
            self.error("invalid_field", "confidence", "confidence must be a number from 0 to 1")
            return None
        return float(value)

    def evidence(self, *, required: bool) -> tuple[Evidence, ...]:
        value = self._value("evidence")
        items = value if isinstance(value, list) else [] if value is None else [value]
        citations = tuple(c for item in items if (c := self._citation(item)) is not None)
        if required and not citations:
            self.error("missing_evidence", "evidence", "at least one evidence item is required")
        return citations

    def _citation(self, item: Value) -> Evidence | None:
        if not isinstance(item, dict) or not isinstance(item.get("source"), str):
            self.error("invalid_evidence", "evidence", "each evidence item needs a source id")
            return None
        part = {k: _as_text(v) for k, v in item.items() if v is not None and not _is_nested(v)}
        return Evidence(
            part["source"], part.get("lines"), part.get("quote"), part.get("attribution")
        )


def _is_nested(value: Value) -> bool:
    return isinstance(value, (dict, list))


def _as_text(value: Value) -> str:
    if value is True or value is False:
        return str(value).lower()
    return value if isinstance(value, str) else str(value)
