-- Consolidation: sessions until they are committed, who is told of them, and what is asked for.
-- A commit itself is a journal entry; nothing here says that one happened.

CREATE TABLE session (
    id             TEXT PRIMARY KEY,
    partition      TEXT NOT NULL,
    agent          TEXT NOT NULL,
    source_type    TEXT NOT NULL,
    source_id      TEXT NOT NULL,
    source_version TEXT,
    content_hash   TEXT NOT NULL,
    content        TEXT,                     -- the artefact's text, retained as a source at commit
    lenient        INTEGER NOT NULL,
    opened_at      TEXT NOT NULL,
    expires_at     TEXT NOT NULL,
    version        INTEGER NOT NULL,         -- raised by every change of the session
    aborted_at     TEXT,
    abort_reason   TEXT,
    failure        TEXT                      -- why the last commit failed
) STRICT, WITHOUT ROWID;
CREATE INDEX session_artefact ON session (partition, source_type, source_id);
CREATE INDEX session_expiry ON session (expires_at);

CREATE TABLE candidate (
    session  TEXT NOT NULL REFERENCES session (id) ON DELETE CASCADE,
    ordinal  INTEGER NOT NULL,
    id       TEXT NOT NULL,
    kind     TEXT NOT NULL CHECK (kind IN ('node', 'edge')),
    value    TEXT NOT NULL,                  -- JSON
    proposal TEXT,                           -- JSON: the hint, and what it was worked out from
    PRIMARY KEY (session, ordinal)
) STRICT, WITHOUT ROWID;
CREATE UNIQUE INDEX candidate_id ON candidate (session, id);

-- Where events are delivered to. `cursor` is the number of the last entry that was delivered or
-- given up; `attempts` and `error` are of the one after it.
CREATE TABLE subscriber (
    name       TEXT PRIMARY KEY,
    kind       TEXT NOT NULL CHECK (kind IN ('command', 'file')),
    target     TEXT NOT NULL,                -- JSON: the command's words, or the file's path
    cursor     INTEGER NOT NULL,
    attempts   INTEGER NOT NULL,
    next_at    TEXT,
    error      TEXT,
    created_at TEXT NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE dead_letter (
    subscriber TEXT NOT NULL REFERENCES subscriber (name) ON DELETE CASCADE,
    seq        INTEGER NOT NULL,
    attempts   INTEGER NOT NULL,
    error      TEXT NOT NULL,
    at         TEXT NOT NULL,
    PRIMARY KEY (subscriber, seq)
) STRICT, WITHOUT ROWID;

-- How often a page was asked for and asserted anew; its relevance follows from these.
CREATE TABLE relevance (
    record_id       TEXT PRIMARY KEY,
    hits            INTEGER NOT NULL,
    last_queried_at TEXT,
    attestations    INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE INDEX journal_operation ON journal (operation, seq);
