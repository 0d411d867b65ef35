"""What else follows a node's new id: titles and files of its edges, and links to it by path.

Only what was made of the old id follows: a title or file name that a person chose stays. Links are
changed in pages; a note is a person's, a claim or a fact is a statement, and both are only told of.
What the caller does not see, or cannot be read as it stands, stays as it is.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

from vault_kg.errors import (
    Ambiguous,
    ConflictBlocked,
    InvalidArgument,
    InvalidRecord,
    LifecycleRefused,
    MissingFile,
    NotFound,
    UnsafePath,
)
from vault_kg.index import catalog, nodes
from vault_kg.index.nodes import Edge
from vault_kg.index.parsed import stem
from vault_kg.index.pending import Pending, PendingRecord
from vault_kg.maintain import tending
from vault_kg.maintain.renaming import Moved
from vault_kg.operations import checks, drafts, targets
from vault_kg.operations.caller import Caller
from vault_kg.operations.graph import edges
from vault_kg.operations.graph.edges import End
from vault_kg.operations.targets import Target
from vault_kg.operations.workspace import Workspace
from vault_kg.records import names
from vault_kg.records.retargeting import retargeted
from vault_kg.state import usage
from vault_kg.store.plan import Change

_STAYS = (
    Ambiguous,
    ConflictBlocked,
    InvalidArgument,
    InvalidRecord,
    LifecycleRefused,
    MissingFile,
    NotFound,
    UnsafePath,
)
"""Why a record is left as it is."""


@dataclass
class Following:
    """What a rename changes besides the node's own file."""

    changes: list[Change] = field(default_factory=list)
    rewritten: list[tuple[str, str]] = field(default_factory=list)
    """Links that say the new path, as (file, old target)."""
    own_body: str | None = None
    """The node's own text, where it links to itself by path."""
    written: dict[str, str] = field(default_factory=dict)
    """When each page that was changed was last written, maintenance apart."""

    def revisions(self) -> dict[str, int]:
        """Return the new revision of each record that was changed."""
        return {c.record_id: c.revision for c in self.changes if c.record_id}


def of_edges(ws: Workspace, caller: Caller, moved: Moved, beside: Sequence[Edge]) -> list[Change]:
    """Return the changes of the edges whose title, fact or file is made of the old id."""
    slugs_of = {
        one: node.slug
        for one, node in nodes.of_ids(
            ws.database, {end for edge in beside for end in (edge.source, edge.target)}
        ).items()
    }
    after = slugs_of | {moved.id: stem(moved.new_path)}
    pending, changes = Pending(), list[Change]()
    for edge in beside:
        if edge.source in slugs_of and edge.target in slugs_of:
            with contextlib.suppress(*_STAYS):
                target = targets.load(ws, caller, edge.id)
                said = [_sentence(target, edge, known) for known in (slugs_of, after)]
                changes += _edge(ws, target, said[0], said[1], pending)
    return changes


def _sentence(target: Target, edge: Edge, slugs_of: dict[str, str]) -> str:
    ends = [End(one, slugs_of[one]) for one in (edge.source, edge.target)]
    return edges.sentence(ends[0], target.record.predicate or edge.rel, ends[1])


def _edge(ws: Workspace, target: Target, was: str, now: str, pending: Pending) -> list[Change]:
    row = target.row
    old, new = (drafts.title_from(text, row.id) for text in (was, now))
    lines = target.document.body.split(target.document.newline)
    body = target.document.newline.join(now if line == was else line for line in lines)
    title = new if target.record.title == old else target.record.title
    change = drafts.revise(ws, target, {"title": title}, body)
    if change is None:
        return []
    folder, _, file = row.path.rpartition("/")
    stems = [names.slug(text, row.id) for text in (old, new)]
    made_of_old = file.removesuffix(".md") in (stems[0], f"{stems[0]}-{names.short(row.id)}")
    if not made_of_old or stems[0] == stems[1] or title == target.record.title:
        return [change]
    path = drafts.free_path(ws, folder, stems[1], row.id, pending)
    pending.add(row.id, PendingRecord(row.kind, row.type, path, row.partition))
    gone = Change(row.path, target.content, None, partition=row.partition)
    return [gone, replace(change, path=path, before=None)]


def of_links(
    ws: Workspace,
    caller: Caller,
    moved: Moved,
    own: Target,
    broken: Sequence[tuple[str, str]],
    leads_there: Callable[[str, str], bool],
) -> Following:
    """Change the links by the old path in pages.

    Args:
        ws: the opened vault.
        caller: who renames; what it does not see stays.
        moved: the node, before and after.
        own: the node as it stands.
        broken: the links, as (file, target).
        leads_there: says whether a link of a file, by a target, means the node afterwards.
    """
    done = Following()
    by_file: dict[str, list[str]] = {}
    for path, target in dict.fromkeys(broken):
        by_file.setdefault(path, []).append(target)
    for path, given in by_file.items():
        with contextlib.suppress(*_STAYS):
            page = own if path == moved.path else _page(ws, caller, path)
            body, changed = page.document.body, list[str]()
            for target in given:
                new = _at_new_path(moved, target)
                text = retargeted(body, target, new) if new else None
                if text is not None and new and leads_there(path, new):
                    body, changed = text, [*changed, target]
            _take(ws, done, page, body, path == moved.path)
            done.rewritten += [(path, target) for target in changed]
    return done


def _take(ws: Workspace, done: Following, page: Target, body: str, is_own: bool) -> None:
    if is_own:
        done.own_body = body
    elif (change := drafts.revise(ws, page, {}, body)) is not None:
        done.changes.append(change)
        for one, node in nodes.of_ids(ws.database, [page.row.id]).items():
            done.written[one] = tending.written_at(node, usage.use_of(ws.database, one))


def _page(ws: Workspace, caller: Caller, path: str) -> Target:
    row = catalog.by_path(ws.database, path)
    if row is None or row.kind != "page":
        raise NotFound(f"{path} is no page", path=path)
    return checks.editable(ws, caller, row.id, ("page",))


def _at_new_path(moved: Moved, target: str) -> str | None:
    """Return a target with the new name in the place of the old one, in the same form."""
    head, slash, last = target.rpartition("/")
    name = last.removesuffix(".md")
    if names.file_key(name) != names.file_key(moved.old_name):
        return None
    return f"{head}{slash}{stem(moved.new_path)}{last[len(name) :]}"
