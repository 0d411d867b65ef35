"""An index of what stood at another time, made for one question and thrown away."""

from __future__ import annotations

import tempfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from vault_kg.index import projection, schema
from vault_kg.index.parsed import Looked, parse_file
from vault_kg.state.database import Database
from vault_kg.store import files
from vault_kg.store.files import Stamp


class Stood(NamedTuple):
    """A record as it stood: its file, and what the state said of it."""

    path: str
    content: bytes
    revision: int
    lifecycle: str
    eligible: bool


@contextmanager
def index(records: Iterable[Stood]) -> Iterator[Database]:
    """Give a database whose derived tables hold these records, and remove it afterwards."""
    with tempfile.TemporaryDirectory(prefix="vault-kg-past-") as folder:
        db = Database(Path(folder) / "past.sqlite", create=True)
        try:
            _fill(db, {record.path: record for record in records})
            yield db
        finally:
            db.close()


def _fill(db: Database, records: dict[str, Stood]) -> None:
    schema.ensure(db, schema.VERSION)
    with db.write():
        projection.put(db, [_looked(record) for record in records.values()])
        db.executemany(
            "UPDATE record SET revision = ?, lifecycle = ?, eligible = ? WHERE path = ?",
            ((r.revision, r.lifecycle, int(r.eligible), r.path) for r in records.values()),
        )


def _looked(record: Stood) -> Looked:
    parsed = parse_file(record.path, record.content)
    stamp = Stamp(len(record.content), 0, 0, 0)
    return Looked(record.content, parsed, files.content_hash(record.content), stamp)
