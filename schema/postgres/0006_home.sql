-- In which tenant a person is who names none: the one that they joined first, also while that lets nobody in.
-- runs beside: 5

ALTER TABLE account ADD COLUMN home bigint REFERENCES tenant (id) ON DELETE SET NULL;
UPDATE account SET home =
    (SELECT tenant FROM member WHERE member.account = account.id ORDER BY joined_at, tenant LIMIT 1);
