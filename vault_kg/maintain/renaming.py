"""What a new file name does to links in texts: found out beforehand, by resolving them both ways.

References between records hold record ids, and a rename cannot touch them. Links in Markdown name a
file by its stem, its path, or the page's title or alias. A link that would lead elsewhere stops the
rename; one by the old name is carried by an alias; one by the old path is changed where that may be
(`following`), or else named in the answer.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from vault_kg.index import linking
from vault_kg.index.linking import Standing
from vault_kg.index.parsed import partition_of
from vault_kg.operations.workspace import Workspace
from vault_kg.records import link_targets
from vault_kg.records.link_targets import Candidate
from vault_kg.records.names import lookup_key


@dataclass(frozen=True)
class Moved:
    """A page as links find it, before and after."""

    id: str
    partition: str
    path: str
    new_path: str
    title: str
    new_title: str
    aliases: Sequence[str]
    old_name: str


@dataclass(frozen=True)
class Links:
    """What a rename does to links, each as (file, target)."""

    carried: list[tuple[str, str]]
    broken: list[tuple[str, str]]
    captured: list[tuple[str, str]]
    aliases: list[str]
    """What the page must be called besides, so that links are carried."""


def foresee(ws: Workspace, moved: Moved) -> Links:
    """Say what a rename does to the links of all files."""
    names = [moved.old_name, link_targets.link_names(moved.new_path)[0], moved.title]
    found = linking.by_names(ws.database, [*names, moved.new_title])
    plain = _after(moved, moved.aliases)
    extra = [moved.old_name, *([moved.title] if moved.title != moved.new_title else [])]
    aliased = _after(moved, [*moved.aliases, *extra])
    changed = []
    captured: list[tuple[str, str]] = []
    for path, target in found:
        before = _resolved(ws, path, target, None, moved)
        after = _resolved(ws, path, target, plain, moved)
        if before == after:
            continue
        if moved.id in before:
            changed.append((path, target, before))
        elif before:
            captured.append((path, target))
    carried, broken = [], []
    for path, target, before in changed:
        after = _resolved(ws, path, target, aliased, moved)
        if after == before:
            carried.append((path, target))
        elif after and moved.id not in after:
            captured.append((path, target))
        else:
            broken.append((path, target))
    used = {name for _, target in carried for name in link_targets.link_names(target)}
    needed = [one for one in extra if lookup_key(one) in used and one not in moved.aliases]
    return Links(carried, broken, captured, needed)


def leads_there(ws: Workspace, moved: Moved, path: str, target: str) -> bool:
    """Say whether a link of a file means the page, once it has its new name."""
    return _resolved(ws, path, target, _after(moved, moved.aliases), moved) == [moved.id]


def _after(moved: Moved, aliases: Sequence[str]) -> list[Candidate]:
    """Return the page as links will find it."""
    named = link_targets.names_of(moved.id, moved.new_path, moved.new_title, aliases)
    return [Candidate(moved.id, moved.new_path, name, source) for source, name in named]


def _resolved(
    ws: Workspace, path: str, target: str, instead: list[Candidate] | None, moved: Moved
) -> list[str]:
    """Return the ids that a link means; with `instead`, as if the page were found by those names."""
    wanted = link_targets.link_names(target)
    standing = linking.candidates(ws.database, wanted)
    if instead is not None:
        standing = [one for one in standing if one.candidate.uid != moved.id]
        standing += [Standing(moved.partition, one) for one in instead if one.name in wanted]
        path = moved.new_path if path == moved.path else path
    standing.sort(key=lambda one: one.candidate.path)
    here = partition_of(path)
    near = [one.candidate for one in standing if one.partition == here]
    return sorted(
        link_targets.choose(target, path, near)
        or link_targets.choose(target, path, [one.candidate for one in standing])
    )
