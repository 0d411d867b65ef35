"""The rules that a record keeps with the ontology, with other records and with its sources.

The same rules judge what a caller wants to write and what a person wrote in an editor; the first is
refused, the second is reported. Whether a reference is *eligible* is not judged here.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import lru_cache

from vault_kg.index import catalog
from vault_kg.index.eligibility import comparable, start
from vault_kg.index.pending import Pending
from vault_kg.index.walk import ONTOLOGY
from vault_kg.records.model import SUMMARY_WANTED, Evidence, Problem, Record, Severity
from vault_kg.records.ontology import Ontology, OntologyIssue
from vault_kg.state import merges
from vault_kg.state.database import Database
from vault_kg.store import sources
from vault_kg.store.vault import Vault

_LINES = re.compile(r"([1-9]\d{0,8})(?:-([1-9]\d{0,8}))?")
_INSTANT = re.compile(r"\d{4}-\d\d-\d\d([T ]\d\d:\d\d(:\d\d(\.\d+)?)?(Z|[+-]\d\d:\d\d)?)?")
_LINE_END = re.compile(r"\r\n|\n|\r")
_DECLARE = "declare it in ontology.yaml, or use one that knowledge_ontology lists"
_OF_VOCABULARY = ("type", "claim_kind", "fields")
"""The keys whose problems come from the ontology."""

_KEPT_TEXTS, _KEPT_TYPES = 64, 10_000

LineOf = Callable[[str], int | None]


@dataclass
class World:
    """What a record is judged against: the other records and sources of its vault."""

    vault: Vault
    ontology: Ontology
    sees: Callable[[str], bool] = lambda _: True
    """Whether a partition exists for the one whose record is judged."""
    pending: Pending = field(default_factory=Pending)
    """What the same plan creates besides."""
    standing: bool = False
    """Whether what stands is judged: a rule that a fault of `ontology.yaml` took away hides none."""

    def __post_init__(self) -> None:
        self.source_text = lru_cache(_KEPT_TEXTS)(self._source_text)
        self._standing_type = lru_cache(_KEPT_TYPES)(self._type_of)

    @property
    def database(self) -> Database:
        """The vault's state."""
        return self.vault.database

    def page_type(self, record_id: str) -> str | None:
        """Return the type of the page that a reference means, merges followed; None if unknown."""
        return self.pending.page_type(record_id) or self._standing_type(record_id)

    def _type_of(self, record_id: str) -> str | None:
        way = merges.way(self.database, record_id)
        found = catalog.kind_and_type(self.database, way[-1]) if way else None
        return (found[1] or "Entity") if found and found[0] == "page" else None

    def _source_text(self, source_id: str) -> tuple[str, bool] | None:
        """Return what a source says, and whether these are the bytes that were retained."""
        if source_id in self.pending.sources:
            return self.pending.sources[source_id], True
        source = catalog.source(self.database, source_id)
        if source is None or not self.sees(source.partition):
            return None
        content, verified = sources.verify(self.vault.root, source)
        return (content or b"").decode("utf-8", errors="replace"), verified


def check(record: Record, world: World, line_of: LineOf = lambda _: None) -> list[Problem]:
    """Return every rule that a record breaks, with the line that `line_of` gives for a key."""
    found = list(_problems(record, world))
    doubt = _doubt(record, world) if any(key in _OF_VOCABULARY for key, _ in found) else None
    return [
        _by_fault(replace(problem, line=line_of(key)), doubt, world.standing)
        if doubt and key in _OF_VOCABULARY
        else replace(problem, line=line_of(key))
        for key, problem in found
    ]


def _doubt(record: Record, world: World) -> OntologyIssue | None:
    ends = (record.from_id, record.to_id)
    return world.ontology.doubt([record.type, *(world.page_type(end) for end in ends if end)])


def _by_fault(problem: Problem, fault: OntologyIssue, standing: bool) -> Problem:
    """Return a problem with the fault of `ontology.yaml` that it may come from."""
    return replace(
        problem,
        hint=f"{place_of(fault)}: {fault.message}. Mend that first",
        severity="warning" if standing else problem.severity,
    )


def place_of(issue: OntologyIssue) -> str:
    """Return where an issue of the vocabulary is, in words."""
    whose = "the partition's " if issue.source == "partition" else ""
    return f"{whose}{ONTOLOGY}:{issue.line or 1}"


def quote_of(text: str, citation: Evidence) -> str | None:
    """Return what a citation points at in a source's text: its lines, else its quote."""
    span = line_span(citation.lines)
    if span is None:
        return citation.quote
    return "\n".join(text_lines(text)[span[0] - 1 : span[1]])


def text_lines(text: str) -> list[str]:
    """Return the lines of a source as an editor numbers them: no form feed begins a new one."""
    lines = _LINE_END.split(text)
    return lines if lines[-1] else lines[:-1]


def line_span(lines: str | None) -> tuple[int, int] | None:
    """Return a citation's first and last line (1-based, inclusive), or None where it names none."""
    match = _LINES.fullmatch(lines.strip()) if lines else None
    if match is None:
        return None
    first = int(match[1])
    return first, int(match[2] or first)


def is_instant(value: str) -> bool:
    """Say whether a text is a date or time of the form that records have."""
    if _INSTANT.fullmatch(value) is None:
        return False
    try:
        datetime.fromisoformat(value)
    except ValueError:
        return False
    return True


