-- Durable tables: back these up. What is derived from files is made by `vault_kg/index`.

CREATE TABLE store (
    name  TEXT PRIMARY KEY,
    value TEXT NOT NULL
) STRICT, WITHOUT ROWID;

-- One row for each accepted change, in the order of acceptance.
CREATE TABLE journal (
    seq          INTEGER PRIMARY KEY AUTOINCREMENT,
    request_id   TEXT NOT NULL,
    operation    TEXT NOT NULL,
    partition    TEXT NOT NULL,
    actor        TEXT NOT NULL,
    reason       TEXT,
    payload_hash TEXT NOT NULL,
    payload      TEXT NOT NULL,              -- the request, canonical JSON
    effects      TEXT NOT NULL,              -- what publishing does to the other tables, JSON
    state        TEXT NOT NULL CHECK (state IN
                 ('accepted', 'installing', 'published', 'conflicted', 'resolved', 'abandoned')),
    accepted_at  TEXT NOT NULL,
    published_at TEXT,
    receipt      TEXT,
    commit_id    TEXT
) STRICT;
CREATE UNIQUE INDEX journal_request ON journal (request_id) WHERE state <> 'abandoned';
CREATE INDEX journal_open ON journal (state)
    WHERE state IN ('accepted', 'installing', 'conflicted');

-- The exact bytes of each file before and after; both are cleared once Git holds them.
CREATE TABLE journal_file (
    seq         INTEGER NOT NULL REFERENCES journal (seq),
    ordinal     INTEGER NOT NULL,
    path        TEXT NOT NULL,
    record_id   TEXT,
    before      BLOB,
    after       BLOB,
    before_hash TEXT,
    after_hash  TEXT,
    PRIMARY KEY (seq, ordinal)
) STRICT, WITHOUT ROWID;
CREATE INDEX journal_file_path ON journal_file (path, seq);

CREATE TABLE git_outbox (
    seq      INTEGER PRIMARY KEY REFERENCES journal (seq),
    reason   TEXT
) STRICT;

-- Every accepted revision of every record. The highest revision of an id is what stands.
CREATE TABLE revision (
    record_id TEXT NOT NULL,
    revision  INTEGER NOT NULL,
    seq       INTEGER NOT NULL REFERENCES journal (seq),
    kind      TEXT NOT NULL,
    partition TEXT NOT NULL,
    path      TEXT NOT NULL,
    hash      TEXT NOT NULL,
    blob      TEXT NOT NULL,                 -- Git's object id of the same bytes
    lifecycle TEXT NOT NULL,
    at        TEXT NOT NULL,
    PRIMARY KEY (record_id, revision)
) STRICT, WITHOUT ROWID;
CREATE INDEX revision_path ON revision (path);
CREATE INDEX revision_seq ON revision (seq);

-- What may never become current again by a file coming back. Withdrawal outranks supersession.
CREATE TABLE guard (
    record_id  TEXT NOT NULL,
    kind       TEXT NOT NULL CHECK (kind IN ('withdrawn', 'superseded')),
    partition  TEXT NOT NULL,
    successor  TEXT,
    reason     TEXT NOT NULL,
    actor      TEXT NOT NULL,
    request_id TEXT NOT NULL,
    at         TEXT NOT NULL,
    PRIMARY KEY (record_id, kind)
) STRICT, WITHOUT ROWID;

CREATE TABLE merge (
    id         INTEGER PRIMARY KEY,
    seq        INTEGER NOT NULL REFERENCES journal (seq),
    partition  TEXT NOT NULL,
    absorbed   TEXT NOT NULL,
    survivor   TEXT NOT NULL,
    reason     TEXT NOT NULL,
    at         TEXT NOT NULL,
    undone_by  INTEGER,
    absorbed_revision INTEGER NOT NULL,      -- the revisions that the merge made
    survivor_revision INTEGER NOT NULL
) STRICT;
CREATE UNIQUE INDEX merge_absorbed ON merge (absorbed) WHERE undone_by IS NULL;
CREATE INDEX merge_survivor ON merge (survivor) WHERE undone_by IS NULL;

-- What a merge added to its survivor, so that an unmerge can take exactly that away.
CREATE TABLE merge_contribution (
    merge   INTEGER NOT NULL REFERENCES merge (id),
    ordinal INTEGER NOT NULL,
    field   TEXT NOT NULL,
    value   TEXT NOT NULL,
    PRIMARY KEY (merge, ordinal)
) STRICT, WITHOUT ROWID;

CREATE TABLE merge_declined (
    first  TEXT NOT NULL,
    second TEXT NOT NULL,
    reason TEXT NOT NULL,
    actor  TEXT NOT NULL,
    at     TEXT NOT NULL,
    PRIMARY KEY (first, second)
) STRICT, WITHOUT ROWID;

-- An accepted request that met somebody's edit: all three versions, until a person chooses.
CREATE TABLE conflict (
    id          TEXT PRIMARY KEY,
    seq         INTEGER NOT NULL REFERENCES journal (seq),
    path        TEXT NOT NULL,
    record_id   TEXT,
    original    BLOB,
    proposed    BLOB,
    displaced   BLOB,
    found_at    TEXT NOT NULL,
    resolved_at TEXT,
    choice      TEXT,
    reason      TEXT,
    actor       TEXT
) STRICT, WITHOUT ROWID;
CREATE INDEX conflict_open ON conflict (record_id) WHERE resolved_at IS NULL;
