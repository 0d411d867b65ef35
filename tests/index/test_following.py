"""What is kept of an index follows each write, and is what working it out anew would give."""

from __future__ import annotations

import dataclasses
import re
import tempfile
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.operations.builder import VaultBox
from vault_kg.index import coverage, fts, row_log, schema, scope
from vault_kg.index.coverage import Coverage
from vault_kg.index.listing import Filter
from vault_kg.index.vectors import Vectors
from vault_kg.records.passages import split_passages
from vault_kg.state import copying
from vault_kg.state.database import Database

DIMENSION = 4
NAMES = 8
MODELS = ("one", "two")
TIMES = ("2026-01-05T10:00:00Z", "2026-01-05T12:00:00Z", "2026-01-05T14:00:00Z")
TEXTS = (
    "plain",
    "poison",
    "plain\n\n# Two\n\npoison",
    "long " * 150 + "\n\n" + "poison " * 150,
    "",
)
KINDS = ("page", "claim", "relationship", "note")


def filters(now: str) -> list[Filter]:
    """One filter for each thing that a record may be asked for."""
    return [
        Filter(now),
        Filter(now, kinds=["page", "note"], partitions=["main"]),
        Filter(now, kinds=None, ends_in=["main"]),
        Filter(now, kinds=None, tags=["red"]),
        Filter(now, kinds=None, lifecycle="historical", blocked=True),
        Filter(now, kinds=None, lifecycle="unresolved"),
        Filter(now, kinds=None, lifecycle="merged"),
        Filter(now, types=["Person"], page_types=["Person"]),
        Filter(now, kinds=None, owners=["id1"], updated_after="b", updated_before="d"),
    ]


class MadeUp:
    """Stands in for a model that refuses one word."""

    def embed_passages(self, texts: list[str]):
        failed = {n: "no" for n, text in enumerate(texts) if "poison" in text}
        vectors = np.ones((len(texts), DIMENSION), np.float32) / 2
        return type("Made", (), {"vectors": vectors, "failed": failed})()


