// The live graph. Times are microseconds since the epoch, maps are JSON text.
CREATE NODE TABLE Meta (key STRING PRIMARY KEY, value STRING, number INT64);
CREATE NODE TABLE SchemaMigration (number INT64 PRIMARY KEY, name STRING, hash STRING);

CREATE NODE TABLE Memory (
    id STRING PRIMARY KEY, name STRING, kind STRING, trigger STRING, resolution STRING, scope STRING, status STRING,
    confidence DOUBLE, importance DOUBLE, helped DOUBLE, failed DOUBLE, uses INT64, easiness DOUBLE,
    half_life_days DOUBLE, valid_from INT64, valid_to INT64, recorded_at INT64, retired_at INT64, last_used_at INT64,
    source STRING, attributes STRING, slice STRING, extractor STRING, model STRING, agent STRING, trust STRING
);
CREATE NODE TABLE Episode (
    id STRING PRIMARY KEY, content STRING, session STRING, scope STRING, agent STRING, role STRING, importance DOUBLE,
    source STRING, occurred_at INT64, recorded_at INT64, consolidated_at INT64,
    slice STRING, extractor STRING, model STRING, trust STRING
);
CREATE NODE TABLE Reflection (
    id STRING PRIMARY KEY, question STRING, insight STRING, level INT64, confidence DOUBLE, status STRING,
    scope STRING, valid_from INT64, valid_to INT64, recorded_at INT64, retired_at INT64, last_used_at INT64,
    slice STRING, extractor STRING, model STRING, agent STRING, trust STRING
);
CREATE NODE TABLE Entity (id STRING PRIMARY KEY, kind STRING, name STRING, scope STRING);
CREATE NODE TABLE Session (id STRING PRIMARY KEY, scope STRING, agent STRING, started_at INT64, ended_at INT64);
CREATE NODE TABLE Plan (
    id STRING PRIMARY KEY, objective STRING, recorded_at INT64, scope STRING, status STRING, attributes STRING
);
CREATE NODE TABLE Task (
    id STRING PRIMARY KEY, objective STRING, recorded_at INT64, scope STRING, status STRING, outcome STRING,
    attributes STRING
);

CREATE REL TABLE SOLVES (FROM Memory TO Memory, weight DOUBLE, created_at INT64, last_used_at INT64, relation STRING, attributes STRING, slice STRING, extractor STRING, model STRING, agent STRING, trust STRING);
CREATE REL TABLE CAUSES (FROM Memory TO Memory, weight DOUBLE, created_at INT64, last_used_at INT64, relation STRING, attributes STRING, slice STRING, extractor STRING, model STRING, agent STRING, trust STRING);
CREATE REL TABLE CO_OCCURS (FROM Memory TO Memory, weight DOUBLE, created_at INT64, last_used_at INT64, relation STRING, attributes STRING, slice STRING, extractor STRING, model STRING, agent STRING, trust STRING);
CREATE REL TABLE SIMILAR (FROM Memory TO Memory, FROM Entity TO Entity, weight DOUBLE, created_at INT64, last_used_at INT64, relation STRING, attributes STRING, slice STRING, extractor STRING, model STRING, agent STRING, trust STRING);
CREATE REL TABLE SUPERSEDES (FROM Memory TO Memory, weight DOUBLE, created_at INT64, last_used_at INT64, relation STRING, attributes STRING, slice STRING, extractor STRING, model STRING, agent STRING, trust STRING);
CREATE REL TABLE CONTRADICTS (FROM Memory TO Memory, weight DOUBLE, created_at INT64, last_used_at INT64, relation STRING, attributes STRING, slice STRING, extractor STRING, model STRING, agent STRING, trust STRING);
CREATE REL TABLE DEPENDS_ON (FROM Memory TO Memory, weight DOUBLE, created_at INT64, last_used_at INT64, relation STRING, attributes STRING, slice STRING, extractor STRING, model STRING, agent STRING, trust STRING);
CREATE REL TABLE WORKS_ON (FROM Memory TO Memory, weight DOUBLE, created_at INT64, last_used_at INT64, relation STRING, attributes STRING, slice STRING, extractor STRING, model STRING, agent STRING, trust STRING);
CREATE REL TABLE DECIDED_BY (FROM Memory TO Memory, weight DOUBLE, created_at INT64, last_used_at INT64, relation STRING, attributes STRING, slice STRING, extractor STRING, model STRING, agent STRING, trust STRING);
CREATE REL TABLE PREFERS (FROM Memory TO Memory, weight DOUBLE, created_at INT64, last_used_at INT64, relation STRING, attributes STRING, slice STRING, extractor STRING, model STRING, agent STRING, trust STRING);
CREATE REL TABLE RELATED (FROM Memory TO Memory, weight DOUBLE, created_at INT64, last_used_at INT64, relation STRING, attributes STRING, slice STRING, extractor STRING, model STRING, agent STRING, trust STRING);

CREATE REL TABLE GROUNDED_IN (FROM Memory TO Episode, weight DOUBLE, created_at INT64, last_used_at INT64, relation STRING, attributes STRING, slice STRING, extractor STRING, model STRING, agent STRING, trust STRING);
CREATE REL TABLE CITES (FROM Reflection TO Episode, FROM Reflection TO Memory, FROM Reflection TO Reflection, weight DOUBLE, created_at INT64, last_used_at INT64, relation STRING, attributes STRING, slice STRING, extractor STRING, model STRING, agent STRING, trust STRING);
CREATE REL TABLE MENTIONS (FROM Memory TO Entity, FROM Episode TO Entity, FROM Reflection TO Entity, weight DOUBLE, created_at INT64, last_used_at INT64, relation STRING, attributes STRING, slice STRING, extractor STRING, model STRING, agent STRING, trust STRING);
CREATE REL TABLE TOUCHES (FROM Memory TO Entity, FROM Episode TO Entity, weight DOUBLE, created_at INT64, last_used_at INT64, relation STRING, attributes STRING, slice STRING, extractor STRING, model STRING, agent STRING, trust STRING);
CREATE REL TABLE IN_SESSION (FROM Episode TO Session, weight DOUBLE, created_at INT64, last_used_at INT64, relation STRING, attributes STRING, slice STRING, extractor STRING, model STRING, agent STRING, trust STRING);
CREATE REL TABLE NEXT (FROM Episode TO Episode, weight DOUBLE, created_at INT64, last_used_at INT64, relation STRING, attributes STRING, slice STRING, extractor STRING, model STRING, agent STRING, trust STRING);
CREATE REL TABLE HAS_TASK (FROM Plan TO Task, weight DOUBLE, created_at INT64, last_used_at INT64, relation STRING, attributes STRING, slice STRING, extractor STRING, model STRING, agent STRING, trust STRING);
CREATE REL TABLE BLOCKED_BY (FROM Task TO Task, weight DOUBLE, created_at INT64, last_used_at INT64, relation STRING, attributes STRING, slice STRING, extractor STRING, model STRING, agent STRING, trust STRING);
CREATE REL TABLE INJECTED (FROM Task TO Memory, weight DOUBLE, created_at INT64, last_used_at INT64, relation STRING, attributes STRING, slice STRING, extractor STRING, model STRING, agent STRING, trust STRING, at INT64, rank INT64, score DOUBLE, arm STRING, outcome STRING);
CREATE REL TABLE LEARNED (FROM Task TO Memory, weight DOUBLE, created_at INT64, last_used_at INT64, relation STRING, attributes STRING, slice STRING, extractor STRING, model STRING, agent STRING, trust STRING);
