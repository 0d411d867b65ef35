"""Bringing a vault's graph up to date: its roots, what hooks queued, and its records.

One process at a time does so, under a lock that is not the vault's: no write of the vault waits for
it. Where somebody else is at work, what was asked for is queued, and done by whoever is next.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path

from vault_kg.errors import Busy, Cancelled
from vault_kg.extract import (
    filing,
    hiding,
    opening,
    queue,
    record_refresh,
    roots,
    touching,
)
from vault_kg.extract.indexing import Indexing, Report, Rules
from vault_kg.extract.roots import Root
from vault_kg.operations.caller import Caller
from vault_kg.operations.workspace import Workspace

INDEXED_AT = "indexed_at"
"""The setting that says when the graph was last brought up to date."""

MANY = 2_000
"""After so many files, it is worth looking at how the values lie."""


def everything(
    ws: Workspace, caller: Caller, chosen: Iterable[Root] | None = None, *, force: bool = False,
    wait: float = 0.0,
) -> list[Report]:  # fmt: skip
    """Index whole roots, and forget those that are no longer listed.

    Args:
        ws: the vault.
        caller: is told of the progress, and may cancel between two files.
        chosen: some roots; all where None.
        force: extract also what is unchanged.
        wait: seconds to wait for another process that indexes.

    Raises:
        Busy: another process indexes.
    """
    graph = opening.backend(ws)
    every = roots.of(ws.vault.root)
    asked = every if chosen is None else list(chosen)
    with _alone(ws, wait, [root.folder for root in asked]):
        forgotten = set(graph.roots()) - {root.name for root in every} - {roots.RECORDS}
        for name in forgotten:
            with graph.writing():
                graph.forget_root(name)
                graph.put_changed(roots.RECORDS, [touching.ANYTHING])
        reports = [_run(ws, caller, root).everything(force=force) for root in asked]
        reports += _drain(ws, caller)
        _finish(ws, caller, reports, anew=force)
    return reports


def some(
    ws: Workspace, caller: Caller, root: Root, paths: Sequence[str], *, force: bool = False,
    wait: float = 0.0,
) -> list[Report]:  # fmt: skip
    """Index files and folders of one root.

    Raises:
        Busy: another process indexes.
    """
    with _alone(ws, wait, [root.folder / path for path in paths]):
        reports = [_run(ws, caller, root).some(paths, force=force), *_drain(ws, caller)]
        _finish(ws, caller, reports)
    return reports


def queued(ws: Workspace, caller: Caller, *, wait: float = 0.0) -> list[Report]:
    """Index what hooks have queued.

    Raises:
        Busy: another process indexes.
    """
    with _alone(ws, wait, []):
        reports = _drain(ws, caller)
        _finish(ws, caller, reports)
    return reports


@contextmanager
def _alone(ws: Workspace, wait: float, asked: Sequence[Path]) -> Iterator[None]:
    """Hold the graph's lock for the block; where somebody else does, queue what was asked for.

    Raises:
        Busy: another process indexes; it, or whoever is next, does what is queued.
    """
    with ExitStack() as held:
        try:
            held.enter_context(opening.lane(ws).hold(wait))
        except Busy as error:
            if asked:
                queue.push(ws.vault.private, asked)
            raise Busy(
                "another process is bringing the graph up to date. What you asked for is queued, and "
                "done after that; ask again to see it"
            ) from error
        yield


def _run(ws: Workspace, caller: Caller, root: Root) -> Indexing:
    def tell(done: int, total: int) -> None:
        caller.report(done, total, f"indexing {root.name}")
        if caller.cancelled():
            raise Cancelled(
                "indexing was cancelled; what was indexed stays, the rest is done next time"
            )

    return Indexing(opening.backend(ws), root, rules(), ws.now, tell)


def rules() -> Rules:
    """Return the extractors and the resolution that are registered."""
    from vault_kg.extract import linking, registry

    return Rules(registry.extractor_for, linking.resolver, in_processes=True)


def _drain(ws: Workspace, caller: Caller) -> list[Report]:
    """Index what hooks queued, root by root; paths outside every root are dropped."""
    reports: list[Report] = []
    private = ws.vault.private
    while paths := queue.take(private):
        for root, wanted in _by_root(ws.vault.root, paths):
            reports.append(_run(ws, caller, root).some(wanted))
        queue.done(private)
    return reports


def _by_root(vault: Path, paths: Iterable[Path]) -> list[tuple[Root, list[str]]]:
    found: dict[Root, list[str]] = {}
    for path in paths:
        held = roots.around(vault, path)
        if held is not None:
            found.setdefault(held[0], []).append(held[1])
    return list(found.items())


def _finish(ws: Workspace, caller: Caller, reports: list[Report], *, anew: bool = False) -> None:
    """Bring the records up to date, and look at the files that they are gone from.

    Args:
        ws: the vault.
        caller: as for the rest.
        reports: what was done; what is done here is added.
        anew: work out all records, also what has not changed.
    """
    graph = opening.backend(ws)
    left = [ws.vault.root / path for path in hiding.left_behind(ws, graph)]
    for root, wanted in _by_root(ws.vault.root, left):
        reports.append(_run(ws, caller, root).some(wanted))
    filing.sweep(graph)
    record_refresh.refresh(ws, graph, anew=anew)
    filing.sweep(graph)
    with graph.writing():
        graph.put_setting(INDEXED_AT, ws.now())
    if sum(report.read for report in reports) >= MANY:
        graph.optimise()