class History:
    """A vault's index to which things happen, in steps that numbers choose."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.db = Database(folder / "state.sqlite", create=True)
        self.other = Database(folder / "state.sqlite")
        self.now = 0
        schema.ensure(self.db, "test")
        for db in (self.db, self.other):
            db.execute("PRAGMA foreign_keys=OFF")
        self.vectors = {name: self._vectors(name) for name in MODELS}

    def close(self) -> None:
        self.db.close()
        self.other.close()

    def put(self, db: Database, n: int, m: int) -> None:
        """Write a record anew: on its old row, or on one of its own."""
        known = db.row("SELECT key FROM record WHERE path = ?", (f"{n}.md",))
        if known and m % 5:
            fts.remove(db, [known[0]])
            db.execute("DELETE FROM tag WHERE key = ?", known)
        key = known[0] if known and m % 5 else None
        values = (
            key, f"{n}.md", f"id{n}", KINDS[m % 4], ("main", "side")[n % 2],
            ("Person", None)[m % 2], ("active", "merged")[m % 7 == 0], "abcd"[m % 4],
            f"id{m % NAMES}", f"id{(m + 1) % NAMES}", f"id{m % 3}", int(m % 6 > 0),
            (None, TIMES[1])[m % 3 == 0],
        )  # fmt: skip
        key = db.value(
            "INSERT OR REPLACE INTO record (key, path, id, kind, partition, title, title_key, type,"
            " revision, hash, lifecycle, recorded_at, updated_at, valid, from_id, to_id, owner,"
            " eligible, eligible_until)"
            " VALUES (?,?,?,?,?,'','',?,1,'',?,'',?,1,?,?,?,?,?) RETURNING key",
            values,
        )
        if known and known[0] != key:
            fts.remove(db, [known[0]])
        if m % 2:
            db.execute("INSERT OR IGNORE INTO tag VALUES ('red', ?)", (key,))
        fts.put(db, [(key, fts.prepare("", split_passages(TEXTS[m % len(TEXTS)], 1)))])

    def remove(self, db: Database, n: int, m: int) -> None:
        for (key,) in db.rows("SELECT key FROM record WHERE path = ?", (f"{n}.md",)):
            fts.remove(db, [key])
            db.execute("DELETE FROM record WHERE key = ?", (key,))

    def stand(self, db: Database, n: int, m: int) -> None:
        """Change what a record's row says, as rules and eligibility do."""
        db.execute(
            "UPDATE record SET eligible = ?, eligible_until = ?, partition = ? WHERE id = ?",
            (m % 2, (None, TIMES[1 + m % 2])[m % 3 > 0], ("main", "side")[m % 3 == 0], f"id{n}"),
        )

    def tag(self, db: Database, n: int, m: int) -> None:
        if m % 2:
            db.execute("DELETE FROM tag WHERE key = ?", (n,))
        else:
            db.execute("INSERT OR IGNORE INTO tag VALUES ('red', ?)", (n,))

    def block(self, db: Database, n: int, m: int) -> None:
        db.execute(
            "INSERT OR REPLACE INTO conflict (id, seq, path, record_id, found_at, resolved_at)"
            " VALUES (?, 1, '', ?, '', ?)",
            (f"c{n}", f"id{n}", (None, "x")[m % 2]),
        )

    def embed(self, n: int, m: int) -> None:
        stops = iter([False] * (m % 2) + [True])
        self.vectors[MODELS[n % 2]].embed_pending(  # type: ignore[arg-type]
            MadeUp(), stopped=lambda: next(stops, True)
        )

    def forget(self, n: int, m: int) -> None:
        self.vectors[MODELS[n % 2]].forget_others()

    def register(self, n: int, m: int) -> None:
        self.vectors[MODELS[n % 2]] = self._vectors(MODELS[n % 2])

    def pass_time(self, n: int, m: int) -> None:
        self.now = n % len(TIMES)

    def derive_anew(self, n: int, m: int) -> None:
        schema.drop(self.db)
        if m % 2:  # another process goes on embedding, with what it has read before
            model = self.db.value("SELECT max(id) FROM vector_model")
            self.db.execute("INSERT OR IGNORE INTO vector VALUES (?, x'00', 0, NULL)", (model,))
        schema.ensure(self.db, "test")

    def back_up(self, n: int, m: int) -> None:
        (self.folder / "backup").unlink(missing_ok=True)
        self.db.backup(self.folder / "backup")

    def restore(self, n: int, m: int) -> None:
        if (self.folder / "backup").exists():
            copying.bring_into(self.folder / "backup", self.folder / "state.sqlite")

    def take_back(self, n: int, m: int) -> None:
        """Begin a write that comes to nothing, and look at it meanwhile."""
        with pytest.raises(KeyError), self.db.write():
            self.put(self.db, n, m)
            self.remove(self.db, m % NAMES, n)
            self.look(self.db)
            raise KeyError

    def lose_triggers(self, n: int, m: int) -> None:
        """Leave the index as a version does that has no triggers; the next use makes them again."""
        for name in ("row_log_record_set", "coverage_passage_put")[: 1 + n % 2]:
            self.db.execute(f"DROP TRIGGER IF EXISTS {name}")
        for db in (self.db, self.other):
            for write, which in ((self.stand, n), (self.put, (n + 1) % NAMES)):
                with db.write():
                    write(db, which, m)
                self.look(self.db)
                self.look(self.other)
        schema.ensure(self.db, "test")

    def look(self, db: Database) -> None:
        """Compare what is kept with what is in the tables."""
        whole = dict(db.rows("SELECT key, record FROM passage"))
        for wanted in filters(TIMES[self.now]):
            condition, values = wanted.condition()
            expected = db.rows(
                "SELECT passage.key FROM passage JOIN record ON record.key = passage.record "
                f"WHERE {condition} ORDER BY passage.key",
                values,
            )
            found = scope.of(db, wanted)
            assert found.passages[found.wanted].tolist() == [key for (key,) in expected], wanted
            assert found.size == len(expected)
            assert dict(zip(found.passages.tolist(), found.records.tolist(), strict=True)) == whole
            assert found.passages.tolist() == sorted(whole)
        self.look_at_coverage(db)

    def look_at_coverage(self, db: Database) -> None:
        passages = [content for (content,) in db.rows("SELECT hash FROM passage")]
        for (model,) in db.rows("SELECT id FROM vector_model"):
            parts: dict[bytes, list[int | None]] = {}
            for content, number in db.rows(
                "SELECT hash, number FROM vector WHERE model = ?", (model,)
            ):
                parts.setdefault(content, []).append(number)
            tried = [parts[content] for content in passages if content in parts]
            ready = sum(None not in numbers for numbers in tried)
            assert coverage.of(db, model) == Coverage(
                ready, len(passages) - len(tried), len(tried) - ready
            )

    def _vectors(self, name: str) -> Vectors:
        return Vectors(self.db, name, DIMENSION, self.folder)


