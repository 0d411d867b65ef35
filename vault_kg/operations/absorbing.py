"""Absorbing pages into another one: what the survivor gains, and what becomes one with what.

Nothing that names an absorbed page is rewritten; `joining` says what becomes of its relationships.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from vault_kg.errors import InvalidArgument, LifecycleRefused
from vault_kg.operations import checks, drafts, targets
from vault_kg.operations.caller import Caller
from vault_kg.operations.joining import Joined, join
from vault_kg.operations.targets import Target
from vault_kg.operations.workspace import Workspace
from vault_kg.records import names
from vault_kg.records.frontmatter import Document, Remove, Value
from vault_kg.records.ontology_types import ROOT_TYPE
from vault_kg.state import merges
from vault_kg.state.merges import COLLAPSED, Contribution, Merge
from vault_kg.store.plan import Change, Plan

Changes = dict[str, Value | Remove]


@dataclass(frozen=True)
class Absorption:
    """One or more merges into one page, as a plan's parts."""

    kept: Change | None
    """The survivor's change, if it gains anything."""
    gone: tuple[Change, ...]
    merges: tuple[Merge, ...]
    contributions: tuple[Contribution, ...]
    added: list[Contribution]
    conflicts: list[dict[str, Any]]
    warnings: list[str]
    joined: list[Joined]

    def plan(self, survivor: Target, receipt: dict[str, Any], reason: str) -> Plan:
        """Return the plan that carries the merges out."""
        changes = (*((self.kept,) if self.kept else ()), *self.gone)
        return Plan(
            survivor.row.partition, receipt, changes, survivor.row.title, merges=self.merges,
            contributions=self.contributions, reason=reason,
        )  # fmt: skip

    def told(self) -> list[str]:
        """Say what is collapsed, for people."""
        loops = sum(len(one.self_loops) for one in self.joined)
        duplicates = sum(len(one.duplicates) for one in self.joined)
        said = "hidden while the merge stands"
        return [
            *([f"relationships of the two with each other are {said}: {loops}"] if loops else []),
            *([f"relationships that say the same are {said}: {duplicates}"] if duplicates else []),
        ]


def absorb(
    ws: Workspace,
    caller: Caller,
    survivor: Target,
    absorbed: Sequence[Target],
    reason: str,
    request_id: str,
    *,
    identity: Sequence[Value] = (),
    title: str | None = None,
    body: str | None = None,
) -> Absorption:
    """Work out the merge of pages into another one; all are active, and looked at under the lane.

    Args:
        ws: the opened vault.
        caller: who merges.
        survivor: the page that stays.
        absorbed: the pages that become it, in order.
        reason: who or what says that they are one.
        request_id: the request's.
        identity: citations of that.
        title: a new title for the survivor.
        body: its whole new body.

    Raises:
        InvalidArgument: they are not of one type and partition.
        LifecycleRefused: the chain of merges would be too long.
    """
    _check(ws, survivor, absorbed)
    changes: Changes = {"title": title} if title else {}
    standing, gains, shared = survivor, list[Contribution](), list[Contribution]()
    for number, one in enumerate(absorbed):
        own = _gained(standing, one, list(identity) if number == 0 else [])
        earlier = [*given(ws, survivor.row.id), *(replace(gain, of=None) for gain in gains)]
        shared += [replace(gain, of=one.row.id) for gain in _shared(earlier, one)]
        gains += [replace(gain, of=one.row.id) for gain in own]
        changes |= _with_gains(standing.document, own)
        standing = _as_changed(ws, survivor, changes)
    kept = drafts.revise(ws, survivor, changes, body)
    seen = checks.standing_problems(ws, caller, survivor)
    warnings = drafts.validate(ws, caller, kept, seen) if kept else []
    gone = tuple(_gone(ws, caller, survivor, one, reason, request_id) for one in absorbed)
    revision = kept.revision if kept else survivor.head.revision
    joined = join(ws, survivor.row.id, [one.row for one in absorbed], survivor.row.partition)
    return Absorption(
        kept,
        gone,
        tuple(
            Merge(
                survivor.row.partition, one.row.id, survivor.row.id, reason, ws.now(),
                change.revision, revision,
            )
            for one, change in zip(absorbed, gone, strict=True)
        ),
        (*gains, *shared, *(each for one in joined for each in one.contributions())),
        gains,
        [conflict for one in absorbed for conflict in _conflicts(survivor, one)],
        warnings,
        joined,
    )  # fmt: skip


def _gone(
    ws: Workspace, caller: Caller, survivor: Target, one: Target, reason: str, request_id: str
) -> Change:
    changes: Changes = {
        "lifecycle": "merged",
        "merged_into": survivor.row.id,
        "lifecycle_change": drafts.lifecycle_change(ws, caller, reason, request_id),
    }
    gone = drafts.revise(ws, one, changes, lifecycle="merged")
    assert gone is not None, "its lifecycle changes"
    return gone


def _as_changed(ws: Workspace, survivor: Target, changes: Changes) -> Target:
    """Return a page as it would be after changes."""
    change = drafts.revise(ws, survivor, changes)
    if change is None or change.after is None:
        return survivor
    document, record = targets.read(survivor.row.path, change.after)
    return replace(survivor, document=document, record=record)


