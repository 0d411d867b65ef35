"""What every change of records is checked for before it is planned."""

from __future__ import annotations

from collections.abc import Collection

from vault_kg.errors import InvalidArgument, InvalidRecord, LifecycleRefused, StaleOntology
from vault_kg.index import successors, validate
from vault_kg.index.pending import Pending
from vault_kg.index.walk import ONTOLOGY
from vault_kg.operations import targets
from vault_kg.operations.caller import Caller
from vault_kg.operations.workspace import Workspace
from vault_kg.records.model import Problem, read_record
from vault_kg.store import paths


def check_references(
    ws: Workspace,
    caller: Caller,
    name: str,
    ids: list[str] | None,
    stand: Collection[str] = (),
    pending: Pending | None = None,
) -> None:
    """Refuse references that do not name eligible records; those that `stand` may stay."""
    for record_id in ids or []:
        targets.check_reference(
            ws, caller, name, record_id, stands=record_id in stand, pending=pending
        )


def check_ontology(ws: Workspace, partition: str, expected: str | None) -> None:
    """Refuse a stale vocabulary fence, and structured writes under a broken `ontology.yaml`."""
    ontology = ws.ontology(partition)
    if ontology.broken:
        issue = next(i for i in ontology.issues if i.level == "error")
        path = f"{partition}/{ONTOLOGY}" if issue.source == "partition" else ONTOLOGY
        raise InvalidRecord(
            f"{path}:{issue.line or 1}: {issue.message}. Mend it before structured writes",
            path=path,
            line=issue.line,
        )
    if expected is not None and expected != ontology.fingerprint:
        raise StaleOntology(
            "the vocabulary is not the one that you looked at; call knowledge_ontology again",
            current=ontology.fingerprint,
        )


def editable(
    ws: Workspace, caller: Caller, record_id: str, kinds: tuple[str, ...]
) -> targets.Target:
    """Return a record whose text may be changed: of these kinds, and active."""
    target = targets.load(ws, caller, record_id)
    if target.row.kind not in kinds:
        raise InvalidArgument(
            f"{record_id} is a {target.row.kind}; replace it with knowledge_correct, which keeps the "
            "original",
            id=record_id,
        )
    if target.row.lifecycle != "active":
        raise LifecycleRefused(
            f"{record_id} is {target.row.lifecycle} and stays as it is"
            + (
                f"; see {successor}"
                if (successor := successors.current(ws.database, record_id))
                else ""
            ),
            id=record_id,
            lifecycle=target.row.lifecycle,
            successor=successor,
        )
    return target


def standing_problems(ws: Workspace, caller: Caller, target: targets.Target) -> list[Problem]:
    """Return what is wrong with a record as it stands: an edit is not refused for that."""
    _, problems = read_record(target.document)
    world = validate.World(ws.vault, ws.ontology(target.row.partition), caller.sees)
    return problems + validate.check(target.record, world)


def partition_to_write(name: str, caller: Caller) -> str:
    """Return a partition that this caller may write to, its name checked."""
    paths.check_partition(name)
    if not caller.sees(name):
        raise InvalidArgument(f"there is no partition {name!r} for this caller", partition=name)
    return name
