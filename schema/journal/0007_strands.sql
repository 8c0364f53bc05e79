-- Versions of what the store holds, as strands carry them: a line of ancestors, like the commits of a repository.

-- `selection` says of which part of the store it is (JSON: scopes, ids). `seq` is the row of the log at which the store
-- held exactly this, NULL for a version that came from elsewhere. `parents` is a JSON list of ids. `taken_at` is the
-- moment at which a version from elsewhere was taken in, NULL for one that is known as an ancestor only.
CREATE TABLE strand_version (
    id TEXT PRIMARY KEY,
    selection TEXT NOT NULL,
    seq INTEGER,
    at INTEGER NOT NULL,
    root TEXT NOT NULL,
    parents TEXT NOT NULL,
    who TEXT NOT NULL,
    why TEXT NOT NULL,
    tag TEXT NOT NULL,
    taken_at INTEGER
);
CREATE INDEX strand_version_by_seq ON strand_version (selection, seq);
