-- A tenant in which an erasure or an import was cut short is opened though nobody asks for it: that brings it to its end.
-- runs beside: 5

CREATE INDEX meta_unfinished ON meta (tenant) WHERE key IN ('erasing', 'strand_under_way') AND value <> '';
CREATE OR REPLACE FUNCTION tenants_with_work(now_micros bigint) RETURNS SETOF bigint
    LANGUAGE sql STABLE SECURITY DEFINER SET search_path FROM CURRENT
    AS $$ SELECT tenant FROM work WHERE state = 'queued' AND not_before <= now_micros OR state = 'running'
          UNION SELECT tenant FROM meta WHERE key IN ('erasing', 'strand_under_way') AND value <> '' $$;
