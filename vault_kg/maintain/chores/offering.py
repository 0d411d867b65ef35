"""What a level offers to be done, by kind, from its survey: the pages that weigh most come first."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping
from datetime import timedelta
from typing import Final

from vault_kg.errors import VaultError
from vault_kg.index import tiered
from vault_kg.maintain import moments, notes, survey
from vault_kg.maintain.chores.choosing import REMEMBERED, Circumstances
from vault_kg.maintain.chores.kinds import KINDS, Kind, Target
from vault_kg.maintain.survey import Factor, Survey
from vault_kg.operations import targets
from vault_kg.operations.workspace import Workspace
from vault_kg.records.frontmatter import FrontMatterError, parse
from vault_kg.state import chores, kg_sessions, progress, usage
from vault_kg.state.tiers import ACTIVE

REWRITE_DAYS: Final = timedelta(days=30)
IN_USE: Final = timedelta(hours=24)
LEAST_REVISIONS, LOOKED_AT = 3, 40
"""The notes of pages revised so often are looked at, of so many pages at most."""

_HISTORY: Final = re.compile(
    r"\b(?:actually|turns out|no longer|correction|update[d]?:|was wrong|previously|used to be|"
    r"as of (?:19|20)\d\d)\b",
    re.IGNORECASE,
)
"""How notes read that tell of what was, and not of what is (kg-maintain, "Notes Hygiene")."""

Offered = Mapping[Kind, list[list[Target]]]
_BY_FACTOR: Final[Mapping[Kind, Factor]] = {
    "gist": "oversized", "id": "long_ids", "edge": "unconnected", "anchor": "dangling",
}  # fmt: skip


def offered(ws: Workspace, found: Survey) -> Offered:
    """Return the groups of pages that are one piece of work each, by kind."""
    result: dict[Kind, list[list[Target]]] = {}
    for kind, factor in _BY_FACTOR.items():
        pages: dict[str, Target] = {}
        for behind in survey.behind(ws, found, factor):
            node = behind.node
            pages.setdefault(node.id, Target(node.id, node.name, behind.what))
        result[kind] = [[target] for target in pages.values()]
    result["lift"] = _clusters(ws, found)
    result["notes"] = [[target] for target in _changelogs(ws, found)]
    return result


def circumstances(ws: Workspace, partition: str) -> Circumstances:
    """Return what else the choice of a chore heeds."""
    db = ws.database
    own = [d for d in chores.dispatched(db, 200) if d.partition == partition and d.kind != "pass"]
    last = own[:REMEMBERED]
    stamps = progress.trail(db, partition, survey.STAMP_TASK)[-REMEMBERED:]
    known = {one for dispatch in last for one in dispatch.targets}
    everybody = set(tiered.slugs_in(db, partition, ACTIVE))
    return Circumstances(
        last_kinds=[kind for d in last for kind in KINDS if kind == d.kind],
        last_targets=known,
        declined=[line for stamp in stamps for line in _lines(stamp.state.get("declined"))],
        held=kg_sessions.holders(db, everybody, moments.before(ws, IN_USE)),
        rewrites=usage.rewrites_since(db, moments.before(ws, REWRITE_DAYS)),
    )


def _clusters(ws: Workspace, found: Survey) -> list[list[Target]]:
    groups: dict[str, list[Target]] = defaultdict(list)
    for behind in survey.behind(ws, found, "lift"):
        node = behind.node
        groups[behind.what].append(Target(node.id, node.name, node.gist))
    return [group for group in groups.values() if len(group) > 1]


def _changelogs(ws: Workspace, found: Survey) -> Iterator[Target]:
    """Yield the pages whose notes tell of their own history, the most revised first."""
    db, partition = ws.database, found.partition
    for node in tiered.revised(db, partition, ACTIVE, LEAST_REVISIONS, LOOKED_AT):
        said = _notes_at(ws, node.path)
        telling = sum(_HISTORY.search(note) is not None for note in said)
        if telling:
            yield Target(node.id, node.name, f"{telling} of {len(said)} notes tell of the past")


def _notes_at(ws: Workspace, path: str) -> list[str]:
    try:
        content = targets.bytes_at(ws, path)
        return notes.read(parse(content).body) if content is not None else []
    except (VaultError, FrontMatterError):
        return []  # diagnostics tells of a file that cannot be read


def _lines(said: object) -> list[str]:
    return [str(line) for line in said] if isinstance(said, list) else [str(said)] if said else []
