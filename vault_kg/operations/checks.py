"""What every change of records is checked for before it is planned."""

from __future__ import annotations

from collections.abc import Collection

from vault_kg.errors import InvalidArgument, InvalidRecord, LifecycleRefused, StaleOntology
from vault_kg.index import successors, validate
from vault_kg.index.catalog import Row
from vault_kg.index.pending import Pending
from vault_kg.index.walk import ONTOLOGY
from vault_kg.operations import sight, targets
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
    check_active(ws, caller, target.row)
    return target


def check_active(ws: Workspace, caller: Caller, row: Row) -> None:
    """Refuse what is not active, naming what stands for it."""
    if row.lifecycle == "active":
        return
    successor = sight.shown(ws, caller, successors.current(ws.database, row.id))
    raise LifecycleRefused(
        f"{row.id} is {row.lifecycle} and stays as it is; "
        + (f"take {successor} instead" if successor else "record what holds anew"),
        id=row.id,
        lifecycle=row.lifecycle,
        successor=successor,
    )


def check_correctable(ws: Workspace, caller: Caller, row: Row) -> None:
    """Refuse what no correction is for.

    Raises:
        InvalidArgument: it is a page.
        LifecycleRefused: it is not active.
        InvalidRecord: it is not valid.
    """
    if row.kind == "page":
        raise InvalidArgument(
            f"{row.id} is a page; change it with knowledge_save_page or knowledge_edit_body",
            id=row.id,
        )
    check_active(ws, caller, row)
    if not row.valid:
        raise InvalidRecord(
            f"{row.id} has validation findings ({row.path}); withdraw it, or mend it in an editor first",
            id=row.id,
            path=row.path,
        )


def check_withdrawable(ws: Workspace, caller: Caller, row: Row) -> None:
    """Refuse what cannot be withdrawn: it is withdrawn already, or merged."""
    if row.lifecycle == "withdrawn":
        raise withdrawn(row.id)
    if row.lifecycle == "merged":
        survivor = sight.shown(ws, caller, row.successor)
        raise LifecycleRefused(
            f"{row.id} was merged into {survivor or 'another page'}; withdraw that page, or unmerge "
            "first",
            id=row.id,
            lifecycle="merged",
            successor=survivor,
        )


def withdrawn(record_id: str) -> LifecycleRefused:
    """Return the error for a record that is withdrawn already."""
    return LifecycleRefused(
        f"{record_id} is withdrawn already, and stays so; what holds after all is recorded anew",
        id=record_id,
        lifecycle="withdrawn",
    )


def check_mergeable(ws: Workspace, caller: Caller, row: Row) -> None:
    """Refuse what is not an active page.

    Raises:
        InvalidArgument: it is no page.
        LifecycleRefused: it is not active.
    """
    if row.kind != "page":
        raise InvalidArgument(
            f"{row.id} is a {row.kind}; only pages are merged. One that is wrong is replaced "
            "with knowledge_correct, one too many is withdrawn",
            id=row.id,
        )
    check_active(ws, caller, row)


def standing_problems(ws: Workspace, caller: Caller, target: targets.Target) -> list[Problem]:
    """Return what is wrong with a record as it stands: an edit is not refused for that."""
    _, problems = read_record(target.document)
    world = validate.World(ws.vault, ws.ontology(target.row.partition), caller.sees)
    return problems + validate.check(target.record, world)


def partition_to_write(name: str, caller: Caller, word: str = "partition") -> str:
    """Return a partition that this caller may write to; it need not exist yet.

    Args:
        name: what it is called.
        caller: who writes.
        word: what a partition is called to this caller.

    Raises:
        InvalidArgument: it is no name for a partition, or none for this caller.
    """
    paths.check_partition(name)
    if not caller.sees(name):
        raise InvalidArgument(
            f"there is no {word} {name!r} for this caller, who may write to "
            f"{', '.join(sorted(caller.partitions or ())) or 'none'}",
            partition=name,
        )
    return name
