"""Whose vectors are kept: models by fingerprint, each with a table of its own.

A number that stood for one model never stands for another, not even once its vectors are dropped: a
process that has not noticed yet would take them for its own.
"""

from __future__ import annotations

from typing import Final, NamedTuple

from vault_kg.errors import Unavailable
from vault_kg.index import coverage
from vault_kg.state import settings
from vault_kg.state.database import Database

_LAST: Final = "last_vector_model"

_SCHEMA: Final = """
    CREATE TABLE IF NOT EXISTS vector_model (
        id          INTEGER PRIMARY KEY,
        fingerprint TEXT NOT NULL UNIQUE,
        dimension   INTEGER NOT NULL,
        stamp       TEXT NOT NULL
    ) STRICT;
    CREATE TABLE IF NOT EXISTS vector (
        model  INTEGER NOT NULL,
        hash   BLOB NOT NULL,
        part   INTEGER NOT NULL,
        number INTEGER,
        PRIMARY KEY (model, hash, part)
    ) STRICT, WITHOUT ROWID;
    CREATE UNIQUE INDEX IF NOT EXISTS vector_number ON vector (model, number)
        WHERE number IS NOT NULL;
"""


class Model(NamedTuple):
    """A model whose vectors are kept; no other table ever has its stamp."""

    number: int
    stamp: str

    @property
    def table(self) -> str:
        """The name of the table of its vectors."""
        return f"passage_vec_{self.number}"


def registered(db: Database, fingerprint: str, dimension: int) -> Model:
    """Return a model, which gets its table where it has none.

    Args:
        db: the state.
        fingerprint: of the model and the rules of what is embedded.
        dimension: numbers in a vector.
    """
    known = _known(db, fingerprint)
    if known is not None:
        return known
    load_extension(db)
    with db.write():
        known = _known(db, fingerprint)  # another process may have been first
        return known if known is not None else _add(db, fingerprint, dimension)


def forget_others(db: Database, kept: Model) -> None:
    """Drop the vectors of all models but one."""
    others = db.rows("SELECT id FROM vector_model WHERE id <> ?", (kept.number,))
    if not others:
        return
    load_extension(db)
    with db.write():
        for (other,) in others:
            coverage.forget(db, other)
            db.execute(f"DROP TABLE IF EXISTS passage_vec_{other}")
            db.execute("DELETE FROM vector WHERE model = ?", (other,))
            db.execute("DELETE FROM vector_model WHERE id = ?", (other,))


def _add(db: Database, fingerprint: str, dimension: int) -> Model:
    db.execute(_SCHEMA)
    highest = int(db.value("SELECT coalesce(max(id), 0) FROM vector_model"))
    number = max(highest, int(settings.get(db, _LAST) or 0)) + 1
    settings.put(db, _LAST, str(number))
    stamp = str(
        db.value(
            "INSERT INTO vector_model (id, fingerprint, dimension, stamp) "
            "VALUES (?, ?, ?, lower(hex(randomblob(8)))) RETURNING stamp",
            (number, fingerprint, dimension),
        )
    )
    made = Model(number, stamp)
    db.execute(f"DROP TABLE IF EXISTS {made.table}")
    db.execute(f"CREATE VIRTUAL TABLE {made.table} USING vec0(vector float[{dimension}])")
    coverage.begin(db, number)
    return made


def _known(db: Database, fingerprint: str) -> Model | None:
    if not db.row("SELECT 1 FROM sqlite_schema WHERE name = 'vector_number'"):
        return None
    found = db.row("SELECT id, stamp FROM vector_model WHERE fingerprint = ?", (fingerprint,))
    return Model(int(found[0]), str(found[1])) if found is not None else None


def load_extension(db: Database) -> None:
    """Load sqlite-vec into this thread's connection, once.

    Raises:
        Unavailable: it is not installed, or cannot be loaded here.
    """
    import apsw

    connection = db.connection
    try:
        connection.execute("SELECT vec_version()").fetchone()
        return
    except apsw.SQLError:
        pass  # not loaded yet
    try:
        import sqlite_vec

        connection.enable_load_extension(True)
        connection.load_extension(sqlite_vec.loadable_path())
        connection.enable_load_extension(False)
    except (ImportError, AttributeError, apsw.Error) as error:
        raise Unavailable(
            f"sqlite-vec cannot be loaded, so there is no search by meaning: {error}"
        ) from error
