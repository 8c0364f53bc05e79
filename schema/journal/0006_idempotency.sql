-- What requests with an idempotency key have done, so that a retry counts once. Each row is written by the transaction
-- of the change it speaks of: both are durable, or neither is.

-- `key` is a digest of the mutation and the client's key, `digest` one of the payload under `salt`: neither text
-- stands here. `step` names one decision of the request. `answer` holds ids and small words; records are read again.
-- Erasing empties salt, digest and answer, and leaves the row: a retry still counts once. Old rows are thrown away.
CREATE TABLE idempotency (
    key BLOB NOT NULL,
    step TEXT NOT NULL,
    at INTEGER NOT NULL,
    salt BLOB,
    digest BLOB,
    answer TEXT,
    PRIMARY KEY (key, step)
) WITHOUT ROWID;
CREATE INDEX idempotency_by_time ON idempotency (at);
