-- What schema/journal makes for one store in a file, for many tenants in one database. Every key begins with the
-- tenant. Texts are compared byte by byte, as SQLite does.

CREATE TABLE tenant (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    slug text COLLATE "C" NOT NULL UNIQUE,
    state text COLLATE "C" NOT NULL DEFAULT 'active' CHECK (state IN ('incoming', 'active', 'moved', 'deleting')),
    made_at timestamptz NOT NULL DEFAULT now()
);

-- The processes that serve, each until a moment of the database's clock. A living one says again and again that it
-- lives, and takes its row away when it ends.
CREATE TABLE process (
    id uuid PRIMARY KEY,
    name text NOT NULL,
    until timestamptz NOT NULL
);

-- Who writes a tenant, and how far its journal has come. Every transaction locks this row and counts itself in it, so
-- that a commit whose answer was lost can be told from one that never came. `epoch` grows with every new home: whoever
-- holds an older one writes nothing any more.
CREATE TABLE head (
    tenant bigint PRIMARY KEY REFERENCES tenant (id),
    home uuid,
    epoch bigint NOT NULL DEFAULT 0,
    commits bigint NOT NULL DEFAULT 0,
    seq bigint NOT NULL DEFAULT 0,
    chain bytea NOT NULL DEFAULT '\x0000000000000000000000000000000000000000000000000000000000000000'
);

CREATE TABLE log (
    tenant bigint NOT NULL,
    seq bigint NOT NULL,
    at bigint NOT NULL,
    payload bytea,
    salt bytea,
    digest bytea NOT NULL,
    chain bytea NOT NULL,
    PRIMARY KEY (tenant, seq)
);

CREATE TABLE node (
    tenant bigint NOT NULL,
    label text COLLATE "C" NOT NULL,
    id text COLLATE "C" NOT NULL,
    props text NOT NULL,
    PRIMARY KEY (tenant, label, id)
);

CREATE TABLE edge (
    tenant bigint NOT NULL,
    type text COLLATE "C" NOT NULL,
    source_label text COLLATE "C" NOT NULL,
    source text COLLATE "C" NOT NULL,
    target_label text COLLATE "C" NOT NULL,
    target text COLLATE "C" NOT NULL,
    props text NOT NULL,
    PRIMARY KEY (tenant, type, source_label, source, target_label, target)
);
CREATE INDEX edge_by_source ON edge (tenant, source);
CREATE INDEX edge_by_target ON edge (tenant, target);

CREATE TABLE passage (
    tenant bigint NOT NULL,
    number bigint NOT NULL,
    id text COLLATE "C" NOT NULL,
    owner_label text COLLATE "C" NOT NULL,
    owner text COLLATE "C" NOT NULL,
    text text NOT NULL,
    PRIMARY KEY (tenant, number),
    UNIQUE (tenant, id)
);
CREATE INDEX passage_by_owner ON passage (tenant, owner);

CREATE TABLE space (
    tenant bigint NOT NULL,
    id bigint NOT NULL,
    model text NOT NULL,
    dimension bigint NOT NULL,
    digest text NOT NULL,
    active boolean NOT NULL DEFAULT false,
    PRIMARY KEY (tenant, id)
);

CREATE TABLE vector (
    tenant bigint NOT NULL,
    space bigint NOT NULL,
    number bigint NOT NULL,
    vector bytea NOT NULL,
    PRIMARY KEY (tenant, space, number)
);

CREATE TABLE token (
    tenant bigint NOT NULL,
    number bigint NOT NULL,
    tokens text NOT NULL,
    PRIMARY KEY (tenant, number)
);

CREATE TABLE poison (
    tenant bigint NOT NULL,
    seq bigint NOT NULL,
    at bigint NOT NULL,
    error text NOT NULL,
    PRIMARY KEY (tenant, seq)
);

CREATE TABLE meta (
    tenant bigint NOT NULL,
    key text COLLATE "C" NOT NULL,
    value text NOT NULL,
    PRIMARY KEY (tenant, key)
);

