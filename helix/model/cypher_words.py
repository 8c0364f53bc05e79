"""The Cypher that Helix lets through, as words: what the gate allows is what the shell completes."""

from __future__ import annotations


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


KEYWORDS = _words(
    """
    MATCH OPTIONAL UNWIND WITH WHERE RETURN ORDER BY SKIP LIMIT UNION ALL DISTINCT AS CALL YIELD EXPLAIN LOGICAL
    AND OR XOR NOT IN IS NULL TRUE FALSE STARTS ENDS CONTAINS CASE WHEN THEN ELSE END EXISTS COUNT ANY NONE SINGLE
    ASC ASCENDING DESC DESCENDING SHORTEST WSHORTEST TRAIL ACYCLIC
    """
)
"""Keywords of reading statements."""

REFUSED = _words(
    """
    ALTER ATTACH BEGIN CHECKPOINT COMMIT COPY CREATE DELETE DETACH DROP EXPORT FORCE HINT IMPORT INSTALL LOAD MERGE
    PROFILE PROJECT ROLLBACK SET UNINSTALL UPDATE USE
    """
)
"""Keywords that write, administer, read files or steer the engine."""

PROCEDURES = _words("DB_VERSION SHOW_CONNECTION SHOW_INDEXES SHOW_TABLES TABLE_INFO")
"""Table functions that CALL may name. QUERY_VECTOR_INDEX ends Kuzu 0.11.3 on a null vector; recall searches vectors."""

FUNCTIONS = _words(
    """
    abs acos asin atan atan2 bitshift_left bitshift_right bitwise_and bitwise_or bitwise_xor cbrt ceil ceiling cos cot
    degrees even floor ln log log10 log2 negate pi pow radians round sign sin sqrt tan
    avg collect count count_if max min sum
    concat concat_ws contains ends_with initcap lcase left length lower ltrim prefix regexp_extract regexp_extract_all
    regexp_full_match regexp_matches regexp_replace regexp_split_to_array reverse right rtrim size split_part
    starts_with str_split string_split string_to_array substr substring suffix tolower toupper trim ucase upper
    array_append array_concat array_contains array_cosine_similarity array_distance array_dot_product array_extract
    array_has array_inner_product array_position array_squared_distance list_any_value list_append list_cat list_concat
    list_contains list_distinct list_element list_extract list_has list_has_all list_indexof list_position list_prepend
    list_product list_reverse list_sum list_to_string list_unique range
    date duration interval string timestamp to_bool to_double to_float to_int16 to_int32 to_int64 to_int8 to_string
    to_uint16 to_uint32 to_uint64 to_uint8
    century current_date current_timestamp date_part date_trunc datepart datetrunc dayname epoch_ms greatest last_day
    least make_date monthname to_days to_epoch_ms to_hours to_microseconds to_milliseconds to_minutes to_months
    to_seconds to_timestamp to_years
    cardinality element_at map map_extract map_keys map_values
    end_node id is_acyclic is_trail keys label labels nodes offset properties relationships rels start_node
    coalesce hash ifnull md5 sha256 typeof
    json_array_length json_extract json_valid to_json
    """
)
"""Functions an expression may call.

Left out: what writes (nextval), what ended Kuzu 0.11.3 when it was tried with values of every type (cost, json_keys,
list_sort, list_slice, anything that makes a UUID or takes a lambda), what makes large values out of nothing (repeat),
what cannot be interrupted (levenshtein takes seconds for two long texts), and CAST, for which there is to_int64.
"""
