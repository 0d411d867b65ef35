"""Bringing the graph up to date with the tree of a root, file by file.

A file whose stamp is known is not opened, one whose content is known is not parsed, and one that
cannot be parsed keeps what was known of it. What is gone is removed only where its folder could be
listed. All of it may be stopped at any moment: each transaction leaves a graph that is right, and
the next run goes on.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple, TypeVar

from vault_kg.extract import filing, glance, touching
from vault_kg.extract.backends.protocol import GraphBackend
from vault_kg.extract.backends.values import FileState, Stored
from vault_kg.extract.filing import News, Resolver
from vault_kg.extract.glance import Stamp, Tree
from vault_kg.extract.protocol import Extractor
from vault_kg.extract.reading import ExtractorFor, Known, Seen, as_tuple, is_fresh, look
from vault_kg.extract.roots import RECORDS, Root
from vault_kg.extract.wanted import Wanted
from vault_kg.index import readers, walk
from vault_kg.store import collecting, files

BATCH = 25
"""Files that one transaction takes in: what is found in more of them leaves the processor's caches."""

AHEAD = 4
"""So many times as many are asked of several processes at once."""

_WORKER = "vault_kg.extract.worker"
_T = TypeVar("_T")

Progress = Callable[[int, int], None]


@dataclass(frozen=True)
class Rules:
    """What reads files and what resolves their references."""

    extractor_for: ExtractorFor
    resolver: Resolver
    in_processes: bool = False
    """Whether processes of their own may look at many files: they know the registered extractors."""


@dataclass
class Report:
    """What was done to a root."""

    root: str
    listed: int = 0
    skipped: int = 0
    read: int = 0
    failed: int = 0
    removed: int = 0
    linked: int = 0
    unlisted: int = 0
    """Folders and files that could not be looked at; what is known of them stays."""

    @property
    def changed(self) -> bool:
        """Whether the graph is another than before."""
        return bool(self.read or self.removed or self.linked)


class _Asked(NamedTuple):
    path: str
    extractor: Extractor
    state: FileState | None
    known: Known | None
    """What need not be extracted again; None for anything."""