def _check(ws: Workspace, survivor: Target, absorbed: Sequence[Target]) -> None:
    for one in absorbed:
        _check_pair(survivor, one)
    chain = merges.targets(ws.database) | {one.row.id: survivor.row.id for one in absorbed}
    if any(merges.resolve(chain, record_id) is None for record_id in chain):
        raise LifecycleRefused(
            f"the chain of merges would be longer than {merges.MAX_HOPS}; merge into the page at "
            "its end instead"
        )


def _check_pair(survivor: Target, absorbed: Target) -> None:
    if survivor.row.id == absorbed.row.id:
        raise InvalidArgument(
            "a page cannot be merged into itself; give two different ones", id=survivor.row.id
        )
    kinds = [one.row.type or ROOT_TYPE for one in (survivor, absorbed)]
    if kinds[0] != kinds[1]:
        raise InvalidArgument(
            f"{survivor.row.id} is a {kinds[0]} and {absorbed.row.id} a {kinds[1]}; only pages of one "
            "type are merged",
            kinds=kinds,
        )
    if survivor.row.partition != absorbed.row.partition:
        raise InvalidArgument(
            "the two pages lie in different partitions and cannot be merged; move the file of one "
            "into the other's partition first, or let a relationship say that they are one thing"
        )


def _gained(survivor: Target, absorbed: Target, identity: list[Value]) -> list[Contribution]:
    """Return what the survivor takes over, one contribution a value."""
    record = survivor.record
    spellings = [absorbed.row.title, *absorbed.record.aliases]
    known = {names.lookup_key(text) for text in (record.title, *record.aliases)}
    gained = [Contribution("aliases", text) for text in _new(spellings, known)]
    known = {names.lookup_key(tag) for tag in record.tags}
    gained += [Contribution("tags", tag) for tag in _new(absorbed.record.tags, known)]
    standing = items(survivor.document, "evidence")
    for citation in (*items(absorbed.document, "evidence"), *identity):
        if citation not in standing:
            standing.append(citation)
            gained.append(Contribution("evidence", citation))
    for key in ("summary",):
        if not record.summary and absorbed.record.summary:
            gained.append(Contribution(key, absorbed.record.summary))
    gained += [
        Contribution(f"fields.{name}", value)
        for name, value in absorbed.record.fields.items()
        if name not in record.fields
    ]
    return gained


def _shared(earlier: Sequence[Contribution], absorbed: Target) -> list[Contribution]:
    """Return what earlier merges gave the survivor and this page would have given too.

    They count as this merge's as well, so that taking back the earlier one does not take them away.
    """
    record = absorbed.record
    spellings = {names.lookup_key(text) for text in (absorbed.row.title, *record.aliases)}
    tags = {names.lookup_key(tag) for tag in record.tags}
    citations = items(absorbed.document, "evidence")

    def has(gain: Contribution) -> bool:
        if gain.field in ("aliases", "tags"):
            return names.lookup_key(gain.value) in (spellings if gain.field == "aliases" else tags)
        if gain.field == "evidence":
            return gain.value in citations
        if gain.field == "summary":
            return bool(record.summary == gain.value)
        return bool(record.fields.get(gain.field[7:]) == gain.value)

    return [gain for gain in earlier if has(gain)]


def given(ws: Workspace, survivor: str, but: str | None = None) -> list[Contribution]:
    """Return what the merges that stand gave a page, once each, but for that of one page."""
    found: list[Contribution] = []
    for merge in merges.into(ws.database, survivor):
        if merge.absorbed != but:
            gains = merges.contributions(ws.database, merge.id)
            found += [g for g in gains if g.field != COLLAPSED and g not in found]
    return found


def _with_gains(document: Document, gained: list[Contribution]) -> Changes:
    changes: Changes = {}
    for key in ("aliases", "tags", "evidence"):
        added = [c.value for c in gained if c.field == key]
        if added:
            changes[key] = [*items(document, key), *added]
    fields = {c.field[7:]: c.value for c in gained if c.field.startswith("fields.")}
    if fields:
        standing = document.fields.get("fields")
        changes["fields"] = {**(standing if isinstance(standing, dict) else {}), **fields}
    for contribution in gained:
        if contribution.field == "summary":
            changes["summary"] = contribution.value
    return changes


def _conflicts(survivor: Target, absorbed: Target) -> list[dict[str, Any]]:
    pairs = [
        (f"fields.{name}", survivor.record.fields[name], value)
        for name, value in absorbed.record.fields.items()
        if name in survivor.record.fields and survivor.record.fields[name] != value
    ]
    if (
        survivor.record.summary
        and absorbed.record.summary
        and survivor.record.summary != absorbed.record.summary
    ):
        pairs.append(("summary", survivor.record.summary, absorbed.record.summary))
    return [{"field": f, "survivor": mine, "absorbed": theirs} for f, mine, theirs in pairs]


def _new(values: Iterable[str], known: set[str]) -> Iterable[str]:
    for value in values:
        key = names.lookup_key(value)
        if key and key not in known:
            known.add(key)
            yield value


def items(document: Document, key: str) -> list[Value]:
    """Return a list of front matter; a single value is a list of one."""
    value = document.fields.get(key)
    return list(value) if isinstance(value, list) else [] if value is None else [value]


def by_field(contributions: Iterable[Contribution]) -> dict[str, Any]:
    """Return contributions by field, as receipts list them."""
    found: dict[str, Any] = {}
    for contribution in contributions:
        if contribution.field in ("aliases", "tags", "evidence"):
            found.setdefault(contribution.field, []).append(contribution.value)
        else:
            found[contribution.field] = contribution.value
    return found
