-- Chores and passes that were dispatched, and refusals with their reason.

CREATE TABLE kg_dispatch (
    id        INTEGER PRIMARY KEY,
    partition TEXT NOT NULL,
    kind      TEXT NOT NULL,                 -- a kind of chore, or pass
    targets   TEXT NOT NULL,                 -- JSON list of record ids
    agent     TEXT NOT NULL,
    state     TEXT NOT NULL
        CHECK (state IN ('running', 'done', 'failed', 'timed_out', 'lost', 'refused')),
    reason    TEXT NOT NULL,
    at        TEXT NOT NULL,
    ended_at  TEXT
) STRICT;
CREATE INDEX kg_dispatch_state ON kg_dispatch (state);
