// Writes to and reads of relationships. A name with `{type}`, `{source}` and `{target}` is expanded once for every pair of
// node tables that the schema declares for a relationship: never with words that come from outside.

// name: put_{type}_{source}_{target}
// params: rows
UNWIND $rows AS r
MATCH (a:{source} {id: r.source}), (b:{target} {id: r.target})
MERGE (a)-[e:{type}]->(b)
SET
    e.weight = CAST(r.weight AS DOUBLE), e.created_at = CAST(r.created_at AS INT64),
    e.last_used_at = CAST(r.last_used_at AS INT64), e.relation = CAST(r.relation AS STRING),
    e.attributes = CAST(r.attributes AS STRING), e.slice = CAST(r.slice AS STRING),
    e.extractor = CAST(r.extractor AS STRING), e.model = CAST(r.model AS STRING),
    e.agent = CAST(r.agent AS STRING), e.trust = CAST(r.trust AS STRING);

// name: drop_{type}_{source}_{target}
// params: rows
UNWIND $rows AS r
MATCH (a:{source} {id: r.source})-[e:{type}]->(b:{target} {id: r.target})
DELETE e;

// name: put_INJECTED_Task_Memory
// params: rows
UNWIND $rows AS r
MATCH (a:Task {id: r.source}), (b:Memory {id: r.target})
MERGE (a)-[e:INJECTED]->(b)
SET
    e.weight = CAST(r.weight AS DOUBLE), e.created_at = CAST(r.created_at AS INT64),
    e.last_used_at = CAST(r.last_used_at AS INT64), e.relation = CAST(r.relation AS STRING),
    e.attributes = CAST(r.attributes AS STRING), e.slice = CAST(r.slice AS STRING),
    e.extractor = CAST(r.extractor AS STRING), e.model = CAST(r.model AS STRING),
    e.agent = CAST(r.agent AS STRING), e.trust = CAST(r.trust AS STRING), e.at = CAST(r.at AS INT64),
    e.rank = CAST(r.rank AS INT64), e.score = CAST(r.score AS DOUBLE), e.arm = CAST(r.arm AS STRING),
    e.outcome = CAST(r.outcome AS STRING);
