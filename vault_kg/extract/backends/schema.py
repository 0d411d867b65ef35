"""The tables of `graph.sqlite`. Another `VERSION` and they are dropped: all of it can be made again.

An edge is stored once, in the order in which it is walked, and once more in the other direction. Its
kind, extractor and signals are numbers of `term`, since there are few of them and many edges. What
has lost an edge is `doubtful` until it was looked whether it has others.
"""

from __future__ import annotations

VERSION = 6

APPLICATION_ID = 0x564B4747  # "VKGG"

TABLES = """
    CREATE TABLE setting (name TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT, WITHOUT ROWID;
    CREATE TABLE term (id INTEGER PRIMARY KEY, text TEXT NOT NULL UNIQUE) STRICT;
    CREATE TABLE root (
        id      INTEGER PRIMARY KEY,
        name    TEXT NOT NULL UNIQUE,
        listing TEXT NOT NULL DEFAULT '',
        stamps  TEXT NOT NULL DEFAULT ''
    ) STRICT;

    CREATE TABLE file_index_state (
        root        INTEGER NOT NULL,
        path        TEXT NOT NULL,
        extractor   TEXT NOT NULL,
        version     INTEGER NOT NULL,
        size        INTEGER NOT NULL,
        mtime_ns    INTEGER NOT NULL,
        ctime_ns    INTEGER NOT NULL,
        inode       INTEGER NOT NULL,
        seen_ns     INTEGER NOT NULL,
        hash        TEXT NOT NULL,
        tried       TEXT NOT NULL,
        nodes       INTEGER NOT NULL,
        edges       INTEGER NOT NULL,
        error       TEXT,
        problems    TEXT NOT NULL,
        duration_ms REAL NOT NULL,
        indexed_at  TEXT NOT NULL,
        PRIMARY KEY (root, path)
    ) STRICT, WITHOUT ROWID;

    CREATE TABLE node (
        key        INTEGER PRIMARY KEY,
        root       INTEGER NOT NULL,
        uid        TEXT NOT NULL,
        kind       TEXT NOT NULL,
        label      TEXT NOT NULL,
        path       TEXT,
        start_line INTEGER,
        end_line   INTEGER,
        signature  TEXT NOT NULL,
        summary    TEXT NOT NULL,
        roles      TEXT NOT NULL,
        more       TEXT NOT NULL,
        partition  TEXT,
        stub       INTEGER NOT NULL,
        UNIQUE (uid, root)
    ) STRICT;
    CREATE INDEX node_path ON node (path, root) WHERE path IS NOT NULL;
    CREATE INDEX node_label ON node (label, root);
    CREATE INDEX node_stub ON node (key) WHERE stub;
    CREATE INDEX node_folder ON node (key) WHERE kind = 'folder';
    CREATE INDEX node_roles ON node (key) WHERE roles <> '';
    CREATE VIRTUAL TABLE node_fts USING fts5 (
        label, words, about, content='', contentless_delete=1, tokenize='unicode61'
    );

    CREATE TABLE edge (
        source     INTEGER NOT NULL,
        target     INTEGER NOT NULL,
        kind       INTEGER NOT NULL,
        extractor  INTEGER NOT NULL,
        confidence REAL NOT NULL CHECK (confidence BETWEEN 0 AND 1),
        line       INTEGER,
        signals    INTEGER NOT NULL,
        linked     INTEGER NOT NULL,
        PRIMARY KEY (source, target, kind, extractor)
    ) STRICT, WITHOUT ROWID;
    CREATE INDEX edge_in ON edge (target, source, kind, confidence);
    CREATE TABLE doubtful (key INTEGER PRIMARY KEY) STRICT;

    CREATE TABLE reference (
        source  INTEGER NOT NULL,
        ordinal INTEGER NOT NULL,
        kind    INTEGER NOT NULL,
        name    TEXT NOT NULL,
        module  TEXT,
        line    INTEGER,
        signals INTEGER NOT NULL,
        PRIMARY KEY (source, ordinal)
    ) STRICT, WITHOUT ROWID;
    CREATE TABLE reference_name (
        name   TEXT NOT NULL,
        source INTEGER NOT NULL,
        PRIMARY KEY (name, source)
    ) STRICT, WITHOUT ROWID;
    CREATE INDEX reference_name_source ON reference_name (source);
    CREATE TABLE waiting (source INTEGER PRIMARY KEY) STRICT;
    CREATE TABLE changed_name (
        root INTEGER NOT NULL,
        name TEXT NOT NULL,
        PRIMARY KEY (root, name)
    ) STRICT, WITHOUT ROWID;
    CREATE TABLE export (
        root   INTEGER NOT NULL,
        path   TEXT NOT NULL,
        name   TEXT NOT NULL,
        target TEXT NOT NULL,
        PRIMARY KEY (root, path, name)
    ) STRICT, WITHOUT ROWID;

    CREATE TABLE export_part (
        root INTEGER NOT NULL,
        part TEXT NOT NULL,
        name TEXT NOT NULL,
        path TEXT NOT NULL,
        PRIMARY KEY (root, part, name, path)
    ) STRICT, WITHOUT ROWID;
    CREATE INDEX export_part_path ON export_part (path, root);

    CREATE TABLE finding (
        code      TEXT NOT NULL,
        subject   TEXT NOT NULL,
        message   TEXT NOT NULL,
        hint      TEXT NOT NULL,
        partition TEXT
    ) STRICT;
    CREATE INDEX finding_subject ON finding (subject);
"""
