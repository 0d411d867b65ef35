-- Maintenance: what sessions have seen and used. Durable, and no part of any file: reading never
-- changes one. Everything hangs on record ids, so that a rename carries it by doing nothing.

CREATE TABLE kg_project (
    partition TEXT PRIMARY KEY,
    root      TEXT NOT NULL UNIQUE
) STRICT, WITHOUT ROWID;

-- One conversation over the kg_* tools. The marks say up to which journal entry it was told.
CREATE TABLE kg_session (
    id          TEXT PRIMARY KEY,
    actor       TEXT NOT NULL,
    project     TEXT,                        -- partition of its project
    maintenance INTEGER NOT NULL,
    requests    INTEGER NOT NULL,            -- changes asked for, for their request ids
    synced_seq  INTEGER NOT NULL,
    told_seq    INTEGER NOT NULL,
    started_at  TEXT NOT NULL,
    seen_at     TEXT NOT NULL
) STRICT, WITHOUT ROWID;

-- What a session has read of a page, in which revision; `full` is with all its notes and touches.
CREATE TABLE kg_seen (
    session   TEXT NOT NULL REFERENCES kg_session (id) ON DELETE CASCADE,
    record_id TEXT NOT NULL,
    revision  INTEGER NOT NULL,
    full      INTEGER NOT NULL,
    via       TEXT NOT NULL,
    PRIMARY KEY (session, record_id)
) STRICT, WITHOUT ROWID;

-- What counts as use of a page. `written_at` stands for the page's own time of change while it is
-- at `written_revision`, which a maintenance pass wrote.
CREATE TABLE kg_use (
    record_id        TEXT PRIMARY KEY,
    read_at          TEXT,
    written_at       TEXT,
    written_revision INTEGER
) STRICT, WITHOUT ROWID;

CREATE TABLE kg_credit (
    id        INTEGER PRIMARY KEY,
    record_id TEXT NOT NULL,
    session   TEXT NOT NULL,
    kind      TEXT NOT NULL CHECK (kind IN ('useful', 'pass', 'case', 'recurrence')),
    credits   INTEGER NOT NULL,
    via       TEXT NOT NULL,
    refused   TEXT,                          -- why it was not given
    at        TEXT NOT NULL
) STRICT;
CREATE INDEX kg_credit_record ON kg_credit (record_id) WHERE refused IS NULL;
CREATE INDEX kg_credit_session ON kg_credit (session);

-- When the gist of a page was really changed, so that none is rewritten again and again.
CREATE TABLE kg_rewrite (
    record_id TEXT NOT NULL,
    revision  INTEGER NOT NULL,
    at        TEXT NOT NULL,
    PRIMARY KEY (record_id, revision)
) STRICT, WITHOUT ROWID;

-- Days (UTC) on which a level was used by other than maintenance.
CREATE TABLE kg_day (
    partition TEXT NOT NULL,
    day       TEXT NOT NULL,
    PRIMARY KEY (partition, day)
) STRICT, WITHOUT ROWID;

-- Pages that are not active; `round` is the level's round in which the page was last moved.
CREATE TABLE kg_tier (
    record_id TEXT PRIMARY KEY,
    partition TEXT NOT NULL,
    tier      TEXT NOT NULL CHECK (tier IN ('active', 'archived', 'orphaned')),
    round     INTEGER NOT NULL,
    since     TEXT NOT NULL
) STRICT, WITHOUT ROWID;

-- A round of a level begins with each use or change; a page is moved once in a round.
CREATE TABLE kg_level (
    partition  TEXT PRIMARY KEY,
    round      INTEGER NOT NULL,
    tended     INTEGER NOT NULL,             -- the round that was tended last
    tended_at  TEXT,
    checked_at TEXT                          -- when the touches were last looked for
) STRICT, WITHOUT ROWID;

-- Ids that pages had before they were renamed.
CREATE TABLE kg_former (
    partition TEXT NOT NULL,
    slug_key  TEXT NOT NULL,
    record_id TEXT NOT NULL,
    at        TEXT NOT NULL,
    PRIMARY KEY (partition, slug_key)
) STRICT, WITHOUT ROWID;

-- Stamps of tasks: the newest of a task is its state, the last twenty are its trail.
CREATE TABLE kg_stamp (
    id        INTEGER PRIMARY KEY,
    partition TEXT NOT NULL,
    task      TEXT NOT NULL,
    session   TEXT NOT NULL,
    at        TEXT NOT NULL,
    state     TEXT NOT NULL
) STRICT;
CREATE INDEX kg_stamp_task ON kg_stamp (partition, task, id);

-- Touches that lead nowhere, as they were last looked for.
CREATE TABLE kg_dangling (
    partition TEXT NOT NULL,
    record_id TEXT NOT NULL,
    touch     TEXT NOT NULL,
    PRIMARY KEY (partition, record_id, touch)
) STRICT, WITHOUT ROWID;

-- Pages that tell of episodes with a lesson in common, by group.
CREATE TABLE kg_lift (
    partition TEXT NOT NULL,
    cluster   INTEGER NOT NULL,
    record_id TEXT NOT NULL,
    PRIMARY KEY (partition, record_id)
) STRICT, WITHOUT ROWID;