WRITES = ("put", "remove", "stand", "tag", "block")
STEPS = (
    *WRITES, "put", "put", "stand", "stand", "embed", "embed", "forget", "register", "pass_time",
    "pass_time", "derive_anew", "back_up", "restore", "take_back", "lose_triggers",
)  # fmt: skip
STEP = st.tuples(
    st.sampled_from(STEPS), st.integers(0, NAMES - 1), st.integers(0, 41), st.booleans()
)


@settings(max_examples=120, deadline=None)
@given(st.integers(0, 41), st.lists(STEP, min_size=6, max_size=30))
def test_whatever_happened_is_followed(first: int, steps: list[tuple[str, int, int, bool]]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        history = History(Path(folder))
        try:
            with history.db.write():
                for n in range(NAMES):
                    history.put(history.db, n, first + n)
            history.look(history.db)
            for name, n, m, by_another in steps:
                if name in WRITES:
                    db = history.other if by_another else history.db
                    with db.write():
                        getattr(history, name)(db, n, m)
                else:
                    getattr(history, name)(n, m)
                history.look(history.db)
                history.look(history.other)
        finally:
            history.close()


@pytest.fixture
def history(tmp_path: Path) -> Iterator[History]:
    made = History(tmp_path)
    yield made
    made.close()


def test_who_did_not_look_for_long_looks_at_everything(history: History) -> None:
    with history.db.write():
        for n in range(NAMES):
            history.put(history.db, n, 1)
    history.look(history.other)
    with history.db.write():
        history.remove(history.db, 3, 0)
        for _ in range(row_log.KEPT):
            history.db.execute("UPDATE record SET title = '' WHERE id = 'id0'")
    assert history.db.value("SELECT count(*) FROM row_log") < 2 * row_log.KEPT
    history.look(history.other)


def test_a_clock_may_go_back(history: History) -> None:
    with history.db.write():
        for n in range(NAMES):
            history.put(history.db, n, 1)
    history.look(history.db)
    history.now = 2
    with history.db.write():
        history.db.execute("UPDATE record SET eligible_until = ? WHERE id = 'id2'", (TIMES[1],))
    history.look(history.db)
    history.now = 0
    history.look(history.db)


def test_after_a_write_only_what_it_changed_is_asked_for(history: History) -> None:
    with history.db.write():
        for n in range(NAMES):
            history.put(history.db, n, 1)
    history.look(history.db)
    with history.db.write():
        history.stand(history.db, 2, 1)
        history.put(history.db, 3, 4)
    read: list[int] = []
    history.db.connection.create_scalar_function("seen", lambda key: read.append(key) or 1, 1)
    wanted = Filter(TIMES[0])
    condition, values = wanted.condition()

    class Watched(Filter):
        def condition(self):
            return f"{condition} AND seen(record.key)", values

    first = scope.of(history.db, Watched(TIMES[0]))
    everything, read[:] = set(read), []
    with history.db.write():
        history.stand(history.db, 2, 1)
    changed = {key for (key,) in history.db.rows("SELECT key FROM record WHERE id = 'id2'")}
    again = scope.of(history.db, Watched(TIMES[0]))
    assert set(read) == changed < everything
    assert again.size == first.size
    read.clear()
    assert scope.of(history.db, Watched(TIMES[0])) is again and not read


@pytest.mark.parametrize("falling", [True, False])
def test_coverage_follows_vectors_that_are_taken_away_part_by_part(
    history: History, falling: bool
) -> None:
    with history.db.write():
        for n in range(NAMES):
            history.put(history.db, n, n)
    history.embed(0, 1)
    rows = history.db.rows("SELECT hash, part FROM vector ORDER BY part")
    assert len({content for content, _ in rows}) < len(rows)
    for row in reversed(rows) if falling else rows:
        history.db.execute("DELETE FROM vector WHERE hash = ? AND part = ?", row)
        history.look_at_coverage(history.db)


def test_coverage_is_not_counted_while_its_counters_stand(history: History) -> None:
    with history.db.write():
        for n in range(NAMES):
            history.put(history.db, n, 1)
    history.embed(0, 1)
    model = history.db.value("SELECT min(id) FROM vector_model")
    asked: list[str] = []
    history.db.connection.trace_v2(0x01, lambda event: asked.append(event["sql"]))
    coverage.of(history.db, model)
    assert asked and not [sql for sql in asked if "passage" in sql.lower().split()]


def test_a_filter_asks_for_nothing_that_is_not_followed() -> None:
    everything = Filter(
        "",
        **{
            field.name: ["x"]
            for field in dataclasses.fields(Filter)
            if field.name not in ("now", "lifecycle", "blocked", "updated_after", "updated_before")
        },  # type: ignore[arg-type]
        updated_after="x",
        updated_before="y",
    )
    condition, _ = everything.condition()
    tables = set(re.findall(r"(?:FROM|JOIN)\s+(\w+)", condition))
    assert tables == {"record", "tag", "conflict", "json_each"}


def test_an_index_without_the_log_gets_it_and_is_not_made_anew(history: History) -> None:
    with history.db.write():
        history.put(history.db, 1, 1)
    history.embed(0, 1)
    for kind, name in history.db.rows(
        "SELECT type, name FROM sqlite_schema WHERE type IN ('table', 'trigger') "
        "AND (name GLOB 'row_log*' OR name GLOB 'coverage*') ORDER BY type DESC"
    ):
        history.db.execute(f"DROP {kind} IF EXISTS {name}")
    assert not schema.ensure(history.db, "test")
    assert history.db.value("SELECT count(*) FROM passage") > 0
    history.look(history.db)
    with history.db.write():
        history.put(history.db, 2, 2)
    history.look(history.db)


def test_operations_are_followed_by_who_has_the_vault_open(tmp_path: Path) -> None:
    box = VaultBox(tmp_path / "vault")
    try:
        box.put("note.md", "# Note\n\nkiwi\n\n## More\n\nkiwi again\n")
        box.scan()
        assert _same_as_anew(box) == 1
        ada = box.page("Ada", body="kiwi pie")
        assert _same_as_anew(box) == 2
        box.put("note.md", "# Note\n\nno fruit\n")
        box.scan()
        assert _same_as_anew(box) == 1
        box.write("knowledge_withdraw", **box.fence(ada), reason="wrong")
        assert _same_as_anew(box) == 0
    finally:
        box.ws.close()


def _same_as_anew(box: VaultBox) -> int:
    """Ask who has the vault open, and one who opens it; returns how many answers there are."""
    here = box.call("knowledge_search", query="kiwi")
    db = Database(box.ws.database.path)
    try:
        wanted = Filter(box.ws.now(), kinds=None)
        kept, anew = scope.of(box.ws.database, wanted), scope.of(db, wanted)
        assert kept.passages[kept.wanted].tolist() == anew.passages[anew.wanted].tolist()
    finally:
        db.close()
    return int(here["total"])
