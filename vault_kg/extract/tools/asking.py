"""What every tool begins with: the graph as the caller sees it, the node that is meant, and `meta`."""

from __future__ import annotations

import difflib
import functools
import re
from collections.abc import Callable, Collection
from typing import Any, Literal, NamedTuple, TypeVar

from vault_kg.errors import Ambiguous, Unavailable, UnsafePath
from vault_kg.extract import hiding, opening, queue, record_stand, roots, touching, uids, updating
from vault_kg.extract.backends.memory import MemoryBackend
from vault_kg.extract.backends.protocol import GraphBackend, GraphReader
from vault_kg.extract.backends.rows import tokens_of
from vault_kg.extract.backends.values import NodeRow
from vault_kg.extract.reading import as_tuple
from vault_kg.extract.roots import Root
from vault_kg.extract.tools.views import Freshness, Meta
from vault_kg.operations.base import Model, Request
from vault_kg.operations.caller import Caller
from vault_kg.operations.registry import operation
from vault_kg.operations.workspace import Workspace
from vault_kg.records import ids
from vault_kg.store import files

How = Literal["direct", "path_suffix", "path_prefix", "fuzzy_fts5", "fuzzy_label"]

R = TypeVar("R", bound=Request)

MOST_CANDIDATES = 50
MOST_NEAR = 5
LEAST_ALIKE = 0.6
"""From which ratio of `difflib` on a name is near another."""
EMPTY = "nothing is indexed yet: graph_index, or `vault-kg graph index`"


def reads(result: type[Model]) -> Callable[[Callable[[Workspace, R, Caller], Model]], Any]:
    """Register a tool that only reads: all of its answer is of one moment, whatever is indexed."""

    def register(tool: Callable[[Workspace, R, Caller], Model]) -> Any:
        @functools.wraps(tool)
        def at_one_moment(ws: Workspace, request: R, caller: Caller) -> Model:
            with opening.one_moment(ws):
                return tool(ws, request, caller)

        return operation("read", result, toolset="code")(at_one_moment)

    return register


def is_short(text: str) -> bool:
    """Say whether a text is looked up as it is only: a single character is part of nearly all names."""
    return len(text.strip()) < 2


class Found(NamedTuple):
    """Nodes that a text may mean, best first, how they were found, and how many there are."""

    rows: list[NodeRow]
    how: How | None
    total: int


