"""What becomes of records when sources that they cite are gone."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from vault_kg.index import graph_rows
from vault_kg.index.graph_rows import GraphRow
from vault_kg.operations import drafts, sight, steps, targets, withdrawing
from vault_kg.operations.caller import Caller
from vault_kg.operations.graph import finding
from vault_kg.operations.workspace import Workspace
from vault_kg.records.frontmatter import REMOVE, Value
from vault_kg.state import revisions
from vault_kg.state.guards import Guard
from vault_kg.store.journal import EDITOR
from vault_kg.store.plan import Change
from vault_kg.store.sources import Source

Citation = Mapping[str, Any]
"""A citation as it stands in front matter."""

_HISTORY = 10_000
_STEP = 100


@dataclass
class Lost:
    """What the loss of sources does: changes and guards, and what is told of them."""

    changes: list[Change] = field(default_factory=list)
    guards: list[Guard] = field(default_factory=list)
    withdrawn: list[dict[str, Any]] = field(default_factory=list)
    updated: list[dict[str, Any]] = field(default_factory=list)
    kept: list[dict[str, Any]] = field(default_factory=list)
    foreign: int = 0

    def told(self, ws: Workspace, caller: Caller) -> dict[str, list[dict[str, Any]]]:
        """Return what is told of the records that exist for a caller, by what becomes of them."""
        lists = {"withdrawn": self.withdrawn, "updated": self.updated, "kept": self.kept}
        return {
            name: [item for item in items if not sight.is_hidden(ws, caller, item["uuid"])]
            for name, items in lists.items()
        }


def _never(_: object) -> bool:
    return False


def without(
    ws: Workspace, caller: Caller, lost: Sequence[Source], reason: str, request_id: str,
    *, holds: Callable[[Citation], bool] = _never, spares: Callable[[str], bool] = _never,
    gains: Mapping[str, list[Value]] | None = None,
) -> Lost:  # fmt: skip
    """Work out what becomes of the records that cite sources which go; the caller holds the lane.

    A claim or relationship with no other citation is withdrawn. So is such a page, unless a person
    has edited it or something that stays stands on it. All others lose the citation only. Records
    of other partitions are left alone.

    Args:
        ws: the opened vault.
        caller: who deletes.
        lost: the sources that go.
        reason: of the withdrawals.
        request_id: the request's.
        holds: whether a citation of a source that goes holds all the same.
        spares: whether a record keeps its citations, whatever goes.
        gains: citations that records get in the same change, by record id.
    """
    gains = gains or {}
    ids, groups = {source.id for source in lost}, {source.partition for source in lost}
    citing = graph_rows.citing(ws.database, ids)
    told = Lost(foreign=sum(_is_foreign(each, groups, caller) for each in citing))
    gone = _going(ids, holds)
    ours = [
        each
        for each in citing
        if each.row.partition in groups
        and _is_open(each)
        and any(map(gone, _cited(each)))
        and not spares(each.row.id)
    ]
    bare = {
        each.row.id
        for each in ours
        if each.row.lifecycle == "active"
        and each.row.id not in gains
        and all(map(gone, _cited(each)))
    }
    stays = _staying(ws, [each for each in ours if each.row.id in bare])
    everybody = replace(
        caller, partitions=None
    )  # a source goes for all; `told` keeps to the caller
    for number, each in enumerate(ours):
        if number % _STEP == 0:
            steps.step(caller, number, len(ours), "withdrawing")
        item = {"uuid": each.row.id, "kind": each.row.kind, "name": each.row.title}
        target = targets.load(ws, everybody, each.row.id)
        if each.row.id in bare and each.row.id not in stays:
            change, guard = withdrawing.withdrawal(ws, caller, target, reason, request_id)
            told.changes.append(change)
            told.guards.append(guard)
            told.withdrawn.append(item)
            continue
        stated = [citation.to_value() for citation in target.record.evidence]
        left = [c for c in stated if not gone(c)] + gains.get(each.row.id, [])
        revised = drafts.revise(ws, target, {"evidence": [*left] or REMOVE})
        if revised is not None:
            told.changes.append(revised)
        if each.row.id in stays:
            told.kept.append(item | {"why": stays[each.row.id]})
        else:
            told.updated.append(item)
    return told


def _is_open(each: GraphRow) -> bool:
    """Say whether a record may be current again; history keeps its citations."""
    return each.row.lifecycle in ("active", "merged")


def _is_foreign(each: GraphRow, groups: Collection[str], caller: Caller) -> bool:
    return each.row.partition not in groups and _is_open(each) and caller.sees(each.row.partition)


def _cited(each: GraphRow) -> list[Citation]:
    return list(each.stated.get("evidence", ()))


def _going(ids: Collection[str], holds: Callable[[Citation], bool]) -> Callable[[Citation], bool]:
    """Return the check whether a citation is lost."""
    return lambda citation: citation["source"] in ids and not holds(citation)


def _staying(ws: Workspace, bare: Sequence[GraphRow]) -> dict[str, str]:
    """Return the pages that stay without a source, each with the reason why."""
    going = {each.row.id for each in bare}
    pages = [each for each in bare if each.row.kind == "page"]
    stays = {each.row.id: "a person has edited it" for each in pages if _is_edited(ws, each)}
    going -= set(stays)
    named = {one: each.row.id for each in pages for one in finding.all_ids(ws, each.row.id)}
    standing = graph_rows.standing_on(ws.database, named)
    changed = True
    while changed:
        changed = False
        for record_id, name in standing:
            page = named[name]
            if page in going and record_id not in going and record_id != page:
                stays[page] = "another record stands on it"
                going.discard(page)
                changed = True
    return stays


def _is_edited(ws: Workspace, each: GraphRow) -> bool:
    """Say whether a page's file was ever changed, or made, in an editor."""
    made = revisions.history(ws.database, each.row.id, _HISTORY)
    return any(one.actor == EDITOR for one in made)
