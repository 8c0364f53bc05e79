// Walks through the graph: the shortest path between two nodes, and all edges at once.
// What is quarantined is no step of a walk. With a scope, a walk stays within it and `global`.

// name: path_{label}
// params: id, scope, target_label, target
MATCH p = (a:{label} {id: $id})-[e* SHORTEST 1..8
    (r, n | WHERE (n.status IS NULL OR n.status <> 'quarantined')
        AND ($scope = '' OR n.scope IS NULL OR n.scope IN [$scope, 'global']))]-(b)
WHERE b.id = $target AND label(b) = $target_label
    AND ($scope = '' OR b.scope IS NULL OR b.scope IN [$scope, 'global'])
RETURN nodes(p) AS nodes LIMIT 1;

// name: edges_among
// params: ids, limit
MATCH (a)-[e]->(b) WHERE a.id IN $ids AND b.id IN $ids
RETURN label(e) AS type, label(a) AS source_label, a.id AS source, label(b) AS target_label, b.id AS target,
    e.weight AS weight ORDER BY type, source, target LIMIT $limit;

// name: all_edges
// params: scope
MATCH (a:Memory:Episode:Reflection:Entity)-[e]->(b:Memory:Episode:Reflection:Entity)
WHERE (a.status IS NULL OR a.status = 'active') AND (b.status IS NULL OR b.status = 'active')
    AND ($scope = '' OR a.scope IN [$scope, 'global'] AND b.scope IN [$scope, 'global'])
RETURN label(a) AS source_label, a.id AS source, label(b) AS target_label, b.id AS target;
