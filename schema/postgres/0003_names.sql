-- What a tenant calls a person is that tenant's alone, and what was administered is told of also when it is gone.
-- runs beside: 2

ALTER TABLE member ADD COLUMN name text NOT NULL DEFAULT '';
ALTER TABLE member ADD COLUMN joined_at timestamptz NOT NULL DEFAULT now();
UPDATE member SET name = account.name FROM account WHERE account.id = member.account;

ALTER TABLE audit ADD COLUMN slug text COLLATE "C" NOT NULL DEFAULT '';
UPDATE audit SET slug = tenant.slug FROM tenant WHERE tenant.id = audit.tenant;
