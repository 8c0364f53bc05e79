// The learning loop: what tasks came to, what was planned and tried for them, and what may be learned from them.
ALTER TABLE Task ADD session STRING DEFAULT '';
ALTER TABLE Task ADD treatment STRING DEFAULT '';
ALTER TABLE Task ADD verification STRING DEFAULT '';
ALTER TABLE Task ADD ended_at INT64;

CREATE NODE TABLE Exploration (
    id STRING PRIMARY KEY, objective STRING, recorded_at INT64, scope STRING, session STRING, attributes STRING
);
CREATE NODE TABLE Workspace (
    id STRING PRIMARY KEY, recorded_at INT64, scope STRING, status STRING, ended_at INT64, attributes STRING
);
CREATE NODE TABLE Candidate (
    id STRING PRIMARY KEY, kind STRING, trigger STRING, resolution STRING, recorded_at INT64, scope STRING,
    confidence STRING, status STRING, agent STRING, session STRING, task STRING, source STRING,
    memory STRING, decided_at INT64, attributes STRING, slice STRING, extractor STRING, model STRING, trust STRING
);

CREATE REL TABLE WITHHELD (FROM Task TO Memory, weight DOUBLE, created_at INT64, last_used_at INT64, relation STRING, attributes STRING, slice STRING, extractor STRING, model STRING, agent STRING, trust STRING, at INT64, rank INT64, score DOUBLE, arm STRING, outcome STRING);
CREATE REL TABLE FOR_TASK (FROM Workspace TO Task, weight DOUBLE, created_at INT64, last_used_at INT64, relation STRING, attributes STRING, slice STRING, extractor STRING, model STRING, agent STRING, trust STRING);
CREATE REL TABLE PROPOSED (FROM Task TO Candidate, weight DOUBLE, created_at INT64, last_used_at INT64, relation STRING, attributes STRING, slice STRING, extractor STRING, model STRING, agent STRING, trust STRING);
CREATE REL TABLE BASED_ON (FROM Plan TO Exploration, weight DOUBLE, created_at INT64, last_used_at INT64, relation STRING, attributes STRING, slice STRING, extractor STRING, model STRING, agent STRING, trust STRING);
