"""What a person or agent looks at to know the state of a vault: status and findings."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from itertools import chain, islice
from pathlib import Path
from typing import Any, Literal

from pydantic import Field

from vault_kg import __version__
from vault_kg.errors import legible
from vault_kg.index import catalog, findings, listing
from vault_kg.index.listing import Filter
from vault_kg.index.parsed import partition_of
from vault_kg.operations import conflicting, git_state, ontology, paging, sight, uncommitted
from vault_kg.operations.activity import waiting_for_git
from vault_kg.operations.base import Cursor, Limit, Line, Model, Request
from vault_kg.operations.caller import Caller
from vault_kg.operations.graph import status
from vault_kg.operations.graph.status import SeedStatus
from vault_kg.operations.registry import operation
from vault_kg.operations.workspace import Workspace
from vault_kg.records import merge_markers
from vault_kg.state import journal as rows
from vault_kg.state import settings

MAX_COUNTED = 1_000
"""So many findings are counted for a status, which must not wait for more."""

_COUNTED = ("vocabulary", "missing", "duplicates", "chains", "files")
"""The sections that cost a status next to nothing; the others look at every link or file."""


class Status(Request):
    """How is the vault?"""


class FindingCounts(Model):
    """How much there is to be looked at."""

    errors: int
    warnings: int


class NextStep(Model):
    """Something that waits for a person, and the command that shows more of it."""

    why: str
    run: str


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
    findings: FindingCounts | None = Field(
        None,
        description="Of records, their files and the vocabulary, as far as 1,000. "
        "knowledge_diagnostics also looks at links, sources and Git.",
    )
    next_steps: list[NextStep] | None = Field(None, description="What waits for a person.")


class Diagnose(Request):
    """What should somebody look at?"""

    section: Literal[
        "all",
        "vocabulary",
        "conflicts",
        "missing",
        "sources",
        "duplicates",
        "chains",
        "files",
        "git",
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
    waiting_conflicts = len(conflicting.waiting(ws, caller))
    in_progress = git_state.operation_of(ws)
    counted = list(islice(_found(ws, _COUNTED, caller), MAX_COUNTED))
    counts = _counts(counted)
    both = len({f.path for f in counted if f.message == merge_markers.REASON})
    told = (reason, outside and f"{uncommitted.said(outside)}: vault-kg diagnostics --section git")
    return StatusView(
        vault_id=ws.vault.id,
        root=legible(ws.vault.root),
        version=__version__,
        position=rows.last_seq(ws.database),
        records=by_kind | listing.counts(ws.database, current),
        history=listing.lifecycle_counts(ws.database, caller.partitions),
        conflicts=waiting_conflicts,
        git={
            "pending": waiting,
            "reason": "; ".join(part for part in told if part) or None,
            "inNoCommit": len(outside),
            "operation": in_progress,
            "conflicted": both,
        },
        index={
            "scannedAt": settings.get(ws.database, "scanned_at"),
            "passages": listing.passage_count(ws.database, caller.partitions),
        },
        semantic=ws.semantics.state(),
        ontology_fingerprint=ws.ontology(ontology.own_partition(caller)).fingerprint,
        findings=counts,
        next_steps=[*_steps(waiting_conflicts, in_progress, both, counts)],
        **status.seed_status(ws, caller),
    )


def unavailable(root: Path, reason: str) -> dict[str, Any]:
    """Return the status of a vault that cannot be opened, with the same keys as of one that is."""
    known = status.unavailable_status(str(root), reason)
    view = StatusView(root=str(root), version=__version__, **known)
    return view.model_dump(mode="json", by_alias=True)


@operation("read", Diagnosis)
def knowledge_diagnostics(ws: Workspace, request: Diagnose, caller: Caller) -> Diagnosis:
    """List what should be looked at, with path, line and what to do; causes come before what follows.

    Broken files, rules not kept, guards contradicted, duplicate ids, missing files, changed sources,
    what Git lacks, merge chains, dead links, conflicts; and pages that may be one (mergeCandidates).
    """
    if request.path is not None and caller.sees(partition_of(request.path)):
        ws.look_at([request.path])
    readers = _readers(ws, caller)
    sections = readers if request.section == "all" else {request.section} & readers.keys()
    found = [f for f in _found(ws, sections, caller) if request.path in (None, f.path)]
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


def _found(ws: Workspace, sections: Iterable[str], caller: Caller) -> Iterator[findings.Finding]:
    """Yield the findings of some sections that are of something that exists for a caller."""
    readers = _readers(ws, caller)
    return (f for name in sections for f in readers[name]() if _is_seen(ws, caller, f))


def _readers(ws: Workspace, caller: Caller) -> dict[str, Callable[[], Iterable[findings.Finding]]]:
    """Return what reads each section, causes before what follows from them."""
    db, vault = ws.database, ws.vault
    return {
        "vocabulary": lambda: ontology.issues(ws),
        "conflicts": lambda: findings.conflicted(db),
        "missing": lambda: findings.missing(vault),
        "sources": lambda: findings.of_sources(vault),
        "duplicates": lambda: findings.duplicates(db, caller.sees),
        "chains": lambda: findings.chains(db),
        "files": lambda: findings.of_files(db),
        "git": lambda: chain(
            findings.of_ignoring(vault),
            findings.of_attributes(vault),
            uncommitted.found(ws, caller),
        ),
        "links": lambda: findings.unresolved_links(db, caller.sees),
    }


def _counts(found: list[findings.Finding]) -> FindingCounts:
    by_severity = Counter(f.severity for f in found)
    return FindingCounts(errors=by_severity["error"], warnings=by_severity["warning"])


def _steps(
    conflicts: int, operation: str | None, both: int, counts: FindingCounts
) -> Iterator[NextStep]:
    """Yield what waits for a person, the most pressing first."""
    if conflicts:
        said = f"{conflicts:,} conflict{'s wait' if conflicts > 1 else ' waits'} for you"
        yield NextStep(why=said, run="vault-kg diagnostics --section conflicts")
    if operation is not None:
        name = operation.replace("_", "-")
        said = f"a {name} is in progress in Git: finish or abort it"
        if both:
            said += f"; both versions stand in {both:,} file{'s' * (both > 1)}"
        yield NextStep(why=said, run="git status")
    total = counts.errors + counts.warnings
    if total:
        parts = ((counts.errors, "error"), (counts.warnings, "warning"))
        said = " and ".join(f"{n:,} {what}{'s' * (n > 1)}" for n, what in parts if n)
        least = "at least " if total == MAX_COUNTED else ""
        yield NextStep(why=f"{least}{said} to look at", run="vault-kg diagnostics")


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
