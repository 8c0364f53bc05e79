// Passages are immutable: replaced by delete and insert, because an indexed column cannot be set.

// name: add_passages
// params: rows
UNWIND $rows AS r
CREATE (:Passage {id: r.id, owner: r.owner, owner_kind: r.owner_kind, embedding: CAST(r.embedding, 'FLOAT[{dimension}]')});

// name: drop_passages
// params: rows
UNWIND $rows AS r
MATCH (p:Passage {id: r.id}) DELETE p;

// name: nearest_passages
// params: vector, k, efs
CALL QUERY_VECTOR_INDEX('Passage', 'passage_embedding', $vector, $k, efs := $efs)
RETURN node.id AS id, distance
ORDER BY distance;
