-- Who may use a tenant, what was administered, and a second wall between tenants.

ALTER TABLE tenant DROP CONSTRAINT tenant_state_check;
ALTER TABLE tenant ADD CONSTRAINT tenant_state_check
    CHECK (state IN ('incoming', 'active', 'moved', 'suspended', 'deleting'));

-- What a tenant may use, as JSON: {"memories": 100000, "bytes": ..., "requests": ..., "tokens": ...}
ALTER TABLE tenant ADD COLUMN quota text NOT NULL DEFAULT '{}';

-- Where other processes reach a process that serves; empty for one that serves its own machine alone.
ALTER TABLE process ADD COLUMN url text NOT NULL DEFAULT '';

-- What processes show each other when one hands a request on.
CREATE TABLE cluster (
    one boolean PRIMARY KEY DEFAULT true CHECK (one),
    secret text COLLATE "C" NOT NULL DEFAULT gen_random_uuid()::text || gen_random_uuid()::text
);
INSERT INTO cluster DEFAULT VALUES;

-- A person, as an issuer of OpenID Connect knows them.
CREATE TABLE account (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    issuer text COLLATE "C" NOT NULL,
    subject text COLLATE "C" NOT NULL,
    name text NOT NULL DEFAULT '',
    made_at timestamptz NOT NULL DEFAULT now(),
    UNIQUE (issuer, subject)
);

CREATE TABLE member (
    account bigint NOT NULL REFERENCES account (id),
    tenant bigint NOT NULL REFERENCES tenant (id),
    role text COLLATE "C" NOT NULL,
    scopes text NOT NULL DEFAULT '[]',
    PRIMARY KEY (account, tenant)
);

-- A key of an agent or a program, a link that lets one browser in, or the session that it became. The secret itself is
-- nowhere: `digest` is its SHA-256. `peer` is the public key of a store that is synced by it: what that signs is taken.
CREATE TABLE api_key (
    prefix text COLLATE "C" PRIMARY KEY,
    tenant bigint NOT NULL REFERENCES tenant (id),
    kind text COLLATE "C" NOT NULL CHECK (kind IN ('key', 'link', 'session')),
    name text NOT NULL,
    role text COLLATE "C" NOT NULL,
    scopes text NOT NULL DEFAULT '[]',
    digest bytea NOT NULL,
    peer text COLLATE "C" NOT NULL DEFAULT '',
    made_at timestamptz NOT NULL DEFAULT now(),
    made_by text NOT NULL DEFAULT '',
    expires_at timestamptz,
    revoked_at timestamptz
);
CREATE INDEX api_key_by_tenant ON api_key (tenant);

CREATE TABLE audit (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    tenant bigint,
    at timestamptz NOT NULL DEFAULT now(),
    actor text NOT NULL,
    action text COLLATE "C" NOT NULL,
    detail text NOT NULL DEFAULT '{}'
);
CREATE INDEX audit_by_tenant ON audit (tenant, id);

-- The second wall: a role that owns no table sees rows of the tenant that its transaction named, and none without.
-- Citus sends a statement to one shard by its parameter alone, so there the first wall has to do.
DO $$
DECLARE walled text;
BEGIN
    IF NOT EXISTS (SELECT FROM pg_extension WHERE extname = 'citus') THEN
        FOREACH walled IN ARRAY ARRAY['log', 'node', 'edge', 'passage', 'space', 'vector', 'token', 'poison', 'meta',
            'work', 'job_step', 'effect', 'undone', 'model_answer', 'model_spend', 'known_copy', 'extracted',
            'idempotency', 'strand_version']
        LOOP
            EXECUTE format('ALTER TABLE %I ENABLE ROW LEVEL SECURITY', walled);
            EXECUTE format('CREATE POLICY of_tenant ON %I USING '
                '(tenant = nullif(current_setting(''helix.tenant'', true), '''')::bigint)', walled);
        END LOOP;
    END IF;
END $$;

-- Which tenants have work that is due: the one question over all of them, and it tells no more than their numbers.
CREATE FUNCTION tenants_with_work(now_micros bigint) RETURNS SETOF bigint
    LANGUAGE sql STABLE SECURITY DEFINER SET search_path FROM CURRENT
    AS $$ SELECT DISTINCT tenant FROM work WHERE state = 'queued' AND not_before <= now_micros
          OR state = 'running' $$;
CREATE INDEX work_due ON work (not_before) WHERE state IN ('queued', 'running');
