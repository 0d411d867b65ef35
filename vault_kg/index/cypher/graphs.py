"""The projections of one vault: brought up to date when asked, and asked in a process of their own."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from vault_kg.errors import Cancelled, InvalidArgument, Unavailable
from vault_kg.index import eligibility
from vault_kg.index.cypher.process import WorkerLate, WorkerLost, WorkerRefused, Workers
from vault_kg.index.cypher.projection import Projection, Rows, folder_of
from vault_kg.index.kept import Kept
from vault_kg.state import journal
from vault_kg.state.database import Database

GRACE_SECONDS = 5.0
"""How much longer than its time-out a query may take before its process is killed."""

_ATTEMPTS = 2
_INTERRUPTED = "Interrupted"


@dataclass(frozen=True)
class Wanted:
    """Whose graph is asked, and as of when."""

    partitions: frozenset[str] | None
    vocabulary: str
    """The fingerprint of the ontology: what entities are labelled follows from it."""
    now: str
    rows: Callable[[], Rows]
    """Reads what the graph is to hold."""
    stopped: Callable[[], bool]


class Asked(NamedTuple):
    """A query as it is put to the engine; it has been checked to read only."""

    query: str
    parameters: Mapping[str, Any]
    limit: int
    seconds: float


class Answer(NamedTuple):
    """What the engine answered, and the journal position whose graph it was asked."""

    columns: list[str]
    types: list[str]
    rows: list[list[Any]]
    truncated: bool
    position: int


class _Standing(NamedTuple):
    """A graph file, and the times between which it is what stands."""

    path: Path
    position: int
    since: str
    until: str


class Graphs:
    """The graphs of one vault. Safe to use from several threads."""

    def __init__(self, db: Database) -> None:
        self._db = db
        self._workers = Workers()

    def ask(self, wanted: Wanted, asked: Asked) -> Answer:
        """Answer a query from the graph as it stands now.

        Raises:
            InvalidArgument: the engine refuses the query, or it takes too long.
            Unavailable: the engine cannot be had.
            Cancelled: nobody waits any more.
        """
        problem = ""
        for _ in range(_ATTEMPTS):
            try:
                standing = self._standing(wanted)
                return self._answer(standing, asked, wanted)
            except WorkerLate:
                raise _too_slow(asked.seconds) from None
            except WorkerLost as error:
                if wanted.stopped():
                    raise Cancelled("the query was taken back by the caller") from error
                problem = f"{error}"
                self._forget(wanted)
        raise Unavailable(
            f"the graph could not be asked: {problem}. The vault is not affected; ask otherwise",
            rpc_code=-32000,
        )

    def close(self) -> None:
        """End the process that is kept."""
        self._workers.close()

    def _answer(self, standing: _Standing, asked: Asked, wanted: Wanted) -> Answer:
        request = {"do": "query", "path": os.fspath(standing.path)} | asked._asdict()
        try:
            found = self._workers.ask(request, asked.seconds + GRACE_SECONDS, wanted.stopped)
        except WorkerRefused as error:
            said = str(error).strip()
            if said.startswith(_INTERRUPTED):
                raise _too_slow(asked.seconds) from None
            raise InvalidArgument(f"the query is refused: {said[:1_000]}", field="query") from error
        return Answer(**found, position=standing.position)

    def _standing(self, wanted: Wanted) -> _Standing:
        known = _kept.get(self._db)
        name = (wanted.partitions, wanted.vocabulary)
        standing = known.get(name)
        if (
            standing is None
            or not standing.since <= wanted.now < standing.until
            or not standing.path.is_file()
        ):
            standing = known[name] = self._refreshed(wanted)
        return standing

    def _refreshed(self, wanted: Wanted) -> _Standing:
        with self._db.snapshot():
            position = journal.last_seq(self._db)
            until = eligibility.holds_until(self._db, wanted.now)
            rows = wanted.rows()
        path = self._projection(wanted).refresh(rows, wanted.stopped)
        return _Standing(path, position, wanted.now, until)

    def _forget(self, wanted: Wanted) -> None:
        _kept.get(self._db).clear()
        self._projection(wanted).forget()

    def _projection(self, wanted: Wanted) -> Projection:
        return Projection(folder_of(self._db.path.parent, wanted.partitions), self._workers)


def _nothing(_: Database) -> dict[tuple[frozenset[str] | None, str], _Standing]:
    return {}


_kept = Kept(_nothing)


def _too_slow(seconds: float) -> InvalidArgument:
    return InvalidArgument(
        f"the query took longer than {seconds:g} s and was ended; narrow it, or raise "
        "timeout_seconds",
        reason="timeout",
        timeout_seconds=seconds,
    )
