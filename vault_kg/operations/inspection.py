"""What a person or agent looks at to know the state of a vault: status, findings, vocabulary."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from itertools import chain, islice
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import Field

from vault_kg import __version__
from vault_kg.errors import InvalidArgument, NotFound, legible
from vault_kg.index import catalog, findings, listing
from vault_kg.index.listing import Filter
from vault_kg.index.parsed import partition_of
from vault_kg.index.walk import ONTOLOGY
from vault_kg.operations import conflicting, paging, sight, uncommitted
from vault_kg.operations.activity import waiting_for_git
from vault_kg.operations.base import Cursor, Limit, Line, Model, Request
from vault_kg.operations.caller import Caller
from vault_kg.operations.graph import status
from vault_kg.operations.graph.status import SeedStatus
from vault_kg.operations.registry import operation
from vault_kg.operations.workspace import Workspace
from vault_kg.state import journal as rows
from vault_kg.state import settings
from vault_kg.store import paths

MAX_EXAMPLES = 20


class Status(Request):
    """How is the vault?"""


class StatusView(SeedStatus, Model):
    """The state of a vault; what is not known is null. Keys in snake_case are the seed's."""

    vault_id: str | None = None
    root: str
    version: str
    position: int | None = Field(None, description="The newest journal entry.")
    records: dict[str, int] | None = Field(
        None, description="Current pages, claims, relationships and notes."
    )
    history: dict[str, int] | None = Field(None, description="All records by lifecycle.")
    conflicts: int | None = None
    git: dict[str, Any] | None = None
    index: dict[str, Any] | None = None
    semantic: dict[str, Any] | None = None
    ontology_fingerprint: str | None = None


class Diagnose(Request):
    """What should somebody look at?"""

    section: Literal[
        "all",
        "vocabulary",
        "conflicts",
        "files",
        "duplicates",
        "missing",
        "sources",
        "git",
        "chains",
        "links",
        "merges",
    ] = "all"
    path: Line | None = Field(
        None, description="Only what is found in this file, which is looked at first."
    )
    limit: Limit = 100
    cursor: Cursor | None = None


class FindingView(Model):
    """One finding."""

    code: str
    severity: str
    message: str
    path: str | None = None
    line: int | None = None
    record: str | None = None
    hint: str | None = None


class CandidateView(Model):
    """Two pages that may be one thing."""

    first: str
    second: str
    type: str
    strength: Literal["strong", "weak"]
    reason: str


class Diagnosis(Model):
    """Findings, and pages that may be one."""

    findings: list[FindingView]
    merge_candidates: list[CandidateView]
    count: int
    total: int
    next_cursor: str | None = None


class AskOntology(Request):
    """What may be written here?"""

    view: Literal["catalog", "definitions", "sources", "diagnostics"] = "catalog"
    name: Line | None = None
    kind: Literal["page", "claim", "relationship"] | None = None
    include_records: bool = False
    source_path: Line | None = None
    partition: Line | None = None
    limit: Annotated[int, Field(ge=1, le=100)] | None = None
    offset: Annotated[int, Field(ge=0, le=1 << 53)] = 0
    max_chars: Annotated[int, Field(ge=256, le=65_536)] = 12_000


class OntologyView(Model):
    """A view of the vocabulary; compare fingerprints across pages."""

    view: str
    fingerprint: str
    mode: str
    items: list[dict[str, Any]] = Field(default_factory=list)
    total: int = 0
    text: str | None = None
    next_offset: int | None = None


@operation("read", StatusView, also=("graph",))
def knowledge_status(ws: Workspace, request: Status, caller: Caller) -> StatusView:
    """Say how the vault is.

    Counts of what is current, what waits for Git or a person, how old the index is, and whether
    search by meaning is ready.
    """
    by_kind = {"page": 0, "claim": 0, "relationship": 0, "note": 0}
    current = Filter(
        ws.now(), kinds=by_kind.keys(), partitions=caller.partitions, ends_in=caller.partitions
    )
    waiting, reason = waiting_for_git(ws, caller)
    outside = uncommitted.files(ws, caller)
    told = (reason, outside and f"{uncommitted.said(outside)}: vault-kg diagnostics --section git")
    return StatusView(
        vault_id=ws.vault.id,
        root=legible(ws.vault.root),
        version=__version__,
        position=rows.last_seq(ws.database),
        records=by_kind | listing.counts(ws.database, current),
        history=listing.lifecycle_counts(ws.database, caller.partitions),
        conflicts=len(conflicting.waiting(ws, caller)),
        git={
            "pending": waiting,
            "reason": "; ".join(part for part in told if part) or None,
            "inNoCommit": len(outside),
        },
        index={
            "scannedAt": settings.get(ws.database, "scanned_at"),
            "passages": listing.passage_count(ws.database, caller.partitions),
        },
        semantic=ws.semantics.state(),
        ontology_fingerprint=ws.ontology(_own_partition(caller)).fingerprint,
        **status.seed_status(ws, caller),
    )


