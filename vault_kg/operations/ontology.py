"""The vocabulary: what may be written here, and the files that say so."""

from __future__ import annotations

from itertools import islice
from typing import Annotated, Any, Literal

from pydantic import Field

from vault_kg.errors import InvalidArgument, NotFound
from vault_kg.index import findings, listing
from vault_kg.index.listing import Filter
from vault_kg.index.walk import ONTOLOGY
from vault_kg.operations.base import Line, Model, Request
from vault_kg.operations.caller import Caller
from vault_kg.operations.registry import operation
from vault_kg.operations.workspace import Workspace
from vault_kg.store import paths

MAX_EXAMPLES = 20


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


@operation("read", OntologyView)
def knowledge_ontology(ws: Workspace, request: AskOntology, caller: Caller) -> OntologyView:
    """Show what may be written.

    Page types with their fields, claim kinds, relationship types with their endpoints. catalog
    lists them, definitions gives every rule, sources the YAML, diagnostics what is wrong in it.
    The fingerprint is the fence of structured writes.
    """
    partition = request.partition or own_partition(caller)
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


def own_partition(caller: Caller) -> str:
    """Return the partition that a caller means by default: `main`, or the first that it sees."""
    if caller.sees(paths.DEFAULT_PARTITION):
        return paths.DEFAULT_PARTITION
    return min(caller.partitions or (), default=paths.DEFAULT_PARTITION)


def issues(ws: Workspace) -> list[findings.Finding]:
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