class Indexing:
    """One run over one root, by whoever holds the graph's lock."""

    def __init__(
        self, graph: GraphBackend, root: Root, rules: Rules, now: Callable[[], str],
        progress: Progress | None = None,
    ) -> None:  # fmt: skip
        self._graph = graph
        self._root = root
        self._rules = rules
        self._now = now
        self._progress = progress
        self._wanted = Wanted(root, rules.extractor_for)
        self._is_first = False
        self.report = Report(root.name)

    def everything(self, *, force: bool = False) -> Report:
        """Look at the whole tree.

        Args:
            force: extract also what is unchanged.
        """
        graph, name = self._graph, self._root.name
        before = graph.stored(name)
        tree = glance.tree(self._root, self._wanted, before if not force else Stored())
        self.report.unlisted = len(tree.unlisted)
        if tree.known:
            self.report.listed = self.report.skipped = tree.known
            self._link()
            return self.report
        states = graph.states(name)
        self._is_first = not states
        if self._is_first:  # then no file notes what it brings
            with graph.writing():
                graph.put_changed(RECORDS, [touching.ANYTHING])
        gone = [path for path in states if path not in tree.files and tree.complete(path)]
        settled = self._index(tree.files, states, gone, force=force)
        if tree.stored is not None:
            stored = tree.stored if settled else tree.stored._replace(stamps="")
            if stored != before:
                with graph.writing():
                    graph.put_stored(name, stored)
        return self.report

    def some(self, paths: Iterable[str], *, force: bool = False) -> Report:
        """Look at these files and folders only; what is not there any more is removed."""
        wanted = list(dict.fromkeys(paths))
        folders = [path for path in wanted if self._may_be_folder(path)]
        graph, name = self._graph, self._root.name
        tree = Tree({})
        if folders:
            tree = glance.tree(self._root, self._wanted, graph.stored(name)._replace(stamps=""))
        known = graph.states(name) if folders else {}
        self.report.unlisted = len(tree.unlisted)
        found = {p: s for p, s in tree.files.items() if _is_under(p, folders)}
        states = {p: s for p, s in known.items() if _is_under(p, folders)}
        for path in wanted:
            try:
                stamp = self._stamp(path)
            except OSError:
                self.report.unlisted += 1  # what is known of it stays
                continue
            if (state := graph.state(name, path)) is not None:
                states[path] = state
            if stamp is not None:
                found[path] = stamp
        gone = [path for path in states if path not in found and tree.complete(path)]
        self._index(found, states, gone, force=force)
        return self.report

    def _index(
        self, found: dict[str, Stamp], states: dict[str, FileState], gone: Sequence[str], *,
        force: bool,
    ) -> bool:  # fmt: skip
        """Bring the graph up to date with files; returns whether all were as they had been read."""
        asked = list(self._stale(found, states, force=force))
        self.report.listed = len(found)
        self.report.skipped = len(found) - len(asked)
        with collecting.between_batches() as collect:
            self._take_in_all(asked, collect if len(asked) > BATCH else None)
            for some in _batches(gone, BATCH):
                with self._graph.writing():
                    self._graph.doubt(self._root.name)
                    filing.forget_files(self._graph, self._root.name, some)
            self.report.removed += len(gone)
            self._link()
        return not asked and not gone

    def _link(self) -> None:
        self.report.linked = filing.link(self._graph, self._root, self._rules.resolver)

    def _take_in_all(self, asked: Sequence[_Asked], collect: Callable[[], None] | None) -> None:
        done = 0
        for batch, seen in self._looks(asked):
            with self._graph.writing():
                self._graph.doubt(self._root.name)
                for each in batch:
                    self._take_in(each, seen[each.path])
            del seen  # else it is there until the next is made
            done += len(batch)
            if collect:
                collect()
            if self._progress:
                self._progress(done, len(asked))

    def _stale(
        self, found: dict[str, Stamp], states: dict[str, FileState], *, force: bool
    ) -> Iterator[_Asked]:
        for path, stamp in found.items():
            extractor = self._wanted.extractor(path[path.rfind("/") + 1 :])
            if extractor is None:
                continue
            state = states.get(path)
            if force or state is None or not is_fresh(state, stamp, extractor):
                known = Known(state.extractor, state.version, state.tried) if state else None
                yield _Asked(path, extractor, state, None if force else known)

    def _looks(self, asked: Sequence[_Asked]) -> Iterator[tuple[Sequence[_Asked], dict[str, Seen]]]:
        """Yield the files of each transaction to come, with what was seen of them."""
        if (
            self._rules.in_processes
            and len(asked) >= readers.WORTHWHILE
            and (count := readers.useful()) > 1
        ):
            yield from self._looks_ahead(_batches(asked, AHEAD * BATCH), count)
            return
        for batch in _batches(asked, BATCH):
            yield batch, {each.path: self._look(each) for each in batch}

    def _looks_ahead(
        self, batches: Sequence[Sequence[_Asked]], count: int
    ) -> Iterator[tuple[Sequence[_Asked], dict[str, Seen]]]:
        with readers.Readers(self._root.folder, count, _WORKER, BATCH) as pool:
            questions = [[(each.path, each.known) for each in batch] for batch in batches]
            for batch, (_, seen) in zip(batches, pool.read(questions), strict=True):
                lost = {e.path: self._look(e) for e in batch if e.path not in seen}
                yield batch, seen | lost

    def _look(self, asked: _Asked) -> Seen:
        return look(self._root.folder, asked.path, asked.known, asked.extractor)

    def _take_in(self, asked: _Asked, seen: Seen) -> None:
        """Write what was seen of a file; one that is changing is left for the next time."""
        graph, root = self._graph, self._root.name
        path, by, before, _ = asked
        if seen.outcome == "moving":
            self.report.unlisted += 1
        elif seen.outcome == "gone":
            self._forget(path, before)
        elif seen.outcome == "same" and before is not None:
            graph.put_state(root, before._replace(stamp=seen.stamp, seen_ns=seen.seen_ns))
            self.report.skipped += 1
        elif seen.found is None:
            state = before or FileState(path, by.name, by.version, seen.stamp, 0, "", "")
            graph.put_state(root, self._tried(state, by, seen))
            self.report.failed += 1
        else:
            state = FileState(path, by.name, by.version, seen.stamp, 0, seen.hash, "")
            state = self._tried(state, by, seen)._replace(problems=tuple(seen.found.errors))
            news = News(is_first=before is None, is_alone=self._is_first)
            filing.put_file(graph, root, state, seen.found, self._root.partition(path), news)
            self.report.read += 1

    def _tried(self, state: FileState, by: Extractor, seen: Seen) -> FileState:
        return state._replace(
            extractor=by.name, version=by.version, stamp=seen.stamp, seen_ns=seen.seen_ns,
            tried=seen.hash, error=seen.error, duration_ms=seen.duration_ms, indexed_at=self._now(),
        )  # fmt: skip

    def _forget(self, path: str, before: FileState | None) -> None:
        if before is not None:
            filing.forget_files(self._graph, self._root.name, [path])
            self.report.removed += 1

    def _may_be_folder(self, path: str) -> bool:
        """Say whether a path is, or was, that of a folder."""
        with contextlib.suppress(OSError):
            name = path.rpartition("/")[2]
            return self._wanted.extractor(name) is None or (self._root.folder / path).is_dir()
        return False

    def _stamp(self, path: str) -> Stamp | None:
        """Return the stamp of a file that belongs to the tree, or None."""
        folder, slash, name = path.rpartition("/")
        if not self._wanted(name, folder + slash) or walk.ignored(self._root.folder, path):
            return None
        found = files.stamp(self._root.folder, path)
        return None if found is None else as_tuple(found)


def _batches(every: Sequence[_T], size: int) -> list[Sequence[_T]]:
    return [every[start : start + size] for start in range(0, len(every), size)]


def _is_under(path: str, folders: Iterable[str]) -> bool:
    return any(not f or path == f or path.startswith(f + "/") for f in folders)
