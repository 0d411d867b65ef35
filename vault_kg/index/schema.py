"""The derived tables of `state.sqlite`: dropped and rebuilt from files whenever their rules change.

`VERSION` names the rules. Raise its first number when a table, or what a parser puts into it, changes;
every vault is then re-indexed on its next use, and nobody has to know a `--force`.
"""

from __future__ import annotations

from vault_kg.index import counters, coverage, fts, retained, row_log
from vault_kg.records.passages import PASSAGE_RULES_VERSION
from vault_kg.state import settings
from vault_kg.state.database import Database

VERSION = f"5/{counters.VERSION}/{fts.VERSION}/{PASSAGE_RULES_VERSION}"
_SETTING = "index_version"

# One row a Markdown file, record or note, and one a source whose text is searched. `key` is what
# passages, names, edges and links hang on. `eligible` holds until `eligible_until` (a time, or NULL
# for ever).
_TABLES = {
    "file": """
        CREATE TABLE file (
            path     TEXT PRIMARY KEY,
            folder   TEXT NOT NULL,
            size     INTEGER NOT NULL,
            mtime_ns INTEGER NOT NULL,
            ctime_ns INTEGER NOT NULL,
            inode    INTEGER NOT NULL,
            seen_ns  INTEGER NOT NULL,
            hash     TEXT NOT NULL,
            kind     TEXT NOT NULL
        ) STRICT, WITHOUT ROWID;
        CREATE INDEX file_folder ON file (folder);
    """,
    "record": """
        CREATE TABLE record (
            key         INTEGER PRIMARY KEY,
            path        TEXT NOT NULL UNIQUE,
            id          TEXT NOT NULL,
            kind        TEXT NOT NULL,
            partition   TEXT NOT NULL,
            type        TEXT,
            title       TEXT NOT NULL,
            title_key   TEXT NOT NULL,
            summary     TEXT,
            revision    INTEGER NOT NULL,
            hash        TEXT NOT NULL,
            lifecycle   TEXT NOT NULL,
            recorded_at TEXT NOT NULL,
            updated_at  TEXT NOT NULL,
            valid_from  TEXT,
            valid_until TEXT,
            expires_at  TEXT,
            owner       TEXT,
            from_id     TEXT,
            to_id       TEXT,
            successor   TEXT,
            valid       INTEGER NOT NULL,
            eligible    INTEGER NOT NULL DEFAULT 0,
            eligible_until TEXT
        ) STRICT;
        CREATE INDEX record_id ON record (id);
        CREATE INDEX record_owner ON record (owner) WHERE owner IS NOT NULL;
        CREATE INDEX record_from ON record (from_id) WHERE from_id IS NOT NULL;
        CREATE INDEX record_to ON record (to_id) WHERE to_id IS NOT NULL;
        CREATE INDEX record_title_key ON record (type, title_key) WHERE kind = 'page';
    """,
    "name": """
        CREATE TABLE name (
            name   TEXT NOT NULL,
            key    INTEGER NOT NULL,
            source TEXT NOT NULL,
            PRIMARY KEY (name, key, source)
        ) STRICT, WITHOUT ROWID;
        CREATE INDEX name_key ON name (key);
    """,
    "tag": """
        CREATE TABLE tag (
            tag TEXT NOT NULL,
            key INTEGER NOT NULL,
            PRIMARY KEY (tag, key)
        ) STRICT, WITHOUT ROWID;
        CREATE INDEX tag_key ON tag (key);
    """,
    "edge": """
        CREATE TABLE edge (
            key    INTEGER NOT NULL,
            via    TEXT NOT NULL,
            target TEXT NOT NULL,
            PRIMARY KEY (key, via, target)
        ) STRICT, WITHOUT ROWID;
        CREATE INDEX edge_target ON edge (target);
    """,
    # What lists show of a record beyond its row, as JSON, so that they need not read its file.
    "stated": """
        CREATE TABLE stated (
            key   INTEGER PRIMARY KEY,
            value TEXT NOT NULL
        ) STRICT;
        CREATE INDEX stated_pointers ON stated (key)
            WHERE json_extract(value, '$.pointers') IS NOT NULL;
    """,
    "citation": """
        CREATE TABLE citation (
            key    INTEGER NOT NULL,
            source TEXT NOT NULL,
            PRIMARY KEY (key, source)
        ) STRICT, WITHOUT ROWID;
        CREATE INDEX citation_source ON citation (source);
    """,
    "link": """
        CREATE TABLE link (
            key     INTEGER NOT NULL,
            ordinal INTEGER NOT NULL,
            kind    TEXT NOT NULL,
            target  TEXT NOT NULL,
            heading TEXT,
            line    INTEGER NOT NULL,
            PRIMARY KEY (key, ordinal)
        ) STRICT, WITHOUT ROWID;
    """,
    "link_name": """
        CREATE TABLE link_name (
            name    TEXT NOT NULL,
            key     INTEGER NOT NULL,
            ordinal INTEGER NOT NULL,
            PRIMARY KEY (name, key, ordinal)
        ) STRICT, WITHOUT ROWID;
        CREATE INDEX link_name_key ON link_name (key, ordinal);
    """,
    "source": """
        CREATE TABLE source (
            id          TEXT PRIMARY KEY,
            descriptor  TEXT NOT NULL UNIQUE,
            partition   TEXT NOT NULL,
            sha256      TEXT NOT NULL,
            path        TEXT NOT NULL,
            filename    TEXT NOT NULL,
            media_type  TEXT NOT NULL,
            size        INTEGER NOT NULL,
            attribution TEXT,
            recorded_at TEXT NOT NULL,
            source_file TEXT,
            chunk_id    TEXT,
            reference_time TEXT
        ) STRICT, WITHOUT ROWID;
        CREATE INDEX source_listing ON source (recorded_at, id);
    """,
    "finding": """
        CREATE TABLE finding (
            path     TEXT NOT NULL,
            ordinal  INTEGER NOT NULL,
            phase    TEXT NOT NULL,
            code     TEXT NOT NULL,
            line     INTEGER,
            severity TEXT NOT NULL,
            message  TEXT NOT NULL,
            hint     TEXT,
            PRIMARY KEY (path, phase, ordinal)
        ) STRICT, WITHOUT ROWID;
        CREATE INDEX finding_code ON finding (code);
    """,
    "passage": """
        CREATE TABLE passage (
            key      INTEGER PRIMARY KEY,
            record   INTEGER NOT NULL,
            ordinal  INTEGER NOT NULL,
            heading  TEXT NOT NULL,
            start_line INTEGER NOT NULL,
            end_line INTEGER NOT NULL,
            hash     BLOB NOT NULL,
            text     TEXT NOT NULL
        ) STRICT;
        CREATE INDEX passage_record ON passage (record);
        CREATE INDEX passage_hash ON passage (hash);
    """,
    **counters.TABLES,
    "retained": retained.TABLE,
}


