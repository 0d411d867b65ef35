"""Which page a name means: exactly this title or alias, or a new page; never one that resembles it.

A type that tells pages apart (`identity` in the ontology) is a part of the name: the person Mercury
is not the company Mercury. All other types are one space of names.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from vault_kg.index import catalog, graph_rows
from vault_kg.index.catalog import Row
from vault_kg.ingest import standing
from vault_kg.operations.graph import finding
from vault_kg.operations.workspace import Workspace
from vault_kg.records import names
from vault_kg.records.ontology import Ontology
from vault_kg.records.ontology_types import ROOT_TYPE


class Meant(NamedTuple):
    """What a name means: a page, or none and why not; neither where it is new."""

    row: Row | None = None
    why: str | None = None
    retracted: bool = False


def resolve(ws: Workspace, group: str, name: str, kind: str | None) -> Meant:
    """Say which page of a group a name means; the caller holds the lane.

    Args:
        ws: the opened vault.
        group: the partition.
        name: the name in any spelling of case and white space.
        kind: the type that it was given; None where any type is meant.
    """
    rows = _named(ws, group, name)
    fitting = _fitting(ws.ontology(group), rows, kind)
    if len(fitting) > 1:
        kinds = ", ".join(sorted({finding.kind_of(row) for row in fitting}))
        return Meant(None, f"{name!r} means {len(fitting)} pages ({kinds}); merge or rename them")
    if fitting:
        return Meant(fitting[0])
    for row, _ in graph_rows.named(ws.database, names.lookup_key(name), group, None, "withdrawn"):
        if _fitting(ws.ontology(group), [row], kind) and standing.is_retracted(ws, row.id):
            return Meant(None, f"the page {row.id} was withdrawn", retracted=True)
    return Meant()


def _named(ws: Workspace, group: str, name: str) -> list[Row]:
    """Return the active pages of a group with this title or alias, merges followed."""
    rows = finding.entities_named(ws, group, name, None, current=False)
    known = {row.id for row in rows}
    finals = {finding.final(ws, row.id) for row in finding.absorbed_named(ws, group, name, None)}
    survivors = [
        row for one in sorted(filter(None, finals)) for row in catalog.by_id(ws.database, one)
    ]
    return rows + [
        row
        for row in survivors
        if row.partition == group and row.lifecycle == "active" and row.id not in known
    ]


def _fitting(ontology: Ontology, rows: Sequence[Row], kind: str | None) -> list[Row]:
    """Return the pages that a thing of this type can be."""
    if kind is None:
        return list(rows)
    if _tells_apart(ontology, kind):
        return [row for row in rows if _akin(ontology, finding.kind_of(row), kind)]
    alike = [row for row in rows if not _tells_apart(ontology, finding.kind_of(row))]
    return alike if alike or kind != ROOT_TYPE else list(rows)


def _tells_apart(ontology: Ontology, kind: str) -> bool:
    declared = ontology.page_type(kind)
    return declared is not None and declared.identity


def _akin(ontology: Ontology, one: str, other: str) -> bool:
    """Say whether two types are one, or one a narrower word for the other, Entity aside."""
    return one != ROOT_TYPE and (ontology.is_a(one, other) or ontology.is_a(other, one))