def unavailable(root: Path, reason: str) -> dict[str, Any]:
    """Return the status of a vault that cannot be opened, with the same keys as of one that is."""
    known = status.unavailable_status(str(root), reason)
    view = StatusView(root=str(root), version=__version__, **known)
    return view.model_dump(mode="json", by_alias=True)


@operation("read", Diagnosis)
def knowledge_diagnostics(ws: Workspace, request: Diagnose, caller: Caller) -> Diagnosis:
    """List what should be looked at, with path, line and what to do.

    Broken files, rules not kept, guards contradicted, duplicate ids, missing files, changed sources,
    what Git lacks, merge chains, dead links, conflicts; and pages that may be one (mergeCandidates).
    """
    if request.path is not None and caller.sees(partition_of(request.path)):
        ws.look_at([request.path])
    found = [
        f
        for f in _section(ws, request.section, caller)
        if request.path in (None, f.path) and _is_seen(ws, caller, f)
    ]
    start = paging.offset(request, request.cursor) or 0
    shown = found[start : start + request.limit]
    end = start + len(shown)
    wanted = request.section in ("all", "merges") and start == 0 and request.path is None
    candidates = findings.merge_candidates(ws.database, ws.now()) if wanted else []
    return Diagnosis(
        findings=[
            FindingView(
                code=f.code, severity=f.severity, message=sight.veiled(ws, caller, f.message),
                path=f.path, line=f.line, record=f.record,
                hint=f.hint and sight.veiled(ws, caller, f.hint),
            )
            for f in shown
        ],
        merge_candidates=[
            CandidateView(
                first=c.first, second=c.second, type=c.type, strength=c.strength,
                reason=c.reason,
            )
            for c in candidates
            if caller.sees(c.partition)
        ],
        count=len(shown),
        total=len(found),
        next_cursor=paging.encode(request, [end]) if end < len(found) else None,
    )  # fmt: skip


@operation("read", OntologyView)
def knowledge_ontology(ws: Workspace, request: AskOntology, caller: Caller) -> OntologyView:
    """Show what may be written.

    Page types with their fields, claim kinds, relationship types with their endpoints. catalog
    lists them, definitions gives every rule, sources the YAML, diagnostics what is wrong in it.
    The fingerprint is the fence of structured writes.
    """
    partition = request.partition or _own_partition(caller)
    if not caller.sees(partition):
        raise NotFound(
            f"there is no partition {partition!r}; knowledge_status names them in wal_groups",
            partition=partition,
        )
    ontology = ws.ontology(partition)
    view = OntologyView(view=request.view, fingerprint=ontology.fingerprint, mode=ontology.mode)
    if request.view == "sources":
        return _source_view(ws, request, view, partition)
    if request.view == "diagnostics":
        items = [_issue(i) for i in ontology.issues]
    else:
        items = ontology.describe(request.view, name=request.name, kind=request.kind)
        if request.name is not None and not items:
            raise NotFound(
                f"the vocabulary has no {request.name!r}; without a name all of it is listed",
                name=request.name,
            )
        _count(ws, caller, request, items)
    limit = request.limit or (10 if request.view == "definitions" else 50)
    page = list(islice(items, request.offset, request.offset + limit))
    end = request.offset + len(page)
    return view.model_copy(
        update={
            "items": page,
            "total": len(items),
            "next_offset": end if end < len(items) else None,
        }
    )


def _own_partition(caller: Caller) -> str:
    """Return the partition that a caller means by default: `main`, or the first that it sees."""
    if caller.sees(paths.DEFAULT_PARTITION):
        return paths.DEFAULT_PARTITION
    return min(caller.partitions or (), default=paths.DEFAULT_PARTITION)


