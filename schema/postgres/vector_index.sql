-- What a large tenant's vectors are searched by: those of one space once more, as pgvector keeps them. It is made when
-- it is asked for (`helix engine index`), as it takes an extension; {tenant}, {space} and {dimension} are filled in.

-- The floats of a vector as Helix keeps it: little-endian, 4 bytes each.
CREATE OR REPLACE FUNCTION half_vector(kept bytea) RETURNS halfvec
    LANGUAGE sql IMMUTABLE PARALLEL SAFE SET search_path FROM CURRENT AS $$
    SELECT array_agg(
        CASE WHEN exponent = 0 THEN 0 ELSE (1 - 2 * sign) * fraction * power(2::double precision, exponent - 150) END
        ORDER BY place)::real[]::halfvec
    FROM (
        SELECT place, high >> 7 AS sign, ((high & 127) << 1) | (next >> 7) AS exponent,
            8388608 | ((next & 127) << 16) | (get_byte(kept, 4 * place + 1) << 8) | get_byte(kept, 4 * place) AS fraction
        FROM (
            SELECT place, get_byte(kept, 4 * place + 3) AS high, get_byte(kept, 4 * place + 2) AS next
            FROM generate_series(0, length(kept) / 4 - 1) AS place
        ) AS bytes
    ) AS parts
$$;

CREATE TABLE IF NOT EXISTS nearest_{tenant}_{space} (
    number bigint PRIMARY KEY,
    embedding halfvec({dimension}) NOT NULL
);

-- Whatever changes a vector, of whichever release, changes it here in the same transaction.
CREATE OR REPLACE FUNCTION keep_nearest_{tenant}_{space}() RETURNS trigger
    LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT AS $$
BEGIN
    IF TG_OP = 'DELETE' THEN
        DELETE FROM nearest_{tenant}_{space} WHERE number = OLD.number;
    ELSE
        INSERT INTO nearest_{tenant}_{space} VALUES (NEW.number, half_vector(NEW.vector))
            ON CONFLICT (number) DO UPDATE SET embedding = excluded.embedding;
    END IF;
    RETURN NULL;
END $$;
CREATE OR REPLACE TRIGGER keep_nearest_{tenant}_{space}_put AFTER INSERT OR UPDATE ON vector FOR EACH ROW
    WHEN (NEW.tenant = {tenant} AND NEW.space = {space}) EXECUTE FUNCTION keep_nearest_{tenant}_{space}();
CREATE OR REPLACE TRIGGER keep_nearest_{tenant}_{space}_gone AFTER DELETE ON vector FOR EACH ROW
    WHEN (OLD.tenant = {tenant} AND OLD.space = {space}) EXECUTE FUNCTION keep_nearest_{tenant}_{space}();

-- Who may read vectors may read these, as their tenant.
ALTER TABLE nearest_{tenant}_{space} ENABLE ROW LEVEL SECURITY;
DROP POLICY IF EXISTS of_tenant ON nearest_{tenant}_{space};
CREATE POLICY of_tenant ON nearest_{tenant}_{space}
    USING (nullif(current_setting('helix.tenant', true), '')::bigint = {tenant});
DO $$
DECLARE reader text;
BEGIN
    FOR reader IN SELECT DISTINCT grantee FROM information_schema.role_table_grants
        WHERE table_schema = current_schema AND table_name = 'vector' AND privilege_type = 'SELECT'
    LOOP
        EXECUTE format('GRANT SELECT ON nearest_{tenant}_{space} TO %I', reader);
        EXECUTE format('GRANT USAGE ON SCHEMA %s TO %I', (SELECT extnamespace::regnamespace FROM pg_extension
            WHERE extname = 'vector'), reader);
    END LOOP;
END $$;
