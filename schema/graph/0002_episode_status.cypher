// Where an episode stands: what reads like an instruction to an agent is quarantined until a person has looked at it.
ALTER TABLE Episode ADD status STRING DEFAULT 'active';