def _section(ws: Workspace, section: str, caller: Caller) -> list[findings.Finding]:
    db, vault = ws.database, ws.vault
    readers: dict[str, Callable[[], Iterable[findings.Finding]]] = {
        "conflicts": lambda: findings.conflicted(db),
        "files": lambda: findings.of_files(db),
        "duplicates": lambda: findings.duplicates(db, caller.sees),
        "missing": lambda: findings.missing(vault),
        "sources": lambda: findings.of_sources(vault),
        "git": lambda: chain(findings.of_attributes(vault), uncommitted.found(ws, caller)),
        "chains": lambda: findings.chains(db),
        "links": lambda: findings.unresolved_links(db, caller.sees),
    }
    asked = readers if section == "all" else (section,) if section in readers else ()
    found = [each for name in asked for each in readers[name]()]
    issues = _vocabulary_issues(ws) if section in ("all", "vocabulary") else []
    return [*issues, *found]


def _is_seen(ws: Workspace, caller: Caller, found: findings.Finding) -> bool:
    """Say whether a finding is of something that exists for a caller."""
    if caller.partitions is None:
        return True
    if found.partition is not None and not caller.sees(found.partition):
        return False
    record_id = found.record
    if record_id is None and found.path is not None:
        row = catalog.by_path(ws.database, found.path)
        record_id = row.id if row is not None else None
    return not sight.stands_on_hidden(ws, caller, record_id)


def _vocabulary_issues(ws: Workspace) -> list[findings.Finding]:
    """Return what is wrong in the `ontology.yaml` of the vault and of each partition.

    It is told before everything else, errors first: findings of records may come from it.
    """
    found = {}
    for partition in ws.ontologies.partitions():
        for issue in ws.ontology(partition).issues:
            own = issue.source == "partition"
            path = f"{partition}/{ONTOLOGY}" if own else ONTOLOGY
            found[path, issue] = findings.Finding(
                issue.code, issue.level, issue.message, path, issue.line,
                hint=_mend(path, issue.level),
                partition=partition if own else None,
            )  # fmt: skip
    return sorted(found.values(), key=lambda f: f.severity != "error")


def _mend(path: str, level: str) -> str:
    if level == "error":
        return (
            f"mend {path} at this line; until then nothing of it counts: its records are read and "
            "searched as before, and structured writes are refused"
        )
    return f"mend {path}; until then what is valid of it counts"


def _count(
    ws: Workspace, caller: Caller, request: AskOntology, items: list[dict[str, Any]]
) -> None:
    wanted = Filter(ws.now(), partitions=caller.partitions, ends_in=caller.partitions)
    counts = listing.type_counts(ws.database, wanted)
    for item in items:
        item["records"] = counts.get((item["kind"], item["name"]), 0)
        if request.include_records:
            _add_examples(ws, caller, item)


def _add_examples(ws: Workspace, caller: Caller, item: dict[str, Any]) -> None:
    wanted = Filter(
        ws.now(),
        kinds=[item["kind"]],
        types=[item["name"]],
        partitions=caller.partitions,
        ends_in=caller.partitions,
    )
    rows_found = listing.page(ws.database, wanted, MAX_EXAMPLES + 1)
    item["examples"] = [{"id": r.id, "title": r.title} for r in rows_found[:MAX_EXAMPLES]]
    item["recordsTruncated"] = len(rows_found) > MAX_EXAMPLES


def _source_view(
    ws: Workspace, request: AskOntology, view: OntologyView, partition: str
) -> OntologyView:
    known = {path: ws.ontologies.text(path) for path in (ONTOLOGY, f"{partition}/{ONTOLOGY}")}
    if request.source_path is None:
        items = [
            {"path": path, "size": len(text.encode()), "valid": not ws.ontology(partition).broken}
            for path, text in known.items()
            if text is not None
        ]
        return view.model_copy(update={"items": items, "total": len(items)})
    text = known.get(request.source_path)
    if text is None:
        raise NotFound(
            f"there is no ontology file {request.source_path!r}; without sourcePath they are listed",
            path=request.source_path,
        )
    if request.offset > len(text):
        raise InvalidArgument(
            f"offset is past the end of the file, which has {len(text)} characters", field="offset"
        )
    end = request.offset + request.max_chars
    return view.model_copy(
        update={
            "text": text[request.offset : end],
            "total": len(text),
            "next_offset": end if end < len(text) else None,
        }
    )


def _issue(issue: Any) -> dict[str, Any]:
    return {
        "code": issue.code,
        "message": issue.message,
        "line": issue.line,
        "severity": issue.level,
        "source": issue.source,
    }
