// Writes to and reads of relationships. A name with `{type}`, `{source}` and `{target}` is expanded once for every pair of
// node tables that the schema declares for a relationship: never with words that come from outside.
// An edge is put by dropping it and creating it, in two transactions: Kuzu 0.11 loses edges that are merged in a
// transaction beside others where the table has edges on disk already (tests/graph/test_edges_are_kept.py).

// name: put_{type}_{source}_{target}
// params: source, target, weight, created_at, last_used_at, relation, attributes, slice, extractor, model, agent, trust
MATCH (a:{source} {id: $source}), (b:{target} {id: $target})
CREATE (a)-[:{type} {
    weight: CAST($weight AS DOUBLE), created_at: CAST($created_at AS INT64),
    last_used_at: CAST($last_used_at AS INT64), relation: CAST($relation AS STRING),
    attributes: CAST($attributes AS STRING), slice: CAST($slice AS STRING),
    extractor: CAST($extractor AS STRING), model: CAST($model AS STRING),
    agent: CAST($agent AS STRING), trust: CAST($trust AS STRING)
}]->(b);

// name: drop_{type}_{source}_{target}
// params: source, target
MATCH (a:{source} {id: $source})-[e:{type}]->(b:{target} {id: $target})
DELETE e;

// name: put_INJECTED_Task_Memory
// params: source, target, weight, created_at, last_used_at, relation, attributes, slice, extractor, model, agent, trust, at, rank, score, arm, outcome
MATCH (a:Task {id: $source}), (b:Memory {id: $target})
CREATE (a)-[:INJECTED {
    weight: CAST($weight AS DOUBLE), created_at: CAST($created_at AS INT64),
    last_used_at: CAST($last_used_at AS INT64), relation: CAST($relation AS STRING),
    attributes: CAST($attributes AS STRING), slice: CAST($slice AS STRING),
    extractor: CAST($extractor AS STRING), model: CAST($model AS STRING),
    agent: CAST($agent AS STRING), trust: CAST($trust AS STRING), at: CAST($at AS INT64),
    rank: CAST($rank AS INT64), score: CAST($score AS DOUBLE), arm: CAST($arm AS STRING),
    outcome: CAST($outcome AS STRING)
}]->(b);

// name: put_WITHHELD_Task_Memory
// params: source, target, weight, created_at, last_used_at, relation, attributes, slice, extractor, model, agent, trust, at, rank, score, arm, outcome
MATCH (a:Task {id: $source}), (b:Memory {id: $target})
CREATE (a)-[:WITHHELD {
    weight: CAST($weight AS DOUBLE), created_at: CAST($created_at AS INT64),
    last_used_at: CAST($last_used_at AS INT64), relation: CAST($relation AS STRING),
    attributes: CAST($attributes AS STRING), slice: CAST($slice AS STRING),
    extractor: CAST($extractor AS STRING), model: CAST($model AS STRING),
    agent: CAST($agent AS STRING), trust: CAST($trust AS STRING), at: CAST($at AS INT64),
    rank: CAST($rank AS INT64), score: CAST($score AS DOUBLE), arm: CAST($arm AS STRING),
    outcome: CAST($outcome AS STRING)
}]->(b);
