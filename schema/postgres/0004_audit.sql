-- Who serves adds to the audit, and changes or removes nothing of it.
-- runs beside: 2

DO $$
DECLARE serving text;
BEGIN
    FOR serving IN SELECT DISTINCT grantee FROM information_schema.role_table_grants
        WHERE table_schema = current_schema() AND table_name = 'audit'
            AND privilege_type IN ('UPDATE', 'DELETE') AND grantee NOT IN (current_user, 'PUBLIC')
            AND grantee <> (SELECT tableowner FROM pg_tables WHERE schemaname = current_schema() AND tablename = 'audit')
    LOOP
        EXECUTE format('REVOKE UPDATE, DELETE ON audit FROM %I', serving);
    END LOOP;
END $$;