class Graph:
    """The graph of a vault as one caller sees it, for one answer."""

    def __init__(self, ws: Workspace, caller: Caller) -> None:
        self.ws = ws
        self.caller = caller
        self.fallback = False
        try:
            self.backend: GraphBackend = opening.backend(ws)
        except Unavailable:
            self.backend, self.fallback = MemoryBackend(), True
        self.hidden = hiding.hidden(ws, self.backend, caller.partitions)
        self.reader: GraphReader = self.backend.reader(caller.partitions, self.hidden.keys)

    def sees_file(self, root: Root, path: str) -> bool:
        """Say whether the caller is told of a file of a root."""
        partition = root.partition(path)
        if partition is None or root.in_vault is None:
            return True
        return self.caller.sees(partition) and root.in_vault + path not in self.hidden.paths

    def find(
        self, text: str, root: str | None = None, kinds: Collection[str] | None = None,
        limit: int = MOST_CANDIDATES,
    ) -> Found:  # fmt: skip
        """Return what a text may mean: a uid or place, the end of a path, words, parts of labels.

        Raises:
            NotFound: there is no such root.
        """
        if root not in (None, roots.RECORDS):
            roots.named(self.ws.vault.root, root)
        if not text.strip():
            return Found([], None, 0)
        direct = [row for row in self._direct(text) if self._fits(row, root, kinds)]
        if direct:
            return Found(direct[:limit], "direct", len(direct))
        return Found([], None, 0) if is_short(text) else self._guess(text, root, kinds, limit)

    def _guess(
        self, text: str, root: str | None, kinds: Collection[str] | None, limit: int
    ) -> Found:
        """Return what a text may mean that is the uid, path or whole name of nothing."""
        rows, total = (
            self.reader.under(text.strip("/"), root, limit, kinds) if text.strip("/") else ([], 0)
        )
        if rows:
            return Found(rows, "path_prefix", total)
        ending = [r for r in touching.ending(self.reader, text) if self._fits(r, root, kinds)]
        if ending:
            return Found(ending[:limit], "path_suffix", len(ending))
        scored, total = self.reader.search(tokens_of(text), kinds, limit, root)
        if scored:
            return Found([row for row, _ in scored], "fuzzy_fts5", total)
        rows, total = self.reader.like(text, kinds, limit, root)
        return Found(rows, "fuzzy_label" if rows else None, total)

    def one(self, text: str, root: str | None = None) -> tuple[NodeRow | None, How | None]:
        """Return the node that a text means, or None where nothing does.

        Raises:
            Ambiguous: it is the uid, the whole name, or the end of the path of several.
        """
        found = self.find(text, root)
        if not found.rows:
            return None, None
        if found.how in ("direct", "path_suffix") and len(found.rows) > 1:
            raise Ambiguous(
                f"{text!r} means {len(found.rows)} nodes; give a uid, and root where it is in several",
                candidates=[
                    {"uid": row.node.uid, "root": row.root, "kind": row.node.kind}
                    for row in found.rows[:MOST_CANDIDATES]
                ],
            )
        return found.rows[0], found.how

    def near(self, text: str) -> list[str]:
        """Return the uids of what has a name like a text that nothing is called, the likest first."""
        last = re.split(r"[/:#]", text.rstrip("/:#.()"))[-1].casefold()
        names = [last.rpartition(".")[2], last]
        if "/" in text and "::" not in text:
            names.reverse()
        found = [uid for name in names for uid in self._alike(name)]
        return list(dict.fromkeys(found))[:MOST_NEAR]

    def _alike(self, name: str) -> list[str]:
        """Return the uids of what has a label like a name in small letters."""
        half = (len(name) + 1) // 2
        parts = {name[:half], name[-half:], *tokens_of(name)}
        found: dict[str, set[str]] = {}
        for part in sorted(part for part in parts if len(part) > 1):
            for row in self.reader.like(part, None, MOST_CANDIDATES)[0]:
                found.setdefault(row.node.label.casefold(), set()).add(row.node.uid)
        labels = difflib.get_close_matches(name, found, MOST_NEAR, LEAST_ALIKE)
        return [uid for label in labels for uid in sorted(found[label])]

    def meta(
        self, row: NodeRow | None = None, how: How | None = None, *, truncated: bool = False,
        hint: str | None = None, near: Collection[str] = (),
    ) -> Meta:  # fmt: skip
        """Return what an answer rests on.

        Args:
            row: the node that it is about, if it is about one.
            how: how that was found.
            truncated: whether anything was cut.
            hint: what to do next.
            near: uids of what may have been meant.
        """
        freshness = self.freshness(row)
        if hint is None and freshness.state in ("empty", "unindexed"):
            hint = EMPTY
        return Meta(
            backend=self.backend.name, backend_fallback=self.fallback, truncated=truncated,
            resolved_from=how, freshness=freshness, hint=hint, near=list(near),
        )  # fmt: skip

    def about(self, text: str, row: NodeRow | None, how: How | None, **more: Any) -> Meta:
        """Return what the answer about one node rests on, also where there is none."""
        if row is None and self.freshness(None).state != "empty":
            more.setdefault("hint", f"nothing is called {text!r}; graph_resolve finds by words")
            more.setdefault("near", self.near(text))
        elif row is not None and how not in (None, "direct"):
            more.setdefault("hint", f"{text!r} was taken for {row.node.uid}")
        return self.meta(row, how, **more)

    def freshness(self, row: NodeRow | None) -> Freshness:
        """Return whether the file of a node is as it was indexed; without one, whether any is."""
        queued = not queue.is_empty(self.ws.vault.private)
        if row is not None and row.root == roots.RECORDS:
            fresh = record_stand.is_fresh(self.ws, self.backend)
            return Freshness(state="fresh" if fresh else "stale", queued=queued)
        path = row.node.path if row is not None else None
        if row is None or path is None:
            at = self.backend.setting(updating.INDEXED_AT)
            return Freshness(state="indexed" if at else "empty", indexed_at=at, queued=queued)
        return self._file_freshness(row.root, path, queued=queued)

    def _file_freshness(self, root: str, path: str, *, queued: bool) -> Freshness:
        """Return whether a file is as it was indexed: by its stamp, or where that differs its bytes."""
        state = self.backend.state(root, path)
        if state is None:
            return Freshness(state="unindexed", path=path, queued=queued)
        said = {"path": path, "indexed_at": state.indexed_at, "indexed_hash": state.hash,
                "queued": queued}  # fmt: skip
        folder = roots.named(self.ws.vault.root, root).folder
        try:
            stamp = files.stamp(folder, path)
            if stamp is None:
                return Freshness(state="gone", **said)
            if as_tuple(stamp) == state.stamp:
                same = state.error is None
                return Freshness(state="fresh" if same else "stale", disk_hash=state.tried, **said)
            content = files.read(folder, path)
        except (UnsafePath, OSError):
            content = None
        disk = files.content_hash(content) if content is not None else None
        return Freshness(state="fresh" if disk == state.hash else "stale", disk_hash=disk, **said)

    def _direct(self, text: str) -> list[NodeRow]:
        """Return the nodes that a uid, record id, path, path::name, name or title means exactly."""
        found = self.reader.find(uids.record(text) if ids.is_id(text) else text)
        if found or uids.parse(text) is not None:
            return found
        return touching.find(self.reader, text).rows or self.reader.labelled(
            text.strip(), ("record",), MOST_CANDIDATES
        )

    @staticmethod
    def _fits(row: NodeRow, root: str | None, kinds: Collection[str] | None) -> bool:
        return root in (None, row.root) and (kinds is None or row.node.kind in kinds)
