// Writes to nodes. A property that may be null is cast: Kuzu takes the type of a parameter from its first value.

// name: put_memory
// params: id, name, kind, trigger, resolution, scope, status, confidence, importance, helped, failed, uses, easiness, half_life_days, valid_from, valid_to, recorded_at, retired_at, last_used_at, source, attributes, slice, extractor, model, agent, trust
MERGE (n:Memory {id: $id})
SET
    n.name = CAST($name AS STRING), n.kind = CAST($kind AS STRING), n.trigger = CAST($trigger AS STRING),
    n.resolution = CAST($resolution AS STRING), n.scope = CAST($scope AS STRING),
    n.status = CAST($status AS STRING), n.confidence = CAST($confidence AS DOUBLE),
    n.importance = CAST($importance AS DOUBLE), n.helped = CAST($helped AS DOUBLE),
    n.failed = CAST($failed AS DOUBLE), n.uses = CAST($uses AS INT64),
    n.easiness = CAST($easiness AS DOUBLE), n.half_life_days = CAST($half_life_days AS DOUBLE),
    n.valid_from = CAST($valid_from AS INT64), n.valid_to = CAST($valid_to AS INT64),
    n.recorded_at = CAST($recorded_at AS INT64), n.retired_at = CAST($retired_at AS INT64),
    n.last_used_at = CAST($last_used_at AS INT64), n.source = CAST($source AS STRING),
    n.attributes = CAST($attributes AS STRING), n.slice = CAST($slice AS STRING),
    n.extractor = CAST($extractor AS STRING), n.model = CAST($model AS STRING),
    n.agent = CAST($agent AS STRING), n.trust = CAST($trust AS STRING);

// name: put_episode
// params: id, content, session, scope, agent, role, importance, source, status, occurred_at, recorded_at, consolidated_at, slice, extractor, model, trust
MERGE (n:Episode {id: $id})
SET
    n.content = CAST($content AS STRING), n.session = CAST($session AS STRING),
    n.scope = CAST($scope AS STRING), n.agent = CAST($agent AS STRING), n.role = CAST($role AS STRING),
    n.importance = CAST($importance AS DOUBLE), n.source = CAST($source AS STRING),
    n.status = CAST($status AS STRING), n.occurred_at = CAST($occurred_at AS INT64),
    n.recorded_at = CAST($recorded_at AS INT64), n.consolidated_at = CAST($consolidated_at AS INT64),
    n.slice = CAST($slice AS STRING), n.extractor = CAST($extractor AS STRING), n.model = CAST($model AS STRING),
    n.trust = CAST($trust AS STRING);

// name: put_reflection
// params: id, question, insight, level, confidence, status, scope, valid_from, valid_to, recorded_at, retired_at, last_used_at, slice, extractor, model, agent, trust
MERGE (n:Reflection {id: $id})
SET
    n.question = CAST($question AS STRING), n.insight = CAST($insight AS STRING),
    n.level = CAST($level AS INT64), n.confidence = CAST($confidence AS DOUBLE),
    n.status = CAST($status AS STRING), n.scope = CAST($scope AS STRING),
    n.valid_from = CAST($valid_from AS INT64), n.valid_to = CAST($valid_to AS INT64),
    n.recorded_at = CAST($recorded_at AS INT64), n.retired_at = CAST($retired_at AS INT64),
    n.last_used_at = CAST($last_used_at AS INT64), n.slice = CAST($slice AS STRING),
    n.extractor = CAST($extractor AS STRING), n.model = CAST($model AS STRING),
    n.agent = CAST($agent AS STRING), n.trust = CAST($trust AS STRING);

// name: put_entity
// params: id, kind, name, scope
MERGE (n:Entity {id: $id})
SET
    n.kind = CAST($kind AS STRING), n.name = CAST($name AS STRING), n.scope = CAST($scope AS STRING);

// name: put_session
// params: id, scope, agent, started_at, ended_at
MERGE (n:Session {id: $id})
SET
    n.scope = CAST($scope AS STRING), n.agent = CAST($agent AS STRING),
    n.started_at = CAST($started_at AS INT64), n.ended_at = CAST($ended_at AS INT64);

// name: put_plan
// params: id, objective, recorded_at, scope, status, attributes
MERGE (n:Plan {id: $id})
SET
    n.objective = CAST($objective AS STRING), n.recorded_at = CAST($recorded_at AS INT64),
    n.scope = CAST($scope AS STRING), n.status = CAST($status AS STRING),
    n.attributes = CAST($attributes AS STRING);

// name: put_task
// params: id, objective, recorded_at, scope, status, outcome, session, treatment, verification, ended_at, attributes
MERGE (n:Task {id: $id})
SET
    n.objective = CAST($objective AS STRING), n.recorded_at = CAST($recorded_at AS INT64),
    n.scope = CAST($scope AS STRING), n.status = CAST($status AS STRING),
    n.outcome = CAST($outcome AS STRING), n.session = CAST($session AS STRING),
    n.treatment = CAST($treatment AS STRING), n.verification = CAST($verification AS STRING),
    n.ended_at = CAST($ended_at AS INT64), n.attributes = CAST($attributes AS STRING);

// name: put_exploration
// params: id, objective, recorded_at, scope, session, attributes
MERGE (n:Exploration {id: $id})
SET
    n.objective = CAST($objective AS STRING), n.recorded_at = CAST($recorded_at AS INT64),
    n.scope = CAST($scope AS STRING), n.session = CAST($session AS STRING),
    n.attributes = CAST($attributes AS STRING);

// name: put_workspace
// params: id, recorded_at, scope, status, ended_at, attributes
MERGE (n:Workspace {id: $id})
SET
    n.recorded_at = CAST($recorded_at AS INT64), n.scope = CAST($scope AS STRING),
    n.status = CAST($status AS STRING), n.ended_at = CAST($ended_at AS INT64),
    n.attributes = CAST($attributes AS STRING);

// name: put_candidate
// params: id, kind, trigger, resolution, recorded_at, scope, confidence, status, agent, session, task, source, memory, decided_at, attributes, slice, extractor, model, trust
MERGE (n:Candidate {id: $id})
SET
    n.kind = CAST($kind AS STRING), n.trigger = CAST($trigger AS STRING),
    n.resolution = CAST($resolution AS STRING), n.recorded_at = CAST($recorded_at AS INT64),
    n.scope = CAST($scope AS STRING), n.confidence = CAST($confidence AS STRING),
    n.status = CAST($status AS STRING), n.agent = CAST($agent AS STRING), n.session = CAST($session AS STRING),
    n.task = CAST($task AS STRING), n.source = CAST($source AS STRING), n.memory = CAST($memory AS STRING),
    n.decided_at = CAST($decided_at AS INT64), n.attributes = CAST($attributes AS STRING),
    n.slice = CAST($slice AS STRING), n.extractor = CAST($extractor AS STRING), n.model = CAST($model AS STRING),
    n.trust = CAST($trust AS STRING);

// name: drop_{label}
// params: id
MATCH (n:{label} {id: $id}) DETACH DELETE n;