# What makes reading faster and changes no answer: a vault that lacks it gets it without being
# indexed anew. `record_listing` counts shelves from itself, `record_titled` lists and filters by
# title, `record_changed` lists the latest of a type, `name_alias` finds what shares an alias.
_INDEXES = {
    "record_listing": "record (kind, partition, type, eligible, eligible_until, lifecycle, id)",
    "record_titled": (
        "record (title_key, path, kind, partition, type, eligible, eligible_until, lifecycle, id)"
    ),
    "record_changed": "record (kind, type, updated_at DESC, path)",
    "name_alias": "name (name, key) WHERE source = 'alias'",
}


def ensure(db: Database, version: str) -> bool:
    """Make the derived tables, empty, unless those of this version stand already.

    Args:
        db: the state.
        version: the rules of everything derived, `VERSION` among them.

    Returns:
        Whether the tables were made anew, so that the vault has to be scanned.
    """
    if settings.get(db, _SETTING) == version:
        _ensure_faster(db)
        return False
    with db.write():
        if settings.get(db, _SETTING) == version:
            return False
        drop(db)
        for script in _TABLES.values():
            db.execute(script)
        fts.create(db)
        _ensure_faster(db)
        settings.put(db, _SETTING, version)
    return True


def _ensure_faster(db: Database) -> None:
    """Make what only makes reading faster, where it is lacking."""
    _ensure_indexes(db)
    row_log.ensure(db)
    coverage.ensure(db)


def _ensure_indexes(db: Database) -> None:
    """Make the indexes that are not there as they are wanted."""
    wanted = {name: f"CREATE INDEX {name} ON {columns}" for name, columns in _INDEXES.items()}
    marks = ",".join("?" * len(wanted))
    known = f"SELECT name, sql FROM sqlite_schema WHERE name IN ({marks})"
    if dict(db.rows(known, list(wanted))) == wanted:
        return
    with db.write():
        there: dict[str, str] = dict(db.rows(known, list(wanted)))
        for name, sql in wanted.items():
            if there.get(name) != sql:
                db.execute(f"DROP INDEX IF EXISTS {name}")
                db.execute(sql)


def drop(db: Database) -> None:
    """Drop everything derived from files but vectors, which are kept by content."""
    with db.write():
        for name in _TABLES:
            db.execute(f"DROP TABLE IF EXISTS {name}")
        db.execute("DROP TABLE IF EXISTS passage_fts")
        row_log.drop(db)
        coverage.drop(db)
        db.execute("DELETE FROM store WHERE name IN (?, 'scanned_at', 'listing')", (_SETTING,))
