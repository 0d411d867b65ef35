"""How many passages have their vectors: counters for each model, kept by triggers.

A passage counts as tried once its content has a row in `vector`, and as ready if each of its parts
has a number there; the same text counts as often as it stands in the vault. Each write of a passage
or of a vector adds its difference. Where the counters do not stand, the passages are counted.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from vault_kg.index.ddl import Objects

if TYPE_CHECKING:
    from vault_kg.state.database import Database


@dataclass(frozen=True)
class Coverage:
    """How many passages have their vectors. Of the `failed` ones a part could not be embedded."""

    ready: int
    pending: int
    failed: int


_ROWS = "FROM vector WHERE vector.model = coverage.model AND vector.hash ="
_OF_PASSAGE = """
            passages = passages {sign} 1,
            tried = tried {sign} EXISTS (SELECT 1 {rows} {row}.hash),
            ready = ready {sign} (SELECT count(*) > 0 AND count(*) = count(number) {rows} {row}.hash)
"""


def _of_passage(sign: str, row: str) -> str:
    """Return the statement that adds a passage to the counters, or takes it away."""
    return "UPDATE coverage SET" + _OF_PASSAGE.format(sign=sign, row=row, rows=_ROWS)


def _of_vector(row: str, tried: str, ready: str) -> str:
    """Return the statement that adds a difference for each passage of a vector's text."""
    standing = f"(SELECT count(*) FROM passage WHERE passage.hash = {row}.hash)"
    return (
        f"UPDATE coverage SET tried = tried + ({tried}) * {standing}, "
        f"ready = ready + ({ready}) * {standing} WHERE model = {row}.model"
    )


# What the rest of a text's parts say: where they are whole, the text is ready with this part if it
# has a number, and without it if there are any.
_WHOLE = "SELECT (count(*) = count(number)) *"
_OTHERS = f"{_ROWS} NEW.hash AND part <> NEW.part"
_LEFT = f"{_ROWS} OLD.hash"
_ADDED = _of_vector(
    "NEW",
    f"NOT EXISTS (SELECT 1 {_OTHERS})",
    f"{_WHOLE} ((NEW.number IS NOT NULL) - (count(*) > 0)) {_OTHERS}",
)
_TAKEN = _of_vector(
    "OLD",
    f"-(NOT EXISTS (SELECT 1 {_LEFT}))",
    f"{_WHOLE} ((count(*) > 0) - (OLD.number IS NOT NULL)) {_LEFT}",
)

_OBJECTS = Objects(
    {
        "coverage": """CREATE TABLE coverage (
            model    INTEGER PRIMARY KEY,
            passages INTEGER NOT NULL,
            tried    INTEGER NOT NULL,
            ready    INTEGER NOT NULL
        ) STRICT""",
        "coverage_passage_put": f"""CREATE TRIGGER coverage_passage_put AFTER INSERT ON passage
        BEGIN {_of_passage("+", "NEW")}; END""",
        "coverage_passage_set": f"""CREATE TRIGGER coverage_passage_set AFTER UPDATE OF hash ON passage
        BEGIN {_of_passage("-", "OLD")}; {_of_passage("+", "NEW")}; END""",
        "coverage_passage_gone": f"""CREATE TRIGGER coverage_passage_gone AFTER DELETE ON passage
        BEGIN {_of_passage("-", "OLD")}; END""",
        "coverage_vector_put": f"""CREATE TRIGGER coverage_vector_put AFTER INSERT ON vector
        BEGIN {_ADDED}; END""",
        "coverage_vector_gone": f"""CREATE TRIGGER coverage_vector_gone AFTER DELETE ON vector
        BEGIN {_TAKEN}; END""",
    }
)


def of(db: Database, model: int) -> Coverage:
    """Return the coverage of a model."""
    row = (
        db.row("SELECT passages, tried, ready FROM coverage WHERE model = ?", (model,))
        if _OBJECTS.stand(db)
        else None
    )
    passages, tried, ready = row or _count(db, model)
    return Coverage(ready, passages - tried, tried - ready)


def ensure(db: Database) -> None:
    """Make the counters where vectors are kept, unless they stand; joins the open transaction."""
    if _OBJECTS.stand(db):
        return
    if not db.row("SELECT 1 FROM sqlite_schema WHERE name = 'vector_number'"):
        return
    with db.write():
        _OBJECTS.make(db)
        for (model,) in db.rows("SELECT id FROM vector_model"):
            _put(db, model)


def drop(db: Database) -> None:
    """Drop the counters and what keeps them; joins the caller's transaction."""
    _OBJECTS.drop(db)


def begin(db: Database, model: int) -> None:
    """Keep counters of a model; joins the caller's transaction."""
    ensure(db)
    _put(db, model)


def forget(db: Database, model: int) -> None:
    """Keep counters of a model no longer; joins the caller's transaction."""
    if _OBJECTS.stand(db):
        db.execute("DELETE FROM coverage WHERE model = ?", (model,))


def _put(db: Database, model: int) -> None:
    db.execute("INSERT OR REPLACE INTO coverage VALUES (?,?,?,?)", (model, *_count(db, model)))


def _count(db: Database, model: int) -> tuple[int, int, int]:
    """Count all passages, those that were tried, and those that are ready."""
    row = db.row(
        "SELECT count(*), count(tried.hash), count(CASE WHEN tried.whole THEN 1 END) "
        "FROM passage LEFT JOIN (SELECT hash, count(*) = count(number) AS whole FROM vector "
        "WHERE model = ? GROUP BY hash) AS tried ON tried.hash = passage.hash",
        (model,),
    )
    assert row is not None, "a count has one row"
    passages, tried, ready = row
    return passages, tried, ready
