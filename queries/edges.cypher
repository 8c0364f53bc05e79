// Writes to and reads of relationships. A name with `{type}`, `{source}` and `{target}` is expanded once for every pair of
// node tables that the schema declares for a relationship: never with words that come from outside.

// name: put_{type}_{source}_{target}
// params: source, target, weight, created_at, last_used_at, relation, attributes, slice, extractor, model, agent, trust
MATCH (a:{source} {id: $source}), (b:{target} {id: $target})
MERGE (a)-[e:{type}]->(b)
SET
    e.weight = CAST($weight AS DOUBLE), e.created_at = CAST($created_at AS INT64),
    e.last_used_at = CAST($last_used_at AS INT64), e.relation = CAST($relation AS STRING),
    e.attributes = CAST($attributes AS STRING), e.slice = CAST($slice AS STRING),
    e.extractor = CAST($extractor AS STRING), e.model = CAST($model AS STRING),
    e.agent = CAST($agent AS STRING), e.trust = CAST($trust AS STRING);

// name: drop_{type}_{source}_{target}
// params: source, target
MATCH (a:{source} {id: $source})-[e:{type}]->(b:{target} {id: $target})
DELETE e;

// name: put_INJECTED_Task_Memory
// params: source, target, weight, created_at, last_used_at, relation, attributes, slice, extractor, model, agent, trust, at, rank, score, arm, outcome
MATCH (a:Task {id: $source}), (b:Memory {id: $target})
MERGE (a)-[e:INJECTED]->(b)
SET
    e.weight = CAST($weight AS DOUBLE), e.created_at = CAST($created_at AS INT64),
    e.last_used_at = CAST($last_used_at AS INT64), e.relation = CAST($relation AS STRING),
    e.attributes = CAST($attributes AS STRING), e.slice = CAST($slice AS STRING),
    e.extractor = CAST($extractor AS STRING), e.model = CAST($model AS STRING),
    e.agent = CAST($agent AS STRING), e.trust = CAST($trust AS STRING), e.at = CAST($at AS INT64),
    e.rank = CAST($rank AS INT64), e.score = CAST($score AS DOUBLE), e.arm = CAST($arm AS STRING),
    e.outcome = CAST($outcome AS STRING);

// name: put_WITHHELD_Task_Memory
// params: source, target, weight, created_at, last_used_at, relation, attributes, slice, extractor, model, agent, trust, at, rank, score, arm, outcome
MATCH (a:Task {id: $source}), (b:Memory {id: $target})
MERGE (a)-[e:WITHHELD]->(b)
SET
    e.weight = CAST($weight AS DOUBLE), e.created_at = CAST($created_at AS INT64),
    e.last_used_at = CAST($last_used_at AS INT64), e.relation = CAST($relation AS STRING),
    e.attributes = CAST($attributes AS STRING), e.slice = CAST($slice AS STRING),
    e.extractor = CAST($extractor AS STRING), e.model = CAST($model AS STRING),
    e.agent = CAST($agent AS STRING), e.trust = CAST($trust AS STRING), e.at = CAST($at AS INT64),
    e.rank = CAST($rank AS INT64), e.score = CAST($score AS DOUBLE), e.arm = CAST($arm AS STRING),
    e.outcome = CAST($outcome AS STRING);
