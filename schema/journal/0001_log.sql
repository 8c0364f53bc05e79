-- The system of record: one row per accepted change, in the order of acceptance.
-- `digest` is sha256(salt || payload), `chain` is sha256(previous chain || seq || at || digest): erasing a payload
-- together with its salt leaves the chain verifiable.
CREATE TABLE log (
    seq INTEGER PRIMARY KEY,
    at INTEGER NOT NULL,
    payload BLOB,
    salt BLOB,
    digest BLOB NOT NULL,
    chain BLOB NOT NULL
);

-- What the log comes to: the present state of every node and edge, kept by the same transaction as the log.
CREATE TABLE node (
    label TEXT NOT NULL,
    id TEXT NOT NULL,
    props TEXT NOT NULL,
    PRIMARY KEY (label, id)
) WITHOUT ROWID;

CREATE TABLE edge (
    type TEXT NOT NULL,
    source_label TEXT NOT NULL,
    source TEXT NOT NULL,
    target_label TEXT NOT NULL,
    target TEXT NOT NULL,
    props TEXT NOT NULL,
    PRIMARY KEY (type, source_label, source, target_label, target)
) WITHOUT ROWID;

CREATE TABLE passage (
    number INTEGER PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,
    owner_label TEXT NOT NULL,
    owner TEXT NOT NULL,
    text TEXT NOT NULL
);

-- Code-aware tokens are made by Helix and joined by blanks; the tokenizer only takes them apart again.
CREATE VIRTUAL TABLE lexical USING fts5(tokens, tokenize = "unicode61 remove_diacritics 0 tokenchars '_'");
CREATE VIRTUAL TABLE lexical_terms USING fts5vocab(lexical, row);

-- Vectors are comparable within one embedding space only; at most one space is the active one.
CREATE TABLE space (
    id INTEGER PRIMARY KEY,
    model TEXT NOT NULL,
    dimension INTEGER NOT NULL,
    digest TEXT NOT NULL,
    active INTEGER NOT NULL DEFAULT 0
);

CREATE TABLE vector (
    space INTEGER NOT NULL REFERENCES space (id),
    number INTEGER NOT NULL,
    vector BLOB NOT NULL,
    PRIMARY KEY (space, number)
) WITHOUT ROWID;

-- Rows that the graph refused; they are set aside, never dropped.
CREATE TABLE poison (
    seq INTEGER PRIMARY KEY,
    at INTEGER NOT NULL,
    error TEXT NOT NULL
);

CREATE TABLE meta (
    key TEXT PRIMARY KEY,
    value TEXT NOT NULL
) WITHOUT ROWID;
