"""PostgreSQL as the engine of a journal: many tenants in one database, each a store of its own."""
