-- Background work and what it leaves behind: the queue, what each job changed, what models answered and cost.

-- One row per piece of work that was asked for. It stands beside the log and not in it: being queued or retried is no
-- change of what is remembered, and ended rows are thrown away in time.
CREATE TABLE work (
    id TEXT PRIMARY KEY,
    kind TEXT NOT NULL,
    key TEXT NOT NULL,
    payload TEXT NOT NULL,
    state TEXT NOT NULL CHECK (state IN ('queued', 'running', 'done', 'failed')),
    attempts INTEGER NOT NULL DEFAULT 0,
    not_before INTEGER NOT NULL,
    created_at INTEGER NOT NULL,
    started_at INTEGER,
    ended_at INTEGER,
    error TEXT NOT NULL DEFAULT '',
    result TEXT NOT NULL DEFAULT '{}',
    -- The payload it was asked for with while it ran already: it may have read what there was before that, so it is
    -- queued once more when it ends.
    again TEXT
) WITHOUT ROWID;
-- Asking twice queues once: at most one unfinished row of a kind and key.
CREATE UNIQUE INDEX work_unfinished ON work (kind, key) WHERE state IN ('queued', 'running');

-- The steps of a job that are in the log, written by the step's own transaction: a job that was killed is run again
-- from its beginning and passes over them, so every step has its effect exactly once.
CREATE TABLE job_step (
    job TEXT NOT NULL,
    step TEXT NOT NULL,
    seq INTEGER NOT NULL,
    PRIMARY KEY (job, step)
) WITHOUT ROWID;

-- What a job did to each node, edge and passage it touched, so that it can be undone exactly. `key` is the operation
-- that would remove it, `before` the one that would put what was there ahead of the job's first step that touched it,
-- NULL where it was not there. Of the state behind the last one only a digest is kept, NULL where it was gone: that is
-- enough to see that something else has changed it since, and no second copy of a text has to be found when one must
-- be erased. `seq` is the row of the log that touched it last. The rows are long: a table without rowids would keep
-- few of them to a page.
CREATE TABLE effect (
    job TEXT NOT NULL,
    key TEXT NOT NULL,
    step TEXT NOT NULL,
    seq INTEGER NOT NULL,
    before TEXT,
    after BLOB,
    -- Somebody else changed it between two steps of the job: going back to `before` would lose that.
    crossed INTEGER NOT NULL,
    -- Of a passage that was there: its vector and the embedding space it belongs to, or it would come back without
    -- being found by its meaning.
    space INTEGER,
    vector BLOB,
    PRIMARY KEY (job, key)
);

-- Jobs that were taken back, so that it is not tried twice.
CREATE TABLE undone (
    job TEXT PRIMARY KEY,
    seq INTEGER NOT NULL,
    at INTEGER NOT NULL
) WITHOUT ROWID;

-- Answers of language models by a digest of what was asked: the same question is not paid for twice.
CREATE TABLE model_answer (
    key TEXT PRIMARY KEY,
    at INTEGER NOT NULL,
    model TEXT NOT NULL,
    answer TEXT NOT NULL,
    tokens_in INTEGER NOT NULL,
    tokens_out INTEGER NOT NULL,
    cost REAL NOT NULL
);

-- What each provider was asked and cost in a month (YYYY-MM): the budget is checked against it, also after a restart.
CREATE TABLE model_spend (
    month TEXT NOT NULL,
    provider TEXT NOT NULL,
    calls INTEGER NOT NULL DEFAULT 0,
    failures INTEGER NOT NULL DEFAULT 0,
    tokens_in INTEGER NOT NULL DEFAULT 0,
    tokens_out INTEGER NOT NULL DEFAULT 0,
    cost REAL NOT NULL DEFAULT 0,
    PRIMARY KEY (month, provider)
) WITHOUT ROWID;

-- Backups that Helix wrote, where they were written to: only from a copy that is known can a text be erased.
CREATE TABLE known_copy (
    path TEXT PRIMARY KEY,
    made_at INTEGER NOT NULL
) WITHOUT ROWID;

-- A node that is dropped takes its passages with it; without this, finding them reads every text there is. Ids grow
-- with time, so new entries go to the end.
CREATE INDEX passage_by_owner ON passage (owner);