CREATE TABLE work (
    tenant bigint NOT NULL,
    id text COLLATE "C" NOT NULL,
    kind text COLLATE "C" NOT NULL,
    key text COLLATE "C" NOT NULL,
    payload text NOT NULL,
    state text COLLATE "C" NOT NULL CHECK (state IN ('queued', 'running', 'done', 'failed')),
    attempts bigint NOT NULL DEFAULT 0,
    not_before bigint NOT NULL,
    created_at bigint NOT NULL,
    started_at bigint,
    ended_at bigint,
    error text NOT NULL DEFAULT '',
    result text NOT NULL DEFAULT '{}',
    again text,
    PRIMARY KEY (tenant, id)
);
CREATE UNIQUE INDEX work_unfinished ON work (tenant, kind, key) WHERE state IN ('queued', 'running');

CREATE TABLE job_step (
    tenant bigint NOT NULL,
    job text COLLATE "C" NOT NULL,
    step text COLLATE "C" NOT NULL,
    seq bigint NOT NULL,
    PRIMARY KEY (tenant, job, step)
);

-- `rowid` tells in which order rows came, as it does in SQLite.
CREATE TABLE effect (
    tenant bigint NOT NULL,
    job text COLLATE "C" NOT NULL,
    key text COLLATE "C" NOT NULL,
    step text COLLATE "C" NOT NULL,
    seq bigint NOT NULL,
    before text,
    after bytea,
    crossed boolean NOT NULL,
    space bigint,
    vector bytea,
    rowid bigint GENERATED ALWAYS AS IDENTITY,
    PRIMARY KEY (tenant, job, key)
);

CREATE TABLE undone (
    tenant bigint NOT NULL,
    job text COLLATE "C" NOT NULL,
    seq bigint NOT NULL,
    at bigint NOT NULL,
    PRIMARY KEY (tenant, job)
);

CREATE TABLE model_answer (
    tenant bigint NOT NULL,
    key text COLLATE "C" NOT NULL,
    at bigint NOT NULL,
    model text NOT NULL,
    answer text NOT NULL,
    tokens_in bigint NOT NULL,
    tokens_out bigint NOT NULL,
    cost double precision NOT NULL,
    PRIMARY KEY (tenant, key)
);

CREATE TABLE model_spend (
    tenant bigint NOT NULL,
    month text COLLATE "C" NOT NULL,
    provider text COLLATE "C" NOT NULL,
    calls bigint NOT NULL DEFAULT 0,
    failures bigint NOT NULL DEFAULT 0,
    tokens_in bigint NOT NULL DEFAULT 0,
    tokens_out bigint NOT NULL DEFAULT 0,
    cost double precision NOT NULL DEFAULT 0,
    PRIMARY KEY (tenant, month, provider)
);

CREATE TABLE known_copy (
    tenant bigint NOT NULL,
    path text COLLATE "C" NOT NULL,
    made_at bigint NOT NULL,
    PRIMARY KEY (tenant, path)
);

CREATE TABLE extracted (
    tenant bigint NOT NULL,
    episode text COLLATE "C" NOT NULL,
    edition text NOT NULL,
    candidates text NOT NULL,
    vectors bytea NOT NULL,
    PRIMARY KEY (tenant, episode)
);

CREATE TABLE idempotency (
    tenant bigint NOT NULL,
    key bytea NOT NULL,
    step text COLLATE "C" NOT NULL,
    at bigint NOT NULL,
    salt bytea,
    digest bytea,
    answer text,
    PRIMARY KEY (tenant, key, step)
);
CREATE INDEX idempotency_by_time ON idempotency (tenant, at);

CREATE TABLE strand_version (
    tenant bigint NOT NULL,
    id text COLLATE "C" NOT NULL,
    selection text COLLATE "C" NOT NULL,
    seq bigint,
    at bigint NOT NULL,
    root text COLLATE "C" NOT NULL,
    parents text COLLATE "C" NOT NULL,
    who text COLLATE "C" NOT NULL,
    why text COLLATE "C" NOT NULL,
    tag text COLLATE "C" NOT NULL,
    taken_at bigint,
    rowid bigint GENERATED ALWAYS AS IDENTITY,
    PRIMARY KEY (tenant, id)
);
CREATE INDEX strand_version_by_seq ON strand_version (tenant, selection, seq);