def _problems(record: Record, world: World) -> Iterator[tuple[str, Problem]]:
    yield from {
        "page": _page_problems,
        "claim": _claim_problems,
        "relationship": _relationship_problems,
    }[record.kind](record, world)
    for key in ("valid_from", "valid_until", "expires_at"):
        yield from _instant_problems(key, getattr(record, key))
    given = [text for text in (record.valid_from, record.valid_until) if text and is_instant(text)]
    if len(given) == 2 and start(given[0]) > comparable(given[1]):
        yield "valid_until", Problem("invalid_field", "valid_until is before valid_from")
    for number, citation in enumerate(record.evidence, 1):
        for problem in _citation_problems(number, citation, world):
            yield "evidence", problem


def _page_problems(record: Record, world: World) -> Iterator[tuple[str, Problem]]:
    ontology = world.ontology
    declared = ontology.page_type(record.type) if record.type else None
    if record.type and declared is None:
        yield "type", _undeclared(record.type, "page type", world)
    if declared is not None:
        _, problems = ontology.check_fields(declared.name, dict(record.fields))
        for p in problems:
            yield (
                "fields",
                Problem("invalid_field", f"fields.{p.field}: {p.reason}", severity=p.level),
            )
    if record.summary and len(record.summary) > SUMMARY_WANTED:
        yield (
            "summary",
            Problem(
                "long_summary",
                f"the summary has {len(record.summary)} characters; {SUMMARY_WANTED} are wanted at "
                "most",
                severity="warning",
            ),
        )


def _claim_problems(record: Record, world: World) -> Iterator[tuple[str, Problem]]:
    if record.type and world.ontology.claim_kind(record.type) is None:
        yield "claim_kind", _undeclared(record.type, "claim kind", world)
    if not record.body.strip():
        yield "id", Problem("empty_statement", "the statement (the body) is empty")
    for key, targets in (("owner", (record.owner,)), ("entities", record.entities)):
        for target in targets:
            if target and world.page_type(target) is None:
                yield (
                    key,
                    Problem("unknown_reference", f"{key}: {target} is not a page of this vault"),
                )


def _relationship_problems(record: Record, world: World) -> Iterator[tuple[str, Problem]]:
    if not record.body.strip():
        yield "id", Problem("empty_statement", "the fact sentence (the body) is empty")
    ends = {"from": record.from_id, "to": record.to_id}
    types = {key: world.page_type(target) for key, target in ends.items() if target}
    for key, found in types.items():
        if found is None and key in record.pointers:
            yield "pointers", _unbound(key, record.pointers[key])
        elif found is None:
            yield (
                key,
                Problem("unknown_reference", f"{key}: {ends[key]} is not a page of this vault"),
            )
    if not record.type:
        return
    declared = world.ontology.relationship_type(record.type)
    if declared is None:
        yield "type", _undeclared(record.type, "relationship type", world)
    elif types.get("from") and types.get("to"):
        reason = world.ontology.allows_endpoints(declared.name, types["from"], types["to"])
        if reason:
            yield "type", Problem("endpoint_type", reason)


def _undeclared(name: str, what: str, world: World) -> Problem:
    severity: Severity = "error" if world.ontology.mode == "strict" else "warning"
    message = f"{name!r} is not a declared {what}"
    return Problem("undeclared_type", message, hint=_DECLARE, severity=severity)


def _unbound(key: str, pointer: object) -> Problem:
    named = pointer if isinstance(pointer, dict) else {}
    return Problem(
        "unbound_pointer",
        f"{key}: {named.get('name')!r} in {named.get('group')!r} is not one page now",
        hint="knowledge_rebind_pointers looks for it again",
        severity="warning",
    )


def _instant_problems(key: str, value: str | None) -> Iterator[tuple[str, Problem]]:
    if value is not None and not is_instant(value):
        yield (
            key,
            Problem(
                "invalid_field",
                f"{key} must be a date (2026-01-05) or a time (2026-01-05T10:00:00Z)",
            ),
        )


def _citation_problems(number: int, citation: Evidence, world: World) -> Iterator[Problem]:
    where = f"evidence {number}"
    known = world.source_text(citation.source)
    if known is None:
        yield Problem(
            "unknown_source",
            f"{where}: {citation.source} is not a source of this vault",
            hint="attach the file first with knowledge_attach_file",
        )
        return
    text, verified = known
    if not verified:
        if not world.standing:
            yield Problem(
                "source_changed",
                f"{where}: the file of {citation.source} is not what was retained, or is gone",
                hint="`vault-kg diagnostics --section sources` says how to bring it back",
            )
        return
    span = line_span(citation.lines)
    total = len(text_lines(text)) if citation.lines is not None else 0
    if citation.lines is not None and (span is None or not span[0] <= span[1] <= total):
        yield Problem(
            "invalid_lines",
            f"{where}: lines {citation.lines!r} are not within the source's 1-{total}",
        )
    elif citation.quote is not None and not _occurs(citation.quote, text, span):
        place = f"in lines {citation.lines} of " if span else "in "
        yield Problem(
            "quote_not_found",
            f"{where}: the quote does not occur verbatim {place}{citation.source}",
            hint="copy it from knowledge_source",
        )


def _occurs(quote: str, text: str, span: tuple[int, int] | None) -> bool:
    if not quote.strip():
        return False
    if span is not None:
        text = "\n".join(text_lines(text)[span[0] - 1 : span[1]])
    return quote in text or quote in text.replace("\r\n", "\n")
