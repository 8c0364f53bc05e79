"""Statement: what one sentence claims: its wording, its clauses, the value it gives, what it says is no longer so."""
