// Writes to nodes. A property that may be null is cast: Kuzu takes the type of a parameter from its first value.

// name: put_memory
// params: rows
UNWIND $rows AS r
MERGE (n:Memory {id: r.id})
SET
    n.name = CAST(r.name AS STRING), n.kind = CAST(r.kind AS STRING), n.trigger = CAST(r.trigger AS STRING),
    n.resolution = CAST(r.resolution AS STRING), n.scope = CAST(r.scope AS STRING),
    n.status = CAST(r.status AS STRING), n.confidence = CAST(r.confidence AS DOUBLE),
    n.importance = CAST(r.importance AS DOUBLE), n.helped = CAST(r.helped AS DOUBLE),
    n.failed = CAST(r.failed AS DOUBLE), n.uses = CAST(r.uses AS INT64),
    n.easiness = CAST(r.easiness AS DOUBLE), n.half_life_days = CAST(r.half_life_days AS DOUBLE),
    n.valid_from = CAST(r.valid_from AS INT64), n.valid_to = CAST(r.valid_to AS INT64),
    n.recorded_at = CAST(r.recorded_at AS INT64), n.retired_at = CAST(r.retired_at AS INT64),
    n.last_used_at = CAST(r.last_used_at AS INT64), n.source = CAST(r.source AS STRING),
    n.attributes = CAST(r.attributes AS STRING), n.slice = CAST(r.slice AS STRING),
    n.extractor = CAST(r.extractor AS STRING), n.model = CAST(r.model AS STRING),
    n.agent = CAST(r.agent AS STRING), n.trust = CAST(r.trust AS STRING);

// name: put_episode
// params: rows
UNWIND $rows AS r
MERGE (n:Episode {id: r.id})
SET
    n.content = CAST(r.content AS STRING), n.session = CAST(r.session AS STRING),
    n.scope = CAST(r.scope AS STRING), n.agent = CAST(r.agent AS STRING), n.role = CAST(r.role AS STRING),
    n.importance = CAST(r.importance AS DOUBLE), n.source = CAST(r.source AS STRING),
    n.occurred_at = CAST(r.occurred_at AS INT64), n.recorded_at = CAST(r.recorded_at AS INT64),
    n.consolidated_at = CAST(r.consolidated_at AS INT64), n.slice = CAST(r.slice AS STRING),
    n.extractor = CAST(r.extractor AS STRING), n.model = CAST(r.model AS STRING),
    n.trust = CAST(r.trust AS STRING);

// name: put_reflection
// params: rows
UNWIND $rows AS r
MERGE (n:Reflection {id: r.id})
SET
    n.question = CAST(r.question AS STRING), n.insight = CAST(r.insight AS STRING),
    n.level = CAST(r.level AS INT64), n.confidence = CAST(r.confidence AS DOUBLE),
    n.status = CAST(r.status AS STRING), n.scope = CAST(r.scope AS STRING),
    n.valid_from = CAST(r.valid_from AS INT64), n.valid_to = CAST(r.valid_to AS INT64),
    n.recorded_at = CAST(r.recorded_at AS INT64), n.retired_at = CAST(r.retired_at AS INT64),
    n.last_used_at = CAST(r.last_used_at AS INT64), n.slice = CAST(r.slice AS STRING),
    n.extractor = CAST(r.extractor AS STRING), n.model = CAST(r.model AS STRING),
    n.agent = CAST(r.agent AS STRING), n.trust = CAST(r.trust AS STRING);

// name: put_entity
// params: rows
UNWIND $rows AS r
MERGE (n:Entity {id: r.id})
SET
    n.kind = CAST(r.kind AS STRING), n.name = CAST(r.name AS STRING), n.scope = CAST(r.scope AS STRING);

// name: put_session
// params: rows
UNWIND $rows AS r
MERGE (n:Session {id: r.id})
SET
    n.scope = CAST(r.scope AS STRING), n.agent = CAST(r.agent AS STRING),
    n.started_at = CAST(r.started_at AS INT64), n.ended_at = CAST(r.ended_at AS INT64);

// name: put_plan
// params: rows
UNWIND $rows AS r
MERGE (n:Plan {id: r.id})
SET
    n.objective = CAST(r.objective AS STRING), n.recorded_at = CAST(r.recorded_at AS INT64),
    n.scope = CAST(r.scope AS STRING), n.status = CAST(r.status AS STRING),
    n.attributes = CAST(r.attributes AS STRING);

// name: put_task
// params: rows
UNWIND $rows AS r
MERGE (n:Task {id: r.id})
SET
    n.objective = CAST(r.objective AS STRING), n.recorded_at = CAST(r.recorded_at AS INT64),
    n.scope = CAST(r.scope AS STRING), n.status = CAST(r.status AS STRING),
    n.outcome = CAST(r.outcome AS STRING), n.attributes = CAST(r.attributes AS STRING);
