// What the graph knows of itself.

// name: get_meta
// params: key
MATCH (m:Meta {key: $key}) RETURN m.value AS value, m.number AS number LIMIT 1;

// name: put_meta
// params: key, value, number
MERGE (m:Meta {key: $key}) SET m.value = $value, m.number = $number;

// name: refusals
// params:
MATCH (m:Meta) WHERE m.key STARTS WITH 'refused ' RETURN m.key AS key, m.value AS value ORDER BY key LIMIT 10000;

// name: applied_migrations
// params:
MATCH (m:SchemaMigration) RETURN m.number AS number, m.name AS name, m.hash AS hash ORDER BY number LIMIT 10000;

// name: record_migration
// params: number, name, hash
CREATE (:SchemaMigration {number: $number, name: $name, hash: $hash});
