"""Which entities a merge is of, found by uuid and by name; nothing is changed or guessed."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from vault_kg.errors import InvalidArgument, LifecycleRefused, NotFound
from vault_kg.index.catalog import Row
from vault_kg.operations.caller import Caller
from vault_kg.operations.graph import finding
from vault_kg.operations.workspace import Workspace
from vault_kg.records import names


@dataclass(frozen=True)
class Wanted:
    """What a merge is asked to be of."""

    group: str
    canonical_uuid: str | None = None
    canonical_name: str | None = None
    alias_uuids: Sequence[str] = ()
    alias_names: Sequence[str] = ()
    all_by_name: bool = False
    kind: str | None = None


@dataclass
class Chosen:
    """The page that stays, those that become it, and how many of them are it already."""

    canonical: Row
    aliases: dict[str, Row] = field(default_factory=dict)
    skipped: int = 0

    @property
    def rows(self) -> list[Row]:
        """The pages to be absorbed, in a stable order."""
        return [self.aliases[page_id] for page_id in sorted(self.aliases)]


def choose(ws: Workspace, caller: Caller, wanted: Wanted) -> Chosen:
    """Find the entities of a merge; all of them are found, or the merge is refused.

    Raises:
        NotFound: an entity of the group does not exist; `data.unknown` lists them all.
        Ambiguous: a name means several.
        LifecycleRefused: one is withdrawn, or merged into another page.
        InvalidArgument: they are not of one kind.
    """
    chosen = Chosen(_canonical(ws, caller, wanted))
    unknown: list[str] = []
    for uuid in wanted.alias_uuids:
        try:
            row = finding.entity(ws, caller, uuid, wanted.group)
        except NotFound:
            unknown.append(uuid)
            continue
        _take(ws, chosen, row)
    for name in wanted.alias_names:
        if not _take_named(ws, wanted, chosen, name):
            unknown.append(name)
    if wanted.all_by_name:
        kind = finding.kind_of(chosen.canonical)
        for row in finding.titled(ws, wanted.group, chosen.canonical.title, kind):
            if names.lookup_key(row.title) == names.lookup_key(chosen.canonical.title):
                _take(ws, chosen, row)
    if unknown:
        raise NotFound(
            f"the group {wanted.group!r} has no entity {', '.join(map(repr, unknown[:5]))}; "
            "nothing was merged",
            unknown=unknown,
            group_id=wanted.group,
        )
    _check_kinds(chosen)
    return chosen


def _canonical(ws: Workspace, caller: Caller, wanted: Wanted) -> Row:
    if wanted.canonical_uuid is not None:
        row = finding.entity(ws, caller, wanted.canonical_uuid, wanted.group)
        if row.lifecycle != "active":
            into = finding.final(ws, row.id)
            raise LifecycleRefused(
                f"{row.id} is {row.lifecycle} and takes nothing in; merge into "
                + (f"{into} instead" if row.lifecycle == "merged" and into else "an active one"),
                uuid=row.id,
                lifecycle=row.lifecycle,
            )
        return row
    name = str(wanted.canonical_name)
    rows = finding.entities_named(ws, wanted.group, name, wanted.kind)
    if len({finding.kind_of(row) for row in rows}) > 1 or (
        len(rows) > 1 and not wanted.all_by_name
    ):
        raise finding.ambiguous(name, wanted.group, rows)
    found = rows[0] if rows else finding.one_entity(ws, wanted.group, name, wanted.kind)
    if found is None:
        raise NotFound(
            f"the group {wanted.group!r} has no entity {name!r}; knowledge_find_entities looks for "
            "others",
            name=name,
            group_id=wanted.group,
        )
    return found


def _take_named(ws: Workspace, wanted: Wanted, chosen: Chosen, name: str) -> bool:
    """Take every page with a title, or the one with the alias; say whether there was any."""
    rows = finding.entities_named(ws, wanted.group, name, wanted.kind)
    titled = [row for row in rows if names.lookup_key(row.title) == names.lookup_key(name)]
    others = [row for row in rows if row.id != chosen.canonical.id]
    if not titled and len(others) > 1:
        raise finding.ambiguous(name, wanted.group, others)
    absorbed = finding.absorbed_named(ws, wanted.group, name, wanted.kind)
    ours = [row for row in absorbed if finding.final(ws, row.id) == chosen.canonical.id]
    for row in titled or others:
        _take(ws, chosen, row)
    chosen.skipped += len(ours)
    return bool(rows or ours)


def _take(ws: Workspace, chosen: Chosen, row: Row) -> None:
    if row.id == chosen.canonical.id:
        return
    final = finding.final(ws, row.id)
    if row.lifecycle == "merged" and final == chosen.canonical.id:
        chosen.skipped += 1
    elif row.lifecycle != "active":
        raise LifecycleRefused(
            f"{row.id} is {row.lifecycle}"
            + (f" into {final}" if row.lifecycle == "merged" else ""),
            uuid=row.id,
            lifecycle=row.lifecycle,
        )
    else:
        chosen.aliases[row.id] = row


def _check_kinds(chosen: Chosen) -> None:
    kinds = list(_kinds([chosen.canonical, *chosen.rows]))
    if len(kinds) > 1:
        raise InvalidArgument(
            f"only entities of one kind are merged; these are {', '.join(kinds)}", kinds=kinds
        )


def _kinds(rows: Iterable[Row]) -> Iterable[str]:
    return dict.fromkeys(finding.kind_of(row) for row in rows)
