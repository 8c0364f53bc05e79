"""Server: many tenants of one PostgreSQL server behind one address, for people and agents that show keys."""
