// Passages are immutable: replaced by delete and insert, because an indexed column cannot be set.

// name: add_passage
// params: id, owner, owner_kind, embedding
CREATE (:Passage {id: $id, owner: $owner, owner_kind: $owner_kind, embedding: CAST($embedding, 'FLOAT[{dimension}]')});

// name: drop_passage
// params: id
MATCH (p:Passage {id: $id}) DELETE p;

// name: nearest_passages
// params: vector, k, efs
CALL QUERY_VECTOR_INDEX('Passage', 'passage_embedding', $vector, $k, efs := $efs)
RETURN node.id AS id, distance
ORDER BY distance;
