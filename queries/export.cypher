// Reads of everything of one sort, for `helix doctor` and exports.

// name: export_{label}
// params: after, limit
MATCH (n:{label}) WHERE n.id > $after RETURN n.* ORDER BY n.id LIMIT $limit;

// name: count_{label}
// params:
MATCH (n:{label}) RETURN count(*) AS count LIMIT 1;

// name: count_edges_{type}
// params:
MATCH ()-[e:{type}]->() RETURN count(*) AS count LIMIT 1;

// name: count_passages
// params:
MATCH (p:Passage) WHERE p.id <> '' RETURN count(*) AS count LIMIT 1;
